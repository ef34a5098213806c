"""A line of code: attention and a network for each element, both programmed by a function."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple, final

from jaxtyping import Bool, Float
from torch import Tensor
from torch.nn import functional as F

from farfield.functional._modulated_attention import modulated_attention
from farfield.functional._modulated_linear import ModulatedLayer, modulated_linear, modulated_mlp


class LineParameters(NamedTuple):
    """Weights of a line of code, formed once for the functions there are.

    Attributes:
        norm1_weight: (feature).
        norm1_bias: (feature).
        query: Of the keys' width, heads side by side.
        key: Likewise.
        value: Heads side by side.
        out: Behind attention.
        norm2_weight: (feature).
        norm2_bias: (feature).
        mlp: The layers of the network for each element.
        position_scores: By `relative_position_scores`; None without positions.

    Reference:
        gondal2021, section 2, equations 9 and 10.
    """

    norm1_weight: Tensor
    norm1_bias: Tensor
    query: ModulatedLayer
    key: ModulatedLayer
    value: ModulatedLayer
    out: ModulatedLayer
    norm2_weight: Tensor
    norm2_bias: Tensor
    mlp: tuple[ModulatedLayer, ...]
    position_scores: Tensor | None = None


@final
@dataclass(frozen=True, kw_only=True)
class LineRules:
    r"""What of a line of code is no weight.

    Args:
        num_heads: Number of heads of its attention.
        residual: Whether attention and network are added to what they are given, or replace it.
        eps: $\epsilon$ of the attention.

    Reference:
        gondal2021, section 2, equations 7, 9 and 10.
    """

    num_heads: int
    residual: bool = True
    eps: float = 1e-6


def line_of_code(
    x: Float[Tensor, "_ batch item feature"],
    compatibility: Float[Tensor, "function batch item"],
    parameters: LineParameters,
    rules: LineRules,
    key_padding_mask: Bool[Tensor, "batch item"] | None = None,
) -> Float[Tensor, "function batch item feature"]:
    r"""Attention and then a network for each element, in a stream for each function.

    $$a_{ui} = x_{ui} + C_{ui} \, \mathrm{ModAttn}(\{\mathrm{LN}(x_{uj})\}_j; c_u, \{C_{uj}\}_j),
      \qquad y_{ui} = a_{ui} + C_{ui} \, \mathrm{ModMLP}(\mathrm{LN}(a_{ui}); c_u)$$

    An element that a function has no access to stays as it is.

    Args:
        x: The elements by function; with a first axis of length 1 all streams start from the same.
        compatibility: $C$.
        parameters: The weights.
        rules: The rest.
        key_padding_mask: True where an element is padding.

    Reference:
        gondal2021, section 2, equations 9 and 10.
    """
    share, width = compatibility.unsqueeze(-1), x.shape[-1:]
    normal = F.layer_norm(x, width, parameters.norm1_weight, parameters.norm1_bias)
    gathered = modulated_attention(
        modulated_linear(normal, parameters.query),
        modulated_linear(normal, parameters.key),
        modulated_linear(normal, parameters.value),
        compatibility,
        num_heads=rules.num_heads,
        position_scores=parameters.position_scores,
        key_padding_mask=key_padding_mask,
        eps=rules.eps,
    )
    attended = share * modulated_linear(gathered, parameters.out)
    x = x + attended if rules.residual else attended
    normal = F.layer_norm(x, width, parameters.norm2_weight, parameters.norm2_bias)
    processed = share * modulated_mlp(normal, parameters.mlp)
    return x + processed if rules.residual else processed
