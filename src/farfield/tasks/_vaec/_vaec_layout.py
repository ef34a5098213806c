"""The published HDF5 layout of a VAEC problem."""

from __future__ import annotations

import importlib
from typing import Any, Final

MEMBERS: Final = ("imgs", "latent_class", "analogy_dim", "ABCD", "dist", "not_D")
"""Datasets of a problem."""
PREMISES: Final = 3
"""A, B and C, before the candidates."""
LEVELS: Final = range(3, 15)
"""Possible numbers of images of a problem."""
MOST_PROBLEMS: Final = 2_000_000
LARGEST_SIDE: Final = 1024
"""Height and width of a picture, pixels."""
LARGEST_TABLE: Final = 2**28
"""Distinct pictures of a file, bytes; a published one has 118 million."""


def hdf5() -> Any:
    """The module h5py, which only these files need.

    Raises:
        ModuleNotFoundError: If it is not installed.
    """
    try:
        return importlib.import_module("h5py")
    except ModuleNotFoundError as error:
        raise ModuleNotFoundError(
            "HDF5 files need h5py, which is not installed: pip install 'farfield[hdf5]'"
        ) from error
