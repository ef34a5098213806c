"""Pages say what records say, whatever is asked for and whatever a record holds."""

from __future__ import annotations

import contextlib
import hashlib
import html
import itertools
import json
import re
import shutil
import sqlite3
import time
import tomllib
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from urllib.parse import urlencode

import msgspec
import numpy as np
import pytest
import torch
from scipy import stats
from starlette.testclient import TestClient

from explorer.conftest import EXPORTED, PERCENTS, TABLE, Explored
from farfield.core import Problems
from farfield.execution import Here, run
from farfield.execution.internal import Job, UnderWay
from farfield.experiments import AgentNetwork, Experiment, Recipe, Spec
from farfield.explorer import application
from farfield.explorer._app import TEMPLATES
from farfield.explorer._inside import maps_of
from farfield.explorer._kept_counts import kept_counts
from farfield.explorer._pages import GROUPS, network, network_picture, problems
from farfield.explorer._source import Source
from farfield.explorer._titles import distinct, title_of
from farfield.models.internal import SequenceModel
from farfield.nn import RIMs
from farfield.objectives import PPO
from farfield.records import Record, Score, Store
from farfield.reproductions import Verdict
from farfield.reproductions.internal import PRINTED
from farfield.tasks import ObjectPicking
from made import generator
from worlds import score_episodes

VENDORED = Path(__file__).resolve().parents[2] / "src/farfield/explorer/static/vendored"
PNG = b"\x89PNG\r\n\x1a\n"


def asked(explored: Explored, page: str, **query: object) -> str:
    """The text of a page that must be there."""
    found = explored.pages.get(f"{page}?{urlencode(query, doseq=True)}")
    assert found.status_code == 200, found.text
    return found.text


def rows(page: str) -> list[str]:
    """Names of the cells that a page of claims shows."""
    return [
        html.unescape(name) for name in re.findall(r'<th scope="row">(?:<a[^>]*>)?([^<]*)', page)
    ]


# --- Security ------------------------------------------------------------------------------------


@pytest.mark.parametrize("page", ["/", "/claims", "/static/explorer.css", "/nowhere"])
def test_browsers_are_told_to_load_nothing_from_elsewhere(explored: Explored, page: str) -> None:
    headers = explored.pages.get(page).headers
    assert headers["content-security-policy"].startswith("default-src 'self';")
    assert headers["x-content-type-options"] == "nosniff"


@pytest.mark.parametrize(
    ("headers", "status"),
    [
        ({"host": "127.0.0.1:9"}, 200),
        ({"host": "localhost"}, 200),
        ({"host": "evil.example"}, 400),  # a name that was made to lead here
        ({"host": "127.0.0.1.evil.example:8080"}, 400),
        ({"sec-fetch-site": "same-origin"}, 200),
        ({"sec-fetch-site": "cross-site"}, 403),
        ({"sec-fetch-site": "same-site"}, 403),  # another port of this machine
    ],
)
def test_pages_of_others_are_refused(explored: Explored, headers: dict, status: int) -> None:
    assert explored.pages.get("/", headers=headers).status_code == status


def test_there_is_nothing_to_change(explored: Explored) -> None:
    for page in ("/", "/claims", "/runs", "/problems.png"):
        assert explored.pages.post(page).status_code == 405
    assert explored.pages.get("/static/../_app.py").status_code == 404
    assert explored.pages.get("/static/%2e%2e/_app.py").status_code == 404


HOSTILE = "<script>alert(1)</script>"


