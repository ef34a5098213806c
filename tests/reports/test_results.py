"""The pages of results are made from the exported records and from nothing else."""

import csv
import dataclasses
import fnmatch
import io
import json
import os
from pathlib import Path

import numpy as np
import pytest
from scipy import stats

from each import each
from farfield.experiments import ByHand, Experiment, Recipe
from farfield.experiments.internal import array_digest
from farfield.reports import export
from farfield.reports._export._export import load_reasons, options_of
from farfield.reports._export._figure_export import PAPER_DIGEST
from farfield.reports._export._index import goals_of_table, goals_page
from farfield.reports._export._recorded import Recorded, recorded_reports
from farfield.reports._report._levels import Levels
from farfield.reports.internal import load_export, results_pages
from farfield.reproductions import TABLES, Budget, Table, Unpublished, Verdict
from farfield.reproductions.internal import Confirmation
from farfield.tasks import GlyphSet
from reproductions import made_up

CHECKOUT = Path(__file__).resolve().parents[2]
TABLE = TABLES["webb2021/table-9"].select(*made_up.three("withheld-98"))
LOSS = TABLES["lamb2022/table-1-copying"].select("lstm-600/dormant-200")


def at(budget, shift=0.0):
    def find(claim):
        mean = made_up.number_of(claim) - 5.0 + shift
        steps = claim.at(budget).recipe.steps
        return made_up.records(claim, made_up.spread_out(mean, 0.1), steps=steps)

    return find


def disagreement(results: Path, pages: Path) -> list[str]:
    """Files of the pages that are not what the exported records give."""
    fresh = results_pages(results)
    there = {path.name: path.read_text(encoding="utf-8") for path in pages.glob("*")}
    return sorted(name for name in {*fresh, *there} if fresh.get(name) != there.get(name))


def runs(content: str) -> list[dict[str, str]]:
    """The lines of a table of all runs."""
    return list(csv.DictReader(io.StringIO(content)))


def test_disagreement_is_noticed(tmp_path):
    results, pages = tmp_path / "results", tmp_path / "pages"
    pages.mkdir()
    export(TABLE, at(Budget.PAPER), results)
    for name, content in results_pages(results).items():
        (pages / name).write_text(content, encoding="utf-8")
    assert disagreement(results, pages) == []
    (pages / "old.md").touch()
    export(TABLE, at(Budget.PAPER, shift=1.0), results)
    assert disagreement(results, pages) == ["old.md", "webb2021.csv", "webb2021.md"]


def test_a_network_that_diverged_is_named_and_the_others_are_shown(tmp_path):
    whole = at(Budget.PAPER)

    def find(claim):
        found = whole(claim)
        return made_up.diverged(found, seed=3, step=7) if claim is TABLE.claims[0] else found

    export(TABLE, find, tmp_path)
    page = results_pages(tmp_path)["webb2021.md"]
    first = TABLE.claims[0]
    assert f"- table-9: Diverged: {first.row}, {first.column}: seed 3 at step 7.\n" in page
    assert page.count("(9 of 10, 1 diverged) !") == 1


def test_without_records_nothing_is_run(tmp_path):
    pages = results_pages(tmp_path)
    assert pages == results_pages(tmp_path / "absent")
    lines = pages["index.md"].splitlines()
    assert "| [webb2021](webb2021.md) | 30 | 19 | 376 | 376 | 376 | 0 | 0 | 0 |" in lines
    assert "| [gondal2021](gondal2021.md) | 12 | 10 | 60 | 60 | 40 | 0 | 0 | 0 |" in lines
    assert "| [webb2021](webb2021.md) | – | – | – | – | – | – |" in lines
    assert "| Table 9 | 70 | table-9 | none, of 80 | not planned yet | – |" in pages["webb2021.md"]
    assert runs(pages["webb2021.csv"]) == []


