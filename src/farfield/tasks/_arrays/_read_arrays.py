"""Readers of the user's data: arrays, tables and folders of pictures, as named sets."""

from __future__ import annotations

import sys
import zlib
from collections.abc import Iterable, Mapping, Sequence
from itertools import islice
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Final
from zipfile import BadZipFile

import numpy as np
from jaxtyping import Shaped, UInt8
from numpy.lib.npyio import NpzFile

from farfield.core.internal import (
    PICTURES,
    UnknownNameError,
    excerpt,
    expand_home,
    lacks_memory,
    open_regular,
    printable,
    read_picture,
)

if TYPE_CHECKING:
    import pandas as pd

ArraySet = tuple["Shaped[np.ndarray, 'item ...'] | pd.DataFrame", np.ndarray | None]
"""Items of a set, and its targets if there are any."""

TEST: Final = "test"
"""Name of the set of a file that names none."""

_BROKEN: Final = (
    BadZipFile,
    EOFError,
    NotImplementedError,
    OSError,
    RuntimeError,
    SyntaxError,
    ValueError,
    zlib.error,
)
"""Errors at a file that is cut short or made up."""


def read_arrays(path: str | PathLike[str], *, target: str | None = None) -> dict[str, ArraySet]:
    """Read the sets of a file or folder: items and targets, by the name of the set.

    | path | items | targets | sets |
    |---|---|---|---|
    | `.npz` | array `x` | array `y` | `x_training` or `x-training`: set `training` |
    | `.csv`, `.parquet` | data frame of the other columns | column `target` | one |
    | folder of pictures | bytes, `(item, height, width)` or `(item, height, width, 3)` | names \
of the folders of classes | folders above the classes |

    A file that names no set has one, `test`. Data without targets have `None`. Nothing in a file is
    executed: arrays of Python objects are refused.

    Args:
        path: A file, or a folder of pictures in a folder for each class.
        target: Column of the targets of a table.

    Raises:
        ModuleNotFoundError: If the file is a table and pandas is not installed.
        ValueError: If the path cannot be read or has another ending, an array has no partner or
            another length than its partner, or a target is missing or not a finite number.
    """
    found, ending = expand_home(path), Path(path).suffix.lower()
    if not found.exists():
        raise ValueError(f"path must be a file or a folder, there is no {printable(path)}")
    if ending in _TABLES and not found.is_dir():
        return _checked(found, {TEST: _read_table(found, target)})
    if target is not None:
        raise ValueError(f"target must be a column of a table, got {target!r} of {printable(path)}")
    if found.is_dir():
        return _checked(found, _read_pictures(found))
    if ending == ".npz":
        return _checked(found, _read_npz(found))
    raise ValueError(
        f"path must be a folder of pictures or a file {', '.join(_ENDINGS)}, got {printable(path)}"
    )


def _checked(path: Path, sets: dict[str, ArraySet]) -> dict[str, ArraySet]:
    """Return the sets; raise `ValueError` unless each has items and as many complete targets."""
    for name, (x, y) in sets.items():
        what = f"set {printable(name)!r} of {printable(path)}"
        if len(x) == 0:
            raise ValueError(f"{what} must have an item, got none")
        if y is not None:
            check_targets(what, y, len(x))
    return sets


def check_targets(what: str, y: np.ndarray, count: int) -> None:
    """Raise `ValueError` unless there are `count` targets, all of them finite if they are numbers.

    Args:
        what: Name of the set, for errors.
        y: The targets.
        count: Number of items.
    """
    if y.ndim == 0 or len(y) != count:
        raise ValueError(f"{what} must have a target for each of {count} items, got {y.shape}")
    if y.dtype.kind == "f" and not np.isfinite(y).all():
        rows = np.flatnonzero(~np.isfinite(y.reshape(count, -1)).all(axis=1))
        raise ValueError(
            f"targets of {what} must be finite numbers, got {y[rows[0]]} in row {rows[0]} "
            f"({len(rows)} such rows); drop these rows first"
        )


