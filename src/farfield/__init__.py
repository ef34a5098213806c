"""Farfield: generalization far from the training data.

Nothing is imported here, so that the command line can answer without loading torch. Import from
the packages: `farfield.tasks`, `farfield.nn`, `farfield.models`, …
"""

__version__ = "0.1.0"
