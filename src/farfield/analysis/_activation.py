"""Activity of the mechanisms of RIMs step by step, and its change between phases."""

from __future__ import annotations

from dataclasses import dataclass
from typing import final

import torch
from jaxtyping import Bool
from torch import Tensor, nn
from torch.nn import functional as F

from farfield.core import Problems
from farfield.models import SequenceModel
from farfield.nn import RIMs


@final
@dataclass(frozen=True, kw_only=True)
class PhaseDifference:
    """Difference of the active sets of two phases of a sequence, averaged over sequences.

    Args:
        differing: Share of the steps of the second phase whose active set occurs at no step of the
            first.
        changing: Share of the steps of the second phase, from its second on, whose active set is
            not that of the step before.
        by_mechanism: How often each mechanism is active in the first phase, and in the second.
    """

    differing: float
    changing: float
    by_mechanism: tuple[tuple[float, ...], tuple[float, ...]]


def active_of(network: nn.Module, problems: Problems) -> Bool[Tensor, "batch time mechanism"]:
    """Activity of each mechanism of the last layer of a trained network, step by step.

    Args:
        network: A `SequenceModel` with `RIMs`, e.g. from `trained_network`.
        problems: What it is shown.

    Raises:
        ValueError: If the network has no mechanisms.

    Reference:
        lamb2022, Figure 2.
    """
    if not isinstance(network, SequenceModel) or not isinstance(network.core, RIMs):
        raise ValueError(f"network must be a SequenceModel with RIMs, got {network!r}")
    with torch.inference_mode():
        embedded = F.embedding(problems.index, network.encode(problems.table()))
        active: Tensor = network.core.trace(embedded)[-1].active
    return active.transpose(0, 1).bool()


def phase_difference(
    active: Bool[Tensor, "batch time mechanism"], first: slice, second: slice
) -> PhaseDifference:
    """Compare the active sets of two phases.

    Args:
        active: Which mechanisms are active at which step.
        first: Steps of the first phase.
        second: Steps of the second phase.

    Raises:
        ValueError: If a phase has no step, or the second only one.
    """
    early, late = active[:, first], active[:, second]
    if early.shape[1] < 1 or late.shape[1] < 2:
        raise ValueError(
            "first must have at least one step and second at least two, "
            f"got {early.shape[1]} and {late.shape[1]}"
        )
    same = (late[:, :, None] == early[:, None]).all(-1).any(-1)
    changed = (late[:, 1:] != late[:, :-1]).any(-1)
    often = [tuple(part.double().mean((0, 1)).tolist()) for part in (early, late)]
    return PhaseDifference(
        differing=1 - float(same.double().mean()),
        changing=float(changed.double().mean()),
        by_mechanism=(often[0], often[1]),
    )
