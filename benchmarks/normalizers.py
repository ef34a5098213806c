"""Normalizers beside the torch kernel that moves as much memory, forward and backward.

Run from the root of the checkout:

    python -m benchmarks.normalizers              # eager and compiled, some minutes
    python -m benchmarks.normalizers --quick      # the same with few rounds
    python -m benchmarks.normalizers --busy       # where others work: processor time
    python -m benchmarks.normalizers --no-compiled

Both run in this process on the same tensor, in turns, so that a neighbor on the machine slows
both; the result is the median of the rounds' ratios. Compiling takes a C++ compiler.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, final

import torch
import tyro
from rich.console import Console
from torch import Tensor
from torch.nn import functional as F

from benchmarks import _normalizer_report, _pages
from benchmarks._worker import ROOT
from farfield.functional import context_norm, divisive_norm_1d, divisive_norm_2d
from farfield.records import environment

RESULTS = _pages.RESULTS / "normalizers"
WINDOW = 5

Norm = Callable[[Tensor, Tensor, Tensor], Tensor]
"""Function from activations, gain and shift to normalized activations."""


@final
@dataclass(frozen=True, kw_only=True)
class Case:
    """A normalizer and the kernel it is measured beside.

    Args:
        name: Of the normalizer.
        ours: The normalizer.
        reference: Name of torch's function.
        theirs: That function.
        shape: Of the activations.
        targets: Largest ratio, eager and compiled; None for none.
    """

    name: str
    ours: Norm
    reference: str
    theirs: Norm
    shape: tuple[int, ...]
    targets: tuple[float, float] | None


def _layer_norm(z: Tensor, weight: Tensor, bias: Tensor) -> Tensor:
    return F.layer_norm(z, z.shape[-1:], weight, bias, 1e-8)


def _group_norm(z: Tensor, _weight: Tensor, _bias: Tensor) -> Tensor:
    return F.group_norm(z, 1)


def _bare_layer_norm(z: Tensor, _weight: Tensor, _bias: Tensor) -> Tensor:
    return F.layer_norm(z, z.shape[-1:])


def _divisive_2d(z: Tensor, _weight: Tensor, _bias: Tensor) -> Tensor:
    return divisive_norm_2d(z, WINDOW)


def _divisive_1d(z: Tensor, _weight: Tensor, _bias: Tensor) -> Tensor:
    return divisive_norm_1d(z, 61)


CASES = (
    *(
        Case(
            name="context_norm",
            ours=context_norm,
            reference="layer_norm",
            theirs=_layer_norm,
            shape=shape,
            targets=(3.5, 2.0),
        )
        for shape in ((4096, 4, 256), (1024, 9, 128))
    ),
    *(
        Case(
            name=f"divisive_norm_2d, window {WINDOW}",
            ours=_divisive_2d,
            reference="group_norm",
            theirs=_group_norm,
            shape=shape,
            targets=(3.5, 2.5),
        )
        for shape in ((64, 32, 32, 32), (100, 64, 16, 16))
    ),
    Case(
        name="divisive_norm_1d, window 61",
        ours=_divisive_1d,
        reference="layer_norm",
        theirs=_bare_layer_norm,
        shape=(4096, 400),
        targets=None,
    ),
)


@final
@dataclass(frozen=True, kw_only=True)
class Options:
    """Options and duration of the measurement.

    Args:
        rounds: Rounds of each case; the medians are over these.
        quick: Seven rounds, for a first look.
        compiled: Measure the normalizers compiled too, beside the same eager kernel.
        busy: Compare processor time of one thread, which neighbors disturb less.
        beside: Other load of the machine, for the page; empty for none.
        name: Name of the result files; by default date and processor.
    """

    rounds: int = 51
    quick: bool = False
    compiled: bool = True
    busy: bool = False
    beside: str = ""
    name: str | None = None


def seconds_of(norm: Norm, tensors: list[Tensor], gradient: Tensor, *, busy: bool) -> float:
    """Run one pass forward and backward."""
    clock = time.thread_time if busy else time.perf_counter
    for tensor in tensors:
        tensor.grad = None
    start = clock()
    norm(*tensors).backward(gradient)
    return clock() - start


def measure(case: Case, *, compiled: bool, rounds: int, busy: bool) -> dict[str, Any]:
    """Measure a line of results: both alternate on the same tensor."""
    generator = torch.Generator().manual_seed(0)
    z, gradient = (torch.randn(case.shape, generator=generator) for _ in range(2))
    affine = (torch.rand(case.shape[-1], generator=generator) for _ in range(2))
    tensors = [tensor.requires_grad_() for tensor in (z, *affine)]
    ours = torch.compile(case.ours) if compiled else case.ours
    samples: dict[str, list[float]] = {"ours": [], "theirs": []}
    for number in range(rounds + 3):
        for name, norm in (("theirs", case.theirs), ("ours", ours)):
            taken = seconds_of(norm, tensors, gradient, busy=busy)
            if number >= 3:  # the first ones compile and warm up
                samples[name].append(taken)
    return {
        "name": case.name,
        "reference": case.reference,
        "shape": list(case.shape),
        "compiled": compiled,
        "target": None if case.targets is None else case.targets[compiled],
        **samples,
    }


def main(options: Options) -> None:
    """Measure everything asked for, show it and write it down."""
    console = Console()
    torch.set_num_threads(1)
    rounds = 7 if options.quick else options.rounds
    described = environment(device="cpu", engine="one thread")
    name = options.name or _pages.name_of_today(described)
    results: dict[str, Any] = {
        "environment": described,
        "settings": {"rounds": rounds, "busy": options.busy, "beside": options.beside},
        "lines": [],
    }
    for compiled in (False, True) if options.compiled else (False,):
        for case in CASES:
            line = measure(case, compiled=compiled, rounds=rounds, busy=options.busy)
            results["lines"].append(line)
            console.print(" · ".join(_normalizer_report.cells(line)))
            path = _pages.write(results, RESULTS, name, _normalizer_report.markdown)
    console.print(f"Written to {path.relative_to(ROOT)} and {path.with_suffix('.md').name}")


if __name__ == "__main__":
    main(tyro.cli(Options))
