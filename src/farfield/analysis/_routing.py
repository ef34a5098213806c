"""Routing of elements through the functions of a Neural Interpreter, and pruning of functions."""

from __future__ import annotations

import contextlib
import copy
import itertools
from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np
import torch
from jaxtyping import Float, Int
from torch import Tensor, nn

from farfield.analysis._mean_score import mean_score
from farfield.core import Problems, Stream
from farfield.functional import ScriptTrace
from farfield.nn import NeuralInterpreter
from farfield.tasks import ProblemTask


class Routing(NamedTuple):
    """Routing of the elements of sets by a Neural Interpreter, iteration by iteration.

    Attributes:
        compatibility: Access of each function to each element, `(iteration, batch, function,
            item)`; the iterations of all scripts one after another.
        types: Types of the elements, of length 1, `(iteration, batch, item, type)`.
        nearest: The function whose signature is nearest to each type, `(iteration, batch, item)`,
            counted within its script.
        script: The script that each iteration belongs to, `(iteration)`.
    """

    compatibility: Tensor
    types: Tensor
    nearest: Tensor
    script: Tensor


def interpreter_of(network: nn.Module) -> NeuralInterpreter:
    """The one Neural Interpreter in a network.

    Args:
        network: Any network.

    Raises:
        ValueError: If there is none, or several.
    """
    found = [part for part in network.modules() if isinstance(part, NeuralInterpreter)]
    if len(found) != 1:
        raise ValueError(
            f"network must hold one NeuralInterpreter, got {len(found)} in {type(network).__name__}"
        )
    return found[0]


def routing_of(network: nn.Module, problems: Problems) -> Routing:
    """Routing of the elements of problems in a trained network.

    Args:
        network: A network with a `NeuralInterpreter`, e.g. from `trained_network`.
        problems: What it is shown.

    Raises:
        ValueError: If the network has no Neural Interpreter, or several.

    Reference:
        gondal2021, Figures 3 and 4.
    """
    core = interpreter_of(network)
    problems = problems.compact()
    shown: list[Tensor] = []
    hook = core.register_forward_pre_hook(lambda _, given: shown.append(given[0]))
    try:
        with torch.inference_mode():
            network(problems.table(), problems.index)
            traces = core.trace(shown[0])
    finally:
        hook.remove()
    nearest = [_nearest(trace, core, number) for number, trace in enumerate(traces)]
    return Routing(
        compatibility=torch.cat([trace.compatibility for trace in traces]),
        types=torch.cat([trace.types for trace in traces]),
        nearest=torch.cat(nearest),
        script=torch.cat([torch.full((len(own),), place) for place, own in enumerate(nearest)]),
    )


def _nearest(
    trace: ScriptTrace, core: NeuralInterpreter, number: int
) -> Int[Tensor, "iteration batch item"]:
    signatures: Tensor = core.scripts[number].signatures  # type: ignore[assignment]
    return (trace.types @ nn.functional.normalize(signatures.detach(), dim=-1).T).argmax(-1)


def path_similarity(
    compatibility: Float[Tensor, "iteration batch function item"],
) -> float:
    r"""Similarity of the paths of samples: 1 if they are the same, 0 if they share nothing.

    $$\frac{1}{|P|} \sum_{(a, b) \in P} \Big\langle \sum_u
      \min(\bar C^a_{ui}, \bar C^b_{ui}) \Big\rangle_{i, t}$$

    over all pairs of samples, with compatibilities that are brought to the sum 1 over functions;
    no function at all counts as one more.

    Args:
        compatibility: Of at least two samples.

    Raises:
        ValueError: If there are fewer than two samples.
    """
    if compatibility.shape[1] < 2:
        raise ValueError(
            f"compatibility must be of at least two samples, got {compatibility.shape[1]}"
        )
    total = compatibility.sum(2, keepdim=True)
    shares = torch.cat((compatibility / total.clamp(min=1e-12), (total == 0).to(total)), dim=2)
    pairs = itertools.combinations(shares.unbind(1), 2)
    common = [torch.minimum(first, second).sum(1).mean() for first, second in pairs]
    return float(torch.stack(common).mean())


def clustering(
    types: Float[Tensor, "iteration batch item type"],
    nearest: Int[Tensor, "iteration batch item"],
) -> list[float]:
    r"""Clustering of types around functions, iteration by iteration.

    The share of the variance of the types that lies between the groups of those that are nearest to
    the same function: 0 where groups do not differ, 1 where each group is a point.

    Args:
        types: Types of elements.
        nearest: The function that is nearest to each.
    """
    shares = []
    for own, groups in zip(types.flatten(1, 2).double(), nearest.flatten(1), strict=True):
        centered = own - own.mean(0)
        between = sum(
            len(group) * group.mean(0).square().sum()
            for group in (centered[groups == function] for function in groups.unique())
        )
        shares.append(float(between / centered.square().sum().clamp(min=1e-12)))
    return shares


def scores_by_iterations(
    network: nn.Module, task: ProblemTask, problems: Problems, numbers: Sequence[int]
) -> list[float]:
    """Mean score of a trained network by the number of iterations of its scripts.

    Args:
        network: A network with a `NeuralInterpreter`; it is left as it was.
        task: Whose score.
        problems: What is answered.
        numbers: Numbers of iterations.

    Raises:
        ValueError: If the network has no Neural Interpreter, or a number is below 1.

    Reference:
        gondal2021, Figure 8.
    """
    core = interpreter_of(network)
    found = []
    with _iterations_kept(core):
        for number in numbers:
            core.num_iterations = number
            found.append(mean_score(network, task, problems))
    return found


@contextlib.contextmanager
def _iterations_kept(core: NeuralInterpreter) -> Iterator[None]:
    before = core.num_iterations
    try:
        yield
    finally:
        core.num_iterations = before


def scores_without_functions(
    network: nn.Module, task: ProblemTask, problems: Problems, numbers: Sequence[int], place: Stream
) -> list[float]:
    """Mean score of a trained network by the number of its functions removed at random.

    Args:
        network: A network with a `NeuralInterpreter`; it is left as it was.
        task: Whose score.
        problems: What is answered.
        numbers: Numbers of functions removed, from 0 on; fewer than there are.
        place: Where the functions to remove are drawn from: the first of one order.

    Raises:
        ValueError: If the network has no Neural Interpreter, a number is not an integer ≥ 0,
            or none of its functions would be left.

    Reference:
        gondal2021, Figure 5c.
    """
    functions = interpreter_of(network).num_functions
    for number in numbers:
        if isinstance(number, bool) or not isinstance(number, int) or not 0 <= number < functions:
            raise ValueError(
                f"numbers must be ints 0…{functions - 1}, since one of {functions} functions must "
                f"stay, got {number!r}"
            )
    drawn = place.numpy().bit_generator.random_raw(functions)
    order = np.argsort(drawn, kind="stable")
    found = []
    for number in numbers:
        less = copy.deepcopy(network)
        if number:
            interpreter_of(less).remove_functions([int(which) for which in order[:number]])
        found.append(mean_score(less, task, problems))
    return found
