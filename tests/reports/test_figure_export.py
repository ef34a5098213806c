"""What figures measure as text that stays, and its place on the page of results."""

from __future__ import annotations

import dataclasses
import json
import os
import shutil
from pathlib import Path

import msgspec
import pytest

from farfield.records import Record, Store
from farfield.reports import FIGURES, Finding, Plate, export, export_figure, illustrate, tabulate
from farfield.reports._exhibits._exhibit import OneNetwork, by_quantity
from farfield.reports._export._figure_export import PAPER_DIGEST
from farfield.reports.internal import FigureExport, load_figure, results_pages
from farfield.reproductions import Budget
from reproductions import made_up

RESULTS = Path(__file__).resolve().parents[2] / "results"
FIGURE = FIGURES["gondal2021/figure-6"]
SMALL = FIGURE.table.select("*-small/*")
FILE = "gondal2021/figure-6-paper.json"
PICTURE = "gondal2021/figure-6-paper-curve.png"
IMAGES = FIGURES["webb2021/figure-3"]


def found(claim, shift: float = 0.0):
    return made_up.records(claim, (40.0 + shift, 42.0 + shift), steps=claim.experiment.recipe.steps)


def exported(folder: Path, seeds: int = 2) -> list[Path]:
    """The figure over made-up networks of its small rows, and these."""
    networks = lambda claim: found(claim)[:seeds] if claim in SMALL.claims else []  # noqa: E731
    export(SMALL, found, folder)
    report = tabulate(FIGURE.table, networks)
    plates = illustrate(FIGURE, report, Store(folder / "runs"))
    return export_figure(report, plates, folder, Budget.PAPER)


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("exported")
    exported(folder)
    return folder


@pytest.fixture
def results(tmp_path: Path, whole: Path) -> Path:
    """The figure, exported to a folder of the test's own."""
    return shutil.copytree(whole, tmp_path / "results")


def test_a_figure_stays_as_text_beside_its_picture(tmp_path: Path) -> None:
    assert exported(tmp_path) == [tmp_path / PICTURE, tmp_path / FILE]
    assert (tmp_path / PICTURE).read_bytes()[:4] == b"\x89PNG"
    kept = load_figure(tmp_path / FILE, tmp_path)
    assert [(network.table, network.cell, network.seed) for network in kept.networks] == [
        ("gondal2021/k-mnist", cell, seed) for cell in SMALL.cells for seed in (0, 1)
    ]
    (plate,) = illustrate(FIGURE, tabulate(FIGURE.table, found), Store(tmp_path / "runs"))
    (exhibit,) = kept.exhibits
    assert (exhibit.title, exhibit.caption) == (plate.title, plate.caption)
    small = tuple(finding for finding in plate.findings if "small" in finding.what)
    assert len(small) == 8
    assert exhibit.findings == small


def test_the_same_networks_give_the_same_text(tmp_path: Path) -> None:
    exported(tmp_path / "one")
    exported(tmp_path / "other")
    for name in (FILE, PICTURE):
        assert (tmp_path / "one" / name).read_bytes() == (tmp_path / "other" / name).read_bytes()


def of_network(seed: int, change: float) -> Finding:
    (cell, *_) = SMALL.cells
    return Finding(
        what="rise",
        paper="",
        ours=f"{change:+g}",
        network=OneNetwork(cell=cell, seed=seed, change=change),
    )


def export_seed(folder: Path, seed: int, change: float, shift: float = 0.0) -> FigureExport:
    """The figure over one made-up network of one row."""
    (cell, *_) = SMALL.claims
    report = tabulate(
        FIGURE.table, lambda claim: found(claim, shift)[seed : seed + 1] * (claim == cell)
    )
    plate = Plate(
        name="types", title="t", caption="c", draw=None, findings=(of_network(seed, change),)
    )
    (path,) = export_figure(report, (plate,), folder, Budget.PAPER)
    return load_figure(path, folder)


def test_what_was_found_in_single_networks_stays_beside_that_of_others(tmp_path: Path) -> None:
    export(SMALL, found, tmp_path)
    export_seed(tmp_path, 0, -1.0)
    both = export_seed(tmp_path, 1, 2.0)
    assert both.exhibits[0].findings == (of_network(1, 2.0), of_network(0, -1.0))
    assert [network.seed for network in both.networks] == [1, 0]
    again = export_seed(tmp_path, 0, -3.0)
    assert again.exhibits[0].findings == (of_network(0, -3.0), of_network(1, 2.0))
    export(SMALL, lambda claim: found(claim, shift=1.0), tmp_path)
    alone = export_seed(tmp_path, 0, -3.0, shift=1.0)
    assert alone.exhibits[0].findings == (of_network(0, -3.0),)
    assert [network.seed for network in alone.networks] == [0]


