"""The stratified rule-aware network, a scorer of candidates."""

from __future__ import annotations

from typing import final

import torch
from jaxtyping import Float
from torch import Tensor, nn

from farfield.core import Size, check_arguments
from farfield.functional import kaiming_normal_, uninitialized
from farfield.models._checks import check_length, check_sequence
from farfield.models._matrix_lines import PAIRS, ROW, check_matrix


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
        in_features: Size of an embedding.
        length: Places of a sequence: eight panels row by row and one candidate behind them.
        hidden_size: Units of each network.
        rule_size: Size $d$ of the embedding of a rule.
        columns: Whether the rules of columns are compared too, by the same networks.
        generator: Where the first weights are drawn from; None is torch's global generator.

    Shape:
        `(batch, 9, in_features)` to `(batch, 1)`.

    Attributes:
        cell, cells: Network of a panel, and the layer on those of two rows.
        individual, individuals: Network of a row, and the layer on two.
        ecological: Network of two rows.
        gates: $W$ and $b$ of the two fusions.
        output: The layer that makes the rule of what is fused.

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

        def layer(inputs: int, outputs: int) -> nn.Linear:
            return kaiming_normal_(uninitialized(nn.Linear, inputs, outputs), generator)

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
        check_sequence(z, self.in_features)
        check_length(z, self.length)
        rules = self.rules(z)
        distance = rules[:, 0] - rules[:, 1:].mean(1)
        return -distance.square().mean(-1, keepdim=True)

    def rules(self, z: Float[Tensor, "batch time feature"]) -> Float[Tensor, "batch 3 _"]:
        """The embeddings of the rules of rows 1 and 2, rows 1 and 3, rows 2 and 3.

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
        """The same, of three lines."""
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
