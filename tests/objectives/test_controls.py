"""Label smoothing and cutout: by loops, and what they refuse."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from torch import Tensor, nn

from farfield.core import Problems, stream
from farfield.core.internal import TRAINING
from farfield.models.internal import ItemModel
from farfield.objectives import Bound, Cutout, LabelSmoothing
from oracles import learning_rules as oracle
from small import ThreeLayers, classified, cross_entropy, loss_of


def test_smoothed_labels_are_a_little_of_every_class() -> None:
    model, batch = ThreeLayers(), classified(1)
    parameters = {name: p.detach().numpy() for name, p in model.named_parameters()}
    logits = oracle.outputs(batch.sequences().numpy(), parameters)
    total = 0.0
    for row, answer in zip(logits, batch.target.tolist(), strict=True):
        for k in range(4):
            label = 0.3 / 4 + (0.7 if k == answer else 0.0)
            total += label * oracle.cross_entropy(row, k)
    found = loss_of(LabelSmoothing(smoothing=0.3), model, batch, cross_entropy, stream(0))
    assert found.item() == pytest.approx(total / 5, rel=1e-12)


def test_one_logit_has_two_classes() -> None:
    class Fixed(nn.Module):
        def forward(self, items: Tensor, index: Tensor) -> Tensor:
            return items[index[:, 0]]

    def loss(outputs: Tensor, problems: Problems) -> Tensor:
        target = problems.target[:, None].to(outputs)
        return nn.functional.binary_cross_entropy_with_logits(
            outputs, target, reduction="none"
        ).mean(1)

    logits = torch.tensor([[0.4], [-1.5]], dtype=torch.float64)
    batch = Problems(items=logits, index=torch.arange(2)[:, None], target=torch.tensor([1, 0]))
    found = loss_of(LabelSmoothing(smoothing=0.2), Fixed(), batch, loss, stream(0))
    total = 0.0
    for logit, yes in ((0.4, 0.9), (-1.5, 0.1)):
        p = 1 / (1 + np.exp(-logit))
        total -= yes * np.log(p) + (1 - yes) * np.log(1 - p)
    assert found.item() == pytest.approx(total / 2, rel=1e-12)


class Sees(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.seen = torch.zeros(0)

    def forward(self, items: Tensor, index: Tensor) -> Tensor:
        self.seen = items[index]
        return self.seen.flatten(1)[:, :4].double()


@pytest.mark.parametrize("shape", [(5, 7), (3, 5, 7)])
@pytest.mark.parametrize("size", [1, 4, 5])
@pytest.mark.parametrize("dtype", [torch.float64, torch.uint8])
def test_a_square_of_every_image_is_zero(shape, size: int, dtype: torch.dtype) -> None:
    batch = Problems(
        items=torch.randint(1, 9, (4, *shape)).to(dtype),
        index=torch.tensor([[0, 1], [1, 2], [3, 3]]),
        target=torch.tensor([0, 1, 2]),
    )
    model, rule = Sees(), Cutout(size=size)
    loss_of(rule, model, batch, cross_entropy, stream(4))
    centers = rule.draw({TRAINING: batch}, stream(4))["center"].tolist()
    expected = batch.sequences().clone()
    for b, t in np.ndindex(3, 2):
        row, column = centers[b][t]
        for i in range(row - size // 2, row - size // 2 + size):
            for j in range(column - size // 2, column - size // 2 + size):
                if 0 <= i < 5 and 0 <= j < 7:
                    expected[b, t, ..., i, j] = 0
    assert torch.equal(model.seen, expected)
    assert model.seen.dtype == dtype


def test_squares_are_zero_behind_a_layer_too() -> None:
    """A standardization in front: zero is its mean there, and not black."""
    images, target = torch.rand(4, 5, 7, dtype=torch.float64) + 1, torch.arange(4)
    batch = Problems(items=images, index=torch.arange(4)[:, None], target=target)
    front = nn.Sequential()
    model = ItemModel(nn.Flatten(), nn.Sequential(front))
    rule, seen = Cutout(size=3, layer="front"), []
    model.core.register_forward_pre_hook(lambda _, inputs: seen.append(inputs[0]))
    loss_of(rule, model, batch, cross_entropy, stream(4))
    rows = Sees()
    loss_of(Cutout(size=3), rows, batch, cross_entropy, stream(4))
    assert torch.equal(seen[0], rows.seen.squeeze(1))
    assert (seen[0] == 0).any()
    with pytest.raises(ValueError, match="layers must be layers of the network, got 'first'"):
        loss_of(Cutout(layer="first"), model, batch, cross_entropy, stream(4))


def test_centers_are_any_pixel() -> None:
    batch = Problems(
        items=torch.ones(1, 2, 3),
        index=torch.zeros(3000, 1, dtype=torch.int64),
        target=torch.zeros(3000, dtype=torch.int64),
    )
    centers = Cutout().draw({TRAINING: batch}, stream(0))["center"]
    counts = (3 * centers[..., 0] + centers[..., 1]).flatten().bincount()
    assert counts.shape == (6,)
    assert (counts - 500).abs().max() < 4 * np.sqrt(3000 * 5 / 36)


def test_what_does_not_fit_is_refused() -> None:
    with pytest.raises(ValueError, match=r"images of \(item, \*, height, width\), got \(6, 3\)"):
        loss_of(Cutout(), ThreeLayers(), classified(1), cross_entropy, stream(0))
    with pytest.raises(ValueError, match="size must be"):
        Cutout(size=0)
    with pytest.raises(ValueError, match="smoothing must be"):
        LabelSmoothing(smoothing=1.5)
    batch = classified(1)
    wrong = Problems(items=batch.items, index=batch.index, target=torch.rand(5))
    with pytest.raises(ValueError, match="targets must be classes"):
        LabelSmoothing().start(Bound(module=ThreeLayers()), {TRAINING: wrong}, stream(0))
