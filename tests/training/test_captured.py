"""Programs of a GPU, recorded once and replayed: run on any machine with a stand-in for the GPU."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator
from typing import Any

import pytest
import torch
from torch import Tensor
from torch.utils import _pytree as pytree

from farfield._machine import FORCED
from farfield.training._stack import WARM_UP, Captured, Inputs
from farfield.training.internal import Stack
from small import small_experiment


class Graph:
    """Stand-in for `torch.cuda.CUDAGraph`: a replay fills the outputs of the recorded call anew."""

    def __init__(self) -> None:
        self.call: tuple[Callable, Inputs, Any] | None = None

    def replay(self) -> None:
        function, inputs, outputs = self.call
        kept, found = pytree.tree_leaves(outputs), pytree.tree_leaves(function(inputs))
        for own, new in zip(kept, found, strict=True):
            if isinstance(own, Tensor):
                own.data.copy_(new)


class Stream:
    """Stand-in for `torch.cuda.Stream`."""

    def wait_stream(self, other: Stream) -> None:
        pass


@pytest.fixture
def recorded(monkeypatch) -> list[Graph]:
    """Replay on a CPU; the list has the programs that were recorded."""
    programs: list[Graph] = []

    @contextlib.contextmanager
    def graph(program: Graph) -> Iterator[None]:
        programs.append(program)
        yield

    make = Captured.__init__

    def noting(self: Captured, function: Callable, *rest: Any, **options: Any) -> None:
        def noted(inputs: Inputs) -> Any:
            outputs = function(inputs)
            if programs and programs[-1].call is None:
                programs[-1].call = (function, inputs, outputs)
            return outputs

        make(self, noted, *rest, **options)

    monkeypatch.setitem(FORCED, "graphs", True)
    monkeypatch.setattr(Captured, "__init__", noting)
    monkeypatch.setattr(torch.cuda, "CUDAGraph", Graph)
    monkeypatch.setattr(torch.cuda, "Stream", Stream)
    monkeypatch.setattr(torch.cuda, "current_stream", Stream)
    monkeypatch.setattr(torch.cuda, "stream", lambda _: contextlib.nullcontext())
    monkeypatch.setattr(torch.cuda, "graph", graph)
    return programs


def test_replay_gives_the_outputs_of_its_inputs(recorded: list[Graph]) -> None:
    count = torch.zeros(())

    def add(inputs: Inputs) -> Tensor:
        count.add_(1)
        return inputs["batch"]["x"] + count

    captured = Captured(add, [count])
    for number in range(1, 4):
        x = torch.full((2,), float(number))
        assert torch.equal(captured({"batch": {"x": x}}), x + number)
        assert count == number  # the calls before the recording and in it have changed nothing
    assert len(recorded) == 1
    assert captured.is_recorded
    captured({"batch": {"x": torch.zeros(3)}})  # another shape is another program
    assert len(recorded) == 2


@pytest.mark.parametrize("recordable", [True, False])
def test_function_that_cannot_be_recorded_is_called(
    recordable: bool, recorded: list[Graph]
) -> None:
    calls = []

    def double(inputs: Inputs) -> Tensor:
        calls.append(1)
        if len(calls) == WARM_UP + 1 and not recordable:
            raise RuntimeError("operation not permitted when stream is capturing")
        return 2 * inputs["batch"]["x"]

    captured = Captured(double, [])
    for number in range(3):
        assert captured({"batch": {"x": torch.ones(2) * number}}).tolist() == [2.0 * number] * 2
    assert captured.is_recorded is recordable


def test_networks_trained_by_replays_are_those_trained_without(recorded: list[Graph]) -> None:
    experiment = small_experiment(steps=4)
    found = []
    for replay in (True, False):
        stack = Stack(experiment, (0, 1), replay=replay)
        for step in range(4):
            stack.update(step)
        found.append(stack.state())
    assert recorded
    for replayed, called in zip(*map(pytree.tree_leaves, found), strict=True):
        assert torch.equal(torch.as_tensor(replayed), torch.as_tensor(called))
