"""Answers of any model: a module, an estimator or a function, as classes or numbers."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from itertools import chain
from typing import Any, Final, Literal, final

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

BATCH: Final = 256
"""Items of one call of a model."""

METHODS: Final = ("predict_proba", "decision_function", "predict")
"""Methods of an estimator that answer, the first one that it has is called."""


@final
@dataclass(frozen=True, kw_only=True)
class Answers:
    """Answers to some items.

    Args:
        values: Number of the class of each item (-1 for none), or the number itself.
        confidence: Probability of the answered class; None where a model gives none.
        missing: Number of items whose answer is no number.
    """

    values: NDArray[Any]
    confidence: NDArray[np.float64] | None
    missing: int


@final
@dataclass(frozen=True, kw_only=True)
class Answerer:
    """A model with the way to call it and to read its answers.

    Args:
        call: Function from items to raw answers.
        says: Kind of the raw answers, in words.
        classes: Labels, in the order of the model's answers; empty if it answers with numbers.
    """

    call: Callable[[Any], NDArray[Any]]
    says: Literal["class scores", "probabilities", "labels", "numbers", "one score a class pair"]
    classes: tuple[Any, ...]

    def __call__(self, x: Any) -> Answers:
        """Answer items, some at a time.

        Args:
            x: An array or a data frame.

        Raises:
            ValueError: If the model gives another number of answers than items.
        """
        raw = raw_answers(self.call, x)
        if self.says == "numbers":
            values = raw.reshape(len(raw)).astype(np.float64)
            return Answers(
                values=values, confidence=None, missing=int((~np.isfinite(values)).sum())
            )
        if self.says == "labels":
            known = {label: number for number, label in enumerate(self.classes)}
            flat = raw.reshape(len(raw)).tolist()
            values = np.array([known.get(label, -1) for label in flat])
            return Answers(values=values, confidence=None, missing=0)
        scores = raw.astype(np.float64).reshape(len(raw), -1)
        if self.says == "one score a class pair":
            scores = np.concatenate([np.zeros_like(scores), scores], 1)
        if self.says != "probabilities":
            scores = scores - scores.max(1, keepdims=True)
            scores = np.exp(scores) / np.exp(scores).sum(1, keepdims=True)
        elif scores.shape[1] == 1:
            scores = np.concatenate([1 - scores, scores], 1)
        is_number = np.isfinite(scores).all(1)
        values = np.where(is_number, np.nan_to_num(scores).argmax(1), -1)
        return Answers(
            values=values,
            confidence=np.nan_to_num(scores).max(1),
            missing=int((~is_number).sum()),
        )


def raw_answers(call: Callable[[Any], NDArray[Any]], x: Any) -> NDArray[Any]:
    """Call a model on all items, some at a time, and join its answers.

    Args:
        call: Function from items to raw answers.
        x: An array or a data frame.

    Raises:
        ValueError: If the model gives another number of answers than items.
    """
    found = []
    for start in range(0, len(x), BATCH):
        part = (
            x[start : start + BATCH] if isinstance(x, np.ndarray) else x.iloc[start : start + BATCH]
        )
        answers = np.asarray(call(part))
        if answers.ndim == 0 or len(answers) != len(part):
            raise ValueError(
                f"model must give one answer an item, got an array of shape {answers.shape} for "
                f"{len(part)} items, the first of them item {start}"
            )
        found.append(answers)
    return np.concatenate(found)


def answerer_of(model: Any, x: Any, y: NDArray[Any] | None, device: str | None = None) -> Answerer:
    """Find how a model is called and how its answers are read, by calling it on two items.

    Args:
        model: A `torch.nn.Module`, an estimator of scikit-learn's kind, or a function.
        x: Items.
        y: Labels or numbers; None without any.
        device: Device to which a module is moved; its own if None.

    Raises:
        ValueError: If the model cannot be called on items, or its answers fit no reading; or if
            the device is a GPU and the model is no module.
    """
    if isinstance(model, nn.Module):
        model.to(device)
    elif device not in (None, "cpu"):
        raise ValueError(
            f"device must be cpu for a model that is no torch.nn.Module, got {device!r} for "
            f"{type(model).__name__}"
        )
    call, method = _call_of(model, x)
    sample = x[:2] if isinstance(x, np.ndarray) else x.iloc[:2]
    try:
        raw = raw_answers(call, sample)
    except Exception as error:
        raise ValueError(
            f"model must answer items, got {type(error).__name__} for two of them: {error}"
        ) from error
    is_class = (
        y is not None
        and y.dtype.kind != "f"
        and (method in ("predict_proba", "decision_function") or len(np.unique(y)) <= 2)
    )
    width = raw.shape[1] if raw.ndim > 1 else 1
    if raw.ndim > 2:
        raise ValueError(
            f"model must give a number, a label or a row of class scores an item, got shape "
            f"{raw.shape} for two items"
        )
    labels = getattr(model, "classes_", None)
    if width > 1:
        known = _classes(labels, y, width)
        says = "probabilities" if method == "predict_proba" or _are_shares(raw) else "class scores"
        return Answerer(call=call, says=says, classes=known)  # type: ignore[arg-type]
    if raw.dtype.kind != "f" or (labels is not None and method == "predict"):
        seen = np.unique(raw_answers(call, x)).tolist() if y is None else np.unique(y).tolist()
        return Answerer(call=call, says="labels", classes=tuple(seen if labels is None else labels))
    if is_class:
        known = _classes(labels, y, 2)
        everything = raw_answers(call, x[:BATCH] if isinstance(x, np.ndarray) else x.iloc[:BATCH])
        within = bool(((everything >= 0) & (everything <= 1)).all()) and method is None
        says = "probabilities" if within else "one score a class pair"
        return Answerer(call=call, says=says, classes=known)  # type: ignore[arg-type]
    return Answerer(call=call, says="numbers", classes=())


def _are_shares(raw: NDArray[Any]) -> bool:
    """Check whether rows are probabilities."""
    return bool((raw >= 0).all() and np.allclose(raw.sum(1), 1, atol=1e-3))


def _classes(labels: Any, y: NDArray[Any] | None, width: int) -> tuple[Any, ...]:
    """Return the label of each class score: of the model, of the data in order, or its number."""
    if labels is not None and len(labels) == width:
        return tuple(np.asarray(labels).tolist())
    seen = [] if y is None else np.unique(y).tolist()
    if all(isinstance(one, int) and 0 <= one < width for one in seen):
        return tuple(range(width))
    if len(seen) == width:
        return tuple(seen)
    raise ValueError(
        f"model must give a score for each of the {len(seen)} classes of y, got {width} scores an "
        f"item; labels must be 0…{width - 1}, or as many as there are scores"
    )


def _call_of(model: Any, x: Any) -> tuple[Callable[[Any], NDArray[Any]], str | None]:
    """Return a function from items to raw answers, and the method that it calls."""
    if isinstance(model, nn.Module):
        return _module_call(model), None
    for method in METHODS:
        if hasattr(model, method):
            return getattr(model, method), method
    if not callable(model):
        raise ValueError(
            f"model must be a torch.nn.Module, have {', '.join(METHODS)}, or be a function, got "
            f"{type(model).__name__}"
        )
    return _function_call(model, x), None


def _module_call(model: nn.Module) -> Callable[[Any], NDArray[Any]]:
    """Return a function that calls a module in evaluation mode, and leaves it as it was found."""

    def call(x: Any) -> NDArray[Any]:
        parameter = next(chain(model.parameters(), model.buffers()), None)
        dtype = torch.float32 if parameter is None else parameter.dtype
        device = torch.device("cpu") if parameter is None else parameter.device
        given = torch.from_numpy(np.ascontiguousarray(x if isinstance(x, np.ndarray) else x.values))
        if given.dtype.is_floating_point or given.dtype == torch.uint8:
            given = given.to(dtype if dtype.is_floating_point else torch.float32)
        was_training = model.training
        model.eval()
        try:
            with torch.no_grad():
                return _as_array(model(given.to(device)))
        finally:
            model.train(was_training)

    return call


def _function_call(model: Callable[..., Any], x: Any) -> Callable[[Any], NDArray[Any]]:
    """Return a function that calls a function with arrays, or with tensors if it wants them."""

    def of_arrays(items: Any) -> NDArray[Any]:
        return _as_array(model(items))

    def of_tensors(items: Any) -> NDArray[Any]:
        with torch.no_grad():
            return _as_array(model(torch.from_numpy(np.ascontiguousarray(items))))

    if not isinstance(x, np.ndarray) or x.dtype.kind not in "fiub":
        return of_arrays
    for call in (of_arrays, of_tensors):
        try:
            call(x[:2])
        except Exception:  # noqa: BLE001, S112 — the function is the user's
            continue
        return call
    return of_arrays  # whose error is shown


def _as_array(found: Any) -> NDArray[Any]:
    """Return answers as an array."""
    if isinstance(found, Tensor):
        return (
            found.detach().cpu().float().numpy()
            if found.dtype.is_floating_point
            else (found.detach().cpu().numpy())
        )
    if isinstance(found, tuple) and found:
        return _as_array(found[0])
    return np.asarray(found)
