"""Slot attention: a set of slots that compete for the features of one picture."""

from __future__ import annotations

import math
from typing import Unpack, final

import torch
from jaxtyping import Float
from torch import Tensor, nn

from farfield.core.internal import (
    Depth,
    FactoryOptions,
    PositiveFloat,
    Size,
    take_factory_arguments,
)
from farfield.functional.internal import default_layer, uniform_weights_, uninitialized
from farfield.nn._input_checks import check_dtype
from farfield.nn._interpreter._type_inference import check_set


@final
class SlotAttention(nn.Module):
    r"""Divide the features of a picture among a few slots that compete for them.

    $$A = \mathrm{softmax}_{\text{slots}}(q(\mathrm{LN}(s)) \, k(x)^\top / \sqrt d) + \epsilon,
      \qquad u_i = \sum_j \frac{A_{ij}}{\sum_l A_{il}} v(x_j), \qquad
      s \leftarrow h + \mathrm{MLP}(\mathrm{LN}(h)), \quad h = \mathrm{GRU}(u, s)$$

    repeated a few times, from slots $s = \mu + e^\lambda \odot n$ with normal noise $n$. Attention
    is normalized over the slots, which so exclude each other; in `nn.MultiheadAttention` it is
    normalized over the features read. Slots are a set: their order means nothing.

    Args:
        num_features: Number of features of an input and of a slot.
        num_slots: Number of slots.
        num_iterations: Number of repetitions.
        feedforward_size: Hidden units of the MLP.
        eps: $\epsilon$, the least attention.

    Shape:
        `(batch, item, num_features)` to `(batch, num_slots, num_features)`. The noise is
        `(batch, num_slots, num_features)`.

    Attributes:
        first_noise: Noise of a call without noise, drawn once, so that calls repeat.
        mean, log_std: $\mu$ and $\lambda$, the same for all slots; Xavier uniform at first.
        norm, slot_norm, mlp_norm: Layer normalizations of inputs, of slots, and before the MLP.
        query, key, value: Linear layers.
        gru: The cell.
        fc1, fc2: The MLP.

    Raises:
        ValueError: If a number is below 1, or inputs or noise have another shape.

    Reference:
        locatello2020, algorithm 1.
    """

    first_noise: Tensor

    @take_factory_arguments()
    def __init__(
        self,
        num_features: Size,
        *,
        num_slots: Size = 7,
        num_iterations: Depth = 3,
        feedforward_size: Size = 128,
        eps: PositiveFloat = 1e-8,
        **options: Unpack[FactoryOptions],
    ) -> None:
        super().__init__()
        generator = options["generator"]
        self.num_features, self.num_slots = num_features, num_slots
        self.num_iterations, self.eps = num_iterations, eps
        self.mean = nn.Parameter(torch.empty(1, 1, num_features, device="cpu"))
        self.log_std = nn.Parameter(torch.empty(1, 1, num_features, device="cpu"))
        for start in (self.mean, self.log_std):
            nn.init.xavier_uniform_(start, generator=generator)
        self.norm, self.slot_norm = nn.LayerNorm(num_features), nn.LayerNorm(num_features)
        self.mlp_norm = nn.LayerNorm(num_features)
        self.query = default_layer(num_features, num_features, generator)
        self.key = default_layer(num_features, num_features, generator)
        self.value = default_layer(num_features, num_features, generator)
        self.gru = uniform_weights_(
            uninitialized(nn.GRUCell, num_features, num_features),
            num_features**-0.5,
            generator,
        )
        self.fc1 = default_layer(num_features, feedforward_size, generator)
        self.fc2 = default_layer(feedforward_size, num_features, generator)
        noise = torch.randn(num_slots, num_features, generator=generator, device="cpu")
        self.register_buffer("first_noise", noise)

    def forward(
        self,
        x: Float[Tensor, "batch item feature"],
        key_padding_mask: Tensor | None = None,
        *,
        noise: Float[Tensor, "batch slot feature"] | None = None,
    ) -> Float[Tensor, "batch slot feature"]:
        """Compute the slots of every picture.

        Args:
            x: Features of pictures.
            key_padding_mask: True where there is no input but padding; None for no padding.
            noise: Noise of the first slots, `(batch, slot, feature)`; `first_noise` if None.
        """
        return self.slots_and_attention(x, key_padding_mask, noise=noise)[0]

    def slots_and_attention(
        self,
        x: Float[Tensor, "batch item feature"],
        key_padding_mask: Tensor | None = None,
        *,
        noise: Float[Tensor, "batch slot feature"] | None = None,
    ) -> tuple[Float[Tensor, "batch slot feature"], Float[Tensor, "batch slot item"]]:
        """Compute the slots, and the attention of each over the inputs, of sum 1."""
        check_set(x, self.num_features, key_padding_mask)
        check_dtype(x, self)
        shape = (len(x), self.num_slots, self.num_features)
        if noise is None:
            noise = self.first_noise.to(x.dtype).expand(shape)
        if noise.shape != shape:
            raise ValueError(f"noise must be of shape {shape}, got {tuple(noise.shape)}")
        x = self.norm(x)
        key, value = self.key(x), self.value(x)
        slots = self.mean + self.log_std.exp() * noise
        for _ in range(self.num_iterations):
            query = self.query(self.slot_norm(slots))
            scores = query @ key.mT / math.sqrt(self.num_features)
            attention = scores.softmax(dim=1) + self.eps
            if key_padding_mask is not None:
                attention = attention.masked_fill(key_padding_mask.unsqueeze(1), 0)
            attention = attention / attention.sum(-1, keepdim=True)
            read = (attention @ value).flatten(0, 1)
            slots = self.gru(read, slots.flatten(0, 1)).unflatten(0, shape[:2])
            slots = slots + self.fc2(torch.relu(self.fc1(self.mlp_norm(slots))))
        return slots, attention

    def extra_repr(self) -> str:
        """Format the options for `print`."""
        return f"num_slots={self.num_slots}, num_iterations={self.num_iterations}"
