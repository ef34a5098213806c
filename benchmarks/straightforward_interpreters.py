"""A direct transcription of Neural Interpreters, as the library's is measured against.

The code that an experienced user of PyTorch writes from the equations, with the released
settings: the codes are repeated over batch and elements and the elements over functions, so that
a modulated layer is a linear layer on scaled inputs, `(batch, function, item, feature)`
throughout. There is no loop over functions or heads. Nothing here uses a mechanism of the
library; the test beside it holds that both compute the same.

Reference:
    gondal2021, section 2.
"""

from __future__ import annotations

import math

import torch
from torch import Tensor, nn
from torch.nn import functional as F

EPS = 1e-6


class ModFC(nn.Module):
    """Equation 4."""

    def __init__(self, inputs: int, outputs: int, code_size: int, *, bias: bool = True) -> None:
        super().__init__()
        self.linear = nn.Linear(inputs, outputs, bias=bias)
        self.scale = nn.Linear(code_size, inputs, bias=False)

    def forward(self, x: Tensor, codes: Tensor) -> Tensor:
        """Apply the functions to elements, each with its code."""
        return self.linear(x * F.layer_norm(self.scale(codes), x.shape[-1:]))


class Positions(nn.Module):
    """Row and column scores of a grid of patches."""

    def __init__(self, side: int, heads: int, key_size: int, code_size: int) -> None:
        super().__init__()
        self.side = side
        self.row_embedding = nn.Parameter(torch.randn(2 * side - 1, key_size))
        self.column_embedding = nn.Parameter(torch.randn(2 * side - 1, key_size))
        self.row_head = nn.Linear(key_size, heads, bias=False)
        self.column_head = nn.Linear(key_size, heads, bias=False)
        self.row_code = nn.Linear(code_size, heads, bias=False)
        self.column_code = nn.Linear(code_size, heads, bias=False)

    def forward(self, codes: Tensor, leading: int) -> Tensor:
        """Compute scores `(function, head, item, item)`."""
        place = torch.arange(self.side)
        distance = place - place.unsqueeze(-1) + self.side - 1
        rows = self.row_head(self.row_embedding)[distance] + self.row_code(codes)[:, None, None]
        columns = self.column_head(self.column_embedding)[distance]
        columns = columns + self.column_code(codes)[:, None, None]
        scores = rows[:, :, None, :, None] + columns[:, None, :, None, :]
        scores = scores.flatten(3, 4).flatten(1, 2).permute(0, 3, 1, 2)
        return F.pad(scores, (leading, 0, leading, 0))


class DirectInterpreter(nn.Module):
    """One script of the released settings, with one line of code."""

    def __init__(
        self,
        features: int = 192,
        functions: int = 5,
        iterations: int = 8,
        *,
        heads: int = 4,
        key_size: int = 128,
        type_size: int = 24,
        side: int = 8,
        truncation: float = 1.4202567871309753,
    ) -> None:
        super().__init__()
        self.iterations, self.heads, self.truncation = iterations, heads, truncation
        self.register_buffer("signatures", torch.randn(functions, type_size))
        self.codes = nn.Parameter(torch.randn(functions, features))
        self.bandwidth = nn.Parameter(torch.tensor(1.0))
        self.typing = nn.Sequential(
            nn.LayerNorm(features),
            nn.Linear(features, features),
            nn.GELU(),
            nn.Linear(features, type_size),
        )
        self.position = Positions(side, heads, key_size, features)
        self.norm1, self.norm2 = nn.LayerNorm(features), nn.LayerNorm(features)
        self.query = ModFC(features, heads * key_size, features, bias=False)
        self.key = ModFC(features, heads * key_size, features, bias=False)
        self.value = ModFC(features, features, features)
        self.out = ModFC(features, features, features)
        self.fc1 = ModFC(features, features, features)
        self.fc2 = ModFC(features, features, features)

    def forward(self, x: Tensor) -> Tensor:
        """Compute the set after all function iterations."""
        for _ in range(self.iterations):
            x = self.iterate(x)
        return x

    def iterate(self, x: Tensor) -> Tensor:
        """Apply equations 2, 3 and 11, without the outer residual."""
        batch, items, _ = x.shape
        functions = len(self.codes)
        types = F.normalize(self.typing(x), dim=-1)
        distance = 1 - torch.einsum("bvt,ut->buv", types, F.normalize(self.signatures, dim=-1))
        kernel = torch.exp(-distance / self.bandwidth) * (distance < self.truncation)
        shares = kernel / (kernel.sum(1, keepdim=True) + EPS)
        streams = x.unsqueeze(1).repeat(1, functions, 1, 1)
        codes = self.codes[None, :, None].repeat(batch, 1, items, 1)
        found = self.line(streams, shares, codes)
        return torch.einsum("buv,buvc->bvc", shares, found)

    def line(self, x: Tensor, shares: Tensor, codes: Tensor) -> Tensor:
        """Apply equations 9 and 10."""
        share = shares.unsqueeze(-1)
        x = x + share * self.attend(self.norm1(x), shares, codes)
        return x + share * self.fc2(F.gelu(self.fc1(self.norm2(x), codes)), codes)

    def attend(self, x: Tensor, shares: Tensor, codes: Tensor) -> Tensor:
        """Apply equations 6 to 8."""
        q, k, v = (
            layer(x, codes).unflatten(-1, (self.heads, -1)).transpose(2, 3)
            for layer in (self.query, self.key, self.value)
        )
        leading = x.shape[2] - self.position.side**2
        scores = torch.einsum("buhic,buhjc->buhij", q, k) + self.position(self.codes, leading)
        weights = (scores / math.sqrt(q.shape[-1])).softmax(-1)
        weights = weights * torch.einsum("bfi,bfj->bfij", shares, shares).unsqueeze(2)
        weights = weights / (weights.sum(-1, keepdim=True) + EPS)
        gathered = torch.einsum("buhij,buhjc->buihc", weights, v)
        return self.out(gathered.flatten(3), codes)