def _read_npz(path: Path) -> dict[str, ArraySet]:
    """Read the sets of an NPZ file."""
    arrays = _arrays(path)
    x, y = ({_set_of(name): a for name, a in arrays.items() if name[0] == k} for k in "xy")
    if len(x) + len(y) < len(arrays):
        raise ValueError(f"{printable(path)} must have each set once, got {_some(arrays)}")
    if not x:
        raise ValueError(f"{printable(path)} must have an array x or x_NAME, got {_some(arrays)}")
    if alone := y.keys() - x.keys():
        raise ValueError(
            f"{printable(path)} must have items for each y, it lacks those of {_some(alone)}"
        )
    return {name: (items, y.get(name)) for name, items in x.items()}


def _set_of(name: str) -> str:
    """Return the name of the set of an array: `training` of `x_training` or `x-training`."""
    return name[2:] or TEST


def _arrays(path: Path) -> dict[str, np.ndarray]:
    """Read the arrays of an NPZ file by name."""
    found: dict[str, np.ndarray] = {}
    try:
        with open_regular(path, sys.maxsize) as file, np.load(file, allow_pickle=False) as archive:
            if not isinstance(archive, NpzFile):
                raise ValueError("it holds one array without a name")
            for name in archive.files:
                found[name] = _array(name, archive)
    except (*_BROKEN, MemoryError) as error:
        if lacks_memory(error):
            raise ValueError(
                f"arrays of {printable(path)} must fit into memory: {excerpt(error)}; a larger "
                "array is read from a file of np.lib.format.open_memmap"
            ) from error
        raise ValueError(
            f"{printable(path)} must be a whole NPZ file of numbers or text: {excerpt(error)}"
        ) from error
    return found


def _array(name: str, archive: Mapping[str, np.ndarray]) -> np.ndarray:
    """Read one array of an NPZ file."""
    if name not in ("x", "y") and not (name[:2] in ("x_", "y_", "x-", "y-") and name[2:]):
        raise ValueError(
            f"its arrays must be named x and y, or x_NAME and y_NAME of the set NAME, got {name!r}"
        )
    if name[2:] == "train":
        raise ValueError(f"the set to learn from must be named {name}ing, got {name!r}")
    array = archive[name]
    if not isinstance(array, np.ndarray) or array.dtype.kind not in _KINDS:
        kind = getattr(array, "dtype", "no array")
        raise ValueError(f"array {name} must be of numbers or text, got {kind}")
    if array.ndim == 0:
        raise ValueError(f"array {name} must have an axis of items, got a single value")
    return array


_KINDS: Final = "biufU"
"""Kinds of types of arrays: booleans, integers, floating-point numbers and text."""


def _some(names: Iterable[str]) -> str:
    """List the first of some names, for an error."""
    found = sorted(map(str, names))
    return printable(", ".join([*found[:5], *(["…"] if len(found) > 5 else [])])) or "none"


_TABLES: Final = (".csv", ".parquet")
_ENDINGS: Final = (".npz", *_TABLES)


def _read_table(path: Path, target: str | None) -> ArraySet:
    """Read a table: the columns of items, and the column of targets."""
    table, y = _frame(path), None
    if target is not None:
        if target not in table.columns:
            raise UnknownNameError("column", target, map(str, table.columns))
        y = targets_of(table[target], f"column {target!r}")
        table = table.drop(columns=target)
    if table.shape[1] == 0:
        raise ValueError(f"{printable(path)} must have a column beside {target!r}, got none")
    return table, y


