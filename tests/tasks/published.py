"""Files of panels that are not as published, for tests of the tasks that read them."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

Arrays = dict[str, np.ndarray]


def changed(**fields: object) -> Callable[[Arrays], Arrays]:
    return lambda arrays: {
        name: array for name, array in {**arrays, **fields}.items() if array is not None
    }


def image(panels: int, value: float, kind: str = "f8") -> np.ndarray:
    array = np.zeros((160, 160, panels), kind)
    array[80, 80, 4] = value
    return array


def damages(panels: int, answers: int) -> list[tuple[Callable[[Arrays], Arrays], str]]:
    """Changes of the image and the target of a file, and the messages."""
    other = 25 - panels
    return [
        (changed(image=None), "image must be there, it is missing"),
        (changed(target=None), "target must be there, it is missing"),
        (
            changed(image=image(panels, 0).astype(object)),
            "image must hold numbers, got pickled objects, which are never loaded",
        ),
        (changed(target=np.array(1, object)), "target must hold numbers, got pickled objects"),
        (
            changed(image=np.zeros((160, 160, other), np.uint8)),
            (
                rf"image must be gray levels of shape \({panels}, 160, 160\) or flat, one panel "
                rf"after another, also where the header has \(160, 160, {panels}\), "
                rf"got uint8 of shape \(160, 160, {other}\)"
            ),
        ),
        (
            changed(image=np.zeros((panels, 80, 80))),
            rf"got float64 of shape \({panels}, 80, 80\)",
        ),
        (changed(image=image(panels, 1, "c8")), "image must be gray levels .* got complex64"),
        (changed(image=image(panels, 1, "?")), "image must be gray levels .* got bool"),
        (
            changed(image=image(panels, np.nan)),
            "image must hold whole gray levels 0…255, got .*nan",
        ),
        (
            changed(image=image(panels, np.inf)),
            "image must hold whole gray levels 0…255, got .*inf",
        ),
        (changed(image=image(panels, 256)), r"got float64 of 0\.0…256\.0"),
        (changed(image=image(panels, -1, "i2")), "got int16 of -1…0"),
        (changed(image=image(panels, 0.5)), r"got float64 of 0\.0…0\.5"),
        (changed(target=np.array(answers)), f"target must be 0…{answers - 1}, got {answers}"),
        (changed(target=np.array(-1)), f"target must be 0…{answers - 1}, got -1"),
        (changed(target=np.array([1, 2])), r"target must be one integer, got int64 of shape \(2,"),
        (changed(target=np.array(1.0)), "target must be one integer, got float64"),
    ]
