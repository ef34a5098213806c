"""State beside parameters that a checkpoint keeps: of modules, generators and optimizers."""

from __future__ import annotations

import json
import warnings
from collections import OrderedDict, deque
from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from itertools import chain
from types import CellType, FunctionType, MethodType, ModuleType
from typing import Any, Final, final

import numpy as np
import torch
from torch import Tensor, nn

from farfield.core import Stream
from farfield.core.internal import Generator, reseed
from farfield.experiments.internal import is_ours


def outline(value: Any, path: str, tensors: dict[str, Tensor]) -> Any:
    """Outline a value: JSON that names the tensors in it.

    Args:
        value: Tensors, arrays and JSON values, in lists, tuples and dictionaries.
        path: Beginning of the names of its tensors.
        tensors: Its tensors are added here.
    """
    match value:
        case Tensor():
            tensors[path] = value
            return {"tensor": path}
        case np.ndarray():
            tensors[path] = torch.from_numpy(value)
            return {"array": path}
        case dict():
            pairs = [[key, outline(one, f"{path}.{key}", tensors)] for key, one in value.items()]
            return {"dict": pairs}
        case list() | tuple():
            inner = [outline(one, f"{path}.{n}", tensors) for n, one in enumerate(value)]
            return {type(value).__name__: inner}
    return value


def fill(outlined: Any, tensors: Mapping[str, Tensor]) -> Any:
    """Rebuild the value that `outline` described, with copies of its tensors.

    Args:
        outlined: Result of `outline`, after JSON.
        tensors: Tensors by name, among others.
    """
    match outlined:
        case {"tensor": str(path)}:
            return tensors[path].clone()
        case {"array": str(path)}:
            return tensors[path].numpy().copy()
        case {"dict": list(pairs)}:
            return {key: fill(one, tensors) for key, one in pairs}
        case {"list": list(inner)}:
            return [fill(one, tensors) for one in inner]
        case {"tuple": list(inner)}:
            return tuple(fill(one, tensors) for one in inner)
    return outlined


DEPTH: Final = 8
"""Number of lists, dictionaries, objects and functions, each inside the other, that are searched
for generators from an attribute of a module on."""

PLAIN: Final = "plain."
"""Beginning of the name of a plain value of a module in a checkpoint."""

_OUTLINE: Final = f"{PLAIN}outline"
"""Name of the part that holds, as JSON in bytes, everything but tensors."""

_LEAVES: Final = (
    *(Tensor, np.ndarray, np.generic, type, ModuleType, str, bytes, int, float, complex),
    type(None),
)

_PLAIN_TYPES: Final = {bool, int, float, str, type(None)}

_TENSORS: Final = {"_parameters", "_buffers", "_modules", "_non_persistent_buffers_set"}
"""Attributes of modules in which torch keeps tensors and other modules."""

_NUMBERS: Final = {"bool", "uint8", "int8", "int16", "int32", "int64", "float32", "float64"}
"""Types of the arrays that a checkpoint keeps."""

_OF_MODULES: Final = frozenset(vars(nn.Module()))


def held_generators(network: nn.Module, *owners: object) -> list[Generator]:
    """Find the random generators that a network and other objects hold, in a fixed order.

    Attributes of modules come first, then the content of lists, dictionaries, sets, functions
    and attributes of objects there, up to `DEPTH` inside each other.

    Args:
        owners: Tasks and objectives.
    """
    values = [
        value
        for module in network.modules()
        for name, value in vars(module).items()
        if name not in _TENSORS and type(value) not in _PLAIN_TYPES and not _is_empty(value)
    ]
    found = [value for value in values if isinstance(value, Generator)]
    seen = {id(value) for value in found}
    others = [owner for owner in owners if not is_ours(type(owner))]
    for value in (*values, *others):
        found += _inside(value, seen, DEPTH)
    return found


def _is_empty(value: object) -> bool:
    """Tell if it is a container without content, as the hooks of most modules are."""
    return type(value) in (dict, OrderedDict, list, tuple) and not value


