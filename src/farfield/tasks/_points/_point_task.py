"""Base of tasks of naming the class of a point in the plane."""

from __future__ import annotations

from abc import abstractmethod
from typing import ClassVar, Final

import numpy as np
import torch
from jaxtyping import Float64, Int64

from farfield.core import Problems, Stream
from farfield.tasks._points._circle import nearly_normal
from farfield.tasks._protocol._class_task import ClassTask
from farfield.tasks._protocol._draws import permutation
from farfield.tasks._protocol._task import TRAINING, Regime

TEST: Final = "test"
Classes = Int64[np.ndarray, " item"]
Points = Float64[np.ndarray, "item 2"]


class PointTask(ClassTask):
    """Points about a curve for each class."""

    name: ClassVar[str]
    version: ClassVar[int]

    noise: float

    @property
    def item_shape(self) -> tuple[int, ...]:
        """Coordinates of a point."""
        return (2,)

    @property
    def length(self) -> int:
        """Number of points of a problem: one."""
        return 1

    @property
    def segments(self) -> tuple[tuple[int, ...], ...]:
        """One context: the point."""
        return ((0,),)

    @property
    def regimes(self) -> tuple[Regime, ...]:
        """Training and test, which shows new points."""
        unit = "classes that training lacks"
        return tuple(Regime(name=name, distance=0.0, unit=unit) for name in (TRAINING, TEST))

    @abstractmethod
    def _curves(self, classes: Classes, generator: np.random.Generator) -> Points:
        """A point of the curve of each class, anywhere on it."""

    def _place(self, run: Stream) -> Stream:
        return run.child(self.name, f"v{self.version}")

    def _points(self, place: Stream, count: int) -> tuple[Points, Classes]:
        """So many points and their classes, as many of each class but for one."""
        classes = permutation(place.child("classes").numpy(), count) % self.num_outputs
        points = self._curves(classes, place.child("curves").numpy())
        return points + self.noise * nearly_normal(place.child("noise").numpy(), count), classes


def point_problems(
    points: Points, rows: Int64[np.ndarray, " batch"], target: Int64[np.ndarray, " batch"]
) -> Problems:
    """A problem for each row, over the table of all points.

    Args:
        points: All points.
        rows: Which of them are asked about.
        target: The class of each of these.
    """
    return Problems(
        items=torch.from_numpy(points.astype(np.float32)),
        index=torch.from_numpy(rows)[:, None],
        target=torch.from_numpy(target),
    )
