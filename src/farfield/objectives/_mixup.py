"""Mixup and manifold mixup: supervised learning between pairs of problems."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, Final, final

import numpy as np
import torch
from torch import Tensor

from farfield.core import Problems, Stream, tap_layers
from farfield.core.internal import (
    TRAINING,
    Checked,
    EncodesItems,
    HasMixingLayers,
    PositiveFloat,
    check_fields,
    layer_by_name,
)
from farfield.functional.internal import as_fractions, is_transformed, mix, mix_pairs
from farfield.objectives._objective import Bound, Objective, Tensors, Update

INPUT: Final = "input"
"""Name of the items among the layers at which problems are mixed."""


def check_layers(layers: tuple[str, ...] | None) -> None:
    """Raise `ValueError` unless at least one layer is named, and none twice.

    Args:
        layers: Names of layers; `None` for those that a network declares.
    """
    if layers is not None and (not layers or len(set(layers)) < len(layers)):
        raise ValueError(f"layers must be at least one name, each named once, got {layers!r}")


def layers_of(network: Bound, layers: tuple[str, ...] | None) -> tuple[str, ...]:
    """List the names of the layers at which problems are mixed in a network.

    Args:
        layers: Their names; `None` for the items and the layers that the network declares.

    Raises:
        ValueError: If no part of the network declares layers, and none is named.
    """
    if layers is not None:
        return layers
    declared = [
        f"{path}.{name}".removeprefix(".")
        for path, part in network.module.named_modules()
        if isinstance(part, HasMixingLayers)
        for name in part.mixing_layers
    ]
    if not declared:
        names = ", ".join(name for name, _ in network.module.named_modules() if name)
        raise ValueError(
            "layers must be named for a network no part of which has mixing_layers, got None for "
            f'{type(network.module).__name__}; it has "{INPUT}" and {names}'
        )
    return tuple(dict.fromkeys((INPUT, *declared)))


def check_hidden(network: Bound, layers: tuple[str, ...] | None) -> None:
    """Raise `ValueError` if a layer other than the items is not in a network.

    Args:
        layers: Names of layers; `None` for those that the network declares.
    """
    for name in layers_of(network, layers):
        if name != INPUT:
            layer_by_name(network.module, name)


MANY: Final = 2**62
"""Bound of the number from which one of a yet unknown number of layers is taken."""


def draw_pairs(
    problems: Problems,
    alpha: float,
    stream: Stream,
    *,
    layers: int | None = 1,
    per_example: bool = False,
) -> dict[str, Tensor]:
    """Draw pairs of problems of one batch: a weight, partners, and where they are mixed.

    Args:
        problems: The batch.
        alpha: Both parameters of the Beta distribution of the weight.
        layers: Number of layers, one of which is drawn; `None` where it is not known yet.
        per_example: Whether each problem has a separate weight.

    Returns:
        `weight` of the first of each pair, `()` or `(batch,)`; `partner`, the positions of the
        second, `(batch,)`; `layer`, a number which modulo that of layers is the position of one,
        `()`.
    """
    generator, size = stream.numpy(), len(problems)
    drawn = {
        "weight": generator.beta(alpha, alpha, size=size if per_example else None),
        "partner": generator.permutation(size),
        "layer": generator.integers(MANY if layers is None else layers),
    }
    device = problems.index.device
    return {name: torch.from_numpy(np.asarray(n)).to(device) for name, n in drawn.items()}


ENCODER: Final = "encoder"
"""Name of the part whose outputs are the embeddings, in a network that encodes items."""


def mixed_loss(
    update: Update, pairs: Tensors, layers: tuple[str, ...] | None, *, stop_gradient: bool = False
) -> Tensor:
    """Compute the mean loss of mixtures of training problems.

    Args:
        pairs: Pairs of `draw_pairs`.
        layers: Names of the layers, `INPUT` for the items; `None` for those of the network.
        stop_gradient: Whether no gradient passes below a mixture.
    """
    outputs, *both = mixed_outputs(
        update, update.problems, pairs, layers, stop_gradient=stop_gradient
    )
    first, second = (update.task_loss(outputs, problems) for problems in both)
    return mix(first, second, pairs["weight"]).mean()


def mixed_outputs(
    update: Update,
    problems: Problems,
    pairs: Tensors,
    layers: tuple[str, ...] | None,
    *,
    stop_gradient: bool = False,
) -> tuple[Any, Problems, Problems]:
    """Compute outputs of the network on mixtures, and both problems of each mixture.

    Args:
        problems: The batch.
        pairs: Pairs of `draw_pairs`.
        layers: Names of the layers, `INPUT` for the items; `None` for those of the network.
        stop_gradient: Whether no gradient passes below a mixture.

    Raises:
        ValueError: If the items cannot be mixed, or a layer is not in the network, is not called,
            or gives anything but a row for each problem or each item of each problem.
    """
    names = layers_of(update.network, layers)
    if len(names) > 1:
        pairs = {**pairs, "layer": pairs["layer"] % len(names)}
        if not is_transformed():
            names = (names[int(pairs["layer"])],)
    mixing = _Mixing(update.network, problems, pairs, names, stop_gradient=stop_gradient)
    return mixing.outputs(), mixing.shown, mixing.partners()


@final
class _Mixing:
    """A call of a network that mixes problems at one of some layers.

    Among several layers a number chooses, and no branch: networks that are trained as one program
    have different ones. Layers that give rows of items give them for each position of each problem;
    layers before all of these are computed once for each item of the table.

    Args:
        problems: The batch.
        pairs: Pairs of `draw_pairs`.
        layers: Names of the layers.
        stop_gradient: Whether no gradient passes below a mixture.
    """

    def __init__(
        self,
        network: Bound,
        problems: Problems,
        pairs: Tensors,
        layers: tuple[str, ...],
        *,
        stop_gradient: bool,
    ) -> None:
        self.network, self.pairs, self.layers = network, pairs, layers
        self.stop_gradient = stop_gradient
        self.hidden = [name for name in layers if name != INPUT]
        # Since Python 3.12 `isinstance` overlooks submodules, which `nn.Module.__getattr__` finds.
        self.encodes = (
            isinstance(network.module, EncodesItems)
            and hasattr(network.module, ENCODER)
            and not any(name.startswith(f"{ENCODER}.") for name in self.hidden)
        )
        few = not pairs["weight"].ndim and len(problems.items) ** 2 < problems.index.numel()
        self.is_shared = (self.encodes or not self.hidden) and (few or INPUT not in layers)
        self.shown = self._show(problems)
        self.called = set[str]()

    def _show(self, problems: Problems) -> Problems:
        """Select the problems over the table that the network reads, mixed at the input."""
        if INPUT not in self.layers:
            return problems if self.is_shared else problems.unshared()
        rows, count = problems.index, len(problems.items)
        partners, weight = rows.index_select(0, self.pairs["partner"]), self.pairs["weight"]
        if self.is_shared:  # all pairs of items are fewer than positions
            items = torch.arange(count, device=rows.device)
            first, second = items.repeat_interleave(count), items.repeat(count)
        else:
            first, second = rows.flatten(), partners.flatten()
            weight = weight.unsqueeze(-1).expand(rows.shape).flatten() if weight.ndim else weight
        tensors = self.network.tensors().values()
        dtype = next((each.dtype for each in tensors if each.is_floating_point()), None)
        items = problems.table()
        table = as_fractions(items, None if items.is_floating_point() else dtype)
        x, other = table.index_select(0, first), table.index_select(0, second)
        mixed = self._where_drawn(INPUT, mix(x, other, weight), x)
        if self.is_shared:
            return replace(problems, items=mixed, index=rows * count + partners)
        return problems.with_items(mixed)

    def outputs(self) -> Any:
        """Compute outputs of the network."""
        taps = {name: partial(self._at_layer, name) for name in self.hidden}
        if self.encodes:
            taps.pop(ENCODER, None)
        with tap_layers(self.network.module, taps):
            if self.encodes and self.hidden:
                outputs = self._in_two_stages()
            else:
                outputs = self.network.call("forward", self.shown.items, self.shown.index)
        if missing := [name for name in self.hidden if name not in self.called]:
            raise ValueError(f"layers must be layers that the model calls, got {missing}")
        return outputs

    def _in_two_stages(self) -> Any:
        """Compute outputs of a network that encodes items before it reads problems."""
        embeddings, index = self.network.call("encode", self.shown.items), self.shown.index
        if self.is_shared:
            shown = self.shown.with_items(embeddings.index_select(0, index.flatten()))
            embeddings, index = shown.table(), shown.index
        if ENCODER in self.hidden:
            embeddings = self._at_layer(ENCODER, embeddings)
        return self.network.call("answer", embeddings, index)

    def partners(self) -> Problems:
        """Select the second problems of the mixtures, over the table that the network read."""
        own, partner = self.shown.index, self.pairs["partner"]
        index = own.index_select(0, partner)
        if INPUT in self.layers:
            index = self._where_drawn(INPUT, own, index)
        return Problems(items=self.shown.items, index=index, target=self.shown.target[partner])

    def _at_layer(self, name: str, output: Tensor) -> Tensor:
        """Mix the output of a layer."""
        self.called.add(name)
        batch, time = self.shown.index.shape
        if not output.ndim or len(output) not in (batch, batch * time):
            raise ValueError(
                f"layers must give a row for each of {batch} problems or {batch * time} items, "
                f"got {tuple(output.shape)} from {name!r}"
            )
        x = output.reshape(batch, -1, *output.shape[1:])
        below = x.detach() if self.stop_gradient else x
        mixture = mix_pairs(below, self.pairs["weight"], self.pairs["partner"])
        if self.stop_gradient:  # zeros below, as optimizers skip parameters without gradient
            mixture = torch.where(x.new_ones((), dtype=torch.bool), mixture, x)
        return self._where_drawn(name, mixture, x).flatten(0, 1)

    def _where_drawn(self, name: str, mixture: Tensor, x: Tensor) -> Tensor:
        """Mix the output if this layer is the drawn one."""
        if len(self.layers) == 1:
            return mixture
        return torch.where(self.pairs["layer"] == self.layers.index(name), mixture, x)


@final
@dataclass(frozen=True, kw_only=True)
class Mixup(Checked, Objective):
    r"""The task's loss on mixtures of pairs of problems, weighed as their items are.

    $$L = \frac{1}{B} \sum_b \lambda\, \ell(f(\tilde x_b), y_b)
      + (1 - \lambda)\, \ell(f(\tilde x_b), y_{\pi(b)}), \qquad
      \tilde x_b = \lambda x_b + (1 - \lambda) x_{\pi(b)}$$

    with $\ell$ the loss of the task, $f$ the model, $\pi$ a permutation of the batch and
    $\lambda \sim \mathrm{Beta}(\alpha, \alpha)$, both drawn once a step. Items are mixed position
    by position, as floating-point numbers. `ManifoldMixup` mixes hidden layers as well. The
    function is `farfield.functional.mixup`.

    Args:
        alpha: Both parameters of the Beta distribution: near 0 leaves most problems unmixed.

    Raises:
        ValueError: If `alpha` is not positive and finite.

    Reference:
        Zhang et al. 2018.
    """

    alpha: PositiveFloat = 1.0

    def draw(self, batches: Mapping[str, Problems], stream: Stream) -> Tensors:
        """Draw the weight of the first of each pair, and positions of the second.

        Args:
            batches: The batch of training problems.
            stream: Source of the weight and of the permutation.
        """
        return draw_pairs(batches[TRAINING], self.alpha, stream)

    def loss(self, update: Update) -> tuple[Tensor, Tensors]:
        """Compute the mean loss of the mixtures.

        Raises:
            ValueError: If the items are neither floating-point numbers nor bytes.
        """
        return mixed_loss(update, update.draws, (INPUT,)), update.state


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
        alpha: Both parameters of the Beta distribution: near 0 leaves most problems unmixed.
        per_example: Whether each problem has a separate weight; otherwise a batch has one.
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
        """Remember nothing; the names of the layers are looked up.

        Args:
            sets: Whole sets of problems, not used.

        Raises:
            ValueError: If the network has no layer of a name, or declares none and none is named.
        """
        del sets, stream
        check_hidden(network, self.layers)
        return {}

    def draw(self, batches: Mapping[str, Problems], stream: Stream) -> Tensors:
        """Draw weights, positions of the second of each pair, and the layer.

        Args:
            batches: The batch of training problems.
        """
        return draw_pairs(
            batches[TRAINING],
            self.alpha,
            stream,
            layers=None if self.layers is None else len(self.layers),
            per_example=self.per_example,
        )

    def loss(self, update: Update) -> tuple[Tensor, Tensors]:
        """Compute the mean loss of the mixtures.

        Raises:
            ValueError: If the items are mixed and are no numbers, or a layer is not called, or
                gives anything but a row for each problem or item.
        """
        loss = mixed_loss(update, update.draws, self.layers, stop_gradient=self.stop_gradient)
        return loss, update.state
