"""The embeddings that an analogy scorer receives, and the values that they stand for."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple, final

import torch
from jaxtyping import Bool, Float
from torch import Tensor, nn

from farfield.analysis._learning import LinearFit, linear_fit
from farfield.analysis._projections import principal_components
from farfield.core import Problems
from farfield.core.internal import LazyItems
from farfield.models.internal import AnalogyScoring
from farfield.training.internal import encode_all


class Embeddings(NamedTuple):
    """Embeddings of the terms of problems, candidate by candidate.

    Attributes:
        points: The embeddings, in context.
        values: Latent values along every dimension, in a context of the same kind.
    """

    points: Float[Tensor, "batch candidate time feature"]
    values: Float[Tensor, "batch candidate time value"]


@final
@dataclass(frozen=True, kw_only=True)
class ComponentFit:
    """Linear fit of the first principal component to one latent dimension.

    Args:
        values: Along the dimension.
        heights: Along the component.
        fit: The straight line through both.
    """

    values: Float[Tensor, " batch"]
    heights: Float[Tensor, " batch"]
    fit: LinearFit


@final
@dataclass(frozen=True, kw_only=True)
class FirstComponent:
    """The first principal component of embeddings.

    Args:
        share: Its share of their variance.
        along: Fit to each dimension.
    """

    share: float
    along: tuple[ComponentFit, ...]


def embeddings_of(network: nn.Module, problems: Problems, context: nn.Module | None) -> Embeddings:
    """Compute the inputs of a trained network's scorer, with the latent values of the problems.

    The premises are there once for each candidate, as the scorer has them.

    Args:
        network: An `AnalogyScoring`, e.g. from `trained_network`, in evaluation mode.
        problems: Problems over items that are drawn from numbers, one for each dimension.
        context: Module that sets these numbers into context, as the network's context does the
            embeddings: a module of the same kind with as many features as there are dimensions,
            in evaluation mode. None leaves them unchanged.

    Raises:
        ValueError: If the network is another, or the items are not drawn from numbers.

    Reference:
        webb2020, supplement 5.
    """
    if not isinstance(network, AnalogyScoring):
        raise ValueError(f"network must be an AnalogyScoring, got {network!r}")
    if not isinstance(problems.items, LazyItems) or problems.items.latent.ndim != 2:
        raise ValueError("problems must have rendered items, each of a row of latent values")
    levels, nothing, shown = problems.items.latent.double(), nn.Identity(), problems.compact()
    plain = AnalogyScoring(nothing, context, nothing, num_candidates=network.num_candidates)
    with torch.inference_mode():
        return Embeddings(
            points=network.embed(encode_all(network, shown), shown.index),
            values=plain.embed(levels, problems.index),
        )


def first_component(
    embeddings: Embeddings, shown: Sequence[Bool[Tensor, " batch"]]
) -> FirstComponent:
    """Fit the first principal component of all embeddings to each dimension.

    Args:
        embeddings: Of problems of one regime.
        shown: For each dimension the problems that are looked at along it.

    Raises:
        ValueError: If there are not as many dimensions, or nothing varies along one of them.

    Reference:
        webb2020, supplement 5 and figures S3–S8.
    """
    points, values = embeddings
    if len(shown) != values.shape[-1]:
        raise ValueError(
            f"shown must hold one choice of problems for each of {values.shape[-1]} dimensions, "
            f"got {len(shown)}"
        )
    components = principal_components(points.flatten(0, 2), num_components=1)
    heights = components.project(points).squeeze(-1)
    return FirstComponent(
        share=float(components.shares[0]),
        along=tuple(
            _along(values[chosen][..., place].flatten(), heights[chosen].flatten())
            for place, chosen in enumerate(shown)
        ),
    )


def _along(values: Tensor, heights: Tensor) -> ComponentFit:
    return ComponentFit(values=values, heights=heights, fit=linear_fit(values, heights))
