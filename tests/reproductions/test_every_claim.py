"""Checks of the claims of all papers: a new table needs a row in `DIFFERING`, and no test."""

from __future__ import annotations

import dataclasses
import math
import re
import tomllib
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator
from functools import cache
from importlib import import_module
from importlib.resources import files
from types import ModuleType

import pytest

from each import each
from farfield.experiments import ByHand, Experiment, Recipe
from farfield.reports import FIGURES, Figure
from farfield.reproductions import TABLES, Claim, Published, Table, Unpublished
from farfield.reproductions._by_paper import PAPERS
from farfield.reproductions.internal import PRINTED, STATEMENTS, Printed
from farfield.tasks import BouncingBalls


def module_of(paper: str) -> ModuleType:
    return import_module(f"farfield.reproductions.{paper}")


def published(key: str) -> list[Claim]:
    table = TABLES[key] if key in TABLES else FIGURES[key].table
    return [claim for claim in table.claims if isinstance(claim.published, Published)]


# --- Registries ----------------------------------------------------------------------------------


def test_registries_are_complete_and_keyed_by_name() -> None:
    papers = [module_of(paper) for paper in PAPERS]
    assert {table.key: table for paper in papers for table in paper.TABLES} == TABLES
    assert [one.key for paper in papers for one in paper.STATEMENTS] == [*STATEMENTS]
    bound = [v for paper in papers for v in vars(paper).values() if isinstance(v, Table)]
    assert [table.key for table in bound if TABLES[table.key] is not table] == []
    drawn = [import_module(f"farfield.reports._figures._{paper}") for paper in PAPERS]
    figures = [v for paper in drawn for v in vars(paper).values() if isinstance(v, Figure)]
    assert {figure.key: figure for figure in figures} == FIGURES
    assert not FIGURES.keys() & TABLES.keys()


@each("figure", FIGURES)
def test_every_cell_of_a_figure_is_that_of_its_own_table(figure: Figure) -> None:
    for claim in figure.table.claims:
        assert TABLES[claim.home].cells[claim.cell] == claim


@each("table", TABLES)
def test_a_claim_is_in_a_regime_of_its_experiment(table: Table) -> None:
    for claim in table.claims:
        assert claim.regime in {regime.name for regime in claim.experiment.regimes}, claim.name


SHARED = {
    "lamb2022/mixup-table-1a": 1,  # Input Mixup is quoted and run
    "lamb2022/mixup-table-1b": 1,
    "lamb2022/dispute": 3,  # two users ran one script
    "ren2017/settings": 6,  # σ and α vary from one setting
    "ren2017/settings-narrow": 3,
    "ren2017/ptb-table-7-released": 4,  # LN and LN-s have the penalty of LN +L1 and LN*
}
"""Number of cells of a table with experiment, regime and metric of another cell."""


@each("table", TABLES)
def test_every_claim_has_its_own_name_and_experiment(table: Table) -> None:
    assert len({claim.name for claim in table.claims}) == len(table.claims)
    built = [claim for claim in table.claims if not claim.unbuilt]
    own = {(claim.experiment, claim.regime, claim.metric) for claim in built}
    assert len(built) - len(own) == SHARED.get(table.key, 0)


# --- Published numbers ---------------------------------------------------------------------------

NUMBER = re.compile(r"\d+(?:\.\d+)?")


Rows = dict[str, list[list[str]]]
"""Published cells of the rows of a TSV, each as its numbers."""
FRACTIONS = {"ren2017/table-3", "ren2017/table-7-cifar"}
"""TSVs in percent whose page has fractions."""


@cache
def files_of(paper: str) -> dict[str, Rows]:
    """Rows of every TSV of a paper."""
    names = [file.name for file in files(module_of(paper)).iterdir()]
    return {
        f"{paper}/{name.removesuffix('.tsv')}": {
            row: [NUMBER.findall(cell) for cell in cells]
            for row, cells in module_of(paper).PAPER.numbers(name)[1].items()
        }
        for name in sorted(names)
        if name.endswith(".tsv")
    }


