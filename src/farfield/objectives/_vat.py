"""Virtual adversarial training: the same answers where a small change matters most."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial
from typing import cast, final

from torch import Tensor

from farfield.core import Problems, Stream, tap_layers
from farfield.core.internal import Depth, NonNegativeFloat, PositiveFloat, layer_by_name
from farfield.functional.internal import adversarial_direction, kl_divergence, log_probabilities
from farfield.objectives._consistency import ConsistencyRule, draw_noise, mean_of_asked, moved
from farfield.objectives._objective import Bound, Tensors, Update


@final
@dataclass(frozen=True, kw_only=True)
class VAT(ConsistencyRule):
    r"""The task's loss, and the divergence of answers to problems that are moved adversarially.

    $$L = \frac{1}{B} \sum_b \ell(f(x_b), y_b) + \frac{w}{B'} \sum_b
      D(u_b, r_b) + \frac{e}{B'} \sum_b H(\sigma(f(u_b))), \qquad
      D(u, r) = \mathrm{KL}\left(\sigma(f(u)) \,\|\, \sigma(f(u + r))\right)$$

    with $\sigma$ the probabilities of classes, $u$ problems of the set `consistency` and $H$ the
    entropy. $r_b$ has length $\epsilon$ and the direction of $\nabla_r D(u_b, r)$ at $r = \xi d$,
    with $d$ a random direction; `iterations` take the direction that was found for $d$ again. No
    gradient passes to $r_b$ and to the answer that is compared with. The length is over all items
    of a problem. Statistics of batch normalization are those of the training problems alone.

    The rule assumes classes with few items between them, and costs accuracy elsewhere. Without
    labels, begin with a radius of half the median distance of standardized items from their nearest
    neighbor, and leave the weight at 1. The function is `farfield.functional.vat_loss`.

    Args:
        weight: Weight $w$ of the divergence.
        entropy: Weight $e$ of the entropy of answers; 0 for none.
        radius: Length $\epsilon$ of the change; pixels of bytes are 0…1.
        layer: Name of a layer whose outputs are moved in place of the items, and have their shape:
            a standardization in front of the others, in whose unit the radius then is. `None` for
            the items.
        step: Length $\xi$ at which the gradient is taken, in place of its limit at 0. The original
            has 1e-6, at which the gradient of numbers of 32 bits is that of their rounding errors.
        iterations: How often the direction is improved.
        consistency: Name of the set on which answers are to stay the same.

    Raises:
        ValueError: If a number is out of range.

    Reference:
        Miyato et al. 2018, section 3.
    """

    weight: NonNegativeFloat = 1.0
    entropy: NonNegativeFloat = 0.0
    radius: PositiveFloat = 8.0
    layer: str | None = None
    step: PositiveFloat = 0.01
    iterations: Depth = 1

    def start(self, network: Bound, sets: Mapping[str, Problems], stream: Stream) -> Tensors:
        """Remember nothing; the sets and the name of the layer are checked.

        Raises:
            ValueError: If answers are no classes, there is no problem to agree on, or the network
                has no layer of the name.
        """
        if self.layer is not None:
            layer_by_name(network.module, self.layer)
        return super().start(network, sets, stream)

    def draw(self, batches: Mapping[str, Problems], stream: Stream) -> Tensors:
        """Find the first direction of each problem.

        Args:
            batches: The batches.
            stream: Source of the directions.
        """
        return {"direction": draw_noise(batches[self.consistency], stream)}

    def loss(self, update: Update) -> tuple[Tensor, Tensors]:
        """Compute the mean loss, the weighted divergence, and the weighted entropy.

        Raises:
            ValueError: If the items are neither floating-point numbers nor bytes, or the outputs
                are not logits of classes.
        """
        supervised = self.supervised(update)
        problems = update.batches[self.consistency]
        answers = log_probabilities(update.outputs(problems, update.network.copied_buffers()))
        before = answers.detach()
        fixed = update.network.fixed_tensors()

        def divergence(shift: Tensor, parameters: Tensors) -> Tensor:
            given = {**parameters, **update.network.copied_buffers()}
            outputs = self._moved_outputs(update, shift, given)
            return mean_of_asked(kl_divergence(before, log_probabilities(outputs)), problems)

        direction = adversarial_direction(
            partial(divergence, parameters=fixed),
            update.draws["direction"],
            step=self.step,
            iterations=self.iterations,
        )
        loss = supervised + self.weight * divergence(self.radius * direction, {})
        if self.entropy:
            logs = mean_of_asked((answers.exp() * answers).sum(-1), problems)
            loss = loss - self.entropy * logs
        return loss, update.state

    def _moved_outputs(self, update: Update, shift: Tensor, parameters: Tensors) -> Tensor:
        """Compute outputs for problems whose items, or whose outputs of the layer, are moved."""
        problems = update.batches[self.consistency]
        if self.layer is None:
            return cast(Tensor, update.outputs(moved(problems, shift), parameters))
        flat = shift.flatten(0, 1)

        def move(output: Tensor) -> Tensor:
            if output.shape != flat.shape:
                raise ValueError(
                    f"layer must give outputs of the shape of items {tuple(flat.shape)}, got "
                    f"{tuple(output.shape)} from {self.layer!r}"
                )
            return output + flat.to(output.dtype)

        with tap_layers(update.network.module, {self.layer: move}):
            return cast(Tensor, update.outputs(problems.unshared(), parameters))
