"""Names of `farfield.objectives` for Farfield itself; they may change in any release."""

from farfield._exports import exported
from farfield.objectives._objective import Carry as Carry
from farfield.objectives._teachers import teacher_warning as teacher_warning

__all__ = exported(vars())
