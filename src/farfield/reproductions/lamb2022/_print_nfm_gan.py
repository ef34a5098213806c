"""Published numbers of the GANs of chapter 10 of lamb2022, neural function modules, as data."""

from __future__ import annotations

from typing import Final

from farfield.reproductions.lamb2022._print_mixup import Number

RUNS: Final = 3
"""Networks taken to stand behind a number with a spread; neither is said what that is."""
SNGAN: Final = "SNGAN"
SSGAN: Final = "SSGAN"
INFO_MAX: Final = "InfoMax-GAN"
NFM_INFO_MAX: Final = "NFM(InfoMax-GAN)"
COLUMNS: Final[tuple[tuple[str, str], ...]] = (
    ("cifar10", "fid"),
    ("cifar10", "is"),
    ("tiny-imagenet", "fid"),
    ("tiny-imagenet", "is"),
)
"""Columns of Table 4: images and score."""

TABLE_4: Final[dict[str, tuple[Number, Number, Number, Number]]] = {
    SNGAN: (("16.77", "0.04"), ("7.97", "0.06"), ("23.04", "0.06"), ("8.97", "0.12")),
    SSGAN: (("14.65", "0.04"), ("8.17", "0.06"), ("21.79", "0.09"), ("9.11", "0.12")),
    INFO_MAX: (("15.12", "0.10"), ("8.08", "0.08"), ("20.68", "0.02"), ("9.04", "0.10")),
    NFM_INFO_MAX: (("13.15", "0.06"), ("8.34", "0.02"), ("18.23", "0.08"), ("9.12", "0.09")),
}
"""Table 4: Fréchet inception distance and inception score, by images."""

WIDER: Final = "14.65"
"""Section 10.4.7: Fréchet inception distance with twice the channels at each layer, CIFAR-10."""

DEEPER: Final = "14.43"
"""Section 10.4.7: the same with twice the layers."""