def test_cells_stand_in_the_rows_and_columns_of_the_paper_below_its_numbers(tmp_path):
    export(TABLE, at(Budget.PAPER), tmp_path)
    page = results_pages(tmp_path)["webb2021.md"]
    (rest,) = page.split("\n## table-9\n")[1:]
    head, _, first, second, *_ = [line for line in rest.splitlines() if line.startswith("|")]
    assert head == "|  | m = 0 | m = 50 | m = 85 | m = 95 | m = 98 |"
    print_alone = "100.0 ± 0.0<br>–"
    strip = "<br>`◂···░░░│░░░····`"
    assert (
        first
        == f"| ESBN + TCN |{4 * f' {print_alone} |'} 100.0 ± 0.0<br>95.0 ± 0.1 (10) ✗{strip} |"
    )
    assert second.startswith("| ESBN | 50.0 ± 0.02<br>– |")


def test_of_a_share_of_the_steps_the_share_is_shown_and_the_number_is_in_the_runs(tmp_path):
    table = TABLES["webb2021/table-11"].select(*made_up.three("withheld-95"))
    export(table, at(Budget.QUICK), tmp_path)
    export(table.select("esbn+tcn*"), at(Budget.PAPER), tmp_path)
    pages = results_pages(tmp_path)
    share = f"{100 * table.claims[0].quick:.2g} %"
    assert "| Table 11 | 56 | table-11 | 1 in full, 2 in part, of 64 |" in pages["webb2021.md"]
    assert pages["webb2021.md"].count(f"<br>{share} ◔ |") == 2
    assert "| 376 | 376 | 376 | 1 | 2 | 0 |" in pages["index.md"]
    assert f"| {20 * '░'} 1 ✗ | 0 | 1 of 1 | 0.1 | – | – |" in pages["index.md"]  # 5 in 100 of 1
    found = runs(pages["webb2021.csv"])
    assert [(line["row"], line["verdict"]) for line in found] == [
        ("ESBN + TCN", "not reproduced"),
        *[(claim.row, "underpowered") for claim in table.claims],
    ]
    assert all(float(line["mean"]) > 0 and line["trained on"] for line in found)
    assert ["--budget paper" in line["command"] for line in found] == [True, False, False, False]


def test_numbers_for_which_nothing_is_trained_are_counted_apart(tmp_path):
    table = TABLES["ren2017/table-6"].select("psnr-x3/bicubic/*", "psnr-x3/srcnn/*")
    export(table, at(Budget.PAPER), tmp_path)
    lines = results_pages(tmp_path)["index.md"].splitlines()
    link = "| [ren2017](ren2017.md) |"
    assert f"{link} 15 | 12 | 194 | 183 | 183 | 1 | 0 | 1 |" in lines
    assert f"{link} {20 * '░'} 1 ✗ | 0 | 1 of 1 | 0.1 | 1 ✗ | – |" in lines


@pytest.mark.parametrize(
    ("percent", "by_hand", "sign", "confirmation"),
    [
        (100.0, [], "✦", "no row by hand has run, no confirmation is named"),
        (100.0, [50.0], "✦", "no confirmation is named"),
        (100.0, [100.0], "✧", "–"),
        (50.0, [], "☆", "–"),
    ],
)
def test_a_goal_is_shown_with_what_its_star_lacks(tmp_path, percent, by_hand, sign, confirmation):
    key, cells = "webb2021/beyond", ("esbn-conv+whitening", "by-hand")
    table = TABLES[key].select(*(f"same-different/{one}/withheld-98" for one in cells))
    found = dict(
        zip((claim.name for claim in table.claims), ([percent] * 20, by_hand), strict=True)
    )

    def find(claim):
        steps = claim.experiment.recipe.steps
        return made_up.records(claim, found[claim.name], steps=steps)

    export(table, find, tmp_path)
    reports = recorded_reports(table, tmp_path / f"{key}.jsonl", Levels())
    link, shown = f"[{key}](webb2021.md#beyond)", "ESBN (conv) + whitening, m = 98"
    assert goals_of_table(key, reports) == [[link, sign, shown, "first recipe", confirmation]]


