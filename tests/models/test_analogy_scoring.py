"""The analogy scoring model against loops that share nothing between candidates."""

from __future__ import annotations

import functools

import numpy as np
import pytest
import torch
from torch import nn

from farfield.functional.internal import lstm
from farfield.models import LSTMScorer, SlotwiseScorer, WReN
from farfield.models.internal import AnalogyScoring, LayerNormLSTMScorer, SelectiveScorer
from farfield.nn import AnalogyEncoder, ContextNorm
from made import assert_spread, drawn, generator, state_of, unsettled
from oracles import webb2020 as oracle
from oracles.webb2021 import context_norm

FEATURES, PREMISES, CANDIDATES = 5, 3, 4
INDEX = torch.tensor([[0, 1, 2, 3, 1, 0, 2], [2, 2, 4, 4, 3, 2, 1]])


def encoder(**options: int) -> AnalogyEncoder:
    return unsettled(
        AnalogyEncoder(
            (16, 32, 3), out_features=FEATURES, hidden_size=6, generator=generator(), **options
        )
    )


def scorer(**options: float | bool) -> LSTMScorer:
    made = LSTMScorer(FEATURES, PREMISES + 1, hidden_size=7, generator=generator(), **options)
    return unsettled(made)


def model() -> AnalogyScoring:
    context = unsettled(ContextNorm(FEATURES))
    return AnalogyScoring(encoder(), context, scorer(), num_candidates=CANDIDATES)


def images(number: int = 5) -> torch.Tensor:
    return torch.randint(0, 256, (number, 16, 32, 3), dtype=torch.uint8, generator=generator(4))


def test_an_image_has_gradients_of_its_own_and_no_other_s() -> None:
    items = images(3).to(torch.float64) / 255
    items[:, :, 8:] = items[:1, :, 8:]  # a background that all images share
    embed = encoder()
    for number in range(3):
        together, alone = items.clone().requires_grad_(), items[number].clone().requires_grad_()
        embed(together)[number].square().sum().backward()
        embed(alone.unsqueeze(0)).square().sum().backward()
        expected = torch.zeros_like(items)
        expected[number] = alone.grad
        torch.testing.assert_close(together.grad, expected, rtol=1e-9, atol=1e-12)


