"""Two steps of every network at the sizes of its paper, in float32, on a batch of its task."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from PIL import Image

from each import some
from farfield.experiments import Experiment, Network
from farfield.models import REASONERS
from farfield.models.internal import CLASSIFIERS, MAP_READERS, RESTORERS, SCORERS
from farfield.nn import (
    MLSTM,
    SEQUENCE_LAYERS,
    SLSTM,
    ZCA,
    GatedDeltaNet,
    GatedLinearAttention,
    Mamba,
    NormalizedLSTM,
    NormalizedRNN,
)
from farfield.nn.internal import SET_LAYERS
from farfield.reproductions import TABLES
from farfield.tasks import DigitDomains, SequentialMNIST, SuperResolution, WordText
from farfield.tasks._digits import _digit_domains, _stacked_mnist
from farfield.tasks._images._image_task import IMAGE_FILES
from farfield.training.internal import OneNetwork

REGISTRIES = (
    *(REASONERS, SCORERS, CLASSIFIERS, MAP_READERS, RESTORERS),
    *(SEQUENCE_LAYERS, SET_LAYERS, {"": NormalizedLSTM}, {"": NormalizedRNN}),
)
WITHOUT_TABLE = {GatedLinearAttention, GatedDeltaNet, MLSTM, SLSTM, Mamba}
"""Layers that no table of claims names."""
NETWORKS = {
    cls.__name__: cls
    for registry in REGISTRIES
    for cls in registry.values()
    if cls not in WITHOUT_TABLE
}

COUNTS = {
    "training_problems",
    "max_problems",
    "problems_per_regime",
    "training_images",
    "training_sequences",
}
"""Numbers of problems to learn from, which are many times those of a batch."""
FEW = {
    "test_problems": 8,
    "training_points": 100,
    "validation_points": 100,
    "test_images": 8,
    "validation_sequences": 8,
    "validation_per_class": 10,
}
"""Numbers of problems that tasks bound from below, or that are not learned from."""

SMALLER_BATCH = {
    "CNN13": 4,
    "PreActResNet": 4,
    "PreActResNetNFM": 2,
    "WideResNet": 2,
}
"""With the hundred images of the papers they take from one second to a minute."""
LARGEST_BATCH = 4
"""A larger one repeats the same products; sizes of networks and lengths are the papers'."""


def named(part: object) -> Iterator[object]:
    """The classes that a description of a network names."""
    if dataclasses.is_dataclass(part) and not isinstance(part, type):
        part = [getattr(part, field.name) for field in dataclasses.fields(part)]
    if isinstance(part, dict):
        part = list(part.values())
    if isinstance(part, list | tuple):
        for each in part:
            yield from named(each)
    else:
        yield part


@pytest.fixture(scope="module")
def described() -> dict[object, Experiment]:
    """An experiment of a claim for each class that one names; none of agents.

    Rather one that needs no files, and neither a reasoner nor a spectrum.
    """
    tables = TABLES.values()
    found = [claim for table in tables for claim in table.claims if not claim.unbuilt]
    ranked: dict[object, tuple[tuple[bool, ...], Experiment]] = {}
    for claim in found:
        if hasattr(claim.experiment.task, "draw"):
            model = claim.experiment.model
            parts = {*filter(callable, named(model))}
            staged = claim.experiment.starts_from is not None
            digits = isinstance(claim.experiment.task, SequentialMNIST)  # no made-up files
            rank = (
                staged,
                digits,
                claim.data is not None,
                isinstance(model, Network),
                ZCA in parts,
            )
            for part in parts:
                if part not in ranked or rank < ranked[part][0]:
                    ranked[part] = (rank, claim.experiment)
    return {part: first_stage(experiment) for part, (_, experiment) in ranked.items()}


def first_stage(experiment: Experiment) -> Experiment:
    """The experiment that trains the network from its first weights."""
    while experiment.starts_from is not None:
        experiment = experiment.starts_from.experiment
    return experiment


def made_up(shape: tuple[int, ...], classes: int, is_test: bool) -> tuple[np.ndarray, np.ndarray]:
    """Images and labels."""
    numbers, labels = np.random.default_rng(is_test), np.arange(40 * classes) % classes
    return numbers.integers(0, 256, (len(labels), *shape), np.uint8), labels


@pytest.fixture
def data(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder for made-up files; images of the papers' shapes in place of theirs."""
    for name, files in list(IMAGE_FILES.items()):
        read = partial(made_up, files.shape, files.classes)
        size = 40 * files.classes
        changed = replace(files, read=read, training=size, test=size)
        monkeypatch.setitem(IMAGE_FILES, name, changed)
    digits = partial(made_up, (28, 28), 10)
    for module in (_digit_domains, _stacked_mnist):
        monkeypatch.setattr(module, "idx_images", lambda _, part: digits(part != "train"))
    monkeypatch.setattr(_digit_domains, "ALL", 800)
    monkeypatch.setenv("FARFIELD_DATA", str(tmp_path))
    monkeypatch.setenv("FARFIELD_CACHE", str(tmp_path / "cache"))
    return tmp_path


def write_words(folder: Path) -> str:
    """Write texts with the vocabulary of Penn Treebank."""
    lines = np.random.default_rng(0).integers(10_000, size=(1000, 40))
    text = "".join(" ".join(f"word{number}" for number in line) + "\n" for line in lines)
    for name in ("train", "valid", "test"):
        (folder / f"{name}.txt").write_text(text)
    return str(folder)


def write_photographs(folder: Path) -> str:
    """Write a folder of one photograph."""
    (folder / "photographs").mkdir()
    (photograph, *_), _ = made_up((160, 160, 3), 1, is_test=False)
    Image.fromarray(photograph).save(folder / "photographs" / "one.png")
    return "photographs"


def with_few_problems(experiment: Experiment, data: Path, batch_size: int) -> Experiment:
    """The experiment with no more problems than a batch has, and those of files made up."""
    task: Any = experiment.task
    if isinstance(task, WordText):
        task = replace(task, folder=write_words(data))
    if isinstance(task, SuperResolution):
        photographs = write_photographs(data)
        task = replace(task, training=photographs, tests=(photographs,))
    if isinstance(task, DigitDomains):
        task = replace(task, images=800)
    known = {field.name for field in dataclasses.fields(task)}
    counts = FEW | dict.fromkeys(COUNTS, batch_size)
    task = replace(task, **{name: counts[name] for name in counts.keys() & known})
    recipe = replace(experiment.recipe, batch_size=batch_size)
    return replace(experiment, task=task, recipe=recipe)


TRAINED = [name for name in NETWORKS if name != "AnchoredRegression"]
"""Networks that are trained by steps."""


@pytest.mark.parametrize("name", some({*TRAINED} - {"WideResNet"}, TRAINED))
def test_networks_train_at_the_sizes_of_their_papers(
    name: str, described: dict[object, Experiment], data: Path
) -> None:
    claimed = described[NETWORKS[name]]
    batch_size = SMALLER_BATCH.get(name, min(claimed.recipe.batch_size, LARGEST_BATCH))
    learner = OneNetwork(with_few_problems(claimed, data, batch_size), 0)
    first = {key: weight.clone() for key, weight in learner.weights()[0].items()}
    losses = [learner.update(step) for step in range(2)]
    after = learner.weights()[0]
    assert torch.cat(losses).isfinite().all()
    assert all(weight.isfinite().all() for weight in after.values())
    assert any(not torch.equal(first[key], weight) for key, weight in after.items())
