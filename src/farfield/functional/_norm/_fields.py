"""Fields: which numbers of a batch are normalized together, as rearrangements of it.

A field takes a batch to a `Fold`: parts `(group, member, column)` whose members are normalized
together, each column of a group by itself, and the way back. The local windows of divisive
normalization, which overlap, are no fields of this kind.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import NamedTuple

import torch
from einops import rearrange
from torch import Tensor

from farfield.functional._autograd._segments import check_segments


class Fold(NamedTuple):
    """A batch in parts, and the way back.

    Attributes:
        parts: Tensors `(group, member, column)`; more than one where groups differ in size.
        whole: From parts of these shapes to a tensor of the batch's shape.

    Reference:
        ren2017, table 1.
    """

    parts: tuple[Tensor, ...]
    whole: Callable[[Sequence[Tensor]], Tensor]


Field = Callable[[Tensor], Fold]
"""Function from a batch to its fold."""


def over_time(segments: Sequence[Sequence[int]] | None = None) -> Field:
    """The places of a problem, or of a segment of it; `(*batch, time, feature)`.

    Args:
        segments: Places that form one context each. None is one context of all places.

    Reference:
        webb2020, equations 1 to 3.
    """

    def fold(z: Tensor) -> Fold:
        flat = z.reshape(-1, *z.shape[-2:])
        groups = check_segments(z.shape[-2], segments)
        # Where a place stands once all groups are put one behind the other.
        places = [place for group in groups for place in group]
        order = sorted(range(len(places)), key=places.__getitem__)
        return Fold(
            tuple(flat[:, list(group)] for group in groups) if segments else (flat,),
            lambda parts: torch.cat(tuple(parts), dim=1)[:, order].reshape(z.shape),
        )

    return fold


def over_batch(z: Tensor) -> Fold:
    """All problems, every place by itself; `(batch, *places, feature)`.

    Reference:
        webb2020, section 4.2.
    """
    return Fold((z.flatten(1).unsqueeze(0),), lambda parts: parts[0].reshape(z.shape))


def over_batch_and_places(z: Tensor) -> Fold:
    """All problems and all their places; `(batch, *places, feature)`.

    Reference:
        webb2020, section 4.2.
    """
    return Fold((z.reshape(1, -1, z.shape[-1]),), lambda parts: parts[0].reshape(z.shape))


def over_batch_and_time(z: Tensor) -> Fold:
    """All problems and times, every candidate by itself; `(batch, *candidate, time, feature)`.

    Raises:
        ValueError: If `z` has fewer axes.

    Reference:
        webb2020, section 4.2.
    """
    _check_time(z)
    times, features = z.shape[-2:]
    lines = z.reshape(z.shape[0], -1, times, features)
    part = rearrange(lines, "batch line time feature -> 1 (batch time) (line feature)")

    def whole(parts: Sequence[Tensor]) -> Tensor:
        back = parts[0].reshape(z.shape[0], times, lines.shape[1], features)
        return back.transpose(1, 2).reshape(z.shape)

    return Fold((part,), whole)


def over_sub_batches(group_size: int) -> Field:
    """Consecutive problems, every place by itself; `(batch, *places, feature)`.

    Args:
        group_size: Number of problems; the last ones of a batch may be fewer.

    Raises:
        ValueError: If `group_size` is below 1.

    Reference:
        webb2020, section 4.2.
    """
    if group_size < 1:
        raise ValueError(f"group_size must be at least 1, got {group_size}")

    def fold(z: Tensor) -> Fold:
        rows = z.flatten(1).unsqueeze(0)
        return Fold(_pieces(rows, group_size), lambda parts: _joined(parts, 1).reshape(z.shape))

    return fold


def over_pieces(length: int) -> Field:
    """Consecutive embeddings of all problems in one sequence; `(batch, *candidate, time, feature)`.

    The problems are put one behind the other, for every candidate by itself, and cut into pieces
    that need not fit them.

    Args:
        length: Number of embeddings; the last ones of a batch may be fewer.

    Raises:
        ValueError: If `length` is below 1, or what is folded has fewer axes.

    Reference:
        webb2020, section 4.2.
    """
    if length < 1:
        raise ValueError(f"length must be at least 1, got {length}")

    def fold(z: Tensor) -> Fold:
        rows = in_sequence(z)
        return Fold(
            _pieces(rows, length), lambda parts: out_of_sequence(_joined(parts, len(rows)), z)
        )

    return fold


def over_channel_groups(num_groups: int) -> Field:
    """Places and consecutive channels of one image; `(batch, channel, *place)`.

    All channels in one group is the layer normalization of an image, every channel in a group of
    its own instance normalization.

    Args:
        num_groups: Number of groups.

    Raises:
        ValueError: If the channels cannot be divided among the groups.

    Reference:
        ren2017, table 1; Wu and He 2018.
    """

    def fold(z: Tensor) -> Fold:
        if num_groups < 1 or z.shape[1] % num_groups:
            raise ValueError(
                f"num_groups must divide the {z.shape[1]} channels, got num_groups={num_groups}"
            )
        members = z[0].numel() // num_groups
        part = z.reshape(z.shape[0] * num_groups, members, 1)
        return Fold((part,), lambda parts: parts[0].reshape(z.shape))

    return fold


def over_features(z: Tensor) -> Fold:
    """The features of one place; `(*batch, feature)`.

    Reference:
        ren2017, table 1.
    """
    return Fold((z.reshape(-1, z.shape[-1], 1),), lambda parts: parts[0].reshape(z.shape))


def over_images(z: Tensor) -> Fold:
    """All images and places, every channel by itself; `(batch, channel, *place)`.

    Reference:
        ren2017, table 1.
    """
    last = z.movedim(1, -1)
    return Fold(
        (last.reshape(1, -1, z.shape[1]),),
        lambda parts: parts[0].reshape(last.shape).movedim(-1, 1),
    )


def in_sequence(z: Tensor) -> Tensor:
    """All problems one behind the other, `(candidate, batch · time, feature)`."""
    _check_time(z)
    lines = z.reshape(z.shape[0], math.prod(z.shape[1:-2]), *z.shape[-2:])
    return rearrange(lines, "batch line time feature -> line (batch time) feature")


def out_of_sequence(rows: Tensor, like: Tensor) -> Tensor:
    """The way back from `in_sequence`."""
    lines = rows.reshape(len(rows), like.shape[0], *like.shape[-2:])
    return lines.transpose(0, 1).reshape(like.shape)


def _check_time(z: Tensor) -> None:
    if z.ndim < 3:
        raise ValueError(
            f"z must be a tensor of (batch, *candidate, time, feature), got shape {tuple(z.shape)}"
        )


def _pieces(rows: Tensor, size: int) -> tuple[Tensor, ...]:
    """Cut axis 1 of `(line, row, column)` into groups of `size`, and what is left."""
    lines, length, columns = rows.shape
    full = length - length % size
    groups = rows[:, :full].reshape(lines * (full // size), size, columns)
    return tuple(part for part in (groups, rows[:, full:]) if part.numel())


def _joined(parts: Sequence[Tensor], lines: int) -> Tensor:
    """The way back from `_pieces`, to `(line, row, column)`."""
    return torch.cat([part.reshape(lines, -1, part.shape[-1]) for part in parts], dim=1)
