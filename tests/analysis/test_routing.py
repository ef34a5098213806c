"""How elements are routed, how types gather, and what is left with less."""

from __future__ import annotations

import itertools
import re

import numpy as np
import pytest
import torch
from torch import Tensor, nn

from farfield.analysis import clustering, routing_of, tsne
from farfield.analysis.internal import (
    interpreter_of,
    path_similarity,
    scores_by_iterations,
    scores_without_functions,
)
from farfield.core import stream
from farfield.experiments import SetNetwork, Spec
from farfield.nn import ComponentEncoder, NeuralInterpreter
from farfield.tasks import VALIDATION, FuzzyBoolean
from farfield.training.internal import score_problems
from made import generator, unsettled

TASK = FuzzyBoolean(variables=3, functions=2, training_points=100, validation_points=100)
PROBLEMS = TASK.draw(stream(0, "problems"))[VALIDATION]


def network(**options: int) -> nn.Module:
    sizes = {"num_functions": 3, "num_iterations": 2, "num_scripts": 2} | options
    made = SetNetwork(
        core=Spec(NeuralInterpreter, **sizes),
        encoder=Spec(ComponentEncoder, out_features=8),
        outputs_per_token=1,
    )
    return unsettled(made.build(TASK, stream(0, "weights"))).float().eval()


def test_routing_is_that_of_the_elements_shown() -> None:
    model, some = network(), PROBLEMS[:4]
    routing = routing_of(model, some)
    assert routing.compatibility.shape == (4, 4, 3, 5)
    core = interpreter_of(model)
    with torch.no_grad():
        x = model.reader.elements(model.sets(model.encode(some.table()), some.index))
        first, second = core.trace(x)
    torch.testing.assert_close(routing.compatibility[:2], first.compatibility)
    torch.testing.assert_close(routing.types[2:], second.types)
    signatures = core.scripts[1].signatures
    for iteration, sample, item in np.ndindex(2, 4, 5):
        cosine = [
            float(torch.cosine_similarity(second.types[iteration, sample, item], own, dim=0))
            for own in signatures
        ]
        assert int(routing.nearest[2 + iteration, sample, item]) == int(np.argmax(cosine))


def test_only_one_interpreter_is_looked_into() -> None:
    with pytest.raises(ValueError, match="network must hold one NeuralInterpreter, got 0 in Lin"):
        interpreter_of(nn.Linear(2, 2))
    two = nn.ModuleList([NeuralInterpreter(4, generator=generator()) for _ in range(2)])
    with pytest.raises(ValueError, match="got 2 in ModuleList"):
        routing_of(two, PROBLEMS)


def test_similarity_of_paths() -> None:
    compatibility = torch.rand(2, 3, 4, 5, generator=generator(), dtype=torch.float64)
    total, count = 0.0, 0
    for first, second in itertools.combinations(range(3), 2):
        for step, item in np.ndindex(2, 5):
            a, b = (compatibility[step, sample, :, item].tolist() for sample in (first, second))
            total += sum(min(x / sum(a), y / sum(b)) for x, y in zip(a, b, strict=True))
            count += 1
    assert path_similarity(compatibility) == pytest.approx(total / count, rel=1e-9)
    same = compatibility[:, :1].expand(-1, 3, -1, -1)
    assert path_similarity(same) == pytest.approx(1.0)
    half = same.clone()
    half[..., 0] = 0.0  # an element that no function has access to, in all samples alike
    assert path_similarity(half) == pytest.approx(1.0)
    half[:, 0, :, 0] = 0.25
    assert path_similarity(half) == pytest.approx(1 - 2 / 3 / 5)
    apart = torch.eye(2).reshape(1, 2, 2, 1)
    assert path_similarity(apart) == pytest.approx(0.0)
    with pytest.raises(ValueError, match="compatibility must be of at least two samples, got 1"):
        path_similarity(compatibility[:, :1])


def variance_between(types: Tensor, nearest: Tensor) -> float:
    rows, groups = types.flatten(0, 1).tolist(), nearest.flatten().tolist()
    mean = [sum(column) / len(rows) for column in zip(*rows, strict=True)]
    whole = sum((x - m) ** 2 for row in rows for x, m in zip(row, mean, strict=True))
    between = 0.0
    for function in set(groups):
        own = [row for row, group in zip(rows, groups, strict=True) if group == function]
        center = [sum(column) / len(own) for column in zip(*own, strict=True)]
        between += len(own) * sum((c - m) ** 2 for c, m in zip(center, mean, strict=True))
    return between / whole


def test_clustering_is_the_share_of_variance_between_groups() -> None:
    types = torch.randn(3, 2, 6, 4, generator=generator(), dtype=torch.float64)
    nearest = torch.randint(0, 3, (3, 2, 6), generator=generator())
    expected = [variance_between(*pair) for pair in zip(types, nearest, strict=True)]
    assert clustering(types, nearest) == pytest.approx(expected, rel=1e-9)
    points = nn.functional.one_hot(nearest, 4).double()
    assert clustering(points, nearest) == pytest.approx([1.0] * 3)


def test_fewer_iterations_are_scored_and_taken_back() -> None:
    model = network()
    found = scores_by_iterations(model, TASK, PROBLEMS, (1, 2, 3))
    assert interpreter_of(model).num_iterations == 2
    for number, score in zip((1, 2, 3), found, strict=True):
        own = network(num_iterations=number)
        own.load_state_dict(model.state_dict())
        assert score == pytest.approx(float(score_problems(own, TASK, PROBLEMS)[0].double().mean()))
    with pytest.raises(ValueError, match="num_iterations must be an int 1…1024, got 0"):
        scores_by_iterations(model, TASK, PROBLEMS, (1, 0))
    assert interpreter_of(model).num_iterations == 2


def test_functions_are_removed_one_after_another_from_a_copy() -> None:
    model, place = network(), stream(3, "functions removed")
    before = {name: tensor.clone() for name, tensor in model.state_dict().items()}
    found = scores_without_functions(model, TASK, PROBLEMS, (0, 1, 2), place)
    for name, tensor in model.state_dict().items():
        assert torch.equal(tensor, before[name]), name
    drawn = [int(number) for number in place.numpy().bit_generator.random_raw(3)]
    order = sorted(range(3), key=drawn.__getitem__)
    for number, score in enumerate(found):
        less = network(num_functions=3)
        less.load_state_dict(before)
        if number:
            interpreter_of(less).remove_functions(order[:number])
        own = float(score_problems(less, TASK, PROBLEMS)[0].double().mean())
        assert score == pytest.approx(own)
    assert len(set(found)) == 3


@pytest.mark.parametrize("number", [-1, 3, 1.5, True])
def test_as_many_functions_as_cannot_be_removed_are_refused(number: object, unchecked) -> None:
    message = rf"numbers must be ints 0…2, since one of 3 functions must stay, got {number!r}"
    with pytest.raises(ValueError, match=re.escape(message)):
        scores_without_functions(network(), TASK, PROBLEMS, (0, number), stream(3, "x"))


def test_a_map_keeps_neighbours_together() -> None:
    centers = 20 * torch.eye(3)
    groups = torch.arange(3).repeat_interleave(12)
    points = centers[groups] + torch.randn(36, 3, generator=generator())
    places = tsne(points)
    assert places.shape == (36, 2)
    distance = torch.cdist(places, places).fill_diagonal_(torch.inf)
    assert torch.equal(groups[distance.argmin(1)], groups)
    assert torch.equal(tsne(points), places)
    with pytest.raises(ValueError, match="points must be at least 8, got 5"):
        tsne(points[:5])
