"""Networks of uncommitted trees and of missing commits: refused, or marked."""

from __future__ import annotations

import re
from collections.abc import Iterable
from pathlib import Path

import msgspec
import pytest

from farfield.records import Record
from farfield.records.internal import missing_commits
from farfield.reports import export, html, tabular_of, tabulate
from farfield.reports._export import _export
from farfield.reports.internal import check_commits, load_export, load_missing, results_pages
from farfield.reproductions import TABLES
from reproductions import made_up

CHECKOUT = Path(__file__).resolve().parents[2]
TABLE = TABLES["webb2021/table-9"].select(*made_up.three("withheld-98"))
KNOWN, GONE = "0123456789ab", "ba9876543210"


def trained(commits: Iterable[str]) -> list[Record]:
    """Networks of the first cell, a commit each."""
    claim = TABLE.claims[0]
    commits = [*commits]
    steps = claim.experiment.recipe.steps
    records = made_up.records(claim, made_up.spread_out(95.0, 0.1)[: len(commits)], steps=steps)
    return [
        msgspec.structs.replace(record, environment=record.environment | {"commit": commit})
        for record, commit in zip(records, commits, strict=True)
    ]


def finder(records: list[Record]):
    return lambda claim: records if claim is TABLE.claims[0] else []


@pytest.fixture(autouse=True)
def _one_commit(monkeypatch: pytest.MonkeyPatch) -> None:
    """A repository that has every commit but one."""

    def missing(commits: Iterable[str]) -> frozenset[str]:
        return frozenset({GONE} & set(commits))

    monkeypatch.setattr(_export, "missing_commits", missing)
    monkeypatch.setattr(_export, "missing_commits", missing)


@pytest.mark.parametrize(
    ("commits", "message"),
    [
        ([KNOWN, f"{KNOWN}+", f"{GONE}+"],
         f"2 networks of an uncommitted tree (esbn, seeds 1–2 of {KNOWN}+ {GONE}+)"),
        ([GONE, KNOWN, GONE],
         f"2 networks of a commit that the repository lacks (esbn, seeds 0, 2 of {GONE})"),
        ([KNOWN, "unknown"],
         "1 network of a commit that the repository lacks (esbn, seeds 1 of unknown)"),
        ([""], "1 network of a commit that the repository lacks (esbn, seeds 0 of no commit)"),
        (["HEAD"], "1 network of a commit that the repository lacks (esbn, seeds 0 of HEAD)"),
    ],
)  # fmt: skip
def test_an_export_refuses_what_nobody_can_look_up(tmp_path, commits, message) -> None:
    with pytest.raises(
        ValueError, match="Train them again, or export them with --any-commit"
    ) as error:
        export(TABLE, finder(trained(commits)), tmp_path)
    assert message.replace("esbn", TABLE.claims[0].name) in str(error.value)
    assert not any(tmp_path.iterdir())


def test_an_error_names_five_cells_of_many(tmp_path) -> None:
    table = TABLES["webb2021/table-9"].select("esbn+tcn/*", "lstm+tcn/*")
    records = trained([f"{KNOWN}+"])
    with pytest.raises(ValueError, match=r"1 network of .*; and 5 more cells\)") as error:
        check_commits([table], lambda _: records, tmp_path)
    assert str(error.value).count("webb2021/table-9/") == 5


def test_networks_of_commits_and_of_releases_are_exported(tmp_path) -> None:
    (path,) = export(TABLE, finder(trained([KNOWN, "release"])), tmp_path)
    assert [line.record.commit for line in load_export(path)] == [KNOWN, "release"]
    assert load_missing(tmp_path) == frozenset()
    page = results_pages(tmp_path)
    assert re.search(r"[‡§] (\||✗|◔)", page["webb2021.md"]) is None
    assert "come from" not in page["index.md"]


def test_what_is_exported_already_is_not_refused_again(tmp_path) -> None:
    records = trained([f"{KNOWN}+", GONE])
    export(TABLE, finder(records), tmp_path, any_commit=True)
    (path,) = export(TABLE, finder(records), tmp_path)
    before = path.read_bytes()
    with pytest.raises(ValueError, match="1 network of an uncommitted tree"):
        export(TABLE, finder(trained([f"{GONE}+", GONE])), tmp_path)
    assert path.read_bytes() == before


def test_networks_that_are_let_through_are_marked(tmp_path) -> None:
    records = trained([f"{KNOWN}+"] * 3 + [GONE] * 2 + [KNOWN] * 5)
    export(TABLE, finder(records), tmp_path, any_commit=True)
    assert load_missing(tmp_path) == {GONE}
    pages = results_pages(tmp_path)
    assert "95.0 ± 0.1 (10) ✗ 3 ‡ 2 §<br>`" in pages["webb2021.md"]
    assert "‡: trained from an uncommitted tree. §: from a commit that the" in pages["webb2021.md"]
    assert (
        "Of 10 records 3 come from uncommitted trees (‡: webb2021 3) and 2 come from commits that "
        "the repository lacks (§: webb2021 2)." in pages["index.md"]
    )


def test_a_report_marks_them_and_says_what_the_signs_mean() -> None:
    of_tree, of_commit = trained([f"{KNOWN}+"] * 10), trained([GONE] * 10)
    for records, sign, other in ((of_tree, "‡", "§"), (of_commit, "§", "‡")):
        found = tabulate(TABLE, finder(records), missing={GONE})
        page = html(found, pictures={"profiles": b""})
        assert f"<td>95.0 ± 0.1 (10) {sign}</td>" in page
        assert "<li>‡: trained from an uncommitted tree. " in page
        assert f" {other}</td>" not in page
        assert (r"$\ddagger$ &" if sign == "‡" else r"\S{} &") in tabular_of(found).latex()
    whole = html(
        tabulate(TABLE, finder(trained([KNOWN])), missing={GONE}), pictures={"profiles": b""}
    )
    assert "an uncommitted tree" not in whole


def test_the_list_of_missing_commits_follows_the_repository(tmp_path, monkeypatch) -> None:
    export(TABLE, finder(trained([GONE, KNOWN])), tmp_path, any_commit=True)
    assert load_missing(tmp_path) == {GONE}
    monkeypatch.setattr(
        _export, "missing_commits", lambda _: None
    )  # no repository: nobody can tell
    export(TABLE, finder(trained([GONE, KNOWN])), tmp_path)
    assert load_missing(tmp_path) == {GONE}
    monkeypatch.setattr(_export, "missing_commits", lambda _: frozenset())  # it came back
    export(TABLE, finder(trained([GONE, KNOWN])), tmp_path)
    assert load_missing(tmp_path) == frozenset()


@pytest.mark.parametrize(
    "content",
    ["commits = 3", 'commits = ["HEAD"]', "commits = [", 'commits = []\nother = "x"', "\xff"],
)
def test_a_damaged_list_of_missing_commits_is_named(tmp_path, content) -> None:
    (tmp_path / "missing-commits.toml").write_text(content, "latin-1")
    with pytest.raises(ValueError, match=r"missing-commits\.toml: not a list of notes"):
        load_missing(tmp_path)


def test_the_committed_list_is_that_of_the_repository() -> None:
    results = CHECKOUT / "results"
    named = set(re.findall(r'"commit":"([0-9a-f]{7,40})"', "".join(
        path.read_text("utf-8") for path in results.glob("*/*.jsonl")
    )))  # fmt: skip
    missing = missing_commits(named)
    if missing is None:
        pytest.skip("not a checkout with its history")
    assert len(named) > 60
    assert missing == load_missing(results)