def test_every_goal_is_shown_with_its_scores(tmp_path):
    """Of two networks with an interval, of one without; a goal without a record is not run."""
    table = TABLES["webb2021/not-identical"].select("same-different/likenessnet-pose/*")
    two, one = (claim.name for claim in table.claims)
    percents = {two: [90.0, 92.0], one: [70.0]}

    def find(claim):
        steps = claim.experiment.recipe.steps
        return made_up.records(claim, percents[claim.name], steps=steps)

    export(table, find, tmp_path)
    lines = goals_page(Recorded(tmp_path)).splitlines()
    key, name = "webb2021/not-identical", "LikenessNet (pose)"
    first = f"| {key} | Same/different: {name}, noise-16-shift-2-size-15-turn-15 | ≥ 95.0 | "
    second = f"| {key} | Same/different: {name}, noise-16-shift-2-font | ≥ 80.0 | "
    low, high = stats.t.interval(0.95, 1, 91, 1)
    found = {line.partition(" | underpowered |")[0] for line in lines}
    assert f"{first}91.0 ± 1.0 (2) \\[{max(low, 0):.1f}, {min(high, 100):.1f}\\]" in found
    assert f"{second}70.0 (1)" in found
    other = "Identity rules"
    assert f"{first.replace('Same/different', other)}– | not run |" in lines
    goals = [
        claim for table in TABLES.values() for claim in table.claims
        if isinstance(claim.published, Unpublished) and claim.published.goal is not None
    ]  # fmt: skip
    assert sum("≥" in line or "≤" in line for line in lines) == len(goals)


def test_a_reason_stands_for_all_cells_that_it_names(tmp_path):
    table = TABLES["webb2021/table-9"].select("esbn+tcn/*")
    export(table, at(Budget.PAPER), tmp_path)
    (tmp_path / "reasons.toml").write_text(
        '[[reason]]\ncells = ["*-0", "*/esbn+tcn/withheld-9?"]\nwhy = "they differ"\n',
        encoding="utf-8",
    )
    lines = results_pages(tmp_path)["index.md"].splitlines()
    link = "- [webb2021/table-9](webb2021.md#table-9) ESBN + TCN, m ="
    assert f"{link} 0, ESBN + TCN, m = 95, ESBN + TCN, m = 98: they differ." in lines
    (left,) = [line for line in lines if line.startswith(f"{link} 50, ESBN + TCN, m = 85: ")]
    assert left.endswith("; no reason is known.")


def test_a_damaged_reason_is_refused(tmp_path):
    (tmp_path / "reasons.toml").write_text("[[reason]]\ncells = 3\n", encoding="utf-8")
    with pytest.raises(ValueError, match=r"reasons\.toml: not a list of notes: .*cells"):
        results_pages(tmp_path)
    os.truncate(tmp_path / "reasons.toml", 1 << 40)
    with pytest.raises(ValueError, match=r"reasons\.toml: not a list of notes: .* at most"):
        results_pages(tmp_path)


def test_every_reason_is_of_cells_that_exist():
    names = [claim.name for table in TABLES.values() for claim in table.claims]
    for reason in load_reasons(CHECKOUT / "results"):
        assert [one for one in reason.cells if not fnmatch.filter(names, one)] == []


@each(
    "words, found",
    {
        "alone": (
            "--budget paper --cell a/* b/*",
            {"--budget": ["paper"], "--cell": ["a/*", "b/*"]},
        ),
        "twice": ("--cell a/* --seeds 2 --cell=b/*", {"--cell": ["a/*", "b/*"], "--seeds": ["2"]}),
        "none": ("", {}),
    },
)
def test_an_option_of_a_wanted_run_may_have_several_values(words, found):
    assert options_of(words.split()) == found


def test_a_wanted_run_has_values_behind_options_alone():
    with pytest.raises(ValueError, match=r"words must begin with an option, got 'a/\*'"):
        options_of(["a/*", "--cell", "b/*"])


def test_a_wanted_run_is_named_with_its_time_where_its_networks_lack(tmp_path):
    wanted = (
        ("webb2020/table-1 --budget paper --cell context-norm/*", 90, "cpu", "first"),
        ("webb2020/table-1 --budget paper", 7200, "cuda", "all"),
    )
    (tmp_path / "wanted.toml").write_text(
        "".join(
            f'[[run]]\ncommand = "farfield reproduce {words}"\nminutes = {minutes}\n'
            f'device = "{device}"\nwhy = "{why}"\n'
            for words, minutes, device, why in wanted
        ),
        encoding="utf-8",
    )
    page = results_pages(tmp_path)["webb2020.md"]
    assert "| table-1 | none, of 66 | wanted: all | 120 h of a GPU |" in page
    assert "| Table S1 | 24 | table-s1 | none, of 24 | wanted: first | 2 h of a CPU core |" in page


