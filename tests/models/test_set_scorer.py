"""The scorer of sets: its terms by loops over levels, and what it cannot tell apart."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
import torch
from torch import nn

from farfield.models import SetScorer
from made import generator, unsettled

SIZES = (4, 3)
LINES = {"rows": [(0, 1, 2), (3, 4, 5), (6, 7, 8)], "columns": [(0, 3, 6), (1, 4, 7), (2, 5, 8)]}


def made() -> SetScorer:
    scorer = SetScorer(7, set_sizes=SIZES, hidden_size=6, line_size=3, generator=generator())
    return unsettled(scorer)


def memberships(*shape: int, seed: int = 1) -> torch.Tensor:
    return torch.rand(*shape, generator=generator(seed)).double()


def through(network: nn.Module, inputs: list[float]) -> np.ndarray:
    first, _, last = (
        [value.detach().numpy() for value in layer.parameters()] for layer in network.children()
    )
    hidden = np.maximum(first[0] @ np.array(inputs) + first[1], 0)
    return last[0] @ hidden + last[1]


def patterns(line: list[np.ndarray]) -> list[float]:
    """Of the levels in any panel, the share in each choice of panels and in no other."""
    anywhere = sum(max(levels) for levels in zip(*line, strict=True))
    shares = []
    for inside in itertools.product((False, True), repeat=3):
        share = 0.0
        for levels in zip(*line, strict=True):
            share += np.prod([m if i else 1 - m for m, i in zip(levels, inside, strict=True)])
        shares.append(share / anywhere)
    return shares[1:]


def statistics(panels: np.ndarray) -> np.ndarray:
    """Of each panel how many levels, their mean, the last and the first, over all normalized."""
    rows = []
    for panel in panels:
        places = [place / len(panel) for place in range(len(panel))]
        mean = sum(m * p for m, p in zip(panel, places, strict=True)) / max(sum(panel), 1e-3)
        last = max(m * (1 + p) for m, p in zip(panel, places, strict=True))
        first = max(m * (2 - p) for m, p in zip(panel, places, strict=True))
        rows.append([sum(panel), mean, last, first])
    found = np.array(rows)
    return (found - found.mean(0)) / np.sqrt(found.var(0) + 1e-4)


def overlap(one: np.ndarray, other: np.ndarray) -> float:
    both = sum(one * other)
    return both / max(sum(one**2) + sum(other**2) - both, 1e-3)


def score(scorer: SetScorer, panels: np.ndarray) -> float:
    total, start = 0.0, 0
    for size, line, judge in zip(SIZES, scorer.lines, scorer.scores, strict=True):
        levels = panels[:, start : start + size]
        start += size
        numbers = statistics(levels)
        for places in LINES.values():
            inputs: list[float] = []
            for one in places:
                said = [*patterns([levels[p] for p in one]), *numbers[list(one)].flatten()]
                inputs.extend(np.maximum(through(line, said), 0))
            for first, second in itertools.combinations(places, 2):
                shared = np.array([[overlap(levels[a], levels[b]) for b in second] for a in first])
                inputs.extend((shared.max(1).mean(), shared.max(0).mean()))
            total += through(judge, inputs)[0]
    return total


def test_scores_are_those_of_loops_over_levels() -> None:
    scorer, z = made(), memberships(5, 9, 7)
    z[0, 2:4, :4] = 0
    expected = [[score(scorer, panels)] for panels in z.numpy()]
    np.testing.assert_allclose(scorer(z).detach(), expected, rtol=1e-9, atol=1e-10)


def test_a_shift_of_all_levels_changes_no_score() -> None:
    scorer = SetScorer(20, set_sizes=(20,), generator=generator()).double()
    low = torch.zeros(3, 9, 20).double()
    low[:, :, :8] = (memberships(3, 9, 8) > 0.5).double()
    low[:, :, 0] = 1
    torch.testing.assert_close(scorer(low.roll(9, dims=2)), scorer(low), rtol=1e-9, atol=1e-9)


def test_panels_without_levels_are_scored_and_learned_from() -> None:
    scorer, z = made(), torch.zeros(2, 9, 7).double().requires_grad_()
    scores = scorer(z)
    scores.sum().backward()
    assert scores.isfinite().all()
    assert z.grad is not None
    assert z.grad.isfinite().all()


@pytest.mark.usefixtures("unchecked")
def test_sets_add_up_to_an_embedding() -> None:
    with pytest.raises(ValueError, match=r"set_sizes must add up to in_features=7, got \(4, 4\)"):
        SetScorer(7, set_sizes=(4, 4))
    with pytest.raises(ValueError, match="length must be 9"):
        SetScorer(7, 8, set_sizes=SIZES)
