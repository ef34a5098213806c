"""Routing and attention of modules, and answers without them."""

from __future__ import annotations

import contextlib
import copy
import itertools
import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple, TypeVar, final

import numpy as np
import torch
from einops import rearrange
from jaxtyping import Float, Int
from torch import Tensor, nn
from torch.nn import functional as F

from farfield.analysis._learning import mean_score
from farfield.analysis._perturbations import NetworkChange
from farfield.core import Problems, Stream
from farfield.functional.internal import ScriptTrace, sinusoidal_position
from farfield.models import Transformer
from farfield.models.internal import Relational
from farfield.nn import MultiPass, NeuralInterpreter
from farfield.nn.internal import LayerRead
from farfield.tasks import ProblemTask, Regime


def attention_of(
    network: nn.Module, problems: Problems
) -> Float[Tensor, "batch head time candidate"]:
    """Compute the attention weights of each position of a problem, head by head.

    Args:
        network: A `Relational` network with a `Transformer`, e.g. from `trained_network`.

    Returns:
        Weights that sum to 1 over the last axis, the attended positions.

    Raises:
        ValueError: If the network has no such reasoner.

    Reference:
        webb2021, appendix A.3.9.
    """
    if not isinstance(network, Relational) or not isinstance(network.reasoner, Transformer):
        raise ValueError(f"network must be a Relational one with a Transformer, got {network!r}")
    reasoner, problems = network.reasoner, problems.compact()
    with torch.inference_mode():
        z = network.embed(problems.table(), problems.index)
        z = z + sinusoidal_position(*z.shape[1:], dtype=z.dtype, device=z.device)
        asked = slice(2 * z.shape[-1])  # the rows of the queries and of the keys
        query, key = rearrange(
            F.linear(z, reasoner.attention_in.weight[asked], reasoner.attention_in.bias[asked]),
            "batch time (two head feature) -> two batch head time feature",
            two=2,
            head=reasoner.num_heads,
        )
        return (query @ key.mT / math.sqrt(query.shape[-1])).softmax(-1)


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
    """Find the only Neural Interpreter in a network.

    Args:
        network: Any network.

    Raises:
        ValueError: If there is none, or several.
    """
    return _only_part(network, NeuralInterpreter)


_Part = TypeVar("_Part", bound=nn.Module)


def _only_part(network: nn.Module, kind: type[_Part]) -> _Part:
    """Find the only part of a class in a network."""
    found = [part for part in network.modules() if isinstance(part, kind)]
    if len(found) != 1:
        raise ValueError(
            f"network must hold one {kind.__name__}, got {len(found)} in {type(network).__name__}"
        )
    return found[0]


def _inputs_of(part: nn.Module, network: nn.Module, problems: Problems) -> tuple[Any, ...]:
    """Run a network on problems, and return the inputs of one of its parts."""
    shown: list[tuple[Any, ...]] = []
    hook = part.register_forward_pre_hook(lambda _, given: shown.append(given))
    try:
        with torch.inference_mode():
            network(problems.table(), problems.index)
    finally:
        hook.remove()
    return shown[0]


def routing_of(network: nn.Module, problems: Problems) -> Routing:
    """Record the routing of the elements of problems in a trained network.

    Args:
        network: A network with a `NeuralInterpreter`, e.g. from `trained_network`.

    Raises:
        ValueError: If the network has no Neural Interpreter, or several.

    Reference:
        gondal2021, Figures 3 and 4.
    """
    core = interpreter_of(network)
    z = _inputs_of(core, network, problems.compact())[0]
    with torch.inference_mode():
        traces = core.trace(z)
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
    r"""Compute the similarity of the paths of samples: 1 if they are equal, 0 if disjoint.

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
    r"""Measure the clustering of types around functions, iteration by iteration.

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
    """Score a trained network by the number of iterations of its scripts.

    Args:
        network: A network with a `NeuralInterpreter`; it is left as it was.
        task: Whose score.
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
    """Score a trained network by the number of its functions removed at random.

    Args:
        network: A network with a `NeuralInterpreter`; it is left as it was.
        task: Whose score.
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


@final
@dataclass(frozen=True, kw_only=True)
class RandomAttention(NetworkChange):
    """Attention of neural function modules that is drawn at random in a test: an ablation.

    The problems are unchanged. In place of the network a copy of it answers, in which every
    `MultiPass` attends by standard normal numbers, whatever its states: `MultiPass.randomized`.

    Args:
        of: Name of the regime whose problems are answered.

    Raises:
        ValueError: If it is no name; or, of a network without `MultiPass`, when it is scored.

    Reference:
        lamb2022, section 10.4.4.
    """

    of: str

    @property
    def regime(self) -> Regime:
        """Regime of answers by a network whose attention is random."""
        return Regime(name=f"random-attention-{self.of}", distance=1.0, unit="random attention")

    def network(self, model: nn.Module, stream: Stream) -> nn.Module:
        """Copy a network, with random attention.

        Args:
            model: The network.
            stream: Source of the attention.

        Raises:
            ValueError: If it has no `MultiPass`.
        """
        own = copy.deepcopy(model)
        found = [name for name, layer in own.named_modules() if isinstance(layer, MultiPass)]
        if not found:
            raise ValueError(
                f"model must have a MultiPass, whose attention is drawn, got {type(model).__name__}"
            )
        for name in found:
            drawn = _Randomized(own.get_submodule(name), stream.child(name).torch())
            own.set_submodule(name, drawn)
        return own


@final
class _Randomized(nn.Module):
    """A `MultiPass` with attention from a generator."""

    def __init__(self, passes: Any, generator: torch.Generator) -> None:
        super().__init__()
        self.passes, self.generator = passes, generator

    def forward(self, *inputs: Any) -> Any:
        return self.passes.randomized(*inputs, generator=self.generator)


def multi_pass_of(network: nn.Module) -> MultiPass:
    """Find the only `MultiPass` in a network.

    Args:
        network: Any network.

    Raises:
        ValueError: If there is none, or several.
    """
    return _only_part(network, MultiPass)


def layer_reads_of(network: nn.Module, problems: Problems) -> tuple[LayerRead, ...]:
    """Record all reads of a trained network on some problems, as `MultiPass.trace` does.

    Args:
        network: A network with a `MultiPass`, e.g. from `trained_network`.

    Raises:
        ValueError: If the network has no `MultiPass`, or several.

    Reference:
        lamb2022, section 10.3.2.
    """
    part = multi_pass_of(network)
    inputs = _inputs_of(part, network, problems.compact())
    with torch.inference_mode():
        return part.trace(*inputs)
