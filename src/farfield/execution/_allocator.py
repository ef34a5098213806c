"""Keep freed memory in the process: glibc gives large buffers back to the system at every step."""

from __future__ import annotations

import ctypes
from typing import Final

GLIBC: Final = "libc.so.6"
"""Library whose allocator takes the settings; only Linux has it, and not every Linux."""

_M_TRIM_THRESHOLD, _M_TOP_PAD, _M_MMAP_MAX = -1, -2, -4
_LARGE = 1 << 30


def keep_freed_memory() -> bool:
    """Tell glibc to reuse large buffers instead of mapping fresh, zeroed pages each time.

    Training on a CPU allocates the same buffers at every step; taking them from the system anew
    costs a page fault per 4 kB. Resident memory then stays at its peak until the process ends.

    Returns:
        Whether the allocator took the setting; `False` where it is not glibc's.
    """
    try:
        mallopt = ctypes.CDLL(GLIBC).mallopt
    except (OSError, AttributeError):
        return False
    settings = ((_M_MMAP_MAX, 0), (_M_TRIM_THRESHOLD, _LARGE), (_M_TOP_PAD, 64 << 20))
    return all(mallopt(name, value) == 1 for name, value in settings)
