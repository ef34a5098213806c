"""Mends of a recipe: fronts, rules and augmentation, the plain recipe among them."""

from __future__ import annotations

import copy
from collections.abc import Callable, Mapping, Sequence
from itertools import chain
from typing import Any, Final, final

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn
from torch.nn import functional as F

from farfield.analysis import Shift
from farfield.analysis.internal import Items
from farfield.nn import ContextNorm, DivisiveNorm2d, StatisticsMatch
from farfield.suites._profile._answers import METHODS
from farfield.suites._profile._sets import rows_of

WINDOW: Final = 5
"""Side of the window of divisive normalization, pixels."""


@final
class Mend:
    """A change of a recipe: of the front of its network, of its batches or of its loss.

    A recipe of torch calls `front`, `batch` and `loss`; a recipe of arrays, such as scikit-learn's,
    calls `arrays`. The mend `plain` changes nothing.

    Args:
        name: Name, for the table.
        make_front: Function from the shape of an item to a module; None for no front.
        shifts: Shifts that items of training get, each up to the strength beside it.
        mixes: Whether pairs of items are mixed (mixup).
        smoothing: Share of the labels that is spread over all classes.
        num_classes: Number of classes; 0 where answers are numbers.

    Attributes:
        seed: Number of the draws of `arrays`; `mend` sets it to the seed of the network.
    """

    def __init__(
        self,
        name: str,
        *,
        make_front: Callable[[tuple[int, ...]], nn.Module] | None = None,
        shifts: Sequence[tuple[Shift, float]] = (),
        mixes: bool = False,
        smoothing: float = 0.0,
        num_classes: int = 0,
    ) -> None:
        self.name = name
        self.make_front = make_front
        self.shifts = tuple(shifts)
        self.mixes = mixes
        self.smoothing = smoothing
        self.num_classes = num_classes
        self.seed = 0
        self.outside: nn.Module | None = None

    def __repr__(self) -> str:
        return f"Mend({self.name!r})"

    def front(self, item_shape: tuple[int, ...]) -> nn.Module:
        """Make the first layer of the network, before which items are unchanged.

        Args:
            item_shape: Shape of an item.
        """
        return nn.Identity() if self.make_front is None else self.make_front(tuple(item_shape))

    def batch(
        self, x: Tensor, y: Tensor, generator: torch.Generator | None = None
    ) -> tuple[Tensor, Tensor]:
        """Change a batch of training; mixed labels are probabilities.

        Args:
            x: Items.
            y: Numbers of their classes, or numbers.
            generator: Source of the draws; torch's own if None.
        """
        if self.shifts:
            x = torch.from_numpy(self._shifted(x.cpu().numpy(), generator)).to(x)
        if not self.mixes:
            return x, y
        weight = float(torch.rand((), generator=generator))
        other = torch.randperm(len(x), generator=generator)
        soft = F.one_hot(y, self.num_classes).to(x.dtype) if self.num_classes else y
        mixed = torch.lerp(x[other].to(x.dtype), x, weight)
        return mixed, weight * soft + (1 - weight) * soft[other]

    def loss(self, outputs: Tensor, y: Tensor) -> Tensor:
        """Compute the mean loss of a batch that `batch` returned.

        Args:
            outputs: Class scores, or numbers.
            y: Numbers of classes, their probabilities, or numbers.
        """
        if not self.num_classes:
            return F.mse_loss(outputs.reshape(y.shape), y.to(outputs.dtype))
        return F.cross_entropy(outputs, y, label_smoothing=self.smoothing)

    def arrays(self, x: Any, y: NDArray[Any]) -> tuple[Any, NDArray[Any]]:
        """Change arrays of training once, for a recipe without batches: changed items are added.

        Args:
            x: Items: an array or a data frame.
            y: Their labels.
        """
        if self.make_front is not None:
            self.outside = self.front(x.shape[1:])
            return _through(self.outside, x), y
        if not self.shifts:
            return x, y
        added = self._shifted(x, torch.Generator().manual_seed(self.seed))
        if isinstance(x, np.ndarray):
            return np.concatenate([x, added]), np.concatenate([y, y])
        import pandas as pd  # noqa: PLC0415 — an extra

        return pd.concat([x, added], ignore_index=True), np.concatenate([y, y])

    def _shifted(self, x: Any, generator: torch.Generator | None) -> Any:
        """Change each item by one of the shifts, by a strength drawn evenly up to its end."""
        which = torch.randint(len(self.shifts), (len(x),), generator=generator).numpy()
        shares = torch.rand(len(self.shifts), generator=generator).tolist()
        seed = int(torch.randint(2**31, (), generator=generator))
        changed = x.copy()
        for number, ((shift, end), share) in enumerate(zip(self.shifts, shares, strict=True)):
            rows = np.flatnonzero(which == number)
            if not len(rows):
                continue
            part = shift(rows_of(x, rows), shift.nearest(share * end), seed)
            if isinstance(x, np.ndarray):
                if part.shape[1:] == x.shape[1:]:
                    changed[rows] = part
            else:
                changed = changed.astype({name: part[name].dtype for name in part.columns})
                changed.iloc[rows] = part
        return changed


