"""Sequence layers under `torch.compile`: time to compile, and a pass beside eager mode.

Run from the root of the checkout:

    python -m benchmarks.compiled            # some minutes
    python -m benchmarks.compiled --quick    # fewer rounds

Inductor compiles a pass forward and backward with an empty cache; torch's compiler itself is
loaded before. In every round the compiled and the eager layer make one pass on the same inputs, one
after the other in one process of one thread; the result is the median of the rounds' ratios.
Processor time is taken, of C++ compilers too.
"""

from __future__ import annotations

import resource
from collections.abc import Callable, Mapping
from functools import partial
from statistics import median
from typing import Any

import torch
import tyro
from torch import Tensor, nn

from benchmarks import _pages
from benchmarks._report import page_of_table
from benchmarks._rounds import Options, publish
from benchmarks.rims import in_turns, one_pass
from farfield.nn import (
    SEQUENCE_LAYERS,
    NeuralInterpreter,
    NormalizedGRU,
    NormalizedLSTM,
    NormalizedRNN,
)

RESULTS = _pages.RESULTS / "compiled"
TIME, BATCH, UNITS = 20, 32, 96
COLUMNS = ("layer", "nodes", "compile (s)", "eager (ms)", "compiled / eager", "range")

Json = Mapping[str, Any]


def contenders() -> dict[str, nn.Module]:
    """Build all layers, by the names of their classes."""
    classes = [*SEQUENCE_LAYERS.values(), NormalizedRNN, NormalizedGRU, NormalizedLSTM]
    layers = {cls.__name__: cls(UNITS, UNITS) for cls in classes}
    return layers | {NeuralInterpreter.__name__: NeuralInterpreter(UNITS)}


def used() -> float:
    """Measure the processor time of this process and of the processes that it has waited for."""
    kinds = (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)
    return sum(sum(resource.getrusage(kind)[:2]) for kind in kinds)


def compile_layer(
    layer: nn.Module, x: Tensor, gradient: Tensor
) -> tuple[Callable[..., Any], float, int]:
    """Compile a pass; return the compiled layer, seconds, and number of nodes that torch traced.

    Args:
        layer: The layer.
        x: Inputs.
        gradient: Gradient of the outputs.
    """
    from torch._inductor.compile_fx import compile_fx  # noqa: PLC0415 — loads a compiler

    nodes: list[int] = []

    def counted(graph: torch.fx.GraphModule, inputs: list[Tensor]) -> Any:
        nodes.append(len(graph.graph.nodes))
        return compile_fx(graph, inputs)

    torch.compiler.reset()
    compiled = torch.compile(layer, backend=counted, fullgraph=True)
    start = used()
    one_pass(compiled, x, gradient)
    return compiled, used() - start, nodes[0]


def measure(layers: Mapping[str, nn.Module], rounds: int) -> list[Json]:
    """Measure a line for each layer: compilation, and the times of every round.

    Args:
        layers: Layers by name.
        rounds: Rounds of turns.
    """
    from torch._inductor import config  # noqa: PLC0415 — loads a compiler
    from torch._inductor.utils import fresh_cache  # noqa: PLC0415

    config.compile_threads = 1  # no other processes, whose time would not be counted
    generator = torch.Generator().manual_seed(0)
    x, gradient = (torch.randn(TIME, BATCH, UNITS, generator=generator) for _ in range(2))
    x.requires_grad_()
    compile_layer(nn.Linear(UNITS, UNITS), x, gradient)
    lines = []
    for name, layer in layers.items():
        with fresh_cache():
            compiled, seconds, nodes = compile_layer(layer, x, gradient)
            both = {"eager": layer, "compiled": compiled}
            works = {kind: partial(one_pass, call, x, gradient) for kind, call in both.items()}
            samples = in_turns(works, rounds)
        lines.append({"name": name, "nodes": nodes, "compile": seconds, **samples})
    return lines


def cells(line: Json, _: list[Json]) -> tuple[str, ...]:
    """Format one row of the table, in the order of `COLUMNS`."""
    pairs = zip(line["compiled"], line["eager"], strict=True)
    ratios = [compiled / eager for compiled, eager in pairs]
    return (
        line["name"],
        str(line["nodes"]),
        f"{line['compile']:.1f}",
        f"{1e3 * median(line['eager']):.1f}",
        f"{median(ratios):.2f}",
        f"{min(ratios):.2f}–{max(ratios):.2f}",
    )


def markdown(results: Json) -> str:
    """Write the results as a Markdown page."""
    settings = results["settings"]
    said = (
        f"A pass forward and backward over {settings['batch']} sequences of {settings['time']} "
        f"steps (of the Neural Interpreter: {settings['time']} sets of {settings['batch']} items) "
        f"through a layer of {settings['units']} units with its other options by default. Nodes: "
        "of the one graph that torch traces. Compile: processor time until the first pass by "
        "inductor is done, with an empty cache, C++ compiler included. The ratio is the median "
        f"of the ratios of {settings['rounds']} rounds of processor time in one thread, in which "
        "both took turns."
    )
    return page_of_table(results, "Layers under `torch.compile`", said, COLUMNS, cells)


def main(options: Options) -> None:
    """Measure, show it and write it down."""
    settings = {"batch": BATCH, "time": TIME, "units": UNITS}
    parts = {"lines": lambda rounds: measure(contenders(), rounds)}
    publish(options, settings, parts, RESULTS, markdown, cells)


if __name__ == "__main__":
    main(tyro.cli(Options, default=Options(rounds=21)))
