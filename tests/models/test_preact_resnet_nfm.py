"""Residual networks whose groups read one another: at first those without, traced, ablated."""

from __future__ import annotations

import copy
import itertools

import pytest
import torch

from each import some
from farfield.analysis import RandomAttention
from farfield.core import Problems, stream
from farfield.functional.internal import NFMRules
from farfield.models import PreActResNet, PreActResNetNFM
from farfield.models.internal import ItemModel
from made import generator, unsettled

SHAPE = (3, 8, 8)
IMAGES = torch.rand(5, *SHAPE, generator=generator(1))


def network(**options: object) -> PreActResNetNFM:
    return PreActResNetNFM(SHAPE, 4, width=2, generator=generator(), **options)


@pytest.mark.parametrize("size", some([(18, 1), (50, 2)], itertools.product((18, 34, 50), (1, 2))))
@pytest.mark.parametrize("training", [True, False])
def test_at_first_it_answers_as_the_network_without(size: tuple[int, int], training: bool) -> None:
    depth, passes = size
    reading = network(depth=depth, passes=passes).train(training)
    alone = PreActResNet(SHAPE, 4, depth=depth, width=2, generator=generator()).train(training)
    assert torch.equal(reading(IMAGES), alone(IMAGES))
    read = unsettled(reading)(IMAGES.double())
    assert not torch.allclose(read, reading.core.networks[-1](IMAGES.double()))


def test_five_entries_are_read_after_each_group() -> None:
    model = unsettled(network().double()).eval()
    reads = model.trace(IMAGES.double())
    assert [read.reader for read in reads] == [(2, f"group{n}") for n in (1, 2, 3, 4)]
    assert [len(read.written) for read in reads] == [5, 6, 7, 8]
    assert [read.attention.shape for read in reads] == [
        (5, side, side, 4, 1 + number) for side, number in ((8, 5), (4, 6), (2, 7), (1, 8))
    ]
    assert model.core.nfm.rules == NFMRules()


def test_attention_at_random_is_a_regime_of_the_trained_network() -> None:
    model = ItemModel(unsettled(network()).float()).eval()
    before = copy.deepcopy(model.state_dict())
    index = torch.arange(5).unsqueeze(1)
    change = RandomAttention(of="test")
    problems = Problems(items=IMAGES, index=index, target=torch.zeros(5))
    assert change(model, problems, torch.mean, stream(0)) is problems
    found = change.network(model, stream(3))(IMAGES, index)
    expected = model.core.core.randomized(IMAGES, generator=stream(3).child("core.core").torch())
    assert torch.equal(found, expected)
    assert not torch.allclose(found, model(IMAGES, index))
    assert all(torch.equal(before[at], tensor) for at, tensor in model.state_dict().items())
    plain = ItemModel(PreActResNet(SHAPE, 4, width=2, generator=generator()))
    with pytest.raises(ValueError, match=r"model must have a MultiPass, .*got ItemModel"):
        change.network(plain, stream(3))