def _through(front: nn.Module, x: NDArray[Any]) -> NDArray[Any]:
    """Apply a module to an array."""
    with torch.no_grad():
        given = torch.from_numpy(np.ascontiguousarray(x)).to(torch.float32)
        found: NDArray[Any] = front(given).numpy()
    return found


@final
class _Fronted:
    """A model of any kind behind a front."""

    def __init__(self, model: Any, front: nn.Module) -> None:
        if hasattr(model, "classes_"):
            self.classes_ = model.classes_
        for method in METHODS:
            if hasattr(model, method):
                setattr(self, method, self._behind(getattr(model, method), front))
                return
        self.predict = self._behind(model, front)

    @staticmethod
    def _behind(call: Callable[[Any], Any], front: nn.Module) -> Callable[[Any], Any]:
        return lambda x: call(_through(front, x))


def fronted(model: Any, front: nn.Module) -> Any:
    """Put a module in front of a model of any kind.

    Args:
        model: A module, an estimator or a function.
        front: The module.
    """
    if isinstance(model, nn.Module):
        held = next(chain(model.parameters(), model.buffers()), torch.empty(0))
        return nn.Sequential(copy.deepcopy(front).to(held.device), model)
    if any(hasattr(model, method) for method in METHODS):
        return _Fronted(model, front)
    return lambda x: model(_through(front, x))


def match_for(known: Items, training: NDArray[Any]) -> StatisticsMatch | None:
    """Make the front that gives items the mean and spread of training; None where items have none.

    Args:
        known: Kind and axes of the items.
        training: Items of training.
    """
    if known.kind == "images":
        dims = tuple(range(-len(known.axes), 0))
    elif known.kind == "series":
        dims = (known.axes.index("time") - len(known.axes),)
    else:
        return None
    return StatisticsMatch.of(torch.from_numpy(np.ascontiguousarray(training)).float(), dims)


def candidates(
    known: Items, fit: Any, failing: Mapping[Shift, float], num_classes: int
) -> list[Mend]:
    """Return the mends that fit items and failures, the plain recipe first.

    Args:
        known: Kind and axes of the items.
        fit: Items of training.
        failing: Strength of the failure of each shift that items can get.
        num_classes: Number of classes; 0 where answers are numbers.
    """
    half = [(shift, end / 2) for shift, end in failing.items() if not shift.reweights]
    groups = list(dict.fromkeys(shift.group for shift, _ in half))
    more: dict[str, dict[str, Any]] = {"plain": {}}
    match = match_for(known, fit) if isinstance(fit, np.ndarray) else None
    if match is not None:
        more["item standardization"] = {"make_front": lambda _: match}
    if known.kind == "images":
        more["divisive normalization"] = {"make_front": lambda shape: _Divisive(known, shape)}
    if known.kind == "set":
        more["context norm"] = {"make_front": lambda shape: _Context(known, shape)}
    if known.kind in ("images", "series", "set") or known.columns:
        more["mixup"] = {"mixes": True}
    if num_classes:
        more["label smoothing"] = {"smoothing": 0.1}
    if half:
        more["augmented"] = {"shifts": half}
    if len(groups) > 1:
        for group in groups:
            chosen = [one for one in half if one[0].group == group]
            more[f"augmented, {group}"] = {"shifts": chosen}
    return [Mend(name, num_classes=num_classes, **fields) for name, fields in more.items()]


@final
class _Divisive(nn.Module):
    """Divisive normalization of images with any order of axes."""

    def __init__(self, known: Items, shape: tuple[int, ...]) -> None:
        super().__init__()
        order = [
            known.axes.index(one) for one in ("channel", "height", "width") if one in known.axes
        ]
        self.order = (0, *(1 + axis for axis in order))
        self.back = tuple(int(axis) for axis in np.argsort(self.order))
        self.norm = DivisiveNorm2d(shape[order[0]] if len(order) == 3 else 1, WINDOW)

    def forward(self, x: Tensor) -> Tensor:
        """Normalize images.

        Args:
            x: Images.
        """
        images = x.float().permute(self.order)
        wide = images if images.ndim == 4 else images[:, None]
        found = self.norm(wide)
        return (found if images.ndim == 4 else found[:, 0]).permute(self.back)


@final
class _Context(nn.Module):
    """Context normalization over the elements of a set."""

    def __init__(self, known: Items, shape: tuple[int, ...]) -> None:
        super().__init__()
        self.turns = known.axes.index("element") == 1
        self.norm = ContextNorm(shape[0] if self.turns else shape[-1])

    def forward(self, x: Tensor) -> Tensor:
        """Normalize sets.

        Args:
            x: Sets.
        """
        return self.norm(x.float().mT).mT if self.turns else self.norm(x.float())
