"""Figures of ren2017: constants, settings and pairs of CIFAR-10, and images restored."""

from __future__ import annotations

import glob
from typing import Final

from farfield.reports._exhibits._exhibit import Figure, Quote
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
    return Figure(
        table=Table(
            key=f"ren2017/figure-{number}",
            title="Images of Set14 enlarged by 4",
            claims=table.claims,
        ),
        exhibits=(restorations(regime="set14", images=images),),
        says=tuple(
            Quote(
                of=f"{claim.group}/{claim.row.replace('*', '[*]')}",
                words=f"{claim.published} dB (Figure {number})",
            )
            for claim in table.claims
        ),
        quick_networks=1,
    )


FIGURE_4_IMAGES: Final = _figure(4, FIGURE_4)
FIGURE_7_IMAGES: Final = _figure(7, FIGURE_7)

T91_IMAGES: Final = Figure(
    table=Table(
        key="ren2017/restorations-t91",
        title="Images of Set14 enlarged by 3 after 3,000 steps on T91",
        claims=T91.select("psnr/*/set14").claims,
    ),
    exhibits=(restorations(regime="set14", images=(*FIGURE_4, *FIGURE_7)),),
    quick_networks=3,
)
"""Figure without a published counterpart, of networks that one core trains in minutes."""

IMAGES: Final = (FIGURE_4_IMAGES, FIGURE_7_IMAGES, T91_IMAGES)
"""Figures of images."""


FIGURE_2: Final = Figure(
    table=Table(
        key="ren2017/figure-2",
        title="Divisive normalization and a ReLU as an activation function",
        claims=TABLE_7_CIFAR.select("cifar10/dn/test").claims,
    ),
    exhibits=(activation_curves(),),
    quick_networks=1,
)
"""Constants and inputs: chosen by Farfield, as the paper names none."""

DEPTH: Final = (
    Quote(of="*/depth", words="“it tends to decrease with depth” (section 4.1)"),
    Quote(of="*/last", words="“in the last convolution layer it approaches 0” (section 4.1)"),
)

FIGURE_3: Final = Figure(
    table=Table(
        key="ren2017/figure-3",
        title="Learned constants of ResNet-32 against input scales",
        claims=RESNET.select("*/dn-star/test").claims,
    ),
    exhibits=(constants_by_layer(regime="test"),),
    says=DEPTH,
    quick_networks=1,
)

FIGURE_3_NARROW: Final = Figure(
    table=Table(
        key="ren2017/figure-3-narrow",
        title="Learned constants of a narrow ResNet-32 against input scales, JPEG copies",
        claims=RESNET_NARROW.select("dn-star/test", "dn-learned/test").claims,
    ),
    exhibits=(constants_by_layer(regime="test"),),
    says=DEPTH,
    quick_networks=1,
)

PAIR_CAPTIONS: Final = tuple(
    Quote(of=f"{glob.escape(row)}/{quantity}", words=f"{value} (Figure 5)")
    for row, values in DEPENDENCE.items()
    for quantity, value in zip(QUANTITIES, values, strict=True)
)
FIRST: Final = response_pairs(layer="core.convolutions.0", regime="test")
"""Pairs of channels of the first convolution, before anything is normalized."""


def _of_figure_5(table: Table, group: str) -> Table:
    """Select the cells of the rows of Figure 5."""
    claims = (
        claim
        for claim in table.claims
        if (claim.regime, claim.group) == ("test", group) and claim.row in DEPENDENCE
    )
    narrow = "" if group else "-narrow"
    return Table(
        key=f"ren2017/figure-5{narrow}",
        title=f"Responses of pairs of channels, {'CIFAR-10' if group else 'JPEG copies'}",
        claims=tuple(claims),
    )


FIGURE_5: Final = Figure(
    table=_of_figure_5(TABLE_7_CIFAR, "cifar10"),
    exhibits=(FIRST,),
    says=PAIR_CAPTIONS,
    quick_networks=1,
)
"""Images and estimate of mutual information: chosen by Farfield, as the paper names neither."""

FIGURE_5_NARROW: Final = Figure(
    table=_of_figure_5(CIFAR_NARROW, ""), exhibits=(FIRST,), says=PAIR_CAPTIONS, quick_networks=1
)

CHOICES: Final = (
    Quote(of="?N/σ", words="“sigma makes the most contributions” (appendix A)"),
    Quote(of="[BL]N/α", words="“much gain for the original version of LN and BN” (appendix A)"),
)

FIGURE_6: Final = Figure(
    table=Table(
        key="ren2017/figure-6",
        title="Smoothing constants and L1 penalties on validation images of CIFAR",
        claims=SETTINGS.claims,
    ),
    exhibits=(scores_by_setting(),),
    says=CHOICES,
    quick_networks=1,
)

FIGURE_6_NARROW: Final = Figure(
    table=Table(
        key="ren2017/figure-6-narrow",
        title="Smoothing constants and L1 penalties on validation images, JPEG copies",
        claims=SETTINGS_NARROW.claims,
    ),
    exhibits=(scores_by_setting(),),
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
