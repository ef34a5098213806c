"""Reasoners against loops over single numbers, and what each is bound to hold."""

from __future__ import annotations

import inspect

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch.func import functional_call, grad, stack_module_state, vmap
from torch.utils._python_dispatch import TorchDispatchMode

from farfield.functional.internal import sinusoidal_position
from farfield.models import ESBN, LSTM, REASONERS, Transformer
from farfield.models.internal import Relational
from farfield.nn import ContextNorm, ConvEncoder
from made import drawn, generator, gradcheck, unsettled
from oracles import webb2021 as oracle

FEATURES, OUTPUTS = 6, 3
aten = torch.ops.aten


def small_esbn(**options: bool) -> ESBN:
    return unsettled(
        ESBN(FEATURES, OUTPUTS, hidden_size=5, key_size=4, generator=generator(), **options)
    )


def small_transformer(**options: bool) -> Transformer:
    return unsettled(
        Transformer(
            FEATURES, OUTPUTS, num_heads=2, feedforward_size=8, generator=generator(), **options
        )
    )


def small_lstm() -> LSTM:
    return unsettled(LSTM(FEATURES, OUTPUTS, hidden_size=5, generator=generator()))


def state_of(module: torch.nn.Module) -> dict[str, np.ndarray]:
    return {name: tensor.numpy() for name, tensor in module.state_dict().items()}


ESBN_OPTIONS = [
    {},
    {"confidence": True},
    {"confidence": False},
    {"default_memory": True},
    {"default_memory": True, "confidence": False},
]


