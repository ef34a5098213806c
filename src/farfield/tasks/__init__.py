"""The problems: graded benchmarks that know of no model."""

from farfield.tasks._task import TRAINING as TRAINING
from farfield.tasks._task import Regime as Regime
from farfield.tasks._task import Task as Task

__all__ = ["TRAINING", "Regime", "Task"]
