"""Statistics of activations: dependence, spectra by class, scales of normalizers."""

from __future__ import annotations

from contextlib import ExitStack
from dataclasses import dataclass
from typing import Any, Final, NamedTuple, final

import torch
from jaxtyping import Bool, Float, Int, Int64
from torch import Tensor, nn
from torch.nn import functional as F

from farfield.analysis._representations import chunks, layer_outputs
from farfield.core import Problems, Stream
from farfield.functional import divisive_norm_2d
from farfield.models.internal import SequenceModel
from farfield.nn import RIMs

BINS: Final = 24
"""Bins of the values of a unit."""


class Dependence(NamedTuple):
    """Dependence of two units, means over all pairs.

    Attributes:
        correlation: Mean absolute correlation coefficient; 0 for a unit that is constant.
        information: Mean mutual information, nats.
    """

    correlation: float
    information: float


def map_responses(
    network: nn.Module, problems: Problems, layer: str, samples: int, stream: Stream
) -> Float[Tensor, "batch feature"]:
    """Record responses of all channels of a layer at positions drawn from its maps, a row for each.

    Args:
        network: A trained network, in evaluation mode.
        layer: Name of a layer that gives maps, as in `network.named_modules()`.
        samples: Number of positions, drawn without repetition from those of all problems.
        stream: Source of the positions.

    Raises:
        ValueError: If the network has no such layer or does not call it once, or the layer gives no
            maps, or fewer positions.

    Reference:
        ren2017, figure 5.
    """
    maps = torch.cat([output for _, output in layer_outputs(network, problems, layer)])
    if maps.ndim != 4:
        raise ValueError(
            f"layer must give maps (batch, channel, height, width), got {tuple(maps.shape)} "
            f"from {layer!r}"
        )
    responses = maps.movedim(1, -1).flatten(0, 2)
    if not 0 < samples <= len(responses):
        raise ValueError(
            f"samples must be at least 1 and at most {len(responses)}, the positions of "
            f"{len(problems)} problems, got {samples}"
        )
    rows = stream.numpy().choice(len(responses), samples, replace=False)
    return responses[torch.from_numpy(rows)]


def dependence(responses: Float[Tensor, "batch feature"], *, bins: int = BINS) -> Dependence:
    """Average absolute correlation and mutual information of all pairs of units.

    Args:
        responses: A row for each sample, a column for each unit.
        bins: Bins of the values of a unit, as in `mutual_information`.

    Raises:
        ValueError: If there are fewer than two units, or fewer samples than pairs of bins.

    Reference:
        ren2017, figure 5, where Corr and MI stand without an equation.
    """
    units = responses.shape[1]
    if units < 2:
        raise ValueError(f"responses must be of at least two units, got {units}")
    codes = _quantiles(responses, bins)
    first, second = torch.triu_indices(units, units, 1)
    constant = responses.amax(0) == responses.amin(0)
    correlations = torch.corrcoef(responses.double().T)[first, second]
    correlations = correlations.masked_fill(constant[first] | constant[second], 0)
    information = _information(codes[:, first], codes[:, second], bins)
    return Dependence(float(correlations.abs().mean()), float(information.mean()))


def mutual_information(
    first: Float[Tensor, " batch"], second: Float[Tensor, " batch"], *, bins: int = BINS
) -> float:
    r"""Estimate the mutual information of two variables, nats, from their joint histogram.

    $$\hat I = \sum_{ij} \frac{n_{ij}}{n} \ln \frac{n \, n_{ij}}{n_i n_j}
      - \frac{m - m_1 - m_2 + 1}{2n}$$

    with $n_{ij}$ the number of samples in bin $i$ of the first and $j$ of the second. Each
    variable has $b$ bins of as many samples each, so that the estimate is that of any increasing
    functions of them. Equal values share the bin of the middle of their ranks. The second term,
    with $m$ pairs of bins that have samples, and $m_1$ and $m_2$ such bins of each variable, takes
    off most of the bias of finite samples. The rest is too small where two variables differ
    by less than a bin: by 4 % at 0.83 nats, two Gaussians of correlation 0.9, and no more than
    $\ln b$ can be found.

    Args:
        first: A sample of one variable.
        second: Of the other, pair by pair.
        bins: Bins of the values of each, $b$.

    Raises:
        ValueError: If there are not as many values of both, or fewer than pairs of bins.

    Reference:
        Miller 1955 for the second term; ren2017, figure 5.
    """
    if len(first) != len(second):
        raise ValueError(
            f"second must hold as many values as first, {len(first)}, got {len(second)}"
        )
    codes = _quantiles(torch.stack([first, second], 1), bins)
    return float(_information(codes[:, :1], codes[:, 1:], bins))