def test_steps_that_the_paper_does_not_say_are_said_to_be_planned(tmp_path):
    export(LOSS, at(Budget.QUICK, shift=60.0), tmp_path)
    page = results_pages(tmp_path)["lamb2022.md"]
    said = page.partition("\n## table-1-copying\n")[2].partition("\n## ")[0]
    assert "The paper does not say how long it trains." in said


def test_notes_stand_once_with_the_tables_that_they_are_about(tmp_path):
    export(TABLE, at(Budget.PAPER), tmp_path)
    export(LOSS, at(Budget.QUICK, shift=60.0), tmp_path)
    pages = results_pages(tmp_path)
    assert pages["webb2021.md"].count("- table-9: Reproduced: the 95 % interval") == 1
    assert pages["lamb2022.md"].count("- table-1-copying: Tuned: nothing; learning rate, ") == 1
    assert "Tuned" not in pages["webb2021.md"]


def test_several_machines_are_named_with_their_cells(tmp_path):
    (path,) = export(TABLE, at(Budget.PAPER), tmp_path)
    change_second_line(path, lambda record: record["environment"].update(commit="fedcba987654"))
    changed = load_export(path)[1].cell
    for line in runs(results_pages(tmp_path)["webb2021.csv"]):
        assert "commit release" in line["trained on"]
        assert ("commit fedcba987654" in line["trained on"]) == (line["cell"] == changed)


def test_a_table_of_several_tasks_has_a_grid_for_each(tmp_path):
    table = TABLES["webb2021/beyond"].select("*/corelnet-rand+tcn/*")
    export(table, at(Budget.PAPER), tmp_path)
    page = results_pages(tmp_path)["webb2021.md"].partition("\n## beyond\n")[2]
    subjects = [claim.subject for claim in table.claims]
    places = [page.index(f"**{subject}**\n\n|  | m = 9") for subject in subjects]
    assert len(subjects) == 4
    assert places == sorted(places)
    assert page.count("\n| CoRelNet (rand) + TCN | ") == 4


def test_steps_that_were_rounded_do_not_split_a_budget(tmp_path):
    table = TABLES["webb2021/table-12"].select(*made_up.three("withheld-95"))
    shares = {
        claim.at(Budget.QUICK).recipe.steps / claim.experiment.recipe.steps
        for claim in table.claims
    }
    assert len(shares) > 1
    export(table, at(Budget.QUICK), tmp_path)
    assert len(Recorded(tmp_path).reports["webb2021/table-12"]) == 1


def test_other_images_have_grids_of_their_own(tmp_path):
    images = np.random.default_rng(0).integers(0, 255, (100, 32, 32), dtype=np.uint8)
    export(TABLE, at(Budget.PAPER), tmp_path)
    changed = TABLE.with_task(shapes=GlyphSet(images))
    export(changed, at(Budget.PAPER), tmp_path)
    pages = results_pages(tmp_path)
    assert pages["webb2021.md"].count("\nOn own images ") == 1
    shown = [line["images"] for line in runs(pages["webb2021.csv"])]
    assert [shown.count(images) for images in dict.fromkeys(shown)] == [3, 3]
    assert len(load_export(tmp_path / "webb2021" / "table-9.jsonl")) == 60


