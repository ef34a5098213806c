"""Writing of VAEC problems to HDF5 in the published layout."""

from __future__ import annotations

import contextlib
import math
import os
import secrets
from pathlib import Path

import numpy as np
import torch
from jaxtyping import Int64

from farfield._system import replace_file
from farfield.core import Problems, excerpt, printable, writable_place
from farfield.tasks._vaec._vaec_layout import (
    LARGEST_SIDE,
    LARGEST_TABLE,
    LEVELS,
    MEMBERS,
    MOST_PROBLEMS,
    PREMISES,
    hdf5,
)
from farfield.tasks._vaec._vaec_problems import NUM_DIMENSIONS, candidates_of

_DESCRIPTION = {"dimension": (), "analogy": (4,), "distance": (), "object": (NUM_DIMENSIONS,)}
"""The latent description of a problem, integers of these shapes."""
_INTEGERS = (torch.uint8, torch.int8, torch.int16, torch.int32, torch.int64)


def write_vaec(path: str | Path, problems: Problems) -> None:
    """Write VAEC problems as the released generator does: HDF5, a group for each problem.

    Groups `"0"`, `"1"`, … hold `imgs` (uint8, the levels of the varied dimension in ascending
    order), `latent_class` (their levels within the region: X, Y, size, brightness), `analogy_dim`
    (0…3), `ABCD` (places in `imgs`), `dist` (B − A) and `not_D` (the foils). The seven pictures of
    a problem are 344 kB, a region is some 6.6 GB; nothing else here needs such a file. h5py writes
    it: `pip install 'farfield[hdf5]'`.

    ```py
    sets = VAECTranslation().draw(stream(0))
    write_vaec("analogy_train.hy", sets["training"])
    write_vaec("analogy_test1.hy", sets["region-2"])
    ```

    Args:
        path: The file; one that is there is replaced when the new one is whole.
        problems: Problems of one region or scale, as a task draws them or `read_vaec` gives them.

    Raises:
        ValueError: If these are no problems of VAEC, or are such as `read_vaec` refuses: none, too
            many, or with a latent description that is not an analogy. Nothing is written then.
        OSError: If the file cannot be written; nothing of it is left.
        ModuleNotFoundError: If h5py is not installed.

    Reference:
        webb2020, section 2.1.
    """
    path, h5py, columns = writable_place(Path(path)), hdf5(), _columns(problems)
    pictures = problems.table().cpu().numpy()
    temporary = path.with_name(f".{path.name}.{secrets.token_hex(4)}.tmp")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with h5py.File(temporary, "w") as file:
            for row in range(len(problems)):
                group = file.create_group(str(row))
                group["imgs"] = pictures[columns["imgs"][row]]
                for name in MEMBERS[1:]:
                    group[name] = columns[name][row]
        with temporary.open("rb+") as written:
            os.fsync(written.fileno())
        replace_file(temporary, path)
    except (OSError, RuntimeError) as error:  # h5py raises either where the disk is full
        raise OSError(f"cannot write {printable(path)}: {excerpt(error)}") from error
    finally:
        with contextlib.suppress(OSError):
            temporary.unlink(missing_ok=True)


def _columns(problems: Problems) -> dict[str, np.ndarray]:
    """The datasets of all problems; of `imgs` the rows of the table."""
    lacking = sorted(set(_DESCRIPTION) - set(problems.latent))
    if lacking or problems.items.shape[3:] != (3,):
        raise ValueError(
            "problems must be VAEC's, images in color with their levels as latent description, "
            f"got items of {tuple(problems.items.shape[1:])}, lacking {lacking}"
        )
    num_levels = problems.index.shape[1] - PREMISES
    _check_shapes(problems, num_levels)
    latent = {name: problems.latent[name].cpu().numpy().astype(np.int64) for name in _DESCRIPTION}
    _check_latent(latent, num_levels)
    dimension, analogy = latent["dimension"], latent["analogy"]
    level = np.arange(num_levels)
    levels = np.repeat(latent["object"][:, None], num_levels, axis=1)
    levels[np.arange(len(levels))[:, None], level, dimension[:, None]] = level
    _check_size(levels, problems.items.shape[1:])
    return {
        "imgs": _ascending(problems, analogy),
        "latent_class": levels,
        "analogy_dim": dimension,
        "ABCD": analogy,
        "dist": latent["distance"],
        "not_D": candidates_of(analogy[:, 3], num_levels)[:, 1:],
    }


