"""What scores rows of panels, encoder and plain RNN: loops, torch's modules, first parameters."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from torch import nn

from farfield.core import stream
from farfield.experiments import ScoringNetwork, Spec
from farfield.models import LSTMScorer
from farfield.models.internal import RNNScorer
from farfield.nn import ContextNorm, PanelEncoder
from farfield.tasks import VisualAnalogies
from made import assert_spread, drawn, generator, gradcheck, state_of, unsettled
from oracles import webb2020 as oracle


def images(*shape: int) -> torch.Tensor:
    return torch.randint(0, 256, shape, dtype=torch.uint8, generator=generator(4))


@pytest.mark.parametrize("shape", [(16, 16), (20, 33)])
def test_an_encoder_is_loops_over_single_numbers(shape: tuple[int, int]) -> None:
    encoder = unsettled(PanelEncoder(shape, generator=generator()))
    items = images(2, *shape)
    expected = [oracle.panel_encoder(item / 255, state_of(encoder)) for item in items.numpy()]
    found = encoder(items).detach()
    np.testing.assert_allclose(found, expected, rtol=1e-9, atol=1e-12)
    assert torch.equal(encoder(items.double() / 255).detach(), found)
    assert encoder.out_features == found.shape[1]


@pytest.mark.parametrize("time", [1, 2, 6])
def test_a_scorer_is_loops_and_what_torch_computes(time: int) -> None:
    scorer = unsettled(RNNScorer(5, hidden_size=7, generator=generator()))
    z = drawn(3, time, 5)
    expected = [[oracle.rnn_score(row, state_of(scorer))] for row in z.numpy()]
    np.testing.assert_allclose(scorer(z).detach(), expected, rtol=1e-9, atol=1e-12)
    theirs = nn.RNN(5, 7, batch_first=True, dtype=torch.float64)
    theirs.load_state_dict(
        {
            "weight_ih_l0": scorer.input.weight,
            "bias_ih_l0": scorer.input.bias,
            "weight_hh_l0": scorer.hidden.weight,
            "bias_hh_l0": scorer.hidden.bias,
        }
    )
    last = theirs(z)[1].squeeze(0)
    torch.testing.assert_close(scorer(z), scorer.output(last), rtol=1e-9, atol=1e-12)


def test_gradients_of_a_scorer() -> None:
    for time, hidden_size in ((2, 3), (4, 2)):
        scorer = unsettled(RNNScorer(4, hidden_size=hidden_size, generator=generator()))
        assert gradcheck(scorer, (drawn(2, time, 4).requires_grad_(),))


def test_sizes_and_first_parameters_are_those_of_the_paper() -> None:
    encoder, scorer = PanelEncoder(generator=generator()), RNNScorer(800, generator=generator())
    shapes = [tuple(layer.weight.shape) for layer in encoder.convolutions]
    assert shapes == [(32, 1, 3, 3)] + [(32, 32, 3, 3)] * 3
    assert encoder(images(1, 80, 80)).shape == (1, 800)
    for layer in encoder.convolutions:
        assert_spread(layer.weight, (2 / layer.weight[0].numel()) ** 0.5)
        assert not layer.bias.any()
    for layer in (scorer.input, scorer.hidden, scorer.output):
        assert_spread(layer.weight, (2 / sum(layer.weight.shape)) ** 0.5)
        assert not layer.bias.any()
    assert scorer.hidden.weight.shape == (64, 64)


def test_they_make_the_network_of_the_paper() -> None:
    task = VisualAnalogies(training_problems=4, test_problems=4)
    model = ScoringNetwork(scorer=Spec(RNNScorer), encoder=Spec(PanelEncoder))
    network = model.build(task, stream(0))
    assert isinstance(network.context, ContextNorm)
    assert network.context.segments == ((0, 1, 2), (3, 4, 5))
    assert network.encoder.out_features == network.context.num_features == 800
    problems = task.draw(stream(0))["familiar"]
    assert network(problems.table(), problems.index).shape == (4, 4)


@pytest.mark.usefixtures("unchecked")
def test_what_cannot_be_is_refused() -> None:
    for shape in ((80,), (0, 80), (80, 80, 3)):
        with pytest.raises(ValueError, match=r"item_shape.* must be "):
            PanelEncoder(shape)
    encoder, scorer = PanelEncoder((16, 8)), RNNScorer(5)
    for shape in ((2, 8, 16), (16, 8), (2, 1, 16, 8)):
        with pytest.raises(ValueError, match=r"items must be \(item, 16, 8\), got shape"):
            encoder(torch.zeros(shape))
    with pytest.raises(ValueError, match=r"items must be uint8.*torch.int64"):
        encoder(torch.zeros(2, 16, 8, dtype=torch.int64))
    with pytest.raises(ValueError, match=r"hidden_size must be an int 1….*, got 0"):
        RNNScorer(5, hidden_size=0)
    with pytest.raises(ValueError, match="in_features=5 features, got 4"):
        scorer(torch.zeros(2, 3, 4))
    with pytest.raises(ValueError, match="at least one step"):
        scorer(torch.zeros(2, 0, 5))
    assert LSTMScorer(5, 3)(torch.zeros(2, 3, 5)).shape == scorer(torch.zeros(2, 3, 5)).shape
