"""Recurrent cells with normalizers: torch's own without, the equations with, and refusals."""

from __future__ import annotations

from functools import partial

import numpy as np
import pytest
import torch
from torch import Tensor, nn
from torch.nn.utils.rnn import PackedSequence, pack_padded_sequence, pad_packed_sequence

from farfield.functional import Indexed
from farfield.nn import (
    BatchContextNorm,
    ContextNorm,
    ContextWhitening,
    DivisiveNorm1d,
    MisalignedContextNorm,
    NormalizedGRU,
    NormalizedLSTM,
    NormalizedRNN,
    PerNonlinearity,
    PerProjection,
    SlidingContextNorm,
)
from made import gradcheck
from oracles import recurrent_cells as oracle

INPUTS, HIDDEN, BATCH, TIME = 3, 4, 5, 6
PAIRS = {
    "lstm": (NormalizedLSTM, nn.LSTM),
    "gru": (NormalizedGRU, nn.GRU),
    "rnn": (NormalizedRNN, nn.RNN),
}
ORACLES = {"lstm": oracle.lstm, "gru": oracle.gru, "rnn": oracle.rnn}
PLACES = {
    "lstm": {"input_gate", "forget_gate", "candidate", "output_gate", "cell"},
    "gru": {"reset_gate", "update_gate", "candidate"},
    "rnn": {"sum"},
}
pairs = pytest.mark.parametrize("kind", PAIRS)
placements = pytest.mark.parametrize("placement", [PerNonlinearity(), PerProjection()], ids=repr)


def generator(seed: int = 0) -> torch.Generator:
    return torch.Generator().manual_seed(seed)


def drawn(*shape: int, seed: int = 0) -> Tensor:
    return torch.randn(*shape, dtype=torch.float64, generator=generator(seed))


def layer_norm(num_features: int) -> nn.Module:
    """Layer normalization with gains and shifts away from one and zero."""
    made = nn.LayerNorm(num_features, eps=1e-3)
    with torch.no_grad():
        for parameter in made.parameters():
            parameter.add_(drawn(num_features, seed=num_features))
    return made


def begun(kind: str, *axes: int, seed: int = 7) -> Tensor | tuple[Tensor, Tensor]:
    hidden = drawn(*axes, HIDDEN, seed=seed)
    return (hidden, drawn(*axes, HIDDEN, seed=seed + 1)) if kind == "lstm" else hidden


def assert_same(first: object, second: object) -> None:
    torch.testing.assert_close(first, second, rtol=1e-12, atol=1e-13)


def both(kind: str, **options: object) -> tuple[nn.Module, nn.Module]:
    """Ours and torch's with the same state."""
    cls, theirs = PAIRS[kind]
    mine = cls(INPUTS, HIDDEN, generator=generator(), **options).double()
    other = theirs(INPUTS, HIDDEN, **options).double()
    other.load_state_dict(mine.state_dict())
    return mine, other


# --- Without a normalizer: torch -----------------------------------------------------------------


@pairs
@pytest.mark.parametrize("batch_first", [False, True])
@pytest.mark.parametrize("num_layers, bias", [(1, True), (1, False), (3, True), (2, False)])
def test_torch_gives_the_same(kind: str, num_layers: int, bias: bool, batch_first: bool) -> None:
    mine, other = both(kind, num_layers=num_layers, bias=bias, batch_first=batch_first)
    x = drawn(BATCH, TIME, INPUTS) if batch_first else drawn(TIME, BATCH, INPUTS)
    assert_same(mine(x), other(x))
    state = begun(kind, num_layers, BATCH)
    assert_same(mine(x, state), other(x, state))
    alone, state = x[0] if batch_first else x[:, 0], begun(kind, num_layers)
    assert_same(mine(alone), other(alone))
    assert_same(mine(alone, state), other(alone, state))


