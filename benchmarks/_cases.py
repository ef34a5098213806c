"""Cases to measure, and the ratios to reach."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Final, final

REASONERS: Final = (
    *("esbn", "transformer", "lstm"),
    *("ntm", "mnm", "rn", "trn", "predinet", "corelnet", "deep-sets"),
    *("abstractor", "relational-convolution", "ocra", "slot-abstractor"),
)
TASKS: Final = (
    "same-different",
    "relational-match-to-sample",
    "distribution-of-three",
    "identity-rules",
)
WITHHELD: Final = (0, 85)
SEEDS: Final = (1, 10)

FAR: Final = 85
"""Number of withheld shapes from which the second column of targets holds."""

TRAINING_TARGETS: Final = {
    "esbn": (4.0, 5.5),
    "transformer": (3.3, 5.0),
    "lstm": (2.5, 3.0),
    **dict.fromkeys(("ntm", "mnm", "rn", "trn", "predinet"), (3.0, 3.0)),
}
"""Least ratio to the straightforward loop: with few and with many withheld shapes."""

EVALUATION_TARGETS: Final = {"esbn": 4.0, "transformer": 6.0}

SETS: Final = tuple(
    (task, withheld)
    for task in TASKS
    for withheld in ((0, 50, 85, 95, 98) if task == "same-different" else (0, 50, 85, 95))
)
"""Cells of Tables 1 to 4 of webb2021, seventeen in all."""

SETS_SECONDS: Final = 0.2
SETS_MEGABYTES: Final = 300.0


@final
@dataclass(frozen=True, kw_only=True)
class Case:
    """One model on one task.

    Args:
        reasoner: Name of the model, one of `REASONERS`.
        task: Name of the task.
        withheld: Number of withheld shapes, the paper's m.
    """

    reasoner: str
    task: str
    withheld: int

    def as_dict(self) -> dict[str, str | int]:
        """Describe the case as JSON."""
        return asdict(self)


def target(work: str, reasoner: str, withheld: int) -> float | None:
    """Find the target ratio in `work` (`"training"` or `"evaluation"`), if one is set."""
    if work == "evaluation":
        return EVALUATION_TARGETS.get(reasoner)
    if reasoner not in TRAINING_TARGETS:
        return None
    near, far = TRAINING_TARGETS[reasoner]
    return far if withheld >= FAR else near