def on_page(name: str, cells: Iterable[list[str]]) -> list[list[str]]:
    """Cells with a number, in the digits of the page."""
    found = [cell for cell in cells if cell]
    if name in FRACTIONS:
        return [[f"0.{text.replace('.', '')}" for text in cell] for cell in found]
    return found


QUOTED = {"lamb2022/neighbors", "lamb2022/singular-values", "ren2017/figure-5"}
"""TSVs of numbers that figures quote; the numbers of all other TSVs are claims."""


@pytest.mark.parametrize("paper", PAPERS)
def test_every_published_number_is_a_claim(paper: str) -> None:
    tables = tomllib.loads(files(module_of(paper)).joinpath("claims.toml").read_text("utf-8"))
    used = set[str]()
    for key, table in tables.items():
        grids = (table, *table.get("grids", ()))
        names = {f"{paper}/{grid['numbers'][:-4]}" for grid in grids if "numbers" in grid}
        rows = [cells for name in names for cells in files_of(paper)[name].values()]
        cells = Counter(tuple(cell) for row in rows for cell in row if cell)
        if names:
            texts = [NUMBER.findall(str(claim.published)) for claim in published(f"{paper}/{key}")]
            assert Counter(map(tuple, texts)) == cells, key
        used |= names
    assert files_of(paper).keys() - used <= QUOTED


BETWEEN = {
    "lamb2022/ict-ablations": 11,
    "lamb2022/nfm-objects-text": 13,
    "lamb2022/nfm-text-images": 7,
    "ren2017/captions": 442,  # two figures
}
"""Largest number of other numbers between two cells of a TSV on the page, where it exceeds 4."""
ELSEWHERE = {
    *("lamb2022/dispute-copying", "lamb2022/dispute-digits"),
    *("lamb2022/domains-colored", "lamb2022/domains-rotated"),  # Gulrajani and Lopez-Paz 2021
}
"""TSVs of numbers that are not from the paper."""
THRICE = "webb2020/table-4"
"""TSV with one number of the page in its first three rows."""


def most_between(cells: list[list[str]], page: list[str]) -> float:
    """Largest number of other numbers between two cells of a page, where it is least."""
    ends = {}
    for number, cell in enumerate(cells):
        starts = [at for at in range(len(page)) if page[at : at + len(cell)] == cell]
        ends = {
            start + len(cell): min(
                (max(most, start - end) for end, most in ends.items() if end <= start),
                default=math.inf if number else 0,
            )
            for start in starts
        }
    return min(ends.values(), default=math.inf if cells else 0)


@pytest.mark.parametrize("paper", PAPERS)
def test_cells_of_a_file_follow_each_other_on_the_page(paper: str, paper_text) -> None:
    """Along the rows or down the columns."""
    page = NUMBER.findall(paper_text(paper))
    for name, rows in files_of(paper).items():
        lines = [*rows.values()][2 * (name == THRICE) :]
        orders = (
            [cell for row in some for cell in row] for some in (lines, zip(*lines, strict=True))
        )
        gaps = [most_between(on_page(name, order), page) for order in orders]
        assert name in ELSEWHERE or min(gaps) <= BETWEEN.get(name, 4), (name, gaps)


NAMED = (
    *("gondal2021/table-2", "lamb2022/ict-table-3", "lamb2022/nfm-table-2", "lamb2022/nfm-table-4"),
    *("ren2017/ptb-table-4", "ren2017/table-3", "ren2017/table-5", "ren2017/table-6"),
    *("ren2017/table-7-cifar", "ren2017/table-8"),
)
"""TSVs whose rows have the names of the page."""


def squeezed(text: str) -> str:
    """Letters and digits of a text."""
    return re.sub(r"\[\d+\]|\(ours\)|[^A-Za-z0-9]", "", text)


