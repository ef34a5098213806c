"""Keys of a memory, and the overlap of the keys of two networks."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple, final

import torch
from jaxtyping import Float, Int
from torch import Tensor, nn

from farfield.core import Problems
from farfield.models import ESBN
from farfield.models.internal import Relational

FIRST = 3
"""Steps whose items are followed to their second appearance: the first row of an array."""


class Keys(NamedTuple):
    """Keys of a set of problems.

    Attributes:
        written: Keys written, step by step.
        recalled: Keys read where the items of the first steps are seen for the second time, in
            the order of their first appearance.
    """

    written: Float[Tensor, "batch time key"]
    recalled: Float[Tensor, "batch item key"]


def keys_of(network: nn.Module, problems: Problems, *, first: int = FIRST) -> Keys:
    """Return the keys that a trained network writes and recalls on a set of problems.

    Args:
        network: A `Relational` network with an `ESBN`, e.g. from `trained_network`.
        first: Number of steps whose items are followed to their second appearance.

    Raises:
        ValueError: If the network has no keys, or an item of the first steps does not come again.

    Reference:
        webb2021, appendix A.6.
    """
    if not isinstance(network, Relational) or not isinstance(network.reasoner, ESBN):
        raise ValueError(f"network must be a Relational one with an ESBN, got {network!r}")
    again = second_appearance(problems.index, first)
    with torch.inference_mode():
        keys = network.reasoner.keys(network.embed(problems.table(), problems.index))
    width = keys.read.shape[-1]
    return Keys(
        written=keys.written,
        recalled=keys.read.gather(1, again.unsqueeze(-1).expand(-1, -1, width)),
    )


def second_appearance(index: Int[Tensor, "batch time"], first: int) -> Int[Tensor, "batch item"]:
    """Find the position of the next appearance of each of the first items.

    Args:
        index: Item at each step.
        first: Number of first steps.

    Returns:
        For each of the first steps the nearest later step with the same item.

    Raises:
        ValueError: If there are fewer steps, or an item does not come again.
    """
    length = index.shape[1]
    if not 1 <= first < length:
        raise ValueError(f"first must be 1…{length - 1} of {length} steps, got {first}")
    same = index[:, :first, None] == index[:, None, :]
    later = torch.arange(length) > torch.arange(first).unsqueeze(1)
    again = same & later.to(same.device)
    if not again.any(-1).all():
        raise ValueError(f"each of the first {first} items must occur again later in the sequence")
    return again.int().argmax(-1)


@final
@dataclass(frozen=True, kw_only=True)
class KeyOverlap:
    """Measures of the overlap of a network's keys.

    With F first steps (whose items come again) and T steps in all:

    Args:
        spread: For each of the T steps, how far the keys written on the training set scatter
            around their mean (root mean square), in units of the root mean square distance
            between the means of the first F. 0 is a single point; at 1 the keys of a step lie as
            far from their mean as the means of the steps from each other.
        confused: Share of the keys written behind the first F steps, on the training set, that lie
            nearer to the mean of one of those steps than to the mean of any later step. 0 is
            no overlap.
        recognized: For each of the first F steps, share of the keys written on the test set that
            lie nearest to the training mean of the same step, among all T.
        recalled: For each of the first F steps, share of the keys recalled for its item on the
            test set that lie nearest to the training mean of the keys written at that step,
            among all T.
        written_shift: For each of the first F steps, how far the mean of the keys written on the
            test set lies from that on the training set, in the unit of the spread. 0 is no shift.
        recalled_shift: The same of the keys recalled.
        written_accuracy: For each of the first F steps, `nearest_centroid_accuracy` of the keys
            written on the training set against those written on the test set. 0.5 is complete
            overlap, however small the scale.
        recalled_accuracy: The same of the keys recalled.
    """

    spread: tuple[float, ...]
    confused: float
    recognized: tuple[float, ...]
    recalled: tuple[float, ...]
    written_shift: tuple[float, ...]
    recalled_shift: tuple[float, ...]
    written_accuracy: tuple[float, ...]
    recalled_accuracy: tuple[float, ...]


def key_overlap(training: Keys, test: Keys) -> KeyOverlap:
    """Measure how tight, how separate and how alike the keys of two sets of problems are.

    Args:
        training: Keys of problems that the network was trained on.
        test: Keys of others.

    Raises:
        ValueError: If the means of the first steps fall together, or a set has fewer than two
            problems.

    Reference:
        webb2021, appendix A.6 and figure 9, where this is described in words.
    """
    if min(len(training.written), len(test.written)) < 2:
        raise ValueError(
            "training and test must hold the keys of at least two problems, "
            f"got {len(training.written)} and {len(test.written)}"
        )
    first = training.recalled.shape[1]
    means = mean_keys(training.written)
    unit = torch.pdist(means[:first]).square().mean().sqrt()
    if not unit > 0:
        raise ValueError("training must hold keys that differ between the first steps")
    places = torch.arange(first, device=means.device)
    later = nearest(training.written[:, first:], means)
    early = [keys.written[:, :first] for keys in (training, test)]
    again = [keys.recalled for keys in (training, test)]
    return KeyOverlap(
        spread=_numbers(spread(training.written) / unit),
        confused=float((later < first).double().mean()),
        recognized=_numbers((nearest(early[1], means) == places).double().mean(0)),
        recalled=_numbers((nearest(again[1], means) == places).double().mean(0)),
        written_shift=_numbers(_shift(*early) / unit),
        recalled_shift=_numbers(_shift(*again) / unit),
        written_accuracy=_each_told_apart(*early),
        recalled_accuracy=_each_told_apart(*again),
    )


def mean_keys(keys: Float[Tensor, "batch ..."]) -> Float[Tensor, " *_"]:
    """Average over a set of problems in float64, exact where all keys are equal.

    Args:
        keys: Keys of a set of problems, one or more for each.
    """
    first = keys[0].double()
    return first + (keys.double() - first).mean(0)


def spread(keys: Float[Tensor, "batch time key"]) -> Float[Tensor, " time"]:
    """Compute the root mean square distance of the keys of each step from their mean.

    Args:
        keys: Keys of a set of problems.
    """
    centered = keys.double() - mean_keys(keys)
    return centered.square().sum(-1).mean(0).sqrt()


def nearest(
    keys: Float[Tensor, "batch time key"], means: Float[Tensor, "slot key"]
) -> Int[Tensor, "batch time"]:
    """Find the index of the mean nearest to each key.

    Args:
        keys: Keys of a set of problems.
        means: Keys to choose from, one for each step.
    """
    distances = (keys.double().unsqueeze(2) - means).square().sum(-1)
    return distances.argmin(-1)


def nearest_centroid_accuracy(
    first: Float[Tensor, "batch key"], second: Float[Tensor, "_ key"]
) -> float:
    """Measure the accuracy of assigning keys to one of two sets by the nearest mean.

    The means are those of one half of each set (every second key) and the keys judged those of the
    other half, then the reverse. Both sets count the same, however many keys they have; a key
    equally near to both counts one half. Sets of one distribution have 0.5; where the
    means differ by much more than the keys scatter it is 1. A difference in scatter alone is not
    seen.

    Args:
        first: Keys of one set.
        second: Keys of another.

    Raises:
        ValueError: If a set has fewer than two keys.
    """
    if min(len(first), len(second)) < 2:
        raise ValueError(
            f"first and second must hold at least two keys, got {len(first)} and {len(second)}"
        )
    sets = (first.double(), second.double())
    rights = []
    for known, judged in ((0, 1), (1, 0)):
        means = [mean_keys(keys[known::2]) for keys in sets]
        for own, keys in enumerate(sets):
            near, far = ((keys[judged::2] - means[side]).norm(dim=-1) for side in (own, 1 - own))
            rights.append(float(((near < far) + 0.5 * (near == far)).double().mean()))
    return sum(rights) / len(rights)


def _shift(first: Tensor, second: Tensor) -> Tensor:
    """Compute the distance of the means of two sets, step by step."""
    return (mean_keys(first) - mean_keys(second)).norm(dim=-1)


def _each_told_apart(first: Tensor, second: Tensor) -> tuple[float, ...]:
    """Compute `nearest_centroid_accuracy` for each step."""
    return tuple(
        nearest_centroid_accuracy(*pair)
        for pair in zip(first.unbind(1), second.unbind(1), strict=True)
    )


def _numbers(values: Tensor) -> tuple[float, ...]:
    return tuple(values.tolist())
