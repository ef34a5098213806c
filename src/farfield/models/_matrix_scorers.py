"""Scorers of candidates by the lines of a matrix."""

from __future__ import annotations

import itertools
from functools import partial
from typing import ClassVar, Final, final

import torch
from jaxtyping import Float
from torch import Tensor, nn

from farfield.core.internal import Size, check_arguments
from farfield.functional import context_norm
from farfield.functional.internal import linear_layer, relu_layer, xavier_layer
from farfield.models._sequence_reader import check_sequence

ROW: Final = 3
"""Panels of a line of a matrix, of which there are as many."""

PAIRS: Final = ([0, 0, 1], [1, 2, 2])
"""First and second row, or column, of each pair."""


def check_matrix(length: int) -> None:
    """Raise `ValueError` unless a sequence of `length` is a matrix with one candidate."""
    if length != ROW * ROW:
        raise ValueError(f"length must be {ROW * ROW}, the panels of a matrix, got {length}")


def lines_of(panels: Float[Tensor, "batch time _"]) -> Float[Tensor, "batch 2 3 3 _"]:
    """Stack the rows of matrices, then their columns."""
    rows = torch.unflatten(panels, 1, (ROW, ROW))
    return torch.stack([rows, rows.transpose(1, 2)], dim=1)


@final
class WReN(nn.Module):
    r"""Sum a network over every pair of panels, and score from the sum.

    $$s = f\Big(\sum_{i, j} g(p_i \parallel p_j)\Big), \qquad p_i = P (z_i \parallel e_i)$$

    over all pairs of positions in both orders, each position with itself included, with a one-hot
    tag $e_i$ of the position. $g$ has four ReLU layers and $f$ two, and a linear output. `RN` has
    two layers and one, and the position as a number. The first layer of $g$ is applied to
    positions, then added up for pairs.

    Args:
        length: Positions of a sequence: the context and one candidate behind it.
        panel_size: Size of a tagged panel, $p$.
        hidden_size: Hidden units of $g$.
        relation_size: Outputs of $g$, and units of $f$.

    Shape:
        `(batch, length, in_features)` to `(batch, 1)`.

    Attributes:
        panel: $P$.
        first: First layer of $g$ on the first panel of a pair, with the bias.
        second: First layer of $g$ on the second panel of a pair, without.
        pair: The other layers of $g$.
        hidden: The layers of $f$.
        output: The linear output layer.

    Raises:
        ValueError: If a size is below 1, or the sequence has another shape.

    Reference:
        barrett2018, section 4.2, without the dropout of half the units before the output; a rival
        as in gondal2021, section 4.3. The publication gives no sizes of layers in its main text;
        these are the usual ones.
    """

    @check_arguments
    def __init__(
        self,
        in_features: Size,
        length: Size,
        *,
        panel_size: Size = 256,
        hidden_size: Size = 512,
        relation_size: Size = 256,
        generator: torch.Generator | None = None,
    ) -> None:
        super().__init__()
        self.in_features, self.length = in_features, length

        layer = partial(relu_layer, generator=generator)
        self.panel = layer(in_features + length, panel_size)
        self.first = layer(panel_size, hidden_size)
        self.second = layer(panel_size, hidden_size, bias=False)
        widths = (hidden_size, hidden_size, hidden_size, relation_size)
        self.pair = nn.ModuleList(layer(a, b) for a, b in itertools.pairwise(widths))
        self.hidden = nn.ModuleList(layer(relation_size, relation_size) for _ in range(2))
        self.output = linear_layer(relation_size, 1, generator)

    def forward(self, z: Float[Tensor, "batch time feature"]) -> Float[Tensor, "batch 1"]:
        """Score every sequence of a batch."""
        check_sequence(z, self.in_features, self.length)
        return self.score_candidates(z[:, :-1], z[:, -1:])

    def score_candidates(
        self,
        premises: Float[Tensor, "batch premise feature"],
        candidates: Float[Tensor, "batch candidate feature"],
    ) -> Float[Tensor, "batch candidate"]:
        """Score every candidate of a problem at the last position after the same premises.

        The pairs that the premises make among themselves are looked at once for all candidates:
        of 8 panels and 8 candidates that leaves 200 pairs of the 648 that sequences have.

        Args:
            premises: All positions except the last.
            candidates: Candidates for the last position.

        Raises:
            ValueError: If there is another number of premises, or the two do not fit each other.
        """
        shape = (premises.shape[0], self.length - 1, self.in_features)
        if premises.shape != shape:
            raise ValueError(
                f"premises must be (batch, {shape[1]}, {shape[2]}), all positions but the last, "
                f"got shape {tuple(premises.shape)}"
            )
        if candidates.ndim != 3 or candidates.shape[::2] != shape[::2]:
            raise ValueError(
                f"candidates must be ({shape[0]}, candidate, {shape[2]}) as premises are, "
                f"got shape {tuple(candidates.shape)}"
            )
        tags = torch.eye(self.length, dtype=premises.dtype, device=premises.device)
        given = self._tagged(premises, tags[:-1])
        offered = self._tagged(candidates, tags[-1:])
        given_first, given_second = self.first(given), self.second(given)
        offered_first, offered_second = self.first(offered), self.second(offered)
        among = given_first.unsqueeze(2) + given_second.unsqueeze(1)
        across = torch.cat(
            (
                given_first.unsqueeze(1) + offered_second.unsqueeze(2),
                offered_first.unsqueeze(2) + given_second.unsqueeze(1),
                (offered_first + offered_second).unsqueeze(2),
            ),
            dim=2,
        )
        summed = self._related(among.flatten(1, 2)).unsqueeze(1) + self._related(across)
        for layer in self.hidden:
            summed = torch.relu(layer(summed))
        return self.output(summed).squeeze(-1)

    def _tagged(self, panels: Tensor, tags: Tensor) -> Tensor:
        """Append the tag of its position to every panel; one tag serves all."""
        return self.panel(torch.cat((panels, tags.expand(*panels.shape[:2], -1)), dim=-1))

    def _related(self, pairs: Tensor) -> Tensor:
        """Apply the rest of $g$ to pairs `(..., pair, hidden_size)`, and sum them."""
        relations = torch.relu(pairs)
        for layer in self.pair:
            relations = torch.relu(layer(relations))
        return relations.sum(-2)


