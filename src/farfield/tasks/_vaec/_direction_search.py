"""Search for a square, a disk and a triangle in a map of local direction, by templates.

All is on a map of half the resolution, whose values are 1 on objects and −1 on the ground. A shape
is a row of four numbers: center from the left and from the top, width of the square of equal area,
all in pixels of the picture, and turn in radians.
"""

from __future__ import annotations

import math
from functools import lru_cache
from typing import Final

import numpy as np
import torch
from jaxtyping import Float, UInt8
from torch import Tensor
from torch.nn import functional as F

from farfield.tasks._vaec._direction_pictures import SIDE, local_direction

_FACES: Final = (4, 3, 0)
"""Faces of a square, a triangle and a disk."""
_TURNS: Final = (12, 12, 1)
"""Turns of the templates of each."""
_WIDTHS: Final = ((15.0, 36.0, 10), (10.0, 36.0, 12), (10.0, 36.0, 12))
"""Smallest and largest width of the templates of each, pixels, and their number."""
_HALF: Final = SIDE // 2
_FIELD: Final = 64
"""Side of the spectra, half a picture and half a template."""
_SMOOTHING: Final = 1.2
"""Standard deviation of the smoothing of local direction, pixels."""
_GAIN: Final = 3.0
"""Factor of local direction before it is limited to −1…1."""
_GROUND: Final = 8.0
"""Weight of the ground beside objects where candidates are looked for, which lie inside objects."""
_CANDIDATES: Final = 16
"""Candidates of each shape."""
_OVERLAP: Final = 2.0
"""Cost of a pixel that two shapes cover."""
_STEPS: Final = (1.5, 1.5, 1.5, 0.15)
"""First steps of the fit: pixels, pixels, pixels of width, radians."""
_ROUNDS: Final = 6
"""Rounds of the fit, each with steps 0.6 times as long as before."""


def square_by_search(
    picture: UInt8[np.ndarray, "height width"],
) -> Float[np.ndarray, " feature"]:
    """Measure the square of a picture, center and width in pixels, by a search for three shapes.

    Args:
        picture: The picture.
    """
    return _search(picture.tobytes())


@lru_cache(maxsize=2**12)
def _search(pixels: bytes) -> Float[np.ndarray, " feature"]:
    """Search a picture, of which batches of problems show the same many times."""
    picture = np.frombuffer(pixels, np.uint8).reshape(SIDE, SIDE)
    seen = torch.from_numpy(np.tanh(_GAIN * local_direction(picture, _SMOOTHING))).float()
    half = F.avg_pool2d(seen[None], 2)[0]
    shapes = _fit(half, _best_triple(half, _candidates(half)))
    return shapes[0, :3].double().numpy()


def _cover(shapes: Float[Tensor, "*shape 4"], faces: int) -> Float[Tensor, "*shape height width"]:
    """Draw shapes on a map of half the resolution: 1 inside, 0 outside, between at the edge."""
    x, y, width, turn = (one[..., None, None] for one in shapes.unbind(-1))
    pixel = 2 * torch.arange(_HALF) + 0.5
    across, down = pixel - x, pixel[:, None] - y
    if faces == 0:
        inside = width / math.sqrt(math.pi) - torch.hypot(across, down)
    else:
        inside = width / math.sqrt(faces * math.tan(math.pi / faces)) + torch.zeros(_HALF, _HALF)
        reach = inside
        for face in range(faces):
            toward = turn + 2 * math.pi * face / faces
            beyond = across * torch.cos(toward) + down * torch.sin(toward)
            inside = torch.minimum(inside, reach - beyond)
    return (inside / 2 + 0.5).clamp(0, 1)


