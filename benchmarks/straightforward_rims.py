"""A direct transcription of recurrent independent mechanisms, as the library's is measured against.

The code that an experienced user of PyTorch writes from the equations: at every step the null
element is put beside the input, keys and values are computed, all mechanisms are one
`nn.LSTMCell` whose weights between different mechanisms are set to zero, and the step's results
go into a table. There is no loop over mechanisms. Nothing here uses a mechanism of the library;
the test beside it holds that both compute the same.

Reference:
    lamb2022, section 8.2.
"""

from __future__ import annotations

import math

import torch
from torch import Tensor, nn


class DirectRIMs(nn.Module):
    """The equations of section 8.2, one head to read the input and several to communicate."""

    def __init__(self, input_size: int, hidden_size: int, mechanisms: int, active: int) -> None:
        super().__init__()
        self.mechanisms, self.active, self.heads = mechanisms, active, 4
        self.key_size, self.told_size = 64, 32
        size = hidden_size // mechanisms
        self.query = nn.Parameter(torch.randn(mechanisms, size, self.key_size) / size**0.5)
        self.key = nn.Linear(input_size, self.key_size, bias=False)
        self.value = nn.Linear(input_size, 4 * size, bias=False)
        self.cell = nn.LSTMCell(4 * hidden_size, hidden_size)
        told = (mechanisms, size, self.heads * self.told_size)
        self.told_query = nn.Parameter(torch.randn(told) / size**0.5)
        self.told_key = nn.Parameter(torch.randn(told) / size**0.5)
        self.told_value = nn.Parameter(torch.randn(mechanisms, size, size) / size**0.5)

    def forward(self, x: Tensor) -> Tensor:
        """Compute outputs (time, batch, hidden_size) from a state of zeros."""
        self.separate()
        hidden = x.new_zeros(x.shape[1], self.cell.hidden_size)
        cell, outputs = hidden, []
        for step in range(len(x)):
            hidden, cell = self.step(x[step], hidden, cell)
            outputs.append(hidden)
        return torch.stack(outputs)

    @torch.no_grad()
    def separate(self) -> None:
        """Set the weights between different mechanisms to zero."""
        own = torch.eye(self.mechanisms).repeat(4, 1)
        for weight in (self.cell.weight_ih, self.cell.weight_hh):
            rows, columns = (n // m for n, m in zip(weight.shape, own.shape, strict=True))
            weight.mul_(own.repeat_interleave(rows, 0).repeat_interleave(columns, 1))

    def step(self, x: Tensor, hidden: Tensor, cell: Tensor) -> tuple[Tensor, Tensor]:
        """Step: read, update the state, communicate."""
        states = hidden.unflatten(-1, (self.mechanisms, -1))
        elements = torch.stack((torch.zeros_like(x), x), dim=1)
        queries = torch.einsum("bms,msk->bmk", states, self.query)
        scores = queries @ self.key(elements).transpose(1, 2) / math.sqrt(self.key_size)
        attention = scores.softmax(-1)
        read = attention @ self.value(elements)
        chosen = attention[..., 0].topk(self.active, largest=False).indices
        on = torch.zeros_like(attention[..., 0]).scatter(1, chosen, 1.0).unsqueeze(-1)
        moved, new = (
            part.unflatten(-1, (self.mechanisms, -1))
            for part in self.cell(read.flatten(1), (hidden, cell))
        )
        moved = on * moved + (1 - on) * states
        new = on * new + (1 - on) * cell.unflatten(-1, (self.mechanisms, -1))
        told = moved + on * self.tell(moved)
        return told.flatten(1), new.flatten(1)

    def tell(self, states: Tensor) -> Tensor:
        """Compute the reading of every mechanism from all."""
        queries, keys, values = (
            torch.einsum("bms,msk->bmk", states, weight)
            .unflatten(-1, (self.heads, -1))
            .transpose(1, 2)
            for weight in (self.told_query, self.told_key, self.told_value)
        )
        scores = queries @ keys.transpose(-1, -2) / math.sqrt(self.told_size)
        return (scores.softmax(-1) @ values).transpose(1, 2).flatten(2)
