"""`mend`: mends of a model that stops working, without and with training."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType
from typing import Any, Final, final

import numpy as np
from numpy.typing import NDArray

from farfield._text import fixed
from farfield.analysis import Shift
from farfield.analysis.internal import Items, describe_items, shifts_of
from farfield.core import stream
from farfield.core.internal import Size, check_arguments, expand_home
from farfield.metrics import paired_t_test
from farfield.reports import Tabular
from farfield.suites._profile._answers import answerer_of
from farfield.suites._profile._curves import Measured
from farfield.suites._profile._mend import Mend, candidates, fronted, match_for
from farfield.suites._profile._page import write_all
from farfield.suites._profile._profile import ShiftProfile, profile
from farfield.suites._profile._sets import FEWEST, numbered, rows_of, sets_of, sets_of_task
from farfield.tasks import ProblemTask

HELD_OUT: Final = 0.2
"""Share of the items of training on which a mend is chosen."""

TOLERANCE: Final = 0.01
"""Score without a shift that a chosen mend may cost."""

MOST_COLUMNS: Final = 8
"""Most shifts of the table of trained mends, worst first."""


@final
@dataclass(frozen=True, kw_only=True)
class Mends:
    """Profiles of a model before and after it was mended, and of recipes with mends.

    Args:
        before: Profile of the model.
        after: Profile behind a front that gives items the mean and spread of training; None where
            items have none, such as rows of a table.
        trained: Table of recipes with mends; None if nothing was trained.
        chosen: Name of the mend that was chosen on held-out items of training; empty if none
            helped.
    """

    before: ShiftProfile
    after: ShiftProfile | None
    trained: Tabular | None
    chosen: str

    def write(
        self, folder: str | Path, sections: Mapping[str, str] = MappingProxyType({})
    ) -> tuple[Path, ...]:
        """Write the page and files of the profile, and the tables of the mends.

        Args:
            folder: Folder, which is made if it is missing.
            sections: Paragraphs and Markdown tables of more sections of the page, by heading.
        """
        paths = write_all(self.before, folder, {"Mends": str(self), **sections})
        tables = {"mended": None if self.after is None else self.after.against(self.before),
                  "trained": self.trained}  # fmt: skip
        into = expand_home(folder)
        return (*paths, *(
            table.write(into / f"{name}{ending}")
            for name, table in tables.items() if table is not None for ending in (".csv", ".tex")
        ))  # fmt: skip

    def __str__(self) -> str:
        parts = ["Without training: these items have no mean and spread to bring back."]
        if self.after is not None:
            scores = f"{_percent(self.before.score)} → {_percent(self.after.score)}"
            parts = [
                f"Without training, items brought to the mean and spread of training ({scores}):",
                str(self.after.against(self.before)),
            ]
        if self.trained is not None:
            chosen = f"Chosen on held-out items: {self.chosen or 'none; plain is as good'}."
            parts += [
                "Trained again: scores at the strengths where the plain recipe fails.",
                str(self.trained),
                chosen,
            ]
        return "\n\n".join(parts)


def _percent(score: float) -> str:
    return f"{fixed(100 * score, 1)} %"


Recipe = Callable[[Any, NDArray[Any], Mend, int], Any]
"""Function `(x, y, mend, seed)` to a trained model."""


@check_arguments
def mend(
    model: Any, data: Any, *, train: Recipe | None = None, seeds: Size = 3, **options: Any
) -> Mends:
    """Measure mends of a model where it stops working.

    First without training: each item is brought to the mean and spread of training. Then, with a
    recipe, each mend that fits the failures is trained with equal seeds: fronts, mixup, label
    smoothing, and augmentation by the shifts that fail, up to half of their failures. A mend is
    chosen on a fifth of the items of training, at half of the strengths where the plain recipe
    fails there; scores are of the test items.

    Args:
        model: The model, as in `profile`.
        data: Sets by name, of which `test` is profiled; `training` has the items of training.
        train: Function `(x, y, mend, seed)` to a trained model, which uses the mend; None to train
            nothing.
        seeds: Networks of each mend.
        options: Options of `profile`.

    Raises:
        ValueError: As `profile`; or if `train` is given without a set `training`, or ignores its
            mends.
    """
    x, _, training = sets_of(data)
    if train is not None:
        _labeled(data)
    before = profile(model, data, **options)
    kind, axes = options.get("kind"), options.get("axes")
    known = describe_items(x, kind=kind, axes=axes, training=training)
    front = match_for(known, x if training is None else training)
    after = None
    if front is not None:
        networks = list(model) if isinstance(model, list | tuple) else [model]
        after = profile([fronted(one, front) for one in networks], data, **options)
    if train is None:
        return Mends(before=before, after=after, trained=None, chosen="")
    table, chosen = _trained(train, data, before, known, seeds, options)
    return Mends(before=before, after=after, trained=table, chosen=chosen)


def _trained(
    train: Recipe,
    data: Any,
    before: ShiftProfile,
    known: Items,
    seeds: int,
    options: Mapping[str, Any],
) -> tuple[Tabular, str]:
    """Train every mend over the seeds; choose on held-out items, score on the test items."""
    x0, y0, x, y = _labeled(data)
    order = stream(before.seed, "mend", "held out").numpy().permutation(len(x0))
    cut = round((1 - HELD_OUT) * len(x0))
    fit, held = np.sort(order[:cut]), np.sort(order[cut:])
    if len(held) < FEWEST:
        raise ValueError(
            f"training must have at least {round(FEWEST / HELD_OUT)} items, a fifth of which is "
            f"held out, got {len(x0)}"
        )
    num_classes = len(np.unique(y0)) if y0.dtype.kind != "f" else 0
    device = options.get("device")

    def models_of(one: Mend) -> list[Any]:
        found = []
        for seed in range(seeds):
            one.seed = seed
            trained = train(rows_of(x0, fit), y0[fit], one, seed)
            found.append(trained if one.outside is None else fronted(trained, one.outside))
        return found

    plain = models_of(Mend("plain", num_classes=num_classes))
    quiet = {name: value for name, value in options.items() if name != "report"}
    validated = profile(plain, (rows_of(x0, held), y0[held]), **quiet)
    offered = {one.name: one for one in shifts_of(known, rows_of(x0, held), y0[held])}
    own = {one.name: one for one in options.get("shifts", ()) if isinstance(one, Shift)}
    failing = {
        (offered | own)[curve.name]: curve.failure.value
        for curve in validated.broken if curve.weights is None
    }  # fmt: skip
    if not failing:
        raise ValueError("model must fail in some shift before a mend is trained, got none")
    found: dict[str, _Trial] = {}
    for one in candidates(known, rows_of(x0, fit), failing, num_classes):
        models = plain if one.name == "plain" else models_of(one)
        held_out = _Scorer(models, rows_of(x0, held), y0[held], before.seed, device)
        tested = _Scorer(models, x, y, before.seed, device)
        found[one.name] = _Trial(
            held_clean=held_out.clean,
            held=held_out.at(failing, 0.5),
            clean=tested.clean,
            test=tested.at(failing, 1.0),
        )
    base = found["plain"]
    others = {name: trial for name, trial in found.items() if name != "plain"}
    if all(trial.equals(base) for trial in others.values()):
        raise ValueError("train must use its mend, got the same scores from every mend")
    able = {
        name: trial.held.mean() for name, trial in others.items()
        if trial.held_clean.mean() >= base.held_clean.mean() - TOLERANCE
    }  # fmt: skip
    chosen = max(able, key=able.__getitem__, default="")
    if not chosen or able[chosen] <= base.held.mean():
        chosen = ""
    return _table(found, list(failing), chosen), chosen


def _labeled(data: Any) -> tuple[Any, NDArray[Any], Any, NDArray[Any]]:
    """Return items and labels of the training set and of the test set.

    Raises:
        ValueError: If there are no items of training, or no labels.
    """
    sets = sets_of_task(data) if isinstance(data, ProblemTask) else data
    if not isinstance(sets, Mapping) or "training" not in sets:
        raise ValueError(
            "data must have a set named training for train to learn from: x_training and "
            "y_training of an NPZ, or --training FILE"
        )
    x0, y0, _ = sets_of(sets["training"])
    x, y, _ = sets_of(data)
    if y0 is None or y is None:
        raise ValueError("data must have labels for train to learn from")
    return x0, y0, x, y


@final
@dataclass(frozen=True, kw_only=True)
class _Trial:
    """Scores of the networks of one mend.

    Args:
        held_clean: Scores of held-out items without a shift, `(network,)`.
        held: Scores of held-out items at half of the failures, `(network, shift)`.
        clean: Scores of test items without a shift.
        test: Scores of test items at the failures.
    """

    held_clean: NDArray[np.float64]
    held: NDArray[np.float64]
    clean: NDArray[np.float64]
    test: NDArray[np.float64]

    def equals(self, other: _Trial) -> bool:
        """Check whether all scores are equal.

        Args:
            other: Scores of another mend.
        """
        return np.array_equal(self.held, other.held) and np.array_equal(self.test, other.test)


class _Scorer:
    """Mean scores of several networks on the same items.

    Args:
        models: The networks.
        x: Items.
        y: Their labels.
        seed: Number of the draws.
        device: Device to which modules are moved; their own if None.
    """

    def __init__(
        self, models: Sequence[Any], x: Any, y: NDArray[Any], seed: int, device: str | None
    ) -> None:
        answerers = tuple(answerer_of(one, x, y, device) for one in models)
        is_class = answerers[0].says != "numbers"
        right = numbered(y, answerers[0].classes) if is_class else y.astype(np.float64)
        self.measured = Measured(x=x, y=right, answerers=answerers, is_class=is_class, seed=seed)

    @property
    def clean(self) -> NDArray[np.float64]:
        """Mean score of each network without a shift."""
        return self._score(self.measured.x)

    def at(self, failing: Mapping[Shift, float], share: float) -> NDArray[np.float64]:
        """Compute the mean scores at a share of the strengths of the failures.

        Args:
            failing: Strength of the failure of each shift.
            share: The share.
        """
        seed, x = self.measured.seed, self.measured.x
        scores = [
            self._score(shift(x, shift.nearest(share * d), seed)) for shift, d in failing.items()
        ]
        return np.stack(scores, 1)

    def _score(self, x: Any) -> NDArray[np.float64]:
        found: NDArray[np.float64] = self.measured.scores(self.measured.answers(x)).mean(1)
        return found


def _table(found: Mapping[str, _Trial], failing: Sequence[Shift], chosen: str) -> Tabular:
    """Make the table: mends against shifts, with the paired difference from the plain recipe."""
    base = found["plain"]
    gains = {name: trial.test.mean(1) - base.test.mean(1) for name, trial in found.items()}
    tests = {
        name: paired_t_test(trial.test.mean(1).tolist(), base.test.mean(1).tolist()).p
        for name, trial in found.items()
        if name != "plain" and len(base.clean) > 2 and np.ptp(gains[name]) > 0
    }
    holm = _holm(tests)
    shown = failing[:MOST_COLUMNS]
    cells, values = [], []
    for name, trial in found.items():
        means = trial.test.mean(0)
        label = f"{name} ←" if name == chosen else name
        gain = float(gains[name].mean())
        shown_gain = "no effect" if trial.equals(base) else f"{100 * gain:+.1f}"
        p = f"{holm[name]:.2g}" if name in holm else "–"
        cells.append((
            label, fixed(100 * trial.clean.mean(), 1),
            *(fixed(100 * one, 1) for one in means[: len(shown)]),
            fixed(100 * means.mean(), 1),
            "" if name == "plain" else shown_gain, "" if name == "plain" else p,
            fixed(100 * trial.held.mean(), 1),
        ))  # fmt: skip
        values.append({
            "mend": name, "chosen": name == chosen, "clean": float(trial.clean.mean()),
            **{shift.name: float(one) for shift, one in zip(failing, means, strict=True)},
            "gain": gain, "p": holm.get(name), "held out": float(trial.held.mean()),
        })  # fmt: skip
    headings = (
        "mend", "no shift", *(shift.name for shift in shown), "mean", "gain", "p (Holm)", "held out"
    )  # fmt: skip
    return Tabular(headings=headings, cells=tuple(cells), values=tuple(values))


def _holm(tests: Mapping[str, float]) -> dict[str, float]:
    """Correct p-values for their number (Holm 1979)."""
    ordered = sorted(tests, key=tests.__getitem__)
    raised = [(len(ordered) - rank) * tests[name] for rank, name in enumerate(ordered)]
    largest = itertools.accumulate(raised, max)
    return {name: min(1.0, p) for name, p in zip(ordered, largest, strict=True)}
