"""Published numbers of chapter 10 of lamb2022 on the classification of images, as data."""

from __future__ import annotations

from typing import Final

from farfield.reproductions.lamb2022._print_mixup import Number

TABLE_2: Final[dict[tuple[str, str], tuple[Number, Number]]] = {
    ("CIFAR-10", "PreResNet18"): (("96.27", "0.2"), ("96.56", "0.09")),
    ("CIFAR-10", "PreResNet34"): (("96.79", "0.1"), ("97.05", "0.1")),
    ("CIFAR-10", "PreResNet50"): (("97.31", "0.1"), ("97.58", "0.2")),
    ("CIFAR-100", "PreResNet18"): (("78.15", "0.1"), ("78.66", "0.3")),
    ("CIFAR-100", "PreResNet34"): (("80.13", "0.3"), ("80.77", "0.1")),
    ("Tiny-Imagenet", "PreResNet18"): (("57.12", "0.3"), ("58.32", "0.2")),
    ("Imagenet", "PreResNet18"): (("76.72", None), ("77.1", None)),
}
"""Table 2: accuracy in percent without and with NFM, by images and base architecture."""

TABLE_9: Final[dict[tuple[int, int, int, int], str]] = {
    (2, 3, 8, 16): "80.37",
    (2, 3, 8, 32): "80.47",
    (2, 3, 8, 64): "80.41",
    (2, 4, 8, 16): "80.26",
    (2, 4, 8, 32): "80.77",
    (2, 4, 8, 64): "80.52",
    (4, 3, 16, 16): "80.31",
    (4, 3, 16, 32): "80.26",
    (4, 3, 16, 64): "80.27",
    (4, 3, 32, 32): "80.40",
    (4, 4, 16, 32): "80.55",
    (4, 4, 32, 64): "80.33",
}
"""Table 9, CIFAR-100: accuracy in percent by heads, top-k, key size and value size."""

BASELINE_9: Final = "80.13"
"""Caption of Table 9: the network without."""

RANDOM_ATTENTION: Final = ("96.5", "88.5")
"""Section 10.4.4: accuracy in percent on CIFAR-10, and with attention drawn at random at test."""

OCCLUDED: Final = ("82.46", "84.11")
"""Section 10.4.4: accuracy in percent behind a box of 16×16, without and with NFM."""

NEAREST: Final = ("96.56", "96.47")
"""Section 10.4.7: accuracy in percent, and with nearest-neighbor rescaling."""
