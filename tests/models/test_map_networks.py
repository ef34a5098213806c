"""Networks that answer from maps of an image against loops, and as models of problems."""

from __future__ import annotations

import copy
import dataclasses

import numpy as np
import pytest
import torch
from torch import Tensor, nn

from farfield.analysis import RandomAttention
from farfield.core import Problems, stream
from farfield.experiments import Experiment, Passes, Perturbation, Recipe, Spec
from farfield.experiments.internal import ChangesNetwork, MapNetwork
from farfield.functional.internal import NFMRules
from farfield.models import PreActResNet
from farfield.models._maps._object_reader import _pool
from farfield.models.internal import (
    ConvMaps,
    DenseMaps,
    MapModel,
    MLPReader,
    ObjectReader,
    OutlineMaps,
    PresenceReader,
    RNReader,
)
from farfield.nn import MultiPass
from farfield.tasks import SameDifferent, SortOfCLEVR, StackedMNIST
from farfield.training import evaluate
from farfield.training.internal import OneNetwork, problems_of_run
from made import away, drawn, generator, state_of
from oracles import map_networks as oracle

MODES = pytest.mark.parametrize("training", [True, False], ids=["training", "evaluation"])
SHAPES = pytest.mark.parametrize("shape", [(3, 9, 9), (8, 8)], ids=["color", "gray"])
MAPS, QUESTION = drawn(2, 3, 2, 4), drawn(2, 5, seed=8)
SIZES = {"map_shape": (3, 2, 4), "num_outputs": 4, "question_size": 5, "hidden_size": 6}
FEW = SortOfCLEVR(training_images=3, test_images=3, withheld_pairs=2)
SMALL = {"maps": Spec(ConvMaps, width=2, scales=2)}
READS = Passes(rules=NFMRules(num_heads=2, key_size=3, value_size=3))


def assert_equation(found: Tensor, expected: np.ndarray) -> None:
    np.testing.assert_allclose(found.detach(), expected, rtol=1e-9, atol=1e-11)


@MODES
@SHAPES
@pytest.mark.parametrize("scales, convolutions", [(1, 1), (2, 1), (2, 2), (3, 1)])
def test_conv_maps(shape: tuple[int, ...], scales: int, convolutions: int, training: bool) -> None:
    network = ConvMaps(
        shape, width=2, scales=scales, convolutions=convolutions, generator=generator()
    )
    images, network = drawn(3, *shape), away(network, training)
    state = state_of(network)
    expected = oracle.conv_maps(images.numpy(), scales, convolutions, state, training)
    assert_equation(network(images), expected)
    assert network.out_shape == expected.shape[1:]


