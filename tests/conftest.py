"""What every test shares: one thread, checked shapes, and where reference data is found."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path

import hypothesis
import jaxtyping
import numpy as np
import pytest

# Every call in a module with shapes is checked at run time, here only; that takes as long as the
# call itself where it is short, and types elsewhere are mypy's to check. `int` stands for `float`
# as type checkers have it. The hook must come before the package's first import; workers of
# pytest-xdist load this file too.
CHECKOUT = Path(__file__).resolve().parent.parent
SOURCES = CHECKOUT / "src"
SHAPED = [
    ".".join(path.relative_to(SOURCES).with_suffix("").parts)
    for path in SOURCES.rglob("*.py")
    if "from jaxtyping import" in path.read_text(encoding="utf-8")
]
CONFIGURATION = "beartype.BeartypeConf(is_pep484_tower=True)"
if any(name.partition(".")[0] == "farfield" for name in sys.modules):
    raise RuntimeError("farfield was imported before the shape hook; import it from tests only")
jaxtyping.install_import_hook(SHAPED, f"beartype.beartype(conf={CONFIGURATION})")

hypothesis.settings.register_profile("farfield", derandomize=True, deadline=None, database=None)
hypothesis.settings.load_profile("farfield")


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Begin with the long tests, or one worker ends with one while the others have nothing left."""
    items.sort(key=lambda item: item.get_closest_marker("slow") is None)


def _folder(variable: str, name: str) -> Path:
    """The folder that `variable` names, else `shared/<name>` beside the checkout."""
    folder = Path(os.environ.get(variable) or CHECKOUT.parent / "shared" / name)
    if not folder.is_dir():
        pytest.skip(f"{name} folder absent (set {variable})")
    return folder


@pytest.fixture(scope="session", autouse=True)
def _one_thread() -> None:
    """Two threads on busy cores are slower than one, and sums depend on their number."""
    import torch

    torch.set_num_threads(1)


@pytest.fixture(autouse=True)
def _subnormal_numbers() -> Iterator[None]:
    """What torch compiles with `-ffast-math` may make them zero in the whole process."""
    yield
    if "torch" in sys.modules:
        sys.modules["torch"].set_flush_denormal(False)


@pytest.fixture(scope="session")
def golden() -> Callable[[str], dict[str, np.ndarray]]:
    """Arrays of an original implementation, by case: `golden("esbn_dist3_T9")["out64.logits"]`.

    The arrays are read-only, since all tests of a process share them (`torch.tensor` copies).
    Skips the test where the folder or the case is absent.
    """

    @cache
    def load(case: str) -> dict[str, np.ndarray]:
        path = _folder("FARFIELD_GOLDEN", "golden") / case / "arrays.npz"
        if not path.is_file():
            pytest.skip(f"golden case {case} absent")
        with np.load(path, allow_pickle=False) as archive:
            arrays = dict(archive)
        for array in arrays.values():
            array.setflags(write=False)
        return arrays

    return lambda case: dict(load(case))


@pytest.fixture(scope="session")
def data_folder() -> Path:
    """Folder of real data sets; skips the test where it is absent."""
    return _folder("FARFIELD_DATA", "data")


@pytest.fixture(scope="session")
def paper_text() -> Callable[[str], str]:
    """The text of a paper by its key: `paper_text("webb2021")`; skips where it is absent."""
    names = ("webb2020", "gondal2021", "ren2017", "webb2021", "lamb2022")

    @cache
    def load(key: str) -> str:
        (path,) = _folder("FARFIELD_SEEDS", "seeds").glob(f"{names.index(key):03}_*.txt")
        return path.read_text(encoding="utf-8", errors="replace")

    return load


@pytest.fixture
def unchecked() -> Iterator[None]:
    """The package as users run it: without the shape hook, so that its own errors are seen."""
    jaxtyping.config.update("jaxtyping_disable", True)
    yield
    jaxtyping.config.update("jaxtyping_disable", False)
