"""Mends of a model: without training by hand, and a recipe whose best mend is known."""

import numpy as np
import pandas as pd
import pytest
import torch
from torch import nn

from farfield.analysis import Shift
from farfield.suites import mend, profile
from farfield.suites._profile._mend import fronted
from farfield.suites.internal import Mend, Mends


def series(count: int, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Waves of one or two periods at any phase, in noise."""
    rng = np.random.default_rng(seed)
    y = np.arange(count) % 2
    t = np.arange(24) / 24
    phase = rng.uniform(0, 2 * np.pi, count)
    waves = np.sin(2 * np.pi * (1 + y)[:, None] * t + phase[:, None])
    waves = rng.uniform(0.3, 2, count)[:, None] * waves + 0.05 * rng.normal(size=waves.shape)
    return waves[..., None].astype(np.float32), y


class Crossings:
    """Classes by how often a wave crosses zero, which an offset ends and noise adds to."""

    def __init__(self, x: np.ndarray, y: np.ndarray) -> None:
        counts = self.counts(x)
        self.middle = (counts[y == 0].mean() + counts[y == 1].mean()) / 2

    @staticmethod
    def counts(x: np.ndarray) -> np.ndarray:
        smooth = x[:, :-2, 0] + x[:, 1:-1, 0] + x[:, 2:, 0]
        return (np.diff(np.sign(smooth), axis=1) != 0).sum(1)

    def predict(self, x: np.ndarray) -> np.ndarray:
        return (self.counts(x) > self.middle).astype(int)


def train(x, y, how: Mend, seed: int) -> Crossings:
    some = np.random.default_rng(seed).permutation(len(x))[: len(x) * 9 // 10]
    return Crossings(*how.arrays(x[some], y[some]))


DATA = {"training": series(300, 0), "test": series(200, 1)}
OPTIONS = {"axes": "item time feature", "shifts": ["offset+", "noise"]}


@pytest.fixture(scope="module")
def found() -> Mends:
    return mend(Crossings(*DATA["training"]), DATA, train=train, **OPTIONS)


def test_offset_goes_out_without_training(found: Mends) -> None:
    assert not found.before["offset+"].failure.holds
    assert found.after["offset+"].failure.holds
    row = next(row for row in found.after.against(found.before).values if row["shift"] == "offset+")
    assert row["moved"] == 4 - row["before"]
    assert row["low"] > 0


def test_a_mend_is_chosen_on_held_out_items_and_scored_on_others(found: Mends) -> None:
    rows = {row["mend"]: row for row in found.trained.values}
    assert [*rows][:2] == ["plain", "item standardization"]
    assert {"augmented, light", "augmented, detail", "mixup"} < rows.keys()
    assert found.chosen == "item standardization"
    assert rows["item standardization"]["offset+"] == rows["item standardization"]["clean"]
    assert rows["plain"]["gain"] == 0
    gain = np.mean([rows["item standardization"][name] - rows["plain"][name]
                    for name in ("offset+", "noise")])  # fmt: skip
    assert rows["item standardization"]["gain"] == pytest.approx(gain)
    assert "no effect" in str(found.trained)  # mixup of arrays


def test_scores_of_the_table_are_those_of_the_test_items(found: Mends) -> None:
    rows = {row["mend"]: row for row in found.trained.values}
    x, y = DATA["training"]
    order = pd.DataFrame(found.trained.values)["clean"]
    assert order.between(0.5, 1).all()
    plain = np.mean([(train(x, y, Mend("plain"), seed).predict(DATA["test"][0]) == DATA["test"][1])
                     .mean() for seed in range(3)])  # fmt: skip
    assert rows["plain"]["clean"] == pytest.approx(plain, abs=0.05)  # of four fifths of the items


def test_files_and_page_of_mends(found: Mends, tmp_path) -> None:
    names = {path.name for path in found.write(tmp_path)}
    assert {"profile.html", "mended.csv", "trained.csv", "trained.tex"} <= names
    page = (tmp_path / "profile.html").read_text(encoding="utf-8")
    assert "<h2>Mends</h2>" in page
    assert "<td>item standardization ←</td>" in page


def test_a_recipe_that_ignores_its_mend_is_refused() -> None:
    with pytest.raises(ValueError, match="train must use its mend"):
        mend(Crossings(*DATA["training"]), DATA, train=lambda x, y, how, seed: Crossings(x, y),
             seeds=1, **OPTIONS)  # fmt: skip


def test_a_recipe_needs_items_of_training() -> None:
    with pytest.raises(ValueError, match="data must have a set named training"):
        mend(Crossings(*DATA["training"]), DATA["test"], train=train, **OPTIONS)


def test_too_few_items_to_hold_some_out_are_named() -> None:
    few = DATA | {"training": series(140, 0)}
    with pytest.raises(ValueError, match=r"training must have at least 150 items.* got 140"):
        mend(Crossings(*few["training"]), few, train=train, **OPTIONS)


def test_noise_is_chosen_by_no_test_item() -> None:
    """Mends that only draw other networks gain nothing beyond chance, whatever is chosen."""
    rng = np.random.default_rng(0)
    x = rng.normal(size=(400, 2))
    y = (x[:, 0] > 0).astype(int)
    move = Shift(name="move", unit="sd", end=4.0, change=lambda x, d, g: x + d)

    def noisy(x, y, how, seed):
        key = sum(map(ord, how.name)) + seed
        angle = 0.3 * np.random.default_rng(key).normal()
        return lambda rows: (rows[:, 0] + angle * rows[:, 1] > 0).astype(int)

    data = {"training": (x[:300], y[:300]), "test": (x[300:], y[300:])}
    found = mend(lambda rows: (rows[:, 0] > 0).astype(int), data, train=noisy, shifts=[move])
    assert all(row["p"] is None or row["p"] > 0.05 for row in found.trained.values)


def test_a_mend_in_a_loop_of_torch() -> None:
    x, y = torch.rand(64, 6, 2), torch.arange(64) % 2
    how = Mend("mixup", mixes=True, num_classes=2, smoothing=0.1)
    mixed, soft = how.batch(x, y, torch.Generator().manual_seed(0))
    weight = soft.max(1).values[(soft.max(1).values < 1)][0]  # of a pair of two classes
    other = torch.randperm(64, generator=_after_one_draw())
    assert torch.allclose(soft.sum(1), torch.ones(64))
    first = float(torch.rand((), generator=torch.Generator().manual_seed(0)))
    assert max(first, 1 - first) == pytest.approx(float(weight))
    assert torch.allclose(mixed, first * x + (1 - first) * x[other])
    outputs = torch.randn(64, 2)
    by_hand = -((0.9 * soft + 0.05) * outputs.log_softmax(1)).sum(1).mean()
    assert torch.allclose(how.loss(outputs, soft), by_hand)
    assert isinstance(how.front((6, 2)), nn.Identity)


def _after_one_draw() -> torch.Generator:
    generator = torch.Generator().manual_seed(0)
    torch.rand((), generator=generator)
    return generator


def test_trained_modules_are_moved_to_the_device(monkeypatch: pytest.MonkeyPatch) -> None:
    moves = []
    ramp = np.linspace(-1, 1, 6)[:, None]
    x = np.concatenate([ramp, -ramp]).reshape(2, 6, 1).repeat(100, 0)
    x += 0.3 * np.random.default_rng(0).normal(size=x.shape)
    data = {name: (x.astype(np.float32), np.repeat([0, 1], 100)) for name in ("training", "test")}

    def slope(x, y, how: Mend, seed: int) -> nn.Module:
        network = nn.Sequential(how.front(x.shape[1:]), nn.Flatten(), nn.Linear(6, 2))
        network[2].weight.data = torch.tensor(ramp.T * [[1.0], [-1.0]]).float()
        monkeypatch.setattr(network, "to", moves.append)
        return network

    model = slope(x, None, Mend("plain"), 0)
    options = {
        "axes": "item time feature",
        "shifts": ["noise"],
        "device": "cpu",
        "seeds": 1,
        "level": 0.9,
    }
    mend(model, data, train=slope, **options)
    assert set(moves) == {"cpu"}


def test_a_front_goes_where_the_model_is() -> None:
    front = nn.BatchNorm1d(3)
    assert fronted(nn.Linear(3, 2, device="meta"), front)[0].weight.device.type == "meta"
    assert front.weight.device.type == "cpu"


def test_plain_changes_nothing() -> None:
    x, y = torch.rand(8, 3), torch.arange(8)
    plain = Mend("plain", num_classes=8)
    assert plain.batch(x, y) == (x, y)
    assert plain.arrays(x.numpy(), y.numpy())[0] is not None
    outputs = torch.randn(8, 8)
    assert torch.equal(plain.loss(outputs, y), nn.functional.cross_entropy(outputs, y))


def test_augmentation_changes_items_up_to_its_end() -> None:
    move = Shift(name="move", unit="sd", end=4.0, change=lambda x, d, g: x + d)
    x, y = torch.zeros(50, 3), torch.zeros(50)
    changed, _ = Mend("augmented", shifts=[(move, 0.5)]).batch(x, y, torch.Generator())
    assert 0 < changed.max() <= 0.5
    frame = pd.DataFrame({"a": np.zeros(20), "b": ["x"] * 20})

    def raised(rows, d, g):
        rows["a"] = rows["a"] + d
        return rows

    both, labels = Mend(
        "m", shifts=[(Shift(name="r", unit="d", end=1.0, change=raised), 1.0)]
    ).arrays(frame, np.arange(20))
    assert len(both) == len(labels) == 40
    assert (both["a"][:20] == 0).all()
    assert (both["a"][20:] > 0).all()


def test_a_table_has_nothing_to_bring_back() -> None:
    x = np.random.default_rng(0).normal(size=(100, 2))
    found = mend(lambda rows: (rows[:, 0] > 0).astype(int), (x, (x[:, 0] > 0).astype(int)),
                 shifts=["0+"])  # fmt: skip
    assert found.after is None
    assert "these items have no mean and spread" in str(found)
    assert profile is not mend
