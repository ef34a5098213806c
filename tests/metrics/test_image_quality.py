"""PSNR and SSIM: loops, scikit-image's numbers, and equal images."""

from __future__ import annotations

import math

import numpy as np
import pytest
import torch

from farfield.metrics import psnr, ssim
from oracles import super_resolution as oracle

OF_SCIKIT_IMAGE = {
    (24, 31, 0.4): (20.67749778749905, 0.9061067294517502),
    (40, 17, 1.1): (12.539843994264029, 0.41957726042504784),
}
"""`peak_signal_noise_ratio` and `structural_similarity` (Gaussian weights, 1.5, no sample
covariance) of version 0.26.0, by height, width and phase of `waves`."""


def waves(height: int, width: int, phase: float) -> torch.Tensor:
    row, column = np.mgrid[:height, :width]
    first = 70 * np.sin(0.7 * row + 0.3 * column + phase)
    return torch.from_numpy(128 + first + 50 * np.cos(0.11 * row * column / 10 - phase))


@pytest.mark.parametrize("case", OF_SCIKIT_IMAGE)
def test_numbers_are_those_of_scikit_image(case) -> None:
    height, width, phase = case
    pair = waves(height, width, 0.0), waves(height, width, phase)
    found = float(psnr(*pair)), float(ssim(*pair))
    assert found == pytest.approx(OF_SCIKIT_IMAGE[case], rel=1e-12)


@pytest.mark.parametrize("padded", [True, False])
@pytest.mark.parametrize("peak", [255.0, 1.0])
def test_loops_over_pixels_and_windows(peak: float, padded: bool) -> None:
    first = torch.stack([waves(13, 14, phase) for phase in (0.0, 0.3)]).reshape(2, 1, 13, 14)
    second = torch.stack([waves(13, 14, phase) for phase in (0.2, 1.0)]).reshape(2, 1, 13, 14)
    first, second = first * peak / 255, second * peak / 255
    found = psnr(first, second, peak=peak), ssim(first, second, peak=peak, padded=padded)
    assert found[0].shape == found[1].shape == (2, 1)
    for place in range(2):
        one, other = first[place, 0].numpy(), second[place, 0].numpy()
        np.testing.assert_allclose(found[0][place, 0], oracle.psnr(one, other, peak), rtol=1e-12)
        expected = oracle.ssim(one, other, peak, padded)
        np.testing.assert_allclose(found[1][place, 0], expected, rtol=1e-9)


def test_equal_images_are_alike_and_far_above_noise() -> None:
    image = waves(20, 20, 0.0)
    assert float(psnr(image, image)) == math.inf
    assert float(ssim(image, image)) == pytest.approx(1.0)
    assert float(ssim(image, 251 - image)) < 0


def test_a_tenth_of_the_error_is_twenty_decibels() -> None:
    image = waves(20, 20, 0.0)
    near, far = (float(psnr(image, image + error)) for error in (1.0, 10.0))
    assert near - far == pytest.approx(20.0)


@pytest.mark.usefixtures("unchecked")
def test_images_must_fit_each_other_and_the_window() -> None:
    with pytest.raises(ValueError, match=r"of one shape, got \(3, 4\) and \(4, 3\)"):
        psnr(torch.zeros(3, 4), torch.zeros(4, 3))
    with pytest.raises(ValueError, match=r"first must be of at least 11 × 11 .*\(10, 20\)"):
        ssim(torch.zeros(10, 20), torch.zeros(10, 20))
    assert float(ssim(torch.zeros(3, 3), torch.zeros(3, 3), padded=True)) == 1.0
    with pytest.raises(ValueError, match="peak must be"):
        psnr(torch.zeros(3, 4), torch.zeros(3, 4), peak=0.0)
