"""Products by another kernel are the same products, with the same gradients."""

from __future__ import annotations

from functools import partial

import pytest
import torch
from torch.nn import functional as F

from farfield._machine import FORCED
from farfield.functional._autograd import _products
from farfield.functional._autograd._products import add_product, linear, product

pytestmark = pytest.mark.processor

needs_operator = pytest.mark.skipif(not _products._exists(), reason="this torch has no operator")
LARGE = (160, 128, 120)  # rows, inner, columns: enough for the operator


def drawn(*shape: int, seed: int = 0) -> torch.Tensor:
    generator = torch.Generator().manual_seed(seed + 1000 * sum(shape))
    return torch.randn(*shape, generator=generator)


def layouts(rows: int, columns: int, seed: int) -> list[torch.Tensor]:
    """One matrix, as it comes, transposed in memory, cut from a larger one, and of one row."""
    matrix = drawn(rows, columns, seed=seed)
    wide = torch.cat((drawn(rows, 3, seed=7), matrix), dim=1)
    return [matrix, matrix.t().contiguous().t(), wide[:, 3:], matrix[:1].expand(rows, -1)]


def close(found: torch.Tensor, expected: torch.Tensor) -> None:
    """Equal but for the rounding of sums of float32, whose terms are about one."""
    assert found.dtype == torch.float32
    torch.testing.assert_close(found.double(), expected, rtol=1e-5, atol=1e-4)


def runs_operator(rows: int) -> bool:
    """Whether the operator multiplies so many rows."""
    _, inner, columns = LARGE
    node = linear(drawn(rows, inner), drawn(columns, inner).requires_grad_()).grad_fn
    return "_Linear" in type(node.next_functions[0][0]).__name__


@needs_operator
@pytest.mark.parametrize("rows", [2, LARGE[0]])
@pytest.mark.parametrize("side", [True, False])
def test_either_product_can_be_forced(side: bool, rows: int, monkeypatch) -> None:
    monkeypatch.setitem(FORCED, "onednn", side)
    assert runs_operator(rows) is side


@needs_operator
def test_operator_multiplies_large_matrices_with_avx512_alone(monkeypatch) -> None:
    monkeypatch.delitem(FORCED, "onednn", raising=False)
    for capability in ("AVX512", "AVX2"):
        monkeypatch.setattr(torch.backends.cpu, "get_cpu_capability", partial(str, capability))
        assert runs_operator(LARGE[0]) is (capability == "AVX512")
        assert not runs_operator(2)


@needs_operator
def test_output_may_be_changed_in_place() -> None:
    _, inner, columns = LARGE
    for shape in ((160,), (8, 20)):
        weight = drawn(columns, inner).requires_grad_()
        linear(drawn(*shape, inner), weight).relu_().sum().backward()
        found, weight.grad = weight.grad, None
        F.linear(drawn(*shape, inner), weight).relu().sum().backward()
        close(found, weight.grad.double())


@pytest.mark.parametrize("first", range(4))
@pytest.mark.parametrize("second", range(4))
def test_products_of_any_layout(first: int, second: int) -> None:
    rows, inner, columns = LARGE
    a, b = layouts(rows, inner, 1)[first], layouts(inner, columns, 2)[second]
    expected = a.double() @ b.double()
    close(product(a, b), expected)
    close(product(b.t(), a.t()), expected.t())
    for added in (drawn(rows, columns), drawn(rows, 1), drawn(columns)):
        before = added.clone()
        close(add_product(added, a, b), added.double() + expected)
        assert torch.equal(added, before)


@pytest.mark.parametrize("shape", [(160,), (8, 20)])
@pytest.mark.parametrize("biased", [True, False])
@pytest.mark.parametrize("inner, columns", [LARGE[1:], LARGE[:0:-1]])
def test_linear_and_its_gradients(
    shape: tuple[int, ...], biased: bool, inner: int, columns: int
) -> None:
    tensors = [drawn(*shape, inner), drawn(columns, inner, seed=1)]
    tensors += [drawn(columns, seed=2)] * biased
    upstream = drawn(*shape, columns, seed=3)

    def differentiated(function, *given: torch.Tensor) -> list[torch.Tensor]:
        """Output, gradients, and gradients of the sum of their squares."""
        leaves = [tensor.clone().requires_grad_() for tensor in given]
        out = function(*leaves)
        weighed = (out * upstream.to(out.dtype)).sum()
        first = torch.autograd.grad(weighed, leaves, create_graph=True)
        squares = sum(gradient.square().mean() for gradient in first[:2])
        return [out, *first, *torch.autograd.grad(squares, leaves[:2])]

    found = differentiated(linear, *tensors)
    expected = differentiated(F.linear, *(tensor.double() for tensor in tensors))
    for ours, theirs in zip(found, expected, strict=True):
        close(ours, theirs)
    with torch.no_grad():
        close(linear(*tensors), expected[0])


