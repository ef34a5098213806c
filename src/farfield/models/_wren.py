"""The Wild Relation Network, a scorer of candidates."""

from __future__ import annotations

import itertools
from typing import final

import torch
from jaxtyping import Float
from torch import Tensor, nn

from farfield.core import Size, check_arguments
from farfield.functional import kaiming_normal_, uninitialized, xavier_normal_
from farfield.models._checks import check_length, check_sequence


@final
class WReN(nn.Module):
    r"""Add up what a network makes of every pair of panels, and score from the sum.

    $$s = f\Big(\sum_{i, j} g(p_i \parallel p_j)\Big), \qquad p_i = P (z_i \parallel e_i)$$

    over all pairs of places in both orders, each place with itself included, with a one-hot tag
    $e_i$ of the place. $g$ has four ReLU layers and $f$ two, and a linear output. `RN` has two
    layers and one, and the place as a number. The first layer of $g$ is applied to places, then
    added up for pairs.

    Args:
        in_features: Size of an embedding.
        length: Places of a sequence: the context and one candidate behind it.
        panel_size: Size of a tagged panel, $p$.
        hidden_size: Hidden units of $g$.
        relation_size: Outputs of $g$, and units of $f$.
        generator: Where the first weights are drawn from; None is torch's global generator.

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

        def layer(inputs: int, outputs: int, *, bias: bool = True) -> nn.Linear:
            return kaiming_normal_(uninitialized(nn.Linear, inputs, outputs, bias=bias), generator)

        self.panel = layer(in_features + length, panel_size)
        self.first = layer(panel_size, hidden_size)
        self.second = layer(panel_size, hidden_size, bias=False)
        widths = (hidden_size, hidden_size, hidden_size, relation_size)
        self.pair = nn.ModuleList(layer(a, b) for a, b in itertools.pairwise(widths))
        self.hidden = nn.ModuleList(layer(relation_size, relation_size) for _ in range(2))
        self.output = xavier_normal_(uninitialized(nn.Linear, relation_size, 1), generator)

    def forward(self, z: Float[Tensor, "batch time feature"]) -> Float[Tensor, "batch 1"]:
        """Score every sequence of a batch."""
        check_sequence(z, self.in_features)
        check_length(z, self.length)
        return self.score_candidates(z[:, :-1], z[:, -1:])

    def score_candidates(
        self,
        premises: Float[Tensor, "batch premise feature"],
        candidates: Float[Tensor, "batch candidate feature"],
    ) -> Float[Tensor, "batch candidate"]:
        """Score every candidate of a problem as the last place behind the same premises.

        The pairs that the premises make among themselves are looked at once for all candidates:
        of 8 panels and 8 candidates that leaves 200 pairs of the 648 that sequences have.

        Args:
            premises: All places but the last.
            candidates: What may stand at the last.

        Raises:
            ValueError: If there is another number of premises, or the two do not fit each other.
        """
        shape = (premises.shape[0], self.length - 1, self.in_features)
        if premises.shape != shape:
            raise ValueError(
                f"premises must be (batch, {shape[1]}, {shape[2]}), all places but the last, "
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
        """Every panel with the tag of its place; one tag serves all."""
        return self.panel(torch.cat((panels, tags.expand(*panels.shape[:2], -1)), dim=-1))

    def _related(self, pairs: Tensor) -> Tensor:
        """The rest of $g$ on pairs `(..., pair, hidden_size)`, summed."""
        relations = torch.relu(pairs)
        for layer in self.pair:
            relations = torch.relu(layer(relations))
        return relations.sum(-2)
