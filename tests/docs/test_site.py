"""What the site is made of holds together; `make docs`, which takes minutes, builds it."""

from __future__ import annotations

import ast
import re
import runpy
from fnmatch import fnmatch
from pathlib import Path

import pytest

from farfield.reports.internal import Point, settings_pages

CHECKOUT = Path(__file__).resolve().parents[2]
DOCS = CHECKOUT / "docs"


def test_every_page_has_a_place_in_the_sidebar() -> None:
    text = (DOCS / "conf.py").read_text(encoding="utf-8")
    contents = re.search(r"^CONTENTS = ({.*?^})", text, re.MULTILINE | re.DOTALL)
    assert contents
    patterns = [name for names in ast.literal_eval(contents[1]).values() for name in names]
    pages = [*CHECKOUT.glob("*.md"), *DOCS.rglob("*.md"), *CHECKOUT.glob("benchmarks/**/*.md")]
    names = {path.relative_to(CHECKOUT).with_suffix("").as_posix() for path in pages}
    assert {n for n in names if not any(fnmatch(n, p) for p in patterns)} == {"README"}
    made = {"docs/gallery/index"}
    assert [p for p in patterns if p not in made and not any(fnmatch(n, p) for n in names)] == []


@pytest.fixture(scope="module")
def measured() -> dict[str, object]:
    """The script that fills in numbers."""
    return runpy.run_path(str(DOCS / "measured.py"))


def test_the_numbers_of_pages_are_those_of_the_records(measured: dict) -> None:
    pages = {path.name: path.read_text(encoding="utf-8") for path in DOCS.glob("*.md")}
    assert [name for name, page in pages.items() if measured["fill"](page) != page] == []
    assert len(measured["NUMBER"].findall(pages["which-mechanism.md"])) > 50


@pytest.fixture(scope="module")
def mechanisms() -> dict[str, object]:
    """The script that writes the page of mechanisms."""
    return runpy.run_path(str(DOCS / "mechanisms.py"))


def test_the_page_of_mechanisms_is_that_of_the_records(mechanisms: dict) -> None:
    assert mechanisms["page"]() == (DOCS / "mechanisms.md").read_text(encoding="utf-8")


def test_the_farthest_regime_of_each_unit_has_enough_problems(mechanisms: dict) -> None:
    regimes = ("training", 9.0, "steps"), ("near", 0.0, "steps"), ("far", 2.0, "steps"), (
        "farther", 3.0, "steps"), ("turned", 1.0, "degrees")  # fmt: skip
    points = [
        ("copying", Point(regime=name, distance=far, unit=unit, values=(0.5,), floor=0.1))
        for name, far, unit in regimes
    ]
    choose = mechanisms["farthest"]
    assert choose(points, {}) == {("copying", "farther"), ("copying", "turned")}
    few = {("copying", "farther"): 29, ("copying", "far"): 30}
    assert choose(points, few) == {("copying", "far"), ("copying", "turned")}
    assert choose(points[:2], {}) == {("copying", "near")}


def test_a_mechanism_at_the_floor_is_not_first(mechanisms: dict) -> None:
    rows, names = mechanisms["standing"]("state").rows, mechanisms["firsts"]
    for column in mechanisms["columns"](rows):
        means = {name: row[column].mean for name, row in rows.items() if column in row}
        best, floor = max(means.values()), next(iter(rows.values()))[column].floor
        first = names("state", column)
        assert first == [] or (best > floor and all(means[name] == best for name in first))
    assert names("state", ("bucket-sort", "length-41-500")) == []
    assert "Register machine" in names("state", ("parity-check", "length-41-500"))
    clear = mechanisms["differs"]("image", ("K-MNIST, sheared", "shear-57.3-test"))
    assert clear == {
        "PreActResNet, Input Mixup (α = 1)": True,
        "PreActResNet, Manifold Mixup (α = 2)": False,
    }


def test_pages_of_settings_are_those_of_the_claims_and_stand_nowhere_else() -> None:
    assert settings_pages() == {
        path.name: path.read_text(encoding="utf-8") for path in (DOCS / "claims").glob("*.md")
    }
    # A column that is typed says what a default is where the claims have another value.
    assert "| here |" not in (DOCS / "deviations.md").read_text(encoding="utf-8")


def test_a_number_that_is_wrong_or_of_no_cell_is_noticed(measured: dict) -> None:
    link = '[{}](results/webb2020.md#beyond "moments+context-norm/{}")'
    right = measured["fill"](link.format("99.6", "region-6"))
    assert re.fullmatch(r"\[\d+\.\d ± \d\.\d \(\d\)\].*", right)
    assert measured["fill"](link.format("12.3 ± 4.5 (5)", "region-6")) == right
    with pytest.raises(ValueError, match="region-7"):
        measured["fill"](link.format("", "region-7"))


def test_numbers_of_the_forecast_are_filled_in(measured: dict) -> None:
    link = '[{}](../benchmarks/results/forecast "half of the shift/held out/differ/{}")'
    right = measured["fill"](link.format("0.99", "forecast"))
    assert re.fullmatch(r"\[\d\.\d\d \(\d\.\d\d to \d\.\d\d\)\].*", right)
    assert measured["fill"](right) == right
    assert re.fullmatch(r"\[\d+ %\].*", measured["fill"](link.format("", "coverage")))
    assert re.fullmatch(r"\[\d+\].*", measured["fill"](link.format("", "pairs")))
    shift = '[](../benchmarks/results/forecast "shift/contrast-")'
    assert re.fullmatch(r"\[\d\.\d\d\].*", measured["fill"](shift))
    with pytest.raises(ValueError, match="differ/luck"):
        measured["fill"](link.format("", "luck"))


def test_numbers_of_training_and_of_figures_are_filled_in(measured: dict) -> None:
    cell = "mechanisms-and-rules", "distribution-of-three/whitening-activation-l1/withheld-95"
    tested, trained = (
        measured["number"](f"lamb2022/{cell[0]}", cell[1] + end) for end in ("", " in training")
    )
    # Four choices: in training these networks guess.
    assert float(tested.split()[0]) > 40
    assert float(trained.split()[0]) < 27
    what = "4 → 4 balls: position error of LSTM (256) after 1 / 5 / 15 / 36 frames"
    assert measured["number"]("lamb2022/figure-3-quick", what).endswith(" pixels")
    with pytest.raises(ValueError, match="got 5 balls"):
        measured["number"]("lamb2022/figure-3-quick", "5 balls")
