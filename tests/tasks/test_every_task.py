"""Every task of the registry: its sets repeat, differ, and have the shapes that the task says."""

from __future__ import annotations

import dataclasses
import hashlib
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
import torch
from PIL import Image

from farfield.core import Problems, stream
from farfield.core.internal import LazyItems, RaggedItems, UnknownNameError
from farfield.tasks import (
    TASKS,
    TRAINING,
    VALIDATION,
    Adding,
    BouncingBalls,
    CanvasRules,
    ChomskyHierarchy,
    Copying,
    DigitDomains,
    Digits,
    DirectionAnalogies,
    DynamicObjects,
    FewLabels,
    FuzzyBoolean,
    ImageClasses,
    ImageGeneration,
    KMNISTAdaptation,
    ObjectFrames,
    ProblemTask,
    ProgressiveMatrices,
    SequentialMNIST,
    SetAlgorithms,
    SortOfCLEVR,
    Spirals,
    StackedMNIST,
    SuperResolution,
    SymbolSequences,
    SyntheticVisualReasoning,
    TwoMoons,
    VAECScale,
    VAECTranslation,
    VisualAnalogies,
    WordText,
)
from farfield.tasks._images import _image_generation
from farfield.tasks._rules._abstract_rules import RuleTask
from farfield.tasks.internal import Candidates, NeedsFiles, with_validation
from tasks import image_sets
from tasks import test_shifted_series as series
from tasks.test_grid_rules import small

SMALL = {"problems_per_regime": 20, "image_size": 64}
FEW = {"training_problems": 20, "test_problems": 20}
ROWS: dict[str, Callable[[Path], ProblemTask]] = {
    **{
        name: lambda _, cls=cls: cls(withheld=50, max_problems=60)
        for name, cls in TASKS.items()
        if issubclass(cls, RuleTask)
    },
    "vaec-translation": lambda _: VAECTranslation(**SMALL),
    "vaec-scale": lambda _: VAECScale(**SMALL, shuffled=True),
    "canvas-rules": lambda _: CanvasRules(
        rule="identity-rules", withheld=50, max_problems=40
    ),
    "synthetic-visual-reasoning": lambda _: SyntheticVisualReasoning(
        problem=18, training_problems=20, test_problems=20
    ),
    "direction-analogies": lambda _: DirectionAnalogies(problems_per_regime=6),
    "visual-analogies": lambda _: VisualAnalogies(**FEW),
    "progressive-matrices": lambda _: ProgressiveMatrices(**FEW),
    "dynamic-objects": lambda _: DynamicObjects(training_sequences=9, test_sequences=9),
    "object-frames": lambda _: ObjectFrames(training_frames=9, test_frames=9),
    "copying": lambda _: Copying(
        dormant=6, test_dormant=(9,), training_sequences=9, validation_sequences=9,
        test_sequences=(9,),
    ),
    "adding": lambda _: Adding(
        training_sequences=9, validation_sequences=9, test_sequences=9, test_lengths=(60,)
    ),
    "symbol-sequences": lambda _: SymbolSequences(
        training_lengths=(30, 50), test_lengths=(60,), training_sequences=9,
        validation_sequences=9, test_sequences=9,
    ),
    "chomsky-hierarchy": lambda _: ChomskyHierarchy(
        training_lengths=(30, 40), test_lengths=((41, 50), (60, 60)), training_strings=9,
        validation_strings=9, test_strings=(9, 9),
    ),
    "set-algorithms": lambda _: SetAlgorithms(
        training_lengths=(8, 16), training_strings=9, validation_strings=9, test_strings=(9, 9)
    ),
    "sequential-mnist": lambda _: SequentialMNIST(
        training_images=20, validation_images=20, test_images=20
    ),
    "bouncing-balls": lambda _: BouncingBalls(
        training_sequences=3, validation_sequences=3, test_sequences=3
    ),
    "fuzzy-boolean": lambda _: FuzzyBoolean(training_points=100, validation_points=100),
    "digits": lambda _: Digits(
        data_sets=("mnist", "svhn-first1083"), training_images=20, validation_images=20,
        test_images=20,
    ),
    "digit-domains": lambda _: DigitDomains(images=100),
    "kmnist-adaptation": lambda _: KMNISTAdaptation(
        training_samples=20, validation_images=20, test_images=20
    ),
    "image-classes": lambda _: ImageClasses(data_set="made-up"),
    "image-generation": lambda _: ImageGeneration(data_set="made-up", noise_size=3),
    "few-labels": lambda _: FewLabels(
        data_set="made-up", labels_per_class=4, validation_per_class=2
    ),
    "two-moons": lambda _: TwoMoons(unlabelled=20, test_points=20),
    "spirals": lambda _: Spirals(points=20, test_points=20),
    "stacked-mnist": lambda _: StackedMNIST(training_images=20, test_images=20),
    "sort-of-clevr": lambda _: SortOfCLEVR(training_images=9, test_images=9),
    "super-resolution": lambda folder: SuperResolution(
        training="sr/train", tests=("sr/train",), patch=12, shave=2, stride=20
    ),
    "grid-rules": lambda folder: small(folder, test_problems=40),
    "shifted-series": series.small,
    "word-text": lambda folder: WordText(folder=str(folder / "text"), steps=4),
}  # fmt: skip
"""A small task of every name."""
WHOLE = {"super-resolution", "word-text"}
"""Tasks whose sets are all that their files hold, in every run."""


def test_every_task_has_a_row() -> None:
    assert ROWS.keys() == TASKS.keys()


