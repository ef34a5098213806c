"""What passes through some modules of a model while it runs once, and nothing left behind."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from contextlib import ExitStack, contextmanager

import torch
from torch import Tensor, nn
from torch.utils.hooks import RemovableHandle

Share = tuple[Tensor, int]
"""Mean absolute value of the numbers of one call, and how many they are."""


def watched(model: nn.Module) -> nn.Module:
    """The module whose parts run when the model is called.

    That is the model itself, or what its method `watched` gives: a model that lends parameters to
    another module tells that one there.

    Args:
        model: As an objective receives it.
    """
    lent = getattr(model, "watched", None)
    return lent() if callable(lent) else model


@contextmanager
def for_this_call(handles: Iterable[RemovableHandle]) -> Iterator[None]:
    """Keep hooks for the length of a `with` block, and remove them however it ends.

    Args:
        handles: Of the hooks, registered while this is iterated over.
    """
    with ExitStack() as registered:
        for handle in handles:
            registered.callback(handle.remove)
        yield


def share_of(x: Tensor) -> Share:
    """Mean absolute value and number of the numbers of a tensor.

    Args:
        x: What passed through a module in one call.
    """
    return x.abs().mean(), x.numel()


def joined(shares: Sequence[Share], *, mean: bool) -> Tensor:
    """The mean absolute values of all calls of one module, summed up, or their mean.

    Args:
        shares: Of each call; at least one.
        mean: Whether it is the mean, in which every number counts the same.
    """
    if not mean:
        return torch.stack([each for each, _ in shares]).sum()
    numbers = sum(count for _, count in shares)
    return torch.stack([each * (count / numbers) for each, count in shares]).sum()
