"""`farfield show KEY`: films of agents, images of GANs, pictures that SRCNNs enlarge."""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from farfield.execution import Here, run
from farfield.execution.internal import Job
from farfield.experiments import (
    Adam,
    AgentNetwork,
    Experiment,
    GANNetwork,
    ItemNetwork,
    Player,
    Recipe,
    Spec,
)
from farfield.models import SRCNN, ResNetDiscriminator, ResNetGenerator
from farfield.nn import LinearEncoder, RIMs
from farfield.objectives import PPO, HingeDiscriminator, HingeGenerator
from farfield.records import Store
from farfield.tasks import ImageGeneration, ObjectPicking, SuperResolution
from tasks import image_sets
from worlds import score_episodes

ROOM = ObjectPicking(side=3, distractors=1, more_distractors=(2,), larger_sides=(), view=3)
ENCODER = Spec(LinearEncoder, out_features=8)
OWN = """
from farfield.nn import GRULayer


class Mine(GRULayer):
    pass
"""


def agent(core: Spec) -> Experiment:
    return Experiment(
        task=ROOM,
        model=AgentNetwork(core=core, encoder=ENCODER),
        recipe=Recipe(steps=1, batch_size=4),
        objective=PPO(rollout_length=5, epochs=1),
    )


RIMS = agent(Spec(RIMs, hidden_size=12, num_mechanisms=3, num_active=2))


def trained(experiment: Experiment, monkeypatch: pytest.MonkeyPatch, seed: int = 0) -> str:
    """Train one network into `runs`; return its key."""
    score_episodes(monkeypatch, 2)
    run([Job(experiment=experiment, seed=seed)], Store("runs"), Here())
    return experiment.key


def test_an_agent_of_the_store_is_filmed(farfield, folder: Path, monkeypatch) -> None:
    key = trained(RIMS, monkeypatch)
    ended = farfield(f"show {key[:6]}")
    assert (ended.status, ended.err) == (0, "")
    assert ended.out.startswith("an episode in distractors-2, score ")
    with Image.open(folder / f"film-{key[:12]}.png") as strip:
        assert strip.convert("L").getextrema()[0] < 64
    assert farfield(f"show {key} --out film.gif --regime training").status == 0
    with Image.open(folder / "film.gif") as film:
        assert film.format == "GIF"
        assert film.height >= 256
        frames = film.n_frames
    assert farfield(f"show {key} --out film.gif --regime training").status == 0
    with Image.open(folder / "film.gif") as film:
        assert film.n_frames == frames


def test_an_agent_with_a_core_of_one_s_own_is_filmed(farfield, folder: Path, monkeypatch) -> None:
    (folder / "my_core_to_film.py").write_text(OWN)
    monkeypatch.syspath_prepend(folder)
    mine = __import__("my_core_to_film").Mine
    key = trained(agent(Spec(mine, hidden_size=4)), monkeypatch)
    monkeypatch.delitem(sys.modules, "my_core_to_film")
    ended = farfield(f"show {key}")
    assert ended.status == 2
    assert "module must name the file of my_core_to_film.Mine" in ended.err
    ended = farfield(f"show {key} --module my_core_to_film.py")
    assert (ended.status, ended.err) == (0, "")
    assert (folder / f"film-{key[:12]}.png").is_file()


def test_a_picture_is_enlarged_by_a_network_of_the_store(
    farfield, folder: Path, monkeypatch
) -> None:
    pixels = np.random.default_rng(0).integers(0, 256, (40, 50), dtype=np.uint8)
    for name in ("train", "test"):
        (folder / name).mkdir()
        Image.fromarray(pixels).save(folder / name / "a.png")
    task = SuperResolution(scale=4, training="train", tests=("test",), stride=20)
    monkeypatch.setenv("FARFIELD_DATA", str(folder))
    sharpener = Experiment(
        task=task,
        model=ItemNetwork(core=Spec(SRCNN, channels=(2, 2))),
        recipe=Recipe(steps=1, batch_size=2),
    )
    key = trained(sharpener, monkeypatch)
    ended = farfield(f"show {key} --enlarge train/a.png")
    assert (ended.status, ended.err) == (0, "")
    with Image.open(folder / "a-x4.png") as picture:
        assert picture.size == (200, 160)
    ended = farfield(f"show {key}")
    assert (ended.status, "enlarge must name a picture" in ended.err) == (2, True)


def test_images_of_a_gan_are_drawn_beside_the_data(farfield, folder: Path, monkeypatch) -> None:
    image_sets.add(monkeypatch, shape=(3, 4, 4), classes=6, read=square_images)
    gan = Experiment(
        task=ImageGeneration(data_set="made-up", noise_size=3),
        model=GANNetwork(
            generator=Spec(ResNetGenerator, width=2),
            discriminator=Spec(ResNetDiscriminator, width=2),
        ),
        recipe=Recipe(steps=1, batch_size=8, optimizer=Adam()),
        players=(
            Player(objective=HingeDiscriminator(), parts=("discriminator",)),
            Player(objective=HingeGenerator(), parts=("generator",)),
        ),
    )
    key = trained(gan, monkeypatch, seed=2)
    ended = farfield(f"show {key}")
    assert (ended.status, "seed must be one of 2 of experiment" in ended.err) == (2, True)
    ended = farfield(f"show {key} --seed 2")
    assert (ended.status, ended.err) == (0, "")
    assert (folder / f"images-{key[:12]}.png").is_file()


def square_images(is_test: bool) -> tuple[np.ndarray, np.ndarray]:
    """Images of 3 × 4 × 4 of six classes."""
    images, _ = image_sets.read(is_test)
    return images.repeat(2, 2).repeat(2, 3), np.arange(len(images)) % 6


@pytest.mark.parametrize(
    "words, said",
    [
        ("KEY --withheld 3", "withheld must be left out with a key, got 3"),
        ("KEY --task.side 3", "fields must be left out with a key, got --task.side 3"),
        ("KEY --enlarge a.png", "enlarge must be left out with ActorCritic, which enlarges none"),
        ("KEY --regime training1", "unknown regime 'training1'; did you mean 'training'?"),
        ("KEY --out film.jpg", "path must end in .png or .gif, got 'film.jpg'"),
        (
            "KEY --module nil.py",
            "module must be a Python file, e.g. my_module.py, got nil.py",
        ),
        ("0000", "key must be that of an experiment in runs, got '0000': none begins so"),
        ("0000 --records nil", "records must name a folder of records, got nil: it holds none"),
        ("all-same --regime training", "regime must be left out with a task, got training"),
    ],
)
def test_words_that_do_not_go_together_are_refused(
    farfield, folder: Path, monkeypatch, words: str, said: str
) -> None:
    ended = farfield(f"show {words.replace('KEY', trained(RIMS, monkeypatch))}")
    assert ended.status == 2
    assert said in ended.err
    assert not [*folder.glob("*.png"), *folder.glob("*.gif")]
