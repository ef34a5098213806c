"""What trained networks go on with, and what standing still would be."""

from __future__ import annotations

import pytest
import torch

from farfield.analysis.internal import copy_last_frame, rolled_out
from farfield.core import stream
from farfield.experiments import Spec
from farfield.experiments.internal import RollOutNetwork
from farfield.nn import LinearEncoder, LSTMLayer
from farfield.tasks import BouncingBalls

TASK = BouncingBalls(side=8, num_frames=7, given=3)
PROBLEMS = TASK.sample("balls-4", 5, stream(0, "test").numpy())


def network() -> torch.nn.Module:
    made = RollOutNetwork(
        core=Spec(LSTMLayer, hidden_size=4), encoder=Spec(LinearEncoder, out_features=5)
    )
    return made.build(TASK, stream(0, "weights")).eval()


def test_frames_after_those_given_are_what_is_scored() -> None:
    rolling, some = network(), PROBLEMS[1:4]
    found = rolled_out(rolling, some)
    assert found.shape == (3, 4, 64)
    whole = rolling(PROBLEMS.table(), PROBLEMS.index)[1:4].detach()
    torch.testing.assert_close(found, whole[:, 2:-1])
    rolled = TASK.roll_out_scores(found, some)["cross-entropy"].mean(1)
    torch.testing.assert_close(TASK.score(whole, some), rolled)


def test_who_does_not_roll_out_is_refused() -> None:
    for model in (network().train(), torch.nn.Linear(2, 2)):
        with pytest.raises(ValueError, match="network must be a RollOut in evaluation mode"):
            rolled_out(model, PROBLEMS)


def test_who_stands_still_is_as_far_off_as_the_balls_have_moved() -> None:
    still = copy_last_frame(PROBLEMS, 3)
    shown = PROBLEMS.sequences()
    assert torch.equal((still > 0).float().unflatten(-1, (8, 8)), shown[:, 2:3].expand(-1, 4, 8, 8))
    errors = TASK.roll_out_scores(still, PROBLEMS)["position error"].mean(0)
    assert 0 < float(errors[0]) < float(errors[-1])
