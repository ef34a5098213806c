"""Mixup: the loss of mixtures by loops, what is drawn, what stays."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from torch import nn

from farfield.core import Problems, stream
from farfield.core.internal import TRAINING
from farfield.objectives import Bound, Mixup, Update
from small import loss_of

BATCH, TIME, FEATURES, CLASSES = 6, 2, 3, 4


class Linear(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        source = torch.Generator().manual_seed(0)
        self.layer = nn.Linear(TIME * FEATURES, CLASSES, dtype=torch.float64)
        with torch.no_grad():
            for parameter in self.parameters():
                parameter.normal_(generator=source)

    def forward(self, items: torch.Tensor, index: torch.Tensor) -> torch.Tensor:
        return self.layer(items[index].flatten(1)).tanh()


def problems() -> Problems:
    source = torch.Generator().manual_seed(1)
    items = torch.randn(5, FEATURES, dtype=torch.float64, generator=source)
    index = torch.randint(5, (BATCH, TIME), generator=source)
    return Problems(items=items, index=index, target=torch.arange(BATCH) % CLASSES)


def loss(outputs: torch.Tensor, batch: Problems) -> torch.Tensor:
    return nn.functional.cross_entropy(outputs, batch.target, reduction="none")


def by_loops(model: Linear, batch: Problems, weight: float, partner: list[int]) -> float:
    """The mean of weighted losses, number by number."""
    w, b = (p.detach().numpy() for p in (model.layer.weight, model.layer.bias))
    x = batch.items.numpy()[batch.index.numpy()].reshape(BATCH, -1)
    total = 0.0
    for i, j in enumerate(partner):
        logits = np.empty(CLASSES)
        for k in range(CLASSES):
            number = b[k]
            for f in range(TIME * FEATURES):
                number += w[k, f] * (weight * x[i, f] + (1 - weight) * x[j, f])
            logits[k] = np.tanh(number)
        below = np.log(sum(np.exp(logit) for logit in logits))
        first, second = int(batch.target[i]), int(batch.target[j])
        total += weight * (below - logits[first]) + (1 - weight) * (below - logits[second])
    return total / BATCH


def test_the_loss_is_that_of_mixtures() -> None:
    model, batch = Linear(), problems()
    drawn = Mixup(alpha=2.0).draw({TRAINING: batch}, stream(3))
    found = loss_of(Mixup(alpha=2.0), model, batch, loss, stream(3)).item()
    expected = by_loops(model, batch, float(drawn["weight"]), drawn["partner"].tolist())
    assert found == pytest.approx(expected, rel=1e-12)


@pytest.mark.parametrize("weight", [0.0, 1.0])
def test_a_weight_of_0_or_1_is_plain_learning(weight: float) -> None:
    model, batch = Linear(), problems()
    partner = torch.arange(BATCH).roll(1)
    draws = {"weight": torch.tensor(weight, dtype=torch.float64), "partner": partner}
    update = Update(
        network=Bound(module=model), batches={TRAINING: batch}, task_loss=loss, draws=draws
    )
    plain = loss(model(batch.items, batch.index), batch).mean()
    torch.testing.assert_close(Mixup().loss(update)[0], plain, rtol=1e-12, atol=0)


def test_weights_are_drawn_from_beta_and_partners_are_a_permutation() -> None:
    batch = problems()
    draws = [Mixup(alpha=0.3).draw({TRAINING: batch}, stream(0, step)) for step in range(4000)]
    weights = np.array([float(draw["weight"]) for draw in draws])
    alpha = 0.3
    variance = 1 / (4 * (2 * alpha + 1))  # of Beta(α, α)
    assert abs(weights.mean() - 0.5) < 4 * np.sqrt(variance / len(weights))
    assert weights.var() == pytest.approx(variance, rel=0.05)
    assert all(sorted(draw["partner"].tolist()) == [*range(BATCH)] for draw in draws[:50])


def test_pixels_are_mixed_as_numbers_of_0_to_1() -> None:
    seen: list[torch.Tensor] = []

    class Sees(nn.Module):
        def forward(self, items: torch.Tensor, index: torch.Tensor) -> torch.Tensor:
            seen.append(items)
            return items[index].flatten(1)[:, :CLASSES]

    batch = problems()
    pixels = torch.full((5, FEATURES), 255, dtype=torch.uint8)
    white = Problems(items=pixels, index=batch.index, target=batch.target)
    loss_of(Mixup(), Sees(), white, loss, stream(0))
    torch.testing.assert_close(seen[0], torch.ones(BATCH * TIME, FEATURES))


@pytest.mark.parametrize("alpha", [0.0, -1.0, float("inf"), float("nan")])
def test_an_alpha_that_is_none_is_refused(unchecked: None, alpha: float) -> None:
    with pytest.raises(ValueError, match="alpha must be a finite number above 0, got"):
        Mixup(alpha=alpha)
