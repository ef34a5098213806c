"""Published numbers of ren2017 on super-resolution, as data."""

from __future__ import annotations

from typing import Final

BICUBIC: Final = "Bicubic"
A_PLUS: Final = "A+"
SRCNN: Final = "SRCNN"
BN: Final = "BN"
DN_STAR: Final = "DN*"

COLUMNS: Final = (("psnr", 3), ("ssim", 3), ("psnr", 4), ("ssim", 4))
"""Columns of the tables: metric, and factor of the enlargement."""

TABLE_5: Final[dict[str, tuple[str, str, str, str]]] = {
    BICUBIC: ("27.54", "0.7733", "26.01", "0.7018"),
    A_PLUS: ("29.13", "0.8188", "27.32", "0.7491"),
    SRCNN: ("29.35", "0.8212", "27.53", "0.7512"),
    BN: ("22.31", "0.7530", "21.40", "0.6851"),
    DN_STAR: ("29.38", "0.8229", "27.64", "0.7562"),
}
"""Table 5, Set14."""

TABLE_6: Final[dict[str, tuple[str, str, str, str]]] = {
    BICUBIC: ("27.19", "0.7636", "25.92", "0.6952"),
    A_PLUS: ("27.05", "0.7945", "25.51", "0.7171"),
    SRCNN: ("28.42", "0.8100", "26.87", "0.7378"),
    BN: ("21.89", "0.7553", "21.53", "0.6741"),
    DN_STAR: ("28.44", "0.8110", "26.96", "0.7428"),
}
"""Table 6, BSD200."""

TABLE_8: Final[dict[str, tuple[str, str, str, str]]] = {
    BICUBIC: ("30.41", "0.8678", "28.44", "0.8097"),
    A_PLUS: ("32.59", "0.9088", "30.28", "0.8603"),
    SRCNN: ("32.83", "0.9087", "30.52", "0.8621"),
    BN: ("22.85", "0.8027", "20.71", "0.7623"),
    DN_STAR: ("32.83", "0.9106", "30.62", "0.8665"),
}
"""Table 8, Set5."""

METHODS: Final = (BICUBIC, SRCNN, BN, DN_STAR)
"""Methods of Figures 4 and 7, from left to right."""

FIGURE_4: Final[dict[str, tuple[str, str, str, str]]] = {
    "lenna": ("29.84", "31.33", "23.94", "31.46"),
    "foreman": ("29.41", "33.14", "21.88", "33.43"),
    "monarch": ("27.46", "30.12", "23.91", "30.19"),
}
"""Figure 4, PSNR under each image. The paper names none: these images of Set14 have its PSNR of
bicubic enlargement by 4, with 4 pixels along each border left out, to 0.03 (foreman) or 0.01."""

FIGURE_7: Final[dict[str, tuple[str, str, str, str]]] = {
    "comic": ("21.69", "22.62", "20.06", "22.69"),
    "face": ("31.55", "32.29", "19.39", "32.31"),
}
"""Figure 7, as Figure 4."""

STEPS: Final = 4_000_000
"""Iterations (section 4.3)."""
