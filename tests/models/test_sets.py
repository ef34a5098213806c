"""Networks over sets: encoders, the Transformer, tokens, scorers, against loops in float64."""

from __future__ import annotations

import dataclasses
import math

import numpy as np
import pytest
import torch
from torch import Tensor, nn

from farfield.core import stream
from farfield.experiments import Experiment, Player, Pretrained, Recipe, SetNetwork, Spec
from farfield.functional.internal import self_attention
from farfield.models import SRAN, WReN
from farfield.models.internal import AnalogyScoring, Relational, SetModel, TokenReader
from farfield.nn import (
    ComponentEncoder,
    ContextNorm,
    ConvEncoder,
    LinearEncoder,
    NeuralInterpreter,
    PatchEncoder,
    PreNormTransformer,
)
from farfield.tasks import (
    Adding,
    DistributionOfThree,
    FuzzyBoolean,
    SameDifferent,
    SequentialMNIST,
    VisualAnalogies,
)
from farfield.tasks.internal import scored_of
from farfield.training import evaluate
from farfield.training.internal import OneNetwork, problems_of_run
from made import generator, gradcheck, state_of, unsettled
from oracles import sets as oracle

BATCH, ITEMS, FEATURES = 3, 5, 6


def drawn(*shape: int, seed: int = 3) -> Tensor:
    return torch.randn(*shape, generator=generator(seed), dtype=torch.float64)


def core(width: int = FEATURES, layers: int = 2) -> PreNormTransformer:
    made = PreNormTransformer(
        width, num_layers=layers, num_heads=2, feedforward_size=7, generator=generator()
    )
    return unsettled(made)


def test_transformer() -> None:
    model, x = core(), drawn(BATCH, ITEMS, FEATURES)
    expected = [oracle.transformer(one.numpy(), 2, 2, state_of(model)) for one in x]
    np.testing.assert_allclose(model(x).detach(), expected, rtol=1e-9, atol=1e-12)


def test_transformer_is_that_of_torch() -> None:
    layer = nn.TransformerEncoderLayer(
        FEATURES, 2, 7, dropout=0.0, activation="gelu", batch_first=True, norm_first=True
    )
    theirs = nn.TransformerEncoder(
        layer, 2, norm=nn.LayerNorm(FEATURES), enable_nested_tensor=False
    ).double()
    ours = core()
    for block, own in zip(theirs.layers, ours.blocks, strict=True):
        block.self_attn.in_proj_weight.data = own.attention_in.weight.data
        block.self_attn.in_proj_bias.data = own.attention_in.bias.data
        block.self_attn.out_proj.load_state_dict(own.attention_out.state_dict())
        for name, part in (("linear1", "fc1"), ("linear2", "fc2"), ("norm1", "norm1")):
            getattr(block, name).load_state_dict(getattr(own, part).state_dict())
        block.norm2.load_state_dict(own.norm2.state_dict())
    theirs.norm.load_state_dict(ours.norm.state_dict())
    x, mask = drawn(BATCH, ITEMS, FEATURES), torch.zeros(BATCH, ITEMS, dtype=torch.bool)
    mask[1, 3:] = mask[2, 0] = True
    torch.testing.assert_close(ours(x), theirs(x), rtol=1e-9, atol=1e-12)
    kept = ~mask
    torch.testing.assert_close(
        ours(x, mask)[kept], theirs(x, src_key_padding_mask=mask)[kept], rtol=1e-9, atol=1e-12
    )
    for attention in (torch.ones(ITEMS, ITEMS, dtype=torch.bool).triu(1), drawn(ITEMS, ITEMS)):
        own, other = (core(x, mask=attention) for core in (ours, theirs))
        torch.testing.assert_close(own, other, rtol=1e-9, atol=1e-12)
        torch.testing.assert_close(ours(x[0], mask=attention), other[0], rtol=1e-9, atol=1e-12)
    assert torch.equal(ours(x, src_key_padding_mask=mask), ours(x, mask))