@MODES
@SHAPES
@pytest.mark.parametrize("depth", [10, 16])
def test_dense_maps(shape: tuple[int, ...], depth: int, training: bool) -> None:
    network = away(DenseMaps(shape, depth=depth, growth_rate=2, generator=generator()), training)
    images = drawn(2, *shape)
    expected = oracle.dense_maps(images.numpy(), (depth - 4) // 6, state_of(network), training)
    assert_equation(network(images), expected)
    assert network.out_shape == expected.shape[1:]


@pytest.mark.parametrize("pooled", [True, False])
def test_mlp_reader(pooled: bool) -> None:
    reader = away(MLPReader(**SIZES, pooled=pooled, generator=generator()), training=False)
    state = state_of(reader)
    expected = oracle.mlp_reader(MAPS.numpy(), QUESTION.numpy(), pooled, state)
    assert_equation(reader(MAPS, QUESTION), expected)


@pytest.mark.parametrize("layers", [1, 3])
def test_rn_reader(layers: int) -> None:
    reader = RNReader(**SIZES, relation_layers=layers, generator=generator())
    reader = away(reader, training=False)
    expected = oracle.rn_reader(MAPS.numpy(), QUESTION.numpy(), layers, state_of(reader))
    assert_equation(reader(MAPS, QUESTION), expected)


def test_presence_reader() -> None:
    reader = away(PresenceReader(**SIZES, generator=generator()))
    expected = oracle.presence_reader(MAPS.numpy(), QUESTION.numpy(), state_of(reader))
    assert_equation(reader(MAPS, QUESTION), expected)


def scenes(side: int = 9) -> Tensor:
    """Squares of two colors on a plain background."""
    images = torch.full((2, 3, side, side), 0.9, dtype=torch.float64)
    for n, (row, column, channel) in enumerate([(1, 4, 0), (5, 2, 2)]):
        images[n, channel, row : row + 3, column : column + 3] = 0.2
        images[n, :, 0, 0] = 0.5
    return images


@MODES
@pytest.mark.parametrize("colors", [True, False])
@pytest.mark.parametrize("scales", [1, 2])
def test_outline_maps(scales: int, colors: bool, training: bool) -> None:
    network = OutlineMaps((3, 9, 9), width=2, scales=scales, colors=colors, generator=generator())
    network, images = away(network, training), scenes()
    state = state_of(network)
    expected = oracle.outline_maps(images.numpy(), scales, 2, colors, state, training)
    assert_equation(network(images), expected)
    assert network.out_shape == expected.shape[1:]


def test_outlines_are_the_same_in_every_color() -> None:
    network, images = away(OutlineMaps((3, 9, 9), width=2, generator=generator()), False), scenes()
    other = torch.where(images == 0.2, 0.4, images)
    first, second = network(images), network(other)
    torch.testing.assert_close(first[:, 4:], second[:, 4:])
    torch.testing.assert_close(first[:, 0], second[:, 0])
    assert not torch.allclose(first[:, 1:4], second[:, 1:4])


@pytest.mark.parametrize("whole_objects", [True, False])
@pytest.mark.parametrize("relations", [True, False])
@pytest.mark.parametrize("whole_question", [True, False])
def test_object_reader(whole_question: bool, relations: bool, whole_objects: bool) -> None:
    options = {
        "whole_question": whole_question,
        "relations": relations,
        "whole_objects": whole_objects,
    }
    sizes = {**SIZES, "map_shape": (4, 2, 4), "name_size": 3, "color_size": 2}
    reader = away(ObjectReader(**sizes, **options, generator=generator()))
    maps = drawn(2, 4, 2, 4)
    maps[:, 0] = maps[:, 0].sigmoid()
    state = state_of(reader)
    expected = oracle.object_reader(
        maps.numpy(), QUESTION.numpy(), (3, 2), tuple(options.values()), state
    )
    assert_equation(reader(maps, QUESTION), expected)


def test_a_whole_object_counts_once_whatever_its_size_and_its_order_of_positions() -> None:
    """Objects of 4, 9 and 12 positions have a weight of 1 each, an edge of mixed color less."""
    share = torch.tensor([[1.0] * 4 + [0.5] * 18 + [1.0] * 12 + [0.2] + [0.0] * 90])
    color = [0.0] * 4 + [0.5] * 18 + [1.0] * 12 + [0.25] + [0.7] * 90
    values = torch.arange(125.0)[None, :, None]
    own, colors, means = _pool(share, torch.tensor(color)[None, :, None], values)
    kept = {c: own[0][colors[0, :, 0] == c].sum() for c in (0.0, 0.5, 1.0)}
    torch.testing.assert_close(torch.stack([*kept.values()]), torch.ones(3), atol=2e-2, rtol=0)
    assert own[0][colors[0, :, 0] == 0.25].sum() < 0.06
    near = means[0, colors[0, :, 0] == 1.0]
    torch.testing.assert_close(near, torch.full_like(near, 27.5))


def test_a_name_chooses_and_is_read_by_nothing_else() -> None:
    """Where all positions are alike, an answer does not depend on the name."""
    sizes = {**SIZES, "map_shape": (4, 2, 4), "name_size": 3, "color_size": 2}
    maps, other = torch.ones(2, 4, 2, 4), QUESTION.float().clone()
    other[:, :3] = 0
    for whole_question in (False, True):
        reader = ObjectReader(**sizes, whole_question=whole_question, generator=generator())
        reader.key = nn.Sequential(nn.Linear(2, 16, bias=False))
        same = torch.allclose(reader(maps, QUESTION.float()), reader(maps, other), atol=1e-6)
        assert same != whole_question


@pytest.mark.parametrize("cls", [MLPReader, RNReader])
def test_half_of_the_last_hidden_units_are_dropped_in_training_alone(cls: type) -> None:
    reader = cls(**SIZES | {"hidden_size": 64}, generator=generator()).double()
    first, second = reader(MAPS, QUESTION), reader(MAPS, QUESTION)
    assert not torch.equal(first, second)
    reader.eval()
    assert torch.equal(reader(MAPS, QUESTION), reader(MAPS, QUESTION))


def test_sides_are_multiples_of_each_other() -> None:
    """Scenes of 75 pixels: reads of neural function modules need 40, 20, 10 and 5 positions."""
    network, sides = ConvMaps((3, 75, 75), device="meta"), []
    for name in network.state_layers:
        layer = network.get_submodule(name)
        layer.register_forward_hook(lambda *call: sides.append(tuple(call[-1].shape[1:])))
    network(torch.empty(2, 3, 75, 75, device="meta"))
    assert sides == [(24, 40, 40), (48, 20, 20), (96, 10, 10), (192, 5, 5)]
    assert network.state_layers == {"layer1": 24, "layer2": 48, "layer3": 96, "layer4": 192}


def test_channels_double_with_each_scale_and_convolutions_repeat() -> None:
    network = ConvMaps((64, 64), width=48, convolutions=2, device="meta")
    assert [*network.state_layers.values()] == [48, 48, 96, 96, 192, 192, 384, 384]
    assert network.out_shape == (384, 4, 4)


def model(**parts: object) -> MapModel:
    return MapNetwork(**{**SMALL, **parts}).build(FEW, stream(0, "weights"))


@pytest.mark.parametrize(
    "parts",
    [{}, {"reader": Spec(RNReader, hidden_size=4), "maps": Spec(ConvMaps, width=2, scales=4)}],
)
def test_a_problem_is_an_image_and_a_question(parts: dict[str, Spec]) -> None:
    """The same answers from maps of every problem, and from those of each image once."""
    network, problems = model(**parts).eval(), problems_of_run(FEW, 0)["new-images"].compact()
    items = problems.table()
    answers = network(items, problems.index)
    twice = network.answer(network.encode(items), problems.index)
    torch.testing.assert_close(twice, answers)
    asked = items[problems.index[:, 1]].flatten(1)[:, : FEW.question_size].float() / 255
    assert asked.sum(1).eq(3).all()
    shown = items[problems.index[:, 0]].float() / 255
    torch.testing.assert_close(network.reader(network.maps(shown), asked), answers)


def test_batch_normalization_counts_problems_and_no_questions() -> None:
    network, problems = model(), problems_of_run(FEW, 0)["training"].compact()
    network(problems.table(), problems.index)
    shown = (problems.table()[problems.index[:, 0]].float() / 255).mean((0, 2, 3))
    layer = copy.deepcopy(network.maps.layer1[:2])
    found = layer(torch.nn.functional.pad(problems.sequences()[:, 0].float() / 255, (0, 1, 0, 1)))
    expected = 0.1 * found.mean((0, 2, 3))
    torch.testing.assert_close(network.maps.layer1[2].running_mean, expected)
    assert shown.min() > 0.5


def test_an_image_alone_is_answered_without_a_question() -> None:
    network = MapNetwork(**SMALL).build(StackedMNIST(), stream(0, "weights")).eval()
    images = torch.rand(3, 64, 64, generator=generator())
    answers = network(images, torch.tensor([[2], [0]]))
    torch.testing.assert_close(answers, network(images[[2, 0]], torch.tensor([[0], [1]])))
    assert answers.shape == (2, 10)


def test_passes_are_those_of_multi_pass() -> None:
    network = model(passes=Passes(number=3, first_reads=True))
    assert isinstance(network.maps, MultiPass)
    assert network.maps.layers == ("layer1", "layer2")
    assert network.maps.nfm.num_features == (2, 4) * 3
    assert network.maps.nfm.first_reader == 0
    assert network.maps.nfm.rules == NFMRules()
    one = model(passes=Passes(layers=("layer2",)))
    assert (one.maps.layers, one.maps.passes, one.maps.nfm.first_reader) == (("layer2",), 2, 1)


def test_as_modules_add_nothing_at_first_the_network_is_that_of_one_pass() -> None:
    problems = problems_of_run(FEW, 0)["training"].compact()
    answers = [
        network.eval()(problems.table(), problems.index)
        for network in (model(), model(passes=READS))
    ]
    assert torch.equal(*answers)


def experiment(**fields: object) -> Experiment:
    made = Experiment(
        task=FEW, model=MapNetwork(**SMALL, passes=READS), recipe=Recipe(steps=2, batch_size=8)
    )
    return dataclasses.replace(made, **fields)


def test_an_experiment_is_read_back() -> None:
    made = experiment(perturbations=(RandomAttention(of="new-images"),))
    assert Experiment.from_json(made.to_json()) == made
    assert "passes=Passes(" in made.to_python()


def test_random_attention_is_a_regime_of_another_network() -> None:
    change = RandomAttention(of="new-images")
    assert isinstance(change, Perturbation)
    assert isinstance(change, ChangesNetwork)
    learner = OneNetwork(experiment(perturbations=(change,)), seed=0)
    with torch.no_grad():
        for layer in learner.model.maps.nfm.layers:
            if hasattr(layer, "gamma"):
                layer.gamma.fill_(5.0)
    before = copy.deepcopy(learner.model.state_dict())
    [scores] = learner.score(0)
    losses = {score.regime: score.value for score in scores if score.metric == "loss"}
    assert losses[change.regime.name] != losses["new-images"]
    assert all(torch.equal(before[name], now) for name, now in learner.model.state_dict().items())
    drawn_again = change.network(learner.model, stream(3)).eval()
    problems = problems_of_run(FEW, 0)["new-images"].compact()
    first, second = (drawn_again(problems.table(), problems.index) for _ in range(2))
    assert not torch.allclose(first, second)


def test_random_attention_of_modules_that_add_nothing_changes_nothing() -> None:
    network = model(passes=READS).eval()
    problems: Problems = problems_of_run(FEW, 0)["new-images"].compact()
    changed = RandomAttention(of="new-images").network(network, stream(0))
    torch.testing.assert_close(
        changed(problems.table(), problems.index), network(problems.table(), problems.index)
    )


def test_scores_are_those_of_a_plain_model() -> None:
    network = model()
    assert set(evaluate(network, FEW)) == {"training", "new-images", "withheld-pairs-2"}


def test_bad_values_are_refused() -> None:
    with pytest.raises(ValueError, match="depth must be 6n"):
        DenseMaps((8, 8), depth=12)
    with pytest.raises(ValueError, match="name_size must be below question_size=5, got 5"):
        ObjectReader(**SIZES, name_size=5, color_size=1)
    with pytest.raises(ValueError, match="color_size must be at most 1"):
        ObjectReader(**SIZES, name_size=2, color_size=2)
    with pytest.raises(ValueError, match=r"maps must be \(batch, 3, 2, 4\)"):
        MLPReader(**SIZES)(MAPS[:, :2].float(), QUESTION.float())
    with pytest.raises(ValueError, match=r"question must be \(2, 5\)"):
        RNReader(**SIZES)(MAPS.float(), QUESTION[:, :2].float())
    with pytest.raises(ValueError, match="an image and a question a problem"):
        model()(torch.rand(2, 3, 75, 75), torch.tensor([[0]]))
    with pytest.raises(ValueError, match="layers must be of layer1, layer2, got 'layer3'"):
        model(passes=Passes(layers=("layer3",)))
    with pytest.raises(ValueError, match="task must show an image"):
        MapNetwork().build(SameDifferent(), stream(0))
    with pytest.raises(TypeError, match="network must have state_layers"):
        model(maps=Spec(DenseMaps, depth=10), passes=Passes())
    with pytest.raises(TypeError, match="maps must have out_shape"):
        model(maps=Spec(PreActResNet, width=2))
    with pytest.raises(ValueError, match="model must have a MultiPass"):
        RandomAttention(of="new-images").network(model(), stream(0))
