"""Build of the package: the recorded results go into it, without training curves."""

import json
import shutil
from pathlib import Path
from typing import Any

from setuptools import setup
from setuptools.command.build_py import build_py
from setuptools.command.sdist import sdist

RESULTS = Path(__file__).resolve().parent / "results"
PLACE = Path("farfield", "recorded")
"""Folder of the summary within the package; `farfield.reports.recorded_results` reads it."""


def without_curve(line: bytes) -> bytes:
    """Leave the scores of the last step in a line of records.

    All scores of a network that diverged stay: a report names the step.

    Args:
        line: A line that `farfield report --export` wrote.
    """
    described: dict[str, Any] = json.loads(line)
    record = described["record"]
    scores = record["scores"]
    if not any(isinstance(score["value"], str) for score in scores):  # "nan" and "inf"
        record["scores"] = [score for score in scores if score["step"] == record["steps"]]
    return json.dumps(described, sort_keys=True, separators=(",", ":")).encode()


def summarize(results: Path, folder: Path) -> None:
    """Write the summary of a folder of exports: records without curves, notes and levels.

    Args:
        results: What `farfield report --export` wrote to.
        folder: Where to; what is there is removed.
    """
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    for path in sorted(results.glob("*/*.jsonl")):
        written = folder / path.relative_to(results)
        written.parent.mkdir(exist_ok=True)
        lines = path.read_bytes().splitlines()
        written.write_bytes(b"".join(without_curve(line) + b"\n" for line in lines))
    for path in sorted([*results.glob("*.toml"), *results.glob("*.jsonl")]):
        shutil.copyfile(path, folder / path.name)


class WithResults(build_py):
    """Building of the package; from an sdist, the summary is there already."""

    def run(self) -> None:
        """Copy the modules, and write the summary beside them."""
        super().run()
        if RESULTS.is_dir() and not self.editable_mode:
            summarize(RESULTS, Path(self.build_lib) / PLACE)


class SdistWithResults(sdist):
    """Building of the sdist, with the summary in place of the records."""

    def make_release_tree(self, base_dir: str, files: list[str]) -> None:
        """Copy the files, and write the summary beside them."""
        super().make_release_tree(base_dir, files)
        if RESULTS.is_dir():
            summarize(RESULTS, Path(base_dir, "src") / PLACE)


if __name__ == "__main__":
    setup(cmdclass={"build_py": WithResults, "sdist": SdistWithResults})
