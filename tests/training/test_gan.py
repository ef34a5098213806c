"""Generators and discriminators in training, and networks of others that judge them."""

from __future__ import annotations

import dataclasses
import hashlib
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
import safetensors.torch
import torch

from farfield.core import stream
from farfield.execution import Here, run
from farfield.execution.internal import Job
from farfield.experiments import (
    Adam,
    Experiment,
    GANNetwork,
    ItemNetwork,
    Player,
    Pretrained,
    Recipe,
    Spec,
)
from farfield.experiments.internal import Judge, LoadedNetwork
from farfield.functional.internal import NFMRules
from farfield.models import BottleneckMLP, ResNetDiscriminator, ResNetGenerator
from farfield.objectives import HingeDiscriminator, HingeGenerator
from farfield.records import Store
from farfield.tasks import ImageClasses, ImageGeneration, TwoMoons
from farfield.training import trained_network
from farfield.training.internal import OneNetwork, Stack, vmap_error
from learners import check_resumed, check_together
from tasks import image_sets

pytestmark = pytest.mark.processor

TASK = {"data_set": "made-up"}
CORE = Spec(BottleneckMLP, hidden_sizes=(5,))
NFM = NFMRules(num_heads=2, key_size=2, value_size=2)


def read(is_test: bool) -> tuple[np.ndarray, np.ndarray]:
    """Images of 3 × 4 × 4 of six classes."""
    images, _ = image_sets.read(is_test)
    return images.repeat(2, 2).repeat(2, 3), np.arange(len(images)) % 6


@pytest.fixture(autouse=True)
def _made_up(monkeypatch: pytest.MonkeyPatch) -> None:
    """A set of images that is made up."""
    image_sets.add(monkeypatch, shape=(3, 4, 4), classes=6, read=read)


def gan(
    nfm: NFMRules | None = None, info_max: float = 0.2, rotation: float = 0.5, **fields: object
) -> Experiment:
    weights = {"info_max": info_max, "rotation": rotation}
    known = {
        "task": ImageGeneration(**TASK, noise_size=3),
        "model": GANNetwork(
            generator=Spec(ResNetGenerator, width=2, nfm=nfm),
            discriminator=Spec(
                ResNetDiscriminator, width=2, projection_size=3, names_rotations=True
            ),
        ),
        "recipe": Recipe(steps=3, batch_size=8, learning_rate=0.01, optimizer=Adam(betas=(0, 0.9))),
        "players": (
            Player(objective=HingeDiscriminator(**weights), parts=("discriminator",), repeats=2),
            Player(objective=HingeGenerator(**weights), parts=("generator",)),
        ),
    }
    return Experiment(**{**known, **fields})


def test_networks_trained_together_are_networks_alone() -> None:
    experiment = gan(NFM)
    check_together(experiment, steps=1)
    assert vmap_error(experiment, "cpu") is None


def test_players_stopped_and_resumed_end_with_the_same_bytes(tmp_path: Path) -> None:
    check_resumed(lambda: Stack(gan(), (0, 3)), gan(), tmp_path / "checkpoint", stop=1)


def classifier() -> Experiment:
    return Experiment(
        task=ImageClasses(**TASK),
        model=ItemNetwork(core=CORE),
        recipe=Recipe(steps=2, batch_size=8),
    )


JUDGE = Judge(label="made-up-mlp", model=ItemNetwork(core=CORE), layer="core.layers.0")


def test_generators_are_judged_by_classifiers_trained_before(tmp_path: Path) -> None:
    model = dataclasses.replace(gan().model, judge=JUDGE)
    first = classifier()
    judged = gan(model=model, starts_from=Pretrained(experiment=first, into="judge.network"))
    assert Experiment.from_json(judged.to_json()) == judged
    store = Store(tmp_path)
    run([Job(experiment=judged, seed=1)], store, Here())
    (record,) = store.records(judged.key)
    assert record.final("test", "fid/made-up-mlp") > 0
    assert 1 <= record.final("test", "is/made-up-mlp") <= 6
    before, after = (trained_network(e, 1, store) for e in (first, judged))
    taken = after.judge.network.state_dict()
    assert taken.keys() == before.state_dict().keys()
    for name, tensor in before.state_dict().items():
        assert torch.equal(taken[name], tensor), name


