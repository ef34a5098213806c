"""The page of results is made from the exported records and from nothing else."""

import json
import re
from pathlib import Path

import numpy as np
import pytest

from farfield.experiments import Experiment, array_digest
from farfield.reports import export, load_export, results_page
from farfield.reports._export._images import PAPER_DIGEST
from farfield.reports._tables import _levels
from farfield.reproductions import TABLES, Budget
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


def disagreement(results: Path, page: Path) -> str:
    """What is wrong between the exported records and the page; empty if nothing."""
    if not page.exists():
        return "there are results but no page" if any(results.rglob("*.jsonl")) else ""
    fresh = results_page(results)
    return "" if page.read_text(encoding="utf-8") == fresh else "the page is not that of results/"


def test_the_committed_page_is_that_of_the_committed_records(monkeypatch):
    """`farfield report --export` writes both, with floors and ceilings: no problem is drawn."""
    monkeypatch.setattr(_levels, "_ceiling", None)
    monkeypatch.delenv("FARFIELD_DATA", raising=False)
    assert disagreement(CHECKOUT / "results", CHECKOUT / "docs" / "results.md") == ""


def test_a_network_that_diverged_is_named_and_the_others_are_shown(tmp_path):
    whole = at(Budget.PAPER)

    def find(claim):
        found = whole(claim)
        return made_up.diverged(found, seed=3, step=7) if claim is TABLE.claims[0] else found

    export(TABLE, find, tmp_path)
    page = results_page(tmp_path)
    first = TABLE.claims[0]
    assert f"- Diverged: {first.row}, {first.column}: seed 3 at step 7.\n" in page
    assert "(9 of 10, 1 diverged)" in page
    assert page.count("| diverged |") == 1
    assert page.count("(10) |") == 3 + 2  # published of all three, ours of two


def test_disagreement_is_noticed(tmp_path):
    results, page = tmp_path / "results", tmp_path / "results.md"
    assert disagreement(results, page) == ""
    export(TABLE, at(Budget.PAPER), results)
    assert disagreement(results, page) == "there are results but no page"
    page.write_text(results_page(results), encoding="utf-8")
    assert disagreement(results, page) == ""
    export(TABLE, at(Budget.PAPER, shift=1.0), results)
    assert disagreement(results, page) == "the page is not that of results/"


def test_without_records_the_page_says_so(tmp_path):
    assert "Nothing has been run yet." in results_page(tmp_path)
    assert results_page(tmp_path) == results_page(tmp_path / "absent")


def test_the_page_shows_what_was_run(tmp_path):
    export(TABLE, at(Budget.PAPER), tmp_path)
    page = results_page(tmp_path)
    assert "## webb2021/table-9" in page
    assert "### All of the paper's steps, built-in images" in page
    assert "3 of 80 cells run:" in page
    assert "| ESBN + TCN, m = 98 | 100.0 ± 0.0 (10) | 95.0 ± 0.1 (10) | −5.0 [" in page
    assert "LSTM, m = 98" not in page
    assert "commit 0123456789ab" in page


def test_a_line_at_the_top_leads_to_every_table_and_budget(tmp_path):
    table = TABLES["webb2021/table-11"].select(*made_up.three("withheld-95"))
    export(table, at(Budget.QUICK), tmp_path)
    export(table.select("esbn+tcn*"), at(Budget.PAPER), tmp_path)
    head, _, rest = results_page(tmp_path).partition("\n## webb2021/table-11\n")
    lines = [line.split(" | ") for line in head.splitlines() if line.startswith("| [")]
    assert [line[0] for line in lines] == ["| [webb2021/table-11](#webb2021table-11)"] * 2
    assert [line[2:5] for line in lines] == [
        ["100 %", "1 of 64", "10"],
        [f"{100 * table.claims[0].quick:.2g} %", "3 of 64", "30"],
    ]
    assert all(f"cells run: {line[5].removesuffix(' |')}." in rest for line in lines)


def test_budgets_have_sections_of_their_own(tmp_path):
    table = TABLES["webb2021/table-11"].select(*made_up.three("withheld-95"), "esbn/withheld-0")
    export(table, at(Budget.QUICK), tmp_path)
    export(table.select("esbn+tcn*"), at(Budget.PAPER), tmp_path)
    page = results_page(tmp_path)
    share = f"{100 * table.claims[0].quick:.2g} % of the paper's steps"
    whole, quick = page.index("All of the paper's steps"), page.index(share)
    assert whole < quick
    assert page[whole:quick].count("| ESBN + TCN, m = 95 |") == 1
    assert page[quick:].count(" m = 95 |") == 3
    assert "--budget paper`" in page[whole:quick]
    assert "--budget paper`" not in page[quick:]


