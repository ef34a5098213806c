"""What tests of tasks share: real files that are unpacked once."""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache

import pytest

from farfield.tasks._files import _data_sets


@pytest.fixture(scope="session", autouse=True)
def _unpacked_once() -> Iterator[None]:
    """The same bytes unpack to the same."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(_data_sets, "unpack_gzip", lru_cache(maxsize=4)(_data_sets.unpack_gzip))
        yield
