"""Figures of ren2017: constants, settings and pairs of CIFAR-10, and images restored."""

from __future__ import annotations

import glob
from typing import Final

from farfield.reports._exhibits._exhibit import Figure, figure
from farfield.reports._exhibits._images import restorations
from farfield.reports._exhibits._layers import activation_curves, constants_by_layer, response_pairs
from farfield.reports._exhibits._scores import scores_by_setting
from farfield.reproductions import TABLES, Table
from farfield.reproductions.ren2017 import PAPER

CAPTIONS: Final = TABLES["ren2017/captions"]
CIFAR_NARROW: Final = TABLES["ren2017/cifar-narrow"]
RESNET: Final = TABLES["ren2017/resnet"]
RESNET_NARROW: Final = TABLES["ren2017/resnet-narrow"]
SETTINGS: Final = TABLES["ren2017/settings"]
SETTINGS_NARROW: Final = TABLES["ren2017/settings-narrow"]
T91: Final = TABLES["ren2017/super-resolution-t91"]
TABLE_7_CIFAR: Final = TABLES["ren2017/table-7-cifar"]
QUANTITIES, DEPENDENCE = PAPER.numbers("figure-5.tsv")
FIGURE_4: Final = ("lenna", "foreman", "monarch")
FIGURE_7: Final = ("comic", "face")


def _figure(number: int, images: tuple[str, ...]) -> Figure:
    table = CAPTIONS.select(*(f"{image}/*" for image in images))
    return figure(
        f"ren2017/figure-{number}",
        "Images of Set14 enlarged by 4",
        table.claims,
        restorations(regime="set14", images=images),
        says={
            f"{one.group}/{one.row.replace('*', '[*]')}": f"{one.published} dB (Figure {number})"
            for one in table.claims
        },
        quick_networks=1,
    )


FIGURE_4_IMAGES: Final = _figure(4, FIGURE_4)
FIGURE_7_IMAGES: Final = _figure(7, FIGURE_7)

T91_IMAGES: Final = figure(
    "ren2017/restorations-t91",
    "Images of Set14 enlarged by 3 after 3,000 steps on T91",
    T91.select("psnr/*/set14").claims,
    restorations(regime="set14", images=(*FIGURE_4, *FIGURE_7)),
    quick_networks=3,
)
"""Figure without a published counterpart, of networks that one core trains in minutes."""

IMAGES: Final = (FIGURE_4_IMAGES, FIGURE_7_IMAGES, T91_IMAGES)
"""Figures of images."""


FIGURE_2: Final = figure(
    "ren2017/figure-2",
    "Divisive normalization and a ReLU as an activation function",
    TABLE_7_CIFAR.select("cifar10/dn/test").claims,
    activation_curves(),
    quick_networks=1,
)
"""Constants and inputs: chosen by Farfield, as the paper names none."""

DEPTH: Final = {
    "*/depth": "“it tends to decrease with depth” (section 4.1)",
    "*/last": "“in the last convolution layer it approaches 0” (section 4.1)",
}

FIGURE_3: Final = figure(
    "ren2017/figure-3",
    "Learned constants of ResNet-32 against input scales",
    RESNET.select("*/dn-star/test").claims,
    constants_by_layer(regime="test"),
    says=DEPTH,
    quick_networks=1,
)

FIGURE_3_NARROW: Final = figure(
    "ren2017/figure-3-narrow",
    "Learned constants of a narrow ResNet-32 against input scales, JPEG copies",
    RESNET_NARROW.select("dn-star/test", "dn-learned/test").claims,
    constants_by_layer(regime="test"),
    says=DEPTH,
    quick_networks=1,
)

PAIR_CAPTIONS: Final = {
    f"{glob.escape(row)}/{quantity}": f"{value} (Figure 5)"
    for row, values in DEPENDENCE.items()
    for quantity, value in zip(QUANTITIES, values, strict=True)
}


def _figure_5(table: Table, group: str) -> Figure:
    """Build Figure 5 of the cells of its rows."""
    return figure(
        f"ren2017/figure-5{'' if group else '-narrow'}",
        f"Responses of pairs of channels, {'CIFAR-10' if group else 'JPEG copies'}",
        (
            claim
            for claim in table.claims
            if (claim.regime, claim.group) == ("test", group) and claim.row in DEPENDENCE
        ),
        response_pairs(layer="core.convolutions.0", regime="test"),
        says=PAIR_CAPTIONS,
        quick_networks=1,
    )


FIGURE_5: Final = _figure_5(TABLE_7_CIFAR, "cifar10")
"""Images and estimate of mutual information: chosen by Farfield, as the paper names neither.

Pairs of channels of the first convolution, before anything is normalized.
"""

FIGURE_5_NARROW: Final = _figure_5(CIFAR_NARROW, "")

CHOICES: Final = {
    "?N/σ": "“sigma makes the most contributions” (appendix A)",
    "[BL]N/α": "“much gain for the original version of LN and BN” (appendix A)",
}

FIGURE_6: Final = figure(
    "ren2017/figure-6",
    "Smoothing constants and L1 penalties on validation images of CIFAR",
    SETTINGS.claims,
    scores_by_setting(),
    says=CHOICES,
    quick_networks=1,
)

FIGURE_6_NARROW: Final = figure(
    "ren2017/figure-6-narrow",
    "Smoothing constants and L1 penalties on validation images, JPEG copies",
    SETTINGS_NARROW.claims,
    scores_by_setting(),
    says=CHOICES,
    quick_networks=1,
)

FIGURES: Final = (
    FIGURE_2,
    FIGURE_3,
    FIGURE_3_NARROW,
    FIGURE_5,
    FIGURE_5_NARROW,
    FIGURE_6,
    FIGURE_6_NARROW,
    *IMAGES,
)
"""Figures of the paper and further figures, in order."""