def test_steps_that_the_paper_does_not_say_are_planned_ones(tmp_path):
    export(LOSS, at(Budget.QUICK, shift=60.0), tmp_path)
    page = results_page(tmp_path)
    assert "\n### 20 % of the planned steps\n" in page
    assert "of the paper's steps" not in page.replace("of the paper's training steps", "")


def test_notes_stand_above_the_table_they_are_about(tmp_path):
    export(TABLE, at(Budget.PAPER), tmp_path)
    export(LOSS, at(Budget.QUICK, shift=60.0), tmp_path)
    page = results_page(tmp_path)
    _, second, first = re.split(r"\n## (?:lamb2022|webb2021)/.*\n", page)
    assert (first.count("lies within ±2;"), first.count("lies within ±0.05;")) == (1, 0)
    assert (second.count("lies within ±2;"), second.count("lies within ±0.05;")) == (0, 1)
    assert page.count("Floor: answers that ignore the problem.") == 1


def test_what_was_tuned_stands_above_the_table(tmp_path):
    export(TABLE, at(Budget.PAPER), tmp_path)
    assert "Tuned" not in results_page(tmp_path)
    export(LOSS, at(Budget.QUICK, shift=60.0), tmp_path)
    assert results_page(tmp_path).count("\n- Tuned: nothing; learning rate, ") == 1


def test_several_machines_are_named_with_their_cells(tmp_path):
    (path,) = export(TABLE, at(Budget.PAPER), tmp_path)
    alone = results_page(tmp_path)
    assert alone.count("Trained on: ") == alone.count("commit 0123456789ab.") == 1
    change_second_line(path, lambda record: record["environment"].update(commit="fedcba987654"))
    cell = load_export(path)[1].cell
    row = TABLE.cells[cell].row
    page = results_page(tmp_path)
    assert f"commit fedcba987654 ({row}).\n" in page
    rows = dict.fromkeys(claim.row for claim in TABLE.claims)
    assert f"commit 0123456789ab ({'; '.join(rows)}).\n" in page


def test_a_machine_of_some_columns_is_named_with_these(tmp_path):
    table = TABLES["webb2021/table-9"].select("esbn+tcn/withheld-98", "esbn+tcn/withheld-95")
    (path,) = export(table, at(Budget.PAPER), tmp_path)
    change_second_line(path, lambda record: record["environment"].update(commit="fedcba987654"))
    claim = table.cells[load_export(path)[1].cell]
    assert f"commit fedcba987654 ({claim.row}: {claim.column}).\n" in results_page(tmp_path)


def test_a_table_of_several_tasks_has_a_heading_for_each(tmp_path):
    table = TABLES["webb2021/beyond"].select("*/corelnet-rand+tcn/*")
    export(table, at(Budget.PAPER), tmp_path)
    page = results_page(tmp_path)
    assert "### All of the planned steps, built-in images" in page
    subjects = [claim.subject for claim in table.claims]
    places = [page.index(f"**{subject}**\n\n| cell |") for subject in subjects]
    assert len(subjects) == 4
    assert places == sorted(places)
    assert page.count("| CoRelNet (rand) + TCN, m = 9") == 4


def test_steps_that_were_rounded_do_not_split_a_budget(tmp_path):
    table = TABLES["webb2021/table-12"].select(*made_up.three("withheld-95"))
    shares = {
        claim.at(Budget.QUICK).recipe.steps / claim.experiment.recipe.steps
        for claim in table.claims
    }
    assert len(shares) > 1
    export(table, at(Budget.QUICK), tmp_path)
    assert results_page(tmp_path).count("of the paper's steps, built-in images") == 1


def test_other_images_have_sections_of_their_own(tmp_path):
    images = np.random.default_rng(0).integers(0, 255, (100, 32, 32), dtype=np.uint8)
    export(TABLE, at(Budget.PAPER), tmp_path)
    changed = TABLE.with_task(shapes=GlyphSet(images))
    export(changed, at(Budget.PAPER), tmp_path)
    page = results_page(tmp_path)
    assert page.count("### All of the paper's steps, built-in images") == 1
    assert page.count("### All of the paper's steps, own images ") == 1
    assert len(load_export(tmp_path / "webb2021" / "table-9.jsonl")) == 60


