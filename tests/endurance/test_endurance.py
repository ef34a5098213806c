"""What `make endurance` would say of a run that loses something, and of a file read wrongly."""

from __future__ import annotations

import random
from dataclasses import replace
from pathlib import Path

import pytest

from endurance import acting
from endurance.files import Reader, judged
from endurance.kills import Fault, Peace, check, compare, endure
from endurance.kinds import KINDS, Kind
from farfield.records import StoreError

CHAIN = KINDS["chains"]


@pytest.mark.filterwarnings("ignore:.*fork:DeprecationWarning")  # workers of pytest have threads
def test_a_run_that_is_killed_ends_as_in_peace() -> None:
    one = Kind(CHAIN.jobs[:1])
    peace = Peace.of(one)
    early = replace(peace, events=peace.events // 2)  # or the run may end before it is killed
    assert endure(one, early, random.Random(0), most=1) == 1  # at an event of its files


@pytest.mark.parametrize(
    ("left", "said"),
    [
        ({"a": 1}, "b is missing"),
        ({"a": 1, "b": 3}, "b differs"),
        ({"a": 1, "b": 2, "c": 3}, "c is"),
    ],
)
def test_what_a_run_leaves_is_compared(left: dict[str, int], said: str) -> None:
    compare({"a": 1, "b": 2}, {"a": 1, "b": 2})
    with pytest.raises(Fault, match=said):
        compare(left, {"a": 1, "b": 2})


@pytest.mark.parametrize(
    ("before", "told", "said"),
    [
        ({0}, [[-1, "looked"]], "finished and lost"),
        (set(), [[1, "complete"], [-1, "looked"], [1, "begins"]], "finished and trained again"),
        (set(), [[1, "resumes"], [1, "first step"]], "begun again in spite of a checkpoint"),
    ],
)
def test_what_no_run_may_do_is_noticed(before: set[int], told: list, said: str) -> None:
    with pytest.raises(Fault, match=said):
        check(CHAIN, before, told)
    assert check(CHAIN, {0}, [[0, "complete"], [-1, "looked"], [1, "finished"]]) == {0, 1}


def said(error: Exception) -> Reader:
    def read(path: Path) -> object:
        raise error

    return Reader(lambda folder: folder, read)


def test_what_no_reader_may_do_is_noticed(tmp_path: Path) -> None:
    path = tmp_path / "a.json"
    assert judged(said(StoreError(f"cannot read {path}")), path, 1) == "refused"
    assert judged(Reader(lambda folder: folder, lambda path: 2), path, 1) == "read otherwise"
    sealed = Reader(lambda folder: folder, lambda path: 2, seals=True)
    assert judged(sealed, path, 2) == "read as it was"
    for reader, words in (
        (sealed, "read otherwise, and nothing was said"),
        (said(KeyError("shape")), "KeyError"),
        (said(ValueError("something is wrong")), "does not name a.json"),
        (said(ValueError(f"{path}: \x1b[2J")), "characters"),
    ):
        with pytest.raises(Fault, match=words):
            judged(reader, path, 1)


@pytest.mark.filterwarnings("ignore::UserWarning")
def test_what_no_environment_may_do_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(acting, "check_environment", lambda *_, **__: None)
    monkeypatch.setattr(acting, "trained", lambda *_: "a network")
    assert acting.judged(acting.Hostile(what="ends in a list"), 0, "a network") == "trained"
    for what, words in (
        ("ends in a list", "to another network"),
        ("a NaN reward", "check_environment finds nothing"),
    ):
        with pytest.raises(Fault, match=words):
            acting.judged(acting.Hostile(what=what), 0, "another network")
