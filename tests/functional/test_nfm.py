"""Reads of neural function modules: against loops, and what must hold of any."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
import torch
from torch import Tensor

from farfield.functional._nfm._nfm_read import first_largest
from farfield.functional.internal import (
    NFMRules,
    NFMWeights,
    WrittenState,
    nfm_change,
    nfm_read,
    nfm_trace,
    rescale_state,
    top_k_mask,
)
from made import drawn, generator, gradcheck, gradgradcheck
from oracles import nfm as oracle

HEADS, KEY, VALUE, BATCH = 2, 3, 2, 2
TEXT = NFMRules(num_heads=HEADS, key_size=KEY, value_size=VALUE, top_k=2)
RULES = {
    "text": TEXT,
    "all": replace(TEXT, top_k=None),
    "root, null last": replace(TEXT, sqrt_scale=True, null_first=False),
    "nearest": replace(TEXT, space_to_depth=False),
    "released": replace(
        NFMRules.released(), num_heads=HEADS, key_size=KEY, value_size=VALUE, top_k=2
    ),
    "next one, windows": replace(TEXT, subtract_next=True),
}
SIZES = {
    "maps": ((4, 2), [(4, 2), (8, 4), (2, 2), (1, 1), (4, 4), (8, 1)]),
    "sequences": ((4,), [(4,), (8,), (2,)]),
    "vectors": ((), [(), (), ()]),
    "vectors for maps": ((2, 4), [(), (2, 4), (4, 4)]),
    "maps for vectors": ((), [(2, 3), (), (4, 1)]),
}
UNEVEN = ((5, 3), [(5, 3), (7, 2), (2, 8), (10, 5)])


def states(sizes: list[tuple[int, ...]]) -> list[WrittenState]:
    return [
        WrittenState(
            drawn(BATCH, *size, HEADS * KEY, seed=10 + number),
            drawn(BATCH, *size, HEADS * VALUE, seed=50 + number),
        )
        for number, size in enumerate(sizes)
    ]


def queries(size: tuple[int, ...]) -> Tensor:
    return 3 * drawn(BATCH, *size, HEADS * KEY, seed=3)


def options(rules: NFMRules) -> oracle.Options:
    return oracle.Options(
        heads=rules.num_heads,
        top_k=rules.top_k,
        temperature=KEY**0.5 if rules.sqrt_scale else KEY,
        null_first=rules.null_first,
        space_to_depth=rules.space_to_depth,
        subtract_next=rules.subtract_next,
    )


def assert_as_by_loops(
    rules: NFMRules, reader: tuple[int, ...], written: list[tuple[int, ...]]
) -> None:
    query, given = queries(reader), states(written)
    found = nfm_read(query, given, rules)
    arrays = [(key.numpy(), value.numpy()) for key, value in given]
    values, attention, null = oracle.read(query.numpy(), arrays, options(rules))
    np.testing.assert_allclose(found.values, values, rtol=1e-9, atol=1e-12)
    np.testing.assert_allclose(found.null, null, rtol=1e-9, atol=1e-12)
    for ours, expected in zip(found.attention, attention, strict=True):
        np.testing.assert_allclose(ours, expected, rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("rules", RULES.values(), ids=RULES)
@pytest.mark.parametrize("sizes", SIZES.values(), ids=SIZES)
def test_reads(sizes, rules: NFMRules) -> None:
    assert_as_by_loops(rules, *sizes)


def test_reads_of_states_of_any_size_by_nearest_neighbors() -> None:
    assert_as_by_loops(RULES["nearest"], *UNEVEN)


@pytest.mark.parametrize("rules", RULES.values(), ids=RULES)
def test_attention_is_sparse_and_sums_to_one(rules: NFMRules) -> None:
    reader, written = SIZES["maps"]
    found = nfm_read(queries(reader), states(written), rules)
    weights = torch.cat([*found.attention, found.null.unsqueeze(-1)], -1)
    assert (weights >= 0).all()
    torch.testing.assert_close(
        weights.sum(-1), torch.ones(()).double().expand(2, 4, 2, 2), rtol=1e-3, atol=0
    )
    kept = (weights > 0).sum(-1)
    assert (kept == (rules.top_k or weights.shape[-1])).all()


def test_few_entries_are_not_lowered_by_the_next_one() -> None:
    """Three and the null element are no more than k + 1."""
    reader, written = SIZES["sequences"]
    lowered = replace(RULES["released"], top_k=3)
    found, dense = (
        nfm_read(queries(reader), states(written), rules)
        for rules in (lowered, replace(lowered, top_k=None))
    )
    assert torch.equal(found.values, dense.values)


def test_of_scores_that_tie_the_first_are_read() -> None:
    """Without queries all tie: the null element where it is first, and the first state."""
    zeros = torch.zeros(BATCH, 4, HEADS * KEY).double()
    given = states([(4,), (4,), (4,)])
    first, last = (
        nfm_read(zeros, given, replace(TEXT, null_first=place)) for place in (True, False)
    )
    assert (first.null == 0.5).all()
    assert (first.attention[0] == 0.5).all()
    assert (last.null == 0).all()
    assert (last.attention[1] == 0.5).all()


@pytest.mark.parametrize("name", ["text", "released"])
def test_the_order_of_the_layers_does_not_matter(name: str) -> None:
    reader, written = SIZES["maps"]
    given, query = states(written), queries(reader)
    order = [3, 1, 5, 0, 2, 4]
    plain, moved = (
        nfm_read(query, states_, RULES[name]) for states_ in (given, [given[i] for i in order])
    )
    torch.testing.assert_close(moved.values, plain.values)
    for position, layer in enumerate(order):
        torch.testing.assert_close(moved.attention[position], plain.attention[layer])


def test_positions_are_read_alone() -> None:
    """States of the size of the reader, moved along with it."""
    given, query = states([(4, 4), (4, 4)]), queries((4, 4))
    order = [2, 0, 3, 1]
    moved = [WrittenState(*(part[:, order] for part in each)) for each in given]
    found = nfm_read(query[:, order], moved, TEXT).values
    torch.testing.assert_close(found, nfm_read(query, given, TEXT).values[:, order])


def test_a_window_may_be_read_in_any_order() -> None:
    """The four positions that fall on one of the reader's are a set."""
    query, (large,) = queries((2, 2)), states([(4, 4)])
    swapped = WrittenState(*(part[:, [1, 0, 3, 2]] for part in large))
    found, other = (nfm_read(query, [each], TEXT).values for each in (large, swapped))
    torch.testing.assert_close(found, other)


