"""What stands in an ordinary network where a layer of torch stood: every mechanism of the zoo.

Replicas of `nn.DataParallel`, `device=` and `dtype=`, gradients of gradients, traces, exports. What
one cannot do stands in a list here, with the reason.
"""

from __future__ import annotations

import functools
import inspect
import warnings
from copy import deepcopy

import pytest
import torch
from torch import Tensor, nn

import farfield.nn.internal
from each import each, some
from farfield.models import REASONERS
from test_zoo import as_dtype
from zoo import BATCH, MODULES, Animal, first, generator, moved


@functools.cache
def build(name: str) -> tuple[nn.Module, tuple[Tensor, ...]]:
    """The module in evaluation and float64, away from its first weights, and its inputs."""
    animal: Animal = MODULES[name]
    module = deepcopy(moved(animal)).eval()
    return module, as_dtype(animal.inputs, torch.float64)


def first_of(name: str) -> str:
    return name.partition(",")[0]


STATE_FIRST = {"ActorCritic"}
"""Whose states have the batch on their second axis, where devices do not divide it."""

# --- Replicas ------------------------------------------------------------------------------------


def replica_of(module: nn.Module) -> nn.Module:
    """What `nn.DataParallel` makes for each device: its weights are no parameters."""
    replica = module._replicate_for_data_parallel()
    replica._former_parameters = {}
    for name, child in module.named_children():
        setattr(replica, name, replica_of(child))
    for name, parameter in module._parameters.items():
        setattr(replica, name, None if parameter is None else parameter * 1)
    return replica


@each("name", MODULES.keys() - STATE_FIRST)
def test_a_replica_answers_as_the_module_does(name: str) -> None:
    module, inputs = build(name)
    torch.testing.assert_close(replica_of(module)(*inputs), module(*inputs), rtol=1e-12, atol=0)


# --- Device and type -----------------------------------------------------------------------------

PUBLIC = {
    name: cls
    for face in (farfield.nn, farfield.nn.internal)
    for name, cls in vars(face).items()
    if inspect.isclass(cls) and issubclass(cls, nn.Module)
    if name in farfield.nn.__all__ or name in map(first_of, MODULES)
}
"""Modules of users, and parts of modules that the zoo has."""
WITHOUT_FACTORY = {"ContextWhitening", "IdentityNorm", "MultiPass", "StatisticsMatch"}
"""Which take no `device=` and `dtype=`: they have nothing of their own that is anywhere else."""
STATELESS = {"CenterImages", "DirectionEncoder", "PoseEncoder", "Standardize", "ZCA"}
"""Which have no state, before a layer that has some."""
PLACED = [
    name
    for name in MODULES
    if {"device", "dtype"}
    <= inspect.signature(PUBLIC.get(first_of(name), nn.Identity)).parameters.keys()
]


def test_modules_take_a_device_and_a_type() -> None:
    placed = {first_of(name) for name in PLACED}
    assert PUBLIC.keys() - placed == WITHOUT_FACTORY


def built_with(name: str, monkeypatch: pytest.MonkeyPatch, **options: object) -> dict[str, Tensor]:
    """The state of what the zoo builds, if the class is called with these options too."""
    cls = PUBLIC[first_of(name)]
    monkeypatch.setattr(cls, "__init__", functools.partialmethod(cls.__init__, **options))
    state = MODULES[name].build(generator()).state_dict()
    monkeypatch.undo()
    return state


@each("name", [name for name in PLACED if name not in STATELESS])
def test_weights_are_made_in_the_type_and_where_asked_for(name: str, monkeypatch) -> None:
    plain = first(MODULES[name]).state_dict()
    wide = built_with(name, monkeypatch, dtype=torch.float64)
    absent = built_with(name, monkeypatch, device="meta")
    assert plain.keys() == wide.keys() == absent.keys()
    for at, weight in plain.items():
        wanted = weight.double() if weight.is_floating_point() else weight
        assert torch.equal(wide[at], wanted)
        assert wide[at].dtype == wanted.dtype
        assert absent[at].is_meta


# --- Gradients of gradients ----------------------------------------------------------------------

BLOCKED = {
    "RIMs, sparse communication through a gate", "PreActResNet, depth", "RegisterMachine"
}  # fmt: skip
"""Which block gradients on purpose, so that no difference is what these say, which are so deep
that a difference is all rounding, or which round in evaluation."""