@pytest.mark.parametrize("length", [1, 2, 3, 6])
@pytest.mark.parametrize("options", ESBN_OPTIONS, ids=str)
def test_esbn_is_algorithm_1(options: dict[str, bool], length: int) -> None:
    model = small_esbn(**options)
    z = drawn(3, length, FEATURES)
    expected = [oracle.esbn(problem, state_of(model)) for problem in z.numpy()]
    np.testing.assert_allclose(model(z).detach(), expected, rtol=1e-9, atol=1e-12)
    with torch.no_grad():
        np.testing.assert_allclose(model(z), expected, rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("length", [1, 2, 3, 6])
@pytest.mark.parametrize("options", ESBN_OPTIONS, ids=str)
def test_esbn_hands_out_the_keys_of_algorithm_1(options: dict[str, bool], length: int) -> None:
    model = small_esbn(**options)
    z = drawn(3, length, FEATURES)
    answers, *both = zip(
        *(oracle.esbn_and_keys(p, state_of(model)) for p in z.numpy()), strict=True
    )
    for found, expected in zip(model.keys(z), both, strict=True):
        np.testing.assert_allclose(found.detach(), expected, rtol=1e-9, atol=1e-12)
    np.testing.assert_allclose(model(z).detach(), answers, rtol=1e-9, atol=1e-12)


def test_the_first_two_keys_of_esbn_know_nothing_of_the_problem() -> None:
    written, read = small_esbn().keys(drawn(20, 5, FEATURES))
    assert torch.equal(written[:, :2], written[:1, :2].expand(20, -1, -1))
    assert written[:, 2:].std(0).amax(-1).min() > 1e-6
    blind, _ = small_esbn(confidence=False).keys(drawn(20, 5, FEATURES))
    torch.testing.assert_close(blind[:, 2], blind[:1, 2].expand(20, -1), rtol=1e-12, atol=0)
    assert not read[:, 0].any()
    torch.testing.assert_close(read[:, 1], written[:, 0], rtol=1e-12, atol=0)


@pytest.mark.parametrize("shape", [(3, FEATURES), (2, 3, FEATURES - 1)])
def test_keys_of_what_is_no_sequence_of_embeddings_are_refused(shape, unchecked) -> None:
    with pytest.raises(ValueError, match="z must"):
        small_esbn().keys(drawn(*shape))


@pytest.mark.parametrize("length", [1, 2, 6])
def test_lstm_is_that_of_the_equations(length: int) -> None:
    model = small_lstm()
    state = state_of(model)
    controller = {
        name.removeprefix("controller."): array
        for name, array in state.items()
        if name.startswith("controller.")
    }
    z = drawn(3, length, FEATURES)
    expected = [
        oracle.linear(
            oracle.lstm(problem, controller)[-1], state["output.weight"], state["output.bias"]
        )
        for problem in z.numpy()
    ]
    np.testing.assert_allclose(model(z).detach(), expected, rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("length", [1, 2, 6])
@pytest.mark.parametrize("final_norm", [False, True])
def test_transformer_is_that_of_the_equations(final_norm: bool, length: int) -> None:
    model = small_transformer(final_norm=final_norm)
    z = drawn(3, length, FEATURES)
    expected = [oracle.transformer(problem, state_of(model), 2) for problem in z.numpy()]
    np.testing.assert_allclose(model(z).detach(), expected, rtol=1e-9, atol=1e-12)


@given(seed=st.integers(0, 999), length=st.integers(1, 7))
def test_esbn_knows_embeddings_by_their_products_alone(seed: int, length: int) -> None:
    model, z = small_esbn(), drawn(2, length, FEATURES, seed=seed)
    rotation = torch.linalg.qr(drawn(FEATURES, FEATURES, seed=seed + 1)).Q
    torch.testing.assert_close(model(z @ rotation), model(z), rtol=1e-9, atol=1e-10)


def test_esbn_of_two_places_answers_all_alike_without_confidence() -> None:
    z = drawn(5, 2, FEATURES)
    blind = small_esbn(confidence=False)(z)
    torch.testing.assert_close(blind, blind[:1].expand(5, -1), rtol=0, atol=1e-14)
    assert small_esbn()(z).std(0).min() > 1e-6
    assert small_esbn(default_memory=True)(z).std(0).min() > 1e-6


@given(seed=st.integers(0, 999), order=st.permutations(range(5)))
def test_transformer_knows_order_by_its_code_of_places_alone(seed: int, order: list[int]) -> None:
    model, z = small_transformer(), drawn(2, 5, FEATURES, seed=seed)
    place = sinusoidal_position(5, FEATURES, dtype=torch.float64)
    moved = (z + place)[:, order] - place
    torch.testing.assert_close(model(moved), model(z), rtol=1e-9, atol=1e-10)


def test_transformer_sees_the_order() -> None:
    model, z = small_transformer(), drawn(2, 5, FEATURES)
    assert not torch.isclose(model(z.flip(1)), model(z)).any()


@pytest.mark.parametrize("build", [small_esbn, small_lstm, small_transformer])
@pytest.mark.parametrize("shape", [(2, 3), (1, 5)])
def test_gradient_with_respect_to_embeddings(build, shape: tuple[int, int]) -> None:
    model = build()
    assert gradcheck(model, drawn(*shape, FEATURES).requires_grad_())


def test_first_parameters_of_esbn() -> None:
    model = ESBN(8, 4, generator=generator())
    assert model.controller.weight_ih.shape == (2048, 257)
    assert model.controller.weight_hh.shape == (2048, 512)
    assert model.key.weight.shape == (256, 512)
    assert (model.confidence_gain.item(), model.confidence_bias.item()) == (1.0, 0.0)
    spread = model.key.weight.square().mean().sqrt().item()
    assert abs(spread / (2 / 512) ** 0.5 - 1) < 0.02
    other = ESBN(8, 4, default_memory=True, generator=generator())
    assert other.controller.weight_ih.shape == (2048, 256)
    assert (other.default_key == 0).all()
    assert (other.default_value == 0).all()
    assert other.confidence_gain is None


def test_first_parameters_of_transformer() -> None:
    model = Transformer(128, 4, generator=generator())
    spreads = {
        "attention_in": (2 / (4 * 128)) ** 0.5,
        "attention_out": (1 / (3 * 128)) ** 0.5,
        "fc1": (2 / 128) ** 0.5,
        "fc2": (2 / 512) ** 0.5,
        "hidden": (2 / 128) ** 0.5,
        "output": (2 / (256 + 4)) ** 0.5,
    }
    for name, spread in spreads.items():
        layer = getattr(model, name)
        found = layer.weight.square().mean().sqrt().item()
        assert abs(found / spread - 1) < 5 / (2 * layer.weight.numel()) ** 0.5
        assert (layer.bias == 0).all()
    assert model.attention_out.weight.abs().max() <= 128**-0.5
    assert model.norm3 is None


def test_sizes_that_cannot_be_are_refused() -> None:
    for cls in REASONERS.values():
        fixed = {"length": 3} if "length" in inspect.signature(cls).parameters else {}
        with pytest.raises(ValueError, match=r"num_outputs must be an int 1….*, got 0"):
            cls(8, 0, **fixed)
    with pytest.raises(ValueError, match=r"key_size must be an int 1….*, got -1"):
        ESBN(8, 4, key_size=-1)
    with pytest.raises(ValueError, match="num_heads must divide in_features=10, got 8"):
        Transformer(10, 4)
    with pytest.raises(ValueError, match="got confidence=True; leave confidence out"):
        ESBN(8, 4, confidence=True, default_memory=True)


@pytest.mark.parametrize("build", [small_esbn, small_lstm, small_transformer])
def test_what_is_no_sequence_of_embeddings_is_refused(build, unchecked) -> None:
    model = build()
    with pytest.raises(ValueError, match=r"at least one step, got shape \(2, 0, 6\)"):
        model(drawn(2, 0, FEATURES))
    with pytest.raises(ValueError, match=r"\(batch, time, feature\) .* got shape \(3, 6\)"):
        model(drawn(3, FEATURES))
    with pytest.raises(ValueError, match="in_features=6 features, got 5"):
        model(drawn(2, 3, 5))


def test_relational_encodes_each_item_once() -> None:
    seen = []

    class Encoder(torch.nn.Module):
        def forward(self, items: torch.Tensor) -> torch.Tensor:
            seen.append(len(items))
            return items.flatten(1)

    model = Relational(Encoder(), None, small_esbn())
    items, index = drawn(4, 2, 3), torch.tensor([[0, 1, 0], [3, 3, 3], [2, 0, 1]])
    out = model(items, index)
    assert seen == [4]
    torch.testing.assert_close(out, model.reasoner(items.flatten(1)[index]), rtol=1e-12, atol=0)


def test_what_the_reasoner_receives_can_be_had() -> None:
    context = unsettled(ContextNorm(FEATURES))
    items, index = drawn(4, 2, 3), torch.tensor([[0, 1, 0], [3, 3, 3]])
    model = Relational(torch.nn.Flatten(), context, small_esbn())
    torch.testing.assert_close(
        model.embed(items, index), context(items.flatten(1)[index]), rtol=1e-12, atol=0
    )
    torch.testing.assert_close(
        model.reasoner(model.embed(items, index)), model(items, index), rtol=1e-12, atol=0
    )


def test_a_table_is_the_same_as_every_place() -> None:
    parts = ConvEncoder((8, 8), out_features=FEATURES, generator=generator()), ContextNorm(FEATURES)
    model = Relational(*parts, ESBN(FEATURES, 2, generator=generator(1))).double()
    items = torch.rand(5, 8, 8, dtype=torch.float64, generator=generator(2))
    index = torch.tensor([[0, 1, 4, 1], [2, 2, 3, 0]])
    places = torch.arange(8).reshape(2, 4)
    found = [model(items, index), model(items[index.flatten()], places)]
    torch.testing.assert_close(found[0], found[1], rtol=1e-9, atol=1e-12)
    first, second = (torch.autograd.grad(out.sum(), model.parameters()) for out in found)
    scale = max(gradient.abs().max() for gradient in first).item()
    for ours, theirs in zip(first, second, strict=True):
        torch.testing.assert_close(ours, theirs, rtol=1e-9, atol=1e-9 * scale)


def test_relational_refuses_an_index_of_one_axis(unchecked) -> None:
    model = Relational(torch.nn.Flatten(), None, small_lstm())
    with pytest.raises(ValueError, match=r"index must be \(batch, time\), got shape \(3,\)"):
        model(drawn(4, 2, 3), torch.tensor([0, 1, 2]))


class AsksTheProcessor(TorchDispatchMode):
    """Notes operations for which a GPU waits: what a recorded program may not hold."""

    waits = (aten.lift_fresh, aten._local_scalar_dense, aten.nonzero, aten.masked_select)

    def __init__(self) -> None:
        super().__init__()
        self.found: list[object] = []

    def __torch_dispatch__(self, function, types, args=(), kwargs=None):
        if function.overloadpacket in self.waits:
            self.found.append(function)
        return function(*args, **(kwargs or {}))


@pytest.mark.parametrize("name", REASONERS)
def test_a_step_that_was_taken_before_copies_no_number_to_a_gpu(name: str) -> None:
    cls = REASONERS[name]
    sizes = {"length": 3, "hidden_size": 8, "relation_size": 4, "feedforward_size": 8}
    taken = sizes.keys() & inspect.signature(cls).parameters
    model = cls(16, OUTPUTS, **{size: sizes[size] for size in taken})
    tensors, _ = stack_module_state([model, model])
    step = vmap(grad(lambda own, z: functional_call(model, own, (z,)).square().sum()))
    z = torch.ones(2, 4, 3, 16)
    step(tensors, z)
    with AsksTheProcessor() as asked:
        step(tensors, z)
    assert not asked.found
