"""Balls in a box, one at a time: motion, frames, cross-entropy and distances by loops."""

from __future__ import annotations

import itertools
import math

import numpy as np


def meeting(one, other) -> float:
    """When two balls (x, y, vx, vy, r) that come closer touch, from the roots of a polynomial."""
    place = [one[k] - other[k] for k in (0, 1)]
    speed = [one[k] - other[k] for k in (2, 3)]
    if place[0] * speed[0] + place[1] * speed[1] >= 0:
        return math.inf
    square = np.polyadd(
        np.polymul([speed[0], place[0]], [speed[0], place[0]]),
        np.polymul([speed[1], place[1]], [speed[1], place[1]]),
    )
    roots = np.roots(np.polyadd(square, [-((one[4] + other[4]) ** 2)]))
    real = [root.real for root in roots if abs(root.imag) < 1e-14]
    return max(0.0, min(real)) if real else math.inf


def walls(ball) -> list[float]:
    times = []
    for place, speed in ((ball[0], ball[2]), (ball[1], ball[3])):
        if speed > 0:
            times.append(max(0.0, (1 - ball[4] - place) / speed))
        elif speed < 0:
            times.append(max(0.0, (place - ball[4]) / -speed))
        else:
            times.append(math.inf)
    return times


def off_each_other(one: list[float], other: list[float]) -> None:
    """Speeds after a collision, in the frame of the common center of mass."""
    masses = one[4] ** 2, other[4] ** 2
    length = math.dist(one[:2], other[:2])
    normal = [(one[k] - other[k]) / length for k in (0, 1)]
    common = [(masses[0] * one[k] + masses[1] * other[k]) / sum(masses) for k in (2, 3)]
    for ball in (one, other):
        own = [ball[2] - common[0], ball[3] - common[1]]
        along = own[0] * normal[0] + own[1] * normal[1]
        for k in (0, 1):
            ball[2 + k] = common[k] + own[k] - 2 * along * normal[k]


def motion(balls, num_frames: int) -> np.ndarray:
    """Places in every frame, (time, slot, 2)."""
    balls = [list(map(float, ball)) for ball in balls]
    frames = [[ball[:2] for ball in balls]]
    for _ in range(num_frames - 1):
        left = 1.0
        while left > 0:
            events = [
                (time, ball, axis)
                for ball in range(len(balls))
                for axis, time in enumerate(walls(balls[ball]))
            ]
            events += [
                (meeting(balls[i], balls[j]), (i, j), None)
                for i, j in itertools.combinations(range(len(balls)), 2)
            ]
            first = min(events, key=lambda event: event[0])
            step = min(left, first[0])
            for ball in balls:
                ball[0] += ball[2] * step
                ball[1] += ball[3] * step
            if first[0] < left:
                if first[2] is None:
                    off_each_other(*(balls[k] for k in first[1]))
                else:
                    balls[first[1]][2 + first[2]] *= -1
            left -= step
        frames.append([ball[:2] for ball in balls])
    return np.array(frames)


def frame(balls, curtain: tuple[int, int], side: int) -> np.ndarray:
    """White where the middle of a pixel is within a ball (x, y, r) and not behind the curtain."""
    shown = np.zeros((side, side))
    for row in range(side):
        for column in range(side):
            if curtain[0] <= column < curtain[1]:
                continue
            for x, y, radius in balls:
                distance = math.hypot((column + 0.5) / side - x, (row + 0.5) / side - y)
                if radius > 0 and distance <= radius:
                    shown[row, column] = 1
    return shown


def cross_entropy(logits, shown, curtain: tuple[int, int]) -> float:
    """Nats a pixel that is not hidden."""
    losses = []
    for row, column in np.ndindex(shown.shape):
        if not curtain[0] <= column < curtain[1]:
            logit = float(logits[row, column]) * (1 if shown[row, column] else -1)
            losses.append(math.log1p(math.exp(-abs(logit))) + max(-logit, 0))
    return sum(losses) / len(losses)


def blobs(white) -> list[tuple[float, float]]:
    """Centers of regions of pixels that touch along an edge."""
    left = {tuple(place) for place in np.argwhere(white).tolist()}
    found = []
    while left:
        grown, region = [left.pop()], []
        while grown:
            row, column = grown.pop()
            region.append((row, column))
            for near in (
                (row + 1, column),
                (row - 1, column),
                (row, column + 1),
                (row, column - 1),
            ):
                if near in left:
                    left.remove(near)
                    grown.append(near)
        found.append(tuple(sum(axis) / len(region) for axis in zip(*region, strict=True)))
    return found


def blob_distance(one, other, cutoff: float) -> float:
    """The best of all ways to match them."""
    fewer, more = sorted((blobs(one), blobs(other)), key=len)
    if not more:
        return 0.0
    best = min(
        sum(min(cutoff, math.dist(a, b)) for a, b in zip(fewer, chosen, strict=True))
        for chosen in itertools.permutations(more, len(fewer))
    )
    return (best + cutoff * (len(more) - len(fewer))) / len(more)
