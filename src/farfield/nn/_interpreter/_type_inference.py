"""Types of the elements of sets, and sets themselves."""

from __future__ import annotations

from typing import Unpack, final

import torch
from jaxtyping import Float
from torch import Tensor, nn

from farfield.core.internal import FactoryOptions, Size, take_factory_arguments
from farfield.functional.internal import TypingParameters, default_layer, type_inference


@final
class TypeInference(nn.Module):
    r"""Infer the type of each element, which decides the functions that have access to it.

    $$t_i = W_2 \, \mathrm{GELU}(W_1 \, \mathrm{LN}(x_i) + b_1) + b_2$$

    Only its direction counts. The form of the network is the released code's.

    Args:
        num_features: Number of features of an element.
        type_size: Numbers in a type.
        hidden_size: Hidden units; None is `num_features`.

    Shape:
        `(…, num_features)` to `(…, type_size)`.

    Attributes:
        norm: The layer normalization.
        hidden: The first layer.
        out: The second.

    Raises:
        ValueError: If a size is below 1.

    Reference:
        gondal2021, section 2, equation 2.
    """

    @take_factory_arguments()
    def __init__(
        self,
        num_features: Size,
        type_size: Size,
        *,
        hidden_size: Size | None = None,
        **options: Unpack[FactoryOptions],
    ) -> None:
        super().__init__()
        generator = options["generator"]
        hidden = num_features if hidden_size is None else hidden_size
        self.norm = nn.LayerNorm(num_features)
        self.hidden = default_layer(num_features, hidden, generator)
        self.out = default_layer(hidden, type_size, generator)

    def functional(self) -> TypingParameters:
        """Return the weights for `farfield.functional.internal.type_inference`."""
        return TypingParameters(
            self.norm.weight,
            self.norm.bias,
            self.hidden.weight,
            self.hidden.bias,
            self.out.weight,
            self.out.bias,
        )

    def forward(self, x: Float[Tensor, "*batch feature"]) -> Float[Tensor, "*batch type"]:
        """Infer the types, of any length."""
        return type_inference(x, self.functional())


def check_set(x: Tensor, num_features: int, key_padding_mask: Tensor | None) -> None:
    """Raise `ValueError` unless `x` is sets of elements of a width, with a mask that fits.

    Args:
        x: The sets, `(batch, item, feature)`.
        num_features: Features of an element.
        key_padding_mask: True where there is padding, `(batch, item)`, or None.
    """
    if x.ndim != 3 or x.shape[1] == 0 or x.shape[2] != num_features:
        raise ValueError(
            f"x must be (batch, item, num_features={num_features}) with at least one element, "
            f"got shape {tuple(x.shape)}"
        )
    if key_padding_mask is not None:
        _check_mask(key_padding_mask, x.shape[:2])


def _check_mask(mask: Tensor, shape: tuple[int, ...]) -> None:
    if not isinstance(mask, Tensor):
        raise ValueError(f"key_padding_mask must be a tensor, got {mask!r}")
    if mask.shape != shape or mask.dtype != torch.bool:
        raise ValueError(
            f"key_padding_mask must be bool of shape {tuple(shape)}, an element each, "
            f"got {mask.dtype} of {tuple(mask.shape)}"
        )


def attention_bias(mask: Tensor, num_items: int, dtype: torch.dtype) -> Tensor:
    """Convert a mask to terms of attention scores: very low where it is True, or its own numbers.

    Args:
        mask: `(item, item)`, of the element that attends and the one attended to.
        num_items: Number of elements of a set.
        dtype: Of the scores.

    Raises:
        ValueError: If it is of another shape, or neither of bool nor floating-point.
    """
    is_mask = isinstance(mask, Tensor) and (mask.dtype == torch.bool or mask.is_floating_point())
    if not is_mask or mask.shape != (num_items, num_items):
        got = f"{mask.dtype} of {tuple(mask.shape)}" if isinstance(mask, Tensor) else repr(mask)
        raise ValueError(
            f"mask must be bool, or floating-point to be added, of shape {(num_items, num_items)}, "
            f"the same for all sets and heads, got {got}"
        )
    least = torch.finfo(dtype).min / 4  # where all are hidden, none is more than the others
    if mask.dtype == torch.bool:
        return torch.zeros_like(mask, dtype=dtype).masked_fill(mask, least)
    return mask.to(dtype).clamp(min=least)


def padding_of(
    key_padding_mask: Tensor | None, src_key_padding_mask: Tensor | None
) -> Tensor | None:
    """Return the mask of padding, by either of torch's names for it.

    Args:
        key_padding_mask: As `torch.nn.MultiheadAttention` calls it.
        src_key_padding_mask: As `torch.nn.TransformerEncoder` does.

    Raises:
        ValueError: If both are given.
    """
    if key_padding_mask is not None and src_key_padding_mask is not None:
        raise ValueError("key_padding_mask and src_key_padding_mask are one, got both")
    return src_key_padding_mask if key_padding_mask is None else key_padding_mask


def of_one_set(
    layer: nn.Module, x: Tensor, key_padding_mask: Tensor | None, **options: int | Tensor | None
) -> Tensor:
    """Apply a layer to a set without a batch axis, as torch's layers take it.

    Args:
        layer: From sets to sets.
        x: The set, `(item, feature)`.
        key_padding_mask: True where there is padding, `(item)`, or None.
        options: Further arguments of the call.
    """
    mask = None
    if key_padding_mask is not None:
        _check_mask(key_padding_mask, x.shape[:1])
        mask = key_padding_mask.unsqueeze(0)
    found: Tensor = layer(x.unsqueeze(0), mask, **options)
    return found.squeeze(0)
