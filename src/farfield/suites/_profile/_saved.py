"""A profile as a file, with the score of every item, and back."""

from __future__ import annotations

import base64
import dataclasses
import json
import math
import zlib
from pathlib import Path
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from farfield.core.internal import expand_home, read_regular
from farfield.metrics.internal import Threshold
from farfield.suites._profile._curves import Curve
from farfield.suites._profile._profile import ShiftProfile

VERSION: Final = 1
"""Version of the file."""

MOST_BYTES: Final = 1_000_000_000
"""Most bytes of a file."""

MOST_NUMBERS: Final = 100_000_000
"""Most numbers of one array of a file."""


def to_json(found: ShiftProfile) -> bytes:
    """Format a profile as JSON; an infinite strength is null.

    Args:
        found: The profile.
    """
    fields = {one.name: getattr(found, one.name) for one in dataclasses.fields(found)}
    fields["curves"] = [_of_curve(curve) for curve in found.curves]
    fields["skipped"] = dict(found.skipped)
    return (json.dumps({"version": VERSION, **fields}, ensure_ascii=False) + "\n").encode()


def _of_curve(curve: Curve) -> dict[str, Any]:
    return {
        **{
            name: getattr(curve, name)
            for name in ("name", "unit", "group", "in_steps", "strengths")
        },
        "networks": [_finite(one) for one in curve.networks],
        "notes": dict(curve.notes),
        "failure": _of_threshold(curve.failure),
        "onset": _of_threshold(curve.onset),
        "scores": _packed(curve.scores),
        "weights": None if curve.weights is None else _packed(curve.weights),
    }


def _finite(value: float) -> float | None:
    return value if math.isfinite(value) else None


def _of_threshold(found: Threshold) -> dict[str, Any]:
    fields = dataclasses.asdict(found)
    return {name: _finite(one) if isinstance(one, float) else one for name, one in fields.items()}


def _packed(values: NDArray[np.float64]) -> dict[str, Any]:
    """Format an array as compressed float32."""
    packed = zlib.compress(values.astype("<f4").tobytes())
    return {"shape": values.shape, "float32": base64.b64encode(packed).decode()}


def read_profile(path: str | Path) -> ShiftProfile:
    """Read a profile that was written by `ShiftProfile.write`.

    Args:
        path: File `profile.json`.

    Raises:
        ValueError: If the file is no profile.
    """
    file = expand_home(path)
    try:
        fields = json.loads(read_regular(file, MOST_BYTES))
        if fields.pop("version") != VERSION:
            raise ValueError(f"its version is not {VERSION}")
        curves = tuple(map(_curve, fields.pop("curves")))
        notes = tuple(fields.pop("notes"))
        found = ShiftProfile(**fields, curves=curves, notes=notes)
    except (ValueError, KeyError, TypeError, AttributeError, zlib.error) as error:
        raise ValueError(
            f"{file} must be a profile that farfield profile wrote: {error}"
        ) from error
    return found


def _curve(fields: dict[str, Any]) -> Curve:
    weights = fields["weights"]
    return Curve(
        name=str(fields["name"]),
        unit=str(fields["unit"]),
        group=str(fields["group"]),
        in_steps=bool(fields["in_steps"]),
        strengths=tuple(map(float, fields["strengths"])),
        scores=_array(fields["scores"]),
        weights=None if weights is None else _array(weights),
        failure=_threshold(fields["failure"]),
        onset=_threshold(fields["onset"]),
        networks=tuple(math.inf if one is None else float(one) for one in fields["networks"]),
        notes={
            str(name): value if isinstance(value, str) else float(value)
            for name, value in fields["notes"].items()
        },
    )


def _threshold(fields: dict[str, Any]) -> Threshold:
    value, low, high, end = (
        math.inf if fields[name] is None else float(fields[name])
        for name in ("value", "low", "high", "end")
    )
    return Threshold(value=value, low=low, high=high, end=end, returns=bool(fields["returns"]))


def _array(fields: dict[str, Any]) -> NDArray[np.float64]:
    """Restore an array, whose size must be the one that it claims."""
    rows, columns = (int(size) for size in fields["shape"])
    if not 0 < rows * columns <= MOST_NUMBERS:
        raise ValueError(f"an array has shape {fields['shape']}")
    decoder = zlib.decompressobj()
    content = decoder.decompress(base64.b64decode(fields["float32"]), 4 * rows * columns + 1)
    return np.frombuffer(content, "<f4").reshape(rows, columns).astype(np.float64)