@each("name", NAMED)
def test_rows_are_those_of_the_page(name: str, paper_text) -> None:
    paper = name.partition("/")[0]
    page = squeezed(paper_text(paper))
    for row, cells in files_of(paper)[name].items():
        numbers = [number for cell in on_page(name, cells) for number in cell]
        assert squeezed(" ".join([row, *numbers])) in page, row


IN_WORDS = {
    "lamb2022/mixup-zeroed": ("this led to a {0}% test error",),
    "lamb2022/neighbors": ("{0}% (", "{1}% (", "{2}% ("),
    "lamb2022/nfm-gan-text": (
        "at each layer improved the FID to {0} and doubling",
        "number of layers improved the FID to {1}.",
    ),
    "lamb2022/nfm-objects-text": (
        "accuracy of {0} ± {1} on relational questions",
        "achieved an accuracy of {2} ± {3}",
        "{4} ± {5} (with NFM) and {6} ± {7} (without NFM)",
    ),
    "lamb2022/nfm-table-4": (
        "CIFAR-10 baseline had an FID of {16}",
        "reducing the FID to {24}",
    ),
    "lamb2022/nfm-table-9": ("outperform the baseline accuracy of {0}%",),
    "lamb2022/nfm-text-images": (
        "from {0}% (baseline) to {3}% (NFM)",
        "({1}% to {2}% test accuracy)",
    ),
    "lamb2022/nfm-text-rescaling": ("dropped from 96.56% to {0}%",),
    "ren2017/resnet": (
        "obtaining {0}% accuracy on CIFAR-10, and {1}% on CIFAR-100",
        "Our best DN model achieves {2}% and {3}%, respectively",
    ),
}
"""Sentences on the numbers of a TSV."""


@each("name, sentences", IN_WORDS.items())
def test_numbers_of_the_text_are_in_their_sentences(name: str, sentences, paper_text) -> None:
    paper = name.partition("/")[0]
    text = "".join(paper_text(paper).split())
    cells = [cell for row in files_of(paper)[name].values() for cell in row]
    numbers = [number for cell in cells for number in cell]
    for sentence in sentences:
        assert "".join(sentence.format(*numbers).split()) in text


