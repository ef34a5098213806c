"""Networks before their first step, and networks of finished runs."""

from __future__ import annotations

import contextlib
import dataclasses
import math
from collections.abc import Iterable, Iterator, Mapping
from itertools import chain
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn.parameter import is_lazy

from farfield.core import Problems, Stream, stream
from farfield.core.internal import forked_generators, keeps_numbers
from farfield.experiments import Experiment, Pretrained
from farfield.experiments.internal import check_parts, is_ours
from farfield.models.internal import EncodesItems
from farfield.objectives import Bound
from farfield.records import Record, Store, StoreError
from farfield.records.internal import from_tensors, to_tensors
from farfield.tasks import TRAINING
from farfield.training._evaluate import encode_all, problems_of_run
from farfield.training._settings import fixed_settings


def build_network(experiment: Experiment, weights: Stream) -> nn.Module:
    """Build the network as its experiment makes it, whatever was drawn or set before.

    Args:
        experiment: Whose network.
        weights: Source of its weights.
    """
    with fixed_settings(), forked_generators(weights):
        return experiment.model.build(experiment.task, weights)


def first_network(
    experiment: Experiment,
    seed: int,
    start: Mapping[str, Any] | None,
    *,
    weights: Stream | None = None,
    dtype: torch.dtype = torch.float32,
) -> nn.Module:
    """Build the network of a seed before its first update.

    Args:
        start: The trained network that the experiment starts from, by the names of its state;
            `None` where it starts from none.
        weights: Source of its weights; that of the seed if `None`.
        dtype: Type that its floating-point numbers will be trained in.

    Raises:
        ValueError: If the experiment starts from another and its network is not given, is given
            for nothing, or does not fit, or if it names parts that the network lacks; if numbers
            of the network are complex or of another precision; and if its state could not be kept.
    """
    weights = weights or weights_stream(seed)
    network = build_network(experiment, weights)
    _initialize(network, experiment, seed, weights)
    _check_types(network, dtype)
    network.to(dtype=dtype)
    check_state(network)
    if (experiment.starts_from is None) != (start is None):
        wanted = "none" if experiment.starts_from is None else "the network that it starts from"
        raise ValueError(f"start must be {wanted} for experiment {experiment.key}")
    if experiment.starts_from is not None and start is not None:
        _take_over(network, experiment.starts_from, start)
    _fix_the_rest(network, experiment)
    return network


def weights_stream(seed: int) -> Stream:
    """Return the stream of the first weights of a network."""
    return stream(seed, "weights")


def _fix_the_rest(network: nn.Module, experiment: Experiment) -> None:
    """Let no parameter be trained that is in the parts of no player."""
    players = [player for turn in experiment.turns for player in turn]
    names, modules = dict(network.named_parameters()), dict(network.named_modules())
    for player in players:
        check_parts("parts", [part for part in player.parts if part not in modules], names)
    for name, parameter in network.named_parameters():
        if not any(player.trains(name) for player in players):
            parameter.requires_grad_(False)


def _initialize(network: nn.Module, experiment: Experiment, seed: int, weights: Stream) -> None:
    """Give lazy modules their weights, by showing the network the first training problems."""
    if not _lazy_names(network):
        return
    problems = problems_of_run(experiment.problem_task, seed)[TRAINING]
    some = problems[: experiment.recipe.batch_size].to("cpu", torch.float32).compact()
    with fixed_settings(), forked_generators(weights.child("lazy")), torch.no_grad():
        network.eval()
        network(some.table(), some.index)
        network.train()
    if left := _lazy_names(network):
        raise ValueError(
            f"every lazy module must be called in the forward pass, got {left[0]} without values "
            "after one; make it with its sizes"
        )


def _check_types(network: nn.Module, dtype: torch.dtype) -> None:
    """Raise `ValueError` if training would change the type of a parameter or buffer.

    Integers and booleans are kept, in buffers and in parameters that are not trained.
    """
    for kind, tensors in (
        ("parameter", network.named_parameters()),
        ("buffer", network.named_buffers()),
    ):
        for name, tensor in tensors:
            if tensor.is_complex():
                mend = "keep real and imaginary part as two, or in one by torch.view_as_real"
            elif tensor.is_floating_point() and tensor.dtype not in (torch.float32, dtype):
                mend = "make it in float32, by .float()"
            else:
                continue
            raise ValueError(
                f"{kind} {name} must be of {dtype}, which networks are trained in, "
                f"got {tensor.dtype}; {mend}"
            )


