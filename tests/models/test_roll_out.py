"""The model that goes on from its own frames, against loops; and what it is shown."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from torch import Tensor

from farfield.core import stream
from farfield.experiments import Experiment, Recipe, SequenceNetwork, Spec
from farfield.experiments.internal import RollOutNetwork
from farfield.models.internal import RollOut
from farfield.nn import (
    CausalTransformer,
    Communication,
    FrameEncoder,
    HoldingRNN,
    LSTMLayer,
    RIMs,
    Wiring,
)
from farfield.nn.internal import FrameDecoder, LinearDecoder
from farfield.tasks import BouncingBalls, Copying, SameDifferent
from farfield.training.internal import OneNetwork, Stack
from made import generator, state_of, unsettled
from oracles import recurrent_cells, webb2020_objects

SHAPE, GIVEN, LENGTH, FEATURES = (16, 8), 3, 6, 3
INDEX = torch.tensor([[0, 1, 2, 3, 4, 5], [6, 7, 8, 9, 1, 0], [9, 9, 4, 0, 7, 2]])
FRAMES = torch.rand(10, *SHAPE, dtype=torch.float64, generator=generator(2)).round()
SMALL = {"channels": 3, "hidden_size": 16}
LAYERS: dict[str, tuple[type, dict[str, object]]] = {
    "lstm": (LSTMLayer, {}),
    "rims": (
        RIMs,
        {
            "num_mechanisms": 2,
            "num_active": 1,
            "wiring": Wiring(communication=Communication(num_heads=2)),
        },
    ),
    "causal-transformer": (CausalTransformer, {"feedforward_size": 6}),
    "holding-rnn": (HoldingRNN, {"num_groups": 4}),
}
TASK = BouncingBalls(
    side=8,
    num_frames=6,
    given=3,
    training_sequences=6,
    validation_sequences=2,
    test_sequences=2,
)
NETWORK = RollOutNetwork(
    core=Spec(LSTMLayer, hidden_size=4),
    encoder=Spec(FrameEncoder, out_features=5, **SMALL),
    decoder=Spec(FrameDecoder, squashed=False, **SMALL),
)


def rolling(*, rounded: bool = False, layer: str = "lstm") -> RollOut:
    cls, options = LAYERS[layer]
    source = generator(3)
    model = RollOut(
        FrameEncoder(SHAPE, out_features=FEATURES, generator=source, **SMALL),
        cls(FEATURES, 8, batch_first=True, generator=source, **options),
        FrameDecoder(SHAPE, 8, squashed=False, generator=source, **SMALL),
        given=GIVEN,
        rounded=rounded,
    )
    unsettled(model)
    with torch.no_grad():  # both colors in a frame
        model.decoder.convolutions[-1].bias.sub_(logits_of(model, training=True).median())
    return model


def logits_of(model: RollOut, *, training: bool, frames: Tensor = FRAMES) -> Tensor:
    with torch.no_grad():
        return model.train(training)(frames, INDEX)


def expected_of(model: RollOut, given: int) -> np.ndarray:
    """Each sequence by itself: true frames first, then those that were predicted."""
    state = state_of(model)
    cell = {
        name.removeprefix("core.").removesuffix("_l0"): array
        for name, array in state.items()
        if name.startswith("core.")
    }
    answers = np.empty((*INDEX.shape, FRAMES[0].numel()))
    for row, places in enumerate(INDEX.tolist()):
        embeddings, white = list[np.ndarray](), np.zeros(SHAPE)
        for place, item in enumerate(places):
            frame = FRAMES[item].numpy() if place < given else _read(white, model.rounded)
            embeddings.append(webb2020_objects.encode(frame, state))
            start = [np.zeros(8), np.zeros(8)]
            hidden = recurrent_cells.lstm(np.stack(embeddings), cell, {}, start)[-1][0]
            white = webb2020_objects.decode(hidden, state, SHAPE)
            answers[row, place] = (np.log(white) - np.log1p(-white)).reshape(-1)
    return answers


def _read(white: np.ndarray, rounded: bool) -> np.ndarray:
    return (white > 0.5).astype(np.float64) if rounded else white


def test_in_training_every_frame_is_predicted_from_true_ones() -> None:
    model = rolling()
    found = logits_of(model, training=True).numpy()
    np.testing.assert_allclose(found, expected_of(model, LENGTH), rtol=1e-9, atol=1e-9)
    assert found.std(axis=1).min() > 1e-6


@pytest.mark.parametrize("rounded", [False, True])
def test_a_roll_out_is_what_feeding_by_hand_gives(rounded: bool) -> None:
    model = rolling(rounded=rounded)
    found = logits_of(model, training=False).numpy()
    np.testing.assert_allclose(found, expected_of(model, GIVEN), rtol=1e-9, atol=1e-9)
    taught = logits_of(model, training=True).numpy()
    np.testing.assert_allclose(found[:, :GIVEN], taught[:, :GIVEN], rtol=1e-9, atol=1e-12)
    assert abs(found[:, GIVEN:] - taught[:, GIVEN:]).max() > 1e-6


def test_a_roll_out_reads_nothing_behind_what_is_given() -> None:
    later = FRAMES.clone()
    later[[3, 5, 7]] = 1 - later[[3, 5, 7]]  # shown to the first and the third after the given
    model = rolling()
    for training in (False, True):
        before = logits_of(model, training=training)[[0, 2]]
        after = logits_of(model, training=training, frames=later)[[0, 2]]
        assert torch.equal(before, after) is not training


@pytest.mark.parametrize("layer", LAYERS)
def test_a_roll_out_does_not_depend_on_what_stands_beside_it(layer: str) -> None:
    model = rolling(layer=layer)
    together = logits_of(model, training=False)
    with torch.no_grad():
        alone = torch.cat([model(FRAMES, row[None]) for row in INDEX])
    torch.testing.assert_close(alone, together, rtol=1e-9, atol=1e-9)


def test_it_reads_what_is_given_at_once_and_then_frame_by_frame() -> None:
    model, read = rolling(), list[tuple[int, bool]]()
    model.core.register_forward_pre_hook(
        lambda _, inputs: read.append((inputs[0].shape[1], inputs[1] is None))
    )
    logits_of(model, training=False)
    assert read == [(GIVEN, True), (1, False), (1, False), (1, False)]


def test_fewer_frames_than_are_given_are_all_true() -> None:
    model = rolling().eval()
    with torch.no_grad():
        short = model(FRAMES, INDEX[:, :2])
    assert short.shape == (3, 2, 128)
    torch.testing.assert_close(short, logits_of(model, training=True)[:, :2], rtol=1e-9, atol=1e-9)


def test_training_and_evaluation_ask_the_same_network_otherwise() -> None:
    learner = OneNetwork(Experiment(task=TASK, model=NETWORK, recipe=Recipe(steps=1)), 0)
    learner.update(0)
    (scores,) = learner.score(1)
    found = {(score.regime, score.metric): score.value for score in scores}
    problems = TASK.draw(stream(0, "problems"))["balls-4"]
    rolled = learner.model.eval()(problems.table(), problems.index).detach()
    value = float(TASK.score(rolled, problems).mean())
    assert found["balls-4", "cross-entropy"] == pytest.approx(value, rel=1e-6)
    with torch.no_grad():
        for parameter in learner.model.parameters():
            parameter.mul_(3)
        answers = [
            learner.model.train(on)(problems.table(), problems.index) for on in (True, False)
        ]
    assert not torch.allclose(*answers, rtol=1e-3)


def test_a_stack_trains_and_rolls_out_as_each_alone() -> None:
    experiment = Experiment(task=TASK, model=NETWORK, recipe=Recipe(steps=2, batch_size=3))
    stack = Stack(experiment, (0, 1), dtype=torch.float64)
    alone = [OneNetwork(experiment, seed, dtype=torch.float64) for seed in (0, 1)]
    for step in range(2):
        for learner in (stack, *alone):
            learner.update(step)
    for place, one in enumerate(alone):
        for mine, theirs in zip(stack.score(2)[place], one.score(2)[0], strict=True):
            assert mine.value == pytest.approx(theirs.value, rel=1e-9)
        assert stack.training_metrics(2)[place][0].value == pytest.approx(
            one.training_metrics(2)[0][0].value, rel=1e-9
        )


def test_a_network_is_put_together_for_its_task() -> None:
    experiment = Experiment(
        task=BouncingBalls(given=15),
        model=RollOutNetwork(
            core=Spec(RIMs, hidden_size=12, num_mechanisms=3, num_active=2), rounded=True
        ),
        recipe=Recipe(steps=1),
    )
    built = experiment.model.build(experiment.task, stream(0, "weights"))
    assert (built.given, built.rounded) == (15, True)
    assert (built.core.input_size, built.decoder.in_features) == (600, 12)
    again = experiment.model.build(experiment.task, stream(0, "weights"))
    for mine, theirs in zip(built.parameters(), again.parameters(), strict=True):
        assert torch.equal(mine, theirs)
    assert Experiment.from_json(experiment.to_json()) == experiment


def test_a_linear_decoder_folds_what_it_gives() -> None:
    decoder = unsettled(LinearDecoder((2, 3), 4, generator=generator()))
    z = torch.randn(5, 2, 4, dtype=torch.float64, generator=generator(1))
    found, state = decoder(z).detach().numpy(), state_of(decoder)
    for a, b, row, column in np.ndindex(5, 2, 2, 3):
        weight, bias = (state[f"output.{name}"][3 * row + column] for name in ("weight", "bias"))
        assert found[a, b, row, column] == pytest.approx(weight @ z[a, b].numpy() + bias, rel=1e-9)
    with pytest.raises(ValueError, match="z must have in_features=4 features"):
        decoder(z[..., :3])
    fresh = LinearDecoder((2, 3), 400, bound=0.2, first_bias=-2.0, generator=generator())
    assert fresh.output.bias.tolist() == [-2.0] * 6
    assert 0.19 < float(fresh.output.weight.detach().abs().max()) <= 0.2


@pytest.mark.parametrize(
    "options",
    [{"in_features": 0}, {"bound": 0.0}, {"bound": float("inf")}, {"first_bias": float("nan")}],
)
def test_wrong_sizes_of_a_decoder_are_refused(options: dict[str, float]) -> None:
    with pytest.raises(ValueError, match=next(iter(options))):
        LinearDecoder((2, 3), **({"in_features": 4} | options))


def test_a_task_that_gives_nothing_is_refused() -> None:
    for task in (Copying(), SameDifferent()):
        with pytest.raises(TypeError, match=r"number of given frames.*SequenceNetwork"):
            NETWORK.build(task, stream(0, "weights"))
    assert SequenceNetwork(core=NETWORK.core).build(TASK, stream(0, "weights"))


def test_a_core_that_does_not_say_its_width_is_refused() -> None:
    network = RollOutNetwork(core=Spec(FrameEncoder), encoder=NETWORK.encoder)
    with pytest.raises(TypeError, match="hidden_size"):
        network.build(TASK, stream(0, "weights"))


def test_an_index_without_places_and_nothing_given_are_refused() -> None:
    model = rolling()
    with pytest.raises(ValueError, match="index must be"):
        model(FRAMES, INDEX[:, :0])
    with pytest.raises(ValueError, match=r"given must be an int 1….*, got 0"):
        RollOut(model.encoder, model.core, model.decoder, given=0)
