"""Farfield: learning that holds far from its training data.

Nothing is imported here, so that the command line can answer without loading torch. Import what
you need from the folder that holds it: `farfield.tasks`, `farfield.nn`, `farfield.models`, …
"""

__version__ = "0.1.0"