SAMPLES = {
    "gondal2021/table-1/pre-training/new-points": "0.9983 of 1, r2",
    "gondal2021/table-1/cls-tokens/new-points": "0.9202 of 1, r2",
    "gondal2021/table-1/cls-tokens+type-inference/new-points": "0.9857 of 1, r2",
    "gondal2021/table-1/cls-tokens+type-inference+the-rest/new-points": "0.9953 of 1, r2",
    "gondal2021/table-2/attribute-pairs/wren/attrs.pairs": "27.2 of 1, accuracy",
    "gondal2021/table-2/triples/vae-wren/attr.rels": "24.6 of 1, accuracy",
    "gondal2021/table-2/triples/vit/attr.rels": "15.9 of 1, accuracy",
    "gondal2021/table-2/extrapolation/ni/validation": "91.8 of 1, accuracy",
    "gondal2021/table-2/extrapolation/ni/extrapolation": "19.4 of 1, accuracy",
    "webb2020/table-3/context-norm-source-target/extrapolation": "74.2 ± 0.81 of 5, accuracy",
    "webb2020/table-3/context-norm-entire-analogy/extrapolation": "67.6 ± 0.49 of 5, accuracy",
    "webb2020/table-3/batch-norm/extrapolation": "66.1 ± 0.53 of 5, accuracy",
    "webb2020/table-3/baseline-hill-et-al-2019/extrapolation": "62 ± 0.02 of 10, accuracy",
    "webb2020/table-4/context-norm-frames-so-far/width-13-31": "0.0056 ± 0.00010 of 3, mse",
    "webb2020/table-4/context-norm-frames-read/width-13-31": "0.0056 ± 0.00010 of 3, mse",
    "webb2020/table-4/context-norm-all-frames/width-13-31": "0.0056 ± 0.00010 of 3, mse",
    "webb2020/table-4/batch-norm/width-13-31": "0.0095 ± 0.00008 of 3, mse",
    "webb2020/table-4/batch-norm-train-stats/width-13-31": "0.0507 ± 0.00162 of 3, mse",
    "webb2020/table-4/no-norm/width-13-31": "0.0675 ± 0.00275 of 3, mse",
    "lamb2022/mixup-table-1a/error/preactresnet18-adamix/test": "3.52 of 1, error",
    "lamb2022/mixup-table-1a/error/preactresnet18-manifold-mixup/test": (
        "2.95 ± 0.046 SD of 5, error"
    ),
    "lamb2022/mixup-table-1a/nll/preactresnet18-manifold-mixup/test": (
        "0.137 ± 0.003 SD of 5, nll"
    ),
    "lamb2022/ict-table-1/cifar10-4000/ict/test": "7.29 ± 0.02 SD of 3, error",
    "lamb2022/nfm-table-4/tiny-imagenet-is/ssgan/training": (
        "9.11 ± 0.12 SD or SE of 3, is/inception-v3"
    ),
    "lamb2022/nfm-table-4/cifar10-fid/nfminfomax-gan/training": (
        "13.15 ± 0.06 SD or SE of 3, fid/inception-v3"
    ),
    "lamb2022/nfm-gan-text/cifar10-fid/infomax-gan-twice-the-layers/training": (
        "14.43 of 1, fid/inception-v3"
    ),
    "lamb2022/table-1-copying/rims-6-4-600/dormant-200": "0.00 of 3, loss",
    "lamb2022/table-1-copying/lstm-300/dormant-200": "4.32 of 3, loss",
    "lamb2022/table-1-copying/lstm-600/dormant-200": "3.56 of 3, loss",
    "lamb2022/table-1-copying/transformers/dormant-200": "0.54 of 3, loss",
    "lamb2022/table-1-digits/rims-6-4-600/side-16": "90.0 of 3, accuracy",
    "lamb2022/table-1-digits/transformers/side-16": "91.2 of 3, accuracy",
    "lamb2022/table-1-digits/rims-6-4-600/side-19": "73.4 of 3, accuracy",
    "lamb2022/table-1-digits/rims-6-4-600/side-24": "38.1 of 3, accuracy",
    "lamb2022/table-1-digits/lstm-600/side-24": "21.9 of 3, accuracy",
    "lamb2022/dispute/digits/rims-6-4-600-script/side-16": "78 of 1, accuracy",
    "lamb2022/dispute/digits/rims-6-4-600-script-second-user/side-16": "83.7 of 1, accuracy",
    "lamb2022/dispute/digits/rims-5-3-510-answer/side-16": "88 of 1, accuracy",
    "lamb2022/dispute/digits/rims-6-4-600-script/side-19": "55 of 1, accuracy",
    "lamb2022/dispute/digits/rims-6-4-600-script-second-user/side-19": "69.3 of 1, accuracy",
    "lamb2022/dispute/digits/rims-5-3-510-answer/side-19": "72 of 1, accuracy",
    "lamb2022/dispute/digits/rims-6-4-600-script/side-24": "33 of 1, accuracy",
    "lamb2022/dispute/digits/rims-6-4-600-script-second-user/side-24": "45.3 of 1, accuracy",
    "lamb2022/dispute/digits/rims-5-3-510-answer/side-24": "39 of 1, accuracy",
    "lamb2022/dispute/copying/lstm-300-script/training": "0.30 of 1, loss",
    "lamb2022/dispute/copying/rims-6-4-600-script/training": "1.26 of 1, loss",
    "lamb2022/dispute/copying/lstm-300-script/dormant-200": "0.09 of 1, loss",
    "lamb2022/dispute/copying/rims-6-4-600-script/dormant-200": "0.07 of 1, loss",
    "lamb2022/nfm-table-3/ms-pacman/rainbow-iqn/training": "6432 of 1, return",
    "lamb2022/nfm-table-3/ms-pacman/rainbow-iqn+nfm/training": (
        "6300 ± 3384 SD or SE of 2, return"
    ),
    "lamb2022/nfm-table-3/amidar/rainbow-iqn+nfm/training": "3948 ± 23 SD or SE of 2, return",
    "lamb2022/nfm-table-3/crazy-climber/rainbow-iqn/training": "333242 of 1, return",
    "lamb2022/nfm-table-5/trained-1-3/nfm/digits-2": "88.36 ± 0.85 SD or SE of 3, accuracy",
    "lamb2022/nfm-table-6/relational/cnn/new-images": "68.26 ± 0.61 SD of 3, accuracy/relational",
    "lamb2022/nfm-table-7/non-relational/relation-networks/withheld-pairs-2": (
        "43.33 ± 7.31 SD of 3, accuracy/non-relational"
    ),
    "lamb2022/nfm-table-8/mechanisms-2/nfm/test": "30.78 of 1, perplexity",
    "lamb2022/nfm-table-2/nfm/cifar-10-preresnet18/test": "96.56 ± 0.09 SD or SE of 5, accuracy",
    "lamb2022/nfm-table-2/nfm/imagenet-preresnet18/test": "77.1 of 1, accuracy",
    "ren2017/table-3/cifar10/dn-star/test": "81.22 of 1, accuracy",
    "ren2017/table-5/psnr-x3/dn-star/set14": "29.38 of 1, psnr",
    "ren2017/ptb-table-4/lstm/dn-star/test": "102.238 of 1, perplexity",
    "ren2017/ptb-table-7-released/relu-rnn/ln-s/test": "118.786 of 1, perplexity",
    "webb2021/table-9/esbn+tcn/withheld-98": "100.0 ± 0.0 of 10, accuracy",
    "webb2021/table-9/lstm/withheld-50": "97.0 ± 0.5 of 10, accuracy",
}
"""Some cells of every kind of number, typed from the page, with number of networks and metric."""


