"""Pseudo-labels: the confident answers to weak views as labels of strong views."""

from __future__ import annotations

from typing import Final, NamedTuple

import torch
from torch import Tensor

SMALLEST: Final = 1e-12
"""Addend of a probability before its logarithm is taken."""


def pseudo_label_loss(weak: Tensor, strong: Tensor, threshold: Tensor | float) -> Tensor:
    r"""Compute the cross-entropy of strong views with the labels of weak views, where confident.

    $$\ell_b = [\max_k p_{bk} \ge \tau_{\hat y_b}]\,(-\log q_{b \hat y_b}), \qquad
      \hat y_b = \arg\max_k p_{bk}$$

    Args:
        weak: Probabilities $p$ of weak views, `(batch, class)`.
        strong: Logarithms of the probabilities $q$ of strong views, `(batch, class)`.
        threshold: Least probability, one for all classes or `(class,)`.
    """
    labels = weak.argmax(-1)
    accepted = are_accepted(weak, threshold)
    return -strong.gather(-1, labels[:, None]).squeeze(-1) * accepted


def are_accepted(weak: Tensor, threshold: Tensor | float) -> Tensor:
    """Mark the answers whose largest probability reaches the threshold of its class, `(batch,)`.

    Args:
        weak: Probabilities of weak views, `(batch, class)`.
        threshold: Least probability, one for all classes or `(class,)`.
    """
    largest, labels = weak.max(-1)
    own = threshold[labels] if isinstance(threshold, Tensor) else threshold
    return largest >= own


class ClassStatistics(NamedTuple):
    """Running statistics of answers to weak views.

    Args:
        confidence: Mean largest probability, `()`.
        probability: Mean probability of each class, `(class,)`.
        frequency: Fraction of the answers with each class as the most probable, `(class,)`.
    """

    confidence: Tensor
    probability: Tensor
    frequency: Tensor

    def thresholds(self) -> Tensor:
        """Compute the threshold of each class: lower for a class with lower probabilities."""
        return self.confidence * self.probability / self.probability.max()

    def updated(self, weak: Tensor, decay: float) -> ClassStatistics:
        """Average the statistics of a batch into them.

        Args:
            weak: Probabilities of weak views, `(batch, class)`.
            decay: Weight of the past.
        """
        new = (weak.amax(-1).mean(), weak.mean(0), frequencies(weak))
        means = (decay * old + (1 - decay) * one for old, one in zip(self, new, strict=True))
        return ClassStatistics(*means)


def frequencies(probabilities: Tensor, rows: Tensor | None = None) -> Tensor:
    """Compute the fraction of rows in which each class is the most probable.

    Args:
        probabilities: `(batch, class)`.
        rows: Weight of each row, `(batch,)`; `None` for equal weights.
    """
    classes = torch.arange(probabilities.shape[-1], device=probabilities.device)
    found = (probabilities.argmax(-1)[:, None] == classes).to(probabilities.dtype)
    return found.mean(0) if rows is None else _mean(found, rows)


def fairness(strong: Tensor, accepted: Tensor, statistics: ClassStatistics) -> Tensor:
    r"""Compute the negative cross-entropy between the class means of weak and of strong views.

    $$\sum_k \nu(\tilde p / \tilde h)_k \log \nu(\bar p / \bar h)_k, \qquad
      \nu(x)_k = x_k / \textstyle\sum_j x_j$$

    with $\tilde p$ and $\tilde h$ running means of the probabilities and of the histogram of weak
    views, and $\bar p$ and $\bar h$ those of the strong views of accepted rows. A class without
    answers has a quotient of 0. Without accepted rows the term is 0.

    Args:
        strong: Logarithms of the probabilities of strong views, `(batch, class)`.
        accepted: True for each row that counts, `(batch,)`.
        statistics: Running statistics of weak views.
    """
    rows, q = accepted.to(strong.dtype), strong.exp()
    target = _normed(_quotient(statistics.probability, statistics.frequency))
    own = _normed(_quotient(_mean(q, rows), frequencies(q.detach(), rows)))
    return (target * (own + SMALLEST).log()).sum() * rows.max()


def _mean(values: Tensor, rows: Tensor) -> Tensor:
    """Compute the weighted mean of rows; zero without any."""
    return (values * rows[:, None]).sum(0) / rows.sum().clamp(min=1)


def _quotient(numerator: Tensor, denominator: Tensor) -> Tensor:
    """Divide; a quotient by zero is zero."""
    return numerator * (denominator > 0) / denominator.where(denominator > 0, 1.0)


def _normed(values: Tensor) -> Tensor:
    """Divide by the sum, unless it is zero."""
    total = values.sum()
    return values / total.where(total > 0, 1.0)