def test_networks_that_disagree_say_so() -> None:
    other = Finding(what="other", paper="said", ours="1 %")
    (kept, joined) = by_quantity((of_network(1, 2.0), other, of_network(0, -1.0)))
    assert kept is other
    assert joined.cells == ("rise", "–", "seed 0: -1; seed 1: +2; the networks disagree")
    (agreed,) = by_quantity((of_network(0, 1.0), of_network(1, 2.0)))
    assert agreed.ours == "seed 0: +1; seed 1: +2"


def test_without_anything_to_show_nothing_is_written(tmp_path: Path) -> None:
    report = tabulate(FIGURE.table, lambda claim: [])
    assert export_figure(report, (), tmp_path, Budget.PAPER) == []
    assert list(tmp_path.iterdir()) == []


def test_the_page_shows_figures_behind_tables(results: Path) -> None:
    page = results_pages(results, "seen from (here)")["gondal2021.md"]
    head, _, rest = page.partition("\n## figure-6-paper\n")
    assert "| Figure 6 | – | figure-6 | 16 in part, of 32 | " in head
    assert f"](seen%20from%20%28here%29/{PICTURE})\n" in rest
    assert "After 100 % of the steps; on 32 networks, of 32 recorded for these cells.\n" in rest
    kept = load_figure(results / FILE, results)
    assert f"**{kept.exhibits[0].title}**" in rest
    for finding in kept.exhibits[0].findings:
        ours = finding.ours.replace("[", r"\[").replace("]", r"\]")
        assert f"| {finding.what} | {finding.paper} | {ours} |\n" in rest


def test_a_figure_of_some_of_the_networks_says_so(tmp_path: Path) -> None:
    exported(tmp_path, seeds=1)
    page = results_pages(tmp_path)["gondal2021.md"]
    assert "on 16 networks, of 32 recorded for these cells." in page


def test_a_figure_of_networks_that_were_run_again_is_refused(results: Path) -> None:
    export(SMALL, lambda claim: found(claim, shift=0.1), results)
    with pytest.raises(ValueError, match=r"was run again since; export the figure again"):
        results_pages(results)


def test_a_figure_of_networks_that_are_gone_is_refused(results: Path) -> None:
    (results / "gondal2021" / "k-mnist.jsonl").unlink()
    with pytest.raises(ValueError, match=r"seed 0 of gondal2021/k-mnist/.* is not recorded"):
        results_pages(results)


def shown(task: dict, claim) -> list[Record]:
    """A record of a network that was shown images of its own."""
    (record,) = found(claim)[:1]
    described = record.experiment | {"task": record.experiment["task"] | task}
    return [msgspec.structs.replace(record, experiment=described)]


def test_figures_of_other_images_have_files_of_their_own(tmp_path: Path) -> None:
    cell = IMAGES.table.select("table-9/esbn+tcn/withheld-98").claims[0]
    own = {"shapes": f"array of {PAPER_DIGEST}"}
    places = []
    for task in ({}, own):
        report = tabulate(IMAGES.table, lambda claim: shown(task, claim) * (claim == cell))  # noqa: B023
        (plate,) = illustrate(IMAGES, report, Store(tmp_path / "runs"))
        undrawn = dataclasses.replace(plate, draw=None)
        (path,) = export_figure(report, (undrawn,), tmp_path, Budget.PAPER)
        places.append((path.name, load_figure(path, tmp_path).images))
    assert places == [
        ("figure-3-paper.json", "built-in images"),
        ("figure-3-paper-own-images.json", "the paper's own images"),
    ]
    (one, other, *_) = IMAGES.table.select("table-9/esbn+tcn/*").claims
    mixed = tabulate(
        IMAGES.table,
        lambda claim: shown({}, claim) * (claim == one) + shown(own, claim) * (claim == other),
    )
    plates = illustrate(IMAGES, mixed, Store(tmp_path / "runs"))
    with pytest.raises(ValueError, match="must have been shown the same images"):
        export_figure(mixed, plates, tmp_path, Budget.PAPER)


def test_every_committed_figure_says_of_print_what_is_said_today() -> None:
    for path in RESULTS.rglob("*.json"):
        figure = FIGURES[load_figure(path, RESULTS).figure]
        if any(analysis.name == "paired_tests" for analysis in figure.exhibits):
            continue  # numbers of print, each with its own test
        said = {"", *(saying.words for saying in figure.says)}
        exhibits = load_figure(path, RESULTS).exhibits
        assert {finding.paper for one in exhibits for finding in one.findings} <= said, path


