"""Print the lowest versions that pyproject.toml admits, as constraints for pip.

A word such as `torch==2.13.0` takes the place of a bound.
"""

import re
import sys
import tomllib
from pathlib import Path

PYPROJECT = Path(__file__).resolve().parent.parent / "pyproject.toml"


def lowest(project: dict[str, object], instead: list[str]) -> dict[str, str]:
    """Version of every package that the project or one of its extras needs."""
    extras = project["optional-dependencies"].values()
    needed = [*project["dependencies"], *(line for extra in extras for line in extra)]
    bounds = dict(re.fullmatch(r"([\w.-]+)>=([\w.]+)", line).groups() for line in needed)
    return bounds | dict(word.split("==") for word in instead)


if __name__ == "__main__":
    project = tomllib.loads(PYPROJECT.read_text(encoding="utf-8"))["project"]
    for name, version in lowest(project, sys.argv[1:]).items():
        print(f"{name}=={version}")
