"""What is not what was written is named, counts as missing, and can be written anew."""

from __future__ import annotations

import hashlib
import os
import random
import shutil
import sqlite3
import time
import warnings
from collections import Counter
from contextlib import closing
from pathlib import Path
from typing import Any

import msgspec
import pytest
import torch

from farfield.core.internal import expand_home
from farfield.records import Record, Score, Store, StoreError
from farfield.records.internal import DamageWarning, read_tensors, set_aside, write_tensors
from processes import Forked, run_forked

KEYS, SEEDS = ("aaaa1111", "bbbb2222"), range(4)
WEIGHTS = {"w": torch.arange(6.0).reshape(2, 3), "b": torch.ones(2, dtype=torch.float64)}


def make_record(key: str = "k", seed: int = 0, *, engine: str = "here") -> Record:
    return Record(
        key=key,
        experiment={"task": {"name": key, "sizes": [1, 2.5, None]}},
        seed=seed,
        steps=40,
        scores=tuple(
            Score(
                step=step, regime=regime, metric=metric, value=(7 * step + seed) % 11 / 10, count=7
            )
            for step in (1, 4, 40)
            for regime in ("training", "withheld-50")
            for metric in ("accuracy", "loss")
        ),
        seconds=1.5 + seed,
        environment={"engine": engine},
    )