def test_rescaling_keeps_all_positions_of_a_larger_state() -> None:
    x = torch.arange(16.0).reshape(1, 4, 4, 1)
    windows = rescale_state(x, (2, 2))
    assert windows[0, 0, 1, :, 0].tolist() == [2, 3, 6, 7]
    assert rescale_state(x, (2, 2), space_to_depth=False)[0, 0, 1, :, 0].tolist() == [2]
    longer = rescale_state(windows[..., 0, :], (4, 4))
    assert longer[0, :, :, 0, 0].tolist() == [
        [0, 0, 2, 2],
        [0, 0, 2, 2],
        [8, 8, 10, 10],
        [8, 8, 10, 10],
    ]


@pytest.mark.parametrize("factor", [41, 47, 55])
def test_longer_axes_are_exact_where_a_ratio_is_not_in_floating_point(factor: int) -> None:
    x = torch.arange(3.0).reshape(1, 3, 1)
    found = rescale_state(x, (3 * factor,))
    assert found.flatten().tolist() == [float(i // factor) for i in range(3 * factor)]


def test_random_attention_is_that_of_the_generator() -> None:
    reader, written = SIZES["maps"]
    given, query = states(written), queries(reader)
    found, again, other = (
        nfm_read(query, given, TEXT, generator=generator(seed)) for seed in (0, 0, 1)
    )
    assert torch.equal(found.values, again.values)
    assert not torch.equal(found.values, other.values)
    drawn_weights = torch.cat([*found.attention, found.null.unsqueeze(-1)], -1)
    assert abs(drawn_weights.mean()) < 5 / drawn_weights.numel() ** 0.5
    assert abs(drawn_weights.std() - 1) < 5 / (2 * drawn_weights.numel()) ** 0.5
    moved = nfm_read(-query, given, TEXT, generator=generator())
    assert torch.equal(moved.values, found.values)  # whatever the scores


def test_dropout_is_for_training() -> None:
    reader, written = SIZES["sequences"]
    rules = replace(TEXT, dropout=0.5, top_k=None)
    given, query = states(written), queries(reader)
    with torch.random.fork_rng():
        torch.manual_seed(0)
        dropped = nfm_read(query, given, rules, training=True)
    plain = nfm_read(query, given, rules)
    kept = dropped.null != 0
    assert 0 < kept.sum() < kept.numel()
    torch.testing.assert_close(dropped.null[kept], 2 * plain.null[kept])


@pytest.mark.parametrize("rules", RULES.values(), ids=RULES)
@pytest.mark.parametrize("sizes", [((2, 1), [(2, 1), (4, 1), (1, 1)]), ((), [(2,), ()])], ids=str)
def test_gradients(sizes, rules: NFMRules) -> None:
    reader, written = sizes
    query, given = queries(reader), states(written)

    def values(query: Tensor, *parts: Tensor) -> Tensor:
        pairs = zip(parts[::2], parts[1::2], strict=True)
        return nfm_read(query, [WrittenState(*pair) for pair in pairs], rules).values

    inputs = [query, *(part for each in given for part in each)]
    assert gradcheck(values, [each.requires_grad_() for each in inputs])


@pytest.mark.parametrize("rules", RULES.values(), ids=RULES)
@pytest.mark.parametrize("sizes", SIZES.values(), ids=SIZES)
def test_the_change_has_the_gradients_of_its_trace(sizes, rules: NFMRules) -> None:
    """The gradient that is written out, and that of autograd."""
    reader, written = sizes
    rules = replace(rules, residual_input=rules.bias)
    tensors = changing(reader, rules)
    pairs = [part for each in states(written) for part in each]
    inputs = [each.requires_grad_() for each in (*tensors, *pairs) if each is not None]
    gradient = drawn(BATCH, *reader, 4, seed=77)
    found = []
    for function in (nfm_change, lambda *given, **options: nfm_trace(*given, **options)[0]):
        moving = torch.zeros(4).double(), torch.ones(4).double()
        x, *weights = tensors
        given = [WrittenState(*pair) for pair in zip(pairs[::2], pairs[1::2], strict=True)]
        value = function(x, given, NFMWeights(*weights), moving, rules, training=True)
        found.append((value, *torch.autograd.grad(value, inputs, gradient), *moving))
    for ours, expected in zip(*found, strict=True):
        torch.testing.assert_close(ours, expected, rtol=1e-9, atol=1e-11)


def changing(reader: tuple[int, ...], rules: NFMRules) -> list[Tensor | None]:
    """A state of four features, and the weights that read for it."""
    side, read = rules.kernel_size, HEADS * VALUE + 4 * rules.residual_input
    bias = drawn(4, seed=81) if rules.bias else None
    return [
        drawn(BATCH, *reader, 4, seed=80),
        drawn(HEADS * KEY, 4, seed=82),
        drawn(HEADS * KEY, seed=83) if rules.bias else None,
        drawn(4, read, side, side, seed=84),
        bias,
        *(drawn(4, seed=85), drawn(4, seed=86)),
        drawn(4, 4, side, side, seed=87),
        bias,
        drawn(1, seed=88)[0],
    ]


def test_the_gradient_of_a_change_has_a_gradient() -> None:
    x, *weights = changing((2, 1), TEXT)
    given, norm = states([(2, 1), (4, 1)]), (torch.zeros(4).double(), torch.ones(4).double())

    def change(x: Tensor, query: Tensor) -> Tensor:
        return nfm_change(x, given, NFMWeights(query, *weights[1:]), norm, TEXT)

    assert gradgradcheck(change, [x.requires_grad_(), weights[0].requires_grad_()])


def test_of_a_change_few_maps_are_kept() -> None:
    """Keys, values and attention; of the state, what has two numbers for each of its."""
    size = (16, 16)
    x, *weights = changing(size, TEXT)
    given, norm = states([size]), (torch.zeros(4).double(), torch.ones(4).double())
    kept: dict[int, int] = {}

    def note(tensor: Tensor) -> Tensor:
        storage = tensor.untyped_storage()
        kept[storage.data_ptr()] = storage.nbytes()
        return tensor

    weights = [each if each is None else each.requires_grad_() for each in weights]
    with torch.autograd.graph.saved_tensors_hooks(note, lambda tensor: tensor):
        nfm_change(x, given, NFMWeights(*weights), norm, TEXT, training=True)
    positions = 8 * BATCH * 16 * 16
    entries = HEADS * 2
    assert sum(kept.values()) < positions * (4 + HEADS * (KEY + VALUE) + entries) + 8 * 200


@pytest.mark.parametrize("entries", [3, 6, 30])
@pytest.mark.parametrize("k", [1, 3])
def test_the_first_of_the_largest_are_chosen(entries: int, k: int) -> None:
    """Among many ties, as by stable sorting."""
    scores = drawn(entries, 50, seed=entries).round()
    assert torch.equal(first_largest(scores, k), top_k_mask(scores, k, dim=0))


def test_errors() -> None:
    query = queries((4, 4))
    with pytest.raises(ValueError, match="written must hold a state before the first read"):
        nfm_read(query, [], TEXT)
    with pytest.raises(ValueError, match=r"the reader's batch of 2, got \[1\]"):
        nfm_read(query, [WrittenState(*(part[:1] for part in states([(4, 4)])[0]))], TEXT)
    with pytest.raises(ValueError, match=r"multiples or divisors of .*\(4, 4\), got \(6, 4\)"):
        nfm_read(query, states([(6, 4)]), TEXT)
    with pytest.raises(ValueError, match=r"as many axes .*\(4, 4\), got \(4,\)"):
        nfm_read(query, states([(4,)]), TEXT)


@pytest.mark.parametrize(
    "wrong",
    [{"top_k": 0}, {"num_heads": 0}, {"kernel_size": 2}, {"dropout": 1.0}, {"key_size": 1.5}],
    ids=str,
)
def test_wrong_rules_are_refused_by_name(wrong: dict[str, object], unchecked: None) -> None:
    (name,) = wrong
    with pytest.raises(ValueError, match=f"{name} must be"):
        NFMRules(**wrong)