@pytest.mark.parametrize("graded", [True, False])
def test_a_bias_of_any_layout(graded: bool) -> None:
    rows, inner, columns = LARGE
    inputs, weight, wide = drawn(rows, inner), drawn(columns, inner), drawn(columns, 2, seed=3)
    for bias in (wide[:, 1], drawn(2 * columns, seed=4)[::2], torch.ones(1).expand(columns)):
        with torch.set_grad_enabled(graded):
            found = linear(inputs, weight, bias)
        close(found, F.linear(inputs.double(), weight.double(), bias.double()))


def test_one_row_alone_has_its_gradients() -> None:
    inputs, weight = drawn(2048).requires_grad_(), drawn(1024, 2048).requires_grad_()
    linear(inputs, weight).sum().backward()
    close(inputs.grad, weight.detach().double().sum(0))
    close(weight.grad, inputs.detach().double().expand(1024, -1))


def test_wrong_shapes_are_refused_as_torch_does() -> None:
    rows, inner, columns = LARGE
    inputs, weight = drawn(rows, inner), drawn(columns, inner)
    for wrong in ((inputs, drawn(columns, inner + 1)), (inputs, weight, drawn(columns + 1))):
        with pytest.raises(RuntimeError) as expected:
            F.linear(*wrong)
        with pytest.raises(RuntimeError) as found:
            linear(*wrong)
        assert str(found.value) == str(expected.value)


def test_only_wanted_gradients_are_taken() -> None:
    rows, inner, columns = LARGE
    inputs, weight = drawn(rows, inner), drawn(columns, inner).requires_grad_()
    linear(inputs, weight).sum().backward()
    assert inputs.grad is None
    close(weight.grad, inputs.double().sum(0).expand(columns, -1))


def as_torch_does(first: torch.Tensor, second: torch.Tensor) -> None:
    """Nothing but torch's own product runs."""
    assert torch.equal(linear(first, second), F.linear(first, second))
    assert type(linear(first, second.requires_grad_()).grad_fn).__name__ == "MmBackward0"


@needs_operator
def test_where_it_is_not_made_for_torch_multiplies() -> None:
    rows, inner, columns = LARGE
    first, second = drawn(rows, inner), drawn(columns, inner)
    as_torch_does(first.double(), second.double())
    enabled, *_ = torch.backends.mkldnn.set_flags(_enabled=False)
    try:
        as_torch_does(first, second.clone())
    finally:
        torch.backends.mkldnn.set_flags(_enabled=enabled)
    stacked = torch.stack((second, 2 * second))
    mapped = torch.func.vmap(linear, (None, 0))(first, stacked)
    torch.testing.assert_close(mapped[1], 2 * F.linear(first, second), rtol=1e-5, atol=1e-4)
    mapped = torch.func.vmap(add_product, (None, None, 0))(
        torch.ones(columns), first, stacked.mT.contiguous()
    )
    torch.testing.assert_close(mapped[1], 1 + 2 * first @ second.t(), rtol=1e-5, atol=1e-4)


def missing(*_: object) -> torch.Tensor:
    raise AttributeError("no such operator")


def wrong(inputs: torch.Tensor, weight: torch.Tensor, bias: torch.Tensor) -> torch.Tensor:
    return F.linear(inputs, weight)


@pytest.mark.parametrize("operator", [missing, wrong])
def test_operator_that_is_missing_or_wrong_is_not_taken(operator, monkeypatch) -> None:
    monkeypatch.setattr(_products, "_by_onednn", operator)
    monkeypatch.setitem(FORCED, "onednn", True)
    _products._exists.cache_clear()
    try:
        rows, inner, columns = LARGE
        as_torch_does(drawn(rows, inner), drawn(columns, inner))
    finally:
        _products._exists.cache_clear()