def test_scores_are_those_of_every_sequence_on_its_own() -> None:
    whole, items = model(), images()
    gain, shift = (state_of(whole.context)[name] for name in ("weight", "bias"))
    expected = [
        oracle.scores(
            items.numpy() / 255,
            row,
            CANDIDATES,
            functools.partial(oracle.analogy_encoder, state=state_of(whole.encoder)),
            lambda z: context_norm(z, gain, shift, [list(range(4))], 0, whole.context.eps),
            functools.partial(oracle.lstm_score, state=state_of(whole.scorer), tagged=False),
        )
        for row in INDEX.tolist()
    ]
    np.testing.assert_allclose(whole(items, INDEX).detach(), expected, rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("tagged", [False, True])
def test_a_sequence_is_scored_by_its_last_state(tagged: bool) -> None:
    part, z = scorer(position_tags=tagged), drawn(3, PREMISES + 1, FEATURES)
    expected = [[oracle.lstm_score(row, state_of(part), tagged)] for row in z.numpy()]
    np.testing.assert_allclose(part(z).detach(), expected, rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("forget_bias", [0.0, 1.0])
def test_a_layer_normalized_sequence_is_scored_by_its_last_state(forget_bias: float) -> None:
    part = unsettled(
        LayerNormLSTMScorer(
            FEATURES, 4, hidden_size=7, forget_bias=forget_bias, generator=generator()
        )
    )
    z = drawn(3, PREMISES + 1, FEATURES)
    expected = [
        [oracle.layer_norm_lstm_score(row, state_of(part), forget_bias)] for row in z.numpy()
    ]
    np.testing.assert_allclose(part(z).detach(), expected, rtol=1e-9, atol=1e-12)


def test_pixels_count_from_0_to_1_whatever_their_type() -> None:
    part, items = encoder(), images()
    torch.testing.assert_close(part(items), part(items.double() / 255), rtol=1e-12, atol=1e-14)


def test_pairs_of_premises_are_looked_at_once_for_all_candidates() -> None:
    sizes = {"panel_size": 6, "hidden_size": 7, "relation_size": 5}
    scorer = unsettled(WReN(FEATURES, PREMISES + 1, **sizes, generator=generator()))
    whole = AnalogyScoring(encoder(), None, scorer, num_candidates=CANDIDATES)
    embeddings = drawn(5, FEATURES)
    alone = scorer(whole.embed(embeddings, INDEX).flatten(0, 1)).reshape(INDEX.shape[0], -1)
    pairs = []
    scorer.pair[0].register_forward_hook(lambda layer, given, out: pairs.append(out[..., 0]))
    scores = whole.answer(embeddings, INDEX)
    torch.testing.assert_close(scores, alone, rtol=1e-12, atol=1e-14)
    each = PREMISES**2 + CANDIDATES * (2 * PREMISES + 1)
    assert sum(seen.numel() for seen in pairs) == INDEX.shape[0] * each


def test_two_stages_are_one() -> None:
    whole, items = model(), images()
    assert torch.equal(whole.answer(whole.encode(items), INDEX), whole(items, INDEX))


def test_each_item_is_encoded_once() -> None:
    seen: list[int] = []

    class Counting(nn.Module):
        def forward(self, items: torch.Tensor) -> torch.Tensor:
            seen.append(len(items))
            return items

    counted = AnalogyScoring(Counting(), None, scorer(), num_candidates=CANDIDATES)
    counted(drawn(5, FEATURES), INDEX)
    assert seen == [5]


def test_the_order_of_candidates_does_not_matter() -> None:
    whole, items = model(), images()
    order = torch.tensor([2, 0, 3, 1])
    places = torch.cat([torch.arange(PREMISES), PREMISES + order])
    found = whole(items, INDEX[:, places])
    torch.testing.assert_close(found, whole(items, INDEX)[:, order], rtol=1e-9, atol=1e-12)


def test_first_parameters() -> None:
    part = LSTMScorer(256, 4, position_tags=True, forget_bias=1.0, generator=generator())
    assert part.weight_ih.shape == (1024, 260)
    bound = (6 / (260 + 256 + 1024)) ** 0.5  # Xavier uniform over both weights together
    for weight in (part.weight_ih, part.weight_hh):
        assert_spread(weight, bound / 3**0.5)
        assert 0.99 * bound < weight.abs().max() <= bound
    gates = part.bias.reshape(4, 256)
    assert gates[1].eq(1).all()
    assert not gates[[0, 2, 3]].any()
    assert not LSTMScorer(256, 4, generator=generator()).bias.any()
    whole = AnalogyEncoder(generator=generator())
    assert_spread(whole.layers[0].weight, (2 / (2048 + 256)) ** 0.5)
    assert not whole.output.bias.any()


def test_a_bias_of_the_forget_gate_is_added_inside_the_sigmoid() -> None:
    plain, eager = scorer(), scorer()
    with torch.no_grad():
        eager.bias[7:14] += 1
    z = drawn(2, PREMISES + 1, FEATURES)
    weights = (plain.weight_ih, plain.weight_hh, plain.bias)
    shifted = torch.zeros_like(plain.bias)
    shifted[7:14] = 1
    state = lstm(z, *weights, shifted, num_states=1).squeeze(1)
    torch.testing.assert_close(plain.output(state), eager(z), rtol=1e-12, atol=1e-14)


def test_dropout_is_for_training() -> None:
    part, z = scorer(dropout=0.5), drawn(2, PREMISES + 1, FEATURES)
    assert torch.equal(part.eval()(z), scorer().eval()(z))
    assert not torch.equal(part.train()(z), part.eval()(z))


@pytest.mark.usefixtures("unchecked")
def test_what_cannot_be_is_refused() -> None:
    with pytest.raises(ValueError, match=r"item_shape must be .* multiples of 16.*\(24, 32, 3\)"):
        AnalogyEncoder((24, 32, 3))
    with pytest.raises(ValueError, match="item_shape must be"):
        AnalogyEncoder((32, 32))
    with pytest.raises(ValueError, match=r"hidden_size must be an int 1….*, got 0"):
        AnalogyEncoder((16, 16, 3), hidden_size=0)
    with pytest.raises(ValueError, match=r"items must be \(item, "):
        encoder()(torch.zeros(2, 16, 16, 3))
    with pytest.raises(ValueError, match=r"items must be uint8.*torch.int64"):
        encoder()(images().long())
    with pytest.raises(ValueError, match="num_candidates must be an int 1…"):
        AnalogyScoring(encoder(), None, scorer(), num_candidates=0)
    with pytest.raises(ValueError, match=r"index must be \(batch, position\) with premises"):
        model()(images(), INDEX[:, : CANDIDATES - 1])
    with pytest.raises(ValueError, match="dropout must be a finite number of at least 0"):
        scorer(dropout=1.0)
    with pytest.raises(ValueError, match="length=4 steps"):
        scorer()(drawn(2, 3, FEATURES))


def test_a_slotwise_score_is_the_weighted_sum_of_one_scorer_s_over_slots() -> None:
    made = unsettled(SlotwiseScorer(6, 4, num_slots=3, hidden_size=5, generator=generator()))
    z = drawn(7, 4, 6)
    alone = [made.scorer(z[:, :, first : first + 2]) for first in (0, 2, 4)]
    expected = sum(weight * score for weight, score in zip(made.weight, alone, strict=True))
    torch.testing.assert_close(made(z), expected, rtol=1e-9, atol=1e-12)
    assert SlotwiseScorer(8, 4, num_slots=4).weight.square().sum() == 1
    with pytest.raises(ValueError, match=r"num_slots must divide in_features \(6\), got 4"):
        SlotwiseScorer(6, 4, num_slots=4)


def test_a_selective_score_compares_the_poses_that_it_selects() -> None:
    made = unsettled(SelectiveScorer(10, 4, num_slots=2, hidden_size=5, generator=generator()))
    hidden, output, log_weight = (
        (tensor.weight.detach().numpy(), tensor.bias.detach().numpy())
        if isinstance(tensor, torch.nn.Linear)
        else tensor.detach().numpy()
        for tensor in (made.hidden, made.output, made.log_weight)
    )
    z = drawn(7, 4, 10)
    for score, pictures in zip(made(z), z.numpy(), strict=True):
        poses = []
        for picture in pictures:
            slots = picture.reshape(2, 5)
            logits = [output[0] @ np.tanh(hidden[0] @ slot[3:] + hidden[1]) for slot in slots]
            weights = np.exp(np.concatenate(logits))
            poses.append(weights @ slots[:, :3] / weights.sum())
        a, b, c, d = poses
        expected = -(np.exp(log_weight) * (a - b - c + d) ** 2).sum()
        np.testing.assert_allclose(score.detach().numpy(), [expected], rtol=1e-6)


def test_a_selective_score_does_not_depend_on_the_order_of_slots() -> None:
    made = SelectiveScorer(12, 4, num_slots=3, generator=generator()).double()
    z = drawn(5, 4, 12)
    other = z.reshape(5, 4, 3, 4).flip(2).reshape(5, 4, 12)
    torch.testing.assert_close(made(z), made(other))
    with pytest.raises(ValueError, match=r"length must be 4 .* got 5"):
        SelectiveScorer(12, 5, num_slots=3)
    for slots in (5, 4):
        with pytest.raises(ValueError, match=rf"num_slots must divide in_features .* got {slots}"):
            SelectiveScorer(12, 4, num_slots=slots)
