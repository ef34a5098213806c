"""Build of the package: the recorded results go into it, without training curves."""

import json
import shutil
from pathlib import Path
from typing import Any

from setuptools import setup
from setuptools.command.build_py import build_py
from setuptools.command.sdist import sdist

RESULTS = Path(__file__).resolve().parent / "results"
SUMMARY = Path("farfield", "recorded")
"""Folder of the summary within the package; `farfield.reports.recorded_results` reads it."""


def without_curve(line: bytes) -> bytes:
    """Keep only the scores of the last step in a line of records.

    A network that diverged keeps all scores: a report names the step.

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
        results: Folder that `farfield report --export` wrote to.
        folder: Folder to write to; what it holds is removed.
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
    """Build of the package with the summary, which an sdist already has."""

    def run(self) -> None:
        """Copy the modules, and write the summary beside them."""
        super().run()
        if RESULTS.is_dir() and not self.editable_mode:
            summarize(RESULTS, Path(self.build_lib) / SUMMARY)


class SdistWithResults(sdist):
    """Build of the sdist, with the summary in place of the records."""

    def make_release_tree(self, base_dir: str, files: list[str]) -> None:
        """Copy the files, and write the summary beside them."""
        super().make_release_tree(base_dir, files)
        if RESULTS.is_dir():
            summarize(RESULTS, Path(base_dir, "src") / SUMMARY)


if __name__ == "__main__":
    setup(cmdclass={"build_py": WithResults, "sdist": SdistWithResults})
