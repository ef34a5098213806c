"""Who reads whom: attention of the layers of a network to layers computed before."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from typing import Final, NamedTuple, final

import torch
from matplotlib.axes import Axes
from matplotlib.colors import LinearSegmentedColormap
from matplotlib.figure import Figure as Picture

from farfield.analysis import layer_reads_of
from farfield.nn import LayerRead, MultiPass
from farfield.records import Store
from farfield.reports._exhibits._exhibit import Figure
from farfield.reports._exhibits._looked_into import looked_into
from farfield.reports._exhibits._plates import Finding, Plate
from farfield.reports._profile._axes import WIDTH
from farfield.reports._profile._theme import Theme, in_style
from farfield.reports._report import _text as text
from farfield.reports._report._report import Report, Row

PROBLEMS: Final = 100
"""Problems over which attention is averaged, the first of the regime."""
DARK: Final = 0.6
"""Share of attention from which a number is in the color of the background."""

CAPTION: Final = (
    "Attention of each layer that reads (rows) to the null element and to the layers of this pass "
    "and those before (columns) in percent: means over heads, positions and the first {problems} "
    "problems of each network. A layer reads its own output too."
)


class _Reads(NamedTuple):
    """Reads of the networks of a row.

    Attributes:
        row: The cell.
        readers: Pass and name of each layer that reads.
        written: The same of all that is read.
        shares: Attention of each network to the null element, then to each layer: (network,
            reader, entry).
    """

    row: Row
    readers: tuple[tuple[int, str], ...]
    written: tuple[tuple[int, str], ...]
    shares: torch.Tensor


@final
@dataclass(frozen=True, kw_only=True)
class LayerReads:
    """Layers that the neural function modules of each row read.

    The quantities are named by the row, e.g. `nfm-two-passes/above`: attention to layers above, in
    the passes before, of all that is read, where there are several; and `…/null`, that to the null
    element.

    Args:
        regime: Whose problems are shown.
    """

    regime: str

    def plate(self, figure: Figure, report: Report, store: Store | None) -> Plate | None:
        """The attention in a panel for each row; `None` where none was run.

        Args:
            figure: What the paper says.
            report: The figure's cells with what was found.
            store: Where the trained networks lie.

        Raises:
            StoreError: If a trained network is missing.
        """
        if store is None:
            return None
        found = [each for row in report.run if (each := _reads(row, self.regime, store))]
        if not found:
            return None
        return Plate(
            name="reads",
            title="Which layers are read",
            caption=CAPTION.format(problems=PROBLEMS),
            draw=partial(_draw, found),
            findings=tuple(finding for each in found for finding in _findings(figure, each)),
        )


def _reads(row: Row, regime: str, store: Store) -> _Reads | None:
    """The reads of a row's networks; `None` if they do not read."""
    shares, reads = [], tuple[LayerRead, ...]()
    for record in row.records:
        looked = looked_into(row, record, store)
        if not any(isinstance(part, MultiPass) for part in looked.network.modules()):
            return None
        reads = layer_reads_of(looked.network, looked.sets[regime][:PROBLEMS])
        shares.append(_shares(reads))
    written = reads[-1].written
    return _Reads(row, tuple(read.reader for read in reads), written, torch.stack(shares))


def _shares(reads: Sequence[LayerRead]) -> torch.Tensor:
    """Mean attention (reader, entry); NaN where there was nothing to read yet."""
    found = torch.full((len(reads), len(reads[-1].written) + 1), torch.nan)
    for place, read in enumerate(reads):
        own = read.attention.flatten(0, -2).mean(0)
        found[place, : len(own)] = own
    return found


def _findings(figure: Figure, found: _Reads) -> list[Finding]:
    """Reads from above, and attention to the null element."""
    layers = [name for number, name in found.written if number == found.written[0][0]]
    above = torch.tensor(
        [
            [
                number < own[0] and layers.index(name) > layers.index(own[1])
                for number, name in found.written
            ]
            for own in found.readers
        ]
    )
    read = found.shares[..., 1:].nan_to_num()
    from_above = (read * above).sum((1, 2)) / read.sum((1, 2))
    name, row = found.row.claim.cell.partition("/")[0], found.row.claim.row
    parts = {
        "above": ("of what is read, from layers above in a pass before", from_above),
        "null": ("attention to the null element", found.shares[..., 0].mean(1)),
    }
    if not above.any():
        del parts["above"]
    return [
        Finding(
            what=f"{row}: {what}",
            paper=figure.words(f"{name}/{key}"),
            ours=text.over_counted([100 * float(value) for value in values]),
        )
        for key, (what, values) in parts.items()
    ]


@in_style
def _draw(found: Sequence[_Reads], theme: Theme) -> Picture:
    """A panel for each row, one below the other."""
    heights = [1 + len(each.readers) for each in found]
    picture = Picture(figsize=(WIDTH, 0.5 + 0.27 * sum(heights)))
    panels = picture.subplots(len(found), 1, squeeze=False, height_ratios=heights)[:, 0]
    for axes, each in zip(panels, found, strict=True):
        _draw_reads(axes, each, theme)
        axes.set_title(each.row.claim.row)
    picture.supxlabel("what is read")
    picture.supylabel("reader")
    return picture


def _draw_reads(axes: Axes, found: _Reads, theme: Theme) -> None:
    shares = found.shares.mean(0)
    colors = LinearSegmentedColormap.from_list("", [theme.background, theme.models[0]])
    axes.imshow(shares.numpy(), cmap=colors, vmin=0, vmax=1, aspect="auto")
    for place, entry in torch.nonzero(~shares.isnan()).tolist():
        share = float(shares[place, entry])
        ink = theme.background if share > DARK else theme.foreground
        axes.text(
            entry, place, f"{100 * share:.0f}", ha="center", va="center", fontsize=6.5, color=ink
        )
    axes.spines[:].set_visible(False)
    axes.tick_params(length=0)
    axes.set_xticks(
        range(shares.shape[1]),
        ["null", *(f"{name}\npass {number}" for number, name in found.written)],
    )
    axes.set_yticks(
        range(len(shares)), [f"{name}, pass {number}" for number, name in found.readers]
    )
