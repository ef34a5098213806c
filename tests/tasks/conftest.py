"""What tests of tasks share: real files that are unpacked once."""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache

import pytest

from farfield.tasks._files import _data_sets

UNPACKED = lru_cache(maxsize=4)(_data_sets.unpack_gzip)
"""The same bytes unpack to the same."""


@pytest.fixture(scope="module", autouse=True)
def _unpacked_once() -> Iterator[None]:
    """Take it back for the tests after this file: keys refuse a part that was replaced."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(_data_sets, "unpack_gzip", UNPACKED)
        yield
