"""Sets of arrays as the user gives them, checked and brought to few types."""

from __future__ import annotations

import re
from collections.abc import Mapping
from os import PathLike
from pathlib import Path
from typing import Any, Final, NamedTuple, final

import numpy as np
import torch
from jaxtyping import Shaped

from farfield.core.internal import UnknownNameError, printable
from farfield.tasks._arrays._kept_arrays import KINDS, in_its_file
from farfield.tasks._arrays._read_arrays import TEST, check_targets, read_arrays, targets_of
from farfield.tasks._protocol._draws import NO_LABEL, UNLABELLED
from farfield.tasks._protocol._task import TRAINING

Pair = tuple[Shaped[np.ndarray, "item ..."], Shaped[np.ndarray, "item ..."]]
"""Items of a set and its targets."""

_NUMBERS: Final = "biuf"
_EXAMPLE: Final = '{"training": (x, y), "far": (x, y)}'


def array_sets(data: object) -> dict[str, Pair]:
    """Convert the sets of a user to arrays of items and targets, by the name of the set.

    Items become float32, bytes remain; targets become int64, float64 or text. Arrays that are
    mapped from a file keep their type.

    Args:
        data: `(x, y)` by the name of the set, x alone of `unlabelled`; or the path of a file with
            such sets.

    Raises:
        ValueError: If a set lacks targets, or a part is of another type or shape, or not finite.
    """
    if isinstance(data, str | PathLike):
        data = read_arrays(data)
    if not isinstance(data, Mapping) or not data:
        raise ValueError(f"data must be a path, or sets {_EXAMPLE}, got {_shown(data)}")
    return {str(name): _pair(str(name), given) for name, given in data.items()}


def _shown(value: object) -> str:
    return (
        "an empty mapping" if isinstance(value, Mapping) else f"an object of {type(value).__name__}"
    )


def _pair(name: str, given: object) -> Pair:
    """Convert the items and targets of a set."""
    what = f"data[{printable(name)!r}]"
    if name == UNLABELLED:
        return _items_alone(what, given)
    if not isinstance(given, tuple | list) or len(given) != 2:
        raise ValueError(f"{what} must be a pair (x, y), got {_shown(given)}")
    x, y = given
    if isinstance(x, str | PathLike):
        x, y = read_arrays(Path(x), target=y)[TEST]
    elif isinstance(y, str) and _is_frame(x):
        x, y = x.drop(columns=y), x[y]
    if y is None:
        raise ValueError(f"{what} must have targets, got none; write (x, y)")
    items = _items(what, x)
    targets = _targets(what, y)
    check_targets(what, targets, len(items))
    return items, targets


def _items_alone(what: str, given: Any) -> Pair:
    """Convert the items of the set without labels; a pair has None in the stead of targets."""
    is_pair = isinstance(given, tuple) and len(given) == 2
    x, y = given if is_pair else (given, None)
    if y is not None:
        raise ValueError(f"{what} must be items x without targets, got a pair (x, y)")
    items = _items(what, x)
    return items, np.full(len(items), NO_LABEL)


def _is_frame(x: Any) -> bool:
    """Tell if something is a data frame of pandas, without importing pandas."""
    return hasattr(x, "columns") and hasattr(x, "to_numpy")


def _items(what: str, x: Any) -> np.ndarray:
    """Convert items to float32 or bytes."""
    if _is_frame(x):
        for column in x.columns:
            if x[column].dtype.kind not in _NUMBERS:
                raise ValueError(
                    f"x of {what} must hold numbers, column {str(column)!r} is {x[column].dtype}; "
                    "pandas.get_dummies turns categories into numbers"
                )
        x = x.to_numpy(dtype=np.float32, na_value=np.nan)
    found = _array(f"x of {what}", x)
    if found.ndim < 2 or 0 in found.shape:
        raise ValueError(
            f"x of {what} must be of (item, …) with a number or more, got shape {found.shape}"
        )
    if found.dtype.kind not in _NUMBERS:
        raise ValueError(f"x of {what} must hold numbers, got {found.dtype}; encode text first")
    if in_its_file(found) is not None:
        return found
    found = found if found.dtype == np.uint8 else found.astype(np.float32)
    if found.dtype != np.uint8 and not (finite := np.isfinite(found)).all():
        row = int(np.flatnonzero(~finite.reshape(len(found), -1).all(axis=1))[0])
        raise ValueError(
            f"x of {what} must be finite numbers in float32, item {row} has others; fill or drop "
            "them first"
        )
    return found


