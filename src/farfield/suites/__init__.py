"""Suites: a module of one's own on several tasks, beside every mechanism that was recorded."""

from farfield._exports import face
from farfield.suites._bench import bench as bench
from farfield.suites._profile._mends import mend as mend
from farfield.suites._profile._profile import profile as profile
from farfield.suites._recorded import recorded as recorded
from farfield.suites._suites import SUITES as SUITES

__all__ = face(vars())