@each("name, number", SAMPLES.items())
def test_numbers_are_in_their_cells(name: str, number: str) -> None:
    found = {claim.name: claim for claim in published("/".join(name.split("/")[:2]))}
    claim = found[name]
    assert f"{claim.published} of {claim.published.runs}, {claim.metric}" == number


# --- Tables and figures of the papers ------------------------------------------------------------

SEVERAL = {
    "webb2020/Table 4": 6,  # a row is tested in three ways
    "lamb2022/Chapter 10, Table 7": 18,  # averages are statements
    "lamb2022/Chapter 10, Table 9": 13,  # the baseline is in the text
}
"""Number of published claims of a table, where it is not that of the page."""


@pytest.mark.parametrize("paper", PRINTED)
def test_every_key_is_one_and_no_published_number_is_left_out(paper: str) -> None:
    for one in PRINTED[paper]:
        keys = [f"{paper}/{key}" for key in one.keys]
        assert {*keys, *(f"{paper}/{key}" for key in one.instead)} <= TABLES.keys() | FIGURES.keys()
        claims = sum(len(published(key)) for key in keys)
        if "Table" in one.item:
            assert claims == SEVERAL.get(f"{paper}/{one.item}", one.numbers), one


def test_every_caption_has_its_entry(paper_text) -> None:
    for paper in ("webb2020", "gondal2021", "ren2017", "webb2021"):
        found = re.findall(r"(?m)^(Table|Figure) (S?\d+[abc]?)[.:] ", paper_text(paper))
        items = {one.item for one in PRINTED[paper]}
        missing = {f"{kind} {number}" for kind, number in found} - items
        assert missing <= {"Figure 5"}, (paper, missing)  # gondal2021 prints it as 5a, 5b and 5c


