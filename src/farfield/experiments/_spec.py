"""A class and the options to make it with, frozen."""

from __future__ import annotations

import inspect
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, final

import torch
from torch import nn

from farfield.core import Stream

OFFERED = (
    "in_features",
    "input_size",
    "num_outputs",
    "length",
    "item_shape",
    "num_features",
    "segments",
    "num_candidates",
    "batch_first",
)
"""What an experiment tells a constructor that has a parameter of that name."""


@final
@dataclass(frozen=True, init=False)
class Spec:
    """How to make a module: a class and keyword options, checked now and built later.

    The options are those the class itself takes, so a wrong name fails here, with a `TypeError`,
    and not an hour into a run. What depends on the task (`in_features`, `input_size`,
    `num_outputs`, `length`, `item_shape`, `num_features`, `segments`, `num_candidates`),
    `batch_first` and the `generator` of the initial weights are filled in by the experiment where
    the constructor has a parameter of that name.

    An option written out at its default is the same spec as one left out.

    Any `nn.Module` class serves. One that takes no `generator` is built inside a forked global
    generator seeded by the run, and leaves the global generator as it was.

    Args:
        cls: Class of the module.
        options: Keyword options of the constructor: plain values and tuples of them.

    Raises:
        TypeError: If the constructor has no parameter of a given name, or one is left open.
    """

    cls: type[nn.Module]
    options: tuple[tuple[str, Any], ...]

    def __init__(
        self,
        cls: type[nn.Module],
        options: tuple[tuple[str, Any], ...] | list[tuple[str, Any]] = (),
        **named: Any,
    ) -> None:
        given = {str(name): _frozen(content) for name, content in options} | {
            name: _frozen(content) for name, content in named.items()
        }
        _check_options(cls, given)
        object.__setattr__(self, "cls", cls)
        defaults = {name: p.default for name, p in inspect.signature(cls).parameters.items()}
        changed = {name: content for name, content in given.items() if content != defaults[name]}
        object.__setattr__(self, "options", tuple(sorted(changed.items())))

    def build(self, offered: Mapping[str, object], stream: Stream) -> nn.Module:
        """Make the module.

        Args:
            offered: What the experiment knows, by parameter name; the options win over it.
            stream: Where the initial weights are drawn from.
        """
        parameters = inspect.signature(self.cls).parameters
        options = {name: offered[name] for name in OFFERED if name in parameters & offered.keys()}
        options |= dict(self.options)
        if "generator" in parameters:
            return self.cls(**options, generator=stream.torch())
        with torch.random.fork_rng(devices=[]):
            torch.default_generator.manual_seed(stream.torch().initial_seed())
            return self.cls(**options)


def _frozen(content: Any) -> Any:
    return (
        tuple(_frozen(part) for part in content) if isinstance(content, list | tuple) else content
    )


def _check_options(cls: type[nn.Module], options: Mapping[str, Any]) -> None:
    if not (isinstance(cls, type) and issubclass(cls, nn.Module)):
        raise TypeError(f"cls must be a class of modules, got {cls!r}")
    parameters = inspect.signature(cls).parameters
    for name in options:
        if name not in parameters:
            raise TypeError(
                f"{cls.__name__} has no option {name!r}; it has {', '.join(parameters)}"
            )
    for name, parameter in parameters.items():
        filled = name in options or name in OFFERED or name == "generator"
        variadic = parameter.kind in (parameter.VAR_POSITIONAL, parameter.VAR_KEYWORD)
        if parameter.default is parameter.empty and not filled and not variadic:
            raise TypeError(f"{cls.__name__} needs a value for {name!r}")