def _targets(what: str, y: Any) -> np.ndarray:
    """Convert targets to int64, float64 or text."""
    if hasattr(y, "isna") and hasattr(y, "to_numpy") and not _is_frame(y):
        y = targets_of(y, f"y of {what}")
    found = _array(f"y of {what}", y)
    if found.dtype.kind == "U" or all(isinstance(value, str) for value in found.flat):
        found = np.array(found.tolist(), dtype=str)
    if found.dtype.kind not in KINDS:
        raise ValueError(f"y of {what} must be classes or numbers, got {found.dtype}")
    if found.ndim == 2 and found.shape[1] == 1:
        found = found[:, 0]
    if found.dtype.kind == "U" or in_its_file(found) is not None:
        return found
    return found.astype(np.float64 if found.dtype.kind == "f" else np.int64)


def _array(what: str, given: Any) -> np.ndarray:
    """Convert a tensor, an array or a list to an array."""
    if isinstance(given, torch.Tensor):
        given = given.detach().cpu()
        given = (given.float() if given.dtype == torch.bfloat16 else given).numpy()
    try:
        return given if isinstance(given, np.ndarray) else np.asarray(given)
    except ValueError as error:
        raise ValueError(f"{what} must be items of one shape, got items of several") from error


_TEXT: Final = re.compile(r"(?:(\d+) classes of )?([a-z]+\d*)\[([\d, ]+)\] ([0-9a-f]{20})")


@final
class Described(NamedTuple):
    """Description of an array: `2 classes of int64[100] ` and its digest.

    Args:
        classes: Number of different values, of the classes of training; else 0.
        dtype: Name of the type.
        shape: Shape of the array.
        digest: Digest of the array.
    """

    classes: int
    dtype: str
    shape: tuple[int, ...]
    digest: str

    @classmethod
    def read(cls, text: str) -> Described:
        """Read the description of a task.

        Raises:
            ValueError: If the text is none.
        """
        found = _TEXT.fullmatch(text)
        if found is None:
            raise ValueError(f"data must describe arrays by type, shape and digest, got {text!r}")
        classes, dtype, shape, digest = found.groups()
        return cls(int(classes or 0), dtype, tuple(map(int, shape.split(","))), digest)

    @property
    def sort(self) -> str:
        """Sort of values: text, numbers with a point, or integers."""
        return {"s": "text", "f": "numbers"}.get(self.dtype[0], "integers")


Domains = tuple[tuple[str, int], ...]
"""Training domains, each with its number of problems."""


def joined_domains(
    sets: Mapping[str, Any], names: tuple[Any, ...]
) -> tuple[dict[str, Any], Domains]:
    """Join the training domains to one set, domain after domain.

    Args:
        sets: Items and targets by the name of the set.
        names: Names of the sets that are training domains.

    Raises:
        UnknownNameError: If there is no set of a name.
        ValueError: If a name is there twice, there is a set `training` as well, or items or targets
            of two domains are of different shapes or sorts.
    """
    for name in names:
        if name not in sets:
            raise UnknownNameError("training domain", str(name), sets)
    if len({*names}) < len(names) or TRAINING in sets or UNLABELLED in names:
        raise ValueError(
            f"training must name each set of a domain once, beside no set {TRAINING!r} and not "
            f"{UNLABELLED!r}, got {names} of {', '.join(sets)}"
        )
    parts = [sets[name] for name in names]
    for name, pair in zip(names, parts, strict=True):
        for what, own, first in zip(("x", "y"), pair, parts[0], strict=True):
            if own.shape[1:] != first.shape[1:] or own.dtype.kind != first.dtype.kind:
                raise ValueError(
                    f"{what} of all training domains must be of one shape and sort, {names[0]} has "
                    f"{first.dtype}{[*first.shape]} and {name} {own.dtype}{[*own.shape]}"
                )
    items, targets = (np.concatenate(arrays) for arrays in zip(*parts, strict=True))
    others = {name: pair for name, pair in sets.items() if name not in names}
    counts = tuple((name, len(x)) for name, (x, _) in zip(names, parts, strict=True))
    return {TRAINING: (items, targets), **others}, counts


def divided(joined: Pair, domains: Domains) -> dict[str, Any]:
    """Divide a joined set into copies of its domains, by name.

    Args:
        joined: Items and targets, domain after domain.
        domains: The domains.
    """
    ends = np.cumsum([count for _, count in domains])[:-1]
    items, targets = ([part.copy() for part in np.split(array, ends)] for array in joined)
    names = [name for name, _ in domains]
    return dict(zip(names, zip(items, targets, strict=True), strict=True))
