"""Both sides of every branch by machine give the same outputs and gradients.

Products of float32 are on both sides in all tests of `BOTH` in `conftest.py` too.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator

import pytest
import torch
from torch import Tensor

from each import some
from farfield import _machine
from zoo import FUNCTIONS, MODULES, generator, unsettled

CLOSE = 2e-5
"""Largest difference between two sides, as a fraction of the largest number of a case, beside a
multiple of the difference of float32 from float64, which nearly equal numbers amplify."""


@contextlib.contextmanager
def forced(branch: str, side: bool) -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setitem(_machine.FORCED, branch, side)
        yield


@contextlib.contextmanager
def setting(read: Callable, write: Callable, value: object) -> Iterator[None]:
    before = read()
    write(value)
    try:
        yield
    finally:
        write(before)


SIDES = {
    "operator": lambda: forced("onednn", True),
    "kernels for a GPU": lambda: forced("cpu", False),
    "without mkldnn": lambda: setting(
        lambda: torch.backends.mkldnn.enabled,
        lambda enabled: torch.backends.mkldnn.set_flags(_enabled=enabled),
        False,
    ),
    "two threads": lambda: setting(torch.get_num_threads, torch.set_num_threads, 2),
    "TF32": lambda: setting(
        torch.get_float32_matmul_precision, torch.set_float32_matmul_precision, "high"
    ),
}


def flat(found: object) -> list[Tensor]:
    if isinstance(found, (tuple, list)):
        return [tensor for part in found for tensor in flat(part)]
    return [found] if isinstance(found, Tensor) and found.is_floating_point() else []


def watched(inputs: tuple, dtype: torch.dtype) -> tuple[list, list[Tensor]]:
    """Inputs of a type, and those of them that have gradients."""
    given = [
        x.detach().to(dtype).requires_grad_()
        if isinstance(x, Tensor) and x.is_floating_point()
        else x
        for x in inputs
    ]
    return given, [x for x in given if isinstance(x, Tensor) and x.requires_grad]


def cases(dtype: torch.dtype) -> Iterator[tuple[str, Callable, list, list[Tensor]]]:
    """Name, function, inputs and what has gradients, for every module and function of the zoo."""
    for name, animal in MODULES.items():
        module = unsettled(animal.build(generator())).to(dtype).eval()
        given, leaves = watched(animal.inputs, dtype)
        yield name, module, given, [*leaves, *(p for p in module.parameters() if p.requires_grad)]
    for name, (function, inputs, _) in FUNCTIONS.items():
        yield name, function, *watched(inputs, dtype)


def outputs_and_gradients(call: Callable, given: list, leaves: list[Tensor]) -> list[Tensor]:
    torch.manual_seed(0)
    outputs = flat(call(*given))
    weighed = [
        (output * torch.linspace(-1, 1, output.numel()).view(output.shape).to(output)).sum()
        for output in outputs
        if output.requires_grad
    ]
    found = [output.detach().clone() for output in outputs]
    if weighed and leaves:
        options = {"allow_unused": True, "materialize_grads": True}
        found += torch.autograd.grad(sum(weighed), leaves, **options)
    with torch.no_grad():
        torch.manual_seed(0)
        return found + [output.clone() for output in flat(call(*given))]


def furthest(found: list[Tensor], expected: list[Tensor]) -> float:
    """The largest difference, as a fraction of the largest number."""
    assert [x.shape for x in found] == [y.shape for y in expected]
    pairs = [(x, y) for x, y in zip(found, expected, strict=True) if x.numel()]
    scale = max((y.abs().max().item() for _, y in pairs), default=0)
    return max(((x - y).abs().max().item() for x, y in pairs), default=0) / max(scale, 1e-30)


@pytest.fixture(scope="module")
def own() -> dict[str, tuple]:
    """Every case of the zoo, its numbers by torch's product, and how far from float64 they are."""
    with forced("onednn", False):
        exact = {case[0]: outputs_and_gradients(*case[1:]) for case in cases(torch.float64)}
        return {
            name: (case, found := outputs_and_gradients(*case), furthest(found, exact[name]))
            for name, *case in cases(torch.float32)
        }


@pytest.mark.parametrize("side", some([s for s in SIDES if s != "two threads"], SIDES))
def test_every_side_gives_the_same(side: str, own: dict[str, tuple]) -> None:
    with SIDES[side]():
        apart = {
            name: (furthest(outputs_and_gradients(*case), expected), rounding)
            for name, (case, expected, rounding) in own.items()
        }
    assert not {
        name: (found, rounding)
        for name, (found, rounding) in apart.items()
        if not found <= CLOSE + 4 * rounding
    }