def _quantiles(responses: Tensor, bins: int) -> Int64[Tensor, "batch feature"]:
    """Assign each value in its column to a bin; equal values get the bin of their middle rank."""
    if len(responses) < bins**2:
        raise ValueError(
            f"bins must be at most the root of the number of samples, {len(responses)}, got {bins}"
        )
    columns = responses.T.contiguous()
    ordered = columns.sort(dim=1).values
    below = torch.searchsorted(ordered, columns)
    upto = torch.searchsorted(ordered, columns, right=True)
    return ((below + upto - 1) * bins // (2 * len(responses))).T


def _information(first: Tensor, second: Tensor, bins: int) -> Float[Tensor, " pair"]:
    """Compute the mutual information of pairs of columns of bins."""
    size, pairs = first.shape
    codes = torch.arange(pairs) * bins**2 + first * bins + second
    counts = torch.bincount(codes.flatten(), minlength=pairs * bins**2)
    joint = counts.reshape(pairs, bins, bins).double() / size
    alone = joint.sum(2, keepdim=True), joint.sum(1, keepdim=True)
    apart = alone[0] * alone[1]
    plain = torch.special.xlogy(joint, torch.where(joint > 0, joint / apart, 1)).sum((1, 2))
    used = sum((part > 0).sum((1, 2)) for part in alone)
    return plain - ((joint > 0).sum((1, 2)) - used + 1) / (2 * size)


class ClassSpectra(NamedTuple):
    """Singular values of the representations of each class.

    Attributes:
        classes: The classes, ascending.
        values: Their singular values, the largest first, as many as features.
    """

    classes: Int[Tensor, " class"]
    values: Float[Tensor, "class value"]

    @property
    def largest(self) -> Float[Tensor, " class"]:
        """Largest singular value of each class."""
        return self.values[:, 0]

    @property
    def others(self) -> Float[Tensor, " class"]:
        """Sum of all other singular values of each class: small where a class is flat."""
        return self.values[:, 1:].sum(1)


def class_spectra(
    representations: Float[Tensor, "batch feature"],
    classes: Int[Tensor, " batch"],
    *,
    centered: bool = False,
) -> ClassSpectra:
    r"""Compute singular values of the matrix of representations of each class, in float64.

    They are not divided by the number of examples, with whose square root they grow. Without
    centering, the largest is mostly that of the mean of the class, and the others tell how far its
    examples are spread around that; the paper's words name no centering and set the largest apart.
    Centered, the number of values above 0 is the number of dimensions in which a class varies.

    Args:
        representations: Of examples, e.g. from `representations_of`.
        classes: The class of each example.
        centered: Whether the mean of each class is subtracted.

    Raises:
        ValueError: If there is no example, or not a class for each.

    Reference:
        lamb2022, section 4.3.
    """
    if not 0 < len(representations) == len(classes):
        raise ValueError(
            "classes must be one for each of at least one representation, "
            f"got {len(classes)} for {len(representations)}"
        )
    known = torch.unique(classes)
    points, features = representations.double(), representations.shape[1]
    spectra = []
    for one in known:
        own = points[classes == one]
        values = torch.linalg.svdvals(own - own.mean(0) if centered else own)
        spectra.append(F.pad(values, (0, features - len(values))))
    return ClassSpectra(classes=known, values=torch.stack(spectra))


class NormalizerScale(NamedTuple):
    r"""A normalizer of a trained network.

    Attributes:
        name: Its name, as in `network.named_modules()`.
        input_scale: Mean absolute value of its input.
        sigma: Its constant $\sigma$.
    """

    name: str
    input_scale: float
    sigma: float


def normalizer_scales(network: nn.Module, problems: Problems) -> tuple[NormalizerScale, ...]:
    r"""Measure the mean absolute input and the constant of each normalizer, in order of calls.

    A normalizer is a part with a constant `sigma`, such as `DivisiveNorm2d`. Of a learned $\sigma$
    its absolute value is given, since only its square is ever used.

    Args:
        network: A trained network, in evaluation mode.

    Raises:
        ValueError: If the network calls no such part.

    Reference:
        ren2017, figure 3.
    """
    parts = {part: name for name, part in network.named_modules() if _has_sigma(part)}
    sums = dict[nn.Module, float]()
    counts = dict[nn.Module, int]()

    def see(part: nn.Module, inputs: tuple[Any, ...]) -> None:
        x: Tensor = inputs[0]
        sums[part] = sums.get(part, 0.0) + float(x.double().abs().sum())
        counts[part] = counts.get(part, 0) + x.numel()

    with torch.inference_mode(), ExitStack() as hooks:
        for part in parts:
            hooks.callback(part.register_forward_pre_hook(see).remove)
        for _, some in chunks(problems):
            network(some.table(), some.index)
    if not sums:
        raise ValueError(
            "network must call normalizers with a constant sigma, as farfield.nn.DivisiveNorm2d "
            f"has, got {type(network).__name__} without"
        )
    return tuple(
        NormalizerScale(parts[part], total / counts[part], abs(float(_sigma(part))))
        for part, total in sums.items()
    )


def _sigma(part: nn.Module) -> Any:
    sigma = getattr(part, "sigma", None)
    return sigma.detach() if isinstance(sigma, Tensor) else sigma


def _has_sigma(part: nn.Module) -> bool:
    return isinstance(_sigma(part), float | Tensor)


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
    """Record the activity of each mechanism of the last layer of a network, step by step.

    Args:
        network: A `SequenceModel` with `RIMs`, e.g. from `trained_network`.

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


def divisive_activation(
    first: Float[Tensor, "*batch"], second: Float[Tensor, "*batch"], sigma: float
) -> Float[Tensor, "*batch"]:
    r"""Compute the output of the first of two units normalized together, behind a ReLU.

    $$v = \tfrac{1}{2} (x_1 - x_2), \qquad
      y_1 = \max\Bigl(\frac{v}{\sqrt{\sigma^2 + v^2}}, 0\Bigr)$$

    which is `divisive_norm_2d` of an image of one pixel and two channels. A ReLU alone does not
    depend on the second unit, and goes on rising.

    Args:
        first: Inputs of the first unit, $x_1$.
        second: Inputs of the second, $x_2$.
        sigma: The constant $\sigma$.

    Reference:
        ren2017, figure 2.
    """
    pixels = torch.stack([first, second], -1).reshape(-1, 2, 1, 1)
    return divisive_norm_2d(pixels, 1, sigma=sigma).relu()[:, 0].reshape(first.shape)