def test_a_part_that_is_not_there_cannot_be_taken_over(unchecked: None) -> None:
    first = OneNetwork(classifier(), 0).weights()[0]
    nowhere = Pretrained(experiment=classifier(), into="judge")
    with pytest.raises(ValueError, match=r"into must name parts .*, got 'judge'; it has gen"):
        OneNetwork(gan(starts_from=nowhere), 0, start=first)
    with pytest.raises(ValueError, match=r"into must be names of parts of a network, .* got '\.'"):
        Pretrained(experiment=classifier(), into=".")


def test_weights_of_a_file_judge_if_they_are_those_meant(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, unchecked: None
) -> None:
    monkeypatch.setenv("FARFIELD_DATA", str(tmp_path))
    core = ItemNetwork(core=CORE).build(ImageClasses(**TASK), stream(5)).core
    content = safetensors.torch.save(core.state_dict())
    (tmp_path / "networks").mkdir()
    path = tmp_path / "networks" / "mlp.safetensors"
    path.write_bytes(content)
    sha256 = hashlib.sha256(content).hexdigest()

    def judged(**changes: object) -> OneNetwork:
        loaded = LoadedNetwork(**{"core": CORE, "file": path.name, "sha256": sha256, **changes})
        judge = Judge(label="of-a-file", model=loaded, layer="core.layers.0")
        return OneNetwork(gan(model=dataclasses.replace(gan().model, judge=judge)), 0)

    learner = judged()
    learner.update(0)
    for name, tensor in core.state_dict().items():
        assert torch.equal(learner.model.judge.network.core.state_dict()[name], tensor)
    assert "fid/of-a-file" in {score.metric for score in learner.score(1)[0]}
    with pytest.raises(ValueError, match=r"mlp.safetensors must .*SHA-256"):
        judged(sha256="0" * 64)
    assert judged(sha256=sha256.upper()).model.judge is not None
    assert LoadedNetwork(core=CORE, file=path.name, sha256=sha256.upper()) == LoadedNetwork(
        core=CORE, file=path.name, sha256=sha256
    )
    with pytest.raises(ValueError, match="sha256 must be 64 hexadecimal digits, got abc"):
        judged(sha256="abc")
    with pytest.raises(ValueError, match=r"other\.safetensors of networks must exist"):
        judged(file="other.safetensors")
    with pytest.raises(ValueError, match="must hold the weights of a BottleneckMLP, got: Error"):
        judged(core=Spec(BottleneckMLP, hidden_sizes=(6,)))


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (
            lambda w: w.to(torch.int8),
            r"must hold layers\.0\.0\.weight in torch\.float32, got .*int8",
        ),
        (lambda w: w > 0, r"must hold layers\.0\.0\.weight in torch\.float32, got torch\.bool"),
        (lambda w: w.double(), r"must hold layers\.0\.0\.weight in torch\.float32, got .*float64"),
        (lambda w: w * torch.nan, r"must hold finite numbers, layers\.0\.0\.weight has others"),
        (lambda w: w / 0, r"must hold finite numbers, layers\.0\.0\.weight has others"),
        (lambda w: w.half(), None),  # whose numbers are numbers of float32
    ],
)
def test_a_judge_has_the_numbers_of_its_file_or_is_refused(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    unchecked: None,
    change: Callable[[torch.Tensor], torch.Tensor],
    message: str | None,
) -> None:
    monkeypatch.setenv("FARFIELD_DATA", str(tmp_path))
    weights = ItemNetwork(core=CORE).build(ImageClasses(**TASK), stream(5)).core.state_dict()
    changed = change(weights["layers.0.0.weight"])
    content = safetensors.torch.save({**weights, "layers.0.0.weight": changed})
    (tmp_path / "networks").mkdir()
    (tmp_path / "networks" / "mlp.safetensors").write_bytes(content)
    loaded = LoadedNetwork(
        core=CORE, file="mlp.safetensors", sha256=hashlib.sha256(content).hexdigest()
    )
    if message is None:
        found = loaded.build(ImageClasses(**TASK), stream(0)).core.state_dict()
        assert torch.equal(found["layers.0.0.weight"], changed.float())
        return
    with pytest.raises(ValueError, match=message):
        loaded.build(ImageClasses(**TASK), stream(0))


def test_other_tasks_have_no_images_to_make(unchecked: None) -> None:
    with pytest.raises(ValueError, match="task must be one for a GANNetwork, a ImageGeneration"):
        gan(task=TwoMoons())
    with pytest.raises(TypeError, match="task must be an ImageGeneration, got TwoMoons"):
        GANNetwork().build(TwoMoons(), stream(0))