@pairs
def test_torch_gives_the_same_gradients(kind: str) -> None:
    mine, other = both(kind, num_layers=2)
    x, weight = drawn(TIME, BATCH, INPUTS), drawn(TIME, BATCH, HIDDEN, seed=1)
    for module in (mine, other):
        (module(x)[0] * weight).sum().backward()
    theirs = dict(other.named_parameters())
    for name, parameter in mine.named_parameters():
        assert_same(parameter.grad, theirs.pop(name).grad)
    assert theirs == {}


@pytest.mark.processor
@pairs
def test_large_products_in_float32_are_those_of_torch(kind: str) -> None:
    """Large enough for the faster kernel, where there is one."""
    cls, theirs = PAIRS[kind]
    mine, other = cls(96, 128, generator=generator()), theirs(96, 128)
    other.load_state_dict(mine.state_dict())
    x, weight = drawn(3, 80, 96).float(), drawn(3, 80, 128, seed=1).float()
    for module in (mine, other):
        (module(x)[0] * weight).sum().backward()
    torch.testing.assert_close(mine(x), other(x), rtol=1e-4, atol=1e-5)
    for name, parameter in other.named_parameters():
        found = mine.get_parameter(name).grad
        torch.testing.assert_close(found, parameter.grad, rtol=1e-3, atol=1e-4)


@pairs
@pytest.mark.parametrize(
    "enforce_sorted, lengths", [(True, [6, 4, 4, 2, 1]), (False, [2, 6, 1, 4, 4])]
)
@pytest.mark.parametrize("with_state", [False, True])
def test_packed_sequences(kind: str, enforce_sorted, lengths, with_state) -> None:
    mine, other = both(kind, num_layers=2)
    x = pack_padded_sequence(drawn(TIME, BATCH, INPUTS), lengths, enforce_sorted=enforce_sorted)
    state = begun(kind, 2, BATCH) if with_state else None
    (out, last), (expected, expected_last) = mine(x, state), other(x, state)
    assert isinstance(out, PackedSequence)
    assert_same(last, expected_last)
    assert_same(pad_packed_sequence(out), pad_packed_sequence(expected))


@pairs
def test_dropout_between_layers_drops_what_torch_drops(kind: str) -> None:
    mine, other = both(kind, num_layers=3, dropout=0.4)
    x, outs = drawn(TIME, BATCH, INPUTS), []
    with torch.random.fork_rng():
        for module in (mine, other):
            torch.manual_seed(0)
            outs.append(module(x)[0])
    assert_same(*outs)
    assert not torch.equal(outs[0], mine.eval()(x)[0])
    assert_same(mine(x), other.eval()(x))
    assert_same(mine(x), mine(x))


@pairs
def test_first_weights_are_those_of_torch(kind: str) -> None:
    built = []
    with torch.random.fork_rng():
        for cls in PAIRS[kind]:
            torch.manual_seed(3)
            built.append(cls(INPUTS, HIDDEN, num_layers=2).state_dict())
    mine, theirs = built
    assert list(mine) == list(theirs)
    assert all(torch.equal(mine[name], theirs[name]) for name in mine)


def test_any_nonlinearity() -> None:
    mine = NormalizedRNN(INPUTS, HIDDEN, nonlinearity=torch.relu).double()
    other = nn.RNN(INPUTS, HIDDEN, nonlinearity="relu").double()
    other.load_state_dict(mine.state_dict())
    x = drawn(TIME, BATCH, INPUTS)
    assert_same(mine(x), other(x))


# --- With a normalizer: the equations ------------------------------------------------------------


def weights_of(module: nn.Module, layer: int) -> dict[str, np.ndarray]:
    names = ("weight_ih", "weight_hh", "bias_ih", "bias_hh")
    return {name: getattr(module, f"{name}_l{layer}").detach().numpy() for name in names}


def norms_of(module: nn.Module, layer: int) -> oracle.Norms:
    return {
        place: partial(
            oracle.layer_norm,
            gain=norm.weight.detach().numpy(),
            shift=norm.bias.detach().numpy(),
            eps=norm.eps,
        )
        for place, norm in module.normalizers[layer].items()
    }