def test_an_item_has_claims_or_a_reason() -> None:
    with pytest.raises(ValueError, match="Table 1 must have keys or why"):
        Printed("Table 1", 3)


# --- Goals ---------------------------------------------------------------------------------------

GOALS = {
    "gondal2021/beyond": {
        0.9933: ("fuzzy/pre-training/*",),
        0.9152: ("fuzzy/cls-tokens/*",),
        0.9807: ("fuzzy/cls-tokens+type-inference/*",),
        0.9903: ("fuzzy/cls-tokens+type-inference+the-rest/*",),
        25: ("extrapolation/ni/*", "extrapolation/ni+tcn/*"),
    },
    "gondal2021/matrices-by-rule": {60: ("extrapolation/sets-of-figures/upper-half",)},
    "gondal2021/matrices-another-drawer": {
        60: ("sets-of-figures/*-figures", "sets-of-figures/wide-lines", "sets-*/another-drawer"),
    },
    "webb2020/beyond": {
        90: ("moments+context-norm/region-6", "moments+context-norm/region-1"),
        80: ("moments+context-norm/scale-6",),
    },
    "webb2020/clutter": {90: ("*/silhouettes-slot-by-slot/*",)},
    "webb2020/new-shapes": {95: ("moments+context-norm/*",)},
    "webb2020/direction": {90: ("candidates-one-selected/*",)},
    "lamb2022/two-moons": {100: ("1000-updates/vat/test",)},
    "lamb2022/beyond": {
        100: ("copying/holding-rnn*", "copying/ntm/*"),
        60: ("digits/*-read-at-14/side-24",),
    },
    "lamb2022/one-layer": {
        100: ("copying/one-layer/dormant-1000000",),
        0.05: ("adding/one-layer/terms-4",),
        0.01: ("adding/one-layer/length-10000",),
        60: ("sequential-mnist/one-layer/side-24",),
    },
    "lamb2022/digits-of-any-length": {85: ("*/cnn-rows-found/*",)},
    "lamb2022/seven-memories": {99.5: ("*/register-machine/length-100000",)},
    "lamb2022/state": {90: ("*/lstm/length-41-500",)},
    "lamb2022/nfm-beyond": {
        95: (
            "digits/presence-at-each-position/digits-2",
            "relational/named-object-whole/withheld-pairs-3",
        ),
        90: ("relational/named-object/new-images",),
        60: ("*relational/named-object/withheld-pairs-3",),
    },
    "ren2017/ptb-beyond": {95: ("ln-star-dropout-tied-weights-cache/cache-test",)},
    "webb2021/beyond": {99.5: ("*/esbn-conv+whitening/*",)},
    "webb2021/nine-tasks": {99.5: ("*/corelnet+whitening/*",)},
    "webb2021/not-identical": {
        95: ("*/likenessnet-pose/*-turn-15",),
        80: ("*/likenessnet-pose/*-font",),
    },
}
"""Every goal, by table, with patterns of its cells."""


def goals_of(key: str) -> dict[str, float]:
    """Goals of a table by cell."""
    return {
        claim.cell: claim.published.goal
        for claim in TABLES[key].claims
        if isinstance(claim.published, Unpublished) and claim.published.goal is not None
    }


def test_goals_are_set_and_no_others() -> None:
    told = {
        key: {
            cell: goal for goal, names in goals.items() for cell in TABLES[key].select(*names).cells
        }
        for key, goals in GOALS.items()
    }
    assert {key: goals for key in TABLES if (goals := goals_of(key))} == told


