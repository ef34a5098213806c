"""What lasts: runs killed at random moments, runs where memory is scarce, and hostile files.

Run from the root of the checkout; each part ends in a line, and the exit status is 1 if one of them
found anything:

    make endurance                         # a thousand kills, two hundred files
    make endurance ENDURE="--kills 0 --files 0 --soak 60"
"""

from __future__ import annotations

import sys
from dataclasses import dataclass
from typing import final

import tyro

from endurance import files, kills, soak


@final
@dataclass(frozen=True, kw_only=True)
class Options:
    """What lasts, and for how long it is tried.

    Args:
        seed: Decides the moments of kills, and what is done to files.
        kills: Processes that are killed.
        minutes: After which no other run is begun that will be killed.
        files: Files that are hurt.
        soak: Minutes of runs where memory is scarce.
    """

    seed: int = 0
    kills: int = 1_000
    minutes: float = 30.0
    files: int = 200
    soak: float = 0.0


def main(options: Options) -> int:
    """Try it all; returns the exit status."""
    said = []
    if options.kills:
        said.append(kills.main(options.kills, 60 * options.minutes, options.seed))
    if options.files:
        said.append(files.main(options.files, options.seed))
    if options.soak:
        said.append(soak.main(options.soak))
    print(*(line for line, _ in said), sep="\n")
    return not all(is_well for _, is_well in said)


if __name__ == "__main__":
    sys.exit(main(tyro.cli(Options, description=__doc__)))
