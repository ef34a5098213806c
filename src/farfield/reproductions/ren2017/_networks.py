"""Rows of the CIFAR experiments of ren2017: normalizers, penalties and recipes.

The text gives the layers, first weights, learning rates and their steps. What it leaves open is
taken from the released code: batches of 100, the constants and the weights of the penalty that the
grid search chose, gains and shifts, and where dropout stands.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final, final

from farfield.experiments import SGD, Experiment, ItemNetwork, Perturbation, Recipe, Spec, Steps
from farfield.models import QuickCNN, ResNet
from farfield.nn import CenterImages, MapNormalizer
from farfield.objectives import ActivationL1, CenteredL1, CropAndFlip, Objective, Supervised
from farfield.reproductions.ren2017._print_cifar import BASELINE, REGULARIZED
from farfield.tasks import ImageClasses

BATCH_SIZE: Final = 100
PLAIN: Final = 0.01
"""The constant of rows that the paper says have none: what the released code adds there."""
CONVOLUTIONS: Final = ("core.convolutions.0", "core.convolutions.1", "core.convolutions.2")

STEPS: Final = 80_000
STEPS_BASELINE: Final = 50_000
SCHEDULE: Final = Steps(factors=((30 / 80, 0.1), (50 / 80, 0.01)))
"""A tenth after 30,000 and 50,000 steps, and the end after 80,000."""
SCHEDULE_BASELINE: Final = Steps(factors=((5 / 50, 0.1), (30 / 50, 0.01)))
"""A tenth after 5,000 and 30,000 steps, and the end after 50,000."""
SCHEDULE_RESNET: Final = Steps(factors=((0.5, 0.1), (0.75, 0.01)))


@final
@dataclass(frozen=True, kw_only=True)
class Method:
    """A row: what normalizes, and what is added to the loss.

    Args:
        normalizer: The normalizer; `None` for none.
        alpha: Weight of the L1 penalty; 0 for none.
        dropout: Probability of dropout.
        weight_decay: Decay of the weights, not of the biases.
    """

    normalizer: MapNormalizer | None = None
    alpha: float = 0.0
    dropout: float = 0.0
    weight_decay: float = 0.0

    @property
    def objective(self) -> Objective:
        """The learning rule: the penalty is on centered activations where there is a normalizer."""
        if not self.alpha:
            return Supervised()
        if self.normalizer is None:
            return ActivationL1(layers=CONVOLUTIONS, weight=self.alpha)
        return CenteredL1(weight=self.alpha)

    @property
    def optimizer(self) -> SGD:
        """Momentum, with the decay of the row."""
        undecayed = ("*.bias",) if self.weight_decay else ()
        return SGD(momentum=0.9, weight_decay=self.weight_decay, undecayed=undecayed)


def batch(sigma: float = PLAIN) -> MapNormalizer:
    """BN with a constant.

    Args:
        sigma: The constant.
    """
    return MapNormalizer(field="batch", sigma=sigma, affine=True)


def layer(sigma: float = PLAIN) -> MapNormalizer:
    """LN with a constant; gain and shift go where there is a smoothing one (section 3.3).

    Args:
        sigma: The constant.
    """
    return MapNormalizer(field="layer", sigma=sigma, affine=sigma == PLAIN)


def window(sigma: float = 0.5) -> MapNormalizer:
    """DN with a constant.

    Args:
        sigma: The constant.
    """
    return MapNormalizer(field="window", sigma=sigma)


METHODS: Final[dict[str, dict[str, Method]]] = {
    data_set: {
        BASELINE: Method(),
        "Baseline + L1": Method(alpha=0.01),
        REGULARIZED: Method(dropout=0.5, weight_decay=0.1),
        "BN": Method(normalizer=batch()),
        "BN + L1": Method(normalizer=batch(), alpha=bn_alpha),
        "BN-s": Method(normalizer=batch(bn_sigma)),
        "BN*": Method(normalizer=batch(bn_sigma), alpha=bn_alpha),
        "LN": Method(normalizer=layer()),
        "LN + L1": Method(normalizer=layer(), alpha=0.005),
        "LN-s": Method(normalizer=layer(0.5)),
        "LN*": Method(normalizer=layer(0.5), alpha=0.005),
        "DN": Method(normalizer=window()),
        "DN*": Method(normalizer=window(), alpha=dn_alpha),
    }
    for data_set, bn_sigma, bn_alpha, dn_alpha in (
        ("cifar10", 1.0, 0.005, 0.005),
        ("cifar100", 0.25, 0.01, 0.001),
    )
}
"""The rows of Tables 3 and 7, by data set and name."""


def quick_cnn(
    task: ImageClasses,
    method: Method,
    recipe: Recipe,
    perturbations: tuple[Perturbation, ...] = (),
) -> Experiment:
    """The network of Table 2 on centered images.

    Args:
        task: The images.
        method: The row.
        recipe: How it is trained.
        perturbations: Regimes made from the trained network.
    """
    core = Spec(QuickCNN, normalizer=method.normalizer, dropout=method.dropout)
    return Experiment(
        task=task,
        model=ItemNetwork(core=core, front=Spec(CenterImages)),
        objective=method.objective,
        recipe=recipe,
        perturbations=perturbations,
    )


def published_recipe(method: Method) -> Recipe:
    """The recipe of section 4.1: learning rate 0.001, with earlier steps for networks without.

    Args:
        method: The row.
    """
    plain = method.normalizer is None
    return Recipe(
        steps=STEPS_BASELINE if plain else STEPS,
        learning_rate=1e-3,
        batch_size=BATCH_SIZE,
        optimizer=method.optimizer,
        schedule=SCHEDULE_BASELINE if plain else SCHEDULE,
    )


def resnet(
    task: ImageClasses, method: Method, *, steps: int = STEPS, depth: int = 32, width: int = 16
) -> Experiment:
    """ResNet-32 on shifted and mirrored images, as released: the text says nothing of its recipe.

    Args:
        task: The images.
        method: The row.
        steps: Steps of the run.
        depth: Layers of the network.
        width: Channels of its first group.
    """
    core = Spec(ResNet, depth=depth, width=width, normalizer=method.normalizer)
    return Experiment(
        task=task,
        model=ItemNetwork(core=core, front=Spec(CenterImages, scale=1.0)),
        objective=CropAndFlip(objective=method.objective, padding=4),
        recipe=Recipe(
            steps=steps,
            learning_rate=0.1,
            batch_size=BATCH_SIZE,
            optimizer=SGD(momentum=0.9, weight_decay=2e-4, undecayed=("*.bias", "*norm*")),
            schedule=SCHEDULE_RESNET,
        ),
    )