@final
class SRAN(nn.Module):
    r"""Compare the rule of the two full rows with the rules that a candidate's row has with each.

    $$s = -\tfrac1d \Big\Vert r(R_1, R_2) - \tfrac12 \big(r(R_1, R_3) + r(R_2, R_3)\big)
      \Big\Vert^2$$

    The embedding $r$ of the rule of two rows is made at three levels: of the single panels
    (*cell*), of each row (*individual*) and of both rows together (*ecological*). A level is fused
    with those below it through a gate,

    $$h \leftarrow g \odot h + (1 - g) \odot h', \qquad g = \sigma(W (h \parallel h') + b).$$

    `WReN` adds up pairs of panels; here panels have an order, rows are compared as wholes, and a
    candidate is right because its row obeys the rule of the others.

    Args:
        length: Positions of a sequence: eight panels row by row and one candidate behind them.
        hidden_size: Units of each network.
        rule_size: Size $d$ of the embedding of a rule.
        columns: Whether the rules of columns are compared too, by the same networks.

    Shape:
        `(batch, 9, in_features)` to `(batch, 1)`.

    Attributes:
        cell, cells: Network of a panel, and the layer on those of two rows.
        individual, individuals: Network of a row, and the layer on two.
        ecological: Network of two rows.
        gates: $W$ and $b$ of the two fusions.
        output: The layer from the fused levels to the rule.

    Raises:
        ValueError: If a size is below 1, `length` is not 9, or the sequence has another
            shape.

    Reference:
        hu2021. There the levels are networks on stacked images; here they are on embeddings of
        panels, so that each panel is encoded once. Sizes, the form of the gate and the mean of the
        two rules are ours, and so are columns.
    """

    @check_arguments
    def __init__(
        self,
        in_features: Size,
        length: Size = ROW * ROW,
        *,
        hidden_size: Size = 256,
        rule_size: Size = 128,
        columns: bool = False,
        generator: torch.Generator | None = None,
    ) -> None:
        super().__init__()
        check_matrix(length)
        self.in_features, self.length = in_features, length
        self.columns = columns

        layer = partial(relu_layer, generator=generator)

        def network(inputs: int) -> nn.Sequential:
            return nn.Sequential(
                layer(inputs, hidden_size), nn.ReLU(), layer(hidden_size, hidden_size), nn.ReLU()
            )

        self.cell, self.cells = network(in_features), layer(2 * ROW * hidden_size, hidden_size)
        self.individual = network(ROW * in_features)
        self.individuals = layer(2 * hidden_size, hidden_size)
        self.ecological = network(2 * ROW * in_features)
        self.gates = nn.ModuleList(layer(2 * hidden_size, hidden_size) for _ in range(2))
        self.output = layer(hidden_size, rule_size)

    def forward(self, z: Float[Tensor, "batch time feature"]) -> Float[Tensor, "batch 1"]:
        """Score every sequence of a batch."""
        check_sequence(z, self.in_features, self.length)
        rules = self.rules(z)
        distance = rules[:, 0] - rules[:, 1:].mean(1)
        return -distance.square().mean(-1, keepdim=True)

    def rules(self, z: Float[Tensor, "batch time feature"]) -> Float[Tensor, "batch 3 _"]:
        """Embed the rules of rows 1 and 2, rows 1 and 3, rows 2 and 3.

        Those of columns follow those of rows.

        Args:
            z: The sequences.
        """
        rows = torch.unflatten(z, 1, (ROW, ROW))
        rules = self._rules(rows)
        if self.columns:
            rules = torch.cat((rules, self._rules(rows.transpose(1, 2))), dim=-1)
        return rules

    def _rules(self, rows: Float[Tensor, "batch 3 3 feature"]) -> Float[Tensor, "batch 3 _"]:
        """Embed the rules of three lines."""
        panels = self.cell(rows).flatten(2)
        whole = self.individual(rows.flatten(2))
        first, second = PAIRS

        def pairs(x: Tensor) -> Tensor:
            return torch.cat((x[:, first], x[:, second]), dim=-1)

        fused = torch.relu(self.cells(pairs(panels)))
        levels = (
            torch.relu(self.individuals(pairs(whole))),
            self.ecological(pairs(rows.flatten(2))),
        )
        for gate, level in zip(self.gates, levels, strict=True):
            weight = torch.sigmoid(gate(torch.cat((fused, level), dim=-1)))
            fused = weight * fused + (1 - weight) * level
        return self.output(fused)


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

    Levels enter by the overlaps of panels and, for the last three numbers, by their order: if
    all levels move by as much, nothing changes where memberships are 0 or 1 and no panel is empty.
    `SRAN` learns the overlaps of embeddings of panels.

    Args:
        in_features: Size of an embedding, set by set.
        length: Positions of a sequence: eight panels row by row and one candidate behind them.
        set_sizes: Number of levels of each set; those of an encoder such as `FigureEncoder` are
            filled in by an experiment.
        hidden_size: Units of each network.
        line_size: Size of the description $\ell$ of a line.

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
            hidden = relu_layer(inputs, hidden_size, generator)
            output = xavier_layer(hidden_size, outputs, generator)
            return nn.Sequential(hidden, nn.ReLU(), output)

        of_line, of_lines = _PATTERNS + ROW * _STATISTICS, ROW * (line_size + _SHARED)
        self.lines = nn.ModuleList(network(of_line, line_size) for _ in set_sizes)
        self.scores = nn.ModuleList(network(of_lines, 1) for _ in set_sizes)

    def forward(self, z: Float[Tensor, "batch time feature"]) -> Float[Tensor, "batch 1"]:
        """Score every sequence of a batch."""
        check_sequence(z, self.in_features, self.length)
        sets = zip(
            self.lines, self.scores, torch.split(z, list(self.set_sizes), dim=2), strict=True
        )
        parts = [score(_compare(line, levels)).sum(1) for line, score, levels in sets]
        return torch.stack(parts).sum(0)


