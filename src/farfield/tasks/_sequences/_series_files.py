"""Series of the package aeon: files read without importing it, and five kinds of shift."""

from __future__ import annotations

import math
import os
from functools import lru_cache
from importlib.util import find_spec
from pathlib import Path
from typing import Any, Final, NamedTuple

import numpy as np
from jaxtyping import Bool, Float, Float32

from farfield.core.internal import excerpt, expand_home, file_stamp, printable, read_regular

PARTS: Final = ("TRAIN", "TEST")
_LARGEST_FILE: Final = 2**24


class SeriesSet(NamedTuple):
    """A set of series with labels.

    Attributes:
        training: Number of training series.
        channels: Number of channels.
        classes: Number of classes.
    """

    training: int
    channels: int
    classes: int


SERIES: Final[dict[str, SeriesSet]] = {
    "ACSF1": SeriesSet(100, 1, 10),
    "ArrowHead": SeriesSet(36, 1, 3),
    "BasicMotions": SeriesSet(40, 6, 4),
    "Covid3Month_disc": SeriesSet(140, 1, 3),
    "GunPoint": SeriesSet(50, 1, 2),
    "ItalyPowerDemand": SeriesSet(67, 1, 2),
    "JapaneseVowels": SeriesSet(270, 12, 9),
    "OSULeaf": SeriesSet(200, 1, 6),
    "PickupGestureWiimoteZ": SeriesSet(50, 1, 10),
}
"""Sets of classes that the package ships, by name."""


def series_files(named: str | None, series: str) -> dict[str, Path]:
    """Find the files of a set, by part: in a folder, else in `FARFIELD_DATA/aeon`, else of aeon.

    The package aeon is looked for and not imported.

    Args:
        named: Path of the folder with a folder for each set; `None` to look for it.
        series: Name of the set.

    Raises:
        ValueError: If no folder is named and none is found.
    """
    folder, found = os.environ.get("FARFIELD_DATA"), find_spec("aeon") if named is None else None
    folders = [expand_home(folder) / "aeon"] if folder else []
    folders += [
        Path(place) / "datasets" / "data"
        for place in (found and found.submodule_search_locations) or ()
    ]
    for place in folders if named is None else [expand_home(named)]:
        files = {part: place / series / f"{series}_{part}.ts" for part in PARTS}
        if named is not None or all(path.is_file() for path in files.values()):
            return files
    raise ValueError(
        "folder must name the folder of the series, got None, and neither FARFIELD_DATA/aeon nor "
        "the package aeon is on this machine: pip install 'farfield[series]'"
    )


Labelled = tuple[Float[np.ndarray, "item channel time"], list[str]]


def read_series(path: Path, steps: int) -> Labelled:
    """Read series of any lengths, each resampled to as many steps, and their labels.

    Args:
        path: Path of a file in the format ts.
        steps: Number of steps of a series.

    Raises:
        ValueError: If the file cannot be read, has no series, unequal channels, a value that is no
            number, or a series of missing steps alone.
    """
    try:
        stamp = file_stamp(path)
    except OSError as error:
        raise ValueError(f"file must be a set of series, got none at {printable(path)}") from error
    return _read(path, steps, stamp)


@lru_cache(maxsize=32)
def _read(path: Path, steps: int, stamp: tuple[int, ...]) -> Labelled:
    """Read a file, again when it has changed."""
    del stamp
    name = printable(path)
    try:
        lines = read_regular(path, _LARGEST_FILE).decode("utf-8").splitlines()
    except (OSError, ValueError) as error:
        raise ValueError(f"{name} must be a text of series: {excerpt(error)}") from error
    begin = [number for number, line in enumerate(lines) if line.strip().lower() == "@data"]
    rows = [line.split(":") for line in lines[begin[0] + 1 :] if line.strip()] if begin else []
    widths = {len(row) for row in rows}
    if len(widths) != 1 or min(widths) < 2:
        raise ValueError(
            f"{name} must have a line @data, then series with equally many channels and a label, "
            f"got {len(rows)} lines with {sorted(widths)} parts"
        )
    x = [[_resampled(channel, steps, name) for channel in row[:-1]] for row in rows]
    return np.array(x), [row[-1].strip() for row in rows]


def _resampled(channel: str, steps: int, name: str) -> Float[np.ndarray, " time"]:
    """Resample a channel by straight lines between its known steps; `?` is a missing step."""
    try:
        values = np.array([math.nan if v.strip() == "?" else float(v) for v in channel.split(",")])
    except ValueError as error:
        raise ValueError(f"{name} must have numbers or ?, got {excerpt(error)}") from error
    known = np.flatnonzero(np.isfinite(values))
    if not len(known):
        raise ValueError(f"{name} must have a known step in each channel, got {excerpt(channel)}")
    return np.interp(np.linspace(0, len(values) - 1, steps), known, values[known])


def standardized(
    training: Float[np.ndarray, "item channel time"], *others: Float[np.ndarray, "_ channel time"]
) -> list[Float32[np.ndarray, "_ channel time"]]:
    """Standardize each channel by mean and spread of training; sums are exact on any machine."""
    channels = training.shape[1]
    values = training.swapaxes(0, 1).reshape(channels, -1)
    mean = np.array([math.fsum(row) for row in values]) / values.shape[1]
    squares = np.array([math.fsum(row) for row in np.square(values - mean[:, None])])
    spread = np.sqrt(squares / values.shape[1])
    mean, spread = mean[:, None], np.where(spread > 0, spread, 1)[:, None]
    return [((x - mean) / spread).astype(np.float32) for x in (training, *others)]


def shifted(
    x: Float32[np.ndarray, "item channel time"], lost: Bool[np.ndarray, "item 1 time"]
) -> dict[str, Float32[np.ndarray, "item channel time"]]:
    """Change standardized series in each way, by the name of the regime.

    Args:
        x: The series.
        lost: Mask of missing steps, at which the step before is held; the first step is known.
    """
    time = np.arange(x.shape[-1])

    def at(points: Float[np.ndarray, " time"]) -> Any:
        """Read series between steps; beyond the ends the end is held."""
        points = points.clip(0, x.shape[-1] - 1)
        low = np.floor(points).astype(int)
        high, part = np.minimum(low + 1, x.shape[-1] - 1), (points - low).astype(np.float32)
        return (1 - part) * x[..., low] + part * x[..., high]

    last = np.maximum.accumulate(np.where(lost & (time > 0), 0, time), axis=-1)
    return {
        "unchanged": x,
        "amplitude-doubled": 2 * x,
        "amplitude-halved": x / 2,
        "offset-1": x + 1,
        "faster-1.5": at(1.5 * time),
        "slower-1.5": at(time / 1.5),
        "late-6": at(time - 6.0),
        "missing-30": np.take_along_axis(x, np.broadcast_to(last, x.shape), axis=-1),
    }