@pytest.mark.parametrize("key", GOALS)
def test_every_goal_has_a_row_by_hand(key: str) -> None:
    claims = TABLES[key].claims
    of_goals = [claim for claim in claims if claim.cell in goals_of(key)]
    bare = {c.experiment.task.name for c in of_goals if not c.by_hand(claims)}
    # No rule is known for stacked digits, and none for text; of neither goal has a network run.
    assert bare <= {"stacked-mnist", "word-text"}


def test_a_task_without_a_rule_is_refused() -> None:
    with pytest.raises(ValueError, match="task must be one for a ByHand, a AnswersByHand"):
        Experiment(task=BouncingBalls(), model=ByHand(), recipe=Recipe(steps=1))


# --- What rows of a table differ in --------------------------------------------------------------

DIFFERING = {
    "": (
        "gondal2021/matrices-another-drawer "
        "webb2020/table-s1 lamb2022/nfm-table-4 nfm-gan-text webb2021/table-13 table-14 "
        "webb2020/table-s1 direction lamb2022/nfm-table-4 nfm-gan-text webb2021/table-13 table-14 "
        "table-19 table-20 table-14-released"
    ),
    "batch_size objective": "lamb2022/domains domains-narrow domains-vaec",
    "clip_norm core model objective optimizer pace schedule steps": "lamb2022/digits-of-any-length",
    "context": "webb2020/table-3 table-3-generated table-2-pooled",
    "context core learning_rate model": "gondal2021/table-2-generated",
    "context core learning_rate model players starts_from steps task": "gondal2021/beyond",
    "context encoder": "webb2020/beyond",
    "context encoder model scorer task": "gondal2021/matrices-by-rule",
    "context encoder reasoner": (
        "webb2021/beyond variants nine-tasks not-identical variations handwriting"
    ),
    "context learning_rate objective reasoner": "webb2021/table-9 table-10",
    "context learning_rate objective reasoner steps": "webb2021/table-11 table-12",
    "context learning_rate objective reasoner steps task": "webb2021/hardest",
    "context learning_rate scorer steps": (
        "webb2020/table-1 table-2 table-1-released table-2-released table-2-multiplied"
    ),
    "context model objective reasoner": "lamb2022/mechanisms-and-rules",
    "context players": "webb2020/table-4",
    "context scorer": "webb2020/table-1-pooled",
    "core": (
        "lamb2022/table-1-copying table-1-digits copying ablations ablations-digits adding "
        "bouncing-balls figure-4-agents object-picking object-picking-narrow "
        "object-picking-beyond figure-5-agents nfm-table-8 nfm-table-9 ren2017/settings "
        "settings-narrow"
    ),
    "core dropout objective tied": "ren2017/ptb-beyond",
    "core encoder learning_rate": "lamb2022/dispute algorithms",
    "context reasoner": "webb2021/grids",
    "context encoder reasoner scorer": "webb2021/objects",
    "core learning_rate": "lamb2022/state",
    "core learning_rate model": "lamb2022/series",
    "core encoder learning_rate steps": "gondal2021/digits",
    "core encoder starts_from": "gondal2021/k-mnist",
    "core learning_rate objective": "ren2017/ptb-table-4 ptb-table-7 ptb-table-7-released",
    "core learning_rate players starts_from steps task": "gondal2021/table-1",
    "core learning_rate schedule side steps task": "lamb2022/beyond",
    "core objective": (
        "lamb2022/mixup-text ren2017/resnet resnet-narrow captions super-resolution-t91"
    ),
    "core objective optimizer": "lamb2022/spirals flattening ren2017/cifar-narrow",
    "core objective optimizer schedule steps": "ren2017/table-3",
    "core objective pace whole_periods": "lamb2022/one-layer",
    "core starts_from task": "lamb2022/seven-memories",
    "core objective perturbations schedule steps task": "lamb2022/nfm-table-2",
    "core objective schedule steps": (
        "lamb2022/mixup-table-1a mixup-table-1b mixup-table-2 ren2017/table-7-cifar"
    ),
    "batch_size core learning_rate objective optimizer steps task": (
        "ren2017/table-5 table-6 table-8"
    ),
    "core perturbations": "lamb2022/nfm-text-images nfm-images-narrow",
    "discriminator generator players": "lamb2022/nfm-gan-narrow nfm-gan-over-training",
    "encoder": "lamb2022/object-picking-values nfm-table-3 webb2020/new-shapes",
    "encoder learning_rate scorer": "webb2020/clutter",
    "encoder reasoner": "webb2021/table-15 table-16 table-17",
    "encoder reasoner steps": "webb2021/table-18",
    "maps passes reader": "lamb2022/nfm-objects-text",
    "maps reader": "lamb2022/nfm-beyond",
    "model": "gondal2021/table-2",
    "objective": (
        "lamb2022/mixup-table-3 mixup-table-4 mixup-table-5 mixup-table-6 mixup-table-7 "
        "mixup-narrow mixup-narrow-kmnist ict-table-2 ict-table-3 ict-ablations "
        "two-moons ict-narrow"
    ),
    "objective schedule steps": "lamb2022/ict-table-1",
    "objective reasoner": "lamb2022/mixup-elsewhere webb2021/table-9-released table-10-released",
    "objective reasoner steps": "webb2021/table-11-released table-12-released",
    "passes": "lamb2022/nfm-table-5 nfm-table-6",
    "passes perturbations reader": "lamb2022/nfm-digits-narrow nfm-clevr-narrow",
    "passes reader": "lamb2022/nfm-table-7",
    "reasoner steps task": "webb2021/demo",
}
"""Fields in which the trained rows of a column differ, and the tables with these."""


