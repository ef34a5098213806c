"""The causal Transformer, whose positions hold at any length."""

from __future__ import annotations

from typing import Unpack, final

import torch
from einops import rearrange
from torch import Tensor, nn
from torch.nn import functional as F

from farfield.core.internal import Depth, Size, take_factory_arguments
from farfield.functional.internal import (
    NFMRules,
    WrittenState,
    causal_attention,
    nfm_read,
    xavier_layer,
)
from farfield.nn._recurrent._sequence_layer import LayerOptions, SequenceLayer
from farfield.nn._recurrent._states import State


@final
class CausalTransformer(SequenceLayer):
    r"""Attend from every time step to the steps before it, with a bias towards nearer steps.

    $$u = x + W_o \, \mathrm{Attention}(\mathrm{LN}(x)), \qquad
      y = u + W_2 \, \mathrm{GELU}(W_1 \, \mathrm{LN}(u))$$

    in each block, behind a linear layer on the inputs and before a last $\mathrm{LN}$. The scores
    of attention fall with the distance at a fixed rate for each head (`causal_attention`), and
    there is no other position: a sequence longer than all in training contains no position that
    training lacks. `farfield.models.Transformer` averages over a problem and adds a
    code of positions; here every step has an output, which later ones do not change.

    With `layer_heads` each block reads all states before it, position by position, by a neural
    function module without weights (`farfield.functional.internal.nfm_read`):

    $$a = \mathrm{NFM}(x; x_0, …, x), \qquad u = x + W_o \, \mathrm{Attention}(\mathrm{LN}(a))$$

    where queries, keys and values are the states themselves, $x_0$ the embedded inputs and the
    other states the outputs of the blocks before.

    Its state is the keys and values of the steps before. It grows with them, unless a `window`
    bounds how far back a step sees.

    Args:
        hidden_size: Number of features inside, and of an output.
        num_layers: Number of blocks.
        num_heads: Number of attention heads; must divide `hidden_size`.
        feedforward_size: Hidden units of the network behind attention; None is four times
            `hidden_size`.
        window: How many steps a block sees, its own among them; None is all.
        layer_heads: Number of heads that read the states before each block; must divide
            `hidden_size`. None reads none of them.
        layer_top_k: How many states a head reads, the null element among them.

    Shape:
        `(time, batch, input_size)`, `(batch, time, input_size)` with `batch_first`, `(time,
        input_size)`, or `Indexed`; and a state of two times `(num_layers, batch, steps,
        hidden_size)`, keys and values of all steps before or, with a `window`, of the last `window
        - 1`. Out: `hidden_size` features, and the last state. A `PackedSequence` is refused: its
        sequences would end with states of several lengths.

    Attributes:
        encode: The linear layer on the inputs.
        blocks: The blocks.
        norm: The last layer normalization.

    Raises:
        ValueError: If a size is below 1, heads do not divide `hidden_size`, or the input or
            the state has another shape.

    Reference:
        Vaswani et al. 2017, normalized before each residual; press2022, section 3; a rival as in
        lamb2022, section 8.4.1; section 10.4.6 and algorithm 2 for reads of states.
    """

    growing_axis = 2

    @take_factory_arguments(SequenceLayer)
    def __init__(
        self,
        input_size: Size,
        hidden_size: Size,
        *,
        num_layers: Depth = 2,
        num_heads: Size = 4,
        feedforward_size: Size | None = None,
        window: Size | None = None,
        layer_heads: Size | None = None,
        layer_top_k: Size = 5,
        **options: Unpack[LayerOptions],
    ) -> None:
        generator = options["generator"]
        width = 4 * hidden_size if feedforward_size is None else feedforward_size
        super().__init__(input_size, hidden_size, **options)
        if hidden_size % num_heads:
            raise ValueError(f"num_heads must divide hidden_size={hidden_size}, got {num_heads}")
        self.window, self.layer_heads, self.layer_top_k = window, layer_heads, layer_top_k
        self._reads: NFMRules | None = None
        if layer_heads is not None:
            if hidden_size % layer_heads:
                raise ValueError(
                    f"layer_heads must divide hidden_size={hidden_size}, got {layer_heads}"
                )
            size = hidden_size // layer_heads
            self._reads = NFMRules(
                num_heads=layer_heads, key_size=size, value_size=size, top_k=layer_top_k
            )
        self.encode = xavier_layer(input_size, hidden_size, generator)
        self.blocks = nn.ModuleList(
            _Block(hidden_size, num_heads, width, window, generator) for _ in range(num_layers)
        )
        self.norm = nn.LayerNorm(hidden_size)

    def _first_state(self, x: Tensor) -> State:
        return (x.new_zeros(len(self.blocks), x.shape[1], 0, self.hidden_size),) * 2

    def _run(self, x: Tensor, state: State) -> tuple[Tensor, State]:
        x, last = self.encode(x.transpose(0, 1)), []
        written = [WrittenState(x, x)]
        for block, *before in zip(self.blocks, *state, strict=True):
            read = x if self._reads is None else nfm_read(x, written, self._reads).values
            x, after = block(x, read, before)
            written.append(WrittenState(x, x))
            last.append(after)
        keys, values = (torch.stack(parts) for parts in zip(*last, strict=True))
        return self.norm(x).transpose(0, 1), (keys, values)


class _Block(nn.Module):
    """Residual block: attention to the past, then a network for each step."""

    def __init__(
        self,
        size: int,
        num_heads: int,
        feedforward_size: int,
        window: int | None,
        generator: torch.Generator | None,
    ) -> None:
        super().__init__()
        self.num_heads, self.window = num_heads, window

        def drawn(inputs: int, outputs: int) -> nn.Linear:
            return xavier_layer(inputs, outputs, generator)

        self.norm1, self.norm2 = nn.LayerNorm(size), nn.LayerNorm(size)
        self.attention_in, self.attention_out = drawn(size, 3 * size), drawn(size, size)
        self.fc1, self.fc2 = drawn(size, feedforward_size), drawn(feedforward_size, size)

    def forward(self, x: Tensor, read: Tensor, before: list[Tensor]) -> tuple[Tensor, list[Tensor]]:
        """Run the block on `(batch, time, feature)`; return the keys and values to keep too.

        Args:
            x: Inputs of the residual connections.
            read: Inputs of attention; `x` where earlier states are not read.
            before: Keys and values of the steps before.
        """
        query, *new = self.attention_in(self.norm1(read)).chunk(3, dim=-1)
        seen = [torch.cat(parts, dim=1) for parts in zip(before, new, strict=True)]
        gathered = causal_attention(
            *(self._by_head(part) for part in (query, *seen)), window=self.window
        )
        x = x + self.attention_out(rearrange(gathered, "b head time f -> b time (head f)"))
        x = x + self.fc2(F.gelu(self.fc1(self.norm2(x))))
        start = 0 if self.window is None else max(0, seen[0].shape[1] - self.window + 1)
        return x, [part[:, start:] for part in seen]

    def _by_head(self, x: Tensor) -> Tensor:
        return rearrange(x, "b time (head f) -> b head time f", head=self.num_heads)
