"""Representations at a layer, answers with others in their place, and neighbors among them."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from torch import Tensor, nn
from torch.nn import functional as F

from farfield.analysis import representations_of
from farfield.analysis.internal import nearest_neighbor_error, probabilities_of
from farfield.core import Problems
from oracles.representations import neighbor_class
from small import ThreeLayers


def drawn(count: int, seed: int = 0) -> Problems:
    source = torch.Generator().manual_seed(seed)
    items = torch.randn(6, 3, dtype=torch.float64, generator=source)
    index = torch.randint(6, (count, 2), generator=source)
    return Problems(items=items, index=index, target=torch.arange(count) % 4)


class Twice(nn.Module):
    """A network with a layer called twice, one never called, and one with an odd output."""

    def __init__(self) -> None:
        super().__init__()
        self.twice, self.never, self.odd = (nn.Identity() for _ in range(3))

    def forward(self, items: Tensor, index: Tensor) -> Tensor:
        self.odd(items[:1])
        return self.twice(self.twice(items[index].flatten(1)))


def test_representations_are_those_on_the_way_in_the_order_of_problems() -> None:
    network, problems = ThreeLayers(), drawn(1030)
    items = problems.sequences()
    with torch.no_grad():
        embedded = network.encoder(items).flatten(1)
        read = network.hidden(embedded.tanh())
    torch.testing.assert_close(representations_of(network, problems, "encoder"), embedded)
    torch.testing.assert_close(representations_of(network, problems, "hidden"), read)
    assert not network.encoder._forward_hooks


def test_probabilities_with_representations_in_place() -> None:
    network, problems, others = ThreeLayers(), drawn(700), drawn(700, seed=1)
    plain = probabilities_of(network, problems)
    with torch.no_grad():
        expected = network(problems.items, problems.index).softmax(-1)
    torch.testing.assert_close(plain, expected)
    for layer in ("encoder", "hidden"):
        instead = {layer: representations_of(network, others, layer)}
        torch.testing.assert_close(
            probabilities_of(network, problems, instead), probabilities_of(network, others)
        )


def test_one_logit_is_that_of_the_second_of_two_classes() -> None:
    def network(items: Tensor, index: Tensor) -> Tensor:
        return items[index[:, 0], :1]

    module = nn.Module()
    module.forward = network
    problems = drawn(5)
    found = probabilities_of(module, problems)
    second = problems.sequences()[:, 0, 0].sigmoid()
    torch.testing.assert_close(found, torch.stack([1 - second, second], dim=1))


@pytest.mark.parametrize(
    "layer, message",
    [
        ("third", "layers must be layers of the network, got 'third'"),
        ("twice", "layer must be called once, got 2 calls of 'twice'"),
        ("never", "layer must be called once, got 0 calls of 'never'"),
        ("odd", r"layer must give a row for each of 5 problems or 10 items, got \(1, 3\)"),
    ],
)
def test_layers_that_represent_no_problem_are_refused(layer: str, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        representations_of(Twice(), drawn(5), layer)


def test_representations_of_another_size_are_refused() -> None:
    with pytest.raises(ValueError, match=r"replaced must hold as many numbers .* got \(5, 4\)"):
        probabilities_of(ThreeLayers(), drawn(5), {"hidden": torch.zeros(5, 4)})


@pytest.mark.parametrize("k", [1, 2, 3, 4, 40])
def test_neighbors_vote(k: int) -> None:
    source = torch.Generator().manual_seed(k)
    known, asked = (torch.randn(n, 3, dtype=torch.float64, generator=source) for n in (40, 300))
    classes, right = (torch.randint(3, (n,), generator=source) for n in (40, 300))
    found = nearest_neighbor_error(known, classes, asked, right, k=k)
    wrong = [
        neighbor_class(known.numpy(), classes.tolist(), one, k) != target
        for one, target in zip(asked.numpy(), right.tolist(), strict=True)
    ]
    assert found == np.mean(wrong)


def test_examples_in_memory_are_their_own_nearest_neighbors() -> None:
    points, classes = F.one_hot(torch.arange(9)).float(), torch.arange(9) % 2
    assert nearest_neighbor_error(points, classes, points, classes, k=1) == 0.0
    assert nearest_neighbor_error(points, classes, points, 1 - classes, k=1) == 1.0


@pytest.mark.parametrize(
    "count, k, message",
    [
        (5, 0, "k must be 1…9, the examples in memory, got 0"),
        (5, 10, "k must be 1…9, .*got 10"),
        (0, 1, "representations must be at least one, got none"),
    ],
)
def test_neighbors_that_are_not_there_are_refused(count: int, k: int, message: str) -> None:
    memory, asked = torch.zeros(9, 2), torch.zeros(count, 2)
    with pytest.raises(ValueError, match=message):
        nearest_neighbor_error(memory, torch.arange(9), asked, torch.arange(count), k=k)
