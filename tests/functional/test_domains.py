"""Losses over several domains and valleys of losses against loops, and arrays of the originals."""

from __future__ import annotations

from collections.abc import Callable
from itertools import combinations

import numpy as np
import pytest
import torch
from torch import Tensor
from torch.autograd import gradcheck
from torch.nn import functional as F

from farfield.functional.internal import (
    covariance_distance,
    group_weights,
    invariance_penalty,
    loss_valley,
    risk_variance,
    scale_slopes,
)
from golden import Golden, precisions
from made import drawn

GROUPS = [drawn(rows, 3, seed=rows) for rows in (4, 6, 5)]
RULES = ("irm", "irm_late", "vrex", "vrex_late", "groupdro", "coral")


# --- Loops ----------------------------------------------------------------------------------------


def test_weights_grow_with_the_loss() -> None:
    weights, losses = [0.2, 0.5, 0.3], [1.0, -2.0, 0.5]
    grown = [q * np.exp(0.7 * loss) for q, loss in zip(weights, losses, strict=True)]
    expected = [each / sum(grown) for each in grown]
    found = group_weights(torch.tensor(weights).double(), torch.tensor(losses).double(), 0.7)
    np.testing.assert_allclose(found, expected, rtol=1e-7)


def test_the_variance_is_over_the_number_of_groups() -> None:
    losses = [1.0, 4.0, 2.0]
    mean = sum(losses) / 3
    expected = sum((loss - mean) ** 2 for loss in losses) / 3
    assert risk_variance(torch.tensor(losses).double()).item() == pytest.approx(expected)


def test_a_slope_is_the_difference_of_losses_at_two_scales() -> None:
    outputs, target = drawn(5, 3, seed=0), torch.tensor([0, 2, 1, 1, 0])

    def loss(scaled: Tensor) -> Tensor:
        return F.cross_entropy(scaled, target, reduction="none")

    expected = (loss(outputs * (1 + 1e-6)) - loss(outputs * (1 - 1e-6))) / 2e-6
    np.testing.assert_allclose(scale_slopes(outputs, loss), expected, rtol=1e-8)


def test_the_penalty_is_the_product_of_two_halves() -> None:
    slopes = [1.0, 5.0, -4.0, 2.0, 0.5]
    expected = (1.0 - 4.0 + 0.5) / 3 * (5.0 + 2.0) / 2
    assert invariance_penalty(torch.tensor(slopes)).item() == pytest.approx(expected)
    assert expected < 0


@pytest.mark.parametrize("means", [False, True])
def test_covariances_are_compared_for_every_pair(means: bool) -> None:
    total = 0.0
    for first, second in combinations([group.numpy() for group in GROUPS], 2):
        for i in range(3):
            for j in range(3):
                own = [
                    sum((row[i] - g[:, i].mean()) * (row[j] - g[:, j].mean()) for row in g)
                    / (len(g) - 1)
                    for g in (first, second)
                ]
                total += (own[0] - own[1]) ** 2 / 9
            total += means * (first[:, i].mean() - second[:, i].mean()) ** 2 / 3
    found = covariance_distance(GROUPS, means=means)
    assert found.item() == pytest.approx(total / 3, rel=1e-9)


