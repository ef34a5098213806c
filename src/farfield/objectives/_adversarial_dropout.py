"""Virtual adversarial dropout: the same answers where dropping a few numbers matters most."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated, cast, final

import torch
from torch import Tensor

from farfield.core import Problems, Stream, tap_layers
from farfield.core.internal import Fraction, Limits, Size, layer_by_name
from farfield.functional import consistency
from farfield.functional.internal import probabilities
from farfield.objectives._consistency import ComparingRule, Comparison, mean_of_asked
from farfield.objectives._objective import Bound, Tensors, Update

FIRST, SECOND = "first", "second"


@final
@dataclass(frozen=True, kw_only=True)
class VAdD(ComparingRule):
    r"""The task's loss, and the distance of answers under random and under adversarial dropout.

    $$L = \frac{1}{B} \sum_b \ell(f(x_b), y_b) + w(p)\, \frac{1}{B' K} \sum_{b, k}
      \left(\sigma_k(f(u_b, m_b)) - \sigma_k(f(u_b, m'_b))\right)^2$$

    with $f(u, m)$ the answer to a problem where the output of a layer is multiplied by a mask $m$
    over $1 - d$. The first mask is random: each number is dropped with probability $d$. The second
    one begins as another random mask, of which at most a fraction $\delta$ of the numbers is
    changed: those with the steepest slopes of the distance, where a change makes it larger. The
    gradient passes to both answers, and not to the masks. The weight $w$ grows as that of
    `MeanTeacher`. Statistics of batch normalization are those of the training problems alone.

    Args:
        layer: Name of the layer whose output is masked.
        shape: Shape of its output for one problem, e.g. `(256, 8, 8)`.
        weight: Largest weight of the distance.
        ramp: Fraction of the run over which the weight grows.
        dropout: Probability $d$ that a number is dropped.
        change: Fraction $\delta$ of the mask that may change.
        consistency: Name of the set on which answers are to agree.

    Raises:
        ValueError: If a number is out of range.

    Reference:
        Park et al. 2018, with the squared distance, as in its released code.
    """

    layer: str
    shape: tuple[Size, ...]
    dropout: Annotated[float, Limits(at_least=0, below=1)] = 0.5
    change: Fraction = 0.05

    def start(self, network: Bound, sets: Mapping[str, Problems], stream: Stream) -> Tensors:
        """Remember nothing; the sets and the name of the layer are checked.

        Raises:
            ValueError: If answers are no classes, there is no problem to agree on, or the network
                has no layer of the name.
        """
        layer_by_name(network.module, self.layer)
        return super().start(network, sets, stream)

    def draw(self, batches: Mapping[str, Problems], stream: Stream) -> Tensors:
        """Draw both random masks, of 0 and 1.

        Args:
            batches: The batches.
            stream: Source of the masks.
        """
        index = batches[self.consistency].index
        shape = (len(index), *self.shape)
        return {
            name: (torch.rand(shape, generator=stream.child(name).torch()) >= self.dropout)
            .to(torch.get_default_dtype())
            .to(index.device)
            for name in (FIRST, SECOND)
        }

    def compare(self, update: Update) -> Comparison:
        """Compare answers under a random mask with answers under an adversarial mask.

        Raises:
            ValueError: If the layer does not give outputs of the shape.
        """
        problems = update.batches[self.consistency]
        fixed = update.network.fixed_tensors()

        def answers(mask: Tensor, parameters: Tensors) -> Tensor:
            given = {**parameters, **update.network.copied_buffers()}
            return self._masked_outputs(update, problems, mask, given)

        random = answers(update.draws[FIRST], {})
        target = random.detach()

        def apart(mask: Tensor) -> Tensor:
            values = consistency(answers(mask, fixed), target, reduction="none")
            return mean_of_asked(values, problems) * values.numel()

        mask = update.draws[SECOND]
        slope = torch.func.grad(apart)(mask).detach()
        adversary = answers(adversarial_mask(mask, slope, self.change), {})
        distance = mean_of_asked(consistency(random, adversary, reduction="none"), problems)
        return Comparison(distance, probabilities(target), update.state)

    def _masked_outputs(
        self, update: Update, problems: Problems, mask: Tensor, parameters: Tensors
    ) -> Tensor:
        """Compute outputs where the output of the layer is masked."""

        def drop(output: Tensor) -> Tensor:
            if output.shape != mask.shape:
                raise ValueError(
                    f"shape must be that of the layer for each of {len(mask)} problems, "
                    f"{tuple(output.shape)} from {self.layer!r}, got {self.shape}"
                )
            return output * (mask / (1 - self.dropout)).to(output.dtype)

        with tap_layers(update.network.module, {self.layer: drop}):
            return cast(Tensor, update.outputs(problems, parameters))


def adversarial_mask(mask: Tensor, slope: Tensor, change: float) -> Tensor:
    """Change the numbers of masks along the steepest slopes.

    Args:
        mask: Masks of 0 and 1, `(batch, *)`.
        slope: Slopes of the number that is to grow, of the same shape.
        change: Fraction of each mask that may change.
    """
    flat, slopes = mask.flatten(1), slope.flatten(1)
    count = int(change * flat.shape[1])
    gains = torch.where(flat > 0, -slopes, slopes)
    most = gains.topk(count, dim=1).indices
    # Two equal masks have slopes of rounding errors alone.
    chosen = torch.zeros_like(flat).scatter(1, most, 1.0) * (gains > torch.finfo(slope.dtype).eps)
    return (flat + chosen - 2 * flat * chosen).reshape(mask.shape)