def _lazy_names(network: nn.Module) -> list[str]:
    """List the parameters and buffers that have no values yet."""
    tensors = chain(network.named_parameters(), network.named_buffers())
    return [name for name, tensor in tensors if is_lazy(tensor)]


def check_state(network: nn.Module) -> None:
    """Raise `ValueError` unless the state of a network can be written and loaded again.

    Args:
        network: The network; its state is loaded into itself.
    """
    try:
        tensors = to_tensors(network.state_dict())
        network.load_state_dict(from_tensors({n: t.clone() for n, t in tensors.items()}))
    except Exception as error:
        reason = " ".join(str(error).split())
        raise ValueError(f"the state of the network must load again, got: {reason}") from error


def _take_over(network: nn.Module, pretrained: Pretrained, start: Mapping[str, Any]) -> None:
    """Copy the state that the network shares with the network it starts from."""
    state = network.state_dict()
    for field in ("include", "exclude", "resize"):
        check_parts(field, getattr(pretrained, field), state)
    if pretrained.into is not None:
        check_parts("into", (pretrained.into,), state)
        start = {f"{pretrained.into}.{name}": tensor for name, tensor in start.items()}
    taken = {name: tensor for name, tensor in state.items() if pretrained.covers(name)}
    if not taken:
        raise ValueError(
            f"exclude must leave something to take over, got all of it: {pretrained.exclude}"
        )
    extra = {name: start[name] for name in taken if _is_extra(name) and name in start}
    for name, tensor in taken.items():
        if name in extra:
            continue
        found = start.get(name)
        if found is None or found.shape != _rows(tensor, found, grows=pretrained.grows(name)).shape:
            found_there = "nothing" if found is None else f"shape {tuple(found.shape)}"
            raise ValueError(
                f"{name} of shape {tuple(tensor.shape)} must be in the network that the experiment "
                f"starts from ({pretrained.experiment.key}), which has {found_there} there"
            )
        if not keeps_numbers(tensor.dtype, found.dtype):
            raise ValueError(
                f"{name} must be of {tensor.dtype} in the network that the experiment starts "
                f"from ({pretrained.experiment.key}), got {found.dtype}"
            )
    with torch.no_grad():
        for name in taken.keys() - extra.keys():
            found = start[name]
            _rows(taken[name], found, grows=pretrained.grows(name)).copy_(found)
    network.load_state_dict(extra, strict=False)


def _is_extra(name: str) -> bool:
    """Tell if an entry of a state dictionary is a module's extra state."""
    return name.rpartition(".")[2] == "_extra_state"


def _rows(tensor: Tensor, found: Tensor, *, grows: bool) -> Tensor:
    """Return the part of a tensor to take over: all of it, or the first rows if it may grow."""
    return tensor[: len(found)] if grows and found.ndim and tensor.ndim else tensor


def has_fixed_encoder(network: nn.Module) -> bool:
    """Tell if items have the same embeddings at every step, as nothing in the encoder is trained.

    The class of the encoder must say itself (`is_pure = True`; no parent says it for it) that an
    embedding is a function of the item and the parameters alone: the same in training and in
    evaluation, whatever else is in the batch, with nothing drawn or kept.

    Args:
        network: Any network; the encoding of a network that is not Farfield's is unknown.
    """
    if not isinstance(network, EncodesItems) or not is_ours(type(network)):
        return False
    encoder = getattr(network, "encoder", None)
    return (
        isinstance(encoder, nn.Module)
        and vars(type(encoder)).get("is_pure") is True
        and not any(parameter.requires_grad for parameter in encoder.parameters())
    )