@pytest.fixture(params=ROWS)
def task(
    request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> ProblemTask:
    """Each task, with made-up files where no data set is asked for."""
    image_sets.add(monkeypatch)
    if request.param in ("super-resolution", "word-text"):
        monkeypatch.setenv("FARFIELD_DATA", str(tmp_path))
        for folder in ("sr/train", "sr/two", "text"):
            (tmp_path / folder).mkdir(parents=True)
        pixels = np.random.default_rng(0).integers(0, 256, (60, 60, 3), np.uint8)
        Image.fromarray(pixels).save(tmp_path / "sr" / "train" / "one.png")
        Image.fromarray(pixels).save(tmp_path / "sr" / "two" / "one.png")
        Image.fromarray(255 - pixels).save(tmp_path / "sr" / "two" / "another.png")
        for name, words in (("train", "a b c d e f"), ("valid", "f e d"), ("test", "c a f")):
            (tmp_path / "text" / f"{name}.txt").write_text(f"{words}\n" * 9)
    made = ROWS[request.param](tmp_path)
    if isinstance(made, NeedsFiles) and not made.is_at_hand():
        monkeypatch.setenv("FARFIELD_DATA", str(request.getfixturevalue("data_folder")))
        if not made.is_at_hand():
            pytest.skip("files of the task absent")
    return made


def content(sets: dict[str, Problems]) -> dict[str, str]:
    """Digest of all that is drawn of each regime."""
    found = {}
    for regime, problems in sets.items():
        items = problems.items.latent if isinstance(problems.items, LazyItems) else problems.items
        total = hashlib.sha256()
        for column in (items, problems.index, problems.target, *problems.latent.values()):
            for part in getattr(column, "tensors", [column]):
                total.update(part.contiguous().numpy().tobytes())
        found[regime] = total.hexdigest()
    return found


def test_sets_are_those_of_the_regimes_with_the_shapes_that_the_task_says(
    task: ProblemTask,
) -> None:
    sets = task.draw(stream(0))
    names = [regime.name for regime in task.regimes]
    assert TASKS[task.name] is type(task)
    assert (names[0], task.regimes[0].distance) == (TRAINING, 0)
    assert [name for name in sets if name in names] == names
    for problems in sets.values():
        problems.check_index()
        assert len(problems) > 0
        assert isinstance(problems.items, RaggedItems) or (
            problems.sequences()[:2].shape[2:] == task.item_shape
        )
    assert sets[TRAINING].index.shape[1] == task.length
    assert not isinstance(task, Candidates) or 1 < task.num_candidates <= task.num_outputs


def test_runs_repeat_and_differ(task: ProblemTask) -> None:
    first, again, other = (content(task.draw(stream(seed))) for seed in (0, 0, 1))
    assert first == again
    assert (first[TRAINING] != other[TRAINING]) == (task.name not in WHOLE)
    assert len(set(first.values())) == len(first)


def test_a_sample_is_of_its_regime_and_repeats_with_its_generator(task: ProblemTask) -> None:
    for regime in task.regimes:
        first, again, other = (
            task.sample(regime.name, 5, stream(seed).numpy()) for seed in (0, 0, 1)
        )
        assert len(first) == 5
        shown, again, other = (content({"": found}) for found in (first, again, other))
        assert shown == again
        assert task.name == "super-resolution" or shown != other
        if isinstance(task, Candidates):
            assert (task.score(task.oracle(first), first) == 1).all()


def pictures(problems: Problems) -> list[bytes]:
    """What the first problems show."""
    if isinstance(problems.items, RaggedItems):
        shown = [problems.items.tensors[row] for row in problems.index.flatten().tolist()]
    else:
        shown = [*problems[:200].sequences()]
    return [one.numpy().tobytes() for one in shown]


LACK_VALIDATION = {
    "image-classes", "image-generation", "shifted-series", "stacked-mnist", "super-resolution",
}  # fmt: skip
"""Tasks whose training lacks the images that are held out for validation."""


def test_validation_is_added_where_it_is_asked_for(
    task: ProblemTask, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(_image_generation, "VALIDATION_PROBLEMS", 5)
    if task.name == "super-resolution":
        task = dataclasses.replace(task, training="sr/two")
    before, searched = task.regimes, with_validation(task)
    sets, found = task.draw(stream(0)), searched.draw(stream(0))
    assert [one.name for one in searched.regimes] == [
        TRAINING,
        VALIDATION,
        *(one.name for one in before if one.name not in (TRAINING, VALIDATION)),
    ]
    assert (searched is task) == (VALIDATION in sets)
    assert searched.chance(VALIDATION) == pytest.approx(task.chance(TRAINING), abs=0.02)
    shown = {name: pictures(problems) for name, problems in found.items()}
    for name, problems in sets.items():
        if name != TRAINING or task.name not in LACK_VALIDATION:
            assert len(problems) == len(found[name])
            assert pictures(problems) == shown[name]
    others = set().union(*(shown[name] for name in shown if name != VALIDATION))
    assert not {*shown[VALIDATION]} & others


def test_what_is_no_regime_no_number_or_no_generator_is_refused(
    task: ProblemTask, unchecked: None
) -> None:
    for ask in (task.chance, lambda regime: task.sample(regime, 5, stream(0).numpy())):
        with pytest.raises(UnknownNameError, match="unknown regime 'nowhere'"):
            ask("nowhere")
    for wrong in (0, 2.5):
        with pytest.raises(ValueError, match=f"n must be an int.*, got {wrong}"):
            task.sample(TRAINING, wrong, stream(0).numpy())
    for wrong in (None, 3, torch.Generator()):
        with pytest.raises(ValueError, match=r"generator must be a numpy\.random\.Generator, got"):
            task.sample(TRAINING, 1, wrong)
