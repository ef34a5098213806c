"""Valley of validation losses, whose weights are averaged (SWAD)."""

from __future__ import annotations

from collections.abc import Sequence


def loss_valley(
    losses: Sequence[float],
    *,
    converged: int = 3,
    tolerated: int = 6,
    ratio: float = 0.3,
    released: bool = False,
) -> list[int]:
    r"""Count how often each segment of a run enters the average of weights (SWAD).

    The valley starts at the first segment whose validation loss is the least of `converged` losses
    in a row. Its threshold is the mean of these, times $1 + r$. It ends before the first
    `tolerated` losses in a row that all exceed the threshold, or with the run. Each segment of the
    valley enters once. Without a start all segments enter.

    Args:
        losses: Validation loss at the end of each segment.
        converged: Number of losses whose first is to be their least.
        tolerated: Number of losses that have to exceed the threshold.
        ratio: Tolerance $r$.
        released: Whether to follow the released code: when the valley is found, those of the
            `tolerated - converged + 1` oldest of the last `tolerated` segments enter that stand
            after the last one above the threshold, except the first of them; afterwards
            the oldest of the last `tolerated` segments enters at every evaluation, beginning with
            the start, which so enters twice. Without a start the last segment enters.

    Raises:
        ValueError: If there are no losses.

    Reference:
        Cha et al. 2021, algorithm 1.
    """
    if not losses:
        raise ValueError("losses must be those of one segment or more, got none")
    last = range(converged, len(losses) + 1)
    found = [end - converged for end in last if _first_is_least(losses[end - converged : end])]
    counts = [0] * len(losses)
    if not found:
        return [*counts[1:], 1] if released else [1] * len(losses)
    start = found[0]
    threshold = sum(losses[start : start + converged]) / converged * (1 + ratio)
    if released:
        return _released_counts(losses, start, threshold, converged, tolerated)
    ends = range(start + tolerated, len(losses) + 1)
    over = [end - tolerated for end in ends if min(losses[end - tolerated : end]) > threshold]
    for segment in range(start, over[0] if over else len(losses)):
        counts[segment] = 1
    return counts


def _first_is_least(losses: Sequence[float]) -> bool:
    return losses[0] == min(losses)


def _released_counts(
    losses: Sequence[float], start: int, threshold: float, converged: int, tolerated: int
) -> list[int]:
    """Count how often each segment enters the average in the released code of SWAD."""
    counts = [0] * len(losses)
    now = start + converged  # segments seen when the valley is found
    entering: list[int] = []
    if tolerated < converged:
        entering = [start + 1 + number for number in range(converged - tolerated)]
    elif tolerated > converged:
        oldest = [*range(max(0, now - tolerated), now)][: tolerated - converged + 1]
        over = [number for number, segment in enumerate(oldest) if losses[segment] > threshold]
        entering = oldest[(over[-1] + 1 if over else 0) + 1 :]
    for seen in range(now + 1, len(losses) + 1):
        first = max(0, seen - tolerated)
        if first < start:
            continue
        if min(losses[first:seen]) > threshold:
            break
        entering.append(first)
    else:
        left = [*range(max(0, len(losses) - tolerated), len(losses))][1:]
        while left and min(losses[segment] for segment in left) <= threshold:
            entering.append(left.pop(0))
    for segment in entering or [start]:
        counts[segment] += 1
    return counts