@contextlib.contextmanager
def without_encoder(network: nn.Module) -> Iterator[None]:
    """Build the network takes items that are embedded already, as long as the context lasts.

    Args:
        network: A network with an `encoder`.
    """
    encoder = network.encoder
    network.encoder = nn.Identity()
    try:
        yield
    finally:
        network.encoder = encoder


@contextlib.contextmanager
def with_tensors(network: nn.Module, tensors: Mapping[str, Tensor]) -> Iterator[None]:
    """Context manager: the network has other parameters and buffers.

    Args:
        network: The network; afterwards it has its own again.
        tensors: Other parameters and buffers, by the first name of each.
    """
    own = Bound(module=network).tensors()
    before = {name: tensor.detach().clone() for name, tensor in own.items()}
    buffers = [(part, dict(part.named_buffers(recurse=False))) for part in network.modules()]
    _fill(own, tensors)
    try:
        yield
    finally:
        for part, held in buffers:  # which the network may have replaced meanwhile
            for name, buffer in held.items():
                setattr(part, name, buffer)
        _fill(own, before)


def _fill(own: Mapping[str, Tensor], tensors: Mapping[str, Tensor]) -> None:
    with torch.no_grad():
        for name, tensor in tensors.items():
            own[name].copy_(tensor)


def embedded(network: nn.Module, problems: Problems) -> Problems:
    """Replace the items of problems by their embeddings.

    Args:
        network: A model of two stages, which embeds the items.

    Raises:
        TypeError: If the network does not embed items one by one.
    """
    if not isinstance(network, EncodesItems):
        raise TypeError(f"network must have methods encode and answer, got {network!r}")
    problems = problems.compact()
    with torch.no_grad():
        return dataclasses.replace(problems, items=encode_all(network, problems))


def trained_network(experiment: Experiment, seed: int, store: Store) -> nn.Module:
    """Build the network of a finished run, in evaluation mode, on the CPU.

    Raises:
        StoreError: If the weights are missing, damaged or those of another network.
    """
    path, weights = store.weights_path(experiment.key, seed), store.weights(experiment.key, seed)
    network = build_network(experiment, weights_stream(seed))
    own = network.state_dict()
    types = {n: t.dtype for n, t in weights.items() if n in own and isinstance(t, Tensor)}
    others = [f"{name} is {kind}" for name, kind in types.items() if kind != own[name].dtype]
    try:
        network.load_state_dict(weights)
    except RuntimeError as error:
        others.append(" ".join(str(error).split())[:200])
    if others:
        raise StoreError(f"{path} holds the weights of another network: {others[-1]}")
    record = store.find(experiment.key, seed)
    if record is not None and not record.weights and _is_finite(record):
        for name, parameter in network.named_parameters():
            if not parameter.isfinite().all():
                raise StoreError(f"{path} is damaged: {name} has numbers that are not finite")
    return network.eval()


def trained_weights(experiment: Experiment, seed: int, store: Store) -> dict[str, Any]:
    """Read the state of the network of a finished run, by name.

    Where the record has no digest of it, from before there was one, the network is built to see
    whether the state fits it.

    Raises:
        StoreError: If the weights are missing, damaged or those of another network.
    """
    weights = store.weights(experiment.key, seed)
    record = store.find(experiment.key, seed)
    if record is None or not record.weights:
        trained_network(experiment, seed, store)
    return weights


def complete_runs(runs: Iterable[tuple[Experiment, int]], store: Store) -> set[tuple[str, int]]:
    """List key and seed of the finished runs whose scores and networks can be used.

    Args:
        runs: Experiment and seed of each.
    """
    asked = {(experiment.key, seed): (experiment, seed) for experiment, seed in runs}
    return {
        run
        for run, digest in store.complete(asked).items()
        if digest or _is_network_of(*asked[run], store)
    }


def _is_network_of(experiment: Experiment, seed: int, store: Store) -> bool:
    """Tell if the trained network of a run is one of its experiment's."""
    try:
        trained_network(experiment, seed, store)
    except StoreError:
        return False
    return True


def _is_finite(record: Record) -> bool:
    """Tell if every score of a run is finite, as where nothing diverged."""
    return all(math.isfinite(score.value) for score in record.scores)
