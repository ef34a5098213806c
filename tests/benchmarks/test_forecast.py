"""Pairs, rules and the page of the benchmark of forecasts, by hand."""

from __future__ import annotations

import hashlib
import json

import numpy as np
import pytest
import torch
from benchmarks.guide import Data

from benchmarks import _forecast_report as report
from benchmarks import forecast as benchmark
from farfield.analysis import forecast
from farfield.analysis._forecast import ABOVE, BELOW

NAMES = [f"m{n}" for n in range(12)]


def tasks(names: list[str], *, noise: float = 0.0) -> dict:
    """Curves of mechanisms that fall at the rate of their number."""
    generator = np.random.default_rng(0)

    def score(n: int, d: float) -> float:
        return 0.1 + 0.8 * float(np.exp(-n * d / 10)) + noise * float(generator.normal())

    return {
        name: {
            "kind": "table",
            "floor": 0.1,
            "shifts": {"s": {"unit": "sd", "strengths": [0.5, 1.0, 2.0, 4.0]}},
            "scores": {
                mechanism: [
                    {"s": [score(n, d) for d in (0.5, 1, 2, 4)], "none": [score(n, 0)],
                     "training": [1.0]}
                    for _ in range(4)
                ]
                for n, mechanism in enumerate(NAMES)
            },
        }
        for name in names
    }  # fmt: skip


def test_mechanisms_alone_are_forecast_from_the_first_half() -> None:
    found = report.alone(tasks(["iris", "wine"]))
    assert {name: one["scores"] for name, one in found.items()} == {
        "end from half/held out/alone": 12, "end from half/development/alone": 12,
    }  # fmt: skip
    errors = []
    for n in range(12):
        near = {d: 0.1 + 0.8 * float(np.exp(-n * d / 10)) for d in (0, 0.5, 1, 2)}
        truth = 0.1 + 0.8 * float(np.exp(-n * 4 / 10))
        errors.append(abs(forecast({"m": near}, at=4, floor=0.1).scores["m"] - truth))
    assert found["end from half/held out/alone"]["error"] == pytest.approx(
        np.mean(errors), abs=1e-4
    )
    assert found["end from half/held out/alone"]["coverage"] == 1


def test_the_split_is_the_parity_of_the_hash() -> None:
    for name in ("iris", "wine", "kmnist", "copying"):
        assert report.is_held(name) == (int(hashlib.sha256(name.encode()).hexdigest()[:2], 16) & 1)
    assert report.is_held("iris")
    assert not report.is_held("wine")


def test_planted_curves_are_ranked_and_written() -> None:
    found = tasks(["iris", "wine"], noise=0.001)
    rows = report.rows_of(found, [])
    assert [(row["task"], row["held"], row["horizon"]) for row in rows] == [
        ("iris", True, "half of the shift"), ("wine", False, "half of the shift"),
        ("iris", True, "end of the shift"), ("wine", False, "end of the shift"),
    ]  # fmt: skip
    assert all(row["differs"] and row["correlation"]["forecast"] > 0.97 for row in rows)
    assert rows[0]["regret"] == 0
    average = report.summary(rows)
    assert average["half of the shift/held out/differ"]["pairs"] == 1
    assert report.by_shift(rows) == {
        "s": {"pairs": 1, "mean": rows[0]["correlation"]["forecast"]}  # the held-out task alone
    }
    text = report.page({"note": "Note.", "summary": average, "rows": rows})
    assert "**Missed.**" in text  # one pair is not thirty
    assert "| iris | s | half of the shift | held out | yes |" in text