@lru_cache(maxsize=len(_FACES))
def _templates(kind: int) -> tuple[Tensor, Tensor, Tensor]:
    """Return the templates of a kind by width and turn: rows, conjugate spectra and areas."""
    smallest, largest, count = _WIDTHS[kind]
    widths = smallest * (largest / smallest) ** torch.linspace(0, 1, count)
    turns = torch.arange(_TURNS[kind]) * 2 * math.pi / max(_FACES[kind], 1) / _TURNS[kind]
    rows = torch.stack(torch.meshgrid(widths, turns, indexing="ij"), dim=-1)
    rows = torch.cat([torch.full_like(rows, _HALF + 0.5), rows], dim=-1)
    cover = F.pad(_cover(rows, _FACES[kind]), (0, _FIELD - _HALF) * 2)
    spectra = torch.fft.rfft2(cover.roll((-_HALF // 2, -_HALF // 2), (-2, -1))).conj()
    return rows, spectra, cover.sum((-2, -1))


def _candidates(half: Float[Tensor, "height width"]) -> list[Float[Tensor, "candidate 4"]]:
    """Return the templates of each kind that fit best inside objects, each at its best turn."""
    strict = torch.where(half < 0, _GROUND * half, half) + _GROUND
    spectrum = torch.fft.rfft2(F.pad(strict, (0, _FIELD - _HALF) * 2))
    found = []
    for kind in range(len(_FACES)):
        rows, spectra, area = _templates(kind)
        fit = torch.fft.irfft2(spectrum * spectra, s=(_FIELD, _FIELD))[..., :_HALF, :_HALF]
        fit, turn = (fit - _GROUND * area[..., None, None]).max(1)
        highest = F.max_pool3d(fit[None], (3, 5, 5), stride=1, padding=(1, 2, 2))[0]
        best = torch.where(fit < highest, -torch.inf, fit).flatten().topk(_CANDIDATES).indices
        width, down, across = torch.unravel_index(best, fit.shape)
        shapes = rows[width, turn[width, down, across]].clone()
        shapes[:, 0], shapes[:, 1] = 2 * across + 0.5, 2 * down + 0.5
        found.append(shapes)
    return found


def _best_triple(
    half: Float[Tensor, "height width"], candidates: list[Float[Tensor, "candidate 4"]]
) -> Float[Tensor, "shape 4"]:
    """Return a square, a triangle and a disk that cover objects, little ground, no pixel twice."""
    covers = [_cover(one, f).flatten(1) for one, f in zip(candidates, _FACES, strict=True)]
    square, triangle, disk = (cover @ half.flatten() for cover in covers)
    shared = [_OVERLAP * covers[i] @ covers[j].T for i, j in ((0, 1), (0, 2), (1, 2))]
    total = square[:, None, None] + triangle[:, None] + disk
    total = total - shared[0][:, :, None] - shared[1][:, None] - shared[2]
    best = torch.unravel_index(total.argmax(), total.shape)
    return torch.stack([one[row] for one, row in zip(candidates, best, strict=True)])


def _fit(
    half: Float[Tensor, "height width"], shapes: Float[Tensor, "shape 4"]
) -> Float[Tensor, "shape 4"]:
    """Move, resize and turn each shape, along parabolas, to where it covers objects best."""
    shapes, steps = shapes.clone(), torch.tensor(_STEPS)
    covers = torch.stack([_cover(one, f) for one, f in zip(shapes, _FACES, strict=True)])
    for _ in range(_ROUNDS):
        moves = torch.cat([torch.zeros(1, 4), torch.diag(steps), -torch.diag(steps)])
        for kind, faces in enumerate(_FACES):
            others = torch.cat([covers[:kind], covers[kind + 1 :]]).amax(0)
            gain = half - (half + _OVERLAP) * others
            fit = (_cover(shapes[kind] + moves, faces) * gain).sum((1, 2))
            here, ahead, behind = fit[0], fit[1:5], fit[5:]
            bend, slope = 2 * here - ahead - behind, ahead - behind
            inside = slope / (2 * bend.clamp(min=1e-4))
            shapes[kind] += torch.where(bend > 1e-4, inside, slope.sign()).clamp(-1, 1) * steps
            covers[kind] = _cover(shapes[kind], faces)
        steps = 0.6 * steps
    return shapes
