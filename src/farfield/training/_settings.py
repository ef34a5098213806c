"""Settings of torch that a result depends on, fixed for a run and given back after it."""

from __future__ import annotations

import contextlib
import functools
import sys
from collections.abc import Callable, Iterator
from typing import Any, Final, Literal

import torch

Setting = tuple[Callable[[], Any], Callable[[Any], Any], Any]
"""Reader and writer of a setting, and its value in a run."""


Matmul = Literal["float32", "tf32"]
"""Precision of matrix products of float32 on a GPU."""

_PRECISION: Final = {"float32": "highest", "tf32": "high"}


def _flushes_denormals() -> bool:
    """Tell if denormal numbers count as zero in this thread, which torch does not report."""
    return sys.float_info.min / 2 == 0.0


def _flag(owner: Any, name: str, value: Any) -> Setting:
    return (functools.partial(getattr, owner, name), functools.partial(setattr, owner, name), value)


_FIXED: Final[tuple[Setting, ...]] = (
    (torch.get_default_dtype, torch.set_default_dtype, torch.float32),
    (torch.get_num_threads, torch.set_num_threads, 1),
    (torch.get_deterministic_debug_mode, torch.set_deterministic_debug_mode, 0),
    _flag(torch.backends.mkldnn, "enabled", True),
    _flag(torch.backends.mkldnn, "deterministic", False),
    _flag(torch.backends.cudnn, "enabled", True),
    _flag(torch.backends.cudnn, "deterministic", False),
    _flag(torch.backends.cudnn, "benchmark", False),
)


@contextlib.contextmanager
def fixed_settings(*, flush_denormal: bool = False, matmul: Matmul = "float32") -> Iterator[None]:
    """Context manager: torch has the settings of a fresh process, on one thread.

    They are the default type and device, automatic casts, gradients, the number of threads and the
    choice among kernels.

    Args:
        flush_denormal: Whether denormal numbers count as zero. Once a network answers with
            confidence, its gradients sink below 1e-38, and a product of such numbers takes several
            times as long as any other.
        matmul: How a GPU multiplies matrices of float32: `"tf32"` rounds their numbers to ten bits
            of mantissa first.
    """
    flush = (_flushes_denormals, torch.set_flush_denormal, flush_denormal)
    precision: Setting = (
        torch.get_float32_matmul_precision,
        torch.set_float32_matmul_precision,
        _PRECISION[matmul],
    )
    with contextlib.ExitStack() as stack:
        for read, write, value in (*_FIXED, flush, precision):
            if (before := read()) != value:
                write(value)
                stack.callback(write, before)
        for kind in ("cpu", "cuda"):
            if torch.is_autocast_enabled(kind):
                stack.enter_context(torch.autocast(kind, enabled=False))
        if torch.get_default_device() != torch.device("cpu"):
            stack.enter_context(torch.device("cpu"))  # slows every call: only where it is needed
        stack.enter_context(torch.inference_mode(False))
        stack.enter_context(torch.enable_grad())
        yield
