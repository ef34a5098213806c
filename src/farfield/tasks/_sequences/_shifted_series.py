"""Real series whose tests are shifted: amplitude, offset, speed, lateness, missing steps."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path
from typing import Annotated, ClassVar, Final, Literal, final

import numpy as np
import torch
from jaxtyping import Float, Int64
from torch import Tensor

from farfield.core import Problems, Stream
from farfield.core.internal import Checked, Limits
from farfield.tasks._protocol._answers import ClassTask
from farfield.tasks._protocol._draws import permutation
from farfield.tasks._protocol._task import (
    TRAINING,
    VALIDATION,
    VECTOR,
    CountOrNone,
    Form,
    OneContext,
    Regime,
)
from farfield.tasks._sequences._series_files import (
    PARTS,
    SERIES,
    read_series,
    series_files,
    shifted,
    standardized,
)

MISSING: Final = 0.3
_OCTAVES, _SPEED = "octaves of amplitude", "octaves of speed"
_TESTS: Final = (
    Regime(name="unchanged", distance=0, unit="shifts"),
    Regime(name="amplitude-doubled", distance=1, unit=_OCTAVES),
    Regime(name="amplitude-halved", distance=1, unit=_OCTAVES),
    Regime(name="offset-1", distance=1, unit="standard deviations"),
    Regime(name="faster-1.5", distance=0.585, unit=_SPEED),
    Regime(name="slower-1.5", distance=0.585, unit=_SPEED),
    Regime(name="late-6", distance=6, unit="steps late"),
    Regime(name="missing-30", distance=MISSING, unit="missing fraction"),
)


@final
@dataclass(frozen=True, kw_only=True)
class ShiftedSeries(Checked, ClassTask, OneContext):
    """Of which class is a series, if the tests are shifted as training never was?

    **Task.** A real series, of as many steps whatever its length in the file, standardized by
    the training part; an item is one step with its channels. The answer is its class. The nine sets
    are those of classes that the package aeon ships, each with a training and a test part:

    | set | training, test | channels | classes |
    |---|---|---|---|
    | `ACSF1` | 100, 100 | 1 | 10 |
    | `ArrowHead` | 36, 175 | 1 | 3 |
    | `BasicMotions` | 40, 40 | 6 | 4 |
    | `Covid3Month_disc` | 140, 61 | 1 | 3 |
    | `GunPoint` | 50, 150 | 1 | 2 |
    | `ItalyPowerDemand` | 67, 1029 | 1 | 2 |
    | `JapaneseVowels` | 270, 370 | 12 | 9 |
    | `OSULeaf` | 200, 242 | 1 | 6 |
    | `PickupGestureWiimoteZ` | 50, 50 | 1 | 10 |

    **Worked example** (a set of two classes, eight steps, `late-2`).

    ```text
      training    0 1 3 1 0 0 0 0  → 0      0 0 0 0 1 3 1 0  → 1
      late        0 0 0 1 3 1 0 0  → 0
    ```

    **Regimes.** `training` has the training part. All tests have the test part: `unchanged`,
    `amplitude-doubled` and `amplitude-halved`, `offset-1` (one standard deviation added),
    `faster-1.5` and `slower-1.5`, `late-6` (six steps later; the first value is held), and
    `missing-30` (30 % of the steps, drawn for each run, have the value before).

    **Score, floor and ceiling.** Share of right answers; the floor is to guess, each class as
    likely as any other. The ceiling is the published classes, which a shift may hide: amplitude
    may be the only difference between two classes. By hand: the class of the nearest training
    series.

    **Known shortcuts.** Classes are not equally frequent: the most frequent one is above the floor,
    most in `Covid3Month_disc`.

    **Source and deviations.** Files of aeon 1.6, read without importing it. Longer and shorter
    series are resampled by straight lines. Two sets have series of unequal length, which are
    stretched to one length.

    Args:
        series: Name of the set.
        folder: Folder with a folder for each set; `None` to look in `FARFIELD_DATA/aeon`, then in
            the package aeon (`farfield[series]`).
        steps: Number of steps of a series, 8…4096.
        validation_series: Number of training series that are held out for validation, drawn for
            each run.

    Raises:
        ValueError: If a field is out of range. That files are missing is found when they are read.

    Reference:
        Middlehurst et al. 2024.
    """

    name: ClassVar[str] = "shifted-series"
    version: ClassVar[int] = 1
    form: ClassVar[Form] = Form(axes=VECTOR, arrangement="sequence")

    series: Literal[
        "ACSF1",
        "ArrowHead",
        "BasicMotions",
        "Covid3Month_disc",
        "GunPoint",
        "ItalyPowerDemand",
        "JapaneseVowels",
        "OSULeaf",
        "PickupGestureWiimoteZ",
    ] = "GunPoint"
    folder: str | None = None
    steps: Annotated[int, Limits(at_least=8, at_most=4096)] = 48
    validation_series: CountOrNone = 0

    @property
    def regimes(self) -> tuple[Regime, ...]:
        """Training, validation if series are held out for it, and the tests."""
        names = (TRAINING, VALIDATION) if self.validation_series else (TRAINING,)
        return (*(Regime(name=name, distance=0, unit="shifts") for name in names), *_TESTS)

    def with_validation(self) -> ShiftedSeries:
        """Copy the task with a fifth of the training series held out for validation."""
        return replace(self, validation_series=SERIES[self.series].training // 5)

    @property
    def item_shape(self) -> tuple[int, ...]:
        """Number of channels."""
        return (SERIES[self.series].channels,)

    @property
    def length(self) -> int:
        """Number of steps."""
        return self.steps

    @property
    def num_outputs(self) -> int:
        """Number of classes."""
        return SERIES[self.series].classes

    def is_at_hand(self) -> bool:
        """Check whether both files are on this machine."""
        try:
            return all(path.is_file() for path in self.input_files().values())
        except ValueError:
            return False

    def input_files(self) -> dict[str, Path]:
        """List the paths of both files, under one name for every machine."""
        return series_files(self.folder, self.series)

    def draw(self, stream: Stream) -> dict[str, Problems]:
        """Draw the sets of a run: the order of training series, and the missing steps.

        Raises:
            ValueError: If a file is missing, has other channels or classes than the set, or too few
                series for validation.
        """
        files = self.input_files()
        (x, labels), (test_x, test_labels) = (read_series(files[p], self.steps) for p in PARTS)
        kinds = {label: number for number, label in enumerate(sorted({*labels}))}
        found = (x.shape[1], test_x.shape[1], len(kinds), len(kinds.keys() | {*test_labels}))
        wanted = (*self.item_shape * 2, *(self.num_outputs,) * 2)
        if found != wanted:
            raise ValueError(
                f"folder must have {self.series} with channels and classes of both parts {wanted}, "
                f"got {found}"
            )
        if self.validation_series >= len(x):
            raise ValueError(
                f"validation_series must be below {len(x)}, got {self.validation_series}"
            )
        own = stream.child(self.name, f"v{self.version}")
        order = permutation(own.child("split").numpy(), len(x))
        held, kept = order[: self.validation_series], order[self.validation_series :]
        x, test_x = standardized(x, test_x)
        lost = own.child("missing").numpy().random((len(test_x), 1, self.steps)) < MISSING
        classes, test_classes = (np.array([kinds[y] for y in ys]) for ys in (labels, test_labels))
        sets = {TRAINING: (x[kept], classes[kept]), VALIDATION: (x[held], classes[held])}
        sets |= {name: (part, test_classes) for name, part in shifted(test_x, lost).items()}
        return {regime.name: _problems(*sets[regime.name]) for regime in self.regimes}

    def by_hand(self, problems: Problems, training: Problems) -> Float[Tensor, "batch answer"]:
        """Answer by the nearest training series: 1 for its class, 0 else.

        Args:
            problems: Items and their index; without targets.
            training: Training problems of the run, with targets.
        """
        shown, known = (one.table()[one.index].flatten(1) for one in (problems, training))
        nearest = training.target[torch.cdist(shown, known).argmin(1)]
        return torch.eye(self.num_outputs)[nearest]


def _problems(
    x: Float[np.ndarray, "item channel time"], classes: Int64[np.ndarray, " item"]
) -> Problems:
    """Build problems whose items are the steps of series."""
    steps = np.ascontiguousarray(x.swapaxes(1, 2), dtype=np.float32)
    return Problems(
        items=torch.from_numpy(steps.reshape(-1, x.shape[1])),
        index=torch.arange(len(x) * x.shape[2]).reshape(len(x), x.shape[2]),
        target=torch.from_numpy(classes),
    )
