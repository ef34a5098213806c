"""Items and labels of a profile, from arrays, frames, sets and tasks."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from farfield.analysis.internal import is_frame
from farfield.core import stream
from farfield.tasks import ProblemTask

FEWEST: Final = 30
"""Least items of a profile."""
LEARNED: Final = ("training", "validation", "unlabelled")
"""Sets that are never profiled."""


def sets_of(data: Any) -> tuple[Any, NDArray[Any] | None, Any]:
    """Return items, labels and items of training from the data of a user.

    Args:
        data: `(x, y)`, `x`, sets of them by name, or a task.

    Raises:
        ValueError: If sets have no `test`.
    """
    if isinstance(data, ProblemTask):
        data = sets_of_task(data)
    training = None
    if isinstance(data, Mapping):
        names = [name for name in data if name not in LEARNED]
        name = "test" if "test" in data else (names[0] if len(names) == 1 else None)
        if name is None:
            raise ValueError(f"data must have a set named test, got {', '.join(map(str, data))}")
        if "training" in data:
            training, _, _ = sets_of(data["training"])
        data = data[name]
    x, y = data if isinstance(data, tuple) and len(data) == 2 else (data, None)
    return _array(x), None if y is None else np.asarray(_array(y)), training


def sets_of_task(task: ProblemTask) -> dict[str, tuple[Any, Any]]:
    """Draw the sets of a task whose problems are single items.

    Args:
        task: The task.

    Raises:
        ValueError: If problems have several items.
    """
    if task.length != 1:
        raise ValueError(f"data must be a task of single items, got {task.length} a problem")
    drawn = task.draw(stream(0))
    return {name: (one.sequences()[:, 0], one.target) for name, one in drawn.items()}


def _array(x: Any) -> Any:
    """Return items as an array or a data frame."""
    if is_frame(x):
        return x
    if hasattr(x, "detach"):
        x = x.detach().cpu().numpy()
    if isinstance(x, list) and x and isinstance(x[0], str):
        return np.array(x, dtype=object)
    return np.asarray(x)


def check_labels(x: Any, y: NDArray[Any] | None) -> None:
    """Raise `ValueError` unless there are enough items, and a label for each.

    Args:
        x: An array or a data frame.
        y: Labels; None without any.
    """
    if len(x) < FEWEST:
        raise ValueError(f"data must have at least {FEWEST} items, got {len(x)}")
    if y is None:
        return
    if y.ndim == 2 and y.shape[1] == 1:
        raise ValueError(f"y must have one axis, got shape {y.shape}; give y[:, 0]")
    if y.shape != (len(x),):
        raise ValueError(f"y must have a label for each of {len(x)} items, got shape {y.shape}")
    if y.dtype.kind == "f" and not np.isfinite(y).all():
        raise ValueError(f"y must be finite, got {int((~np.isfinite(y)).sum())} that are not")


def numbered(y: NDArray[Any], classes: Sequence[Any]) -> NDArray[np.int64]:
    """Return the number of the class of each label; a label that is no class gets -2.

    Args:
        y: Labels.
        classes: Labels, in the order of a model's answers.
    """
    known = {label: number for number, label in enumerate(classes)}
    return np.array([known.get(label, -2) for label in y.tolist()])


def rows_of(x: Any, index: NDArray[Any]) -> Any:
    """Return some items.

    Args:
        x: An array or a data frame.
        index: Numbers of the items.
    """
    return x[index] if isinstance(x, np.ndarray) else x.iloc[index].reset_index(drop=True)


def digest_of(x: Any, y: NDArray[Any] | None) -> str:
    """Compute a digest of items and labels.

    Args:
        x: An array or a data frame.
        y: Labels; None without any.
    """
    found = hashlib.sha256()
    for part in (x, y):
        if part is None:
            continue
        if isinstance(part, np.ndarray) and part.dtype != object:
            found.update(f"{part.shape}{part.dtype}".encode())
            found.update(np.ascontiguousarray(part).tobytes())
        elif isinstance(part, np.ndarray):
            found.update("\0".join(map(str, part)).encode())
        else:
            found.update(part.to_csv().encode())
    return found.hexdigest()
