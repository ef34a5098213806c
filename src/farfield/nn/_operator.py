"""Modules that are one operator in a program of `torch.compile`.

Torch would trace every step of a recurrence, and compile for minutes.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import count
from typing import Any, NoReturn, Self, cast
from weakref import WeakValueDictionary

import torch
from torch import Tensor, nn

from farfield.functional.internal import is_autocast, is_transformed

_MODULES: WeakValueDictionary[int, OneOperator] = WeakValueDictionary()
"""Modules by number: an operator takes no module, but a tensor with the number of one."""

_NUMBERS = count()

_EAGER = (
    torch._C._dispatch_tls_local_include_set(),  # noqa: SLF001
    torch._C._dispatch_tls_local_exclude_set(),  # noqa: SLF001
)
"""Torch's kernels outside operators; inside an operator torch records no graph."""


class OneOperator(nn.Module):
    """Base of modules whose computation is one operator in a program of `torch.compile`.

    The operator runs the computation as in eager mode and keeps its graph for the gradient. The
    program has the same number of nodes for any number of steps.

    A subclass computes in `_compute`, and calls `_operate` where `_is_operator` says so. Values
    that `_compute` assigns to attributes, other than buffers, are lost.
    """

    __slots__ = ("_number",)  # Not in `vars`, so that modules with equal options compare equal.

    def __new__(cls, *_args: object, **_named: object) -> Self:
        """Number each new module, whether built, copied, loaded or a replica."""
        module = super().__new__(cls)
        number = next(_NUMBERS)
        object.__setattr__(module, "_number", torch.tensor(number, device="cpu"))
        _MODULES[number] = module
        return module

    def __getstate__(self) -> dict[str, Any]:
        """Return the attributes without the number."""
        return vars(self).copy()

    def _is_operator(self) -> bool:
        """Tell whether `torch.compile` traces a program that may contain the operator."""
        if not torch.compiler.is_compiling() or torch.compiler.is_exporting():
            return False
        # Hooks may want graphs, or compute weights as `torch.nn.utils.spectral_norm` does.
        watched = any(
            part._forward_pre_hooks or (part._forward_hooks and part is not self)  # noqa: SLF001
            for part in self.modules()
        )
        return not (watched or is_autocast() or is_transformed())

    def _operate(
        self, inputs: Sequence[Tensor], state: Sequence[Tensor], shape: Sequence[int]
    ) -> tuple[Tensor, tuple[Tensor, ...]]:
        """Call `_compute` by the operator.

        Args:
            inputs: The inputs.
            state: Parts of the state; those of the last state have their shapes.
            shape: Shape of the outputs, which have the type of the first input.
        """
        parameters, buffers = list(self.parameters()), list(self.buffers())
        given = (*inputs, *state, *parameters, *buffers)
        wanted = [torch.is_grad_enabled() and part.requires_grad for part in given]
        outputs, *others = torch.ops.farfield.compute(
            self._number, inputs, state, parameters, buffers, shape, wanted, self.training
        )
        if self.training:
            with torch.no_grad():
                for buffer, value in zip(buffers, others[len(state) : -1], strict=True):
                    buffer.copy_(value)
        return outputs, tuple(others[: len(state)])

    def _compute(
        self, inputs: Sequence[Tensor], state: tuple[Tensor, ...]
    ) -> tuple[Tensor, tuple[Tensor, ...]]:
        """Compute the outputs and the last state."""
        raise NotImplementedError


def _compute(
    number: Tensor,
    inputs: Sequence[Tensor],
    state: Sequence[Tensor],
    parameters: Sequence[Tensor],
    buffers: Sequence[Tensor],
    shape: Sequence[int],
    wanted: Sequence[bool],
    training: bool,
) -> list[Tensor]:
    """Call `_compute` of a module with given parameters and buffers.

    Returns:
        The outputs, the last state, in training the buffers, and a tensor that carries the graph.
    """
    del shape
    module = _MODULES[int(number)]
    given, recorded = [*inputs, *state, *parameters, *buffers], any(wanted)
    first, own = len(inputs) + len(state), [*module.parameters(), *module.buffers()]
    # The program may overwrite its intermediate results, and the computation buffers.
    kept = {part.data_ptr() for part in (own[: len(parameters)] if training else own)}
    with torch._C._ForceDispatchKeyGuard(*_EAGER), torch.set_grad_enabled(recorded):  # noqa: SLF001
        leaves = [part.detach() for part in given]
        if recorded or training:
            leaves = [part if part.data_ptr() in kept else part.clone() for part in leaves]
        for leaf, is_wanted in zip(leaves, wanted, strict=True):
            leaf.requires_grad_(is_wanted)
        tensors = {id(part): leaf for part, leaf in zip(own, leaves[first:], strict=True)}
        twin = cast("OneOperator", _twin(module, tensors, {}))
        outputs, last = twin._compute(leaves[: len(inputs)], tuple(leaves[len(inputs) : first]))  # noqa: SLF001
    results, carrier = [outputs, *last], torch.empty(1, dtype=torch.uint8)
    if recorded:
        # A copy of a tensor has no attributes of it, but its memory, if shared.
        ends = [leaf for leaf in leaves if leaf.requires_grad]
        vars(carrier.untyped_storage())["graph"] = results, ends
    changed = twin.buffers() if training else ()
    return [*map(_copy, results), *map(_copy, changed), carrier]


