"""Names of `farfield.suites` for Farfield itself; they may change in any release."""

from farfield._exports import exported
from farfield.suites._bench import Benchmark as Benchmark
from farfield.suites._bench import Misfit as Misfit
from farfield.suites._bench import fitted as fitted
from farfield.suites._bench import import_own as import_own
from farfield.suites._bench import load_module as load_module
from farfield.suites._bench import own_parts as own_parts
from farfield.suites._bench import planned_jobs as planned_jobs
from farfield.suites._profile._mend import Mend as Mend
from farfield.suites._profile._mends import Mends as Mends
from farfield.suites._profile._profile import ShiftProfile as ShiftProfile
from farfield.suites._profile._profile import names_of_shifts as names_of_shifts
from farfield.suites._profile._saved import read_profile as read_profile
from farfield.suites._recorded import Recorded as Recorded
from farfield.suites._recorded import record_suite as record_suite
from farfield.suites._suites import Item as Item
from farfield.suites._suites import Suite as Suite

__all__ = exported(vars())
