"""What lasts: runs killed at random moments or where memory is scarce, and all that is hostile.

Run from the root of the checkout; each part ends in a line, and the exit status is 1 if one of them
found anything:

    make endurance                         # a thousand kills, four hundred files, and more
    make endurance ENDURE="--kills 200 --soak 60"
"""

from __future__ import annotations

import sys
from dataclasses import dataclass
from typing import final

import tyro

from endurance import acting, asked, files, kills, rewritten, soak, verified


@final
@dataclass(frozen=True, kw_only=True)
class Options:
    """What lasts, and for how long it is tried.

    Args:
        seed: Decides the moments of kills, and what is done to files.
        kills: Processes that are killed.
        minutes: After which no other run is begun that will be killed.
        files: Files that are hurt: texts, pictures, records and all else that is read.
        environments: Environments of users that do one thing otherwise.
        requests: Requests to the explorer over damaged records.
        verifications: Verifications of damaged and foreign records; half of them are killed.
        rewritten: Runs whose files are written anew after a kill.
        soak: Minutes of runs where memory is scarce.
    """

    seed: int = 0
    kills: int = 1_000
    minutes: float = 30.0
    files: int = 400
    environments: int = 144
    requests: int = 400
    verifications: int = 100
    rewritten: int = 50
    soak: float = 0.0


def main(options: Options) -> int:
    """Try it all; returns the exit status."""
    said = []
    if options.kills:
        said.append(kills.main(options.kills, 60 * options.minutes, options.seed))
    if options.files:
        said.append(files.main(options.files, options.seed))
    for part, count in (
        (acting, options.environments),
        (asked, options.requests),
        (verified, options.verifications),
        (rewritten, options.rewritten),
    ):
        if count:
            said.append(part.main(count, options.seed))
    if options.soak:
        said.append(soak.main(options.soak))
    print(*(line for line, _ in said), sep="\n")
    return not all(is_well for _, is_well in said)


if __name__ == "__main__":
    sys.exit(main(tyro.cli(Options, description=__doc__)))
