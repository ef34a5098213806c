"""The folder of records: whole or absent, whatever happens to it."""

from __future__ import annotations

import contextlib
import math
import os
import re
import shutil
import sqlite3
import textwrap
from contextlib import closing
from pathlib import Path
from typing import IO, Final

import msgspec
import numpy as np
import pytest
import torch

from farfield.core.internal import UnknownNameError
from farfield.records import Record, Score, Store, StoreError, _environment, _store, environment
from farfield.records.internal import (
    DamageWarning,
    missing_commits,
    read_tensors,
    write_tensors,
    write_whole,
)
from processes import Forked, run_forked


def make_record(seed: int = 0, *, key: str = "k", value: float = 0.5) -> Record:
    return Record(
        key=key,
        experiment={"class": "farfield.experiments.Experiment", "n": [1, 2.5, None]},
        seed=seed,
        steps=4,
        scores=(
            Score(step=2, regime="training", metric="accuracy", value=0.25, count=7),
            Score(step=4, regime="training", metric="accuracy", value=value, count=7),
        ),
        seconds=1.5,
        environment={"torch": "2"},
    )


def bare(record: Record | None) -> Record:
    """A record as it was before the store put the digest of the network's file into it."""
    assert record is not None
    return msgspec.structs.replace(record, weights="")


WEIGHTS = {"w": torch.arange(6.0).reshape(2, 3), "b": torch.ones(2, dtype=torch.float64)}


def test_what_is_written_is_found(tmp_path: Path) -> None:
    store = Store(tmp_path / "a folder")
    store.write(make_record(1), WEIGHTS)
    store.write(make_record(0), WEIGHTS)
    assert [record.seed for record in store.records("k")] == [0, 1]
    assert bare(store.find("k", 1)) == make_record(1)
    assert store.find("k", 2) is None
    assert store.find("other", 0) is None
    assert store.keys() == ["k"]
    loaded = store.weights("k", 1)
    assert {n: t.dtype for n, t in loaded.items()} == {n: t.dtype for n, t in WEIGHTS.items()}
    assert all(torch.equal(loaded[name], WEIGHTS[name]) for name in WEIGHTS)


def test_the_question_in_sql_of_the_documents_is_answered(tmp_path: Path) -> None:
    store = Store(tmp_path)
    for seed, value in enumerate((0.5, 0.75)):
        store.write(make_record(seed, value=value), WEIGHTS)
    page = Path(__file__).parents[2] / "docs" / "command-line.md"
    question = page.read_text("utf-8").split("```sql")[1].split("```")[0]
    with closing(sqlite3.connect(tmp_path / "records.sqlite")) as connection, connection:
        found = connection.execute(question).fetchall()
    connection.close()
    assert found == [(None, "k", "training", 0.625, 2)]


def test_many_runs_are_found_in_the_order_asked(tmp_path: Path) -> None:
    store = Store(tmp_path)
    for key, seed in (("a", 0), ("b", 0), ("b", 1)):
        store.write(make_record(seed, key=key), WEIGHTS)
    found = store.find_all([("b", 1), ("a", 1), ("a", 0)])
    assert [record and (record.key, record.seed) for record in found] == [("b", 1), None, ("a", 0)]
    assert [record.seed for record in store.records("b", 1)] == [0]
    assert store.keys("b") == ["b"]
    assert store.is_recorded("b", 1)
    assert not store.is_recorded("a", 1)


def test_a_finished_run_is_never_overwritten(tmp_path: Path) -> None:
    store = Store(tmp_path)
    store.write(make_record(value=0.5), WEIGHTS)
    store.write(make_record(value=0.9), {name: 2 * tensor for name, tensor in WEIGHTS.items()})
    found = store.find("k", 0)
    assert found is not None
    assert found.final("training") == 0.5
    assert all(torch.equal(store.weights("k", 0)[name], WEIGHTS[name]) for name in WEIGHTS)