def test_every_committed_picture_belongs_to_a_figure() -> None:
    named = {
        kept.picture(exhibit)
        for kept in (load_figure(path, RESULTS) for path in RESULTS.rglob("*.json"))
        for exhibit in kept.exhibits
        if exhibit.digest
    }
    assert {path.relative_to(RESULTS).as_posix() for path in RESULTS.rglob("*.png")} == named


def damaged(path: Path, **fields: object) -> None:
    path.write_text(json.dumps(json.loads(path.read_text()) | fields))


def damaged_part(path: Path, part: str, **fields: object) -> None:
    first, *others = json.loads(path.read_text())[part]
    damaged(path, **{part: [first | fields, *others]})


def twice(path: Path, part: str) -> None:
    damaged(path, **{part: 2 * json.loads(path.read_text())[part]})


def picture(path: Path) -> Path:
    return path.with_name(Path(PICTURE).name)


@pytest.mark.parametrize(
    ("damage", "message"),
    [
        (lambda path: path.write_bytes(path.read_bytes()[:-20]), "not measurements of a figure"),
        (lambda path: path.write_bytes(b"[" * 100_000), "not measurements of a figure"),
        (lambda path: damaged(path, surplus=1), "not measurements of a figure"),
        (lambda path: damaged(path, budget="quick"), "must be those of its name"),
        (lambda path: damaged(path, figure="gondal2021/figure-0"), "must be those of its name"),
        (lambda path: damaged(path, images="../../x"), "must be those of its name"),
        (lambda path: damaged(path, networks=[]), "not measurements of a figure"),
        (lambda path: damaged(path, exhibits=[]), "not measurements of a figure"),
        (lambda path: damaged_part(path, "networks", cell="ni/k-mnist"), "be a cell of the figure"),
        (lambda path: damaged_part(path, "exhibits", name="../x"), "different names"),
        (lambda path: twice(path, "exhibits"), "different names"),
        (lambda path: picture(path).unlink(), "cannot read .*curve.png"),
        (lambda path: picture(path).write_bytes(b"another"), "not the picture that belongs to"),
        (lambda path: os.truncate(path, 2**22 + 1), "cannot read .*: it must be of at most 4,1"),
        (lambda path: os.truncate(picture(path), 2**24 + 1), r"curve\.png: it must be of at most"),
        (lambda path: path.unlink() or os.mkfifo(path), "cannot read .*: it must be a regular"),
        (
            lambda path: picture(path).unlink() or picture(path).symlink_to("/dev/zero"),
            r"cannot read .*curve\.png: it must be a regular file",
        ),
        (lambda path: damaged_part(path, "networks", cell="\x1b[2J"), r"/\\x1b\[2J must be a cell"),
    ],
    ids=[
        "cut", "deep", "surplus", "budget", "figure", "images", "no-network", "no-exhibit", "cell",
        "name", "names", "no-picture", "picture", "large", "large-picture", "pipe", "device",
        "escape",
    ],
)  # fmt: skip
def test_a_damaged_figure_is_refused(results: Path, damage, message: str) -> None:
    damage(results / FILE)
    with pytest.raises(ValueError, match=message):
        results_pages(results)


@pytest.mark.parametrize(
    ("text", "written"),
    [
        ("<script>`x`</script>", "&lt;script&gt;\\`x\\`&lt;/script&gt;"),
        ("~~~ $x$", "\\~\\~\\~ \\$x\\$"),
        ("a|b\nc", "a\\|b c"),
    ],
)
def test_nothing_in_a_figure_is_markup(results: Path, text: str, written: str) -> None:
    finding = {"what": text, "paper": text, "ours": text}
    damaged_part(results / FILE, "exhibits", title=text, caption=text, findings=[finding])
    page = results_pages(results)["gondal2021.md"]
    assert page.count(written) == 6
    assert f"| {written} | {written} | {written} |\n" in page
    assert text not in page


@pytest.mark.parametrize("text", ["# x", "- x", "+ x", "12. x", "3) x", "=== x", "---"])
def test_a_caption_begins_no_heading_and_no_list(results: Path, text: str) -> None:
    damaged_part(results / FILE, "exhibits", caption=text)
    page = results_pages(results)["gondal2021.md"]
    sign = next(sign for sign in text if not sign.isdigit())
    assert f"\n{text.replace(sign, chr(92) + sign, 1)}\n" in page
    assert f"\n{text}\n" not in page
