"""Implicit quantiles with noisy, dueling streams, beside a loop over numbers."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from farfield.models import QuantileAgent
from farfield.nn import LinearEncoder, PlanesEncoder, PlanesNFMEncoder, QuantileHead
from farfield.nn.internal import NoisyLinear
from made import drawn, generator, state_of, unsettled
from oracles import control as oracle


def head() -> QuantileHead:
    return unsettled(QuantileHead(5, 3, hidden_size=4, num_cosines=6, generator=generator()))


def test_quantiles_are_those_of_each_number() -> None:
    layer, z = head(), drawn(4, 5)
    fractions = torch.rand(4, 2, dtype=torch.float64, generator=generator())
    noise = drawn(4, layer.noise_size, seed=1)
    found, state = layer(z, fractions, noise).detach().numpy(), state_of(layer)
    for row, place in np.ndindex(4, 2):
        expected = oracle.quantiles(
            z[row].numpy(), fractions[row, place].item(), state, noise[row].numpy()
        )
        np.testing.assert_allclose(found[row, place], expected, rtol=1e-9)


def test_without_noise_weights_are_their_means() -> None:
    layer, z, fractions = head(), drawn(4, 5), torch.full((4, 1), 0.3).double()
    without = layer(z, fractions)
    silent = layer(z, fractions, torch.zeros(4, layer.noise_size))
    torch.testing.assert_close(without, silent)


def test_noise_begins_at_its_scale() -> None:
    layer = NoisyLinear(16, 3, noise_scale=0.4, generator=generator())
    assert layer.noise_size == 19
    for part in (layer.weight_scale, layer.bias_scale):
        assert part.unique().item() == pytest.approx(0.1)
    with pytest.raises(ValueError, match="noise_scale must be"):
        NoisyLinear(16, 3, noise_scale=-1.0)


def test_an_encoder_with_modules_is_at_first_the_encoder_without() -> None:
    seen = torch.randint(256, (4, 19, 7, 7), dtype=torch.uint8, generator=generator())
    plain = PlanesEncoder(generator=generator(3)).eval()
    encoder = PlanesNFMEncoder(generator=generator(3)).eval()
    assert torch.equal(encoder(seen), plain(seen))
    with torch.no_grad():
        for layer in encoder.core.nfm.layers[3:]:
            layer.gamma.fill_(0.5)
    assert not torch.equal(encoder(seen), plain(seen))
    (last,) = [read for read in encoder.trace(seen) if read.reader == (2, "layers.2")]
    assert len(last.written) == 6
    assert (last.attention > 0).sum(-1).max() <= 4


def test_bytes_are_fractions_for_an_agent_too() -> None:
    encoder = LinearEncoder((2, 3), out_features=5, generator=generator())
    agent, fractions = QuantileAgent(encoder, head()).double(), torch.rand(1, 4)
    full = torch.full((1, 2, 3), 255, dtype=torch.uint8)
    assert agent.noise_size == agent.head.noise_size
    assert torch.equal(agent(full, fractions), agent(torch.ones(1, 2, 3).double(), fractions))
