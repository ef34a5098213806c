"""A scorer of matrices that asks which levels the panels of a line have in common."""

from __future__ import annotations

from typing import ClassVar, Final, final

import torch
from jaxtyping import Float
from torch import Tensor, nn

from farfield.core import Size, check_arguments
from farfield.functional import context_norm, kaiming_normal_, uninitialized, xavier_uniform_
from farfield.models._checks import check_length, check_sequence
from farfield.models._matrix_lines import PAIRS, ROW, check_matrix, lines_of

_PATTERNS: Final = 7
_STATISTICS: Final = 4
_SHARED: Final = 2
_EPS: Final = 1e-4


@final
class SetScorer(nn.Module):
    r"""Sum over sets of how well a line with the candidate goes with the two complete lines.

    $$s = \sum_k \sum_{\text{rows, columns}}
      f_k(\ell_k(L_1), \ell_k(L_2), \ell_k(L_3), u_{12}, u_{13}, u_{23}), \qquad
      o(a, b) = \frac{a \cdot b}{a \cdot a + b \cdot b - a \cdot b}$$

    A panel is sets of levels, each a vector of memberships of 0…1. Of set $k$ a line $L$ of panels
    $A, B, C$ has how many levels are in $C$ alone, in $B$ alone, in $B$ and $C$, … in all three, as
    fractions of those in any, and four numbers of each panel: how many levels $m_j$ it has, the
    mean of their positions $p_j$ of 0…1, $\max m_j (1 + p_j)$ and $\max m_j (2 - p_j)$, the last
    level and the first, under context normalization over the panels of a problem. $\ell_k$ is a
    network of these. $u_{ij}$ is how much two lines share whatever the order: the largest overlap
    $o$ of each panel of one with a panel of the other, in the mean, and the reverse. Two empty
    panels overlap by 0.

    Levels enter by what panels have in common and, for the last three numbers, by their order: if
    all levels move by as much, nothing changes where memberships are 0 or 1 and no panel is empty.
    `SRAN` learns what embeddings of panels have in common.

    Args:
        in_features: Size of an embedding, set by set.
        length: Positions of a sequence: eight panels row by row and one candidate behind them.
        set_sizes: Number of levels of each set; those of an encoder such as `FigureEncoder` are
            filled in by an experiment.
        hidden_size: Units of each network.
        line_size: Size of what $\ell$ says of a line.
        generator: Where the first weights are drawn from; None is torch's global generator.

    Shape:
        `(batch, 9, in_features)` to `(batch, 1)`.

    Attributes:
        lines: The networks $\ell$.
        scores: The networks $f$.

    Raises:
        ValueError: If a size is below 1, `length` is not 9, the sizes of the sets do not add up to
            `in_features`, or the sequence has another shape.

    Reference:
        Made for matrices as in gondal2021, section 4.3. Relations between items
        in place of items: webb2021.
    """

    reads_memberships: ClassVar[bool] = True

    @check_arguments
    def __init__(
        self,
        in_features: Size,
        length: Size = ROW * ROW,
        *,
        set_sizes: tuple[Size, ...],
        hidden_size: Size = 64,
        line_size: Size = 16,
        generator: torch.Generator | None = None,
    ) -> None:
        super().__init__()
        check_matrix(length)
        if sum(set_sizes) != in_features:
            raise ValueError(f"set_sizes must add up to in_features={in_features}, got {set_sizes}")
        self.in_features, self.length, self.set_sizes = in_features, length, set_sizes

        def network(inputs: int, outputs: int) -> nn.Sequential:
            hidden = kaiming_normal_(uninitialized(nn.Linear, inputs, hidden_size), generator)
            output = xavier_uniform_(uninitialized(nn.Linear, hidden_size, outputs), generator)
            return nn.Sequential(hidden, nn.ReLU(), output)

        of_line, of_lines = _PATTERNS + ROW * _STATISTICS, ROW * (line_size + _SHARED)
        self.lines = nn.ModuleList(network(of_line, line_size) for _ in set_sizes)
        self.scores = nn.ModuleList(network(of_lines, 1) for _ in set_sizes)

    def forward(self, z: Float[Tensor, "batch time feature"]) -> Float[Tensor, "batch 1"]:
        """Score every sequence of a batch."""
        check_sequence(z, self.in_features)
        check_length(z, self.length)
        sets = zip(
            self.lines, self.scores, torch.split(z, list(self.set_sizes), dim=2), strict=True
        )
        parts = [score(_compare(line, levels)).sum(1) for line, score, levels in sets]
        return torch.stack(parts).sum(0)


def _compare(
    line: nn.Module, levels: Float[Tensor, "batch panel level"]
) -> Float[Tensor, "batch 2 feature"]:
    """The networks' numbers of the three lines of a set, and overlaps: of rows, and of columns."""
    panels = lines_of(levels)
    numbers = lines_of(context_norm(_statistics(levels), eps=_EPS))
    of_lines = torch.relu(line(torch.cat([_patterns(panels), numbers.flatten(3)], dim=3)))
    first, second = PAIRS
    shared = _overlaps(panels[:, :, first], panels[:, :, second])
    return torch.cat([of_lines.flatten(2), shared.flatten(2)], dim=2)


def _patterns(panels: Float[Tensor, "batch 2 3 3 level"]) -> Float[Tensor, "batch 2 3 7"]:
    """Fractions of the levels of a line: in the last panel alone, … in all three."""
    first, second, third = torch.stack([1 - panels, panels]).unbind(4)
    found = torch.einsum("pbijl,qbijl,rbijl->bijpqr", first, second, third).flatten(3)
    anywhere = panels.amax(3).sum(3).clamp(min=1e-3)
    return found[..., 1:] / anywhere[..., None]


def _statistics(levels: Float[Tensor, "batch panel level"]) -> Float[Tensor, "batch panel 4"]:
    """The number of levels of each panel, their mean position, the last and the first."""
    count = levels.shape[2]
    place = torch.arange(count, dtype=levels.dtype, device=levels.device) / count
    total = levels.sum(2)
    mean = (levels * place).sum(2) / total.clamp(min=1e-3)
    last, first = ((levels * (1 + along)).amax(2) for along in (place, 1 - place))
    return torch.stack([total, mean, last, first], dim=2)


def _overlaps(
    one: Float[Tensor, "batch 2 3 3 level"], other: Float[Tensor, "batch 2 3 3 level"]
) -> Float[Tensor, "batch 2 3 2"]:
    """The overlap of each panel of a line with the most like one of the other, and the reverse."""
    both = one @ other.mT
    either = one.square().sum(4)[..., None] + other.square().sum(4)[..., None, :] - both
    overlap = both / either.clamp(min=1e-3)
    return torch.stack([overlap.amax(4).mean(3), overlap.amax(3).mean(3)], dim=3)