def _twin(module: nn.Module, tensors: dict[int, Tensor], made: dict[int, nn.Module]) -> nn.Module:
    """Copy a module with other parameters and buffers; several threads may run the module.

    Args:
        module: The module.
        tensors: Parameters and buffers of the copy by `id` of the module's.
        made: Copies of submodules by `id` of the submodule.
    """
    if id(module) not in made:
        made[id(module)] = twin = object.__new__(type(module))
        own = vars(module)
        others = {
            kind: {n: None if part is None else tensors[id(part)] for n, part in own[kind].items()}
            for kind in ("_parameters", "_buffers")
        }
        children = {
            name: None if part is None else _twin(part, tensors, made)
            for name, part in own["_modules"].items()
        }
        vars(twin).update(own, **others, _modules=children)
    return made[id(module)]


def _copy(tensor: Tensor) -> Tensor:
    """Copy a result; a result of an operator shares no memory with another tensor."""
    return tensor.detach().clone(memory_format=torch.contiguous_format)


def _apart(tensor: Tensor, taken: set[int]) -> Tensor:
    """Copy a gradient that shares memory with another tensor, or whose layout is not plain.

    Args:
        tensor: The gradient.
        taken: Addresses of the memory of other tensors; extended in place.
    """
    address = tensor.untyped_storage().data_ptr()
    if address in taken or tensor.storage_offset() or not tensor.is_contiguous():
        return _copy(tensor)
    taken.add(address)
    return tensor


_operator = torch.library.custom_op(
    "farfield::compute",
    _compute,
    mutates_args=(),
    tags=(torch.Tag.nondeterministic_seeded, torch.Tag.cudagraph_unsafe),
)


@_operator.register_fake
def _shapes(
    number: Tensor,
    inputs: Sequence[Tensor],
    state: Sequence[Tensor],
    parameters: Sequence[Tensor],
    buffers: Sequence[Tensor],
    shape: Sequence[int],
    wanted: Sequence[bool],
    training: bool,
) -> list[Tensor]:
    del number, parameters, wanted
    others = [part.new_empty(part.shape) for part in (*state, *(buffers if training else ()))]
    return [inputs[0].new_empty(shape), *others, torch.empty(1, dtype=torch.uint8)]


def _differentiate(
    carrier: Tensor, gradients: Sequence[Tensor], numbers: Sequence[int], like: Sequence[Tensor]
) -> list[Tensor]:
    """Compute the gradients of the tensors `like`.

    Args:
        carrier: Tensor that carries the graph.
        gradients: Gradients of some results.
        numbers: Numbers of these results.
        like: Tensors whose gradients are wanted.
    """
    del like
    # As autograd does, free the graph unless it is asked to retain it.
    retain = torch._C._autograd._get_current_graph_task_keep_graph()  # noqa: SLF001
    held = vars(carrier.untyped_storage())
    graph = held.get("graph") if retain else held.pop("graph", None)
    if graph is None:
        raise RuntimeError(
            "hooks on saved tensors must not copy the tensors of a compiled sequence layer, "
            "which loses its graph; call the layer without torch.compile under such hooks"
        )
    results, ends = graph
    pairs = [
        (results[number], gradient)
        for number, gradient in zip(numbers, gradients, strict=True)
        if results[number].requires_grad
    ]
    with torch._C._ForceDispatchKeyGuard(*_EAGER):  # noqa: SLF001
        found = torch.autograd.grad(
            [result for result, _ in pairs],
            ends,
            [gradient for _, gradient in pairs],
            retain_graph=retain,
            allow_unused=True,
        )
    taken = {gradient.untyped_storage().data_ptr() for gradient in gradients}
    return [
        end.new_zeros(end.shape) if own is None else _apart(own, taken)
        for own, end in zip(found, ends, strict=True)
    ]


_gradient_operator = torch.library.custom_op(
    "farfield::differentiate", _differentiate, mutates_args=(), tags=(torch.Tag.cudagraph_unsafe,)
)


@_gradient_operator.register_fake
def _gradient_shapes(
    carrier: Tensor, gradients: Sequence[Tensor], numbers: Sequence[int], like: Sequence[Tensor]
) -> list[Tensor]:
    del carrier, gradients, numbers
    return [part.new_empty(part.shape) for part in like]


def _refuse(*_: object) -> NoReturn:
    raise RuntimeError(
        "a compiled sequence layer has no second derivative; call the layer without torch.compile"
    )


_gradient_operator.register_autograd(_refuse)


def _save(ctx: Any, inputs: tuple[Any, ...], output: list[Tensor]) -> None:
    _, *several, _, wanted, _ = inputs
    given = [tensor for part in several for tensor in part]
    ctx.sizes, ctx.wanted = [len(part) for part in several], wanted
    chosen = [tensor for tensor, is_wanted in zip(given, wanted, strict=True) if is_wanted]
    ctx.save_for_backward(output[-1], *chosen)


def _backward(ctx: Any, gradients: Sequence[Tensor | None]) -> tuple[Any, ...]:
    carrier, *like = ctx.saved_tensors
    given = {n: own for n, own in enumerate(gradients[: 1 + ctx.sizes[1]]) if own is not None}
    found = torch.ops.farfield.differentiate(carrier, [*given.values()], [*given], like)
    own = iter(found)
    every = iter([next(own) if is_wanted else None for is_wanted in ctx.wanted])
    parts = [[next(every) for _ in range(size)] for size in ctx.sizes]
    return None, *parts, None, None, None


_operator.register_autograd(_backward, setup_context=_save)
