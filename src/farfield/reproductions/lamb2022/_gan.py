"""Networks and recipes of the GANs of chapter 10 of lamb2022, and of our own.

The text refers to the released code of Lee and Town 2020, Mimicry, for all that it does not say,
and so does this: hinge losses, Adam of 2e-4 without momentum, five updates of the discriminator to
each of the generator, 100,000 of these in batches of 64, and a learning rate that falls to 0. Three
rows of Table 4 are the scores that Mimicry's page lists, where the number after ± is the deviation
over three draws of 50,000 images from one network. The numbers in the columns of Tiny-ImageNet are
those that the page lists for ImageNet at 32 × 32 pixels; the experiments here follow the words of
the table. Published scores are those of the Inception network, whose weights are not part of this:
`LoadedNetwork` takes them from a file in place of the judge of these claims.
"""

from __future__ import annotations

from typing import Final

from farfield.experiments import (
    SGD,
    Adam,
    Cosine,
    Experiment,
    GANNetwork,
    ItemNetwork,
    Linear,
    Player,
    Pretrained,
    Recipe,
    Spec,
)
from farfield.experiments.internal import Judge
from farfield.functional.internal import NFMRules
from farfield.models import PreActResNet, ResNetDiscriminator, ResNetGenerator
from farfield.nn import Standardize
from farfield.objectives import HingeDiscriminator, HingeGenerator
from farfield.reproductions._grid import Cell
from farfield.reproductions._unbuilt import Unbuilt
from farfield.tasks import ImageClasses, ImageGeneration

SSGAN: Final = "SSGAN"
INFO_MAX: Final = "InfoMax-GAN"
NFM_INFO_MAX: Final = "NFM(InfoMax-GAN)"
ADAM: Final = Adam(betas=(0.0, 0.9))
READS: Final = NFMRules(key_size=32, value_size=32)
"""Reads of section 10.4.1, which does not say how many entries a head attends to."""
INCEPTION: Final = Judge(
    label="inception-v3",
    model=ItemNetwork(core=Spec(Unbuilt, model="Inception v3")),
    layer="core",
)
GENERATORS: Final[dict[str, Spec]] = {
    NFM_INFO_MAX: Spec(ResNetGenerator, nfm=READS),
    # Section 10.4.7; whether discriminators grew as well is not said.
    f"{INFO_MAX}, twice the channels": Spec(ResNetGenerator, width=512),
    f"{INFO_MAX}, twice the layers": Spec(ResNetGenerator, blocks=2),
}
"""Generators that differ from the plain one, by row."""


def _players(row: str, repeats: int) -> tuple[Player, Player]:
    """Build discriminator and generator of a row, with the terms of its method.

    Args:
        row: The row, e.g. `"SSGAN"`.
        repeats: Updates of the discriminator to each of the generator.
    """
    info_max = 0.2 if INFO_MAX in row else 0.0
    first, second = (1.0, 0.2) if row == SSGAN else (0.0, 0.0)
    return (
        Player(
            objective=HingeDiscriminator(info_max=info_max, rotation=first),
            parts=("discriminator",),
            repeats=repeats,
        ),
        Player(objective=HingeGenerator(info_max=info_max, rotation=second), parts=("generator",)),
    )


def _network(
    row: str,
    judge: Judge,
    *,
    generator: Spec,
    width: int = 128,
    projection: int = 1024,
) -> GANNetwork:
    """Build the networks of a row.

    Args:
        row: The row.
        judge: Judge of the images.
        generator: The generator.
        width: Channels of the discriminator.
        projection: Size of the space in which features are compared.
    """
    return GANNetwork(
        generator=generator,
        discriminator=Spec(
            ResNetDiscriminator,
            width=width,
            projection_size=projection if INFO_MAX in row else None,
            names_rotations=row == SSGAN,
        ),
        judge=judge,
    )


def published_gans(cell: Cell) -> Experiment:
    """Describe a row of Table 4 or of the text, in a group such as `"tiny-imagenet-fid"`."""
    generator = GENERATORS.get(cell.row, Spec(ResNetGenerator))
    return Experiment(
        task=ImageGeneration(data_set=cell.group.rpartition("-")[0]),
        model=_network(cell.row, INCEPTION, generator=generator),
        recipe=Recipe(
            steps=100_000,
            learning_rate=2e-4,
            batch_size=64,
            optimizer=ADAM,
            schedule=Linear(),
        ),
        players=_players(cell.row, repeats=5),
    )


# Narrow GANs of MNIST. No number compares with Table 4: networks are narrow, updates few, and
# another network judges, one for each seed.

WIDTH: Final = 16
NARROW_READS: Final = NFMRules(num_heads=2, key_size=8, value_size=8)
CLASSIFIER: Final = Experiment(
    task=ImageClasses(data_set="mnist", test_images=2_000),
    model=ItemNetwork(core=Spec(PreActResNet, width=8), front=Spec(Standardize)),
    recipe=Recipe(
        steps=600,
        learning_rate=0.1,
        batch_size=100,
        optimizer=SGD(momentum=0.9, nesterov=True, weight_decay=1e-4),
        schedule=Cosine(),
    ),
)
"""Judges of narrow generators: one for each seed, after an epoch of MNIST."""
JUDGE: Final = Judge(label="mnist-preact-resnet", model=CLASSIFIER.model, layer="core.pool")
NARROW: Final[dict[str, Spec]] = {
    "SNGAN": Spec(ResNetGenerator, width=WIDTH),
    SSGAN: Spec(ResNetGenerator, width=WIDTH),
    INFO_MAX: Spec(ResNetGenerator, width=WIDTH),
    f"{INFO_MAX}, wider": Spec(ResNetGenerator, width=2 * WIDTH),
    NFM_INFO_MAX: Spec(ResNetGenerator, width=WIDTH, nfm=NARROW_READS),
}


def narrow_gans(cell: Cell) -> Experiment:
    """Train a narrow GAN, with five times the learning rate of Table 4.

    There are less than a hundredth of the updates of Table 4.
    """
    return Experiment(
        task=ImageGeneration(data_set="mnist", training_images=6_000, test_images=5_000),
        model=_network(
            cell.row, JUDGE, generator=NARROW[cell.row], width=WIDTH, projection=8 * WIDTH
        ),
        recipe=Recipe(
            steps=700, learning_rate=1e-3, batch_size=32, optimizer=ADAM, schedule=Linear()
        ),
        players=_players(cell.row, repeats=2),
        starts_from=Pretrained(experiment=CLASSIFIER, into="judge.network"),
    )


def gans_over_training(cell: Cell) -> Experiment:
    """Train a narrow GAN from the start for the updates of a group, e.g. `"fid-70"`.

    Each has a learning rate that falls to 0.
    """
    gan = narrow_gans(cell)
    steps = int(cell.group.rpartition("-")[2])
    return gan.at_fraction(steps / gan.recipe.steps, before=1.0)
