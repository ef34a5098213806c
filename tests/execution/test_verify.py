"""Records compared with the same networks trained anew."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import msgspec
import pytest

from farfield.execution import Here, _verify, jobs_of, results, run, verify
from farfield.execution.internal import Verification, draw_share
from farfield.records import Record, Store
from small import tiny_experiment

JOBS = jobs_of([tiny_experiment(steps=2)], range(4))


@pytest.fixture(autouse=True)
def _in_this_process(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("farfield.execution._run._executor_for", lambda *_: Here())


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Store:
    store = Store(tmp_path_factory.mktemp("runs"))
    run(JOBS, store, Here())
    return store


def changed(record: Record, *, shift: float = 0.0, **environment: str) -> Record:
    """A record whose last scores are shifted, and whose environment is another."""
    scores = tuple(
        msgspec.structs.replace(s, value=s.value + shift) if s.step == record.steps else s
        for s in record.scores
    )
    where = record.environment | environment
    return msgspec.structs.replace(record, scores=scores, environment=where, weights="")


def verdict(records: list[Record], store: Store | None = None) -> Verification:
    [found] = verify(JOBS[:1], records, networks=store)
    return found


def test_a_network_trained_anew_has_the_same_bytes(store: Store) -> None:
    records = results(JOBS, store)
    before = [path.stat().st_mtime_ns for path in sorted(store.folder.rglob("*.safetensors"))]
    found = verify(JOBS[:2], records)  # by the digests in the records
    assert [one.job for one in found] == JOBS[:2]
    assert {one.verdict for one in found} == {"same bytes"}
    without = [msgspec.structs.replace(record, weights="") for record in records]
    assert verdict(without, store).verdict == "same bytes"
    assert verdict(without) == Verification(job=JOBS[0], verdict="same scores")
    after = [path.stat().st_mtime_ns for path in sorted(store.folder.rglob("*.safetensors"))]
    assert (results(JOBS, store), after) == (records, before)


def test_on_the_same_kind_of_machine_every_score_is_the_same(store: Store) -> None:
    first, *others = results(JOBS, store)
    found = verdict([changed(first, shift=1e-9), *others])
    assert found.verdict == "differs"
    assert "at step 2 is" in found.reason


def test_scores_that_were_changed_beside_the_same_network_differ(store: Store) -> None:
    first, *others = results(JOBS, store)
    score = msgspec.structs.replace(first.scores[-1], value=first.scores[-1].value + 1e-9)
    found = verdict([msgspec.structs.replace(first, scores=(score,)), *others], store)
    assert found.verdict == "differs"
    assert f"at step {score.step} is" in found.reason


def test_on_the_same_kind_of_machine_the_weights_are_the_same(store: Store, tmp_path: Path) -> None:
    first, *others = results(JOBS, store)
    other, weights = Store(tmp_path), store.weights(first.key, 0)
    name = next(iter(weights))
    other.write(first, weights | {name: weights[name] + 1e-6})
    [record] = results(JOBS[:1], other)
    found = verdict([record, *others], other)
    assert (found.verdict, found.reason) == ("differs", "the network has other bytes")
    old = msgspec.structs.replace(record, environment=record.environment | {"torch": "1.0"})
    assert verdict([old, *others], other).verdict == "same scores"


def test_on_another_kind_of_machine_scores_are_within_the_spread_of_seeds(store: Store) -> None:
    first, *others = results(JOBS, store)
    close = verdict([changed(first, shift=1e-9, processor="another"), *others])
    assert close.verdict == "close scores"
    assert close.reason.startswith("another kind of machine: processor ")
    far = [changed(record, shift=20.0, processor="another") for record in (first, *others)]
    found = verdict(far)
    assert found.verdict == "differs"
    assert "not within" in found.reason
    few = verdict(far[:2])
    assert (few.verdict, few.reason.partition("; ")[2]) == (
        "not judged",
        "fewer than 3 seeds for a spread",
    )
    old = changed(first, shift=1e-9)
    del old.environment["capability"]
    assert verdict([old, *others]).verdict == "close scores"


def test_networks_of_one_program_are_another_kind(store: Store) -> None:
    first, *others = results(JOBS, store)
    stacked = changed(first, shift=1e-9, engine="vmap over 4 seeds")
    assert verdict([stacked, *others]).verdict == "close scores"
    assert verdict([changed(first, engine="8 single-threaded processes"), *others]).reason == ""


@pytest.mark.parametrize(
    ("values", "count", "margin"),
    [
        ([0.5, 0.7, 0.9], 0, 31.598 * 0.2 * math.sqrt(4 / 3)),  # t of two degrees of freedom
        ([1.0, 1.0, 1.0], 0, 0.0),
        ([1.0, 1.0, 1.0], 98, 31.598 * math.sqrt(295 / 296 / 296 / 98 * 4 / 3)),
    ],
)
def test_the_spread_is_a_prediction_interval(
    values: list[float], count: int, margin: float
) -> None:
    assert _verify._margin(values, count) == pytest.approx(margin, rel=1e-4)


def test_numbers_that_are_not_finite_have_no_spread(store: Store) -> None:
    first, *others = results(JOBS, store)
    found = verdict([changed(first, shift=math.inf, processor="another"), *others])
    assert found.verdict == "not judged"


def test_what_cannot_be_trained_here_is_not_judged(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    records = results(JOBS, store)
    monkeypatch.setattr(_verify, "changed_inputs", lambda *_: ["train.txt has other content"])
    found = verdict(records)
    assert found.verdict == "not judged"
    assert found.reason == "its files have changed: train.txt has other content"
    monkeypatch.setattr(_verify, "is_at_hand", lambda _: False)
    assert verdict(records).reason == "the files of its task are not on this machine"


def test_a_network_that_does_not_finish_differs(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_: Any, **__: Any) -> Any:
        raise RuntimeError("no more")

    monkeypatch.setattr("farfield.execution._order.train", fail)
    found = verdict(results(JOBS, store))
    assert found.verdict == "differs"
    assert "no more" in found.reason


def test_a_record_that_is_missing_is_named(store: Store) -> None:
    with pytest.raises(ValueError, match=r"records must hold seed 0 of .*, got none of it"):
        verify(JOBS[:1], results(JOBS[1:], store))


def test_a_share_is_drawn_by_its_seed() -> None:
    jobs = jobs_of([tiny_experiment(), tiny_experiment(steps=2)], range(10))
    drawn = draw_share(jobs, 0.24)
    assert len(drawn) == 5
    assert set(drawn) <= set(jobs)
    assert draw_share(jobs[::-1], 0.24) == drawn
    assert draw_share(jobs, 0.24, seed=1) != drawn
    assert sorted(draw_share(jobs, 1.0), key=jobs.index) == jobs
    assert len(draw_share(jobs, 1e-9)) == 1
    for share in (0.0, 1.5):
        with pytest.raises(ValueError, match="share must be"):
            draw_share(jobs, share)
