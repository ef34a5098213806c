"""Descriptions of parts: a class with its options, and fields by dotted path."""

from __future__ import annotations

import dataclasses
import inspect
import math
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from types import FunctionType
from typing import Any, TypeVar, final

import numpy as np
from torch import Tensor, nn

from farfield.core import ArgumentError, Stream
from farfield.core.internal import UnknownNameError, forked_generators
from farfield.experiments._describe import as_annotated, kinds_of
from farfield.experiments._owners import is_ours

TASK_ARGUMENTS = (
    "in_features",
    "input_size",
    "num_outputs",
    "length",
    "item_shape",
    "num_features",
    "num_channels",
    "segments",
    "num_candidates",
    "batch_first",
    "channel_mean",
    "channel_std",
    "pixel_spectrum",
    "mean_images",
    "map_shape",
    "question_size",
    "set_sizes",
)
"""Arguments that an experiment fills in where a constructor has a parameter of that name."""


@final
@dataclass(frozen=True, init=False, eq=False)
class Spec:
    """Specification of a module: a class and keyword options, checked now and built later.

    The options are those the class itself takes, so a wrong name fails here, with a `TypeError`,
    and not an hour into a run. Arguments that depend on the task (`in_features`, `input_size`,
    `num_outputs`, `length`, `item_shape`, `num_features`, `segments`, `num_candidates`; for readers
    of maps `map_shape`, `question_size`; for image sets `channel_mean`, `channel_std`,
    `pixel_spectrum`, `mean_images`), the `set_sizes` of an encoder, `batch_first` and the
    `generator` of the initial weights are filled in by the experiment where the constructor has a
    parameter of that name; `num_channels` and `num_features` of a part come from the whole.

    An option written out at its default is the same spec as one left out. A number is taken in the
    type that the class annotates: 1 is 1.0 for a `float`. Without an annotation they are two specs.

    It may itself be an option that makes modules, such as `normalizer=Spec(LayerNorm, sigma=1.0)`
    of `farfield.nn.NormalizedLSTM`, which calls it with the number of features.

    Any `nn.Module` class serves. Its draws from the global generators of Python, NumPy and torch
    come from the run's stream, and leave the generators unchanged.

    Args:
        cls: Class of the module.
        options: Keyword options of the constructor: plain values, classes, functions, frozen
            dataclasses, and tuples of these.
        named: Further options, by keyword.

    Raises:
        TypeError: If the constructor has no parameter of a given name, or one is left open.
        ValueError: If an option is something else, or none that the class, if it is Farfield's,
            takes by its annotations.
    """

    cls: type[nn.Module]
    options: tuple[tuple[str, Any], ...]

    def __init__(
        self,
        cls: type[nn.Module],
        options: tuple[tuple[str, Any], ...] | list[tuple[str, Any]] = (),
        **named: Any,
    ) -> None:
        given = {
            str(name): _frozen(str(name), content) for name, content in [*options, *named.items()]
        }
        _check_options(cls, given)
        object.__setattr__(self, "cls", cls)
        defaults = {name: p.default for name, p in _parameters(cls).items()}
        made: Any = cls
        kinds = kinds_of(made)
        for name, content in given.items():
            kind = kinds.get(name)
            if kind is not None and is_ours(cls) and content is not defaults[name]:
                given[name] = kind.take(name, content)
            else:
                given[name] = as_annotated(content, kind)
        changed = {
            name: content
            for name, content in given.items()
            if _typed(content) != _typed(as_annotated(defaults[name], kinds.get(name)))
        }
        object.__setattr__(self, "options", tuple(sorted(changed.items())))

    def __eq__(self, other: object) -> bool:
        """Tell if the class is the same and the options have the same types and values."""
        if not isinstance(other, Spec):
            return NotImplemented
        return self.cls is other.cls and _typed(self.options) == _typed(other.options)

    def __hash__(self) -> int:
        return hash((self.cls, self.options))

    def build(self, offered: Mapping[str, object], stream: Stream) -> nn.Module:
        """Make the module.

        Args:
            offered: Arguments of the experiment, by parameter name; options win over them.
            stream: Where the initial weights are drawn from.

        Raises:
            TypeError: If a parameter without a default is in neither.
        """
        parameters = _parameters(self.cls)
        options = {
            name: offered[name] for name in TASK_ARGUMENTS if name in parameters & offered.keys()
        }
        options |= dict(self.options)
        if "generator" in parameters:
            options["generator"] = stream.torch()
        if missing := [name for name in _needed(parameters) if name not in options]:
            name = self.cls.__name__
            raise TypeError(
                f"{name} needs {', '.join(missing)}, which neither the task nor the parts before "
                f"it say: write Spec({name}, {missing[0]}=…)"
            )
        with forked_generators(stream):
            return self.cls(**options)

    def __call__(self, *arguments: object) -> nn.Module:
        """Make the module as a part of another.

        Args:
            arguments: Arguments that the other passes on, such as the number of features.
        """
        return self.cls(*arguments, **dict(self.options))


_signature = cache(inspect.signature)
"""Signature of a class; tables of claims ask for the same signature hundreds of times."""