def test_a_confirmation_on_other_images_counts_for_the_goal_on_the_built_in_ones(tmp_path):
    goal = made_up.unpublished(goal=99.5)
    named = Confirmation(by="ours/withheld-95", recipe=goal.recipe_digest)
    own = dataclasses.replace(goal.published, confirmation=named)
    other = made_up.claim(row="Ours", withheld=95)
    task = dataclasses.replace(other.experiment.task, shapes=GlyphSet.letters())
    other = dataclasses.replace(
        other,
        published=goal.published,
        experiment=dataclasses.replace(other.experiment, task=task),
        free=(),
    )
    goal = dataclasses.replace(goal, published=own)
    rule = dataclasses.replace(
        made_up.unpublished(),
        row="By hand",
        experiment=dataclasses.replace(goal.experiment, model=ByHand(), recipe=Recipe(steps=1)),
    )
    table = Table(key="webb2021/table-9", title="", claims=(goal, other, rule))
    found = {
        claim.name: made_up.records(claim, percents, steps=claim.experiment.recipe.steps)
        for claim, percents in ((goal, [99.9] * 20), (other, [99.9] * 20), (rule, [50.0] * 10))
    }
    export(table, lambda claim: found[claim.name], tmp_path)
    reports = recorded_reports(table, tmp_path / "webb2021" / "table-9.jsonl", Levels())
    assert [
        (kind.images, row.claim.regime, row.judgement.verdict)
        for kind, report in reports.items()
        for row in report.rows
    ] == [
        ("", "withheld-95", Verdict.UNCONFIRMED),
        ("built-in images", "withheld-98", Verdict.REACHED),
        ("built-in images", "withheld-98", Verdict.MEASURED),
    ]
    assert [
        (sign, said) for _, sign, _, _, said in goals_of_table("webb2021/table-9", reports)
    ] == [
        ("★", "networks of ours/withheld-95"),
        ("✦", "no row by hand has run, no confirmation is named"),
    ]
    found[goal.name] = made_up.records(goal, [50.0] * 20, steps=goal.experiment.recipe.steps)
    export(table, lambda claim: found[claim.name], tmp_path)
    reports = recorded_reports(table, tmp_path / "webb2021" / "table-9.jsonl", Levels())
    assert ("☆", "–") in [
        (sign, said) for _, sign, _, _, said in goals_of_table("webb2021/table-9", reports)
    ]


def test_where_no_images_are_shown_none_are_named(tmp_path):
    export(TABLES["lamb2022/copying"].select("lstm-600/*"), at(Budget.PAPER), tmp_path)
    assert {line["images"] for line in runs(results_pages(tmp_path)["lamb2022.csv"])} == {""}


def test_the_paper_s_images_are_known_by_their_bytes(data_folder, tmp_path):
    shapes = GlyphSet.paper(data_folder)
    assert array_digest(shapes.images) == PAPER_DIGEST
    export(TABLE.with_task(shapes=shapes), at(Budget.PAPER), tmp_path)
    pages = results_pages(tmp_path)
    assert "\nOn the paper's own images:\n" in pages["webb2021.md"]
    lines = runs(pages["webb2021.csv"])
    assert all(line["command"].endswith(" --images paper") for line in lines)


def test_what_a_record_says_of_its_machine_stays_in_its_cell(tmp_path):
    (path,) = export(TABLE, at(Budget.PAPER), tmp_path)
    engine = 'a, "b"\n# Hi\r\n\x1b\u2028'
    change_second_line(path, lambda record: record["environment"].update(engine=engine))
    content = results_pages(tmp_path)["webb2021.csv"]
    assert len(content.splitlines()) == 1 + len(TABLE.claims)
    assert sum('a, "b"' in line["trained on"] for line in runs(content)) == 1


def test_a_file_of_no_table_is_refused(tmp_path):
    (path,) = export(TABLE, at(Budget.PAPER), tmp_path)
    path.rename(path.with_name("table-99.jsonl"))
    with pytest.raises(ValueError, match=r"table-99.jsonl: unknown table 'webb2021/table-99'"):
        results_pages(tmp_path)


def test_a_cell_of_no_table_is_refused(tmp_path):
    (path,) = export(TABLE, at(Budget.PAPER), tmp_path)
    text = path.read_text(encoding="utf-8")
    path.write_text(text.replace('"cell":"lstm+tcn', '"cell":"ltsm+tcn'), encoding="utf-8")
    with pytest.raises(
        ValueError, match=r"table-9.jsonl, line \d+: unknown cell .* 'lstm\+tcn/withheld-98'"
    ):
        results_pages(tmp_path)


def change_second_line(path, change):
    """Change the record in the second line, and give it the key of its experiment."""
    lines = path.read_text(encoding="utf-8").splitlines(keepends=True)
    content = json.loads(lines[1])
    change(content["record"])
    content["record"]["key"] = Experiment.key_of(content["record"]["experiment"])
    lines[1] = json.dumps(content) + "\n"
    path.write_text("".join(lines), encoding="utf-8")


def with_experiment(**changes):
    return lambda record: record["experiment"].update(changes)


def with_steps(steps):
    def change(record):
        record["steps"] = record["experiment"]["recipe"]["steps"] = steps

    return change


