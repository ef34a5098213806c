"""Keep freed memory in the process: glibc gives large buffers back to the system at every step."""

from __future__ import annotations

import ctypes
import mmap
import sys

_M_TRIM_THRESHOLD, _M_TOP_PAD, _M_MMAP_MAX = -1, -2, -4
_LARGE = 1 << 30
_HUGE_PAGE, _AHEAD = 2 << 20, 512 << 20


def keep_freed_memory() -> bool:
    """Tell glibc to reuse large buffers instead of mapping fresh, zeroed pages each time.

    Training on a CPU allocates the same buffers at every step; taking them from the system anew
    costs a page fault per 4 kB. Resident memory then stays at its peak until the process ends. The
    first 512 MB are asked for in pages of 2 MB, where Linux has them: what a step touches lies in
    thousands of small pages, more than a processor knows the places of.

    Returns:
        Whether the allocator took the setting; `False` where it is not glibc's.
    """
    if not sys.platform.startswith("linux"):
        return False
    try:
        libc = ctypes.CDLL("libc.so.6")
        mallopt = libc.mallopt
    except (OSError, AttributeError):
        return False
    settings = ((_M_MMAP_MAX, 0), (_M_TRIM_THRESHOLD, _LARGE), (_M_TOP_PAD, 64 << 20))
    kept = all(mallopt(name, value) == 1 for name, value in settings)
    if kept:
        _ask_for_huge_pages(libc)
    return kept


def _ask_for_huge_pages(libc: ctypes.CDLL) -> None:
    """Let the heap grow, mark what it grew by and give it back, unused, to be handed out later."""
    address, size = ctypes.c_void_p, ctypes.c_size_t
    libc.malloc.restype, libc.malloc.argtypes = address, [size]
    libc.madvise.argtypes, libc.free.argtypes = [address, size, ctypes.c_int], [address]
    begin = libc.malloc(_AHEAD)
    if begin is None:
        return
    first = -(-begin // _HUGE_PAGE) * _HUGE_PAGE
    libc.madvise(first, begin + _AHEAD - first, mmap.MADV_HUGEPAGE)
    libc.free(begin)
