"""Render letters and digits in ten fonts that Matplotlib ships: `src/farfield/tasks/fonts.npz`.

The first font has the pixels of `GlyphSet.letters()`. Left out for all fonts: characters that one
of them lacks or draws too wide, and the smaller of two that differ in size alone (C and c).
"""

from pathlib import Path

import matplotlib as mpl
import numpy as np
from PIL import Image, ImageDraw, ImageFont

FONTS = {
    "DejaVu Sans": None,
    "DejaVu Sans Bold": "DejaVuSans-Bold.ttf",
    "DejaVu Sans Mono": "DejaVuSansMono.ttf",
    "DejaVu Serif": "DejaVuSerif.ttf",
    "DejaVu Serif Italic": "DejaVuSerif-Italic.ttf",
    "STIX General": "STIXGeneral.ttf",
    "STIX General Italic": "STIXGeneralItalic.ttf",
    "Computer Modern Roman": "cmr10.ttf",
    "Computer Modern Sans Serif": "cmss10.ttf",
    "Computer Modern Typewriter": "cmtt10.ttf",
}
"""File of each font in Matplotlib.

Licenses: Bitstream Vera and public domain (DejaVu), STIX Font License (STIX), BaKoMa Fonts License
(Computer Modern). All permit copies of the fonts for any purpose.
"""
LETTERS = (
    "ABCDEFGHIJLNOPQRSTUVWXYabcdefghijmnpqrstuvwxyz0123"
    "456789ΓΔΘΞΠΣΨαγδεηθλμξπρστψωБИЛФЧШЫЭбгджилпфцчшыэю"
)
"""Characters of `GlyphSet.letters()`, in their order."""
KEPT = "ABCDEFGHIJLNOPQRSTUVXYabdefghjmnqrtyz23456789"
"""Characters that all fonts have, none like another but for its size, in any of the fonts."""
SIDE, DETAIL = 32, 8
PACKAGE = Path(__file__).resolve().parents[1] / "src" / "farfield" / "tasks"


def rendered(file: str, cap_height: float) -> np.ndarray:
    """Draw the characters in one font, black on white, centred, with capitals of one height."""
    path = Path(mpl.get_data_path()) / "fonts" / "ttf" / file
    _, top, _, bottom = ImageFont.truetype(path, 1000).getbbox("H")
    font = ImageFont.truetype(path, round(DETAIL * cap_height * 1000 / (bottom - top)))
    return np.stack([drawn(font, character) for character in KEPT])


def drawn(font: ImageFont.FreeTypeFont, character: str) -> np.ndarray:
    """Draw one character in large, and average the pixels."""
    large = SIDE * DETAIL
    left, top, right, bottom = font.getbbox(character)
    if max(right - left, bottom - top) > large:
        raise ValueError(f"character must fit {large} pixels, got {character!r}")
    image = Image.new("L", (large, large), 255)
    corner = ((large - left - right) // 2, (large - top - bottom) // 2)
    ImageDraw.Draw(image).text(corner, character, fill=0, font=font)
    blocks = np.asarray(image, np.int64).reshape(SIDE, DETAIL, SIDE, DETAIL)
    return ((blocks.sum((1, 3)) + DETAIL**2 // 2) // DETAIL**2).astype(np.uint8)


def main() -> None:
    """Write the table: `(font, character, height, width)`."""
    with np.load(PACKAGE / "glyphs.npz") as archive:
        plain = archive["letters"][[LETTERS.index(character) for character in KEPT]]
    dark = np.flatnonzero((plain[KEPT.index("H")] < 128).any(1))
    height = 0.9 * (dark[-1] - dark[0] + 1)  # so that a j fits
    tables = [plain if file is None else rendered(file, height) for file in FONTS.values()]
    np.savez_compressed(PACKAGE / "fonts.npz", fonts=np.stack(tables))


if __name__ == "__main__":
    main()