def test_where_no_images_are_shown_none_are_named(tmp_path):
    export(TABLES["lamb2022/copying"].select("lstm-600/*"), at(Budget.PAPER), tmp_path)
    page = results_page(tmp_path)
    tables = page.partition("\n## lamb2022/copying\n")[2]
    assert "\n### All of the planned steps\n" in tables
    assert "images" not in tables


def test_the_paper_s_images_are_known_by_their_bytes(data_folder, tmp_path):
    shapes = GlyphSet.paper(data_folder)
    assert array_digest(shapes.images) == PAPER_DIGEST
    export(TABLE.with_task(shapes=shapes), at(Budget.PAPER), tmp_path)
    page = results_page(tmp_path)
    assert "### All of the paper's steps, the paper's own images" in page
    assert page.count(" --images paper` |") == len(TABLE.claims)


def test_what_a_record_says_of_its_machine_is_no_markup(tmp_path):
    (path,) = export(TABLE, at(Budget.PAPER), tmp_path)
    engine = "<script>a & b</script>\n# Hi\r\n\x1b\u2028[link](x) `c\\` **d** a_b | e"
    change_second_line(path, lambda record: record["environment"].update(engine=engine))
    page = results_page(tmp_path)
    assert (
        "engine &lt;script&gt;a &amp; b&lt;/script&gt; # Hi \\[link\\](x) \\`c\\\\\\` "
        "\\*\\*d\\*\\* a\\_b \\| e, torch 2.13.0"
    ) in page
    assert "<script>" not in page
    assert "\n# Hi" not in page


def test_a_file_of_no_table_is_refused(tmp_path):
    (path,) = export(TABLE, at(Budget.PAPER), tmp_path)
    path.rename(path.with_name("table-99.jsonl"))
    with pytest.raises(ValueError, match=r"table-99.jsonl: unknown table 'webb2021/table-99'"):
        results_page(tmp_path)


def test_a_cell_of_no_table_is_refused(tmp_path):
    (path,) = export(TABLE, at(Budget.PAPER), tmp_path)
    text = path.read_text(encoding="utf-8")
    path.write_text(text.replace('"cell":"lstm+tcn', '"cell":"ltsm+tcn'), encoding="utf-8")
    with pytest.raises(
        ValueError, match=r"table-9.jsonl, line \d+: unknown cell .* 'lstm\+tcn/withheld-98'"
    ):
        results_page(tmp_path)


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
        results_page(tmp_path)


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
        results_page(tmp_path)


def test_what_papers_say_of_several_cells_stands_before_the_tables(tmp_path):
    ours = TABLES["webb2020/table-4"]
    scores = {"Batch norm. (train stats)": 0.05, "Batch norm.": 0.01}

    def find(claim):
        mean = scores.get(claim.row, 0.005)
        steps = claim.experiment.recipe.steps
        return made_up.records(claim, [99 * mean, 100 * mean, 101 * mean], steps=steps)

    export(ours, find, tmp_path)
    page = results_page(tmp_path)
    said, tables = page.partition("\n## webb2020/table-4\n")[::2]
    assert "\n## What the papers say in words\n" in said
    assert "What the papers say" not in tables
    lines = {line.split(" | ")[0]: line for line in said.splitlines() if line.startswith("| ")}
    (ten, *_) = [line for name, line in lines.items() if "statistics of training" in name]
    assert "| 9.05 × | 10.00 × \\[" in ten
    assert "\\] | reproduced | all of the interval is what the words allow |" in ten
    assert "nearly ten times as high" in ten
    (seven, *_) = [line for name, line in lines.items() if "statistics of the test" in name]
    assert "| 1.70 × | 2.00 × \\[" in seven
    assert "| direction only |" in seven
    (unbuilt, *_) = [line for name, line in lines.items() if "Regimes of Table 2" in name]
    assert "| needs data | 0 of 28 cells run; needs the PGM files" in unbuilt


def test_what_is_said_does_not_depend_on_the_data_of_the_machine(tmp_path, monkeypatch):
    monkeypatch.setenv("FARFIELD_DATA", str(tmp_path / "none"))
    export(TABLE, at(Budget.PAPER), tmp_path)
    without = results_page(tmp_path)
    (tmp_path / "data" / "analogies").mkdir(parents=True)
    for half in ("train", "test"):
        (tmp_path / "data" / "analogies" / f"analogy_extrapolation_{half}_lbc_0.npz").touch()
    monkeypatch.setenv("FARFIELD_DATA", str(tmp_path / "data"))
    assert results_page(tmp_path) == without