def expected_of(
    kind: str, module: nn.Module, x: Tensor, state: list[np.ndarray], **options: object
) -> tuple[np.ndarray, list[np.ndarray]]:
    """Outputs and last states of both layers for one sequence, by the loops."""
    xs, last = x.numpy(), []
    for layer in range(2):
        own = [part[layer] for part in state]
        weights, norms = weights_of(module, layer), norms_of(module, layer)
        states = ORACLES[kind](xs, weights, norms, own, **options)
        xs = np.array([step[0] for step in states])
        last.append(states[-1])
    return xs, [np.array(parts) for parts in zip(*last, strict=True)]


@placements
@pytest.mark.parametrize(
    "kind, options",
    [
        ("rnn", {}),
        ("gru", {}),
        ("lstm", {}),
        ("lstm", {"forget_bias": 1.0}),
        ("lstm", {"forget_bias": 1.0, "forget_bias_normalized": True}),
        ("lstm", {"carry_normalized": True}),
    ],
)
def test_equations(kind: str, options: dict[str, object], placement) -> None:
    cls = PAIRS[kind][0]
    module = cls(
        INPUTS,
        HIDDEN,
        2,
        normalizer=layer_norm,
        placement=placement,
        generator=generator(),
        **options,
    ).double()
    x, state = drawn(TIME, BATCH, INPUTS), begun(kind, 2, BATCH)
    out, last = module(x, state)
    for row in range(BATCH):
        parts = state if kind == "lstm" else (state,)
        alone = [part[:, row].numpy() for part in parts]
        expected, expected_last = expected_of(kind, module, x[:, row], alone, **options)
        np.testing.assert_allclose(out[:, row].detach(), expected, rtol=1e-10, atol=1e-12)
        found = last if kind == "lstm" else (last,)
        for mine, theirs in zip(found, expected_last, strict=True):
            np.testing.assert_allclose(mine[:, row].detach(), theirs, rtol=1e-10, atol=1e-12)


def test_recurrent_layer_normalization_of_webb2020() -> None:
    module = NormalizedLSTM(
        INPUTS,
        HIDDEN,
        bias=False,
        batch_first=True,
        normalizer=partial(nn.LayerNorm, eps=1e-12),
        forget_bias=1.0,
        carry_normalized=True,
        generator=generator(),
    ).double()
    with torch.no_grad():
        for number, norm in enumerate(module.normalizers[0].values()):
            norm.weight.copy_(drawn(HIDDEN, seed=10 + number))
            norm.bias.copy_(drawn(HIDDEN, seed=20 + number))
    norms = [
        module.normalizers[0][place]
        for place in ("input_gate", "candidate", "forget_gate", "output_gate", "cell")
    ]
    both_weights = torch.cat([module.weight_ih_l0, module.weight_hh_l0], dim=1)
    i, f, j, o = both_weights.chunk(4)
    kernel = torch.cat([i, j, f, o]).T.detach().numpy()
    x = drawn(BATCH, TIME, INPUTS)
    out, (_, cell) = module(x)
    for row in range(BATCH):
        states = oracle.layer_norm_lstm(
            x[row].numpy(),
            kernel,
            np.array([norm.weight.detach().numpy() for norm in norms]),
            np.array([norm.bias.detach().numpy() for norm in norms]),
            HIDDEN,
        )
        expected = [hidden for hidden, _ in states]
        np.testing.assert_allclose(out[row].detach(), expected, rtol=1e-10, atol=1e-12)
        np.testing.assert_allclose(cell[0, row].detach(), states[-1][1], rtol=1e-10, atol=1e-12)