def _frame(path: Path) -> pd.DataFrame:
    """Read the data frame of a table."""
    try:
        import pandas as pd  # noqa: PLC0415 — an extra, and half a second to import
    except ModuleNotFoundError as error:
        raise ModuleNotFoundError(
            f"{printable(path)} needs pandas: pip install 'farfield[frames]'"
        ) from error
    is_csv = path.suffix.lower() == ".csv"
    try:
        with open_regular(path, sys.maxsize) as file:
            return pd.read_csv(file) if is_csv else pd.read_parquet(file)
    except ImportError as error:  # pandas reads Parquet by another package
        raise ModuleNotFoundError(
            f"{printable(path)} needs pyarrow: pip install pyarrow"
        ) from error
    except _BROKEN as error:
        kind = "CSV" if is_csv else "Parquet"
        raise ValueError(
            f"{printable(path)} must be a whole {kind} file: {excerpt(error)}"
        ) from error


def targets_of(column: pd.Series, what: str) -> np.ndarray:
    """Convert a column to targets: numbers and truth values remain, all else becomes text.

    Args:
        column: The column.
        what: Its name, for errors.

    Raises:
        ValueError: If a target is missing.
    """
    if (missing := column.isna().to_numpy()).any():
        raise ValueError(
            f"{what} must have a target in every row, row {missing.argmax()} has none "
            f"({missing.sum()} such rows); drop these rows first"
        )
    values = column.to_numpy()
    if values.dtype.kind in "biuf":
        return values
    return np.array([str(value) for value in column.tolist()])


def _read_pictures(folder: Path) -> dict[str, ArraySet]:
    """Read the pictures of a folder: in folders of classes, which may be in folders of sets."""
    found = {path.relative_to(folder).parts: path for path in _pictures(folder)}
    depths = {len(parts) for parts in found}
    if len(depths) != 1:
        wanted = "pictures in a folder for each class, or such folders in a folder for each set"
        got = f"pictures in folders {sorted(depths)} deep" if depths else f"no {_some(PICTURES)}"
        raise ValueError(f"{printable(folder)} must hold {wanted}, got {got}")
    sets: dict[str, list[tuple[str, ...]]] = {}
    for parts in sorted(found):
        sets.setdefault(parts[0] if len(parts) == _DEEPEST else TEST, []).append(parts)
    images = _images([found[parts] for several in sets.values() for parts in several])
    rows = iter(images)
    return {
        name: (
            np.stack([*islice(rows, len(several))]),
            np.array([parts[-2] for parts in several]) if len(several[0]) > 1 else None,
        )
        for name, several in sets.items()
    }


_DEEPEST: Final = 3
"""Most parts of the path of a picture: set, class and file."""


def _pictures(folder: Path) -> list[Path]:
    """List the pictures in a folder and in the folders below it."""
    found, level = list[Path](), [folder]
    for _ in range(_DEEPEST):
        every = [path for one in level for path in _visible(one)]
        found += [path for path in every if path.suffix.lower() in PICTURES and path.is_file()]
        level = [path for path in every if path.is_dir()]
    return found


def _visible(folder: Path) -> list[Path]:
    """List a folder without hidden files."""
    try:
        return [path for path in folder.iterdir() if not path.name.startswith(".")]
    except OSError as error:
        raise ValueError(f"{printable(folder)} must be readable: {error.strerror}") from error


def _images(paths: Sequence[Path]) -> list[UInt8[np.ndarray, "height width *color"]]:
    """Read pictures of one size; if any is in color, gray pictures get three equal channels."""
    images = [read_picture(path) for path in paths]
    for path, image in zip(paths, images, strict=True):
        if image.shape[:2] != images[0].shape[:2]:
            sizes = [f"{width}×{height}" for height, width, *_ in (images[0].shape, image.shape)]
            raise ValueError(
                f"pictures must be of one size, {printable(paths[0])} is {sizes[0]} and "
                f"{printable(path)} {sizes[1]}; resize them first"
            )
    if len({image.ndim for image in images}) == 1:
        return images
    return [np.stack([image] * 3, axis=2) if image.ndim == 2 else image for image in images]
