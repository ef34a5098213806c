"""GANs of chapter 10 of lamb2022: Table 4, numbers of section 10.4.7, and a table of our own.

The text refers to the released code of Lee and Town 2020, Mimicry, for all that it does not say,
and so does this: hinge losses, Adam of 2e-4 without momentum, five updates of the discriminator to
each of the generator, 100,000 of these in batches of 64, and a learning rate that falls to 0. Three
rows of Table 4 are the scores that Mimicry's page lists, where what stands after ± is the deviation
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
    Judge,
    Linear,
    Player,
    Pretrained,
    Recipe,
    Spec,
)
from farfield.functional.internal import NFMRules
from farfield.models import PreActResNet, ResNetDiscriminator, ResNetGenerator
from farfield.nn import Standardize
from farfield.objectives import HingeDiscriminator, HingeGenerator
from farfield.reproductions._claims import Claim, Table
from farfield.reproductions._published import Published, Unpublished
from farfield.reproductions._rule import VerdictRule
from farfield.reproductions._unbuilt import Unbuilt
from farfield.reproductions.lamb2022 import _print_nfm_gan as printed
from farfield.reproductions.lamb2022._print_mixup import Number
from farfield.reproductions.lamb2022._print_nfm_gan import (
    INFO_MAX,
    NFM_INFO_MAX,
    SNGAN,
    SSGAN,
)
from farfield.tasks import TRAINING, ImageClasses, ImageGeneration

NAMES: Final = {"cifar10": "CIFAR-10", "tiny-imagenet": "Tiny-ImageNet"}
SCORES: Final = {"fid": "FID", "is": "IS"}
RULES: Final = {
    "fid": VerdictRule(margin=0.5, widest=2.0),
    "is": VerdictRule(margin=0.1, widest=0.5),
}
ADAM: Final = Adam(betas=(0.0, 0.9))
REPEATS: Final = 5
"""Updates of the discriminator to each of the generator."""
READS: Final = NFMRules(key_size=32, value_size=32)
"""Section 10.4.1; how many entries a head attends to is not said there."""
INFO_MAX_WEIGHT: Final = 0.2
ROTATION_WEIGHTS: Final = (1.0, 0.2)
"""Of the discriminator and the generator of the self-supervised GAN."""
PROJECTION: Final = 1024
INCEPTION: Final = Judge(
    label="inception-v3",
    model=ItemNetwork(core=Spec(Unbuilt, model="Inception v3")),
    layer="core",
)


def players(row: str, repeats: int = REPEATS) -> tuple[Player, Player]:
    """Discriminator and generator of a row, with the terms of its method.

    Args:
        row: The row, e.g. `"SSGAN"`.
        repeats: Updates of the discriminator to each of the generator.
    """
    info_max = INFO_MAX_WEIGHT if INFO_MAX in row else 0.0
    first, second = ROTATION_WEIGHTS if row == SSGAN else (0.0, 0.0)
    return (
        Player(
            objective=HingeDiscriminator(info_max=info_max, rotation=first),
            parts=("discriminator",),
            repeats=repeats,
        ),
        Player(objective=HingeGenerator(info_max=info_max, rotation=second), parts=("generator",)),
    )


def network(
    row: str,
    judge: Judge,
    *,
    generator: Spec,
    width: int = 128,
    projection: int = PROJECTION,
) -> GANNetwork:
    """The networks of a row.

    Args:
        row: The row.
        judge: What its images are scored by.
        generator: The generator.
        width: Channels of the discriminator.
        projection: Size of the space of its features, where it compares them.
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


def _claim(
    table: str, row: str, data_set: str, score: str, number: Number, generator: Spec
) -> Claim:
    """A cell of the chapter."""
    images = NAMES[data_set]
    mean, spread = number
    return Claim(
        paper="lamb2022",
        table=f"nfm-{table}",
        row=row,
        column=f"{images} {SCORES[score]}",
        published=Published(
            mean=float(mean),
            spread=None if spread is None else float(spread),
            spread_kind="not said",
            runs=1 if spread is None else printed.RUNS,
            decimals=(2, 2),
            unit="fraction",
            selection="weights of the last step; published: not said",
            split=f"as many images as training images of {images}, compared with these",
            runs_assumed=True,
        ),
        experiment=Experiment(
            task=ImageGeneration(data_set=data_set),
            model=network(row, INCEPTION, generator=generator),
            recipe=Recipe(
                steps=100_000,
                learning_rate=2e-4,
                batch_size=64,
                optimizer=ADAM,
                schedule=Linear(),
            ),
            players=players(row),
        ),
        rule=RULES[score],
        metric=f"{score}/{INCEPTION.label}",
        regime=TRAINING,
        quick=1 / 10_000,
        subject="GANs",
        group=f"{data_set}-{score}",
        data=f"{images} as published and whole, and the weights of Inception v3, in FARFIELD_DATA",
        unbuilt=True,
    )