def test_padding_is_no_element() -> None:
    model, x = core(), drawn(BATCH, ITEMS, FEATURES)
    mask = torch.zeros(BATCH, ITEMS, dtype=torch.bool)
    mask[:, 3:] = True
    padded = torch.where(mask.unsqueeze(-1), 1e3 * x, x)
    torch.testing.assert_close(model(padded, mask)[:, :3], model(x[:, :3]), rtol=1e-9, atol=1e-12)
    mask[0] = True
    assert model(padded, mask).isfinite().all()


@pytest.mark.parametrize("cls", [PreNormTransformer, NeuralInterpreter])
def test_one_set_may_stand_without_a_batch(cls: type[nn.Module]) -> None:
    layer, x = unsettled(cls(8, generator=generator())), drawn(BATCH, ITEMS, 8)
    mask = torch.zeros(BATCH, ITEMS, dtype=torch.bool)
    mask[1, 2:] = True
    torch.testing.assert_close(layer(x[0]), layer(x)[0], rtol=1e-9, atol=1e-12)
    torch.testing.assert_close(layer(x[1], mask[1]), layer(x, mask)[1], rtol=1e-9, atol=1e-12)


def test_gradients_of_attention_with_padding() -> None:
    z, weight, bias = drawn(2, 3, 4), drawn(12, 4, seed=4), drawn(12, seed=5)
    mask = torch.tensor([[False, False, True], [False, False, False]])

    def attend(*arguments: Tensor) -> Tensor:
        return self_attention(*arguments, num_heads=2, key_padding_mask=mask)

    inputs = [each.requires_grad_() for each in (z, weight, bias)]
    assert gradcheck(attend, inputs)


def test_patches() -> None:
    encoder = unsettled(
        PatchEncoder((2, 4, 6), patch_size=2, out_features=5, positions=True, generator=generator())
    )
    items = torch.randint(0, 256, (3, 2, 4, 6), dtype=torch.uint8, generator=generator())
    state = state_of(encoder)
    expected = [
        [
            state["embedding.weight"] @ row + state["embedding.bias"] + place
            for row, place in zip(
                oracle.patches(image.numpy() / 255, 2), state["positions"], strict=True
            )
        ]
        for image in items
    ]
    np.testing.assert_allclose(encoder(items).detach(), expected, rtol=1e-9, atol=1e-12)
    bare = PatchEncoder((2, 4, 6), patch_size=2, out_features=5, generator=generator())
    assert bare.positions is None
    assert bare.num_elements == 6


def test_patches_of_gray_images_are_those_of_one_channel() -> None:
    gray, one = (
        PatchEncoder(shape, patch_size=2, out_features=5, generator=generator())
        for shape in ((4, 6), (1, 4, 6))
    )
    items = torch.randint(0, 256, (3, 4, 6), dtype=torch.uint8, generator=generator())
    assert torch.equal(gray(items), one(items[:, None]))


