"""Records as text: there and back, and what is refused."""

import dataclasses
import json
import math
import os
from pathlib import Path

import msgspec
import pytest

from farfield.reports import export
from farfield.reports.internal import Line, load_export, results_pages
from farfield.reproductions import Budget, Table
from reproductions import made_up

ESBN = made_up.claim(100.0, 0.0, row="ESBN", hidden_size=1)
TABLE = Table(key="webb2021/some", title="Some", claims=(ESBN, made_up.claim(row="LSTM")))
RECORDS = made_up.records(ESBN, [90.0, 91.0, 92.0])
KEY = RECORDS[0].key


def three(claim):
    return RECORDS if claim is ESBN else []


@pytest.fixture
def path(tmp_path):
    (written,) = export(TABLE, three, tmp_path)
    return written


def test_records_survive_the_way_there_and_back(path, tmp_path):
    assert path == tmp_path / "webb2021" / "table-9.jsonl"
    assert load_export(path) == [Line(cell=ESBN.cell, record=record) for record in RECORDS]
    assert len(path.read_bytes().splitlines()) == 3


def test_a_line_holds_what_its_claim_is_about_and_the_training(tmp_path):
    [record] = made_up.records(ESBN, [90.0])
    elsewhere = msgspec.structs.replace(record.scores[1], regime="withheld-50")
    of_a_part = msgspec.structs.replace(record.scores[1], metric="accuracy/size")
    before = msgspec.structs.replace(of_a_part, step=record.steps - 1)
    more = msgspec.structs.replace(record, scores=(*record.scores, elsewhere, before, of_a_part))
    (written,) = export(TABLE, lambda claim: [more] if claim is ESBN else [], tmp_path)
    kept = msgspec.structs.replace(record, scores=(*record.scores, of_a_part))
    assert load_export(written) == [Line(cell=ESBN.cell, record=kept)]


def test_the_same_records_give_the_same_bytes(path, tmp_path):
    before = path.read_bytes()
    (again,) = export(TABLE, lambda claim: three(claim)[::-1], tmp_path / "again")
    assert again.read_bytes() == before
    export(TABLE, three, tmp_path)
    assert path.read_bytes() == before
    for line in before.splitlines():
        assert line == json.dumps(json.loads(line), sort_keys=True, separators=(",", ":")).encode()


def test_other_runs_stay_and_the_same_run_is_replaced(path, tmp_path):
    quick = made_up.records(ESBN, [50.0], steps=ESBN.at(Budget.QUICK).recipe.steps)
    again = made_up.records(ESBN, [80.0], first_seed=1)
    export(TABLE, lambda claim: [*quick, *again] if claim is ESBN else [], tmp_path)
    found = [
        (line.record.steps, line.record.seed, round(100 * line.record.final(ESBN.regime)))
        for line in load_export(path)
    ]
    assert found == [(10, 0, 50), (100, 0, 90), (100, 1, 80), (100, 2, 92)]


def test_runs_of_an_earlier_recipe_stay_and_are_marked(path, tmp_path):
    recipe = dataclasses.replace(ESBN.experiment.recipe, learning_rate=0.25)
    experiment = dataclasses.replace(ESBN.experiment, recipe=recipe)
    changed = dataclasses.replace(ESBN, experiment=experiment)
    table = Table(key="webb2021/some", title="Some", claims=(changed,))
    for _ in range(2):
        export(table, lambda claim: made_up.records(claim, [99.0]), tmp_path)
    lines = load_export(path)
    assert [line.record for line in lines if line.superseded] == RECORDS
    assert [line.record.experiment["recipe"]["learning_rate"] for line in lines
            if not line.superseded] == [0.25]  # fmt: skip


def test_a_selection_goes_to_the_files_of_its_tables(tmp_path):
    claim = dataclasses.replace(ESBN, table="table-10")
    both = Table(key="webb2021/mixed", title="Mixed", claims=(ESBN, claim))
    paths = export(both, lambda claim: RECORDS, tmp_path)
    assert [path.name for path in paths] == ["table-9.jsonl", "table-10.jsonl"]


def test_nothing_is_written_of_nothing(tmp_path):
    assert export(TABLE, lambda claim: [], tmp_path) == []
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(("loss", "text"), [(math.nan, "nan"), (math.inf, "inf")])
def test_networks_that_diverged_come_back_as_they_were(tmp_path, loss, text):
    """JSON has no numbers for them."""
    found = made_up.diverged(RECORDS, seed=1, step=7, loss=loss)
    (path,) = export(TABLE, lambda claim: found if claim is ESBN else [], tmp_path)
    lines = [json.loads(line)["record"] for line in path.read_bytes().splitlines()]
    assert [line["scores"][-1]["value"] for line in lines] == [0.9, text, 0.92]
    back = [line.record for line in load_export(path)]
    # nan is not equal to itself
    assert [repr(record.scores) for record in back] == [repr(record.scores) for record in found]
    assert [record.diverged() for record in back] == [None, 7, None]
    before = path.read_bytes()
    export(TABLE, lambda claim: back if claim is ESBN else [], tmp_path)
    assert path.read_bytes() == before


def test_a_damaged_file_is_not_overwritten(path, tmp_path):
    path.write_bytes(path.read_bytes()[:-10])
    before = path.read_bytes()
    with pytest.raises(ValueError, match=r"table-9.jsonl, line 3"):
        export(TABLE, three, tmp_path)
    assert path.read_bytes() == before