def test_labels_of_records_are_text(tmp_path: Path) -> None:
    store = Store(tmp_path)
    score = Score(step=1, regime=HOSTILE, metric="accuracy", value=0.5, count=1)
    described = {"task": {"class": HOSTILE, "note": HOSTILE}, "model": {"class": HOSTILE}}
    hostile = Record(
        key="0" * 20, experiment=described, seed=0, steps=1, scores=(score,), seconds=1.0,
        environment={"finished": HOSTILE},
    )  # fmt: skip
    store.write(hostile, {"weight": torch.zeros(1)})
    line = UnderWay(
        key="1", seed=0, task=HOSTILE, model='"><img src=x onerror=alert(1)>', step=1, steps=2,
        metric=HOSTILE, score=0.5, seconds=1.0, reported=2e9,
    )  # fmt: skip
    path = store.progress_path("1", 0)
    path.parent.mkdir()
    path.write_bytes(msgspec.json.encode(line))
    with TestClient(application(tmp_path, tmp_path), base_url="http://127.0.0.1") as pages:
        shown = [
            pages.get("/runs"),
            pages.get("/profiles"),
            pages.get("/network", params={"key": "0" * 20}),
            pages.get("/claims", params={"mechanism": HOSTILE, "verdict": '"><script>'}),
            pages.get("/claims", params={"paper": HOSTILE}),
            pages.get("/problems", params={"task": "same-different", "withheld": HOSTILE}),
            pages.get(f"/{HOSTILE}"),
        ]
    assert [page.status_code for page in shown] == [200, 200, 200, 200, 400, 400, 404]
    for page in shown:
        assert "<script>alert" not in page.text
        assert "<img src=x" not in page.text
    assert "&lt;script&gt;alert(1)&lt;/script&gt;" in shown[0].text


def test_files_of_others_are_those_that_were_published() -> None:
    said = tomllib.loads((VENDORED / "vendored.toml").read_text())
    digests = {name: digest for one in said.values() for name, digest in one["sha256"].items()}
    files = [path for path in VENDORED.iterdir() if path.suffix in {".js", ".css"}]
    assert {path.name: hashlib.sha256(path.read_bytes()).hexdigest() for path in files} == digests
    assert all((VENDORED / f"{name}.LICENSE").is_file() for name in said)


# --- Claims --------------------------------------------------------------------------------------


def test_claims_of_a_table_are_all_shown_with_their_verdicts(explored: Explored) -> None:
    page = asked(explored, "/claims", table=TABLE.key)
    assert rows(page) == [f"{claim.row}, {claim.column}" for claim in TABLE.claims]
    assert "1 reproduced</span>" in page
    assert "1 underpowered</span>" in page
    assert f"{len(TABLE.claims) - 2} not run</span>" in page


def test_claims_are_filtered(explored: Explored) -> None:
    table = {"table": TABLE.key}
    assert rows(asked(explored, "/claims", **table, verdict="reproduced")) == ["LSTM + TCN, m = 98"]
    found = rows(asked(explored, "/claims", **table, verdict="not run", mechanism="lstm + "))
    assert found == ["LSTM + TCN, m = 0", "LSTM + TCN, m = 50", "LSTM + TCN, m = 85"]
    assert "No claim matches" in asked(explored, "/claims", **table, mechanism="xyz")
    other = asked(explored, "/claims", paper="ren2017", table=TABLE.key, mechanism="nothing")
    assert "ren2017/table-5" in other  # the table of another paper is dropped


# --- Profiles ------------------------------------------------------------------------------------


def charts(page: str) -> list[dict]:
    return [json.loads(html.unescape(one)) for one in re.findall(r'data-chart="([^"]*)"', page)]


def test_a_cell_leads_to_its_profile_with_interval_and_print(explored: Explored) -> None:
    page = asked(explored, "/claims", table=TABLE.key, verdict="reproduced")
    (link,) = re.findall(r'href="(/profiles\?[^"]*curve[^"]*)"', page)
    (chart,) = charts(explored.pages.get(html.unescape(link)).text)
    (series,) = chart["series"]
    low, high = stats.t.interval(0.95, 9, loc=np.mean(PERCENTS), scale=stats.sem(PERCENTS))
    assert chart["x"] == [98]
    assert chart["reach"] == pytest.approx([0.94 * 98, 1.06 * 98])  # of one point, not from 0
    assert series["label"] == "LSTM + TCN"  # without the cell of fewer steps
    found = [series[name][0] for name in ("mean", "low", "high", "published")]
    assert found == pytest.approx([np.mean(PERCENTS), low, high, EXPORTED.published.mean])


def test_curves_of_several_tables_and_runs_are_laid_over_each_other(explored: Explored) -> None:
    listed = asked(explored, "/profiles", table=TABLE.key)
    keys = [html.unescape(key) for key in re.findall(r'name="curve" id="([^"]*)"', listed)]
    assert [key.split("|")[0] for key in keys].count(TABLE.key) == 2
    assert f"run|{explored.esbn}" in keys
    page = asked(explored, "/profiles", table="webb2021/table-10", curve=keys)
    assert page.count(" checked>") == len(keys)
    labels = {curve["label"] for chart in charts(page) for curve in chart["series"]}
    assert {"LSTM + TCN", "LSTM + TCN, 10 % of steps"} < labels
    assert len(labels) == len(keys)