def test_components() -> None:
    encoder = unsettled(ComponentEncoder((4,), out_features=3, generator=generator()))
    items = drawn(2, 4)
    state = state_of(encoder)
    expected = [
        [x * state["weight"] + place for x, place in zip(row, state["positions"], strict=True)]
        for row in items.numpy()
    ]
    np.testing.assert_allclose(encoder(items).detach(), expected, rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("heads", ["own", "one", "shared"])
def test_tokens_are_read_where_they_stand(heads: str) -> None:
    reader = unsettled(
        TokenReader(
            core(8),
            FEATURES,
            6,
            num_tokens=3,
            length=ITEMS,
            shared=heads == "shared",
            shared_head=heads == "one",
            generator=generator(),
        )
    )
    z, state = drawn(BATCH, ITEMS, FEATURES), state_of(reader)
    expected = []
    for one in z.numpy():
        x = one @ state["embedding.weight"].T + state["embedding.bias"] + state["places"]
        tokens = np.broadcast_to(state["tokens"], (3, 8))
        read = oracle.transformer(np.concatenate((tokens, x)), 2, 2, oracle.part(state, "core"))
        answers = []
        for number in range(3):
            head = oracle.part(state, f"heads.{number if heads == 'own' else 0}")
            answers.append(oracle.applied(head, "1", oracle.normed(head, "0", read[number])))
        expected.append(np.concatenate(answers))
    np.testing.assert_allclose(reader(z).detach(), expected, rtol=1e-9, atol=1e-12)


def test_a_set_without_places_has_no_order() -> None:
    reader = unsettled(TokenReader(core(), FEATURES, 2, generator=generator()))
    z = drawn(BATCH, ITEMS, FEATURES)
    torch.testing.assert_close(reader(z.flip(1)), reader(z), rtol=1e-9, atol=1e-12)


def test_wren() -> None:
    model = unsettled(
        WReN(FEATURES, 4, panel_size=5, hidden_size=8, relation_size=7, generator=generator())
    )
    z = drawn(BATCH, 4, FEATURES)
    expected = [[oracle.wren(one.numpy(), state_of(model))] for one in z]
    np.testing.assert_allclose(model(z).detach(), expected, rtol=1e-9, atol=1e-12)


def test_wren_scores_candidates_as_sequences_of_their_own() -> None:
    model = unsettled(
        WReN(FEATURES, 4, panel_size=5, hidden_size=8, relation_size=7, generator=generator())
    )
    premises, candidates = drawn(BATCH, 3, FEATURES), drawn(BATCH, 5, FEATURES, seed=2)
    expected = [
        [oracle.wren(np.concatenate((given, one[None])), state_of(model)) for one in offered]
        for given, offered in zip(premises.numpy(), candidates.numpy(), strict=True)
    ]
    scores = model.score_candidates(premises, candidates)
    np.testing.assert_allclose(scores.detach(), expected, rtol=1e-9, atol=1e-12)


def test_premises_and_candidates_that_do_not_fit_are_named(unchecked: None) -> None:
    model = WReN(FEATURES, 4, panel_size=5, hidden_size=8, relation_size=7)
    with pytest.raises(ValueError, match=r"premises must be \(batch, 3, 6\), .* \(3, 2, 6\)"):
        model.score_candidates(torch.zeros(3, 2, 6), torch.zeros(3, 5, 6))
    with pytest.raises(ValueError, match=r"candidates must be \(3, candidate, 6\) .* \(3, 5, 5\)"):
        model.score_candidates(torch.zeros(3, 3, 6), torch.zeros(3, 5, 5))


def test_sran() -> None:
    model = unsettled(SRAN(FEATURES, hidden_size=8, rule_size=5, generator=generator()))
    z = drawn(BATCH, 9, FEATURES)
    expected = [[oracle.sran(one.numpy(), state_of(model))] for one in z]
    np.testing.assert_allclose(model(z).detach(), expected, rtol=1e-9, atol=1e-12)


def test_sran_compares_rows_and_columns_by_the_same_networks() -> None:
    options = {"hidden_size": 8, "rule_size": 5, "columns": True}
    model = unsettled(SRAN(FEATURES, **options, generator=generator()))
    z, turned = drawn(BATCH, 9, FEATURES), [0, 3, 6, 1, 4, 7, 2, 5, 8]
    lines = (z, z[:, turned])
    expected = [[oracle.sran(one.numpy(), state_of(model)) for one in line] for line in lines]
    found = model(z).detach().squeeze(1)
    np.testing.assert_allclose(found, np.mean(expected, axis=0), rtol=1e-9, atol=1e-12)


def test_a_vision_transformer_has_the_size_of_the_paper() -> None:
    encoder = PatchEncoder(positions=True, generator=generator())
    reader = TokenReader(PreNormTransformer(192, generator=generator()), 192, 30, num_tokens=3)
    numbers = sum(p.numel() for p in SetModel(encoder, reader).parameters())
    assert 1.75e6 < numbers < 1.85e6


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: PreNormTransformer(6, num_heads=4), "num_heads must divide num_features=6, got 4"),
        (lambda: PreNormTransformer(6, num_layers=0), "num_layers must be an int 1….*, got 0"),
        (lambda: core()(drawn(2, 0, FEATURES)), r"with at least one element, got shape \(2, 0, 6"),
        (lambda: core()(drawn(2, 3, 5)), r"num_features=6\) .* got shape \(2, 3, 5\)"),
        (
            lambda: core()(drawn(2, 3, FEATURES), torch.zeros(2, 4, dtype=torch.bool)),
            r"key_padding_mask must be bool of shape \(2, 3\), an element each, got .* \(2, 4\)",
        ),
        (
            lambda: core()(drawn(2, 3, FEATURES), torch.zeros(2, 3)),
            "key_padding_mask must be bool .* got torch.float32",
        ),
        (lambda: PatchEncoder((3, 32, 30)), r"patch_size must divide height and width .* got 4"),
        (
            lambda: PatchEncoder((32,)),
            r"item_shape must be \(channel, height, width\) or \(height,",
        ),
        (lambda: PatchEncoder()(torch.rand(2, 3, 28, 28)), r"items must be \(item, 3, 32, 32\)"),
        (lambda: ComponentEncoder((2, 3)), "item_shape must be the size of a vector"),
        (lambda: ComponentEncoder((5,))(drawn(2, 4)), r"items must be \(item, 5\), got"),
        (lambda: TokenReader(core(), 6, 7, num_tokens=2), "num_tokens must divide num_outputs=7"),
        (
            lambda: TokenReader(core(), 6, 2, length=4, places_std=0.0),
            "places_std must be a finite number .*, got 0.0",
        ),
        (
            lambda: TokenReader(core(), 6, 2, length=4, places_std=math.inf),
            "places_std must be a finite number .*, got inf",
        ),
        (
            lambda: TokenReader(core(), 6, 2, places_std=0.5),
            "places_std must be left out for a set without positions, got 0.5",
        ),
        (
            lambda: TokenReader(core(), 6, 2, length=4).double()(drawn(2, 5, 6)),
            "z must have the length=4 steps that the model was made for, got 5",
        ),
        (lambda: SRAN(6, 8), "length must be 9, the panels of a matrix, got 8"),
        (
            lambda: SetModel(ComponentEncoder((5,)), nn.Identity()).answer(
                drawn(2, 5, 3), torch.zeros(2, 2, dtype=torch.long)
            ),
            r"index must be \(batch, 1\), one item a problem, got \(2, 2\)",
        ),
    ],
)
def test_what_does_not_fit_is_named(make, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        make()


def test_a_core_says_how_wide_it_is() -> None:
    with pytest.raises(TypeError, match="core must have an integer attribute num_features"):
        TokenReader(nn.Identity(), 6, 2)


SMALL = Spec(PreNormTransformer, num_features=8, num_layers=1, num_heads=2)


def test_places_are_drawn_as_far_from_zero_as_asked() -> None:
    readers = [
        TokenReader(core(), 6, 2, length=400, places_std=std, generator=generator())
        for std in (1.0, 0.35)
    ]
    wide, narrow = (reader.places for reader in readers)
    assert wide.std().item() == pytest.approx(1.0, abs=0.05)
    torch.testing.assert_close(narrow, 0.35 * wide)
    assert torch.equal(readers[0].tokens, readers[1].tokens)


def test_a_network_is_put_together_for_what_the_task_shows() -> None:
    images = SetNetwork(core=SMALL, encoder=Spec(ConvEncoder, out_features=4))
    network = images.build(SameDifferent(), stream(0, "weights"))
    assert isinstance(network, Relational)
    assert network.reasoner.length == 2
    panels = VisualAnalogies(image_size=40)
    made = SetNetwork(core=SMALL, encoder=Spec(LinearEncoder, out_features=4), places_std=0.01)
    network = made.build(panels, stream(0, "weights"))
    assert isinstance(network, AnalogyScoring)
    assert network.scorer.places.abs().max() < 0.1
    assert network.scorer.length == 6
    assert network.num_candidates == 4


def test_items_that_are_sets_are_not_looked_at_together() -> None:
    sets = SetNetwork(core=SMALL, encoder=Spec(ComponentEncoder, out_features=4))
    with pytest.raises(ValueError, match="encoder must give one embedding an item"):
        sets.build(Adding(), stream(0, "weights"))
    with pytest.raises(ValueError, match="encoder must give one embedding an item"):
        dataclasses.replace(sets, context=Spec(ContextNorm)).build(
            SequentialMNIST(), stream(0, "weights")
        )


def small(*, layers: int = 1, trained: tuple[str, ...] = ()) -> Experiment:
    return Experiment(
        task=DistributionOfThree(withheld=95, max_problems=40),
        model=SetNetwork(
            core=Spec(PreNormTransformer, num_features=8, num_layers=layers, num_heads=2),
            encoder=Spec(ConvEncoder, out_features=8),
            outputs_per_token=1,
        ),
        players=(Player(parts=trained),) if trained else (),
        recipe=Recipe(steps=2),
    )


def test_only_what_is_named_is_trained() -> None:
    parts = ("reasoner.tokens", "reasoner.heads.0")
    learner = OneNetwork(small(trained=parts), 0)
    before = {name: tensor.clone() for name, tensor in learner.weights()[0].items()}
    learner.update(0)
    moved = {n for n, tensor in learner.weights()[0].items() if not torch.equal(tensor, before[n])}
    assert "reasoner.tokens" in moved
    assert moved <= {n for n in before if n.startswith(parts)}
    with pytest.raises(ValueError, match="parts must name parts of the network, got 'reader'"):
        OneNetwork(small(trained=("reader",)), 0)
    uneven = dataclasses.replace(small().model, outputs_per_token=3)
    with pytest.raises(ValueError, match="outputs_per_token must divide the 4 numbers"):
        uneven.build(small().task, stream(0, "weights"))


def test_parts_are_left_out_and_rows_are_added() -> None:
    first = small()
    start = OneNetwork(first, 0).weights()[0]
    start = {name: tensor + 1 for name, tensor in start.items()}
    fewer_tokens = dataclasses.replace(first.model, outputs_per_token=2)
    again = dataclasses.replace(
        first,
        model=fewer_tokens,
        starts_from=Pretrained(experiment=first, exclude=("reasoner.heads", "reasoner.tokens")),
    )
    redraw = OneNetwork(dataclasses.replace(again, starts_from=None), 0).weights()[0]
    for name, tensor in OneNetwork(again, 0, start=start).weights()[0].items():
        anew = name.startswith(("reasoner.heads", "reasoner.tokens"))
        assert torch.equal(tensor, (redraw if anew else start)[name]), name
    fewer = {**start, "reasoner.tokens": start["reasoner.tokens"][:1]}
    grown = dataclasses.replace(
        first, starts_from=Pretrained(experiment=first, resize=("reasoner.tokens",))
    )
    tokens = OneNetwork(grown, 0, start=fewer).weights()[0]["reasoner.tokens"]
    assert torch.equal(tokens[0], start["reasoner.tokens"][0])
    assert torch.equal(tokens[1], OneNetwork(first, 0).weights()[0]["reasoner.tokens"][1])
    bare = dataclasses.replace(grown, starts_from=Pretrained(experiment=first))
    with pytest.raises(ValueError, match=r"reasoner.tokens of shape .* which has shape"):
        OneNetwork(bare, 0, start=fewer)
    with pytest.raises(ValueError, match="exclude must be names of parts of a network"):
        Pretrained(experiment=first, exclude=("",))


def test_a_large_training_set_is_scored_in_part() -> None:
    task = FuzzyBoolean(variables=3, functions=2, training_points=2_100, validation_points=2_200)
    experiment = Experiment(
        task=task,
        model=SetNetwork(
            core=Spec(PreNormTransformer, num_layers=1, num_heads=2),
            encoder=Spec(ComponentEncoder, out_features=4),
        ),
        recipe=Recipe(steps=1),
    )
    learner = OneNetwork(experiment, 0)
    counts = {(s.regime, s.metric): s.count for s in learner.score(0)[0]}
    assert counts["training", "r2"] == FuzzyBoolean.training_scored == 2_000
    assert counts["validation", "r2"] == 2_200
    problems = problems_of_run(task, 0)["training"]
    assert len(scored_of(task, "training", problems)) == 2_000
    assert len(scored_of(SameDifferent(), "training", problems)) == 2_100
    found = evaluate(learner.model, task)["training"]
    [own] = [s.value for s in learner.score(0)[0] if (s.regime, s.metric) == ("training", "r2")]
    assert found == pytest.approx(own)