def _inside(value: Any, seen: set[int], depth: int) -> Iterator[Generator]:
    if isinstance(value, _LEAVES) or id(value) in seen:
        return
    seen.add(id(value))
    if isinstance(value, Generator):
        yield value
    elif depth:
        for part in _parts(value):
            yield from _inside(part, seen, depth - 1)


def _parts(value: Any) -> Iterator[Any]:
    """Yield the parts of an object, one level deep."""
    match value:
        case dict():
            yield from [*value.keys(), *value.values()]
        case list() | tuple() | deque():
            yield from value
        case set() | frozenset():
            yield from sorted(value, key=repr)
        case FunctionType():
            yield from (value.__closure__ or (), value.__defaults__, value.__kwdefaults__)
        case CellType():
            yield value.cell_contents if value != CellType() else None
        case MethodType():
            yield value.__func__
        case partial():
            yield from (value.func, value.args, value.keywords)
    yield getattr(value, "__self__", None)
    yield from getattr(value, "__dict__", {}).values()
    for cls in type(value).__mro__:
        slots = cls.__dict__.get("__slots__", ())
        for name in (slots,) if isinstance(slots, str) else slots:
            yield getattr(value, name, None)


def reseed_all(generators: Sequence[Generator], numbers: Stream) -> None:
    """Seed the generators that a network holds.

    Args:
        generators: Result of `held_generators`; changed in place.
        numbers: Stream of the step.
    """
    for position, generator in enumerate(generators):
        reseed(generator, numbers.child("held", position))


def plain_state(network: nn.Module) -> dict[str, Tensor]:
    """Collect plain attributes of the user's modules for a checkpoint: counters, hidden states.

    They are numbers, text, tensors, arrays, and lists, tuples and dictionaries of these.
    """
    tensors: dict[str, Tensor] = {}
    found: dict[str, dict[str, Any]] = {}
    for path, module in _modules_of_users(network):
        for name, value in vars(module).items():
            if name not in _OF_MODULES and _is_plain(value):
                at = f"{PLAIN}{path}.{name}"
                found.setdefault(path, {})[name] = outline(value, at, tensors)
    if not found:
        return {}
    tensors = {name: tensor.detach().contiguous() for name, tensor in tensors.items()}
    text = json.dumps(found).encode()
    return tensors | {_OUTLINE: torch.frombuffer(bytearray(text), dtype=torch.uint8)}


def load_plain_state(network: nn.Module, state: Mapping[str, Tensor]) -> None:
    """Take over the result of `plain_state`.

    Args:
        network: The network, changed in place.
        state: Values, among other things.
    """
    if _OUTLINE not in state:
        return
    for path, values in json.loads(bytes(state[_OUTLINE].tolist())).items():
        module = network.get_submodule(path)
        for name, outlined in values.items():
            found, own = fill(outlined, state), getattr(module, name, None)
            if not _copy(own, found):
                setattr(module, name, found)


def _copy(own: Any, found: Any) -> bool:
    """Copy a tensor in place, as it may share memory with a parameter; False if it cannot be."""
    if not (isinstance(own, Tensor) and isinstance(found, Tensor) and own.shape == found.shape):
        return False
    try:
        with torch.no_grad():
            own.copy_(found)
    except RuntimeError:  # several of its numbers are one in memory
        return False
    return True


@final
class OutsideState:
    """State in attributes of the user's modules that no checkpoint holds.

    Args:
        network: The network before the first step of a sitting; `None` for one without such state.
    """

    def __init__(self, network: nn.Module | None) -> None:
        self._network = network
        self._before = {} if network is None else _outside(network)
        self._is_lost = False

    def changes(self) -> bool:
        """Tell, with a warning the first time, if a checkpoint would lose something."""
        if self._network is None or self._is_lost:
            return self._is_lost
        now = _outside(self._network)
        name = next((name for name in now if self._before.get(name) != now[name]), None)
        if name is not None:
            self._is_lost = True
            warnings.warn(
                f"no checkpoint is written, since {name} changes in training and would be lost in "
                "it; make it a buffer, a generator of the constructor or a plain value",
                stacklevel=3,
            )
        return self._is_lost


