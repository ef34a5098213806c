"""Tables, curves and pictures of problems, for people."""

from farfield.reports._problem_sheet import problem_sheet as problem_sheet

__all__ = ["problem_sheet"]