def test_runs_that_finished_together_are_kept_together_or_not_at_all(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(_store, "check_record", lambda record: record)
    store = Store(tmp_path)
    unwritable = msgspec.structs.replace(make_record(2), steps=None)  # the table refuses it
    with pytest.raises(StoreError, match="NOT NULL"):
        store.write_all([(make_record(1), WEIGHTS), (unwritable, WEIGHTS)])
    assert store.records("k") == []
    store.write_all([(make_record(seed), WEIGHTS) for seed in (1, 2)])
    assert [bare(record) for record in store.records("k")] == [make_record(1), make_record(2)]


@pytest.mark.parametrize("value", [math.nan, math.inf, -math.inf])
def test_the_loss_of_a_network_that_diverged_is_kept(tmp_path: Path, value: float) -> None:
    store = Store(tmp_path)
    store.write(make_record(value=value), WEIGHTS)
    found = store.find("k", 0)
    assert found is not None
    np.testing.assert_equal(found.final("training"), value)


def test_a_stranger_s_database_is_left_as_it_is(tmp_path: Path) -> None:
    damage(tmp_path, "CREATE TABLE runs (name TEXT)")
    before = (tmp_path / "records.sqlite").read_bytes()
    with pytest.raises(StoreError, match="must be a database of Farfield's, got one with a column"):
        Store(tmp_path)
    assert (tmp_path / "records.sqlite").read_bytes() == before


def test_a_store_half_made_is_finished(tmp_path: Path) -> None:
    Store(tmp_path)
    damage(tmp_path, "DROP TABLE scores", "PRAGMA user_version = 0")
    Store(tmp_path).write(make_record(), WEIGHTS)
    assert bare(Store(tmp_path).find("k", 0)) == make_record()


def test_a_run_that_lost_its_scores_is_damage(tmp_path: Path) -> None:
    Store(tmp_path).write(make_record(), WEIGHTS)
    damage(tmp_path, "DELETE FROM scores")
    with pytest.warns(DamageWarning, match="record of k, seed 0: a run without scores; it counts"):
        assert Store(tmp_path).records("k") == []


def test_a_file_is_written_where_a_link_leads_and_no_pipe_is_replaced(tmp_path: Path) -> None:
    (tmp_path / "link").symlink_to("file")
    write_whole(tmp_path / "link", b"1")
    assert (tmp_path / "file").read_bytes() == b"1"
    assert (tmp_path / "link").is_symlink()
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(StoreError, match="pipe: it must be a regular file, not a device"):
        write_whole(tmp_path / "pipe", b"1")
    assert (tmp_path / "pipe").is_fifo()


def damage(folder: Path, *statements: str) -> None:
    """Change the database behind the store's back."""
    with contextlib.closing(sqlite3.connect(folder / "records.sqlite")) as connection:
        for statement in statements:
            connection.execute(statement)
        connection.commit()


@pytest.mark.parametrize(
    "place",
    ["runs SET experiment", "runs SET environment", "runs SET steps", "runs SET seconds",
     "runs SET seed", "scores SET value", "scores SET count"],
)  # fmt: skip
@pytest.mark.parametrize("content", ["'{torn'", "x'ff00'"], ids=["text", "bytes"])
def test_a_damaged_record_is_named(tmp_path: Path, place: str, content: str) -> None:
    store = Store(tmp_path)
    for seed in (0, 1):
        store.write(make_record(seed), WEIGHTS)
    damage(tmp_path, f"UPDATE {place} = {content} WHERE seed = 1")
    with pytest.warns(DamageWarning, match=r"records\.sqlite holds a damaged record of k, seed"):
        assert [record.seed for record in store.records("k")] == [0]
    assert store.complete_seeds("k") == {0}
    store.write(make_record(1), WEIGHTS)
    assert bare(store.find("k", 1)) == make_record(1)


def test_a_database_whose_own_names_are_no_text_is_named_and_closed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    store = Store(tmp_path)
    damage(
        tmp_path,
        "PRAGMA writable_schema = 1",
        "UPDATE sqlite_master SET name = CAST(x'ff' AS TEXT), sql = 'no table' WHERE name = 'runs'",
    )
    opened, connect = list[sqlite3.Connection](), sqlite3.connect

    def keep(*address: str, **options: object) -> sqlite3.Connection:
        opened.append(connect(*address, **options))
        return opened[-1]

    monkeypatch.setattr("farfield.records._database.sqlite3.connect", keep)
    with pytest.raises(StoreError, match=r"cannot use .*records\.sqlite: .*decode"):
        store.records("k")
    for connection in opened:
        with pytest.raises(sqlite3.ProgrammingError, match="closed"):
            connection.execute("SELECT 1")


def test_the_final_score_is_that_of_the_last_step() -> None:
    assert make_record(value=0.75).final("training") == 0.75
    with pytest.raises(KeyError, match="no accuracy of regime 'elsewhere' at step 4"):
        make_record().final("elsewhere")


def test_equal_tensors_are_equal_bytes(tmp_path: Path) -> None:
    for name in ("one", "two"):
        write_tensors(tmp_path / name, WEIGHTS, "note")
    assert (tmp_path / "one").read_bytes() == (tmp_path / "two").read_bytes()
    assert read_tensors(tmp_path / "one")[1] == "note"


@pytest.mark.parametrize("damage", [b"", b"garbage", b"\xff" * 64, b"\x08\0\0\0\0\0\0\0{}      "])
def test_a_damaged_file_of_tensors_is_named(tmp_path: Path, damage: bytes) -> None:
    path = tmp_path / "w.safetensors"
    path.write_bytes(damage)
    if damage.endswith(b"{}      "):
        assert read_tensors(path) == ({}, "")
        return
    with pytest.raises(StoreError, match=r"cannot read .*w\.safetensors"):
        read_tensors(path)


def test_a_file_cut_short_is_named(tmp_path: Path) -> None:
    path = tmp_path / "w.safetensors"
    write_tensors(path, WEIGHTS)
    path.write_bytes(path.read_bytes()[:-5])
    with pytest.raises(StoreError, match="cannot read"):
        read_tensors(path)


def test_a_database_of_garbage_is_named_and_left_as_it_is(tmp_path: Path) -> None:
    path = tmp_path / "records.sqlite"
    path.write_bytes(b"not a database, but quite long enough to look at" * 50)
    before = path.read_bytes()
    with pytest.raises(StoreError, match=r"cannot use .*records\.sqlite"):
        Store(tmp_path)
    assert path.read_bytes() == before


def test_a_newer_format_is_refused(tmp_path: Path) -> None:
    Store(tmp_path)
    with closing(sqlite3.connect(tmp_path / "records.sqlite")) as connection, connection:
        connection.execute("PRAGMA user_version = 99")
    connection.close()
    with pytest.raises(StoreError, match="has format 99, this version reads 3"):
        Store(tmp_path)


def test_looking_into_a_folder_changes_no_byte(tmp_path: Path) -> None:
    Store(tmp_path).write(make_record(), WEIGHTS)
    before = {path: path.read_bytes() for path in tmp_path.rglob("*") if path.is_file()}
    assert bare(Store(tmp_path).find("k", 0)) == make_record()
    assert {path: path.read_bytes() for path in tmp_path.rglob("*") if path.is_file()} == before


def test_a_read_only_folder_is_read_and_not_written(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What the system says of the folder stands in for a read-only disk: root may write anyway."""
    Store(tmp_path).write(make_record(), WEIGHTS)
    monkeypatch.setattr("farfield.records._database.os.access", lambda path, mode: False)
    opened, connect = list[str](), sqlite3.connect
    monkeypatch.setattr(
        "farfield.records._database.sqlite3.connect",
        lambda name, **options: opened.append(name) or connect(name, **options),
    )
    store = Store(tmp_path)
    assert [bare(record) for record in store.records("k")] == [make_record()]
    assert all(name.endswith("?mode=ro&immutable=1") for name in opened)
    with pytest.raises(
        StoreError, match=r"records\.sqlite \(the folder is read-only\): .*readonly"
    ):
        store.write(make_record(1), WEIGHTS)
    assert [bare(record) for record in store.records("k")] == [make_record()]


def test_a_read_only_folder_that_was_left_in_haste_is_said_to_be_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What stands in the log alone must not be passed over."""
    Store(tmp_path).write(make_record(), WEIGHTS)
    monkeypatch.setattr("farfield.records._database.os.access", lambda path, mode: False)
    (tmp_path / "records.sqlite-wal").mkdir()  # cannot be opened, as on a read-only disk
    with pytest.raises(StoreError, match=r"records\.sqlite \(the folder is read-only\): "):
        Store(tmp_path)


def test_a_folder_that_is_a_file_is_named(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("x")
    with pytest.raises(StoreError, match="cannot make the folder"):
        Store(tmp_path / "file")


def test_a_link_that_leads_nowhere_is_named(tmp_path: Path) -> None:
    link = tmp_path / "runs"
    link.symlink_to(tmp_path / "gone")
    said = f"{link} is a link to {tmp_path / 'gone'}, which is not there"
    for folder in (link, link / "deeper"):
        with pytest.raises(StoreError, match=f"cannot make the folder {folder}: {said}"):
            Store(folder)
    (tmp_path / "other").mkdir()
    link = tmp_path / "other" / "records.sqlite"
    link.symlink_to(tmp_path / "gone" / "file")
    with pytest.raises(StoreError, match=f"cannot use {link} is a link to .*, which is not there"):
        Store(tmp_path / "other")


@pytest.mark.parametrize(
    ("limit", "said"),
    [(0, "the disk is full or cannot be written"), (9_000, "the disk is full")],
)
def test_a_full_disk_is_named_where_a_database_is_made(
    tmp_path: Path, limit: int, said: str
) -> None:
    code = """
    import resource, signal, sys
    from farfield.records import Store, StoreError
    signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (int(sys.argv[2]),) * 2)
    try:
        Store(sys.argv[1])
    except StoreError as error:
        sys.exit(str(error))
    """
    status, _, err = run_forked(textwrap.dedent(code), tmp_path, limit)
    assert (status, said in err) == (1, True)


UNREADABLE = {
    "a run without scores": {"scores": ()},
    "Expected `int`, got `bool` - at `$.steps`": {"steps": True},
    "Expected `int`, got `float` - at `$.seed`": {"seed": 1.5},
    "Expected `object`, got `array` - at `$.experiment`": {"experiment": [1]},
    "Expected `str`, got `int` - at `$.environment[...]`": {"environment": {"a": 1}},
    "seconds must be a number, got nan": {"seconds": math.nan},
    "key must be the name of a folder, got '../x'": {"key": "../x"},
    "key must be the name of a folder, got ''": {"key": ""},
    "of 64 bits, got 9223372036854775808": {"steps": 2**63},
    "surrogates not allowed": {"key": "\udcff"},
    "it must hold plain numbers and text, got <object": {"experiment": {"a": object()}},
}


@pytest.mark.parametrize("said", UNREADABLE)
def test_what_could_not_be_read_again_is_not_written(tmp_path: Path, said: str) -> None:
    store = Store(tmp_path)
    record = msgspec.structs.replace(make_record(), **UNREADABLE[said])
    with pytest.raises(ValueError, match=re.escape(said)):
        store.write_all([(make_record(1), WEIGHTS), (record, WEIGHTS)])
    assert (store.keys(), (tmp_path / "weights").exists()) == ([], False)


SCORE = {"step": 4, "regime": "training", "metric": "accuracy", "value": 0.5, "count": 7}


@pytest.mark.parametrize(
    "wrong", [{"regime": None}, {"metric": 3}, {"count": 1.5}, {"value": "x"}, {"step": 2**64}]
)
def test_a_score_that_could_not_be_read_again_is_not_written(tmp_path: Path, wrong: dict) -> None:
    record = msgspec.structs.replace(make_record(), scores=(Score(**SCORE | wrong),))
    with pytest.raises(ValueError, match="must be one that can be read"):
        Store(tmp_path).write(record, WEIGHTS)


def test_numbers_of_numpy_and_torch_are_written_as_python_s(tmp_path: Path) -> None:
    score = Score(**SCORE | {"value": torch.tensor(0.5), "count": np.int32(7)})
    record = msgspec.structs.replace(make_record(), scores=(score,), steps=np.int64(4))
    store = Store(tmp_path)
    store.write(record, WEIGHTS)
    assert bare(store.find("k", 0)).scores == (Score(**SCORE),)


@pytest.mark.parametrize("name", [1, "__metadata__", "\udcff"])
def test_a_network_with_names_that_no_file_holds_is_refused(tmp_path: Path, name: object) -> None:
    store = Store(tmp_path)
    with pytest.raises(ValueError, match="state must have names that are text"):
        store.write(make_record(), {name: torch.zeros(1)})
    with pytest.raises(ValueError, match="state must be tensors by name, got None"):
        store.write(make_record(), None)
    assert store.find("k", 0) is None


def test_messages_repeat_little_of_what_they_refuse(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="w must be a tensor or JSON") as refused:
        Store(tmp_path).write(make_record(), {"w": [object()] * 10_000})
    assert len(str(refused.value)) < 600
    assert len(str(UnknownNameError("task", "x" * 10_000, ["a", "b"]))) < 600


def test_a_folder_that_vanishes_ends_in_a_clear_error(tmp_path: Path) -> None:
    store = Store(tmp_path / "runs")
    shutil.rmtree(tmp_path / "runs")
    with pytest.raises(StoreError, match="vanished"):
        store.write(make_record(), WEIGHTS)
    with pytest.raises(StoreError, match="vanished"):
        store.records("k")
    assert not (tmp_path / "runs").exists()


def test_a_full_disk_loses_nothing_finished(tmp_path: Path) -> None:
    """A limit on the size of files stands in for a full disk; the system answers alike."""
    store = Store(tmp_path)
    store.write(make_record(0), WEIGHTS)
    code = textwrap.dedent(
        """
        import resource, signal, sys, torch
        from farfield.records import Record, Score, Store, StoreError
        store = Store(sys.argv[1])
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        resource.setrlimit(resource.RLIMIT_FSIZE, (100_000, 100_000))
        score = Score(step=1, regime="training", metric="loss", value=1.0, count=1)
        record = Record(key="k", experiment={}, seed=1, steps=1, scores=(score,), seconds=0.0,
                        environment={})
        try:
            store.write(record, {"w": torch.zeros(1_000_000)})
        except StoreError as error:
            sys.exit(str(error))
        """
    )
    status, _, err = run_forked(code, tmp_path)
    assert status == 1
    assert "cannot write" in err
    assert "File too large" in err
    assert [record.seed for record in Store(tmp_path).records("k")] == [0]
    left = [path.name for path in (tmp_path / "weights" / "k").iterdir()]
    assert left == ["0.safetensors"]


def test_killed_while_writing_leaves_whole_runs_only(tmp_path: Path) -> None:
    code = textwrap.dedent(
        """
        import sys, torch
        from farfield.records import Record, Score, Store
        store = Store(sys.argv[1])
        for seed in range(100_000):
            scores = tuple(Score(step=1, regime=f"r{k}", metric="m", value=k, count=1)
                           for k in range(20))
            store.write(Record(key="k", experiment={}, seed=seed, steps=1, scores=scores,
                               seconds=0.0, environment={}), {"w": torch.full((1000,), seed)})
            sys.stdout.write("."); sys.stdout.flush()
        """
    )
    process = Forked(code, tmp_path)
    process.stdout.read(7)
    process.kill()
    store = Store(tmp_path)
    found = store.records("k")
    assert len(found) >= 7
    for record in found:
        assert len(record.scores) == 20
        assert torch.equal(store.weights("k", record.seed)["w"], torch.full((1000,), record.seed))


def test_whole_files_replace_old_ones_and_leave_no_scraps(tmp_path: Path) -> None:
    path = tmp_path / "deep" / "file"
    write_whole(path, b"old")
    write_whole(path, b"new")
    assert path.read_bytes() == b"new"
    assert [found.name for found in path.parent.iterdir()] == ["file"]


def test_a_folder_that_another_process_removes_meanwhile_is_made_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "k" / "0.safetensors"
    opened, calls = Path.open, list[Path]()

    def open_late(self: Path, mode: str = "r") -> IO[bytes]:
        calls.append(self)
        if len(calls) == 1:
            self.parent.rmdir()
        return opened(self, mode)

    monkeypatch.setattr(Path, "open", open_late)
    write_whole(path, b"whole")
    assert path.read_bytes() == b"whole"


def test_sweeping_removes_the_folder_of_checkpoints_with_the_last_one(tmp_path: Path) -> None:
    store = Store(tmp_path)
    for seed in (0, 1):
        write_whole(store.checkpoint_path("k", seed), b"state")
    store.sweep("k", 0)
    assert [*tmp_path.glob("checkpoints/*/*")] == [store.checkpoint_path("k", 1)]
    store.sweep("k", 1)
    assert [*tmp_path.glob("checkpoints/*")] == []


def test_scraps_of_killed_processes_are_swept_up_when_they_are_old(tmp_path: Path) -> None:
    ages = {
        ".f[1].0123abcd.tmp": 3700,  # swept up
        ".f[1].0123abce.tmp": 3500,  # its process may be alive
        ".f1.0123abcd.tmp": 3700,  # of another file
        ".f[1].mine.tmp": 3700,  # the user's own
    }
    for name, age in ages.items():
        (tmp_path / name).write_bytes(b"half")
        then = (tmp_path / name).stat().st_mtime - age
        os.utime(tmp_path / name, (then, then))
    write_whole(tmp_path / "f[1]", b"whole")
    assert {path.name for path in tmp_path.iterdir()} == {"f[1]", *[*ages][1:]}


def test_the_environment_says_where_a_number_was_made() -> None:
    found = environment(device="cpu", engine="by hand")
    assert found["code"] == environment(device="cpu", engine="another")["code"]
    assert len(found["code"]) == 16
    assert found["torch"] == torch.__version__
    assert found["engine"] == "by hand"
    assert found["capability"] == torch.backends.cpu.get_cpu_capability()
    assert set(found) == {
        "farfield", "commit", "python", "torch", "numpy", "platform", "processor", "capability",
        "code", "cores", "device", "engine", "finished",
    }  # fmt: skip
    assert all(found.values())


GIT: Final = {"rev-parse --short=12 HEAD": "0123456789ab", "status": "", "rev-list": "0123456789ab"}


@pytest.mark.parametrize(
    ("answers", "commit"),
    [
        (GIT, "0123456789ab"),
        (GIT | {"status": " M src/farfield/__init__.py"}, "0123456789ab+"),
        (GIT | {"status": None}, "unknown"),
        (GIT | {"rev-parse --short=12 HEAD": None}, "unknown"),
    ],
)
def test_a_commit_is_that_of_a_tree_without_changes_or_has_a_plus(
    monkeypatch: pytest.MonkeyPatch, answers: dict[str, str | None], commit: str
) -> None:
    def git(*words: str) -> str | None:
        return answers[" ".join(words) if words[0] == "rev-parse" else words[0]]

    monkeypatch.setattr(_environment, "_git", git)
    monkeypatch.setattr(_environment, "_is_checkout", lambda: True)
    assert _environment._commit.__wrapped__() == commit
    monkeypatch.setattr(_environment, "_is_checkout", lambda: False)
    assert _environment._commit.__wrapped__() == "release"


def test_commits_are_missing_that_lead_nowhere_from_the_head(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    answers = {"rev-parse": "false", "rev-list": f"{'ab' * 20}\n{'cd' * 20}"}
    monkeypatch.setattr(_environment, "_git", lambda *words: answers[words[0]])
    monkeypatch.setattr(_environment, "_is_checkout", lambda: True)
    assert missing_commits(["ab" * 6, "cd" * 20, "ef" * 6, "ba" * 6]) == {"ef" * 6, "ba" * 6}
    for answer in ({"rev-parse": "true"}, {"rev-parse": None}, {"rev-list": None}):
        answers = {"rev-parse": "false", "rev-list": "ab" * 20} | answer
        assert missing_commits(["ab" * 6]) is None
    answers = {"rev-parse": "false", "rev-list": ""}
    monkeypatch.setattr(_environment, "_is_checkout", lambda: False)
    assert missing_commits(["ab" * 6]) is None


def test_git_that_is_missing_or_fails_gives_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    assert _environment._git("no-such-command") is None
    monkeypatch.setenv("PATH", "")
    assert _environment._git("rev-parse", "HEAD") is None


def test_the_environment_of_a_gpu_says_how_it_multiplies(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(torch.cuda, "get_device_name", lambda device: "some GPU")
    monkeypatch.setattr(torch.cuda, "get_device_capability", lambda device: (9, 0))
    assert environment(device="cuda:1", engine="")["matmul"] == "float32"
    assert environment(device="cuda", engine="", matmul="tf32")["matmul"] == "tf32"


@pytest.mark.parametrize(
    ("folder", "message"),
    [
        (3, "folder must be text or a PathLike, got 3"),
        ("", "path must not be empty; '.' is the current folder"),
    ],
)
def test_a_folder_must_be_a_path(folder: object, message: str) -> None:
    with pytest.raises(ValueError, match=re.escape(message)):
        Store(folder)  # type: ignore[arg-type]
