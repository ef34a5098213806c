"""Tables and figures that the papers print, and the claims that test them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final, final


@final
@dataclass(frozen=True)
class Printed:
    """A table or figure of a paper.

    Args:
        item: Its name there, e.g. `"Table 1"`.
        numbers: How many results it prints, a mean with its spread as one; 0 for curves.
        keys: Names of the tables or figures of claims that test it, without the paper's key.
        instead: Names of those that measure it at a size of our own.
        why: Why nothing tests it; empty where something does.

    Raises:
        ValueError: If neither claims nor a reason stand there, or both do.
    """

    item: str
    numbers: int = 0
    keys: tuple[str, ...] = ()
    instead: tuple[str, ...] = ()
    why: str = ""

    def __post_init__(self) -> None:
        if bool(self.keys) == bool(self.why):
            raise ValueError(f"{self.item} must have keys or why, got {self.keys} and {self.why!r}")


_DIAGRAM: Final = "a diagram, without a measured number"
_SETTINGS: Final = "settings, which the claims are made of"
_RULES: Final = "sample problems, as farfield show draws them"

PRINTED: Final[dict[str, tuple[Printed, ...]]] = {
    "webb2020": (
        *(Printed(f"Figure {number}", why=_RULES) for number in (1, 2, 3)),
        Printed("Table 1", 66, ("table-1",)),
        Printed("Table 2", 30, ("table-2",)),
        Printed("Table 3", 4, ("table-3",), ("table-3-generated",)),
        Printed("Table 4", 4, ("table-4",)),
        Printed("Table S1", 24, ("table-s1",)),
        *(Printed(f"Figure S{number}", 0, (f"figure-s{number}",)) for number in range(1, 9)),
    ),
    "gondal2021": (
        *(Printed(f"Figure {number}", why=_DIAGRAM) for number in (1, 2)),
        Printed("Table 1", 4, ("table-1",)),
        Printed("Table 2", 56, ("table-2",), ("table-2-generated",)),
        *(
            Printed(f"Figure {number}", 0, (f"figure-{number}",))
            for number in ("3", "4", "5a", "5b", "5c", "6", "7", "8")
        ),
    ),
    "ren2017": (
        Printed("Table 1", why="definitions, which MapNormalizer has"),
        Printed("Table 2", why=_SETTINGS),
        Printed("Table 3", 14, ("table-3",), ("cifar-narrow",)),
        Printed("Table 4", 18, ("ptb-table-4",)),
        Printed("Table 5", 20, ("table-5",), ("super-resolution-t91",)),
        Printed("Table 6", 20, ("table-6",)),
        Printed("Table 7", 60, ("table-7-cifar", "ptb-table-7"), ("cifar-narrow",)),
        Printed("Table 8", 20, ("table-8",)),
        Printed("Figure 1", why=_DIAGRAM),
        Printed("Figure 2", 0, ("figure-2",)),
        Printed("Figure 3", 0, ("figure-3",), ("figure-3-narrow",)),
        Printed("Figure 4", 12, ("figure-4",), ("restorations-t91",)),
        Printed("Figure 5", 22, ("figure-5",), ("figure-5-narrow",)),
        Printed("Figure 6", 0, ("figure-6",), ("figure-6-narrow",)),
        Printed("Figure 7", 8, ("figure-7",), ("restorations-t91",)),
    ),
    "webb2021": (
        *(Printed(f"Table {number}", why=_SETTINGS) for number in range(1, 9)),
        *(
            Printed(f"Table {number}", numbers, (f"table-{number}",))
            for number, numbers in zip(
                range(9, 21), (70, 56, 56, 56, 6, 8, 30, 24, 24, 24, 17, 5), strict=True
            )
        ),
        Printed("Figure 1", why=_RULES),
        Printed("Figure 2", why=_DIAGRAM),
        *(Printed(f"Figure {number}", 0, (f"figure-{number}",)) for number in range(3, 10)),
        Printed("Figure 10", why=_RULES),
    ),
    "lamb2022": (
        Printed("Chapter 4, Table 1a", 20, ("mixup-table-1a",), ("mixup-narrow",)),
        Printed("Chapter 4, Table 1b", 20, ("mixup-table-1b",)),
        Printed("Chapter 4, Table 2", 18, ("mixup-table-2",)),
        Printed("Chapter 4, Table 3", 18, ("mixup-table-3",)),
        Printed("Chapter 4, Table 4", 32, ("mixup-table-4",)),
        Printed("Chapter 4, Table 5", 20, ("mixup-table-5",)),
        Printed("Chapter 4, Table 6", 12, ("mixup-table-6",)),
        Printed("Chapter 4, Table 7", 10, ("mixup-table-7",)),
        Printed("Chapter 4, Figures 1 and 2", 0, ("mixup-figures-1-2",)),
        Printed("Chapter 4, Figure 3", why=_DIAGRAM),
        Printed("Chapter 6, Table 1", 30, ("ict-table-1",), ("ict-narrow",)),
        Printed("Chapter 6, Table 2", 27, ("ict-table-2",)),
        Printed("Chapter 6, Table 3", 10, ("ict-table-3",)),
        Printed("Chapter 6, Figure 1", 0, ("ict-figure-1",)),
        Printed("Chapter 6, Figure 2", why=_DIAGRAM),
        Printed("Chapter 8, Table 1", 45, ("table-1-copying", "table-1-digits")),
        Printed("Chapter 8, Figure 1", why=_DIAGRAM),
        Printed("Chapter 8, Figure 2", 0, ("figure-2",)),
        Printed("Chapter 8, Figure 3", 0, ("figure-3",)),
        Printed("Chapter 8, Figure 4", 0, ("figure-4-agents",), ("object-picking",)),
        Printed("Chapter 8, Figure 5", 0, ("figure-5-agents",)),
        Printed("Chapter 10, Table 1", why="words on other work"),
        Printed("Chapter 10, Table 2", 14, ("nfm-table-2",), ("nfm-images-narrow",)),
        Printed("Chapter 10, Table 3", 10, ("nfm-table-3",)),
        Printed("Chapter 10, Table 4", 16, ("nfm-table-4",), ("nfm-gan-narrow",)),
        Printed("Chapter 10, Table 5", 20, ("nfm-table-5",), ("nfm-digits-narrow",)),
        Printed("Chapter 10, Table 6", 4, ("nfm-table-6",), ("nfm-clevr-narrow",)),
        Printed("Chapter 10, Table 7", 21, ("nfm-table-7",), ("nfm-clevr-narrow",)),
        Printed("Chapter 10, Table 8", 4, ("nfm-table-8",)),
        Printed("Chapter 10, Table 9", 12, ("nfm-table-9",)),
        Printed("Chapter 10, Figure 1", why=_DIAGRAM),
        Printed("Chapter 10, Figure 2", why=_RULES),
    ),
}
"""Tables and figures of the papers, all of them, by the paper's key and in its order."""
