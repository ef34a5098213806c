"""Which mechanisms are active, and how phases differ: against loops."""

from __future__ import annotations

import pytest
import torch
from torch import Tensor

from farfield.analysis.internal import active_of, phase_difference
from farfield.core import Problems
from farfield.models.internal import SequenceModel
from farfield.nn import LinearEncoder, NormalizedGRU, RIMs
from made import generator


def some_active() -> Tensor:
    return torch.rand(3, 12, 4, generator=generator()) < 0.5


def test_the_difference_of_phases_is_counted_step_by_step() -> None:
    active = some_active()
    active[0, 5:9] = active[0, 1]
    found = phase_difference(active, slice(0, 4), slice(4, 11))
    differing = changing = steps = pairs = 0
    for sequence in active.tolist():
        for step in range(4, 11):
            steps += 1
            differing += sequence[step] not in sequence[0:4]
            if step > 4:
                pairs += 1
                changing += sequence[step] != sequence[step - 1]
    assert found.differing == pytest.approx(differing / steps)
    assert found.changing == pytest.approx(changing / pairs)
    assert 0 < differing < steps
    assert 0 < changing < pairs
    for often, phase in zip(found.by_mechanism, (range(4), range(4, 11)), strict=True):
        for mechanism, share in enumerate(often):
            own = [sequence[step][mechanism] for sequence in active.tolist() for step in phase]
            assert share == pytest.approx(sum(own) / len(own))


def test_phases_without_steps_are_refused() -> None:
    with pytest.raises(ValueError, match="at least one step"):
        phase_difference(some_active(), slice(0, 0), slice(4, 11))
    with pytest.raises(ValueError, match="at least two"):
        phase_difference(some_active(), slice(0, 4), slice(4, 5))


def model(core: torch.nn.Module) -> SequenceModel:
    encoder = LinearEncoder((4,), out_features=6, generator=generator())
    return SequenceModel(encoder, core, num_outputs=2, answers_everywhere=False)


def problems() -> Problems:
    index = torch.randint(5, (3, 7), generator=generator())
    items = torch.randn(5, 4, generator=generator())
    return Problems(items=items, index=index, target=torch.zeros(3))


def test_as_many_mechanisms_are_active_as_there_should_be_and_no_others_change() -> None:
    core = RIMs(6, 16, num_mechanisms=4, num_active=3, batch_first=True, generator=generator())
    network, shown = model(core), problems()
    active = active_of(network, shown)
    assert active.shape == (3, 7, 4)
    assert (active.sum(-1) == 3).all()
    states, _ = core(network.encode(shown.items)[shown.index])
    before = torch.cat((torch.zeros(3, 1, 16), states[:, :-1]), dim=1)
    changed = (states != before).unflatten(-1, (4, 4)).any(-1)
    assert torch.equal(changed, active)


def test_a_network_without_mechanisms_is_refused() -> None:
    with pytest.raises(ValueError, match="with RIMs"):
        active_of(model(NormalizedGRU(6, 5, batch_first=True)), problems())
