"""Suites: a module of one's own on several tasks, beside every mechanism that was recorded."""

from farfield._exports import exported
from farfield.suites._bench import Benchmark as Benchmark
from farfield.suites._bench import Misfit as Misfit
from farfield.suites._bench import bench as bench
from farfield.suites._bench import fitted as fitted
from farfield.suites._bench import load_module as load_module
from farfield.suites._recorded import Recorded as Recorded
from farfield.suites._recorded import record_suite as record_suite
from farfield.suites._recorded import recorded as recorded
from farfield.suites._suites import SUITES as SUITES
from farfield.suites._suites import Item as Item
from farfield.suites._suites import Suite as Suite

__all__ = exported(vars())