def test_gradients() -> None:
    groups = [group.clone().requires_grad_() for group in GROUPS]
    assert gradcheck(lambda *groups: covariance_distance(groups, means=True), groups)
    assert gradcheck(risk_variance, drawn(3, seed=1).requires_grad_())
    target = torch.tensor([0, 1, 1, 2])

    def penalty(outputs: Tensor) -> Tensor:
        slopes = scale_slopes(outputs, lambda z: F.cross_entropy(z, target, reduction="none"))
        return invariance_penalty(slopes)

    assert gradcheck(penalty, drawn(4, 3, seed=2).requires_grad_())


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: covariance_distance(GROUPS[:1]), r"groups must be two or more.*\[4\]"),
        (lambda: covariance_distance([GROUPS[0], GROUPS[1][:1]]), r"groups must .*\[4, 1\]"),
        (lambda: invariance_penalty(torch.ones(1)), "slopes must be of two problems or more"),
        (lambda: loss_valley([]), "losses must be those of one segment or more"),
    ],
)
def test_too_little_is_refused(call: Callable[[], object], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        call()


# --- Valleys --------------------------------------------------------------------------------------

FALLING = [5.0, 4.0, 3.0, 2.0, 1.0]


@pytest.mark.parametrize("released", [False, True])
def test_a_run_without_a_valley(released: bool) -> None:
    assert loss_valley(FALLING, released=released) == ([0, 0, 0, 0, 1] if released else [1] * 5)


def test_a_valley_ends_before_losses_that_all_exceed_its_threshold() -> None:
    losses = [9.0, 1.0, 1.1, 1.2, 1.3, 9.0, 9.0, 1.0, 9.0, 9.0, 9.0, 9.0]
    found = loss_valley(losses, converged=3, tolerated=3, ratio=0.3)  # threshold 1.43
    assert found == [0, 1, 1, 1, 1, 1, 1, 1, 0, 0, 0, 0]
    assert loss_valley(losses, converged=3, tolerated=5, ratio=0.3) == [0, *[1] * 11]


def test_the_released_valley_counts_its_start_twice() -> None:
    losses = [9.0, 2.0, 1.2, 1.0, 1.1, 1.2, 1.1, 1.0, 1.1, 1.2]
    found = loss_valley(losses, released=True)
    assert found == [0, 0, 0, 2, 1, 1, 1, 1, 1, 1]
    assert loss_valley(losses) == [0, 0, 0, 1, 1, 1, 1, 1, 1, 1]


def test_the_released_valley_forgets_its_start_if_few_losses_are_tolerated() -> None:
    losses = [9.0, 1.0, 1.1, 1.2, 1.1, 1.0]
    assert loss_valley(losses, tolerated=2, released=True)[1] == 0


# --- The originals --------------------------------------------------------------------------------


@precisions
@pytest.mark.parametrize("rule", RULES)
def test_updates_are_the_originals(
    golden: Callable[[str], dict[str, np.ndarray]], dtype: torch.dtype, rule: str
) -> None:
    case = Golden("rivals_domain_objectives", golden("rivals_domain_objectives"), dtype)
    names = [name.removeprefix("state.") for name in case if name.startswith("state.")]
    own = {name: case.tensor(f"state.{name}", requires_grad=True) for name in names}
    features, outputs, losses = [], [], []
    targets = [torch.tensor(case[f"in.y{domain}"]) for domain in range(3)]
    for domain, target in enumerate(targets):
        hidden = F.linear(
            case.tensor(f"in.x{domain}"), own["featurizer.0.weight"], own["featurizer.0.bias"]
        )
        features.append(hidden.tanh())
        outputs.append(F.linear(features[-1], own["classifier.weight"], own["classifier.bias"]))
        losses.append(F.cross_entropy(outputs[-1], target))
    mean, every = torch.stack(losses).mean(), torch.stack(losses)
    numbers = case.meta["hyper_parameters"]
    if rule == "groupdro":
        weights = group_weights(torch.ones(3, dtype=dtype), every, numbers["groupdro_eta"])
        case.check(weights, "groupdro_q1")
        loss = (weights * every).sum()
        case.check(loss, "groupdro_loss")
    elif rule == "coral":
        penalty = covariance_distance(features, means=True)
        case.check(penalty, "coral_penalty")
        case.check(mean, "coral_loss")
        loss = mean + numbers["mmd_gamma"] * penalty
    else:
        penalty = risk_variance(every)
        if "irm" in rule:
            of_rows = [
                scale_slopes(z, lambda z, y=y: F.cross_entropy(z, y, reduction="none"))
                for z, y in zip(outputs, targets, strict=True)
            ]
            penalty = torch.stack([invariance_penalty(slopes) for slopes in of_rows]).mean()
        case.check(penalty, f"{rule}_penalty")
        weight = numbers[f"{rule.partition('_')[0]}_lambda"] if "late" in rule else 1.0
        loss = mean + weight * penalty
        case.check(loss, f"{rule}_loss")
    for name, found in zip(names, torch.autograd.grad(loss, [*own.values()]), strict=True):
        case.check(found, f"{rule}_grad_{name}")


@precisions
def test_the_average_of_weights_is_the_originals(
    golden: Callable[[str], dict[str, np.ndarray]], dtype: torch.dtype
) -> None:
    case = Golden("rivals_swad", golden("rivals_swad"), dtype)
    numbers = case.meta["hyper_parameters"]
    counts = loss_valley(
        case["in.val_loss"].tolist(),
        converged=numbers["n_converge"],
        tolerated=numbers["n_tolerance"],
        ratio=numbers["tolerance_ratio"],
        released=True,
    )
    segments = case.tensor("in.weights").unflatten(0, (len(counts), -1)).mean(1)
    times = torch.tensor(counts, dtype=dtype)
    case.check(times @ segments / times.sum(), "final")
    assert sum(counts) == case["out.range"][2]
