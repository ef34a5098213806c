"""Manifold mixup: supervised learning between pairs of problems at a hidden layer."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import final

from torch import Tensor

from farfield.core import TRAINING, PositiveFloat, Problems, Stream, check_fields
from farfield.objectives._bound import Bound
from farfield.objectives._mixing import mixed_loss
from farfield.objectives._mixing_layers import check_hidden, check_layers
from farfield.objectives._objective import Objective, Tensors, Update
from farfield.objectives._pairs import draw_pairs


@final
@dataclass(frozen=True, kw_only=True)
class ManifoldMixup(Objective):
    r"""The task's loss on mixtures of pairs of problems at a layer that is drawn each step.

    $$L = \frac{1}{B} \sum_b \lambda\, \ell(f_k(\tilde h_b), y_b)
      + (1 - \lambda)\, \ell(f_k(\tilde h_b), y_{\pi(b)}), \qquad
      \tilde h_b = \lambda g_k(x_b) + (1 - \lambda) g_k(x_{\pi(b)})$$

    with $g_k$ the network up to the output of layer $k$, $f_k$ the rest, $\ell$ the loss of the
    task, $\pi$ a permutation of the batch, $k$ one of the layers and
    $\lambda \sim \mathrm{Beta}(\alpha, \alpha)$. For cross-entropy that is the loss of the mixed
    answer. `Mixup` is the case of `layers=("input",)`.

    A layer gives a row for each problem, or one for each item of each problem, as encoders of
    single items do; items are mixed position by position. One that is called more than once, as a
    recurrent cell, is mixed at every call.

    Args:
        layers: Names of the layers, as in `model.named_modules()`, and `"input"` for the items;
            `None` for the items and the layers that the network declares as `mixing_layers`, as
            the image networks of `farfield.models` do.
        alpha: Both parameters of the Beta distribution: near 0 leaves most problems as they are.
        per_example: Whether each problem has a weight of its own; otherwise a batch has one.
        stop_gradient: Whether no gradient passes below the mixed layer, an ablation.

    Raises:
        ValueError: If layers are an empty tuple, or one is named twice, or `alpha` is not positive
            and finite. A network that has no layer of a name, or declares none where none is named,
            is refused before its first step.

    Reference:
        lamb2022, section 4.2; `stop_gradient` section 4.5.1. The released loss is the binary
        cross-entropy of the softmax, of which a task may make its own loss.

    Example:
        >>> from farfield.experiments import Experiment, Network, Recipe, Spec
        >>> from farfield.models import LSTM
        >>> from farfield.tasks import IdentityRules
        >>> experiment = Experiment(
        ...     task=IdentityRules(withheld=95),
        ...     model=Network(reasoner=Spec(LSTM)),
        ...     recipe=Recipe(steps=1_000),
        ...     objective=ManifoldMixup(layers=("encoder",)),
        ... )
    """

    layers: tuple[str, ...] | None = None
    alpha: PositiveFloat = 2.0
    per_example: bool = False
    stop_gradient: bool = False

    def __post_init__(self) -> None:
        check_fields(self)
        check_layers(self.layers)

    def start(self, network: Bound, sets: Mapping[str, Problems], stream: Stream) -> Tensors:
        """Nothing to remember; the names of the layers are looked up.

        Args:
            network: The network before its first step.
            sets: Whole sets of problems, not used.
            stream: Source of random numbers, not used.

        Raises:
            ValueError: If the network has no layer of a name, or declares none and none is named.
        """
        del sets, stream
        check_hidden(network, self.layers)
        return {}

    def draw(self, batches: Mapping[str, Problems], stream: Stream) -> Tensors:
        """Weights, positions of the second of each pair, and the layer.

        Args:
            batches: The batch of training problems.
            stream: Source of random numbers.
        """
        return draw_pairs(
            batches[TRAINING],
            self.alpha,
            stream,
            layers=None if self.layers is None else len(self.layers),
            per_example=self.per_example,
        )

    def loss(self, update: Update) -> tuple[Tensor, Tensors]:
        """The mean loss of the mixtures.

        Args:
            update: The step.

        Raises:
            ValueError: If the items are mixed and are no numbers, or a layer is not called, or
                gives anything but a row for each problem or item.
        """
        loss = mixed_loss(update, update.draws, self.layers, stop_gradient=self.stop_gradient)
        return loss, update.state
