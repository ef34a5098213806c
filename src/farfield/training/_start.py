"""What a network is before its first update: drawn weights, and those taken over."""

from __future__ import annotations

import contextlib
import dataclasses
from collections.abc import Iterator, Mapping

import torch
from torch import Tensor, nn

from farfield.core import Problems, stream
from farfield.experiments import Experiment, Pretrained, check_parts
from farfield.training._evaluate import TwoStages, encode_all


def first_network(
    experiment: Experiment, seed: int, start: Mapping[str, Tensor] | None
) -> nn.Module:
    """The network of a seed before its first update.

    Args:
        experiment: What will be trained.
        seed: Number of the run.
        start: The trained network that the experiment starts from, by the names of its state;
            `None` where it starts from none.

    Raises:
        ValueError: If the experiment starts from another and its network is not given, is given
            for nothing, or does not fit, or if it names parts that the network has not.
    """
    network = experiment.model.build(experiment.task, stream(seed, "weights"))
    if (experiment.starts_from is None) != (start is None):
        wanted = "none" if experiment.starts_from is None else "the network that it starts from"
        raise ValueError(f"start must be {wanted} for experiment {experiment.key}")
    if experiment.starts_from is not None and start is not None:
        _take_over(network, experiment.starts_from, start)
    return network


def _take_over(network: nn.Module, pretrained: Pretrained, start: Mapping[str, Tensor]) -> None:
    """Copy what the network shares with the one it starts from."""
    state = network.state_dict()
    for field in ("parts", "without", "grown"):
        check_parts(field, getattr(pretrained, field), state)
    taken = {name: tensor for name, tensor in state.items() if pretrained.covers(name)}
    if not taken:
        raise ValueError(
            f"without must leave something to take over, got all of it: {pretrained.without}"
        )
    for name, tensor in taken.items():
        found = start.get(name)
        if found is None or found.shape != _rows(tensor, found, grows=pretrained.grows(name)).shape:
            what = "nothing" if found is None else f"shape {tuple(found.shape)}"
            raise ValueError(
                f"{name} of shape {tuple(tensor.shape)} must be in what the experiment starts from "
                f"({pretrained.experiment.key}), which has {what} there"
            )
    with torch.no_grad():
        for name, tensor in taken.items():
            found = start[name]
            _rows(tensor, found, grows=pretrained.grows(name)).copy_(found)


def _rows(tensor: Tensor, found: Tensor, *, grows: bool) -> Tensor:
    """What of a tensor is taken over: all of it, or the first rows where it may have grown."""
    return tensor[: len(found)] if grows and found.ndim and tensor.ndim else tensor


def has_fixed_encoder(network: nn.Module) -> bool:
    """Whether items have the same embeddings at every step: nothing in the encoder is trained.

    An encoder that behaves otherwise in training than in evaluation, or keeps anything, is not
    taken for one.

    Args:
        network: Any network.
    """
    encoder = getattr(network, "encoder", None)
    if not isinstance(network, TwoStages) or not isinstance(encoder, nn.Module):
        return False
    kept = [*encoder.buffers(), *(p for p in encoder.parameters() if p.requires_grad)]
    moody = any("drop" in type(part).__name__.lower() for part in encoder.modules())
    return not kept and not moody and not isinstance(encoder, nn.Identity)


@contextlib.contextmanager
def without_encoder(network: nn.Module) -> Iterator[None]:
    """The network takes items that are embedded already, as long as the context lasts.

    Args:
        network: A network with an `encoder`.
    """
    encoder = network.encoder
    network.encoder = nn.Identity()
    try:
        yield
    finally:
        network.encoder = encoder


def embedded(network: nn.Module, problems: Problems) -> Problems:
    """The same problems over a table of embeddings.

    Args:
        network: What embeds the items: a model of two stages.
        problems: The problems.

    Raises:
        TypeError: If the network does not embed items one by one.
    """
    if not isinstance(network, TwoStages):
        raise TypeError(f"network must have methods encode and answer, got {network!r}")
    problems = problems.compact()
    with torch.no_grad():
        return dataclasses.replace(problems, items=encode_all(network, problems))
