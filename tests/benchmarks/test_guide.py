"""Wins and losses of the guide's advice, by hand."""

import gzip

import numpy as np
import pytest
import torch

from benchmarks import guide


def runs(gains: list[float]) -> list[dict]:
    regimes = dict.fromkeys(("same", "half", "double", "offset+", "offset-"), 0.5)
    return [
        {"advice": "light", "data": "digits", "seed": seed, "scores": {
            "batch norm": regimes,
            "context norm": {name: 0.5 + gain * (name != "same") for name in regimes},
        }}
        for seed, gain in enumerate(gains)
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("gains", "found"),
    [([0.1, 0.12, 0.11], "win"), ([-0.1, -0.12, -0.11], "loss"), ([0.1, -0.1, 0.0], "neither")],
)
def test_a_win_has_an_interval_above_zero(gains: list[float], found: str) -> None:
    (row,) = guide.verdicts(runs(gains))
    assert guide.verdict(row) == found
    assert row["gain"] == pytest.approx(np.mean(gains))  # `same` does not count
    (counted,) = guide.summary([row])
    assert (counted["wins"], counted["losses"]) == (found == "win", found == "loss")
    assert counted["gain"] == pytest.approx(100 * np.mean(gains))
    text = guide.page({"note": "Note.", "runs": runs(gains)})
    assert f"| light | digits | context norm | {100 * (0.5 + np.mean(gains)):.1f} | 50.0 |" in text


def test_data_are_standardized_by_training_and_keep_known_classes() -> None:
    x, y = np.array([[1.0, 5], [3, 5]]), np.array(["a", "b"])
    data = guide.of_arrays("t", "table", [(x, y), (x + 1, np.array(["b", "c"]))])
    assert data.x.tolist() == [[-1, 0], [1, 0]]
    assert (data.test_x.tolist(), data.test_y.tolist()) == ([[0, 1]], [1])
    assert data.num_classes == 2


def test_files_of_public_data_are_read(tmp_path) -> None:
    pixels = np.arange(8, dtype=np.uint8).reshape(2, 2, 2)
    head = bytes([0, 0, 8, 3]) + b"".join(size.to_bytes(4, "big") for size in pixels.shape)
    (tmp_path / "x.gz").write_bytes(gzip.compress(head + pixels.tobytes()))
    assert (guide.read_idx(tmp_path / "x.gz") == pixels).all()
    (tmp_path / "x.ts").write_text("@classLabel true\n@data\n1,2:3,4:up\n5,6:7,8:down\n", "utf-8")
    items, labels = guide.read_series(tmp_path / "x.ts")
    assert items.tolist() == [[[1, 2], [3, 4]], [[5, 6], [7, 8]]]
    assert labels.tolist() == ["up", "down"]


@pytest.mark.parametrize("name", ["light", "few-labels", "longer", "deformed", "new-items"])
def test_every_advice_runs_on_a_small_set(name: str, monkeypatch) -> None:
    kind = guide.ADVICE[name].kinds[0]
    shape = {"image": (1, 8, 8), "series": (2, 12), "table": (4,)}[kind]
    items = torch.rand(40, *shape, generator=torch.Generator().manual_seed(0))
    data = guide.Data("made", kind, items, torch.arange(40) % 2, items, torch.arange(40) % 2)
    learn = guide.learn
    monkeypatch.setattr(guide, "learn", lambda *args: learn(*args[:4], steps=2))
    with torch.random.fork_rng():
        found = guide.ADVICE[name].run(data, 0)
    assert guide.ADVICE[name].base in found
    regimes = {regime for scores in found.values() for regime in scores}
    assert regimes >= set(guide.ADVICE[name].far)
    assert all(0 <= score <= 1 for scores in found.values() for score in scores.values())
