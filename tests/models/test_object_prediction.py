"""Dynamic object prediction against its oracle, and who may look ahead."""

from __future__ import annotations

import copy
from collections.abc import Callable

import numpy as np
import pytest
import torch
from torch import nn

from farfield.core import Problems, stream
from farfield.experiments import Spec
from farfield.experiments.internal import AutoencoderNetwork, PredictionNetwork
from farfield.functional import denormalize
from farfield.models.internal import NextEmbedding, ObjectAutoencoder, ObjectPredictor
from farfield.nn import FrameEncoder
from farfield.nn.internal import FrameDecoder, PastNorm, SequenceNorm, TimeStepNorm
from farfield.objectives import PredictingEmbeddings, Supervised
from farfield.tasks import DynamicObjects, ObjectFrames
from made import drawn, generator, state_of, unsettled
from oracles import webb2020_objects as oracle
from small import loss_of

SHAPE, LENGTH, FEATURES, BATCH = (16, 8), 5, 3, 4
INDEX = torch.tensor([[0, 1, 2, 3, 4], [5, 6, 7, 8, 9], [9, 2, 4, 0, 7], [3, 3, 1, 8, 6]])
FRAMES = torch.rand(10, *SHAPE, dtype=torch.float64, generator=generator(2))
Statistics = Callable[[np.ndarray, int], oracle.Statistics]
CONTEXTS: dict[str, tuple[nn.Module | None, Statistics]] = {
    "none": (
        None,
        lambda z, row: tuple(np.full((LENGTH - 1, FEATURES), n) for n in (0.0, 1.0, 0.0, 1.0)),
    ),
    "past": (PastNorm(FEATURES, eps=1e-3), lambda z, row: oracle.over_past(z[row], 0, 1e-3)),
    "past, unbiased": (
        PastNorm(FEATURES, correction=1, eps=1e-3),
        lambda z, row: oracle.over_past(z[row], 1, 1e-3),
    ),
    "all but the last": (
        SequenceNorm(FEATURES),
        lambda z, row: oracle.over_sequence(z[row], 0, 1e-8, LENGTH - 1),
    ),
    "all, released": (
        SequenceNorm(FEATURES, include_last=True, correction=1, eps=1e-15),
        lambda z, row: oracle.over_sequence(z[row], 1, 1e-15, LENGTH),
    ),
    "batch": (
        TimeStepNorm(FEATURES, LENGTH, batch_size=BATCH),
        lambda z, row: oracle.over_batch(z, 0, 1e-8),
    ),
    "batch, in twos": (
        TimeStepNorm(FEATURES, LENGTH, batch_size=2, correction=1),
        lambda z, row: oracle.over_batch(z[row // 2 * 2 :][:2], 1, 1e-8),
    ),
}


def kept_statistics() -> TimeStepNorm:
    """In evaluation mode, which looks at no batch."""
    norm = TimeStepNorm(3, 4, sample=2)
    norm.calibrate(torch.rand(2, 4, 3, generator=torch.Generator().manual_seed(0)))
    return norm.eval()


def predictor(context: nn.Module | None) -> ObjectPredictor:
    small, source = {"channels": 3, "hidden_size": 16}, generator(3)
    model = ObjectPredictor(
        FrameEncoder(SHAPE, out_features=FEATURES, generator=source, **small),
        copy.deepcopy(context),
        NextEmbedding(FEATURES, hidden_size=4, generator=source),
        FrameDecoder(SHAPE, FEATURES, generator=source, **small),
    )
    unsettled(model)
    return model


@pytest.mark.parametrize("name", CONTEXTS)
def test_predictions_are_the_oracle_s(name: str) -> None:
    context, statistics = CONTEXTS[name]
    model = predictor(context).eval()
    state = state_of(model)
    with torch.no_grad():
        shown, (answers, sequence) = model(FRAMES, INDEX), model.predict(FRAMES, INDEX)
    z = np.stack([oracle.encode(frame, state) for frame in FRAMES.numpy()])[INDEX.numpy()]
    assert z.std(axis=(0, 1)).min() > 0.01  # no embedding is dead
    assert shown.std(0).max() > 1e-5
    for row in range(BATCH):
        expected, targets, back = oracle.predictions(z[row], state, statistics(z, row))
        np.testing.assert_allclose(answers[row], expected, rtol=1e-9, atol=1e-12)
        np.testing.assert_allclose(sequence.targets[row], targets, rtol=1e-9, atol=1e-12)
        frames = np.stack([oracle.decode(embedding, state, SHAPE) for embedding in back])
        np.testing.assert_allclose(shown[row], frames, rtol=1e-9, atol=1e-12)


def test_what_is_encoded_once_is_what_is_encoded_in_place() -> None:
    model = predictor(PastNorm(FEATURES))
    assert torch.equal(model(FRAMES, INDEX), model.answer(model.encode(FRAMES), INDEX))


@pytest.mark.parametrize(
    ("name", "looks_ahead"),
    [
        ("none", False),
        ("past", False),
        ("past, unbiased", False),
        ("all but the last", True),
        ("all, released", True),
    ],
)
def test_who_looks_ahead(name: str, looks_ahead: bool) -> None:
    model = predictor(CONTEXTS[name][0])
    for cut in range(1, LENGTH):
        later = FRAMES.clone()
        later[cut:] = torch.rand(later[cut:].shape, dtype=torch.float64, generator=generator(9))
        before, after = (model(frames, INDEX[:1])[0] for frames in (FRAMES, later))
        # Frames 0 … cut − 1 are untouched, so predictions of frames 1 … cut must be as well.
        same = torch.equal(before[:cut], after[:cut])
        last_alone = name == "all but the last" and cut == LENGTH - 1
        assert same is (not looks_ahead or last_alone)
        if cut < LENGTH - 1:
            assert not torch.equal(before[cut:], after[cut:])


def test_the_first_prediction_over_the_past_is_the_first_frame() -> None:
    model = predictor(PastNorm(FEATURES, eps=1e-15))
    first = model.decoder(model.encode(FRAMES)[INDEX[:, 0]])
    torch.testing.assert_close(model(FRAMES, INDEX)[:, 0], first, rtol=1e-6, atol=1e-6)


@pytest.mark.parametrize("name", ["past", "all, released", "batch"])
def test_a_perfect_predictor_gives_the_embeddings_back(name: str) -> None:
    model = predictor(CONTEXTS[name][0])
    z = model.encode(FRAMES)[INDEX]
    sequence = model.predict(FRAMES, INDEX)[1]
    back = denormalize(sequence.targets, sequence.mean, sequence.scale)
    torch.testing.assert_close(back, z[:, 1:], rtol=1e-9, atol=1e-12)


def test_statistics_of_training_serve_in_evaluation_alone() -> None:
    model = predictor(TimeStepNorm(FEATURES, LENGTH, batch_size=2, sample=3))
    context = model.context
    assert isinstance(context, TimeStepNorm)
    assert model.wants_statistics
    assert not predictor(PastNorm(FEATURES)).wants_statistics
    embeddings = model.encode(FRAMES).detach()
    model.calibrate(embeddings, INDEX)
    z = embeddings[INDEX]
    _, _, mean, scale = oracle.over_batch(z[:3].numpy(), 0, 1e-8)
    np.testing.assert_allclose(context.mean[1:], mean, rtol=1e-9)
    np.testing.assert_allclose(context.scale[1:], scale, rtol=1e-9)
    trained, scored = (context.train(mode)(z) for mode in (True, False))
    assert not torch.equal(trained.inputs, scored.inputs)
    torch.testing.assert_close(context.eval()(z[:1]).inputs, scored.inputs[:1], rtol=1e-12, atol=0)
    with pytest.raises(ValueError, match="z must hold at least 2 sequences"):
        context.calibrate(z[:1])


def test_statistics_carry_no_graph() -> None:
    context = TimeStepNorm(FEATURES, LENGTH, sample=3)
    context.calibrate(drawn(3, LENGTH, FEATURES).requires_grad_())
    assert not context.mean.requires_grad
    assert not context.scale.requires_grad


@pytest.mark.usefixtures("unchecked")
def test_evaluation_without_statistics_or_with_other_places_is_refused() -> None:
    context, z = TimeStepNorm(FEATURES, LENGTH, sample=3).eval(), drawn(4, LENGTH, FEATURES)
    with pytest.raises(ValueError, match="must be taken by calibrate before evaluation"):
        context(z)
    context.calibrate(z)
    with pytest.raises(ValueError, match=rf"z must be \(batch, {LENGTH}, {FEATURES}\), got shape"):
        context(z[:, :-1])
    assert torch.isfinite(context(z).inputs).all()


def test_a_lone_sequence_at_the_end_joins_the_group_before() -> None:
    context, z = TimeStepNorm(FEATURES, LENGTH, batch_size=2), drawn(5, LENGTH, FEATURES)
    inputs = context(z).inputs.detach()
    np.testing.assert_allclose(inputs[:2], over(z[:2]), rtol=1e-9)
    np.testing.assert_allclose(inputs[2:], over(z[2:]), rtol=1e-9)


def over(z: torch.Tensor) -> np.ndarray:
    """Inputs of a group, by the oracle's statistics."""
    mean, scale, _, _ = oracle.over_batch(z.numpy(), 0, 1e-8)
    return (z[:, :-1].numpy() - mean) / scale


def test_an_autoencoder_gives_back_what_the_oracle_does() -> None:
    small, source = {"channels": 2, "hidden_size": 6}, generator(4)
    model = ObjectAutoencoder(
        FrameEncoder(SHAPE, out_features=FEATURES, generator=source, **small),
        FrameDecoder(SHAPE, FEATURES, generator=source, **small),
    )
    state = state_of(unsettled(model))
    index = torch.tensor([[4], [0], [4]])
    with torch.no_grad():
        shown = model(FRAMES, index)
    for row, item in zip(shown, index[:, 0], strict=True):
        expected = oracle.decode(oracle.encode(FRAMES[item].numpy(), state), state, SHAPE)
        np.testing.assert_allclose(row, expected, rtol=1e-9, atol=1e-12)
    with pytest.raises(ValueError, match=r"index must be \(batch, 1\), one item a problem"):
        model(FRAMES, INDEX)


def test_the_network_is_the_papers() -> None:
    model = PredictionNetwork().build(DynamicObjects(), stream(0))
    shapes = {name: tuple(p.shape) for name, p in model.named_parameters()}
    assert shapes["encoder.convolutions.0.weight"] == (32, 1, 4, 4)
    assert shapes["encoder.layers.0.weight"] == (256, 2048)
    assert shapes["encoder.output.weight"] == (10, 256)
    assert shapes["predictor.controller.weight_hh"] == (80, 20)
    assert shapes["predictor.output.weight"] == (10, 20)
    assert shapes["decoder.layers.2.weight"] == (2048, 256)
    assert shapes["decoder.convolutions.2.weight"] == (32, 1, 4, 4)
    assert all(p.requires_grad for p in model.parameters())
    first = AutoencoderNetwork().build(ObjectFrames(), stream(0))
    both = {name for name in shapes if name.startswith(("encoder.", "decoder."))}
    assert {name for name, _ in first.named_parameters()} == both


@pytest.mark.parametrize(
    "build",
    [
        lambda source: FrameEncoder(generator=source),
        lambda source: FrameDecoder(generator=source),
        lambda source: NextEmbedding(10, generator=source),
    ],
)
def test_first_weights_are_torch_s_own(build: Callable[[torch.Generator], nn.Module]) -> None:
    drawn_here, by_torch = build(generator(5)), build(generator(6))
    with torch.random.fork_rng():
        torch.manual_seed(5)
        for layer in by_torch.modules():
            if hasattr(layer, "reset_parameters"):
                layer.reset_parameters()
    for name, parameter in by_torch.named_parameters():
        assert torch.equal(drawn_here.get_parameter(name), parameter), name


@pytest.mark.parametrize("name", CONTEXTS)
@pytest.mark.parametrize("denormalized", [False, True])
def test_the_objective_is_the_mean_squared_error_of_embeddings(
    name: str, denormalized: bool
) -> None:
    model = predictor(CONTEXTS[name][0])
    problems = Problems(items=FRAMES, index=INDEX, target=torch.zeros(BATCH, dtype=torch.int64))
    rule = PredictingEmbeddings(denormalized=denormalized)
    found = loss_of(rule, model, problems, lambda outputs, problems: outputs, stream(0))
    answers, sequence = model.predict(FRAMES, INDEX)
    if denormalized:
        z = model.encode(FRAMES)[INDEX]
        expected = denormalize(answers, sequence.mean, sequence.scale) - z[:, 1:]
    else:
        expected = answers - sequence.targets
    torch.testing.assert_close(found, expected.square().mean(), rtol=1e-8, atol=0)


def test_the_objective_asks_for_a_predictor(unchecked) -> None:
    with pytest.raises(TypeError, match="model must have a method predict, got Identity"):
        loss_of(
            PredictingEmbeddings(),
            nn.Identity(),
            Problems(items=FRAMES, index=INDEX, target=INDEX),
            None,
            stream(0),
        )


def test_fine_tuning_reaches_every_parameter_from_the_pixels() -> None:
    task = DynamicObjects(num_frames=3, training_sequences=2, test_sequences=1)
    network = PredictionNetwork(
        encoder=Spec(FrameEncoder, channels=2, hidden_size=6),
        decoder=Spec(FrameDecoder, channels=2, hidden_size=6),
        context=Spec(SequenceNorm),
    )
    model = unsettled(network.build(task, stream(0)))
    problems = task.draw(stream(0))["training"].to("cpu", torch.float64)
    loss_of(Supervised(), model, problems_as_tensors(problems), task.loss, stream(0)).backward()
    silent = {n for n, p in model.named_parameters() if p.grad is None or not p.grad.any()}
    assert silent == set()


def problems_as_tensors(problems: Problems) -> Problems:
    small = problems.compact()
    return Problems(items=small.table(), index=small.index, target=small.target)


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: FrameEncoder((12, 16)), "item_shape must be .* multiples of 8, got"),
        (lambda: FrameDecoder((16,)), "item_shape must be .* multiples of 8, got"),
        (lambda: FrameEncoder(channels=0), "channels must be an int 1….*, got 0"),
        (lambda: FrameDecoder(in_features=0), "features must be an int 1….*, got 0"),
        (lambda: FrameEncoder(SHAPE)(FRAMES[:, :8].float()), r"items must be \(item, 16, 8\)"),
        (lambda: FrameDecoder(SHAPE, 4)(torch.zeros(2, 3)), "z must have in_features=4"),
        (lambda: NextEmbedding(0), "in_features must be an int 1…"),
        (lambda: PastNorm(0), "num_features must be an int 1….*, got 0"),
        (lambda: PastNorm(3)(torch.zeros(2, 1, 3)), r"z must be \(batch, time, 3\)"),
        (lambda: SequenceNorm(3)(torch.zeros(2, 4, 5)), r"z must be \(batch, time, 3\)"),
        (lambda: TimeStepNorm(3, 4, batch_size=1), "batch_size must be at least 2"),
        (lambda: TimeStepNorm(3, 4, sample=1), "sample 0 or at least 2"),
        (lambda: TimeStepNorm(3, 4)(torch.zeros(1, 4, 3)), "z must hold at least 2 sequences"),
        (lambda: kept_statistics()(torch.ones(2, 4, 3, dtype=torch.int64)), "got torch.int64 of"),
        (lambda: predictor(None)(FRAMES, INDEX[:, :1]), "index must be .* at least two steps"),
    ],
)
def test_bad_input_is_named(unchecked, make: Callable[[], object], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        make()