def test_a_run_has_the_scores_of_its_record(explored: Explored) -> None:
    (chart,) = charts(asked(explored, "/profiles", curve=f"run|{explored.esbn}"))
    (record,) = Store(explored.folder / "runs").records(explored.esbn)
    scores = [100 * record.final(regime) for regime in ("training", "withheld-95")]
    assert chart["series"][0]["mean"] == pytest.approx(scores)
    assert chart["series"][0]["low"] == [None, None]


# --- Problems ------------------------------------------------------------------------------------


def test_problems_of_a_regime_are_drawn_as_one_asks(explored: Explored) -> None:
    query = {"task": "same-different", "withheld": 98, "max_problems": 40, "number": 2}
    page = asked(explored, "/problems", **query, regime="withheld-98")
    (source,) = re.findall(r'<img class="sheet" src="([^"]*)"', page)
    one = explored.pages.get(html.unescape(source))
    every = explored.pages.get("/problems.png", params=query)
    assert one.headers["content-type"] == "image/png"
    sizes = []
    for picture in (one.content, every.content):
        assert picture.startswith(PNG)
        sizes.append(int.from_bytes(picture[20:24], "big"))
    assert sizes[0] < sizes[1]  # one regime is less high than all
    assert "withheld-98" in page
    assert "withheld-98" not in asked(explored, "/problems", task="same-different")


@pytest.mark.parametrize(
    ("query", "message"),
    [
        ({"task": "no-task"}, "unknown task"),
        ({"task": "same-different", "withheld": "many"}, "withheld of same-different"),
        ({"task": "same-different", "regime": "withheld-7"}, "unknown regime"),
        ({"task": "same-different", "number": "99"}, "number must be a whole number from 1 to 24"),
        ({"task": "same-different", "seed": "-1"}, "seed must be a whole number"),
    ],
)
def test_what_cannot_be_drawn_is_said(explored: Explored, query: dict, message: str) -> None:
    found = explored.pages.get("/problems.png", params=query)
    assert found.status_code == 400
    assert message in html.unescape(found.text)