@placements
@pairs
def test_divisive_normalization_in_the_cells(kind: str, placement) -> None:
    cls = PAIRS[kind][0]
    normalizer = partial(DivisiveNorm1d, window=3, sigma=0.5)
    options = {"normalizer": normalizer, "placement": placement, "generator": generator()}
    module = cls(INPUTS, HIDDEN, **options).double()
    divided = partial(oracle.divisive_norm, window=3, sigma=0.5)
    norms = dict.fromkeys(module.normalizers[0], divided)
    x = drawn(TIME, BATCH, INPUTS)
    out, _ = module(x)
    for row in range(BATCH):
        state = [np.zeros(HIDDEN)] * (2 if kind == "lstm" else 1)
        states = ORACLES[kind](x[:, row].numpy(), weights_of(module, 0), norms, state)
        expected = [step[0] for step in states]
        np.testing.assert_allclose(out[:, row].detach(), expected, rtol=1e-10, atol=1e-12)


@pairs
def test_a_normalizer_for_each_place_of_each_layer(kind: str) -> None:
    cls = PAIRS[kind][0]
    module = cls(INPUTS, HIDDEN, 2, normalizer=nn.LayerNorm)
    assert [set(norms) for norms in module.normalizers] == [PLACES[kind]] * 2
    assert len({id(norm) for norms in module.normalizers for norm in norms.values()}) == len(
        2 * [*PLACES[kind]]
    )
    module = cls(INPUTS, HIDDEN, normalizer=nn.LayerNorm, placement=PerProjection())
    gates = {"lstm": 4, "gru": 3, "rnn": 1}[kind]
    wide = {"input": gates * HIDDEN, "hidden": gates * HIDDEN}
    cell = {"cell": HIDDEN} if kind == "lstm" else {}
    found = {place: norm.weight.numel() for place, norm in module.normalizers[0].items()}
    assert found == wide | cell


@placements
@pytest.mark.parametrize("shape", [(2, 2, 3, 2), (3, 1, 1, 2)])
@pairs
def test_gradient(kind: str, shape: tuple[int, ...], placement) -> None:
    time, batch, inputs, hidden = shape
    module = PAIRS[kind][0](
        inputs, hidden, normalizer=layer_norm, placement=placement, generator=generator()
    ).double()
    names = [name for name, _ in module.named_parameters()]

    def outputs(x: Tensor, *parameters: Tensor) -> Tensor:
        given = dict(zip(names, parameters, strict=True))
        return torch.func.functional_call(module, given, (x,))[0]

    x = drawn(time, batch, inputs).requires_grad_()
    parameters = [p.detach().clone().requires_grad_() for p in module.parameters()]
    assert gradcheck(outputs, (x, *parameters))


@pairs
def test_a_normalizer_over_the_batch_takes_its_statistics_at_every_step(kind: str) -> None:
    normalizer = partial(nn.BatchNorm1d, affine=False, track_running_stats=False)
    module = PAIRS[kind][0](INPUTS, HIDDEN, normalizer=normalizer, generator=generator()).double()
    x = drawn(TIME, BATCH, INPUTS)
    seen: list[Tensor] = []
    place = module.normalizers[0]["candidate" if kind != "rnn" else "sum"]
    handle = place.register_forward_hook(lambda _, inputs, output: seen.append(output))
    shifted = module(x)[0]
    handle.remove()
    assert len(seen) == TIME
    for output in seen:
        assert output.shape == (BATCH, HIDDEN)
        assert output.mean(0).abs().max() < 1e-12
    assert not torch.allclose(shifted[:, :2], module(x[:, :2])[0])


@placements
@pairs
def test_packed_sequences_are_sequences_alone(kind: str, placement) -> None:
    module = PAIRS[kind][0](
        INPUTS, HIDDEN, 2, normalizer=layer_norm, placement=placement, generator=generator()
    ).double()
    lengths, x = [2, 6, 1, 4, 4], drawn(TIME, BATCH, INPUTS)
    out, _ = module(pack_padded_sequence(x, lengths, enforce_sorted=False))
    padded, _ = pad_packed_sequence(out)
    for row, length in enumerate(lengths):
        assert_same(padded[:length, row], module(x[:length, row])[0])
        assert not padded[length:, row].any()