@pytest.mark.parametrize(
    "change, message",
    [
        (lambda record: record.update(experiment={}), "with recipe there, got {}"),
        (with_experiment(recipe=[]), r"with steps there, got \[\]"),
        (with_experiment(recipe={}), r"with steps there, got \{\}"),
        (with_experiment(recipe={"steps": True}), r"integer ≥ 1 as recipe\.steps, got True"),
        (with_experiment(recipe={"steps": "9"}), r"integer ≥ 1 as recipe\.steps, got '9'"),
        (with_experiment(starts_from=[]), r"with experiment there, got \[\]"),
        (with_experiment(starts_from={"experiment": {}}), "with recipe there, got {}"),
        (with_experiment(task="x"), "must be of its experiment, got another"),
        (with_experiment(task=[]), "must be of its experiment, got another"),
        (with_experiment(model=None), "must be of its experiment, got another"),
        (
            lambda record: record["experiment"]["task"].update(withheld=97),
            "must be of its experiment, got another",
        ),
        (
            lambda record: record.update(steps=1, scores=[]),
            "must be of its experiment, got another",
        ),
        (with_steps(2**63 - 1), "must be of its experiment, got another"),
        (with_steps(10**400), r"got 1 and 10+ … 0+; both below 2\*\*63"),
        (lambda record: record.update(scores=[]), "the score of .* is missing: .*no accuracy of"),
    ],
)
def test_records_of_another_experiment_are_refused(tmp_path, change, message):
    (path,) = export(TABLE, at(Budget.PAPER), tmp_path)
    change_second_line(path, change)
    with pytest.raises(ValueError, match=f"table-9.jsonl, line 2: .*{message}"):
        results_pages(tmp_path)


def test_records_that_do_not_belong_together_are_refused(tmp_path):
    table = TABLES["lamb2022/copying"].select("lstm-600/*")
    (path,) = export(table, at(Budget.PAPER), tmp_path)
    steps = table.claims[0].experiment.recipe.steps
    assert f"{(steps - 1) / steps:.3g}" == "1"

    def change(record):
        with_steps(steps - 1)(record)
        for score in record["scores"]:
            score["step"] = steps - 1

    change_second_line(path, change)
    with pytest.raises(ValueError, match=r"copying.jsonl: records of .* must be of one experiment"):
        results_pages(tmp_path)


def test_what_papers_say_of_several_cells_stands_behind_the_tables(tmp_path):
    ours = TABLES["webb2020/table-4"]
    scores = {"Batch norm. (train stats)": 0.05, "Batch norm.": 0.01}

    def find(claim):
        mean = scores.get(claim.row, 0.005)
        steps = claim.experiment.recipe.steps
        return made_up.records(claim, [99 * mean, 100 * mean, 101 * mean], steps=steps)

    export(ours, find, tmp_path)
    pages = results_pages(tmp_path)
    said = pages["webb2020.md"].partition("\n## In words\n")[2]
    lines = {line.split(" | ")[0]: line for line in said.splitlines() if line.startswith("| ")}
    (ten, *_) = [line for name, line in lines.items() if "statistics of training" in name]
    assert "| 9.05 × | 10.00 × \\[" in ten
    assert "\\] | reproduced | the words allow all of the interval |" in ten
    assert "nearly ten times as high" in ten
    (seven, *_) = [line for name, line in lines.items() if "statistics of the test" in name]
    assert "| 1.70 × | 2.00 × \\[" in seven
    assert "| direction only |" in seven
    assert "| needs data | 0 of 28 cells run; needs the PGM files" in pages["gondal2021.md"]


def test_what_is_said_does_not_depend_on_the_data_of_the_machine(tmp_path, monkeypatch):
    monkeypatch.setenv("FARFIELD_DATA", str(tmp_path / "none"))
    export(TABLE, at(Budget.PAPER), tmp_path)
    without = results_pages(tmp_path)
    (tmp_path / "data" / "analogies").mkdir(parents=True)
    for half in ("train", "test"):
        (tmp_path / "data" / "analogies" / f"analogy_extrapolation_{half}_lbc_0.npz").touch()
    monkeypatch.setenv("FARFIELD_DATA", str(tmp_path / "data"))
    assert results_pages(tmp_path) == without
