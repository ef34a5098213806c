"""What every test shares: one thread, checked shapes, and where reference data is found."""

from __future__ import annotations

import contextlib
import gc
import os
import re
import sys
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from functools import cache
from pathlib import Path

import hypothesis
import jaxtyping
import numpy as np
import pytest
from _pytest.runner import runtestprotocol

import shapes

# Nothing that is imported or collected is garbage, and looking for it takes a third of the time.
gc.disable()


def pytest_collection_finish() -> None:
    """Look for garbage among what tests make alone."""
    gc.freeze()
    gc.enable()


# Every call with shapes is checked at run time, here only; types elsewhere are mypy's to check. The
# hook must come before the package's first import; workers of pytest-xdist load this file too.
CHECKOUT = Path(__file__).resolve().parent.parent
SOURCES = CHECKOUT / "src"
SHAPED = [
    ".".join(path.relative_to(SOURCES).with_suffix("").parts)
    for path in SOURCES.rglob("*.py")
    if "from jaxtyping import" in path.read_text(encoding="utf-8")
]
if any(name.partition(".")[0] == "farfield" for name in sys.modules):
    raise RuntimeError("farfield was imported before the shape hook; import it from tests only")
shapes.install(SHAPED)

hypothesis.settings.register_profile(
    "farfield", derandomize=True, deadline=None, database=None, max_examples=40
)
hypothesis.settings.load_profile("farfield")


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Begin with the long tests, or one worker ends with one while the others have nothing left."""
    items.sort(key=lambda item: item.get_closest_marker("slow") is None)


BOTH = ("functional", "models", "nn", "training", "test_zoo.py", "test_every_pair.py")
"""Folders and files whose tests run with products of float32 by either of torch's kernels."""


def pytest_runtest_protocol(item: pytest.Item, nextitem: pytest.Item | None) -> bool | None:
    """Run a test with products by oneDNN's operator, then by torch where the operator ran.

    Shapes are checked the first time alone.
    """
    if not any(part in BOTH for part in item.path.relative_to(CHECKOUT / "tests").parts):
        return None
    item.ihook.pytest_runtest_logstart(nodeid=item.nodeid, location=item.location)
    for side in ("operator", "torch"):
        with _product_by(side) as ran:
            item._initrequest()  # fixtures of its own
            reports = runtestprotocol(item, nextitem=nextitem, log=False)
        if any(report.failed for report in reports):
            for report in reports:
                report.sections.append(("products", f"of float32 by {side}"))
            break
        if not ran:
            break
    for report in reports:
        item.ihook.pytest_runtest_logreport(report=report)
    item.ihook.pytest_runtest_logfinish(nodeid=item.nodeid, location=item.location)
    return True


@contextlib.contextmanager
def _product_by(side: str) -> Iterator[list[bool]]:
    """Force the product of `farfield.functional.linear`; the list is not empty if it was asked.

    Torch's operator notes the call, as a replaced part of Farfield would be refused by keys.
    """
    import torch

    from farfield import _machine

    operator, ran = getattr(torch.ops.mkldnn, "_linear_pointwise", None), []

    class Noted:
        """The operator in all but that its calls are noted; exports look at its attributes."""

        def __call__(self, *given: object) -> object:
            ran.append(True)
            return operator(*given)

        def __getattr__(self, name: str) -> object:
            return getattr(operator, name)

    with pytest.MonkeyPatch.context() as patch:
        patch.setitem(_machine.FORCED, "onednn", side == "operator")
        if side == "torch":
            patch.setattr(jaxtyping.config, "jaxtyping_disable", True)
        if operator is not None:
            patch.setattr(torch.ops.mkldnn, "_linear_pointwise", Noted())
        yield ran


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


@pytest.fixture
def data_folder(monkeypatch: pytest.MonkeyPatch) -> Path:
    """Folder of real data sets, which the test's tasks read; skips the test where it is absent."""
    folder = _folder("FARFIELD_DATA", "data")
    monkeypatch.setenv("FARFIELD_DATA", str(folder))
    return folder


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
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(jaxtyping.config, "jaxtyping_disable", True)
        yield


NEEDS = {
    "golden": "golden arrays (FARFIELD_GOLDEN)",
    "seeds folder": "texts of the papers (FARFIELD_SEEDS)",
    "FARFIELD_DATA|absent|files of the task": "data sets (FARFIELD_DATA)",
    "Chromium": "a Chromium on the path",
    "ale-py": "ale-py (pip install -e '.[atari]')",
    "": "something else (pytest -rs)",
}
"""What skipped tests need, by the first pattern that their reasons match."""


def what_skips_need(reasons: Iterable[str]) -> str:
    """Say in one line how many tests were skipped, and what each group of them needs."""
    needs = Counter(
        next(need for pattern, need in NEEDS.items() if re.search(pattern, reason))
        for reason in reasons
    )
    groups = ", ".join(f"{number} need {need}" for need, number in needs.most_common())
    return f"{needs.total()} skipped: {groups}" if needs else ""


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """End with that line; pytest's own list of skips has a line for each of their places."""
    reports = terminalreporter.stats.get("skipped", [])
    line = what_skips_need(report.longrepr[2] for report in reports)
    if line:
        terminalreporter.write_line(line)
