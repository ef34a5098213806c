"""Fixed preprocessing of images: standardization, whitening and centering."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from farfield.functional.internal import MeanImages, PixelSpectrum, zca_matrix
from farfield.nn import ZCA, Standardize
from farfield.nn.internal import CenterImages
from oracles import whitening as oracle

MEAN, STD = (0.4, 0.5, 0.6), (0.2, 0.25, 0.3)


def images(count: int, seed: int = 0) -> torch.Tensor:
    drawn = np.random.default_rng(seed).integers(0, 256, (count, 3, 2, 2))
    return torch.from_numpy(drawn.astype(np.uint8))


def rows_of(some: torch.Tensor) -> np.ndarray:
    return np.stack([oracle.standardized(image, MEAN, STD).ravel() for image in some.numpy()])


def spectrum_of(covariance: np.ndarray, mean: np.ndarray) -> PixelSpectrum:
    values, vectors = np.linalg.eigh(covariance)
    return PixelSpectrum(*(torch.tensor(part) for part in (mean, values, vectors)))


def whitener(some: torch.Tensor, **options: object) -> ZCA:
    mean, covariance = oracle.covariance(rows_of(some))
    spectrum = spectrum_of(covariance, mean)
    return ZCA(MEAN, STD, spectrum, dtype=torch.float64, **options)


def test_every_channel_has_its_own_mean_and_deviation() -> None:
    some = images(4)
    module = Standardize(MEAN, STD, dtype=torch.float64)
    np.testing.assert_allclose(module(some).flatten(1), rows_of(some), rtol=1e-12)
    assert torch.equal(module(some.double() / 255), module(some))
    assert (module(some[:0]).shape, module.float()(some).dtype) == ((0, 3, 2, 2), torch.float32)


@pytest.mark.parametrize(("eps", "inside"), [(1e-6, False), (0.1, False), (0.1, True), (0.0, True)])
def test_whitening_is_that_of_the_equation(eps: float, inside: bool) -> None:
    training, some = images(40), images(5, seed=1)
    mean, covariance = oracle.covariance(rows_of(training))
    matrix = oracle.zca_matrix(covariance, eps, inside)
    spectrum = spectrum_of(covariance, mean)
    found = zca_matrix(spectrum, eps=eps, eps_inside=inside)
    np.testing.assert_allclose(found, matrix, rtol=1e-9, atol=1e-10)
    module = whitener(training, eps=eps, eps_inside=inside)
    expected = np.stack([matrix @ (row - mean) for row in rows_of(some)])
    np.testing.assert_allclose(module(some).flatten(1), expected, rtol=1e-9, atol=1e-9)
    assert module(some).shape == some.shape


def test_whitened_images_are_uncorrelated_and_near_the_originals() -> None:
    training = images(60)
    module = whitener(training, eps=0.0)
    mean, covariance = oracle.covariance(module(training).flatten(1).numpy())
    np.testing.assert_allclose(mean, 0, atol=1e-12)
    np.testing.assert_allclose(covariance, np.eye(12), atol=1e-9)
    assert torch.allclose(module.matrix, module.matrix.mT, rtol=0, atol=1e-12)
    assert torch.linalg.eigvalsh(module.matrix).min() > 0


def test_released_components(golden) -> None:
    arrays = golden("ict_zca")
    data, mean = arrays["in.data"], arrays["out.mean"]
    spectrum = spectrum_of((data - mean).T @ (data - mean) / len(data), mean)
    for name, eps in (("out.components", 1e-6), ("out.components_reg01", 0.1)):
        found = zca_matrix(spectrum, eps=eps)
        expected = arrays[name]
        np.testing.assert_allclose(found, expected, rtol=0, atol=1e-9 * abs(expected).max())
    module = ZCA((0.0,) * 3, (1.0,) * 3, spectrum, dtype=torch.float64)
    applied = module(torch.tensor(arrays["in.images"]).double())
    np.testing.assert_allclose(applied, arrays["out.applied"], rtol=0, atol=1e-4)


def test_images_are_centered_by_one_of_both_means() -> None:
    some, means = images(5), MeanImages(*drawn_means())
    for includes_test, mean in ((False, means.training), (True, means.with_test)):
        module = CenterImages(means, includes_test=includes_test, scale=2.0, dtype=torch.float64)
        expected = (some.numpy() / 255.0 - mean.numpy()) * 2
        np.testing.assert_allclose(module(some), expected, rtol=1e-12, atol=1e-12)
    levels = CenterImages(MeanImages(*(torch.zeros(3, 2, 2),) * 2))(some)
    torch.testing.assert_close(levels, some.float())


def drawn_means() -> tuple[torch.Tensor, torch.Tensor]:
    return tuple(images(1, seed)[0].double() / 255 for seed in (2, 3))


def test_statistics_are_in_no_state_dictionary_but_move_with_the_module() -> None:
    centering = CenterImages(MeanImages(*drawn_means()))
    for module in (Standardize(MEAN, STD), whitener(images(40)), centering):
        assert module.state_dict() == {}
        assert not list(module.parameters())
        buffers = dict(module.double().named_buffers())
        assert {buffer.dtype for buffer in buffers.values()} == {torch.float64}
        assert "mean" in buffers


def test_a_direction_without_variance_asks_for_a_bound() -> None:
    few = images(8)  # fewer than the twelve values of an image
    with pytest.raises(ValueError, match=r"got none along [45] of 12: pass eps_inside=True"):
        whitener(few)
    assert whitener(few, eps=0.1, eps_inside=True)(few).isfinite().all()
    with pytest.raises(ValueError, match="variance along every direction"):
        whitener(few, eps=0.0, eps_inside=True)


@pytest.mark.usefixtures("unchecked")
def test_statistics_and_images_of_other_sizes_are_refused() -> None:
    for mean, std in (((0.5,), (0.5, 0.5)), ((), ())):
        with pytest.raises(ValueError, match="channel_mean and channel_std must be a number for"):
            Standardize(mean, std)
    with pytest.raises(ValueError, match=r"channel_std\[1\] must be a finite number above 0"):
        Standardize((0.5, 0.5), (0.5, 0.0))
    module = Standardize(MEAN, STD)
    for shape in ((2, 1, 4, 4), (3, 4, 4), (2, 4, 4, 3)):
        with pytest.raises(
            ValueError, match=r"items must be \(item, 3, height, width\), got shape"
        ):
            module(torch.zeros(shape))
    with pytest.raises(
        ValueError, match=r"items must be \(item, 3, 2, 2\), got shape \(2, 3, 4, 4\)"
    ):
        CenterImages(MeanImages(*drawn_means()))(torch.zeros(2, 3, 4, 4))
    with pytest.raises(ValueError, match=r"items must have 12 values each, .*got shape"):
        whitener(images(40))(torch.zeros(2, 3, 4, 4))
    with pytest.raises(ValueError, match="items must be uint8 of 0…255 or floating-point"):
        module(torch.zeros(2, 3, 4, 4, dtype=torch.int64))
