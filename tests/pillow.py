"""Operations of Pillow on an image, as augmentations name them."""

from __future__ import annotations

from PIL import Image, ImageEnhance, ImageOps


def by_pillow(
    name: str,
    image: Image.Image,
    *,
    angle: float,
    bits: int,
    threshold: int,
    factor: float,
    shear: float,
    columns: float,
    rows: float,
) -> Image.Image:
    """The image after the operation of this name, at a strength for each."""

    def affine(*numbers: float) -> Image.Image:
        return image.transform(image.size, Image.Transform.AFFINE, numbers)

    return {
        "identity": lambda: image,
        "auto_contrast": lambda: ImageOps.autocontrast(image),
        "equalize": lambda: ImageOps.equalize(image),
        "rotate": lambda: image.rotate(angle),
        "posterize": lambda: ImageOps.posterize(image, bits),
        "solarize": lambda: ImageOps.solarize(image, threshold),
        "color": lambda: ImageEnhance.Color(image).enhance(factor),
        "contrast": lambda: ImageEnhance.Contrast(image).enhance(factor),
        "brightness": lambda: ImageEnhance.Brightness(image).enhance(factor),
        "sharpness": lambda: ImageEnhance.Sharpness(image).enhance(factor),
        "shear_x": lambda: affine(1, shear, 0, 0, 1, 0),
        "shear_y": lambda: affine(1, 0, 0, shear, 1, 0),
        "translate_x": lambda: affine(1, 0, columns, 0, 1, 0),
        "translate_y": lambda: affine(1, 0, 0, 0, 1, rows),
    }[name]()