def _outside(network: nn.Module) -> dict[str, Any]:
    """Describe attributes by name; the description changes when they do."""
    known = {id(one) for one in chain(network.modules(), network.parameters(), network.buffers())}
    found: dict[str, Any] = {}
    for path, module in _modules_of_users(network):
        for name, value in vars(module).items():
            if not _is_plain(value) and name not in _OF_MODULES:
                found[f"{path}.{name}"] = _state(value, {*known}, DEPTH)
    return found


def _state(value: Any, seen: set[int], depth: int) -> Any:
    """Collect numbers, texts and generators inside a value."""
    if isinstance(value, Tensor) and id(value) not in seen:
        return value.detach().cpu().tolist()
    if isinstance(value, np.ndarray | Iterator):
        return repr(value.tolist() if isinstance(value, np.ndarray) else value)
    if isinstance(value, Generator):
        return value  # which is seeded at every step, if it was there at the first one
    if isinstance(value, _LEAVES):
        return value
    if id(value) in seen or not depth:
        return None
    seen.add(id(value))
    return [_state(part, seen, depth - 1) for part in _parts(value)]


def _modules_of_users(network: nn.Module) -> Iterator[tuple[str, nn.Module]]:
    for path, module in network.named_modules():
        if not (is_ours(type(module)) or type(module).__module__.startswith("torch.")):
            yield path, module


def _is_plain(value: Any) -> bool:
    match value:
        case dict():
            return type(value) is dict and all(map(_is_plain, [*value.keys(), *value.values()]))
        case list() | tuple():
            return type(value) in (list, tuple) and all(map(_is_plain, value))
        case np.ndarray():
            return value.dtype.name in _NUMBERS
        case Tensor():
            return value.layout is torch.strided and not value.is_meta
    return type(value) in _PLAIN_TYPES


BUFFER = "buffer."
"""Beginning of the name of a buffer in a checkpoint that is in no state dictionary."""


def passing_buffers(network: nn.Module) -> dict[str, Tensor]:
    """Collect the buffers that the state dictionary of a network leaves out."""
    kept = network.state_dict().keys()
    buffers = network.named_buffers(remove_duplicate=False)
    return {BUFFER + name: buffer for name, buffer in buffers if name not in kept}


def load_passing_buffers(network: nn.Module, state: Mapping[str, Tensor]) -> None:
    """Take over the result of `passing_buffers`.

    Args:
        network: The network, changed in place.
        state: Buffers, among other things.
    """
    for name, found in state.items():
        if not name.startswith(BUFFER):
            continue
        part, _, leaf = name.removeprefix(BUFFER).rpartition(".")
        module = network.get_submodule(part)
        own = getattr(module, leaf, None)
        if isinstance(own, Tensor) and own.shape == found.shape:
            own.copy_(found)
        else:
            module.register_buffer(leaf, found, persistent=False)


PREFIX: Final = "optimizer."
"""First part of the names of everything that belongs to the state of optimizers."""

_OPTIMIZER_OUTLINE: Final = f"{PREFIX}outline"
"""Name of the part that holds, as JSON in bytes, everything but tensors."""


def optimizer_state(optimizers: Sequence[torch.optim.Optimizer]) -> dict[str, Tensor]:
    """Collect the state of optimizers as tensors by name.

    Args:
        optimizers: Any optimizers of torch.
    """
    tensors: dict[str, Tensor] = {}
    found = outline([one.state_dict() for one in optimizers], PREFIX.rstrip("."), tensors)
    return tensors | {
        _OPTIMIZER_OUTLINE: torch.tensor(list(json.dumps(found).encode()), dtype=torch.uint8)
    }


def load_optimizer_state(
    optimizers: Sequence[torch.optim.Optimizer], state: Mapping[str, Tensor]
) -> None:
    """Restore the result of `optimizer_state`.

    Args:
        optimizers: Optimizers of the same kinds over as many parameters, changed in place.
        state: Tensors by name, among others.
    """
    found = fill(json.loads(bytes(state[_OPTIMIZER_OUTLINE].tolist())), state)
    for optimizer, own in zip(optimizers, found, strict=True):
        optimizer.load_state_dict(own)
