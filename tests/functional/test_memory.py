"""What the memory retrieves: weights of what is written, confidence in the match."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from farfield.functional.internal import content_scores, content_weights, read_confidence
from oracles import webb2021 as oracle


def drawn(*shape: int, seed: int = 0) -> torch.Tensor:
    generator = torch.Generator().manual_seed(seed)
    return torch.randn(*shape, dtype=torch.float64, generator=generator)


@pytest.mark.parametrize("default", [None, drawn(3, seed=5)], ids=["empty", "default"])
def test_equations(default: torch.Tensor | None) -> None:
    z = drawn(2, 5, 3)
    scores = content_scores(z, default)
    weights = content_weights(scores)
    confidence = read_confidence(scores, weights, torch.tensor([-2.0]), torch.tensor([0.3]))
    for n, problem in enumerate(z.numpy()):
        memory = [] if default is None else [default.numpy()]
        for t in range(1, 5):
            memory.append(problem[t - 1])
            s = [oracle.dot(value, problem[t]) for value in memory]
            w = oracle.softmax(s)
            c = sum(a * oracle.sigmoid(-2.0 * b + 0.3) for a, b in zip(w, s, strict=True))
            np.testing.assert_allclose(scores[n, t - 1, : len(s)], s, rtol=1e-10)
            np.testing.assert_allclose(weights[n, t - 1, : len(w)], w, rtol=1e-10)
            assert (weights[n, t - 1, len(w) :] == 0).all()
            np.testing.assert_allclose(confidence[n, t - 1], c, rtol=1e-6)


def test_weights_hold_for_any_leading_axes() -> None:
    z = drawn(2, 3, 4, 5)
    weights = content_weights(content_scores(z))
    alone = torch.stack([content_weights(content_scores(problem)) for problem in z.flatten(0, 1)])
    torch.testing.assert_close(weights.flatten(0, 1), alone, rtol=1e-12, atol=0)
    torch.testing.assert_close(weights.sum(-1), torch.ones(2, 3, 3, dtype=torch.float64))


def test_one_place_reads_nothing() -> None:
    assert content_weights(content_scores(drawn(2, 1, 5))).shape == (2, 0, 0)


def test_a_gain_of_zero_and_large_scores_stay_finite() -> None:
    scores = content_scores(drawn(1, 4, 3) * 1e3).requires_grad_()
    weights = content_weights(scores)
    out = read_confidence(scores, weights, torch.zeros(1), torch.zeros(1))
    torch.testing.assert_close(out, torch.full((1, 3), 0.5, dtype=torch.float64))
    (gradient,) = torch.autograd.grad(out.sum(), scores)
    assert gradient.isfinite().all()


def test_fewer_slots_than_reads_are_refused() -> None:
    with pytest.raises(ValueError, match="at least one slot per read, got 2 for 3 reads"):
        content_weights(drawn(1, 3, 2))
