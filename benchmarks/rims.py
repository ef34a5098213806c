"""Training recurrent independent mechanisms beside `nn.LSTM` and a direct transcription.

Run from the root of the checkout:

    python -m benchmarks.rims            # about a minute
    python -m benchmarks.rims --quick    # fewer rounds

The sequences are those of copying after a dormant phase of 50: 70 steps of embeddings of 600
numbers, of ten symbols, 64 sequences at a time; six mechanisms of 100 units, four of them active.
Layers of ours can be given the embeddings of the symbols and their indices, instead of the
sequences. In every round each contender makes one pass forward and backward, one after another in
one process of one thread, so that a neighbor on the machine slows all of them alike; the result
is the median of the rounds' ratios. Processor time is taken, which a neighbor does not lengthen by
its own.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

import torch
import tyro
from torch import Tensor, nn

from benchmarks import _pages, _rims_report
from benchmarks._products import flops
from benchmarks._rounds import Options, publish
from benchmarks.straightforward_rims import DirectRIMs
from farfield.functional import Indexed
from farfield.nn import GRUDynamics, GRULayer, InputAttention, LSTMLayer, RIMs, Wiring

RESULTS = _pages.RESULTS / "rims"
TIME, BATCH, UNITS, MECHANISMS, ACTIVE = 70, 64, 600, 6, 4
SYMBOLS = 10
WARM_UP = 2

BY_NUMBER = ", symbols by number"
"""End of the name of a contender that is given the symbols and their indices."""


def layers() -> dict[str, nn.Module]:
    """Build all contenders, by the names on the page."""
    made = partial(RIMs, UNITS, UNITS, num_mechanisms=MECHANISMS, num_active=ACTIVE)
    text = Wiring(input_attention=InputAttention(bias=False))
    return {
        _rims_report.LSTM: nn.LSTM(UNITS, UNITS),
        _rims_report.DIRECT: DirectRIMs(UNITS, UNITS, MECHANISMS, ACTIVE),
        _rims_report.OURS: made(wiring=text),
        "RIMs, gated recurrent units": made(wiring=Wiring(dynamics=GRUDynamics())),
        "RIMs, as released, dropout off": made(wiring=Wiring.released()).eval(),
        "RIMs, as released": made(wiring=Wiring.released()),
        _rims_report.OURS + BY_NUMBER: made(wiring=text),
        "LSTM layer" + BY_NUMBER: LSTMLayer(UNITS, UNITS),
        "nn.GRU": nn.GRU(UNITS, UNITS),
        "GRU layer": GRULayer(UNITS, UNITS),
        "GRU layer" + BY_NUMBER: GRULayer(UNITS, UNITS),
    }


def one_pass(layer: nn.Module, x: Tensor | Indexed, gradient: Tensor) -> None:
    """Forward and backward."""
    for parameter in layer.parameters():
        parameter.grad = None
    found = layer(x)
    (found[0] if isinstance(found, tuple) else found).backward(gradient)


def seconds_of(work: Callable[[], object]) -> float:
    """Measure the processor time of a function."""
    start = time.process_time()
    work()
    return time.process_time() - start


def in_turns(
    works: Mapping[str, Callable[[], object]], rounds: int, warm_up: int = WARM_UP
) -> dict[str, list[float]]:
    """Measure the processor times of functions in turns, round by round.

    Args:
        works: The functions by name.
        rounds: Rounds that count.
        warm_up: Rounds before them.
    """
    samples: dict[str, list[float]] = {name: [] for name in works}
    for number in range(warm_up + rounds):
        for name, work in works.items():
            taken = seconds_of(work)
            if number >= warm_up:
                samples[name].append(taken)
    return samples


def measure(contenders: Mapping[str, nn.Module], shape: tuple[int, int, int], rounds: int) -> Any:
    """Measure a line for each contender: its operations, and its time in every round.

    Args:
        contenders: Layers by name.
        shape: Time, batch and features of the inputs, as many as units.
        rounds: Rounds of turns.
    """
    generator = torch.Generator().manual_seed(0)
    time_and_batch, features = shape[:2], shape[2]
    symbols = torch.randn(SYMBOLS, features, generator=generator)
    index = torch.randint(SYMBOLS, time_and_batch, generator=generator)
    gradient = torch.randn(shape, generator=generator)
    x = symbols[index].requires_grad_()
    few = Indexed(symbols.requires_grad_(), index)
    works = {
        name: partial(one_pass, layer, few if name.endswith(BY_NUMBER) else x, gradient)
        for name, layer in contenders.items()
    }
    samples = in_turns(works, rounds)
    return [
        {"name": name, "flops": flops(work), "seconds": samples[name]}
        for name, work in works.items()
    ]


def main(options: Options) -> None:
    """Measure, show it and write it down."""
    settings = {
        "time": TIME,
        "batch": BATCH,
        "units": UNITS,
        "mechanisms": MECHANISMS,
        "active": ACTIVE,
    }
    parts = {"lines": lambda rounds: measure(layers(), (TIME, BATCH, UNITS), rounds)}
    publish(options, settings, parts, RESULTS, _rims_report.markdown, _rims_report.cells)


if __name__ == "__main__":
    main(tyro.cli(Options))
