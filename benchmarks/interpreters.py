"""Training a Neural Interpreter beside a direct transcription and a Vision Transformer's encoder.

Run from the root of the checkout:

    python -m benchmarks.interpreters            # about two minutes
    python -m benchmarks.interpreters --quick    # fewer rounds

The interpreter is that of the released settings for digits, the core of 643,059 parameters: sets of
64 patches and three CLS tokens, 192 features each, eight iterations of five functions. The Vision
Transformer's encoder is torch's, with about as many floating point operations. In every round each
contender makes one training step, forward and backward, one after another in one process of one
thread, so that a neighbor on the machine slows all of them alike; the result is the median of the
rounds' ratios. Processor time is taken, which a neighbor does not lengthen by its own.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import Any

import torch
import tyro
from torch import Tensor, nn

from benchmarks import _interpreters_report as report
from benchmarks import _pages
from benchmarks._held import most_bytes
from benchmarks._products import flops
from benchmarks._rounds import Options, publish
from benchmarks.rims import in_turns
from benchmarks.straightforward_interpreters import DirectInterpreter
from farfield.nn import NeuralInterpreter, Syntax

RESULTS = _pages.RESULTS / "interpreters"
ITEMS, BATCH = 67, 32
WARM_UP = 1
VIT_FEATURES, VIT_LAYERS, VIT_HEADS = 384, 9, 6


def transformer() -> nn.TransformerEncoder:
    """Build the encoder of a Vision Transformer, normalized before each residual."""
    layer = nn.TransformerEncoderLayer(
        VIT_FEATURES,
        VIT_HEADS,
        4 * VIT_FEATURES,
        dropout=0.0,
        activation="gelu",
        batch_first=True,
        norm_first=True,
    )
    return nn.TransformerEncoder(layer, VIT_LAYERS, enable_nested_tensor=False)


def contenders() -> dict[str, tuple[nn.Module, int]]:
    """Build all normalizers with their features, by the names on the page."""
    printed = NeuralInterpreter(192, syntax=Syntax.printed(), grid=(8, 8))
    return {
        report.VIT: (transformer(), VIT_FEATURES),
        report.DIRECT: (DirectInterpreter(), 192),
        report.OURS: (NeuralInterpreter.released_digits(), 192),
        "NeuralInterpreter(192), as the text has it": (printed, 192),
    }


def one_step(core: nn.Module, x: Tensor, gradient: Tensor) -> None:
    """Forward and backward."""
    for parameter in core.parameters():
        parameter.grad = None
    core(x).backward(gradient)


def measure(cores: Mapping[str, tuple[nn.Module, int]], items: int, batch: int, rounds: int) -> Any:
    """Measure a line for each contender: operations, memory, and its time in every round.

    Args:
        cores: From set to set, with their features, by name.
        items: Elements of a set.
        batch: Sets of a step.
        rounds: Rounds of turns.
    """
    generator = torch.Generator().manual_seed(0)
    works = {}
    for name, (core, features) in cores.items():
        drawn = (torch.randn(batch, items, features, generator=generator) for _ in range(2))
        x, gradient = drawn
        works[name] = partial(one_step, core, x.requires_grad_(), gradient)
    samples = in_turns(works, rounds, WARM_UP)
    return [
        {
            "name": name,
            "parameters": sum(p.numel() for p in cores[name][0].parameters()),
            "flops": flops(work),
            "bytes": most_bytes(work),
            "seconds": samples[name],
        }
        for name, work in works.items()
    ]


def main(options: Options) -> None:
    """Measure, show it and write it down."""
    settings = {"items": ITEMS, "batch": BATCH}
    parts = {"lines": lambda rounds: measure(contenders(), ITEMS, BATCH, rounds)}
    publish(options, settings, parts, RESULTS, report.markdown, report.cells)


if __name__ == "__main__":
    main(tyro.cli(Options, default=Options(rounds=7)))