# --- Refusals ------------------------------------------------------------------------------------


class Somewhere:
    """A placement that no cell knows."""

    def widths(self, gates, carried, hidden_size):
        return {"somewhere": hidden_size}


class OnCandidate:
    """A placement of one's own."""

    def widths(self, gates, carried, hidden_size):
        return {"candidate": hidden_size}


def test_a_placement_of_ones_own() -> None:
    module = NormalizedGRU(INPUTS, HIDDEN, normalizer=nn.LayerNorm, placement=OnCandidate())
    assert list(module.normalizers[0]) == ["candidate"]
    with pytest.raises(ValueError, match=r"placement must name some of \['candidate', 'hidden'"):
        NormalizedGRU(INPUTS, HIDDEN, normalizer=nn.LayerNorm, placement=Somewhere())


@pytest.mark.parametrize(
    "options, message",
    [
        ({"input_size": 0}, "input_size must be an int 1….*, got 0"),
        ({"hidden_size": 0}, "hidden_size must be an int 1….*, got 0"),
        ({"num_layers": 0}, "num_layers must be an int 1….*, got 0"),
        ({"dropout": 1.5}, "dropout must be a finite number 0…1, got 1.5"),
        ({"bidirectional": True}, "bidirectional must be False, got True; run a second module"),
    ],
)
@pairs
def test_wrong_options_are_refused(kind: str, options: dict[str, object], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        PAIRS[kind][0](**{"input_size": INPUTS, "hidden_size": HIDDEN} | options)


@pytest.mark.parametrize(
    "normalizer",
    [BatchContextNorm, ContextNorm, ContextWhitening, MisalignedContextNorm, SlidingContextNorm],
)
@pairs
def test_normalizers_that_would_mix_sequences_are_refused(kind: str, normalizer) -> None:
    message = f"normalizer must make one for .* of a step, got {normalizer.__name__}, which"
    for build in (normalizer, partial(normalizer)):
        with pytest.raises(ValueError, match=message):
            PAIRS[kind][0](INPUTS, HIDDEN, normalizer=build)


@pairs
def test_wrong_inputs_are_refused(kind: str) -> None:
    module = PAIRS[kind][0](INPUTS, HIDDEN)
    for shape in ((0, BATCH, INPUTS), (INPUTS,), (1, TIME, BATCH, INPUTS)):
        with pytest.raises(ValueError, match=r"input must be \(time, batch, feature\) or"):
            module(torch.zeros(shape))
    with pytest.raises(ValueError, match="input must have input_size=3 features, got 4"):
        module(torch.zeros(TIME, BATCH, 4))
    x, packed = torch.zeros(TIME, 2, INPUTS), pack_padded_sequence(torch.zeros(2, 2, 3), [2, 1])
    state = begun(kind, 1, 3)
    for inputs in (x, packed):
        with pytest.raises(
            ValueError, match=r"hx must be the state of a call, of shape \(1, 2, 4\)"
        ):
            module(inputs, state)


def test_a_name_of_a_function_is_refused(unchecked) -> None:
    with pytest.raises(ValueError, match=r"nonlinearity must be callable, got 'relu'"):
        NormalizedRNN(INPUTS, HIDDEN, nonlinearity="relu")


def test_print_tells_the_options() -> None:
    shown = repr(NormalizedLSTM(3, 4, 2, forget_bias=1.0))
    assert "3, 4, num_layers=2, bias=True, batch_first=False, dropout=0.0" in shown
    assert "forget_bias=1.0, forget_bias_normalized=False, carry_normalized=False" in shown


@pairs
def test_items_in_places_are_the_sequence_they_make(kind: str) -> None:
    layer = PAIRS[kind][0](INPUTS, HIDDEN, normalizer=layer_norm).double()
    items, index = drawn(7, INPUTS), torch.randint(7, (TIME, BATCH), generator=generator(1))
    found, expected = layer(Indexed(items, index)), layer(items[index])
    assert torch.equal(found[0], expected[0])