@pytest.mark.parametrize(
    ("task", "reason"),
    [
        ("word-text", "ptb.train.txt of ptb must exist"),
        ("digits", "train-images-idx3-ubyte.gz of mnist must exist"),
    ],
)
def test_a_task_without_files_says_which_it_needs(
    task: str, reason: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("FARFIELD_DATA", str(tmp_path))
    monkeypatch.setenv("FARFIELD_CACHE", str(tmp_path))
    monkeypatch.setenv("HOME", str(tmp_path))
    found = problems(Source(tmp_path, tmp_path), {"task": task})
    assert reason in found["reason"]


# --- Runs ----------------------------------------------------------------------------------------

ODD = {
    "a": {"class": "farfield.experiments.Experiment", "task": None, "model": None, "recipe": None},
    "b": {},
    "c": {"task": {"class": 5}, "model": {"cls": 7, "options": "ab"}},
    "d": {
        "task": {"class": "farfield.tasks.SameDifferent", "version": 1, "wide": 9},
        "model": [[]],
    },
    "e": {"task": [1, 2], "model": "m" * 5000},
}
"""Experiments of records that no run of ours would leave, by the letter of their key."""


def leave(store: Store, key: str, experiment: dict) -> None:
    score = Score(step=4, regime="training", metric="accuracy", value=0.5, count=4)
    written = {"seed": 0, "steps": 4, "seconds": 1.0, "environment": {}}
    record = Record(key=key, experiment=experiment, scores=(score,), **written)
    store.write(record, {"weight": torch.zeros(1)})


PROGRESS = {
    "key": "1", "seed": 0, "task": "T", "model": "M", "step": 5, "steps": 10, "metric": "accuracy",
    "score": 0.5, "seconds": 3.0, "reported": 2e9, "began": 1.0, "done": 3, "asked": 12,
}  # fmt: skip


@pytest.fixture(scope="module")
def odd(explored: Explored, tmp_path_factory: pytest.TempPathFactory) -> TestClient:
    """Pages of a folder with two good runs, and all else that may lie there."""
    folder = tmp_path_factory.mktemp("odd")
    shutil.copytree(explored.folder / "runs", folder, dirs_exist_ok=True)
    store = Store(folder)
    for letter, described in ODD.items():
        leave(store, letter * 20, described)
    with contextlib.closing(sqlite3.connect(folder / "records.sqlite")) as connection:
        columns = "key, seed, experiment, steps, seconds, environment"
        for key, text in (("f" * 20, '{"task": '), ("g" * 20, "[]")):
            connection.execute(
                f"INSERT INTO runs ({columns}) VALUES (?, 0, ?, 4, 1.0, '{{}}')", (key, text)
            )
            connection.execute("INSERT INTO scores VALUES (?, 0, 4, 'r', 'm', 0.5, 4)", (key,))
        connection.execute("INSERT INTO scores VALUES (?, 0, 4, 'r', 'm', 0.5, 4)", ("h" * 20,))
        connection.commit()
    progress = folder / "progress"
    progress.mkdir(exist_ok=True)
    for name, changed in {
        "good": {}, "zero": {"step": 0}, "long": {"seconds": 1e300}, "more": {"more": 1},
        "type": {"score": "x"}, "negative": {"done": -4},
    }.items():  # fmt: skip
        (progress / f"{name}.json").write_text(json.dumps(PROGRESS | changed))
    (progress / "cut.json").write_text('{"key": ')
    (progress / "bytes.json").write_bytes(b"\xff\x00")
    (progress / "deep.json").write_text("[" * 50_000)
    (progress / "folder.json").mkdir()
    table = folder / f"{TABLE.key}.jsonl"
    table.parent.mkdir()
    table.write_text("{")
    (folder / "floors-and-ceilings.jsonl").write_text("nonsense")
    return TestClient(application(folder, folder), base_url="http://127.0.0.1")


def test_odd_records_and_reports_say_so_beside_the_others(odd: TestClient) -> None:
    page = html.unescape(odd.get("/runs").text)
    assert len(re.findall(r'href="/network\?key=', page)) == 2  # of the good runs alone
    assert page.count("No network is shown: ") == page.count("No profile: ") == len(ODD)
    for text in ("f" * 12, "g" * 12, "h" * 12, "scores without a run"):
        assert text in page
    assert page.count("seed 0 cannot be read") == 3
    for name in ("zero", "long", "more", "type", "negative", "cut", "bytes", "deep", "folder"):
        assert f"progress/{name}.json cannot be read" in page
    assert "progress/good.json" not in page
    assert "3 of 12 networks of this command are finished" in page


@pytest.mark.parametrize("page", ["/profiles", "/claims"])
def test_odd_files_take_no_page_from_the_others(odd: TestClient, page: str) -> None:
    found = odd.get(page, params={"table": TABLE.key})
    assert found.status_code == 200
    text = html.unescape(found.text)
    assert f"{TABLE.key}.jsonl cannot be read" in text
    assert "floors and ceilings in" in text
    if page == "/profiles":
        assert "Experiments without a profile: 8" in text
        assert len(re.findall(r'name="curve" id="run\|', text)) == 2


def test_a_database_that_is_none_is_told(tmp_path: Path) -> None:
    for number, make in enumerate(
        (
            Path.mkdir,
            lambda path: path.write_text("no database" * 999),
            lambda path: path.symlink_to("x"),
        )
    ):
        folder = tmp_path / str(number)
        folder.mkdir()
        make(folder / "records.sqlite")
        pages = TestClient(application(folder, folder), base_url="http://127.0.0.1")
        for page in ("/runs", "/profiles", "/claims"):
            found = pages.get(page)
            assert (found.status_code, "cannot be read" in found.text) == (200, True)


def test_the_whole_page_of_runs_renews(explored: Explored) -> None:
    page = asked(explored, "/runs")
    renewed = page.partition('<div id="runs" hx-get="/runs" hx-trigger="every 2s"')[2]
    assert 'hx-select="#runs"' in renewed
    assert renewed.partition("<h2>Finished</h2>")[2].count('<th scope="row">') == 2


# --- The first page and titles --------------------------------------------------------------------


def test_the_first_page_asks_for_the_verdicts_of_every_paper(explored: Explored) -> None:
    page = asked(explored, "/")
    assert re.findall(r'hx-get="/verdicts\?paper=(\w+)"', page) == [*PRINTED]
    for address in ("/overview", "/runs"):
        assert f'hx-get="{address}" hx-trigger="load' in page


def test_verdicts_of_a_paper_are_bars_that_cover_all_its_cells(
    explored: Explored, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("farfield.explorer._pages.TABLES", {TABLE.key: TABLE})
    page = asked(explored, "/verdicts", paper="webb2021")
    bars = re.findall(r'<rect class="([\w-]+)" x="([\d.]+)" y="0" width="([\d.]+)"', page)
    assert [name for name, _, _ in bars] == ["held", "undecided", "not-run"]
    cells = len(TABLE.claims)
    assert f"of {cells:,} cells" in page
    widths = [float(width) for _, _, width in bars]
    assert widths[:2] == pytest.approx([100 / cells] * 2, abs=1e-3)
    assert sum(widths) == pytest.approx(100, abs=0.01)
    assert [float(x) for _, x, _ in bars] == pytest.approx([0, *np.cumsum(widths)[:-1]], abs=0.01)
    assert "<title>1 reproduced</title>" in page
    assert not set().union(*GROUPS.values()) ^ {*Verdict}


def test_verdicts_are_counted_once_until_a_file_changes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked_for: list[int] = []

    def count() -> dict[str, int]:
        asked_for.append(1)
        return {"reproduced": len(asked_for)}

    def counted(paper: str = "webb2021") -> int:
        return kept_counts(paper, [tmp_path / "results"], count)["reproduced"]

    exports = tmp_path / "results" / "webb2021"
    exports.mkdir(parents=True)
    (exports / "table-1.jsonl").write_text("one\n")
    assert [counted(), counted()] == [1, 1]
    assert counted("lamb2022") == 2
    (exports.parent / "lamb2022").mkdir()
    (exports.parent / "lamb2022" / "table-1.jsonl").write_text("one\n")
    assert [counted(), counted("lamb2022")] == [1, 3]
    (exports / "table-1.jsonl").write_text("one\ntwo\n")
    assert [counted(), counted()] == [4, 4]
    monkeypatch.setenv("FARFIELD_DATA", str(tmp_path))
    assert [counted(), counted()] == [5, 5]
    (tmp_path / "cache" / "explorer" / "verdicts-webb2021.json").write_text("[]")
    assert [counted(), counted()] == [6, 6]
    (tmp_path / "file").touch()
    monkeypatch.setenv("FARFIELD_CACHE", str(tmp_path / "file"))  # nothing can be kept
    assert [counted(), counted()] == [7, 8]


def test_the_overview_shows_the_latest_experiments_and_one_chart(explored: Explored) -> None:
    page = asked(explored, "/overview")
    assert ">ESBN" in page
    assert page.count('href="/network?key=') == 2
    (chart,) = charts(page)
    assert {series["label"].partition(" ")[0] for series in chart["series"]} == {
        "ESBN", "Transformer",
    }  # fmt: skip


def test_records_that_change_while_they_are_read_are_read_once(
    explored: Explored, monkeypatch: pytest.MonkeyPatch
) -> None:
    source = Source(explored.folder / "runs", explored.folder / "results")
    wanted = len(source.run_rows)
    stamps, read, contents = itertools.count(), [], source.store.contents
    monkeypatch.setattr("farfield.explorer._source._stamp", lambda *_: (next(stamps),))
    monkeypatch.setattr(source.store, "contents", lambda: read.append(0) or contents())
    source._run_curve.cache_clear()
    assert len(source.run_rows) == wanted
    assert read == [0]


def test_parts_of_a_page_that_are_asked_for_at_once_all_see_every_run(
    explored: Explored, monkeypatch: pytest.MonkeyPatch
) -> None:
    row = Source._row

    def slow_row(*arguments: object) -> object:
        time.sleep(0.05)
        return row(*arguments)

    monkeypatch.setattr(Source, "_row", slow_row)
    source = Source(explored.folder / "runs", explored.folder)
    with ThreadPoolExecutor(4) as threads:
        found = list(threads.map(lambda _: len(source.run_rows), range(4)))
    assert found == [2, 2, 2, 2]


def test_folders_without_records_are_named(tmp_path: Path) -> None:
    nowhere = tmp_path / "nowhere"
    with TestClient(application(nowhere, tmp_path), base_url="http://127.0.0.1") as pages:
        for page in ("/overview", "/runs"):
            said = f"No records were found in {nowhere}: there is no such folder."
            assert said in pages.get(page).text
        assert (
            f"No exports of tables were found in <code>{tmp_path}</code>"
            in pages.get("/overview").text
        )
    with TestClient(application(tmp_path, nowhere), base_url="http://127.0.0.1") as pages:
        assert f"in {tmp_path}: it holds no records." in pages.get("/runs").text


@pytest.mark.parametrize(
    ("task", "model", "title"),
    [
        (
            "SameDifferent(max_problems=9, withheld=98)",
            "Network(reasoner=Tiny)",
            "Tiny on same/different, 98 withheld",
        ),
        (
            "ImageGeneration(data_set='mnist', test_images=2)",
            "GANNetwork(discriminator=D(width=2), generator=G(width=16))",
            "GAN (width 16) on image generation, mnist",
        ),
        (
            "ObjectPicking(larger_sides=(), side=3)",
            "AgentNetwork(core=RIMs(hidden_size=8), encoder=LinearEncoder(out_features=2))",
            "RIMs (hidden size 8) with LinearEncoder on object picking, no larger sides, side 3",
        ),
        (
            "Mine(a=1, b=(2, 3), c=True, d=4)",
            "Network(context=None, reasoner=ESBN)",
            "ESBN on Mine, a 1, b (2, 3), c True, …",
        ),
        ("SequentialMNIST()", "QuantileNetwork()", "QuantileNetwork on sequential MNIST"),
        ("5", "(a", "(a on 5"),
    ],
)  # fmt: skip
def test_a_title_is_one_that_a_person_gives(task: str, model: str, title: str) -> None:
    assert title_of(task, model) == title


def test_equal_titles_are_told_apart() -> None:
    notes = ["20 steps", "30 steps", "1 step", "1 step"]
    keys = [letter * 20 for letter in "abcd"]
    found = distinct(["A", "A", "B", "B"], notes, keys)
    assert found == ["A, 20 steps", "A, 30 steps", "B, cccccc", "B, dddddd"]
    assert distinct(["A", "B"], notes[:2], keys[:2]) == ["A", "B"]


# --- Own modules and agents ----------------------------------------------------------------------

OWN = """
import math

from torch import nn


class MyEyes(nn.Module):
    def __init__(self, item_shape, out_features=4):
        super().__init__()
        self.out_features = out_features
        self.layer = nn.Linear(math.prod(item_shape), out_features)

    def forward(self, items):
        return self.layer(items.flatten(1))
"""
ROOM = ObjectPicking(side=3, distractors=1, more_distractors=(), larger_sides=(), view=3)


@pytest.fixture(scope="module")
def own(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Path, str]]:
    """A folder with a trained agent whose encoder is of a file beside it, and its key."""
    folder = tmp_path_factory.mktemp("own")
    (folder / "my_eyes_to_see.py").write_text(OWN)
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(folder)
        eyes = Spec(__import__("my_eyes_to_see").MyEyes)
        core = Spec(RIMs, hidden_size=12, num_mechanisms=3, num_active=2)
        agent = Experiment(
            task=ROOM,
            model=AgentNetwork(core=core, encoder=eyes),
            recipe=Recipe(steps=1, batch_size=4),
            objective=PPO(rollout_length=5, epochs=1),
        )
        score_episodes(patch, 2)
        run([Job(experiment=agent, seed=0)], Store(folder / "runs"), Here())
        yield folder, agent.key


def test_an_agent_of_one_s_own_is_shown_with_its_film(own: tuple[Path, str]) -> None:
    folder, key = own
    source = Source(folder / "runs", folder, [folder / "my_eyes_to_see.py"])
    (row,) = source.run_rows
    assert (row.unseen, row.kind) == ("", "agent")
    assert row.title.startswith("RIMs (hidden size 12, num active 2, num mechanisms 3) with MyEyes")
    shown = network(source, {"key": key, "problem": "2"})
    assert (shown["kind"], shown["problems"]) == ("agent", 1000)
    answer = dict(shown["answer"])
    assert answer["mission"].split()[0] in ("red", "green", "blue")
    (mechanisms,) = shown["maps"]
    np.testing.assert_allclose(np.sum(mechanisms.values, axis=0), 2)
    assert network_picture(source, {"key": key, "problem": "2"}).startswith(PNG)
    assert network_picture(source, {"key": key}) != network_picture(
        source, {"key": key, "problem": "2"}
    )
    with pytest.raises(ValueError, match="problem must be a whole number from 0 to 999"):
        network(source, {"key": key, "problem": "1000"})
    page = TEMPLATES.get_template("network.html.jinja").render(
        here="/network", listed={}, legend={}, **shown
    )
    assert f"farfield show {key[:12]} --out film.gif" in page


def test_an_agent_of_a_file_that_was_not_named_says_so(own: tuple[Path, str]) -> None:
    folder, _ = own
    (row,) = Source(folder / "runs", folder).run_rows
    assert row.unseen == (
        "it takes my_eyes_to_see.MyEyes: start the explorer with --module and the file of its "
        "classes"
    )
    assert "on object picking" in row.title


# --- Networks ------------------------------------------------------------------------------------


def numbers(page: str) -> np.ndarray:
    """The cells of the first map of a page."""
    body = page.partition('class="map"')[2].partition("</table>")[0]
    lines = [re.findall(r"<td class=\"w\d+\">([\d.]+)", line) for line in body.split("<tr>")[2:]]
    return np.array(lines, dtype=float)


def test_an_answer_is_shown_with_its_probabilities_and_keys(explored: Explored) -> None:
    page = asked(explored, "/network", key=explored.esbn, problem=1)
    shares = [float(share) for share in re.findall(r"<td>([\d.]+) %</td>", page)]
    assert len(shares) == 4
    assert sum(shares) == pytest.approx(100, abs=0.3)
    assert page.count(", the right one") == 1
    assert "Keys: likeness" in page
    assert numbers(page).shape == (8, 9)  # nothing is read at the first of nine places
    picture = explored.pages.get("/network.png", params={"key": explored.esbn})
    assert picture.content.startswith(PNG)


def test_the_attention_of_a_transformer_is_shown(explored: Explored) -> None:
    page = asked(explored, "/network", key=explored.transformer)
    assert page.count("Attention, head") == 2 * 2  # in the caption, and for readers of screens
    np.testing.assert_allclose(numbers(page).sum(1), 1, atol=0.05)


def test_active_mechanisms_are_shown_in_stretches() -> None:
    core = RIMs(6, 12, num_mechanisms=4, num_active=2, generator=generator(), batch_first=True)
    encoder = torch.nn.Linear(3, 6)
    network = SequenceModel(encoder, core, num_outputs=2, answers_everywhere=False).eval()
    index = torch.arange(130).unsqueeze(0) % 5
    problem = Problems(items=torch.randn(5, 3), index=index, target=torch.zeros(1))
    (shown,) = maps_of(network, problem)
    assert shown.rows == ("1", "2", "3", "4")
    assert shown.columns[:2] == ("1–3", "4–6")
    assert len(shown.columns) == 44
    np.testing.assert_allclose(np.sum(shown.values, axis=0), 2)  # two of four at every step


@pytest.mark.parametrize(
    ("described", "reason"),
    [
        (
            {"task": {"class": "mine.Task"}, "model": {"class": "mine.Net"}},
            "it takes mine.Net, mine.Task: start the explorer with --module",
        ),
        (
            {"task": {"class": "mine.Room"}, "model": {"class": "farfield.nn.RIMs"}},
            "it takes mine.Room: start the explorer with --module",
        ),
        ({"task": None}, "its record describes no experiment that this version can make again"),
    ],
)
def test_a_network_that_cannot_be_looked_into_says_why(
    described: dict, reason: str, tmp_path: Path
) -> None:
    leave(Store(tmp_path), "a" * 20, described)
    source = Source(tmp_path, tmp_path)
    (run,) = source.run_rows
    assert run.unseen.startswith(reason)
    found = network(source, {"key": "a" * 20})
    assert (found["reason"], found["asked"]) == (run.unseen, None)
    with pytest.raises(ValueError, match="this network cannot be shown"):
        network_picture(source, {"key": "a" * 20})


@pytest.mark.parametrize(
    ("query", "status"),
    [({"key": "0" * 20}, 400), ({"seed": "0"}, 404), ({"regime": "x"}, 400), ({"seed": "x"}, 400)],
)
def test_what_is_no_network_is_refused(explored: Explored, query: dict, status: int) -> None:
    found = explored.pages.get("/network", params={"key": explored.esbn, **query})
    assert found.status_code == status
