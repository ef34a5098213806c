"""Fixed buffers, as the matrix of a whitening: no rule keeps or copies any."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from torch import Tensor, nn
from torch.utils._python_dispatch import TorchDispatchMode

from farfield.core import Problems, stream
from farfield.core.internal import TRAINING
from farfield.functional.internal import PixelSpectrum
from farfield.nn import ZCA
from farfield.objectives import ICT, VAT, Bound, MeanTeacher, Update
from farfield.objectives._teachers import COUNT, TeacherRule
from small import cross_entropy

VALUES = 3 * 4 * 5
SPECTRUM = PixelSpectrum(
    mean=torch.zeros(VALUES).double(),
    values=torch.ones(VALUES).double(),
    vectors=torch.eye(VALUES).double(),
)
ITEMS = torch.from_numpy(np.random.default_rng(0).random((6, 3, 4, 5)))
INDEX = torch.arange(6)[:, None]
BATCHES = {TRAINING: Problems(items=ITEMS, index=INDEX, target=torch.arange(6) % 3)}


class Whitened(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.front = ZCA((0.5,) * 3, (0.3,) * 3, SPECTRUM, dtype=torch.float64)
        self.fixed = nn.Linear(VALUES, 7, dtype=torch.float64).requires_grad_(False)
        self.norm = nn.BatchNorm1d(7, dtype=torch.float64)
        self.last = nn.Linear(7, 3, dtype=torch.float64)

    def forward(self, items: Tensor, index: Tensor) -> Tensor:
        return self.last(self.norm(self.fixed(self.front(items).flatten(1))))[index[:, 0]]


class Clones(TorchDispatchMode):
    """Counts the numbers that are cloned."""

    numbers = 0

    def __torch_dispatch__(self, func, types, args=(), kwargs=None):
        if func is torch.ops.aten.clone.default:
            self.numbers += args[0].numel()
        return func(*args, **(kwargs or {}))


def update_of(rule, model: nn.Module, state: dict[str, Tensor]) -> Update:
    return Update(
        network=Bound(module=model),
        batches=BATCHES,
        task_loss=cross_entropy,
        draws=rule.draw(BATCHES, stream(1)),
        state=state,
        progress=1.0,
    )


LEARNED = 2 * 7 + 7 * 3 + 3
STATISTICS = 2 * 7 + 1


def test_the_buffers_that_a_call_may_change_are_those_of_the_normalization() -> None:
    names = ["norm.running_mean", "norm.running_var", "norm.num_batches_tracked"]
    assert Bound(module=Whitened()).mutable_buffers() == names
    assert Bound(module=Whitened().front).mutable_buffers() == []


@pytest.mark.parametrize("averages_buffers", [False, True])
@pytest.mark.parametrize("rule", [ICT, MeanTeacher])
def test_a_teacher_keeps_what_changes_alone(
    rule: type[TeacherRule], averages_buffers: bool
) -> None:
    made = rule(warmup=True, averages_buffers=averages_buffers)
    model = Whitened()
    state = made.start(Bound(module=model), BATCHES, stream(0))
    assert sum(t.numel() for n, t in state.items() if n != COUNT) == LEARNED + STATISTICS
    for _ in range(2):
        with Clones() as cloned:
            _, kept = made.loss(update_of(made, model, state))
        assert 0 < cloned.numbers <= 2 * STATISTICS + ITEMS.numel()
        assert kept.keys() == state.keys()
        learned = {n: p.detach() for n, p in model.named_parameters() if p.requires_grad}
        state = made.after(kept, learned, 1.0)
        assert made.scored(state).keys() == state.keys() - {COUNT}


def test_a_teacher_of_another_draw_has_the_fixed_parts_of_the_student() -> None:
    made, model = MeanTeacher(independent_teacher=True), Whitened()
    network = Bound(module=model, build=lambda _: Whitened())
    state = made.start(network, BATCHES, stream(0))
    assert not torch.equal(state["last.weight"], model.last.weight)
    assert {name.partition(".")[0] for name in state} == {"norm", "last"}


def test_vat_copies_statistics_alone() -> None:
    rule, model = VAT(layer="front", entropy=1.0), Whitened()
    with Clones() as cloned:
        rule.loss(update_of(rule, model, {}))
    calls = 1 + rule.iterations + 1
    assert STATISTICS * calls <= cloned.numbers < VALUES**2
