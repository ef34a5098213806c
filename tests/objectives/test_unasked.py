"""Answers that are not asked for, since they only fill up a row, change no loss."""

from __future__ import annotations

import pytest
import torch
from torch import Tensor, nn
from torch.nn import functional as F

from farfield.core import Problems, stream
from farfield.core.internal import TRAINING, UNASKED
from farfield.objectives import (
    ICT,
    VAT,
    Bound,
    LabelSmoothing,
    MeanTeacher,
    Mixup,
    Objective,
    PiModel,
    Supervised,
    Update,
)

TIME, CLASSES, FILLED = 6, 4, 2
RULES = {
    "supervised": Supervised(),
    "label-smoothing": LabelSmoothing(smoothing=0.3),
    "mixup": Mixup(alpha=0.5),
    "mean-teacher": MeanTeacher(decay=0.5),
    "pi-model": PiModel(noise=0.5, ramp=0.0),
    "vat": VAT(entropy=0.5, radius=1.0, step=1.0),
    "ict": ICT(ramp=0.0),
    "ict-mixing-logits": ICT(ramp=0.0, mixes_logits=True, supervised_mixup=False),
}


class Reader(nn.Module):
    """Logits at each time step from its item alone, and an offset for each answer's time step."""

    def __init__(self) -> None:
        super().__init__()
        self.output = nn.Linear(3, CLASSES, dtype=torch.float64)
        self.offset = nn.Parameter(torch.randn(TIME, CLASSES, dtype=torch.float64))

    def forward(self, items: Tensor, index: Tensor) -> Tensor:
        return self.output(items)[index] + self.offset[: index.shape[1]]


def loss_of_rows(outputs: Tensor, problems: Problems) -> Tensor:
    """Mean over the answers of each row that are asked for."""
    losses = F.cross_entropy(
        outputs.flatten(0, 1), problems.target.flatten(), ignore_index=UNASKED, reduction="none"
    )
    return losses.view(problems.target.shape).sum(1) / problems.asked.sum(1)


def rows(filled: int) -> Problems:
    """Rows of which the last answers are filled up."""
    source = torch.Generator().manual_seed(0)
    items = torch.randn(5 * TIME, 3, dtype=torch.float64, generator=source)
    target = torch.randint(CLASSES, (5, TIME), generator=source)
    target[:, TIME - filled :] = UNASKED
    return Problems(items=items, index=torch.arange(5 * TIME).view(5, TIME), target=target)


def loss_of(rule: Objective, model: nn.Module, problems: Problems) -> Tensor:
    batches, network = {TRAINING: problems}, Bound(module=model, build=Reader)
    update = Update(
        network=network,
        batches=batches,
        task_loss=loss_of_rows,
        draws=rule.draw(batches, stream(0)),
        state=rule.start(network, batches, stream(0)),
        progress=0.5,
    )
    return rule.loss(update)[0]


@pytest.mark.parametrize("name", RULES)
def test_outputs_that_fill_up_a_row_have_no_gradient(name: str) -> None:
    torch.manual_seed(0)
    model = Reader()
    loss_of(RULES[name], model, rows(FILLED)).backward()
    gradient = model.offset.grad
    assert torch.equal(gradient[-FILLED:], torch.zeros(FILLED, CLASSES))
    assert (gradient[:-FILLED] != 0).any(1).all()


@pytest.mark.parametrize("name", ["supervised", "label-smoothing", "mean-teacher", "ict"])
def test_filled_up_rows_have_the_loss_of_short_ones(name: str) -> None:
    """Where no number is drawn for a time step, which would be another in a shorter row."""
    torch.manual_seed(0)
    model, filled = Reader(), rows(FILLED)
    short = Problems(
        items=filled.items, index=filled.index[:, :-FILLED], target=filled.target[:, :-FILLED]
    )
    losses = [loss_of(RULES[name], model, problems) for problems in (filled, short)]
    torch.testing.assert_close(*losses, rtol=1e-12, atol=0)