def _check_shapes(problems: Problems, num_levels: int) -> None:
    """Raise `ValueError` unless number, pictures and description are such as a file may hold."""
    count, items, target = len(problems), problems.items, problems.target
    if not 1 <= count <= MOST_PROBLEMS:
        raise ValueError(f"problems must be 1…{MOST_PROBLEMS:,}, got {count:,}")
    height, width = items.shape[1:3]
    if items.dtype != torch.uint8 or not 1 <= height == width <= LARGEST_SIDE:
        raise ValueError(
            f"items must be square uint8 pictures of at most {LARGEST_SIDE} pixels a side, "
            f"got {items.dtype} of {tuple(items.shape[1:])}"
        )
    if num_levels not in LEVELS:
        raise ValueError(
            f"index must hold A, B, C and {LEVELS[0]}…{LEVELS[-1]} candidates, "
            f"got {problems.index.shape[1]} places"
        )
    problems.check_index()
    if target.shape != (count,) or not set(target.tolist()) <= set(range(num_levels)):
        raise ValueError(
            f"target must be one candidate, 0…{num_levels - 1}, of each problem, got "
            f"{target.dtype} of shape {tuple(target.shape)}: {target.tolist()[:9]}"
        )
    for name, shape in _DESCRIPTION.items():
        given = problems.latent[name]
        if given.dtype not in _INTEGERS or given.shape != (count, *shape):
            raise ValueError(
                f"latent[{name!r}] must be integers of shape {(count, *shape)}, "
                f"got {given.dtype} of shape {tuple(given.shape)}"
            )


def _check_latent(latent: dict[str, np.ndarray], num_levels: int) -> None:
    """Raise `ValueError` if the description of a problem is not that of one analogy."""
    dimension, levels = latent["dimension"], latent["object"]
    a, b, c, d = latent["analogy"].T
    last = num_levels - 1
    varied = np.take_along_axis(levels, dimension.clip(0, NUM_DIMENSIONS - 1)[:, None], axis=1)
    for name, wanted, right in (
        ("dimension", f"0…{NUM_DIMENSIONS - 1}", _within(dimension, NUM_DIMENSIONS)),
        (
            "analogy",
            f"levels 0…{last} with B − A = D − C and neither A = B nor A = C",
            _within(latent["analogy"], num_levels).all(1) & (b - a == d - c) & (a != b) & (a != c),
        ),
        ("distance", "B − A", latent["distance"] == b - a),
        (
            "object",
            f"the levels 0…{last} of A, along the dimension of the analogy that of A in it",
            _within(levels, num_levels).all(1) & (varied[:, 0] == a),
        ),
    ):
        if not right.all():
            row = int(right.argmin())
            raise ValueError(
                f"latent[{name!r}] must be {wanted}, "
                f"got {latent[name][row].tolist()} in problem {row}"
            )


def _within(numbers: np.ndarray, end: int) -> np.ndarray:
    return (numbers >= 0) & (numbers < end)


def _check_size(levels: Int64[np.ndarray, "batch candidate 4"], shape: tuple[int, ...]) -> None:
    """Raise `ValueError` if there are more distinct pictures than are read again."""
    sizes = (levels.shape[1],) * NUM_DIMENSIONS
    pictures = len(np.unique(np.ravel_multi_index(tuple(np.moveaxis(levels, 2, 0)), sizes)))
    if pictures * math.prod(shape) > LARGEST_TABLE:
        raise ValueError(
            f"problems must have distinct pictures of at most {LARGEST_TABLE:,} bytes together, "
            f"got {pictures} pictures of shape {tuple(shape)}"
        )


def _ascending(
    problems: Problems, analogy: Int64[np.ndarray, "batch 4"]
) -> Int64[np.ndarray, "batch candidate"]:
    """Rows of the candidates in the order of their levels, which is the order of the table."""
    places = problems.index.cpu().numpy()
    candidates = places[:, PREMISES:]
    right = np.take_along_axis(candidates, problems.target.cpu().numpy()[:, None], axis=1)
    ascending = np.sort(candidates, axis=1)
    terms = np.concatenate([places[:, :PREMISES], right], axis=1)
    if not np.array_equal(np.take_along_axis(ascending, analogy, axis=1), terms):
        raise ValueError(
            "problems must be over a table in the order of the levels, as the task draws it; in "
            "this one the candidates do not fit the levels of A, B, C and D"
        )
    return ascending
