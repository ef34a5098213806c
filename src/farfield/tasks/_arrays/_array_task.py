"""A task of the user's arrays."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import KW_ONLY, dataclass, replace
from functools import cached_property
from itertools import accumulate
from pathlib import Path
from typing import Annotated, Any, ClassVar, Final, Literal, cast, final

import numpy as np
import torch
from jaxtyping import Bool, Float, Int64, Shaped
from torch import Tensor
from torch.nn import functional as F

from farfield.core import Problems, Stream, stream
from farfield.core.internal import LazyItems, Limits, UnknownNameError, check_fields
from farfield.metrics import correct
from farfield.tasks._arrays._array_sets import (
    Described,
    Domains,
    Pair,
    array_sets,
    divided,
    joined_domains,
)
from farfield.tasks._arrays._kept_arrays import ArrayReader, KeptArray, find, keep
from farfield.tasks._arrays._read_arrays import TEST
from farfield.tasks._protocol._answers import check_outputs, target_outputs
from farfield.tasks._protocol._draws import UNLABELLED, DrawnSets, distinct
from farfield.tasks._protocol._task import (
    CHANNELS_FIRST,
    COLOR,
    GRAY,
    TRAINING,
    VALIDATION,
    VECTOR,
    Axis,
    Form,
    OneContext,
    Regime,
    axes_of,
    check_regime,
    regimes_at,
)

IN_MEMORY: Final = 2**30
"""Most bytes of the items of a set that are read at once."""
VALIDATION_SHARE: Final = 0.1
MOST_VALIDATION: Final = 10_000
"""Most validation problems where no share is given."""
_FEW_CLASSES: Final = 20
"""Number of integers that may be classes, however few problems there are."""

Loss = Callable[[Tensor, Tensor], Tensor]
"""Function from outputs `(batch, num_outputs)` and targets to one number per problem."""


@final
@dataclass(frozen=True)
class ArrayTask(DrawnSets, OneContext):
    r"""What is the class, or the number, of each item of the user's arrays?

    **Task.** Arrays, tensors, data frames or files become a task: the sets, their distances from
    training, and the question, which follows from the targets. Integers, truth values and text
    are classes; floating-point numbers are to be predicted.

    **Worked example.**

    ```text
    task = ArrayTask(
        {"training": (x, y), "summer": (x2, y2)}, distances={"summer": 6}, unit="months"
    )
    ```

    **Regimes.** `training`, `validation`, then the other sets by growing distance. Without a set
    `validation`, a tenth of training, at most 10,000 problems, is validation and no longer
    training: the same problems in every run. The sets are the same in every run, too: seeds differ
    in weights and in the order of batches. A set `unlabelled` of items without targets is no
    regime; objectives read it by this name, e.g. `VAT(consistency="unlabelled")`.

    **Domains.** With `training=("clinic-1", "clinic-2")` these sets, read into memory, are training
    domains: training and validation have a score for each, validation is a tenth of each, and
    rules such as `GroupDRO` read equally many problems of each.

    **Score, floor and ceiling.** Classes: the cross-entropy is learned, right answers are scored,
    and the floor is the share of the commonest class of the set. Numbers: the squared error is
    learned, of targets that are standardized by the mean and the standard deviation of training;
    the score is $R^2$, averaged over the numbers of a target, and its floor 0, the score of
    answering the mean of the set. `answers` converts outputs back. The ceiling are the targets.

    **Data.** The key of an experiment has the SHA-256 of every array: equal arrays make one key,
    other arrays another key. Arrays in memory are written into the cache folder once, where worker
    processes and later sessions find them. Arrays that are mapped from a file (`np.load(path,
    mmap_mode="r")`, `np.memmap`) remain there and are read batch by batch; the file must stay.

    Args:
        data: `(x, y)` by the name of the set, among them `training`; or the path of an NPZ file
            with arrays `x_training`, `y_training`, … or of a folder of pictures in folders of sets
            and classes. Instead of x, a CSV or Parquet file or a data frame, with y the name of
            its column of targets. The first axis of x counts the items. `unlabelled` is x alone.
        distances: Distance of each set from training; 0 of `test` and `validation`.
        unit: Unit of the distances.
        axes: Axes of x, e.g. `"item feature"`, `"item time feature"`, `"item time"`,
            `"item height width"`, `"item channel height width"`. Found by shape if it is clear:
            two axes are features; three axes of bytes, or four, are images.
        training: Names of sets that are training domains, in place of a set `training`.
        validation: Share of training that is validation, if no set `validation` is given.
        targets: Whether targets are classes or numbers, if the type of y is not to say it.
        loss_function: Function from outputs and targets to a number per problem, to be learned.
        score_function: Function from outputs and targets to a number per problem, to be reported
            under the name of the function.
        floor: Score of an answer that ignores the problem; needed beside a score function.

    Raises:
        ValueError: If the data cannot be read, are not finite, or differ in shape between sets; a
            set has no distance; a class is not in training; the axes are not clear; or a score
            has no floor.

    Example:
        >>> import numpy as np
        >>> x, y = np.random.default_rng(0).normal(size=(100, 4)), np.arange(100) % 2
        >>> task = ArrayTask({"training": (x, y), "far": (x + 3, y)}, distances={"far": 3})
        >>> [regime.name for regime in task.regimes], task.num_outputs, task.chance("far")
        (['training', 'validation', 'far'], 2, 0.5)
    """

    name: ClassVar[str] = "arrays"
    version: ClassVar[int] = 1
    training_scored: ClassVar[int] = 2_000

    data: Mapping[str, Any] | str | Path | tuple[tuple[str, str, str], ...]
    _: KW_ONLY
    distances: Mapping[str, float] | tuple[tuple[str, float], ...] = ()
    unit: str = "distance"
    axes: str | None = None
    training: tuple[str, ...] | Domains = ()
    validation: Annotated[float, Limits(at_least=0, below=1)] | None = None
    targets: Literal["classes", "numbers"] | None = None
    loss_function: Loss | None = None
    score_function: Loss | None = None
    floor: float | None = None

    def __post_init__(self) -> None:
        check_fields(self)
        if not isinstance(self.data, tuple):  # digests, as in a description
            sets = array_sets(self.data)
            if self.training:
                sets, counts = joined_domains(sets, self.training)
                object.__setattr__(self, "training", counts)
            object.__setattr__(self, "data", self._described(sets))
        object.__setattr__(self, "distances", self._ordered(dict(self.distances)))
        if self.validation is not None and VALIDATION in self._arrays:
            raise ValueError(
                f"validation must be left out beside a set of this name, got {self.validation}"
            )
        if (self.score_function is None) != (self.floor is None):
            raise ValueError(
                "floor must be given with score_function, and only with it, "
                f"got floor={self.floor} and score_function={self.score_function}"
            )
        if self.is_at_hand():
            self._check()

    def _described(self, sets: Mapping[str, Pair]) -> tuple[tuple[str, str, str], ...]:
        """Keep the arrays; describe each by type, shape and digest."""
        rows = []
        for name, (x, y) in sorted(sets.items()):
            items, targets = (f"{a.dtype.name}{[*a.shape]} {keep(a)}" for a in (x, y))
            if name == TRAINING and self._are_classes(y.dtype.name):
                targets = f"{len(np.unique(y))} classes of {targets}"
            rows.append((name, items, targets))
        return tuple(rows)

    def _are_classes(self, dtype: str) -> bool:
        """Tell if targets of a type are classes."""
        return not dtype.startswith("float") if self.targets is None else self.targets == "classes"

    def _ordered(self, given: dict[str, float]) -> tuple[tuple[str, float], ...]:
        """Return the distances of the tests, the nearest first."""
        if TRAINING not in self._arrays:
            raise ValueError(
                f"data must have a set {TRAINING!r}, got {', '.join(self._arrays) or 'none'}"
            )
        tests = [n for n in self._arrays if n not in (TRAINING, VALIDATION, UNLABELLED)]
        for name, distance in given.items():
            if name not in tests:
                raise UnknownNameError("set in distances", str(name), tests)
            if not math.isfinite(distance) or distance < 0:
                raise ValueError(f"distances must be numbers from 0 on, got {distance} of {name}")
        lacking = [name for name in tests if name not in given and name != TEST]
        if lacking:
            raise ValueError(
                f"distances must name each test, {lacking[0]!r} has none; write "
                f"distances={{{lacking[0]!r}: 1.0}}"
            )
        found = {name: float(given.get(name, 0.0)) for name in tests}
        return tuple(sorted(found.items(), key=lambda pair: (pair[1], pair[0])))

    @cached_property
    def _arrays(self) -> dict[str, tuple[Described, Described]]:
        """Description of the items and targets of each set."""
        rows = cast(tuple[tuple[str, str, str], ...], self.data)
        return {name: (Described.read(x), Described.read(y)) for name, x, y in rows}

    @cached_property
    def _kept(self) -> dict[str, tuple[KeptArray, KeptArray]]:
        """Items and targets of each set.

        Raises:
            ValueError: If this machine lacks an array.
        """
        return {name: (find(x.digest), find(y.digest)) for name, (x, y) in self._arrays.items()}

    def is_at_hand(self) -> bool:
        """Check whether the arrays are on this machine."""
        try:
            return bool(self._kept)
        except ValueError:
            return False

    def _check(self) -> None:
        """Raise `ValueError` unless all sets are problems of one kind."""
        wanted, sort = self.item_shape, self._arrays[TRAINING][1].sort
        for name, (x, y) in self._arrays.items():
            if (found := self._item_shape_of(x)) != wanted:
                raise ValueError(
                    f"items must be of one shape in all sets, {TRAINING} has {wanted} "
                    f"and {name} {found}"
                )
            if self.targets is None and y.sort != sort and name != UNLABELLED:
                raise ValueError(
                    f"targets must be of one sort in all sets, {TRAINING} has {sort} and "
                    f"{name} {y.sort}"
                )
        if self.has_classes:
            self._check_classes()
        else:
            self._check_numbers()
        if len(self._rows[TRAINING]) == 0:
            raise ValueError("validation must leave a training problem, got none")

    def _check_classes(self) -> None:
        for name, (_, y) in self._arrays.items():
            if len(y.shape) > 1:
                raise ValueError(
                    f"classes of {name} must be of (item,), got shape {y.shape}; several numbers "
                    "an item can be targets, and answers at every step need a task class"
                )
        known, (count, *_) = self.classes, self._arrays[TRAINING][1].shape
        if len(known) < 2:  # two classes
            raise ValueError(f"training must show two classes or more, got {known[0]!r} alone")
        is_guess = self.targets is None and self._arrays[TRAINING][1].sort == "integers"
        if is_guess and len(known) > max(_FEW_CLASSES, count // 10):
            raise ValueError(
                f"targets must be named, got {len(known)} integers in {count} problems: write "
                "targets='numbers' or targets='classes'"
            )
        if self._arrays[TRAINING][1].classes != len(known):
            raise ValueError("targets must be given together with the data, got them later")
        for name in self._arrays.keys() - {TRAINING, UNLABELLED}:
            with self._kept[name][1].mapped() as values:
                if strange := sorted({*np.unique(values).tolist()} - {*known}):
                    raise ValueError(
                        f"classes of {name} must be in training, got {strange[0]!r} "
                        f"({len(strange)} such classes); drop these items"
                    )

    def _check_numbers(self) -> None:
        shape = self._arrays[TRAINING][1].shape[1:]
        if UNLABELLED in self._arrays:
            raise ValueError(f"data must be of classes beside a set {UNLABELLED!r}, got numbers")
        if self._arrays[TRAINING][1].classes:
            raise ValueError("targets must be given together with the data, got them later")
        for name, (_, y) in self._arrays.items():
            if len(shape) > 1 or y.shape[1:] != shape or y.sort == "text":
                raise ValueError(
                    "numbers must be of (item,) or (item, number), as many in all sets, "
                    f"got {y.shape} of {y.dtype} in {name}"
                )
            if not (self._values(name).std(0) > 0).all():
                raise ValueError(f"numbers of {name} must differ between items, got one value")

    @property
    def has_classes(self) -> bool:
        """Truth value: the targets are classes, not numbers."""
        return self._are_classes(self._arrays[TRAINING][1].dtype)

    @cached_property
    def classes(self) -> tuple[Any, ...]:
        """Classes in the order of the outputs; none if the targets are numbers."""
        if not self.has_classes:
            return ()
        with self._kept[TRAINING][1].mapped() as y:
            return tuple(np.unique(y).tolist())

    @property
    def _axes(self) -> tuple[str, ...]:
        """Axes of x without the axis of items: `time` first, if there is one."""
        x = self._arrays[TRAINING][0]
        shape, is_bytes = x.shape[1:], x.dtype == "uint8"
        if self.axes is None:
            axes: tuple[str, ...] = axes_of(shape) if len(shape) < _IMAGE or is_bytes else ()
            axes = axes_of(shape) if len(shape) == _IMAGE + 1 else axes
        else:
            first, *others = self.axes.split() or [""]
            axes = tuple(others) if first == "item" else ()
        rest = tuple(axis for axis in axes[:1] if axis != "time") + axes[1:]
        is_known = rest in _ITEM_AXES and (rest or axes)
        if not is_known or len(axes) != len(shape):
            several = "; ".join(
                " ".join(("item", *time, *item))
                for item in _ITEM_AXES
                for time in ((), ("time",))
                if len(time) + len(item) == len(shape)
            )
            raise ValueError(
                f"axes must name those of x, of shape {x.shape}: {several or 'at most 5'}; "
                f"got {self.axes!r}"
            )
        return axes

    def _item_shape_of(self, x: Described) -> tuple[int, ...]:
        return x.shape[2 if self._is_sequence else 1 :] or (1,)

    @property
    def _is_sequence(self) -> bool:
        return self._axes[0] == "time"

    @property
    def item_shape(self) -> tuple[int, ...]:
        """Shape of an item, or of a time step of a sequence."""
        return self._item_shape_of(self._arrays[TRAINING][0])

    @property
    def length(self) -> int:
        """Number of time steps of a sequence in training; 1 without an axis of time."""
        return self._arrays[TRAINING][0].shape[1] if self._is_sequence else 1

    @property
    def num_outputs(self) -> int:
        """Number of classes, or of numbers of a target."""
        y = self._arrays[TRAINING][1]
        return y.classes if self.has_classes else math.prod(y.shape[1:])

    @property
    def form(self) -> Form:
        """Single items, or sequences of time steps; one answer."""
        rest: Any = self._axes[1:] if self._is_sequence else self._axes
        return Form(axes=rest or VECTOR, arrangement="sequence" if self._is_sequence else "single")

    @property
    def metric(self) -> str:
        """Name of the score."""
        if self.score_function is not None:
            return self.score_function.__name__
        return "accuracy" if self.has_classes else "r2"

    @property
    def regimes(self) -> tuple[Regime, ...]:
        """Training, validation, then the tests by growing distance."""
        has_validation = VALIDATION in self._arrays or self.validation != 0
        near = {TRAINING: 0.0} | ({VALIDATION: 0.0} if has_validation else {})
        return regimes_at(self.unit, near | dict(self.distances))

    @cached_property
    def _rows(self) -> dict[str, Int64[np.ndarray, " batch"]]:
        """Rows of each regime in its array."""
        rows = {name: np.arange(len(x)) for name, (x, _) in self._kept.items()}
        if VALIDATION in rows or self.validation == 0:
            return rows
        count = len(rows[TRAINING])
        branch = stream(0).child(self.name, f"v{self.version}", VALIDATION)
        if self.training:
            ends = self._ends
            starts = (0, *ends[:-1])
            chosen = np.concatenate(
                [
                    start + self._held_out(branch.child(name), end - start)
                    for name, start, end in zip(self.domains, starts, ends, strict=True)
                ]
            )
        else:
            chosen = self._held_out(branch, count)
        is_left = np.ones(count, bool)
        is_left[chosen] = False
        return rows | {TRAINING: np.flatnonzero(is_left), VALIDATION: np.sort(chosen)}

    def _held_out(self, branch: Stream, count: int) -> Int64[np.ndarray, " batch"]:
        """Draw the rows of validation among rows of training."""
        if self.validation is None:
            share = min(MOST_VALIDATION, round(VALIDATION_SHARE * count))
        else:
            share = round(self.validation * count)
        if self.training and count <= max(1, share):
            raise ValueError(
                f"validation must leave each domain a training problem, got {share} of {count}"
            )
        return distinct(branch.numpy(), (count,), max(1, share))[:, 0]

    @property
    def domains(self) -> tuple[str, ...]:
        """Names of the training domains; none where training is one set."""
        return tuple(str(name) for name, _ in cast(Domains, self.training))

    @cached_property
    def _ends(self) -> tuple[int, ...]:
        """Row after the last of each domain, in the joined training array."""
        return tuple(accumulate(count for _, count in cast(Domains, self.training)))

    def leaving_out(self, domain: str) -> ArrayTask:
        """Copy the task without a training domain, which becomes the only test.

        Args:
            domain: Name of the domain.

        Raises:
            ValueError: If it is no training domain, or the only one.
        """
        if domain not in self.domains or len(self.domains) < 2:
            raise UnknownNameError("one of several training domains", domain, self.domains)
        with self._kept[TRAINING][0].mapped() as x, self._kept[TRAINING][1].mapped() as y:
            sets = divided((x, y), cast(Domains, self.training))
        others = tuple(name for name in self.domains if name != domain)
        return replace(self, data=sets, training=others, distances={domain: 1.0})

    def parts(self, problems: Problems) -> dict[str, Bool[Tensor, " batch"]]:
        """Return the mask of the problems of each training domain, by its name."""
        of = problems.latent.get("domain")
        return {} if of is None else {n: of == number for number, n in enumerate(self.domains)}

    def _source(self, regime: str) -> tuple[KeptArray, KeptArray]:
        """Return the arrays of a regime; a part of training has the arrays of training."""
        return self._kept.get(regime, self._kept[TRAINING])

    def _values(self, regime: str) -> Shaped[np.ndarray, "batch ..."]:
        """Read the targets of a regime as the user gave them."""
        with self._source(regime)[1].mapped() as y:
            return y[self._rows[regime]]

    @cached_property
    def _scale(self) -> tuple[Float[np.ndarray, " number"], Float[np.ndarray, " number"]]:
        """Mean and standard deviation of the numbers of training."""
        values = self._numbers(TRAINING)
        return values.mean(0), values.std(0)

    def _numbers(self, regime: str) -> Float[np.ndarray, "batch number"]:
        """Read the numbers of a regime."""
        values = self._values(regime)
        return values.reshape(len(values), -1).astype(np.float64)

    def draw(self, stream: Stream) -> dict[str, Problems]:  # noqa: ARG002 — all runs share the sets
        """Return the sets, the same in every run, by regime name."""
        names = [regime.name for regime in self.regimes]
        names += [UNLABELLED] * (UNLABELLED in self._arrays)
        return {name: self._problems(name) for name in names}

    def _problems(self, regime: str) -> Problems:
        """Make the problems of a regime."""
        rows, x = self._rows[regime], self._source(regime)[0]
        length = x.shape[1] if self._is_sequence else 1
        numbers = torch.from_numpy(rows)[:, None] * length + torch.arange(length)
        lazy = LazyItems(
            latent=numbers.flatten(),
            draw=ArrayReader(x, length, self._is_sequence, self.item_shape),
        )
        is_small = lazy.dtype.itemsize * math.prod(lazy.shape) <= IN_MEMORY
        target, latent = self._targets(regime)
        if self.training and self._source(regime) is self._kept[TRAINING]:
            latent["domain"] = torch.from_numpy(np.searchsorted(self._ends, rows, side="right"))
        return Problems(
            items=lazy.index_select(0, torch.arange(len(lazy))) if is_small else lazy,
            index=torch.arange(len(lazy)).reshape(len(rows), length),
            target=target,
            latent=latent,
        )

    def _targets(self, regime: str) -> tuple[Tensor, dict[str, Tensor]]:
        """Make the targets of a regime, and their variance if they are numbers."""
        if regime == UNLABELLED:
            return torch.from_numpy(self._values(regime)), {}
        if self.has_classes:
            found = np.searchsorted(np.array(self.classes), self._values(regime))
            return torch.from_numpy(found), {}
        mean, std = self._scale
        numbers = ((self._numbers(regime) - mean) / std).astype(np.float32)
        variance = torch.from_numpy(numbers.astype(np.float64).var(0).astype(np.float32))
        return torch.from_numpy(numbers), {"variance": variance.expand(len(numbers), -1)}

    def loss(
        self, outputs: Float[Tensor, "batch output"], problems: Problems
    ) -> Float[Tensor, " batch"]:
        """Compute the cross-entropy, the squared error of standardized numbers, or the given loss.

        Args:
            outputs: Logits, or standardized numbers.

        Raises:
            ValueError: If `outputs` is not of `(batch, num_outputs)`.
        """
        check_outputs(outputs, problems, self.num_outputs)
        if self.loss_function is not None:
            return _per_problem("loss_function", self.loss_function(outputs, problems.target))
        if self.has_classes:
            return F.cross_entropy(outputs, problems.target, reduction="none")
        return (outputs - problems.target).square().mean(1)

    def score(
        self, outputs: Float[Tensor, "batch output"], problems: Problems
    ) -> Float[Tensor, " batch"]:
        """Score 1 for a right class, the contribution of each problem to R², or the given score.

        Raises:
            ValueError: As `loss`.
        """
        check_outputs(outputs, problems, self.num_outputs)
        if self.score_function is not None:
            return _per_problem("score_function", self.score_function(outputs, problems.target))
        if self.has_classes:
            return correct(outputs, problems.target).to(torch.float32)
        error = (outputs - problems.target).square()
        return (1 - error / problems.latent["variance"]).mean(1)

    def chance(self, regime: str) -> float:
        """Return the score of the best answer that is the same for all problems of a regime."""
        check_regime(regime, self.regimes)
        if self.floor is not None:
            return self.floor
        if not self.has_classes:
            return 0.0
        return self._commonest[regime]

    @cached_property
    def _commonest(self) -> dict[str, float]:
        """Share of the commonest class of each regime."""
        found = {}
        for regime in self.regimes:
            counts = np.unique(self._values(regime.name), return_counts=True)[1]
            found[regime.name] = float(counts.max() / counts.sum())
        return found

    def oracle(self, problems: Problems) -> Float[Tensor, "batch output"]:
        """Return the targets as outputs."""
        if self.has_classes:
            return target_outputs(problems, self.num_outputs)
        found: Tensor = problems.target
        return found

    def answers(self, outputs: Float[Tensor, "batch output"]) -> Shaped[np.ndarray, "batch ..."]:
        """Convert outputs to classes by name, or to numbers in the units of the user's targets.

        Args:
            outputs: Logits, or standardized numbers.
        """
        found = outputs.detach().cpu().numpy()
        if self.has_classes:
            return np.array(self.classes)[found.argmax(1)]
        mean, std = self._scale
        return (found * std + mean).reshape(len(found), *self._kept[TRAINING][1].shape[1:])


_IMAGE: Final = 2
"""Axes of a gray image."""
_ITEM_AXES: Final[tuple[tuple[Axis, ...], ...]] = ((), VECTOR, GRAY, CHANNELS_FIRST, COLOR)
"""Axes of an item: of a single number of a sequence, a vector, and images."""


def _per_problem(name: str, values: Tensor) -> Tensor:
    """Return the values; raise `ValueError` unless there is one for each problem."""
    if values.ndim != 1:
        raise ValueError(f"{name} must return (batch,), got shape {tuple(values.shape)}")
    return values