def slope(
    module: nn.Module, inputs: tuple[Tensor, ...], own: dict[str, Tensor], along: dict[str, Tensor]
) -> Tensor:
    """How fast a loss rises along a direction, at these parameters."""
    loss = torch.func.functional_call(module, own, inputs).sin().sum()
    found = torch.autograd.grad(loss, own.values(), create_graph=True, allow_unused=True)
    known = [
        (each, way) for each, way in zip(found, along.values(), strict=True) if each is not None
    ]
    return torch.stack([(each * way).sum() for each, way in known]).sum()


@each("name", MODULES.keys() - BLOCKED)
def test_gradients_have_gradients(name: str) -> None:
    """Along one direction and then another, against a difference."""
    module, inputs = build(name)
    trained = {at: p for at, p in module.named_parameters() if p.requires_grad}
    if not trained:
        return
    source = generator(1)
    first, second = (
        {at: torch.randn(p.shape, dtype=p.dtype, generator=source) for at, p in trained.items()}
        for _ in range(2)
    )

    def moved(step: float) -> dict[str, Tensor]:
        return {at: (p.detach() + step * second[at]).requires_grad_() for at, p in trained.items()}

    at, step = moved(0.0), 1e-7
    here = slope(module, inputs, at, first)
    found = torch.autograd.grad(here, at.values(), allow_unused=True)
    exact = sum(
        (each * way).sum()
        for each, way in zip(found, second.values(), strict=True)
        if each is not None
    )
    before, after = (slope(module, inputs, moved(way), first) for way in (-step, step))
    scale = abs(here.item()) + 1
    torch.testing.assert_close(exact, (after - before) / (2 * step), rtol=1e-4, atol=1e-6 * scale)


# --- Programs ------------------------------------------------------------------------------------


TRACED = {first_of(name): name for name in reversed(MODULES)}


@pytest.mark.usefixtures("unchecked")  # sizes are tensors
@pytest.mark.parametrize("name", TRACED.values())
def test_a_trace_answers_as_the_module_does(name: str) -> None:
    module, inputs = build(name)
    others = tuple(x.flip(0) for x in inputs)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", torch.jit.TracerWarning)
        warnings.simplefilter("ignore", DeprecationWarning)
        warnings.simplefilter("ignore", FutureWarning)  # since torch 2.14
        traced = torch.jit.trace(module, inputs, check_trace=False)
        # Sizes enter a trace in single precision.
        torch.testing.assert_close(traced(*others), module(*others), rtol=1e-6, atol=1e-6)


UNEXPORTED = {
    *("BatchContextNorm", "MisalignedContextNorm", "PooledBatchNorm"),
    *("SlidingContextNorm", "SlotBatchNorm", "SubBatchNorm"),  # take problems some at a time
    "RelativePosition",  # knows no problems: the zoo applies it to one after another
    "MultiPass",  # takes any number of inputs, whose sizes torch is to be given in another form
    *("MLPReader", "PresenceReader", "RNReader"),  # a question beside the maps has problems too
    "SRCNN",  # torch proves no relation of sizes of convolutions without padding
}
"""Modules that `torch.export` does not take for any number of problems, as it is called here."""
READERS = {cls.__name__ for cls in REASONERS.values()}
LAYERS = [name for name in MODULES if first_of(name) in (PUBLIC.keys() | READERS) - UNEXPORTED]
EXPORTED = [
    "ContextNorm",
    "DivisiveNorm2d",
    "ESBN",
    "LineOfCode",
    "RIMs, no input attention",
]


@pytest.mark.slow
@pytest.mark.usefixtures("unchecked")
@pytest.mark.filterwarnings("ignore::FutureWarning")  # of torch's own
@pytest.mark.parametrize("name", some(EXPORTED, LAYERS))
def test_an_export_takes_any_number_of_problems(name: str) -> None:
    module, (*tables, last) = build(name)
    batch = torch.export.Dim("batch", min=2, max=10_000)
    shapes = (*(None for _ in tables), {0: batch})
    exported = torch.export.export(module, (*tables, last), dynamic_shapes=shapes)
    program = exported.module()
    many = last.repeat(20, *(1 for _ in last.shape[1:]))
    for rows in (2, BATCH, 20 * BATCH):
        given = (*tables, many[:rows])
        torch.testing.assert_close(program(*given), module(*given), rtol=1e-9, atol=1e-12)
