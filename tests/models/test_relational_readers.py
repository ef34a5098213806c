"""The Abstractor and relational convolution as reasoners, against loops."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from farfield.models import AbstractorNet, RelConvNet
from made import drawn, generator, state_of, unsettled
from oracles import relational_readers as oracle

FEATURES, OUTPUTS = 6, 3


def abstractor(**options: int) -> AbstractorNet:
    sizes = {"num_symbols": 4, "feedforward_size": 5, "hidden_size": 7} | options
    return unsettled(AbstractorNet(FEATURES, OUTPUTS, **sizes, generator=generator()))


def relational_convolution(**options: int) -> RelConvNet:
    sizes = {"num_groups": 3, "num_relations": 2, "num_filters": 4, "hidden_size": 7} | options
    return unsettled(RelConvNet(FEATURES, OUTPUTS, **sizes, generator=generator()))


@pytest.mark.parametrize("layers, heads", [(1, 2), (2, 3)])
@pytest.mark.parametrize("length", [1, 4])
def test_equations_of_the_abstractor(length: int, layers: int, heads: int) -> None:
    model = abstractor(num_layers=layers, num_heads=heads)
    z = drawn(2, length, FEATURES)
    expected = [oracle.abstractor_net(row, state_of(model), layers, heads) for row in z.numpy()]
    np.testing.assert_allclose(model(z).detach(), expected, rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("size", [2, 3])
@pytest.mark.parametrize("length", [1, 4])
def test_equations_of_relational_convolution(length: int, size: int) -> None:
    model, z = relational_convolution(group_size=size), drawn(2, length, FEATURES)
    expected = [oracle.relconv_net(row, state_of(model), size, 2) for row in z.numpy()]
    np.testing.assert_allclose(model(z).detach(), expected, rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("build", [abstractor, relational_convolution])
def test_the_order_of_objects_means_nothing(build) -> None:
    model, z = build(), drawn(3, 4, FEATURES)
    torch.testing.assert_close(model(z.flip(1)), model(z), rtol=1e-9, atol=1e-12)
    assert not torch.allclose(model(z.flip(2)), model(z))


def test_what_cannot_be_is_refused(unchecked) -> None:
    with pytest.raises(ValueError, match="num_heads must divide num_features=6, got 4"):
        AbstractorNet(FEATURES, OUTPUTS, num_heads=4)
    for cls, name in ((AbstractorNet, "num_symbols"), (RelConvNet, "num_groups")):
        with pytest.raises(ValueError, match=rf"{name} must be an int 1….*, got 0"):
            cls(FEATURES, OUTPUTS, **{name: 0})
    for build in (abstractor, relational_convolution):
        with pytest.raises(ValueError, match="in_features=6 features, got 5"):
            build()(drawn(2, 4, 5))