def _compare(
    line: nn.Module, levels: Float[Tensor, "batch panel level"]
) -> Float[Tensor, "batch 2 feature"]:
    """Describe the three lines of a set by a network and overlaps: of rows, and of columns."""
    panels = lines_of(levels)
    numbers = lines_of(context_norm(_statistics(levels), eps=_EPS))
    of_lines = torch.relu(line(torch.cat([_patterns(panels), numbers.flatten(3)], dim=3)))
    first, second = PAIRS
    shared = _overlaps(panels[:, :, first], panels[:, :, second])
    return torch.cat([of_lines.flatten(2), shared.flatten(2)], dim=2)


def _patterns(panels: Float[Tensor, "batch 2 3 3 level"]) -> Float[Tensor, "batch 2 3 7"]:
    """Compute fractions of the levels of a line: in the last panel alone, … in all three."""
    first, second, third = torch.stack([1 - panels, panels]).unbind(4)
    found = torch.einsum("pbijl,qbijl,rbijl->bijpqr", first, second, third).flatten(3)
    anywhere = panels.amax(3).sum(3).clamp(min=1e-3)
    return found[..., 1:] / anywhere[..., None]


def _statistics(levels: Float[Tensor, "batch panel level"]) -> Float[Tensor, "batch panel 4"]:
    """Count the levels of each panel; add their mean position, the last and the first."""
    count = levels.shape[2]
    place = torch.arange(count, dtype=levels.dtype, device=levels.device) / count
    total = levels.sum(2)
    mean = (levels * place).sum(2) / total.clamp(min=1e-3)
    last, first = ((levels * (1 + along)).amax(2) for along in (place, 1 - place))
    return torch.stack([total, mean, last, first], dim=2)


def _overlaps(
    one: Float[Tensor, "batch 2 3 3 level"], other: Float[Tensor, "batch 2 3 3 level"]
) -> Float[Tensor, "batch 2 3 2"]:
    """Compute the largest overlap of each panel of a line with a panel of the other; both ways."""
    both = one @ other.mT
    either = one.square().sum(4)[..., None] + other.square().sum(4)[..., None, :] - both
    overlap = both / either.clamp(min=1e-3)
    return torch.stack([overlap.amax(4).mean(3), overlap.amax(3).mean(3)], dim=3)
