"""The causal Transformer and its attention against loops, and how far its positions hold."""

from __future__ import annotations

import math

import numpy as np
import pytest
import torch
from torch import Tensor

from farfield.functional._attention import _self_attention as attention
from farfield.functional.internal import alibi_slopes, causal_attention
from farfield.nn import CausalTransformer
from made import drawn, generator, state_of, unsettled
from oracles import sequence_layers as oracle

INPUTS, HIDDEN, BATCH, TIME = 3, 12, 2, 6


def heads(time: int, num_heads: int = 3, width: int = 4) -> list[Tensor]:
    return [drawn(BATCH, num_heads, time, width, seed=seed) for seed in range(3)]


@pytest.mark.parametrize("num_heads", [1, 2, 3, 4, 6, 8, 12, 16])
def test_slopes(num_heads: int) -> None:
    found = alibi_slopes(num_heads, dtype=torch.float64)
    np.testing.assert_allclose(found, oracle.slopes(num_heads), rtol=1e-12)


def test_the_slopes_of_eight_heads_are_those_printed() -> None:
    assert alibi_slopes(8).tolist() == [1 / 2**n for n in range(1, 9)]


@pytest.mark.parametrize("window", [None, 1, 2, 5, 9])
@pytest.mark.parametrize("num_heads", [1, 3, 4, 12, 16])
def test_attention(num_heads: int, window: int | None) -> None:
    query, key, value = heads(TIME, num_heads)
    found = causal_attention(query, key, value, window=window)
    for row, head in np.ndindex(BATCH, num_heads):
        own = [part[row, head].numpy() for part in (query, key, value)]
        expected = oracle.attention(*own, oracle.slopes(num_heads)[head], window)
        np.testing.assert_allclose(found[row, head], expected, rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("window", [None, 4])
def test_the_last_queries_of_a_sequence_alone(window: int | None) -> None:
    query, key, value = heads(TIME)
    whole = causal_attention(query, key, value, window=window)
    last = causal_attention(query[..., 4:, :], key, value, window=window)
    torch.testing.assert_close(last, whole[..., 4:, :], rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("window", [None, 1, 3, 70])
def test_blocks_of_queries_are_all_queries(monkeypatch, window: int | None) -> None:
    query, key, value = heads(67)
    whole = causal_attention(query[..., 7:, :], key, value, window=window)
    monkeypatch.setattr(attention, "_BLOCK", 16)
    blocks = causal_attention(query[..., 7:, :], key, value, window=window)
    torch.testing.assert_close(blocks, whole, rtol=1e-9, atol=1e-12)


def test_a_table_is_no_larger_than_a_block_and_a_window(monkeypatch) -> None:
    made: list[int] = []
    bias = attention._bias

    def watched(*given: object) -> Tensor:
        made.append(bias(*given).numel())
        return bias(*given)

    monkeypatch.setattr(attention, "_bias", watched)
    causal_attention(*heads(3000), window=10)
    assert len(made) == math.ceil(3000 / attention._BLOCK)
    assert max(made) <= 3 * attention._BLOCK * (attention._BLOCK + 9)


def test_scores_do_not_change_as_time_goes_on() -> None:
    """Only distances enter: the same keys later give the same weights."""
    query, key, value = heads(4)
    early = causal_attention(query, key, value, window=4)[..., -1, :]
    padded = [torch.cat((drawn(BATCH, 3, 500, 4, seed=9), part), 2) for part in (query, key, value)]
    late = causal_attention(*padded, window=4)[..., -1, :]
    torch.testing.assert_close(late, early, rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("window", [None, 2])
def test_attention_under_a_transformation_is_that_of_the_kernel(window: int | None) -> None:
    given = heads(TIME)
    mapped = torch.func.vmap(lambda *parts: causal_attention(*parts, window=window))(
        *(torch.stack((part, 2 * part)) for part in given)
    )
    torch.testing.assert_close(mapped[0], causal_attention(*given, window=window))


def small(**options: object) -> CausalTransformer:
    return unsettled(
        CausalTransformer(INPUTS, HIDDEN, feedforward_size=5, generator=generator(), **options)
    )


@pytest.mark.parametrize(
    "options",
    [
        {},
        {"num_layers": 1, "num_heads": 1},
        {"num_heads": 3, "window": 3},
        {"num_layers": 3, "layer_heads": 2},
        {"num_layers": 3, "layer_heads": 4, "layer_top_k": 2},
    ],
)
def test_equations(options: dict[str, int]) -> None:
    module, x = small(**options), drawn(TIME, BATCH, INPUTS)
    outputs, _ = module(x)
    for row in range(BATCH):
        expected = oracle.transformer(
            x[:, row].numpy(),
            state_of(module),
            options.get("num_layers", 2),
            options.get("num_heads", 4),
            options.get("window"),
            options.get("layer_heads"),
            options.get("layer_top_k", 5),
        )
        np.testing.assert_allclose(outputs[:, row].detach(), expected, rtol=1e-9, atol=1e-12)


def test_the_state_of_a_window_is_bounded() -> None:
    module = small(window=5)
    _, state = module(drawn(3, BATCH, INPUTS))
    assert [part.shape for part in state] == [(2, BATCH, 3, HIDDEN)] * 2
    _, state = module(drawn(40, BATCH, INPUTS), state)
    assert [part.shape for part in state] == [(2, BATCH, 4, HIDDEN)] * 2
    _, state = small()(drawn(40, BATCH, INPUTS))
    assert [part.shape for part in state] == [(2, BATCH, 40, HIDDEN)] * 2


def test_what_cannot_be_is_refused(unchecked) -> None:
    with pytest.raises(ValueError, match="num_heads must divide hidden_size=12, got 5"):
        CausalTransformer(INPUTS, HIDDEN, num_heads=5)
    with pytest.raises(ValueError, match="layer_heads must divide hidden_size=12, got 5"):
        CausalTransformer(INPUTS, HIDDEN, layer_heads=5)
    for name in ("num_layers", "num_heads", "feedforward_size", "window"):
        with pytest.raises(ValueError, match=rf"{name} must be an int 1….*, got 0"):
            CausalTransformer(INPUTS, HIDDEN, **{name: 0})
    with pytest.raises(ValueError, match="num_heads must be at least 1, got 0"):
        alibi_slopes(0)
    query, key, value = heads(4)
    with pytest.raises(ValueError, match="window must be at least 1, got 0; None is all"):
        causal_attention(query, key, value, window=0)
    with pytest.raises(ValueError, match="a position per query, 4, got 3"):
        causal_attention(query, key[..., 1:, :], value[..., 1:, :])
    query, key, value = heads(5)
    for number in (0, 4):
        with pytest.raises(ValueError, match=f"a position per key, 5, got {number}"):
            causal_attention(query[..., 2:, :], key, value[..., :number, :])
    with pytest.raises(ValueError, match="query must have at least one position, got none"):
        causal_attention(query[..., :0, :], key, value)


def test_keys_and_values_of_as_many_steps_are_one_state(unchecked) -> None:
    module = unsettled(CausalTransformer(INPUTS, HIDDEN, generator=generator()))
    x = drawn(TIME, BATCH, INPUTS)
    _, (keys, values) = module(x)
    with pytest.raises(ValueError, match=r"of shape \(2, 2, any, 12\) and \(2, 2, any, 12\), got"):
        module(x, (keys, values[:, :, 1:]))
    assert module(x, (keys[:, :, 1:], values[:, :, 1:]))[0].shape == (TIME, BATCH, HIDDEN)