def test_the_page_and_a_pair_are_those_of_the_results() -> None:
    results = json.loads((benchmark.RESULTS / "forecast.json").read_text("utf-8"))
    page = (benchmark.RESULTS / "forecast.md").read_text("utf-8")
    assert report.page(results) == page
    curves = json.loads(benchmark.CURVES.read_text("utf-8"))["tasks"]
    pairs = list(report.pairs_of_curves({"kmnist": curves["kmnist"]}, 2))
    rows = {row["shift"]: row for row in results["rows"] if row["task"] == "kmnist"
            and row["horizon"] == "half of the shift"}  # fmt: skip
    for pair in pairs:
        found = report.correlation(report.by_forecast(pair, []), pair.truth)
        assert rows[pair.shift]["correlation"]["forecast"] == pytest.approx(found, abs=1e-4)


def test_equal_mechanisms_have_no_ranks() -> None:
    pair = next(report.pairs_of_curves(tasks(["wine"]), 2))
    flat = {name: [0.5, 0.5] for name in NAMES}
    equal = report.Pair(**{**vars(pair), "far": flat})
    assert not equal.differs
    assert report.correlation(equal.truth, pair.means(0)) == 0


def test_ranks_of_other_tasks_leave_the_own_task_out() -> None:
    first, second = report.pairs_of_curves(tasks(["wine", "digits"]), 2)
    turned = report.Pair(
        **{**vars(second), "far": dict(zip(NAMES, [[n] for n in range(12)], strict=True))}
    )
    assert report.by_other_tasks(first, [first, turned]).argmax() == 11
    assert report.by_same_shift(first, [first]).tolist() == [0.5] * 12


def test_rows_of_a_table_make_a_pair_of_each_unit() -> None:
    def row(n: int, distances: tuple[float, ...]) -> dict:
        return {"": {0.0: [0.9]}, "steps": {d: [0.8 - n / 100] for d in distances}, "training": 1.0}

    rows = {name: row(n, (1.0, 2.0, 3.0, 4.0)) for n, name in enumerate(NAMES)}
    (pair,) = report.pairs_of_rows("t", rows | {"short": row(0, (1.0,))}, 0.1)
    assert (pair.distances, pair.at, list(pair.far)) == ([0.0, 1.0, 2.0], 4.0, NAMES)
    assert not list(report.pairs_of_rows("t", dict(list(rows.items())[:11]), 0.1))


def test_the_interval_takes_whole_tasks() -> None:
    low, high = report.interval_over_tasks([("a", 0.0)] * 50 + [("b", 1.0)] * 50)
    assert (low, high) == (0, 1)


def test_constants_of_the_intervals_are_those_of_development() -> None:
    """Errors of the forecast in skill, for each doubling of the distance: 5 % and 95 %."""
    curves = json.loads(benchmark.CURVES.read_text("utf-8"))["tasks"]
    known = {name: one for name, one in curves.items() if not report.is_held(name)}
    errors = [
        (pair.truth - report.by_forecast(pair, [])) / (1 - pair.floor) / doublings
        for doublings, index in ((1, 2), (2, 3))
        for pair in report.pairs_of_curves(known, index)
    ]
    low, high = np.quantile(np.concatenate(errors), [0.05, 0.95])
    assert (-low, high) == pytest.approx((BELOW, ABOVE), abs=0.04)


@pytest.mark.parametrize("kind", ["image", "series", "table"])
def test_twelve_networks_are_scored_on_a_small_set(kind: str, monkeypatch) -> None:
    shape = {"image": (1, 8, 8), "series": (2, 16), "table": (4,)}[kind]
    items = torch.rand(40, *shape, generator=torch.Generator().manual_seed(0))
    data = Data("made", kind, items, torch.arange(40) % 2, items, torch.arange(40) % 2)
    learn = benchmark.learn
    monkeypatch.setattr(benchmark, "learn", lambda *args: learn(*args[:4], steps=1))
    with torch.random.fork_rng():
        found = benchmark.curves(data, 1)
        again = benchmark.curves(data, 1, found)
    assert again == found
    assert len(found["scores"]) == 12
    assert found["floor"] == 0.5
    for runs in found["scores"].values():
        assert all(len(runs[0][shift]) == 4 for shift in found["shifts"])