@pytest.fixture(scope="module")
def written(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with two experiments of four runs."""
    folder = tmp_path_factory.mktemp("store")
    Store(folder).write_all([(make_record(k, seed), WEIGHTS) for k in KEYS for seed in SEEDS])
    return folder


def content(store: Store) -> dict[str, list[Record]]:
    return {key: store.records(key) for key in sorted({*store.keys(), *KEYS})}


def test_no_random_damage_of_the_database_changes_a_number_in_silence(
    written: Path, tmp_path: Path
) -> None:
    before, bytes_before = content(Store(written)), (written / "records.sqlite").read_bytes()
    ends, path, refused = Counter[str](), tmp_path / "records.sqlite", list[str]()
    for number in range(400):
        draw, damaged = random.Random(number), bytearray(bytes_before)
        damaged[draw.randrange(len(damaged))] ^= 1 << draw.randrange(8)
        path.write_bytes(damaged)
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            try:
                found = content(Store(tmp_path))
            except StoreError as error:
                refused.append(str(error))
                continue
        if found == before:
            ends["unchanged"] += 1
            continue
        assert any(warning.category is DamageWarning for warning in caught), number
        assert all(record in before[key] for key in KEYS for record in found[key]), number
        ends["named"] += 1
    assert ends["named"] > 50
    assert len(refused) > 5
    assert all(f"cannot use {path}: " in text for text in refused)
    assert all("; put a copy of it back if there is one, or" in text for text in refused)


@pytest.mark.parametrize(
    "statement",
    [
        "UPDATE scores SET value = 0.9 WHERE key = 'aaaa1111' AND seed = 2 AND step = 40",
        "UPDATE scores SET seed = 9 WHERE key = 'aaaa1111' AND seed = 2 AND step = 40",
        "DELETE FROM scores WHERE key = 'aaaa1111' AND seed = 2 AND step = 1",
        "DELETE FROM runs WHERE key = 'aaaa1111' AND seed = 2",
        "UPDATE runs SET steps = 41 WHERE key = 'aaaa1111' AND seed = 2",
        "UPDATE runs SET weights = '' WHERE key = 'aaaa1111' AND seed = 2",
        "UPDATE runs SET digest = '' WHERE key = 'aaaa1111' AND seed = 2",
        "UPDATE runs SET environment = '{}' WHERE key = 'aaaa1111' AND seed = 2",
    ],
)
def test_a_damaged_run_is_missing_until_it_is_written_anew(
    written: Path, tmp_path: Path, statement: str
) -> None:
    folder = tmp_path / "store"
    shutil.copytree(written, folder)
    before = content(Store(folder))
    with closing(sqlite3.connect(folder / "records.sqlite")) as connection, connection:
        connection.execute(statement)
    connection.close()
    store = Store(folder)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        found = content(store)
    said = [str(warning.message) for warning in caught]
    assert any("damaged record of aaaa1111, seed 2: " in text for text in said)
    assert found["bbbb2222"] == before["bbbb2222"]
    assert found["aaaa1111"] == [record for record in before["aaaa1111"] if record.seed != 2]
    assert store.complete_seeds("aaaa1111") == {0, 1, 3}
    with pytest.raises(StoreError, match="damaged record of aaaa1111, seed 2"):
        store.weights("aaaa1111", 2)
    store.write(make_record("aaaa1111", 2), WEIGHTS)
    assert store.find("aaaa1111", 2) == before["aaaa1111"][2]


def test_an_index_that_names_other_rows_is_made_anew(written: Path, tmp_path: Path) -> None:
    """The key stands in the rows of a table and again in its index; here they part."""
    folder = tmp_path / "store"
    shutil.copytree(written, folder)
    path, before = folder / "records.sqlite", content(Store(written))
    whole, ends = path.read_bytes(), Counter[bool]()
    starts = [at for at in range(len(whole)) if whole.startswith(b"aaaa1111", at)]
    for at in starts:
        path.write_bytes(whole[:at] + b"A" + whole[at + 1 :])
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            store = Store(folder)
            missing = set(SEEDS) - store.complete_seeds("aaaa1111")
            store.write_all([(make_record("aaaa1111", seed), WEIGHTS) for seed in missing])
            assert store.records("aaaa1111") == before["aaaa1111"]
        if missing:
            with closing(sqlite3.connect(path)) as connection, connection:
                [said] = connection.execute("PRAGMA integrity_check").fetchone()
            connection.close()
            assert said == "ok"
        ends[bool(missing)] += 1
    assert ends[True] > 5


FORMAT_1 = """
CREATE TABLE runs (
    key TEXT NOT NULL, seed INTEGER NOT NULL, experiment TEXT NOT NULL, steps INTEGER NOT NULL,
    seconds REAL NOT NULL, environment TEXT NOT NULL, PRIMARY KEY (key, seed));
CREATE TABLE scores (
    key TEXT NOT NULL, seed INTEGER NOT NULL, step INTEGER NOT NULL, regime TEXT NOT NULL,
    metric TEXT NOT NULL, value REAL NOT NULL, count INTEGER NOT NULL,
    PRIMARY KEY (key, seed, step, regime, metric));
INSERT INTO runs VALUES ('k', 0, '{}', 4, 1.5, '{"torch": "2"}');
INSERT INTO runs VALUES ('k', 1, '{}', 4, 1.5, '{"engine": "in \\udcff"}');
INSERT INTO runs VALUES ('k', 2, '{}', 4, 1.5, CAST(x'7b22a02222' AS TEXT));
INSERT INTO scores VALUES ('k', 0, 4, 'training', 'loss', 'nan', 7);
INSERT INTO scores VALUES ('k', 1, 4, 'training', 'loss', 1, 7);
INSERT INTO scores VALUES ('k', 2, 4, 'training', 'loss', 0.25, 7);
PRAGMA user_version = 1;
"""


def make_format_1(folder: Path) -> None:
    """A store as it was before there were digests."""
    connection = sqlite3.connect(folder / "records.sqlite")
    connection.execute("PRAGMA journal_mode = WAL")
    connection.executescript(FORMAT_1)
    connection.close()
    for seed in range(3):
        write_tensors(folder / "weights" / "k" / f"{seed}.safetensors", WEIGHTS)


def test_an_old_store_is_read_as_it_is_and_gets_digests_when_it_is_written(tmp_path: Path) -> None:
    make_format_1(tmp_path)
    before = (tmp_path / "records.sqlite").read_bytes()
    store = Store(tmp_path)
    with pytest.warns(DamageWarning, match="damaged record of k, seed 2"):
        old = store.records("k")
    assert [record.seed for record in old] == [0, 1]
    assert old[1].environment == {"engine": r"in \udcff"}
    assert store.complete_seeds("k") == {0, 1}
    assert (tmp_path / "records.sqlite").read_bytes() == before
    store.write(make_record("new"), WEIGHTS)
    with pytest.warns(DamageWarning, match="damaged record of k, seed 2"):
        assert repr(Store(tmp_path).records("k")) == repr(old)
    with closing(sqlite3.connect(tmp_path / "records.sqlite")) as connection, connection:
        connection.execute("UPDATE scores SET value = 2 WHERE key = 'k' AND seed = 1")
    connection.close()
    assert store.complete_seeds("k") == {0}


def test_text_that_is_no_utf_8_is_written_out(tmp_path: Path) -> None:
    store = Store(tmp_path)
    store.write(make_record(engine=os.fsdecode(b"in \xff")), WEIGHTS)
    found = store.find("k", 0)
    assert found is not None
    assert found.environment == {"engine": r"in \udcff"}
    assert msgspec.json.decode(msgspec.json.encode(found), type=Record) == found


def test_a_folder_whose_name_is_no_utf_8_keeps_records(tmp_path: Path) -> None:
    folder = tmp_path / os.fsdecode(b"runs \xff")
    Store(folder).write(make_record(), WEIGHTS)
    assert Store(folder).complete_seeds("k") == {0}


def flip(path: Path, at: int) -> None:
    changed = bytearray(path.read_bytes())
    changed[at] ^= 64
    path.write_bytes(changed)


def test_the_digest_of_a_network_is_that_of_its_file(tmp_path: Path) -> None:
    digest = write_tensors(tmp_path / "w", WEIGHTS)
    assert hashlib.sha256((tmp_path / "w").read_bytes()).hexdigest() == digest


@pytest.mark.parametrize("at", [3, 12, 40, 80, -60, -30, -1])
def test_a_flipped_bit_of_a_network_is_noticed(tmp_path: Path, at: int) -> None:
    store = Store(tmp_path)
    for seed in range(2):
        store.write(make_record(seed=seed), WEIGHTS)
    path = store.weights_path("k", 1)
    flip(path, at)
    assert store.complete_seeds("k") == {0}
    assert not store.is_complete("k", 1)
    with pytest.raises(StoreError, match=rf"cannot \w+ {path}: "):
        store.weights("k", 1)


def test_a_network_with_its_size_and_time_is_not_read_again_before_it_is_used(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    store = Store(tmp_path)
    store.write_all([(make_record(seed=seed), WEIGHTS) for seed in range(3)])
    now = time.time()
    monkeypatch.setattr("farfield.records._files.time.time", lambda: now + 60)
    for seed, change in ((1, 0), (2, 1_000_000)):  # nanoseconds
        path = store.weights_path("k", seed)
        written = path.stat().st_mtime_ns
        flip(path, -1)
        os.utime(path, ns=(written, written + change))
    assert store.complete_seeds("k") == {0, 1}
    with pytest.raises(StoreError, match="it is not the file that the run wrote"):
        store.weights("k", 1)


def test_a_network_that_was_just_written_is_read_whatever_its_size_and_time(tmp_path: Path) -> None:
    """The clock of the disk may show the same time for what was written after it."""
    store = Store(tmp_path)
    store.write(make_record(seed=0), WEIGHTS)
    path = store.weights_path("k", 0)
    written = path.stat().st_mtime_ns
    flip(path, -1)
    os.utime(path, ns=(written, written))
    assert not store.is_complete("k", 0)


def test_one_run_is_found_in_as_few_steps_where_there_are_many(
    written: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Counted by SQLite, so that no other work on the machine changes them."""
    folder, steps, connect = tmp_path / "store", list[int](), sqlite3.connect

    def count() -> int:
        steps[-1] += 1
        return 0

    def counted(*words: Any, **options: Any) -> sqlite3.Connection:
        connection = connect(*words, **options)
        connection.set_progress_handler(count, 1)
        return connection

    def find() -> None:
        steps.append(0)
        store = Store(folder)
        assert store.find(KEYS[0], 2)
        assert store.is_complete(KEYS[0], 2)
        assert store.is_recorded(KEYS[0], 2)
        assert len(store.records(KEYS[0], 4)) == 4
        assert store.keys("bbbb") == [KEYS[1]]
        store.write(make_record("new", len(steps)), WEIGHTS)

    shutil.copytree(written, folder)
    monkeypatch.setattr("farfield.records._database.sqlite3.connect", counted)
    find()
    steps.append(0)
    with connect(folder / "records.sqlite") as connection:
        for table, columns in (
            ("runs", "experiment, steps, seconds, environment, weights, digest, stamp"),
            ("scores", "step, regime, metric, value, count"),
        ):
            connection.execute(
                "WITH RECURSIVE n(v) AS (SELECT 1 UNION ALL SELECT v + 1 FROM n WHERE v < 200) "
                f"INSERT INTO {table} SELECT key, seed + 4 * v, {columns} FROM {table}, n"
            )
    connection.close()
    find()
    assert steps[2] < 1.1 * steps[0]


def planted(name: str, value: float) -> dict[str, torch.Tensor]:
    return WEIGHTS | {name: torch.full_like(WEIGHTS[name], value)}


@pytest.mark.parametrize(
    "others",
    [planted("w", 2.0), planted("w", torch.nan), {n: t.half() for n, t in WEIGHTS.items()}],
    ids=["another seed's", "not a number", "half precision"],
)
def test_another_network_in_its_place_is_noticed_and_replaced(
    tmp_path: Path, others: dict[str, torch.Tensor]
) -> None:
    store = Store(tmp_path)
    store.write(make_record(), WEIGHTS)
    path = store.weights_path("k", 0)
    write_tensors(path, others)
    with pytest.raises(StoreError, match="it is not the file that the run wrote, whose SHA-256 is"):
        store.weights("k", 0)
    store.write(make_record(engine="another machine"), others)
    found = store.find("k", 0)
    assert found is not None
    assert found.environment == {"engine": "another machine"}
    assert store.is_complete("k", 0)


def test_a_network_that_diverged_is_what_was_written(tmp_path: Path) -> None:
    store = Store(tmp_path)
    store.write(make_record(), planted("w", torch.nan))
    assert store.is_complete("k", 0)
    assert store.weights("k", 0)["w"].isnan().all()


def test_what_is_set_aside_replaces_nothing(tmp_path: Path) -> None:
    path = tmp_path / "0.safetensors"
    for text in ("first", "second", "third"):
        path.write_text(text)
        with pytest.warns(DamageWarning, match=r"torn; .* is kept as 0\.safetensors\.damaged"):
            set_aside(path, "torn")
    names = ("0.safetensors.damaged", "0.safetensors.damaged-2", "0.safetensors.damaged-3")
    assert [(tmp_path / name).read_text() for name in names] == ["first", "second", "third"]
    with pytest.warns(DamageWarning, match="^gone; the network is trained anew$"):
        set_aside(path, "gone")


def test_more_tensors_than_a_network_has_are_refused_before_they_are_read(tmp_path: Path) -> None:
    size = 5 << 20
    (tmp_path / "many").write_bytes(size.to_bytes(8, "little") + b"{" + b" " * size)
    with pytest.raises(StoreError, match="many: names and shapes of its tensors take 524"):
        read_tensors(tmp_path / "many")


def test_a_pipe_is_not_waited_for(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "w")
    with pytest.raises(StoreError, match="w: it must be a regular file"):
        read_tensors(tmp_path / "w")


@pytest.mark.parametrize("name", ["weights/k/0.safetensors", "locks/k-0", "weights/k/0.lock"])
def test_a_link_is_replaced_and_what_it_leads_to_stays(tmp_path: Path, name: str) -> None:
    store, mine = Store(tmp_path / "runs"), tmp_path / "mine"
    mine.write_bytes(b"mine")
    path = store.folder / name
    path.parent.mkdir(parents=True)
    path.symlink_to(mine)
    with store.lock("k", 0):
        store.write(make_record(), WEIGHTS)
    assert store.is_complete("k", 0)
    assert mine.read_bytes() == b"mine"
    assert not path.is_symlink()


@pytest.mark.parametrize("name", ["weights", "weights/k", "checkpoints", "checkpoints/k", "locks"])
def test_a_linked_folder_that_leads_out_is_refused_by_name(tmp_path: Path, name: str) -> None:
    store, mine = Store(tmp_path / "runs"), tmp_path / "mine"
    mine.mkdir()
    path = store.folder / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.symlink_to(mine)
    said = f"{path} must be in the folder of records, got a link to {mine}"
    with pytest.raises(StoreError, match=said), store.lock("k", 0):
        pass
    with pytest.raises(StoreError, match=said):
        store.write(make_record(), WEIGHTS)
    assert [*mine.iterdir()] == []
    assert store.records("k") == []


def test_a_database_that_links_lead_to_in_a_circle_is_refused_by_name(tmp_path: Path) -> None:
    path = tmp_path / "records.sqlite"
    path.symlink_to(path)
    with pytest.raises(StoreError, match=rf"cannot use {path}.*: unable to open database file"):
        Store(tmp_path)


def test_the_home_folder_is_expanded(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    monkeypatch.chdir(tmp_path)
    assert Store("~/runs").folder == tmp_path / "home" / "runs"
    write_tensors(Path("~/w"), WEIGHTS)
    assert read_tensors(Path("~/w"))[0].keys() == WEIGHTS.keys()
    assert [path.name for path in tmp_path.iterdir()] == ["home"]
    with pytest.raises(ValueError, match="a home folder that exists, got '~nobody-h"):
        expand_home("~nobody-here/runs")


def test_what_a_killed_process_left_is_swept_unless_another_holds_the_run(tmp_path: Path) -> None:
    store = Store(tmp_path)
    store.write(make_record(), WEIGHTS)
    checkpoint = store.checkpoint_path("k", 0)
    scraps = [
        checkpoint.with_name(".0.safetensors.0123abcd.tmp"),
        checkpoint,
        store.progress_path("k", 0).with_suffix(".tmp"),
    ]
    others = [checkpoint.with_name(".1.safetensors.0123abcd.tmp"), checkpoint.with_name("1.x")]
    for path in (*scraps, *others):
        path.parent.mkdir(exist_ok=True)
        path.write_bytes(b"half")
    with Store(tmp_path).lock("k", 0):
        store.sweep("k", 0)
        assert all(path.exists() for path in scraps)
    store.sweep("k", 0)
    assert not any(path.exists() for path in scraps)
    assert all(path.exists() for path in others)
    locks = [tmp_path / "locks" / "k-0", store.weights_path("k", 0).with_suffix(".lock")]
    with store.lock("k", 0):
        checkpoint.write_bytes(b"half")
        store.sweep("k", 0)
        assert not checkpoint.exists()
        assert all(path.exists() for path in locks)
    for path in locks:
        path.write_bytes(b"1")
    store.sweep("k", 0)
    assert not any(path.exists() for path in locks)


def test_an_empty_database_beside_networks_is_told(tmp_path: Path) -> None:
    (tmp_path / "new").mkdir()
    (tmp_path / "new" / "records.sqlite").touch()
    Store(tmp_path / "new")  # of a process that was killed before it wrote anything
    Store(tmp_path).write(make_record(), WEIGHTS)
    (tmp_path / "records.sqlite").write_bytes(b"")
    with pytest.warns(DamageWarning, match=r"records\.sqlite is empty, and there are networks"):
        assert Store(tmp_path).keys() == []


READER = """
import resource, signal, sys
from farfield.records import Store
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
resource.setrlimit(resource.RLIMIT_FSIZE, (0, 0))
store = Store(sys.argv[1])
sys.exit(f"{len(store.records('k'))} {store.complete_seeds('k')} {store.keys()}")
"""


@pytest.mark.parametrize("is_killed", [False, True], ids=["left in order", "left in haste"])
def test_a_full_disk_is_read(tmp_path: Path, is_killed: bool) -> None:
    """A limit on the size of files stands in for a full disk; the system answers alike."""
    store = Store(tmp_path / "before")
    store.write(make_record(seed=0), WEIGHTS)
    reader = sqlite3.connect(tmp_path / "before" / "records.sqlite")
    reader.execute("SELECT * FROM runs").fetchall()  # as long as it is open the log stays
    store.write(make_record(seed=1), WEIGHTS)
    folder = shutil.copytree(tmp_path / "before", tmp_path / "runs") if is_killed else store.folder
    reader.close()
    log = folder / "records.sqlite-wal"
    assert (log.exists() and log.stat().st_size > 0) == is_killed
    (folder / "records.sqlite-shm").unlink(missing_ok=True)
    assert run_forked(READER, folder) == (1, "", "2 {0, 1} ['k']\n")


KILLED = """
import sys, torch, warnings
from farfield.records import Record, Score, Store
warnings.simplefilter("ignore")
store = Store(sys.argv[1])
print("ready", flush=True)
for number in range(100_000):
    scores = tuple(Score(step=1, regime=f"r{k}", metric="m", value=float(number), count=1)
                   for k in range(20))
    record = Record(key="k", experiment={}, seed=0, steps=1, scores=scores, seconds=0.0,
                    environment={})
    with store.lock("k", 0):
        if 0 in store.seeds("k"):
            store.set_aside("k", 0, "tried")
        store.write(record, {"w": torch.full((1000,), float(number))})
"""


@pytest.mark.slow
def test_killed_while_replacing_leaves_one_run_or_none_and_never_a_mixed_one(
    tmp_path: Path,
) -> None:
    draw, wholes = random.Random(0), 0
    for number in range(40):  # as many as a slow machine needs
        folder = tmp_path / str(number)
        process = Forked(KILLED, folder)
        process.stdout.readline()
        process.wait(0.02 + draw.random() / 4)
        process.kill()
        store = Store(folder)
        for record in store.records("k"):  # warns, and so fails, if it is not what was written
            assert len({score.value for score in record.scores}) == 1
            assert len(record.scores) == 20
            if store.is_complete("k", 0):
                wholes += 1
                assert (store.weights("k", 0)["w"] == record.scores[0].value).all()
        for path in folder.rglob("*.damaged*"):
            assert len(read_tensors(path)[0]["w"].unique()) == 1
        if number >= 2 and wholes:
            break
    assert wholes > 0