def _generator(row: str) -> Spec:
    return Spec(ResNetGenerator, nfm=READS if row == NFM_INFO_MAX else None)


NFM_TABLE_4: Final = Table(
    key="lamb2022/nfm-table-4",
    title="GANs with neural function modules in the generator",
    claims=tuple(
        _claim("table-4", row, data_set, score, number, _generator(row))
        for row, numbers in printed.TABLE_4.items()
        for (data_set, score), number in zip(printed.COLUMNS, numbers, strict=True)
    ),
)

LARGER: Final = {
    f"{INFO_MAX}, twice the channels": (printed.WIDER, Spec(ResNetGenerator, width=512)),
    f"{INFO_MAX}, twice the layers": (printed.DEEPER, Spec(ResNetGenerator, blocks=2)),
}

NFM_GAN_TEXT: Final = Table(
    key="lamb2022/nfm-gan-text",
    title="GANs of section 10.4.7 with more channels and layers",
    claims=tuple(
        _claim("gan-text", row, "cifar10", "fid", (mean, None), generator)
        for row, (mean, generator) in LARGER.items()
    ),
)
"""Of the generators; whether discriminators grew as well is not said."""

DIGITS: Final = ImageGeneration(data_set="mnist", training_images=6_000, test_images=5_000)
WIDTH: Final = 16
STEPS: Final = 700
"""With five times the learning rate of Table 4: there are less than a hundredth of its updates."""
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
MEASURED: Final = Unpublished(
    runs=3,
    decimals=(2, 2),
    unit="fraction",
    selection="weights of the last step",
    split="5,000 images made, compared with 5,000 test images",
)
NARROW: Final[dict[str, Spec]] = {
    SNGAN: Spec(ResNetGenerator, width=WIDTH),
    SSGAN: Spec(ResNetGenerator, width=WIDTH),
    INFO_MAX: Spec(ResNetGenerator, width=WIDTH),
    f"{INFO_MAX}, wider": Spec(ResNetGenerator, width=2 * WIDTH),
    NFM_INFO_MAX: Spec(ResNetGenerator, width=WIDTH, nfm=NARROW_READS),
}


def _narrow(row: str, score: str, fraction: float = 1.0) -> Claim:
    """A cell of our own tables, after a fraction of the updates."""
    experiment = Experiment(
        task=DIGITS,
        model=network(row, JUDGE, generator=NARROW[row], width=WIDTH, projection=8 * WIDTH),
        recipe=Recipe(
            steps=STEPS, learning_rate=1e-3, batch_size=32, optimizer=ADAM, schedule=Linear()
        ),
        players=players(row, repeats=2),
        starts_from=Pretrained(experiment=CLASSIFIER, into="judge.network"),
    ).at_fraction(fraction, before=1.0)
    steps = experiment.recipe.steps
    return Claim(
        paper="lamb2022",
        table="nfm-gan-narrow" if fraction == 1 else "nfm-gan-over-training",
        row=row,
        column=f"{SCORES[score]}, {steps} updates",
        published=MEASURED,
        experiment=experiment,
        rule=RULES[score],
        metric=f"{score}/{JUDGE.label}",
        regime="test",
        quick=1,
        subject="GANs, MNIST",
        group=score if fraction == 1 else f"{score}-{steps}",
        data="MNIST: in FARFIELD_DATA/mnist, or by `farfield fetch mnist`",
    )


NFM_GAN_NARROW: Final = Table(
    key="lamb2022/nfm-gan-narrow",
    title="Narrow GANs of MNIST, judged by features of a classifier of its digits",
    claims=tuple(_narrow(row, score) for row in NARROW for score in SCORES),
)
"""No number of it compares with Table 4: networks are narrow, updates few, and another network
judges, one of its own for each seed."""

NFM_GAN_OVER_TRAINING: Final = Table(
    key="lamb2022/nfm-gan-over-training",
    title="Narrow GANs of MNIST after a tenth and three tenths of the updates",
    claims=tuple(_narrow(row, "fid", fraction) for row in NARROW for fraction in (0.1, 0.3)),
)
"""Trained from the start, each with a learning rate that falls to 0."""