def broken(change):
    """The second line with something changed."""

    def damage(lines):
        content = json.loads(lines[1])
        change(content)
        return [lines[0], json.dumps(content).encode() + b"\n", *lines[2:]]

    return damage


def with_score(**changes):
    return broken(lambda line: line["record"]["scores"][1].update(changes))


def with_record(**changes):
    return broken(lambda line: line["record"].update(changes))


@pytest.mark.parametrize(
    "damage, message",
    [
        (lambda lines: [lines[0], lines[1][:-1]], "line 2: the line is cut short"),
        (lambda lines: [lines[0], lines[1][: len(lines[1]) // 2] + b"\n"], "line 2: not a record"),
        (lambda lines: [lines[0], b"\n"], "line 2: not a record"),
        (with_record(seed=10**30), r"line 2: seed must be .*, got 1000\d+ and .* 2\*\*63"),
        (lambda lines: [lines[0], b"\xff\xfe\n"], "line 2: not a record"),
        (lambda lines: [lines[0], b"[" * 100_000 + b"\n"], "line 2: not a record"),
        (lambda lines: [lines[0], b" " * 2_000_000 + b"\n"], "line 2: the line is cut short or lo"),
        (lambda lines: [lines[0], lines[0]], "line 2: seed 0 of esbn/withheld-98 occurs twice"),
        (broken(lambda line: line.pop("cell")), "line 2: not a record: .*`cell`"),
        (broken(lambda line: line.update(extra=1)), "line 2: not a record: .*`extra`"),
        (with_record(extra=1), "line 2: not a record: .*`extra`"),
        (with_record(seed="0"), "line 2: not a record: .*`int`"),
        (with_record(seed=-1), "line 2: seed must be at least 0"),
        (with_record(steps=0), "line 2: seed must be at least 0 and steps at least 1, got 1 and 0"),
        (
            with_record(key="0" * 20),
            f"line 2: key must be {KEY}, that of the experiment, got '0000",
        ),
        (with_record(experiment={}), f"line 2: key must be .*, got '{KEY}'"),
        (with_record(seconds=-1.0), "line 2: seconds must be a finite number, got -1.0"),
        (with_record(seconds=math.nan), "line 2: not a record"),
        (with_score(value=None), "line 2: not a record"),
        (with_score(value="none"), "line 2: not a record"),
        (with_score(value="inf"), "line 2: no run can leave"),
        (with_score(value=1.5), "line 2: no run can leave"),
        (with_score(value=-0.1), "line 2: no run can leave"),
        (with_score(metric="r2", value=1.5), "line 2: no run can leave"),
        (with_score(count=0), "line 2: no run can leave"),
        (with_score(step=101), "line 2: no run can leave"),
        (with_score(regime="training"), "line 2: scores must be unique, got one twice"),
    ],
)
def test_damaged_lines_are_named(path, damage, message):
    path.write_bytes(b"".join(damage(path.read_bytes().splitlines(keepends=True))))
    with pytest.raises(ValueError, match=f"table-9.jsonl, {message}"):
        load_export(path)


@pytest.mark.parametrize("metric", ["r2", "loss"])
def test_a_share_of_variance_and_an_agents_loss_may_be_negative(path, metric):
    damaged = with_score(metric=metric, value=-3.5)(path.read_bytes().splitlines(keepends=True))
    path.write_bytes(b"".join(damaged))
    assert load_export(path)


def test_a_file_that_is_not_there_is_named(tmp_path):
    with pytest.raises(ValueError, match=r"cannot read .*absent.jsonl: No such file"):
        load_export(tmp_path / "absent.jsonl")


def test_what_is_no_file_or_too_large_is_refused_by_name(tmp_path: Path) -> None:
    path = tmp_path / "table\x1b[2J.jsonl"
    os.mkfifo(path)
    with pytest.raises(ValueError, match=r"cannot read .*\\x1b\[2J\.jsonl: it must be a regular"):
        load_export(path)
    path.unlink()
    with path.open("wb") as file:
        file.truncate(2**25 + 1)
    with pytest.raises(ValueError, match=r"\.jsonl: it must be of at most 33,554,432 bytes"):
        load_export(path)
    path.write_bytes(b'{"cell": "\\u001b[2J\\u202e", "x\\u001b": 1}\n')
    with pytest.raises(ValueError, match=r"\.jsonl, line 1: not a record") as told:
        load_export(path)
    assert str(told.value).isprintable()


@pytest.mark.parametrize("text", ["[" * 100_000, "[]", "1", "null", '{"record": 1}', '"\\ud800"'])
def test_json_of_another_shape_is_no_record(tmp_path: Path, text: str) -> None:
    (tmp_path / "table.jsonl").write_text(text + "\n")
    with pytest.raises(ValueError, match=r"table\.jsonl, line 1: not a record"):
        load_export(tmp_path / "table.jsonl")


def test_a_tilde_is_the_home_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    (tmp_path / "table.jsonl").write_bytes(b"")
    assert load_export(Path("~/table.jsonl")) == []
    with pytest.raises(ValueError, match=rf"{tmp_path}/table\.jsonl: unknown table"):
        results_pages(Path("~"))
