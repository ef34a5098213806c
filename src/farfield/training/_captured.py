"""Programs of a GPU, recorded once and replayed."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final, final

import torch
from torch import Tensor

from farfield._machine import takes

Inputs = Mapping[str, Mapping[str, Tensor]]
"""Tensors by name, in groups by name."""

WARM_UP: Final = 3
"""Calls before a program is recorded, in which libraries choose their kernels."""


@final
class Captured:
    """A function of tensors that a GPU records once for every set of shapes, and then replays.

    A step of small networks is some hundred kernels of a few microseconds each, and to ask for one
    takes longer than it runs. A replay asks once for all of them (CUDA graphs). Its outputs lie
    where those of the call before lay. On a CPU, and where the function cannot be recorded since
    it waits for a number, it is called as it is.

    Args:
        function: What is called with groups of tensors and gives any outputs.
        changed: Tensors outside of the groups that a call changes in place.
        replay: False to call it as it is on a GPU too.
    """

    def __init__(
        self,
        function: Callable[[Inputs], Any],
        changed: Sequence[Tensor],
        *,
        replay: bool = True,
    ) -> None:
        self._function = function
        self._changed = changed
        self._programs: dict[Any, tuple[torch.cuda.CUDAGraph, list[Tensor], Any]] = {}
        self._replays = replay

    def __call__(self, inputs: Inputs) -> Any:
        """Outputs of the function.

        Args:
            inputs: Its groups of tensors.
        """
        given = _flat(inputs)
        if not (self._replays and takes("graphs", all(tensor.is_cuda for tensor in given))):
            return self._function(inputs)
        shapes = tuple((tensor.shape, tensor.dtype) for tensor in given)
        if shapes not in self._programs:
            before = [tensor.clone() for tensor in self._changed]
            try:
                self._programs[shapes] = self._record(inputs)
            except RuntimeError:
                self._replays = False
            finally:
                for tensor, value in zip(self._changed, before, strict=True):
                    tensor.copy_(value)
            if not self._replays:
                return self._function(inputs)
        graph, held, outputs = self._programs[shapes]
        torch._foreach_copy_(held, given)
        graph.replay()
        return outputs

    @property
    def is_recorded(self) -> bool:
        """True if there is a program to be replayed."""
        return bool(self._programs)

    def _record(self, inputs: Inputs) -> tuple[torch.cuda.CUDAGraph, list[Tensor], Any]:
        """A recorded program, where its inputs lie, and its outputs."""
        own = {
            group: {name: tensor.clone() for name, tensor in part.items()}
            for group, part in inputs.items()
        }
        aside = torch.cuda.Stream()  # type: ignore[no-untyped-call]
        aside.wait_stream(torch.cuda.current_stream())
        with torch.cuda.stream(aside):
            for _ in range(WARM_UP):
                self._function(own)
        torch.cuda.current_stream().wait_stream(aside)
        graph = torch.cuda.CUDAGraph()
        with torch.cuda.graph(graph):
            outputs = self._function(own)
        return graph, _flat(own), outputs


def _flat(inputs: Inputs) -> list[Tensor]:
    return [tensor for part in inputs.values() for tensor in part.values()]
