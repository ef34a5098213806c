"""Balls in a box: motion exact from collision to collision, frames, and simple predictions."""

from __future__ import annotations

from typing import Final

import numpy as np
import torch
from jaxtyping import Bool, Float, Float64, Int, Int64
from torch import Tensor

RADII: Final = (0.06, 0.11)
"""Smallest and largest radius, in sides of the box."""
SPEED: Final = 0.03
"""Largest speed along either axis at the start, sides of the box a frame."""
AWAY: Final = -1.0
"""Coordinate of absent balls along both axes, out of reach."""
MOST_TRIES: Final = 100_000
"""Limit on draws of a position and on collisions in a frame."""

Moving = Float64[np.ndarray, "batch slot 4"]
"""Position along X and Y and speed along X and Y of each ball."""
Radii = Float64[np.ndarray, "batch slot"]
"""Radius of each ball; 0 for absent balls."""


def uniform(
    generator: np.random.Generator, count: int, low: float, high: float
) -> Float64[np.ndarray, " batch"]:
    """Draw uniform numbers from raw words, the same on every machine.

    Args:
        count: Number of numbers.
        low: Least number.
        high: End of the numbers, never reached.
    """
    words = np.atleast_1d(generator.bit_generator.random_raw(count))
    return low + (words >> np.uint64(11)).astype(np.float64) * 2.0**-53 * (high - low)


def started(
    generator: np.random.Generator, numbers: Int64[np.ndarray, " batch"], slots: int
) -> tuple[Moving, Radii]:
    """Draw random positions and velocities, positions uniform over the free room, ball by ball.

    Args:
        generator: Draws radii, speeds and positions.
        numbers: Number of balls of each sequence.
        slots: Most balls of any sequence.
    """
    count = len(numbers)
    moving = np.full((count, slots, 4), AWAY)
    radii = np.zeros((count, slots))
    moving[..., 2:] = 0.0
    for ball in range(slots):
        rows = np.flatnonzero(numbers > ball)
        radii[rows, ball] = uniform(generator, len(rows), *RADII)
        for axis in (2, 3):
            moving[rows, ball, axis] = uniform(generator, len(rows), -SPEED, SPEED)
        for _ in range(MOST_TRIES):
            if not len(rows):
                break
            own = radii[rows, ball]
            for axis in (0, 1):
                share = uniform(generator, len(rows), 0.0, 1.0)
                moving[rows, ball, axis] = own + share * (1 - 2 * own)
            rows = rows[_touches(moving[rows], radii[rows], ball)]
        else:
            raise RuntimeError(f"no room was found for {slots} balls in {MOST_TRIES} tries")
    return moving, radii


def _touches(moving: Moving, radii: Radii, ball: int) -> Bool[np.ndarray, " batch"]:
    """Check whether a ball touches an earlier ball."""
    across, up = (moving[:, :ball, axis] - moving[:, ball, None, axis] for axis in (0, 1))
    near = radii[:, :ball] + radii[:, ball, None]
    return (across * across + up * up <= near * near).any(1)


def moved(
    moving: Moving, radii: Radii, num_frames: int
) -> Float64[np.ndarray, "batch time slot 4"]:
    """Simulate elastic collisions with walls and balls; return positions and speeds at every frame.

    Every collision is found where it happens, to rounding; mass goes with the square of the radius.

    Args:
        moving: The balls in the first frame.
        radii: Radii of the balls.
        num_frames: Number of frames, the first one among them.
    """
    now = moving.copy()
    frames = [now.copy()]
    for _ in range(num_frames - 1):
        left, rows = np.ones(len(now)), np.arange(len(now))
        for _ in range(MOST_TRIES):
            if not len(rows):
                break
            some, sizes = now[rows], radii[rows]
            times = np.concatenate([wall_times(some, sizes), pair_times(some, sizes)], axis=1)
            event = times.argmin(1)
            until = np.take_along_axis(times, event[:, None], axis=1)[:, 0]
            step = np.minimum(until, left[rows])
            some[..., :2] += some[..., 2:] * step[:, None, None]
            left[rows] -= step
            hit = np.flatnonzero(until < left[rows] + step)
            bounce(some, sizes, hit, event[hit])
            now[rows] = some
            rows = rows[hit]
        else:
            raise RuntimeError(f"more than {MOST_TRIES} collisions in a frame")
        frames.append(now.copy())
    return np.stack(frames, axis=1)


