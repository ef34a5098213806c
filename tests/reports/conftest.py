"""What tests of reports share: pictures against baseline images, and the kept levels."""

from __future__ import annotations

import io
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path

import matplotlib as mpl
import numpy as np
import pytest
from matplotlib.figure import Figure
from PIL import Image

from farfield.records import Store
from farfield.reports import Plate, png
from farfield.reports._report import _report
from farfield.reports.internal import Levels
from reports import exhibits

BASELINES = Path(__file__).parent / "baselines"
TOLERANCE = 32 if mpl.__version_info__ >= (3, 11) else 96
"""Largest difference in color, of 255, between squares of 4 × 4 dots.

Matplotlib 3.11 drew the baselines; earlier releases space letters otherwise.
"""


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--remake-baselines", action="store_true", help="draw the baselines anew")


@pytest.fixture(scope="session")
def _levels() -> Levels:
    return Levels(Path("nowhere"), Path(__file__).resolve().parents[2] / "results")


@pytest.fixture(scope="module", autouse=True)
def _kept_levels(_levels: Levels) -> Iterator[None]:
    """Floors and ceilings of results/, which `test_levels.py` measures again."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(_report, "Levels", lambda: _levels)
        yield


@pytest.fixture(scope="session")
def store(tmp_path_factory: pytest.TempPathFactory) -> Store:
    """Networks of the exhibits, each trained when a test first needs it."""
    return Store(tmp_path_factory.mktemp("exhibits") / "runs")


@pytest.fixture(scope="module")
def small_world(store: Store) -> Iterator[None]:
    """Images and short scores of agents for the exhibits that need them."""
    with exhibits.small_world(store.folder.parent):
        yield


@pytest.fixture(scope="session")
def plate(store: Store) -> Callable[[str], Plate]:
    """Function from the name of an exhibit to its plate on small networks."""
    return cache(lambda name: exhibits.plate_of(exhibits.ON_NETWORKS[name](), store))


@pytest.fixture
def check_baseline(request: pytest.FixtureRequest, tmp_path: Path) -> Callable[[Figure, str], None]:
    """Compares a figure with a small image of it, letters included.

    Letters look different in another version of FreeType: drawn three times as fine and compared
    in squares, they differ by less than a shift of one line would.
    """

    def check(figure: Figure, name: str) -> None:
        fine = Image.open(io.BytesIO(png(figure, dpi=200)))
        picture, path = fine.convert("RGB").reduce(3), BASELINES / f"{name}.png"
        if request.config.getoption("remake_baselines", default=False):
            picture.quantize().save(path, optimize=True)
        picture.save(tmp_path / path.name)
        with Image.open(path) as baseline:
            assert picture.size == baseline.size
            squares = [
                np.asarray(image.reduce(4), int) for image in (picture, baseline.convert("RGB"))
            ]
        assert abs(squares[0] - squares[1]).max() <= TOLERANCE, f"see {tmp_path / path.name}"

    return check
