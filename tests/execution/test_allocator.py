"""Freed memory stays with the process, in large pages."""

import runpy
import subprocess
import sys
from pathlib import Path

import pytest

from farfield.execution import _allocator

PAGES = Path("/sys/kernel/mm/transparent_hugepage/enabled")
ALONE = f"""
import ctypes, runpy
from pathlib import Path

def resident(kind):
    lines = Path("/proc/self/smaps_rollup").read_text().splitlines()
    return next(int(line.split()[1]) for line in lines if line.startswith(kind))

assert runpy.run_path({_allocator.__file__!r})["keep_freed_memory"]()
before = resident("AnonHugePages")
assert resident("Rss") < 100_000  # what is only marked takes no memory
buffer = ctypes.create_string_buffer(64 << 20)
first = ctypes.addressof(buffer)
print(resident("AnonHugePages") - before)
del buffer
assert resident("Rss") > 64_000
assert ctypes.addressof(ctypes.create_string_buffer(64 << 20)) == first
"""


@pytest.mark.skipif(
    not PAGES.exists() or "[never]" in PAGES.read_text(), reason="Linux has no large pages here"
)
def test_large_buffers_are_kept_and_in_large_pages() -> None:
    ran = subprocess.run([sys.executable, "-c", ALONE], capture_output=True, text=True, check=True)
    assert int(ran.stdout) > 32_000


def test_other_systems_are_left_as_they_are(monkeypatch) -> None:
    monkeypatch.setattr(sys, "platform", "win32")
    assert not runpy.run_path(_allocator.__file__)["keep_freed_memory"]()
