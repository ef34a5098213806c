"""Frames of balls, and the losses of simple predictions."""

from __future__ import annotations

import numpy as np
import torch
from jaxtyping import Bool, Float, Int
from scipy.special import xlogy
from torch import Tensor

White = Bool[np.ndarray, "batch time height width"]
"""Mask of the white pixels of the frames of sequences."""
Seen = Bool[np.ndarray, "batch height width"]
"""Mask of the visible pixels of the frames of each sequence."""
Counts = Int[np.ndarray, "..."]
"""Numbers of pixels."""


def frames(latent: Float[Tensor, "item feature"], side: int) -> Float[Tensor, "item height width"]:
    """Frames of balls: a pixel is white where its middle is within a ball, and not hidden.

    Args:
        latent: Place along X and Y and radius of each ball, in sides of the box, then the first
            column that is hidden and the one behind the last.
        side: Height and width of a frame, pixels.
    """
    middles = (torch.arange(side, dtype=latent.dtype) + 0.5) / side
    balls, curtain = latent[:, :-2].reshape(len(latent), latent.shape[1] // 3, 3), latent[:, -2:]
    shown = torch.zeros(len(latent), side, side, dtype=torch.bool)
    for ball in balls.unbind(1):
        if not bool(ball[:, 2].any()):
            continue
        across, up = ((middles - ball[:, axis, None]).square() for axis in (0, 1))
        shown |= up[:, :, None] + across[:, None, :] <= ball[:, 2, None, None].square()
    return (shown & visible(curtain, side)).to(torch.float32)


def visible(curtain: Tensor, side: int) -> Bool[Tensor, "batch height width"]:
    """Mask of the pixels that are not behind the curtain.

    Args:
        curtain: First hidden column and the one behind the last, `(batch, 2)`.
        side: Height and width of a frame, pixels.
    """
    columns = torch.arange(side, device=curtain.device)
    hidden = (columns >= curtain[:, :1]) & (columns < curtain[:, 1:])
    return ~hidden[:, None, :].expand(-1, side, -1)


def mean_frame_loss(shown: White, seen: Seen) -> float:
    """Cross-entropy of answering every frame with the mean frame, nats a pixel.

    Args:
        shown: White pixels, none of them hidden.
        seen: Pixels that count.
    """
    white = np.count_nonzero(shown, axis=(0, 1))
    return _uncertainty(white, shown.shape[1] * np.count_nonzero(seen, axis=0))


def repeated_loss(before: White, shown: White, seen: Seen) -> float:
    """Least cross-entropy of an answer that knows only whether the pixel was white, nats a pixel.

    Args:
        before: White pixels of frames before, none of them hidden.
        shown: White pixels, none of them hidden.
        seen: Pixels that count.
    """
    was, stayed = np.count_nonzero(before), np.count_nonzero(before & shown)
    total = shown.shape[1] * np.count_nonzero(seen)
    white = np.array([stayed, np.count_nonzero(shown) - stayed])
    return _uncertainty(white, np.array([was, total - was]))


def _uncertainty(white: Counts, total: Counts) -> float:
    """Nats a pixel, of kinds of pixels of which so many are white."""
    parts = (xlogy(part, part / np.maximum(total, 1)) for part in (white, total - white))
    return -float(sum(part.sum() for part in parts) / total.sum())