def fields_of(experiment: Experiment) -> dict[str, object]:
    """Fields of an experiment, and in their stead those of its network and recipe."""
    found = {"model": type(experiment.model)}
    for name in ("task", "objective", "players", "starts_from", "perturbations"):
        found[name] = getattr(experiment, name)
    for part in (experiment.model, experiment.recipe):
        found |= {field.name: getattr(part, field.name) for field in dataclasses.fields(part)}
    return found


def differing(table: Table) -> set[str]:
    """Names of the fields in which trained rows of a column differ."""
    columns = defaultdict(list)
    for claim in table.claims:
        if not (claim.unbuilt or claim.is_by_hand or claim.trains_nothing):
            columns[claim.group, claim.column].append(fields_of(claim.experiment))
    return {
        name
        for first, *others in columns.values()
        for other in others
        for name in first.keys() & other.keys()
        if first[name] != other[name]
    }


def keys_of(names: str) -> Iterator[str]:
    """Keys of tables from `paper/table table …`."""
    paper = ""
    for name in names.split():
        paper = name.partition("/")[0] if "/" in name else paper
        yield name if "/" in name else f"{paper}/{name}"


IN_FULL = """
    gondal2021/k-mnist beyond webb2020/table-4 beyond clutter new-shapes direction
    lamb2022/spirals flattening two-moons mixup-narrow mixup-narrow-kmnist mixup-elsewhere
    domains-narrow domains-vaec
    mechanisms-and-rules ict-narrow nfm-gan-narrow nfm-gan-over-training nfm-digits-narrow
    nfm-clevr-narrow nfm-images-narrow nfm-beyond beyond
    ren2017/cifar-narrow settings-narrow resnet-narrow super-resolution-t91
    webb2021/beyond nine-tasks not-identical variations handwriting
"""
"""Tables that the quick budget runs in full."""


def test_tables_of_a_small_size_are_run_in_full() -> None:
    found = {key for key, table in TABLES.items() if {c.quick for c in table.claims} == {1}}
    assert found == {*keys_of(IN_FULL)}


def test_rows_differ_in_what_their_table_compares() -> None:
    told = {key: set(names.split()) for names, keys in DIFFERING.items() for key in keys_of(keys)}
    assert {key: differing(table) for key, table in TABLES.items()} == told
