"""Arguments of every module that draws its parameters: device, type and source of draws."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable
from typing import Any, ParamSpec, TypedDict, TypeVar

import torch
from torch.types import Device

from farfield.core._arguments import extend_arguments, hints_of, kind_of

P = ParamSpec("P")
R = TypeVar("R")


class FactoryOptions(TypedDict, total=False):
    """Options of every module that draws its parameters."""

    device: Device
    dtype: torch.dtype | None
    generator: torch.Generator | None


def _factory(
    *,
    device: Device = None,
    dtype: torch.dtype | None = None,
    generator: torch.Generator | None = None,
) -> None:
    """Hold the defaults of `FactoryOptions`."""


def take_factory_arguments(
    base: Callable[..., object] = _factory,
) -> Callable[[Callable[P, R]], Callable[P, R]]:
    """Return a decorator of a constructor whose `**options` are `FactoryOptions`.

    It checks arguments as `check_arguments` does, shows the options in the signature, hands them to
    the constructor with their defaults, and moves the module to the device and the type when it is
    built. So parameters are drawn on the CPU in torch's default type, and the draws are the same
    for every device and type.

    Args:
        base: Class whose keywords the options are too, e.g. `batch_first` of a sequence layer.
    """

    def decorate(function: Callable[P, R]) -> Callable[P, R]:
        extended: Any = extend_arguments(base)(function)
        signature = inspect.signature(extended)
        own = inspect.signature(function).parameters
        options = {
            name: (parameter.default, kind_of(hints_of(base)[name]))
            for name, parameter in signature.parameters.items()
            if name not in own
        }

        @functools.wraps(extended)
        def build(*args: Any, **kwargs: Any) -> Any:
            if not kwargs.keys() <= signature.parameters.keys():
                signature.bind(*args, **kwargs)  # names the unknown keyword
            for name, (default, kind) in options.items():
                kwargs[name] = kind.take(name, kwargs.get(name, default))
            built = extended(*args, **kwargs)
            args[0].to(device=kwargs["device"], dtype=kwargs["dtype"])
            return built

        return build

    return decorate
