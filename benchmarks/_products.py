"""The products of a piece of work: how many FLOPs, and how fast this machine does them alone.

The floor of a training step is the time its matrix products and convolutions take when each is
run by itself, at the same shapes and strides, forward and backward, with the faster of the kernels
that torch has: no program that does these products with these kernels can be faster.
"""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import partial
from typing import Any, Final, final

import torch
from torch import Tensor
from torch.nn.attention import SDPBackend, sdpa_kernel
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils.flop_counter import FlopCounterMode, flop_registry

from farfield.functional._autograd._products import add_product, product

REPEATS = 5
SECONDS = 0.02
OTHER_KERNELS: Final[dict[Any, Callable[..., Tensor]]] = {
    torch.ops.aten.mm.default: product,
    torch.ops.aten.addmm.default: add_product,
}
"""Function of the library for each operator that it computes faster."""


@final
class Recorder(TorchDispatchMode):
    """Remember every product: the operator and the shapes and strides it was given."""

    def __init__(self) -> None:
        super().__init__()
        self.calls: Counter[tuple[Hashable, ...]] = Counter()

    def __torch_dispatch__(
        self,
        func: Any,
        types: Sequence[type],
        args: tuple[Any, ...] = (),
        kwargs: Mapping[str, Any] | None = None,
    ) -> Any:
        if func.overloadpacket in flop_registry:
            named = tuple((name, described(value)) for name, value in (kwargs or {}).items())
            self.calls[(func, tuple(described(value) for value in args), named)] += 1
        return func(*args, **(kwargs or {}))


def described(value: Any) -> Hashable:
    """Make a hashable stand-in for an argument; a tensor by dtype, shape and strides."""
    if isinstance(value, Tensor):
        return (Tensor, value.dtype, tuple(value.shape), value.stride())
    if isinstance(value, list | tuple):
        return (list, tuple(described(part) for part in value))
    return (None, value)


def remade(description: Any) -> Any:
    """Make an argument from its description; tensors hold fresh random numbers."""
    kind, *parts = description
    if kind is Tensor:
        dtype, shape, strides = parts
        extent = 1 + sum((size - 1) * stride for size, stride in zip(shape, strides, strict=True))
        return torch.randn(extent, dtype=dtype).as_strided(shape, strides)
    if kind is list:
        return [remade(part) for part in parts[0]]
    return parts[0]


@contextmanager
def plain_operators() -> Iterator[None]:
    """Switch fused operators off, so that their parts can be counted."""
    fast_path = torch.backends.mha.get_fastpath_enabled()
    torch.backends.mha.set_fastpath_enabled(False)
    onednn, *_ = torch.backends.mkldnn.set_flags(_enabled=False)
    try:
        with sdpa_kernel(SDPBackend.MATH):
            yield
    finally:
        torch.backends.mkldnn.set_flags(_enabled=onednn)
        torch.backends.mha.set_fastpath_enabled(fast_path)


def products(work: Callable[[], object], *, repeats: int = 1) -> dict[str, float]:
    """Count the FLOPs of one call of `work`, and the seconds of its products alone.

    Args:
        work: The function to count, for instance one training step.
        repeats: Number of calls to average over, where their shapes differ.
    """
    recorder = Recorder()
    counter = FlopCounterMode(display=False)
    with plain_operators(), recorder, counter:  # the counter first takes composites apart
        for _ in range(repeats):
            work()
    seconds = sum(count * seconds_alone(*call) for call, count in recorder.calls.items())
    return {"flops": counter.get_total_flops() / repeats, "seconds": seconds / repeats}


def flops(work: Callable[[], object]) -> int:
    """Count the FLOPs of one call of `work`.

    Args:
        work: The function to count, for instance one training step.
    """
    counter = FlopCounterMode(display=False)
    with plain_operators(), counter:
        work()
    return counter.get_total_flops()


@torch.no_grad()
def seconds_alone(func: Any, args: tuple[Any, ...], kwargs: tuple[Any, ...]) -> float:
    """Measure the shortest time of one operator alone at the described shapes."""
    positional = [remade(value) for value in args]
    named = {name: remade(value) for name, value in kwargs}
    kernels = [func, *([OTHER_KERNELS[func]] if func in OTHER_KERNELS and not named else [])]
    return min(shortest(partial(kernel, *positional, **named)) for kernel in kernels)


def shortest(call: Callable[[], object]) -> float:
    """Measure the shortest time of a call; with one thread the processor time."""
    clock = time.process_time if torch.get_num_threads() == 1 else time.perf_counter
    best = float("inf")
    done, end = 0, time.perf_counter() + SECONDS
    while done < REPEATS or time.perf_counter() < end:
        start = clock()
        call()
        best = min(best, clock() - start)
        done += 1
    return best
