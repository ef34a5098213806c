"""Figures of ren2017 on super-resolution, and the same of our own networks."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from farfield.reports._exhibits._exhibit import Figure, Quote
from farfield.reports._exhibits._restorations import Restorations
from farfield.reproductions import Table
from farfield.reproductions.ren2017 import CAPTIONS, FIGURE_4, FIGURE_7, METHODS, T91


def _figure(number: int, images: Mapping[str, tuple[str, str, str, str]]) -> Figure:
    return Figure(
        table=Table(
            key=f"ren2017/figure-{number}",
            title="Images of Set14 enlarged by 4",
            claims=CAPTIONS.select(*(f"{image}/*" for image in images)).claims,
        ),
        exhibits=(Restorations(regime="set14", images=tuple(images)),),
        says=tuple(
            Quote(of=f"{image}/{row.replace('*', '[*]')}", words=f"{psnr} dB (Figure {number})")
            for image, numbers in images.items()
            for row, psnr in zip(METHODS, numbers, strict=True)
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
    exhibits=(Restorations(regime="set14", images=(*FIGURE_4, *FIGURE_7)),),
    quick_networks=3,
)
"""Our own, with networks that a core trains in minutes."""

IMAGES: Final = (
    FIGURE_4_IMAGES,
    FIGURE_7_IMAGES,
    T91_IMAGES,
)
"""Every figure of images."""
