"""The task's loss and the error of a memory that is to give back what was written."""

import pytest
import torch
from torch import nn

from farfield.core import Problems, stream
from farfield.experiments import Network, Spec
from farfield.models import LSTM, MNM
from farfield.models.internal import Relational
from farfield.nn import MLPEncoder
from farfield.objectives import Reconstructing, Supervised
from farfield.tasks import SameDifferent
from small import loss_of

TASK = SameDifferent(withheld=98, max_problems=12)
DRAW = stream(0, "objective")


def network(reasoner: Spec) -> nn.Module:
    built = Network(reasoner=reasoner, encoder=Spec(MLPEncoder, out_features=6))
    return built.build(TASK, stream(0, "weights")).double()


def problems() -> Problems:
    return TASK.draw(stream(0, "problems"))["training"].to("cpu", torch.float64)


def test_it_is_the_loss_and_the_weighted_error() -> None:
    model, batch = network(Spec(MNM, hidden_size=7, memory_size=5)), problems()
    assert isinstance(model, Relational)
    assert isinstance(model.reasoner, MNM)
    error = model.reasoner.answer_and_error(model.embed(batch.items, batch.index))[1].mean()
    plain = loss_of(Supervised(), model, batch, TASK.loss, DRAW)
    assert error > 1e-3
    for weight in (0.0, 1.0, 2.5):
        found = loss_of(Reconstructing(weight=weight), model, batch, TASK.loss, DRAW)
        torch.testing.assert_close(found, plain + weight * error, rtol=1e-12, atol=0)


def test_a_model_without_such_a_memory_is_refused() -> None:
    with pytest.raises(TypeError, match=r"reasoner must have .* as MNM has, got LSTM"):
        loss_of(Reconstructing(), network(Spec(LSTM, hidden_size=4)), problems(), TASK.loss, DRAW)
    with pytest.raises(TypeError, match="model must have a method answer_and_error, got Identity"):
        loss_of(Reconstructing(), nn.Identity(), problems(), TASK.loss, DRAW)


@pytest.mark.parametrize("weight", [-1.0, float("inf"), float("nan"), "1", True])
def test_a_weight_that_is_none_is_refused(unchecked: None, weight: float) -> None:
    message = f"weight must be a finite number of at least 0, got {weight!r}"
    with pytest.raises(ValueError, match=message):
        Reconstructing(weight=weight)
