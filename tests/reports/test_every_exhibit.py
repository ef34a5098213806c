"""Checks of every exhibit and figure: a new exhibit needs a row in `exhibits`, and no test here."""

from __future__ import annotations

import dataclasses
import inspect
import pkgutil
import re
from collections.abc import Callable
from importlib import import_module
from pathlib import Path

import pytest
from matplotlib.colors import to_rgba
from matplotlib.text import Text

from each import each
from farfield.records import Store, StoreError
from farfield.reports import (
    FIGURES,
    Figure,
    Plate,
    _exhibits,
    illustrate,
    png,
    tabulate,
)
from farfield.reports.internal import DARK, LIGHT
from reports import exhibits

pytestmark = pytest.mark.usefixtures("small_world")

Plates = Callable[[str], Plate]
EXHIBITS = {
    name: make
    for module in pkgutil.iter_modules(_exhibits.__path__, f"{_exhibits.__name__}.")
    for name, make in vars(import_module(module.name)).items()
    if inspect.isfunction(make)
    and make.__module__ == module.name
    and not name.startswith("_")
    and inspect.signature(make).return_annotation in ("Plate", "Plate | None")
}
"""Functions with the decorator `exhibit` or `network_exhibit`, by name."""
ANYWAY = {"activation_curves", "paired_tests"}
"""Exhibits that show something without a record: a formula, and tests of published numbers."""


def figure_with(name: str) -> Figure:
    """A figure with an exhibit alone, of few cells."""
    if name in exhibits.ON_NETWORKS:
        return exhibits.ON_NETWORKS[name]()
    known = next(figure for figure in FIGURES.values() if name in names_of(figure))
    return dataclasses.replace(known, table=known.table.select(exhibits.ON_RECORDS[name]))


def names_of(figure: Figure) -> list[str]:
    return [own.name for own in figure.exhibits]


def test_every_exhibit_has_a_row_and_a_figure() -> None:
    assert exhibits.ON_NETWORKS.keys() | exhibits.ON_RECORDS == EXHIBITS.keys()
    assert {name for figure in FIGURES.values() for name in names_of(figure)} == EXHIBITS.keys()
    for name in EXHIBITS:
        assert names_of(figure_with(name)) == [name]


@each("figure", FIGURES)
def test_nothing_is_shown_of_what_was_not_run(figure: Figure, store: Store) -> None:
    found = illustrate(figure, tabulate(figure.table, lambda _: []), store)
    assert len(found) == sum(own.name in ANYWAY for own in figure.exhibits)


@each("name", [*exhibits.ON_NETWORKS])
def test_networks_are_needed_where_an_exhibit_looks_into_them(name: str, tmp_path: Path) -> None:
    figure = figure_with(name)
    report = tabulate(figure.table, exhibits.recorded)
    if figure.exhibits[0].of_networks:
        assert illustrate(figure, report, None) == ()
        with pytest.raises(StoreError, match=r"0\.safetensors"):
            illustrate(figure, report, Store(tmp_path / "runs"))


@each("name", [*EXHIBITS])
def test_every_option_is_checked(name: str) -> None:
    figure = figure_with(name)
    options = figure.exhibits[0].options
    assert options.keys() <= inspect.signature(EXHIBITS[name]).parameters.keys()
    for option in options:
        with pytest.raises(ValueError, match=f"^{option}.* must "):
            EXHIBITS[name](**options | {option: object()})


@pytest.mark.parametrize("name", EXHIBITS)
def test_a_plate_has_a_name_and_words_and_a_picture(name: str, plate: Plates) -> None:
    figure = figure_with(name)
    if name in exhibits.ON_NETWORKS:
        found = plate(name)
    else:
        (found,) = illustrate(figure, tabulate(figure.table, exhibits.recorded), None)
    assert re.fullmatch("[a-z]+(-[a-z]+)*", found.name)
    assert found.caption.endswith(".")
    quantities = [(finding.what, finding.network) for finding in found.findings]
    assert len({*quantities}) == len(quantities)
    assert quantities or name == "activation_curves"
    picture = found.draw(DARK)
    assert picture.get_facecolor() == to_rgba(DARK.background)
    said = [found.title, *(cell for finding in found.findings for cell in finding.cells)]
    assert all(said)
    for text in (found.caption, *said, *(text.get_text() for text in picture.findobj(Text))):
        assert not re.search(r"[{}]|\bnan\b|None", text), text


def test_a_picture_is_the_same_bytes_each_time(plate: Plates) -> None:
    draw = plate("scored_matrix").draw
    first, second, dark = (png(draw(theme), dpi=30) for theme in (LIGHT, LIGHT, DARK))
    assert first == second != dark