def wall_times(moving: Moving, radii: Radii) -> Float64[np.ndarray, "batch value"]:
    """Compute when each ball meets a wall along X and along Y; infinite for never.

    Args:
        moving: The balls.
        radii: Radii of the balls.
    """
    position, speed = moving[..., :2], moving[..., 2:]
    own = radii[..., None]
    way = np.where(speed > 0, 1 - own - position, own - position)
    times = np.full_like(way, np.inf)
    np.divide(way, speed, out=times, where=speed != 0)
    return np.maximum(times, 0.0).reshape(len(moving), -1)


def pair_times(moving: Moving, radii: Radii) -> Float64[np.ndarray, "batch value"]:
    """Compute when two balls meet, in the order of `numpy.triu_indices`; infinite for never.

    Args:
        moving: The balls.
        radii: Radii of the balls.
    """
    first, second = np.triu_indices(radii.shape[1], 1)
    across, up, fast_across, fast_up = np.moveaxis(moving[:, first] - moving[:, second], -1, 0)
    near = radii[:, first] + radii[:, second]
    closing = across * fast_across + up * fast_up
    speed = fast_across * fast_across + fast_up * fast_up
    room = across * across + up * up - near * near
    inside = closing * closing - speed * room
    times = np.full_like(closing, np.inf)
    meets = (closing < 0) & (inside >= 0)
    np.divide(-closing - np.sqrt(np.maximum(inside, 0.0)), speed, out=times, where=meets)
    return np.maximum(times, 0.0)


def bounce(
    moving: Moving,
    radii: Radii,
    rows: Int64[np.ndarray, " item"],
    event: Int64[np.ndarray, " item"],
) -> None:
    """Change the speeds of the balls that collide, one collision a sequence.

    Args:
        moving: The balls, changed in place.
        radii: Radii of the balls.
        rows: The sequences in which there is a collision.
        event: Index of the collision among `wall_times`, then `pair_times`.
    """
    slots = radii.shape[1]
    at_wall = event < 2 * slots
    sequence, wall = rows[at_wall], event[at_wall]
    moving[sequence, wall // 2, 2 + wall % 2] *= -1
    sequence, pair = rows[~at_wall], event[~at_wall] - 2 * slots
    pairs = np.triu_indices(slots, 1)
    first, second = pairs[0][pair], pairs[1][pair]
    across, up, fast_across, fast_up = (moving[sequence, first] - moving[sequence, second]).T
    masses = radii[sequence, first] ** 2, radii[sequence, second] ** 2
    push = (across * fast_across + up * fast_up) / (across * across + up * up)
    push *= 2 / (masses[0] + masses[1])
    for ball, other, sign in ((first, masses[1], -1.0), (second, masses[0], 1.0)):
        moving[sequence, ball, 2] += sign * other * push * across
        moving[sequence, ball, 3] += sign * other * push * up


White = Bool[np.ndarray, "batch time height width"]
"""Mask of the white pixels of the frames of sequences."""
Seen = Bool[np.ndarray, "batch height width"]
"""Mask of the visible pixels of the frames of each sequence."""
Counts = Int[np.ndarray, "..."]
"""Numbers of pixels."""


def frames(latent: Float[Tensor, "item feature"], side: int) -> Float[Tensor, "item height width"]:
    """Draw frames of balls: a pixel is white if its middle is within a ball, and not hidden.

    Args:
        latent: Position along X and Y and radius of each ball, in sides of the box, then the first
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
    """Return the mask of the pixels that are not behind the curtain.

    Args:
        curtain: First hidden column and the one behind the last, `(batch, 2)`.
        side: Height and width of a frame, pixels.
    """
    columns = torch.arange(side, device=curtain.device)
    hidden = (columns >= curtain[:, :1]) & (columns < curtain[:, 1:])
    return ~hidden[:, None, :].expand(-1, side, -1)


def mean_frame_loss(shown: White, seen: Seen) -> float:
    """Compute the cross-entropy of answering every frame with the mean frame, nats a pixel.

    Args:
        shown: White pixels, none of them hidden.
        seen: Pixels that count.
    """
    white = np.count_nonzero(shown, axis=(0, 1))
    return _uncertainty(white, shown.shape[1] * np.count_nonzero(seen, axis=0))


def repeated_loss(before: White, shown: White, seen: Seen) -> float:
    """Compute the least cross-entropy of an answer that knows the pixel before, nats a pixel.

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
    """Compute the nats per pixel, for kinds of pixels with given shares of white."""
    from scipy.special import xlogy  # noqa: PLC0415 — a tenth of a second to import

    parts = (xlogy(part, part / np.maximum(total, 1)) for part in (white, total - white))
    return -float(sum(part.sum() for part in parts) / total.sum())
