"""Statistics of the pixels of an image set: of channels, and of whole images."""

from __future__ import annotations

import hashlib
import math
from typing import Final

import numpy as np
import torch
from jaxtyping import Float64, UInt8

from farfield.functional import MeanImages, PixelSpectrum
from farfield.tasks._files._data_sets import cached_array
from farfield.tasks._files._labelled_images import Images
from farfield.tasks._protocol._abilities import ChannelStatistics

_PART: Final = 2_000
"""Images whose products are taken together."""


def channel_statistics(images: Images) -> ChannelStatistics:
    """Mean and standard deviation of each channel, of fractions; sums are exact.

    Args:
        images: All images.
    """
    counts = [
        np.bincount(images[:, place].reshape(-1), minlength=256) for place in range(images.shape[1])
    ]
    values = np.arange(256)
    total = images[:, 0].size
    first = [int((count * values).sum()) for count in counts]
    second = [int((count * values**2).sum()) for count in counts]
    variances = [(total * two - one**2) / total**2 for one, two in zip(first, second, strict=True)]
    return ChannelStatistics(
        tuple(one / total / 255 for one in first),
        tuple(math.sqrt(variance) / 255 for variance in variances),
    )


def mean_images(training: Images, test: UInt8[np.ndarray, "_ channel height width"]) -> MeanImages:
    """Means of images, pixel by pixel, as fractions; sums are exact.

    Args:
        training: All training images.
        test: All images of the test.
    """
    own, other = (images.sum(0, dtype=np.int64) for images in (training, test))
    count = len(training)
    means = own / count / 255, (own + other) / (count + len(test)) / 255
    return MeanImages(*map(torch.from_numpy, means))


def pixel_spectrum(images: Images, statistics: ChannelStatistics) -> PixelSpectrum:
    """Mean and principal directions of standardized images, taken from the cache where they are.

    Args:
        images: All images, of at most 372,000 so that sums are exact.
        statistics: Those that they are standardized by.
    """
    size = int(np.prod(images.shape[1:]))
    digest = hashlib.sha256(repr(("pixel-spectrum v1", images.shape, statistics)).encode())
    digest.update(np.ascontiguousarray(images).data)
    found = cached_array(
        digest.hexdigest(),
        (size + 2, size),
        np.dtype(np.float64),
        lambda: _spectrum(images, statistics),
    )
    mean, values, vectors = found[0], found[1], found[2:]
    return PixelSpectrum(*(torch.tensor(part) for part in (mean, values, vectors)))


def _spectrum(images: Images, statistics: ChannelStatistics) -> Float64[np.ndarray, "row value"]:
    """The mean, the variances along the principal directions, and these as columns."""
    count, pixels = len(images), images[0, 0].size
    flat = images.reshape(count, -1)
    products = np.zeros((flat.shape[1],) * 2)
    for start in range(0, count, _PART):
        part = flat[start : start + _PART].astype(np.float64)
        products += part.T @ part
    sums = flat.sum(0, dtype=np.int64).astype(np.float64)
    # Integers below 2^53 = 9e15, and so exact in any order: count² · 255².
    covariance = (count * products - np.outer(sums, sums)) / count**2
    mean, std = (np.repeat(row, pixels) for row in statistics)
    values, vectors = np.linalg.eigh(covariance / np.outer(std, std) / 255**2)
    return np.concatenate([[(sums / count / 255 - mean) / std], [values], vectors])