def _needed(parameters: Mapping[str, inspect.Parameter]) -> list[str]:
    """List the parameters without a default."""
    named = (inspect.Parameter.POSITIONAL_OR_KEYWORD, inspect.Parameter.KEYWORD_ONLY)
    empty = inspect.Parameter.empty
    return [name for name, p in parameters.items() if p.kind in named and p.default is empty]


def _parameters(cls: Any) -> Mapping[str, inspect.Parameter]:
    return _signature(cls).parameters


def _frozen(name: str, content: Any) -> Any:
    """Freeze an option, so that its value cannot change.

    Raises:
        ValueError: If it is none that could be described.
    """
    if isinstance(content, list | tuple):
        return tuple(_frozen(f"{name}[{k}]", part) for k, part in enumerate(content))
    if isinstance(content, np.generic | Tensor) and content.ndim == 0:
        content = content.item()
    if isinstance(content, float):
        if math.isnan(content):
            raise ArgumentError(name, "a number", content)
        return content + 0.0  # there is one zero
    plain = content is None or isinstance(content, bool | int | str | type | FunctionType)
    if plain or (dataclasses.is_dataclass(content) and _has_hash(content)):
        return content
    wanted = "a plain value, a class, a function, a frozen dataclass, or a tuple of these"
    raise ArgumentError(name, wanted, content)


def _has_hash(content: object) -> bool:
    try:
        hash(content)
    except TypeError:
        return False
    return True


def _typed(content: Any) -> Any:
    """Pair a value with its type, so that 1, 1.0 and True differ."""
    if isinstance(content, list | tuple):
        return tuple(_typed(part) for part in content)
    return type(content), content


def _check_options(cls: type[nn.Module], options: Mapping[str, Any]) -> None:
    if not (isinstance(cls, type) and issubclass(cls, nn.Module)):
        got = repr(cls) if isinstance(cls, type | str | int | None) else f"a {type(cls).__name__}"
        raise TypeError(f"cls must be a class of modules, as ESBN or torch.nn.GRU, got {got}")
    parameters = _parameters(cls)
    for name in options:
        if name not in parameters:
            raise TypeError(
                f"{cls.__name__} has no option {name!r}; it has {', '.join(parameters)}"
            )
    for name, parameter in parameters.items():
        filled = name in options or name in TASK_ARGUMENTS or name == "generator"
        variadic = parameter.kind in (parameter.VAR_POSITIONAL, parameter.VAR_KEYWORD)
        if parameter.default is parameter.empty and not filled and not variadic:
            raise TypeError(f"{cls.__name__} needs a value for {name!r}")


Owner = TypeVar("Owner")


def field_of(owner: object, path: str) -> Any:
    """Read the content of a field.

    Args:
        owner: An experiment, or a part of one.
        path: Names of fields, and of options of a `Spec`, with dots between them, e.g.
            `"recipe.learning_rate"` or `"model.reasoner.hidden_size"`.

    Raises:
        ValueError: If there is no such field.
    """
    content: Any = owner
    for name, before in _steps(path):
        content = _contents(content, name, before)[name]
    return content


def with_field(owner: Owner, path: str, content: Any) -> Owner:
    """Copy an object with another content of a field.

    Args:
        owner: An experiment, or a part of one.
        path: Names of fields, and of options of a `Spec`, with dots between them.
        content: The content, in a type that the field takes.

    Raises:
        ValueError: If there is no such field, or it takes no such content.

    Example:
        >>> from farfield.experiments import SGD, Recipe
        >>> recipe = Recipe(steps=100, optimizer=SGD())
        >>> with_field(recipe, "optimizer.momentum", 0.9).optimizer.momentum
        0.9
    """
    changed: Any = content
    for name, before in reversed(_steps(path)):
        changed = _with_own_field(
            field_of(owner, before) if before else owner, name, before, changed
        )
    found: Owner = changed
    return found


def _steps(path: str) -> list[tuple[str, str]]:
    """List each name of a path, with the path before it."""
    names = path.split(".")
    return [(name, ".".join(names[:place])) for place, name in enumerate(names)]


def _with_own_field(owner: Any, name: str, before: str, content: Any) -> Any:
    """Copy an object with another content of one of its fields."""
    _contents(owner, name, before)
    if isinstance(owner, Spec):
        return Spec(owner.cls, **{**dict(owner.options), name: content})
    return dataclasses.replace(owner, **{name: content})


def _contents(owner: Any, name: str, before: str) -> dict[str, Any]:
    """Read the contents of an object's fields; raises `ValueError` if `name` is none of them."""
    if isinstance(owner, Spec):
        parameters = inspect.signature(owner.cls).parameters.values()
        found = {p.name: p.default for p in parameters if p.default is not p.empty}
        found = {option: found[option] for option in found if option != "generator"}
        found |= dict(owner.options)
    elif dataclasses.is_dataclass(owner):
        found = {field.name: getattr(owner, field.name) for field in dataclasses.fields(owner)}
    else:
        raise ArgumentError(before, "an object with fields", owner)
    if name not in found:
        prefix = f"{before}." if before else ""
        raise UnknownNameError("field", prefix + name, [prefix + field for field in found])
    return found
