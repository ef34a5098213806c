"""The network of super-resolution: loops, sizes, first weights, and pictures that it enlarges."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import torch
from PIL import Image

from each import some
from farfield.models import SRCNN
from farfield.nn import MapNormalizer
from made import assert_spread, drawn, generator, state_of, unsettled
from oracles import normalized_networks as oracle
from oracles import super_resolution as by_loops

SIGMA = 0.4
NORMALIZERS = {
    "none": None,
    "batch": MapNormalizer(field="batch", sigma=SIGMA, affine=True),
    "window": MapNormalizer(field="window", sigma=SIGMA),
}


@pytest.mark.parametrize("padded", [True, False])
@pytest.mark.parametrize("name", NORMALIZERS)
def test_loops_over_maps(name: str, padded: bool) -> None:
    normalizer = NORMALIZERS[name]
    network = unsettled(
        SRCNN(channels=(3, 2), normalizer=normalizer, padded=padded, generator=generator())
    )
    images, state = drawn(2, 19, 18), state_of(network)
    norm = oracle.normalizer(normalizer and normalizer.field, SIGMA, state, training=True)
    expected = oracle.srcnn(images.numpy(), state, norm, padded)
    np.testing.assert_allclose(network(images).detach(), expected, rtol=1e-9, atol=1e-11)


@pytest.mark.parametrize("name", some(["window"], NORMALIZERS))
def test_large_images_are_sharpened_as_they_would_be_together(name: str) -> None:
    network = unsettled(SRCNN(channels=(3, 2), normalizer=NORMALIZERS[name], generator=generator()))
    images = drawn(3, 300, 320)
    together = network.eval()._sharpened(images)
    torch.testing.assert_close(network(images), together)


def test_it_has_the_numbers_of_the_paper() -> None:
    network = SRCNN(device="meta")
    assert sum(p.numel() for p in network.parameters()) == 5_248 + 51_232 + 801
    assert network(torch.empty(1, 33, 33, device="meta")).shape == (1, 17, 17)
    assert (network.border, SRCNN(padded=True, device="meta").border) == (8, 0)


@pytest.mark.parametrize("truncated, share", [(False, 1.0), (True, 0.88)])
def test_first_weights_are_of_a_thousandth(truncated: bool, share: float) -> None:
    network = SRCNN(truncated=truncated, generator=generator())
    assert_spread(network.convolutions[1].weight, share * 1e-3)
    assert all(not layer.bias.any() for layer in network.convolutions)
    largest = max(float(layer.weight.detach().abs().max()) for layer in network.convolutions)
    assert (largest <= 2e-3) == truncated


class TestEnlargement:
    """With weights that pass the middle pixel on, luma stays as it was enlarged."""

    @staticmethod
    def passing(padded: bool) -> SRCNN:
        network = SRCNN(channels=(1, 1), padded=padded, generator=generator())
        with torch.no_grad():
            for layer in network.convolutions:
                layer.weight.zero_()
                layer.weight[0, 0, layer.kernel_size[0] // 2, layer.kernel_size[1] // 2] = 1.0
        return network

    @pytest.mark.parametrize("padded", [True, False])
    def test_a_gray_picture(self, tmp_path: Path, padded: bool) -> None:
        levels = np.random.default_rng(0).integers(60, 200, (7, 9), dtype=np.uint8)
        Image.fromarray(levels).save(tmp_path / "gray.png")
        found = self.passing(padded).enlarge(tmp_path / "gray.png", 3)
        expected = by_loops.bicubic(levels.astype(float), (21, 27))
        assert (found.mode, found.size) == ("L", (27, 21))
        assert np.abs(np.asarray(found, float) - expected).max() <= 0.5 + 1e-3

    def test_a_picture_in_color_and_its_own_weights(self, tmp_path: Path) -> None:
        levels = np.random.default_rng(0).integers(60, 200, (6, 5, 3), dtype=np.uint8)
        Image.fromarray(levels).save(tmp_path / "color.png")
        network = self.passing(padded=False)
        found = np.asarray(network.enlarge(str(tmp_path / "color.png"), 2), float)
        assert found.shape == (12, 10, 3)
        for color in range(3):
            expected = by_loops.bicubic(levels[..., color].astype(float), (12, 10))
            assert np.abs(found[..., color] - expected).max() <= 0.5 + 1e-3
        assert network.training
        with torch.no_grad():
            network.convolutions[2].bias += 0.1
        brighter = np.asarray(network.enlarge(tmp_path / "color.png", 2), float)
        assert np.abs(brighter - found - 25.5 * 255 / 219).max() <= 1.0

    @pytest.mark.parametrize(
        "mode, scale, message",
        [
            ("RGBA", 3, r"picture.png must be gray .* got an alpha channel \(RGBA\)"),
            ("L", 1, r"scale must be 2 or more .* got 1"),
            ("L", 1_000_000, r"leave at most 16,777,216 pixels of .* which makes"),
            ("L", 2.5, "scale must be .* got 2.5"),
        ],
    )
    @pytest.mark.usefixtures("unchecked")
    def test_what_cannot_be_enlarged(
        self, tmp_path: Path, mode: str, scale: int, message: str
    ) -> None:
        Image.new(mode, (5, 5)).save(tmp_path / "picture.png")
        with pytest.raises(ValueError, match=message):
            self.passing(padded=True).enlarge(tmp_path / "picture.png", scale)
        with pytest.raises(ValueError, match="must be a whole BMP, JPEG or PNG"):
            self.passing(padded=True).enlarge(tmp_path / "missing.png", 2)


@pytest.mark.usefixtures("unchecked")
@pytest.mark.parametrize(
    "call, message",
    [
        (lambda: SRCNN(kernel_sizes=(9, 4, 5)), r"kernel_sizes must be odd, got \(9, 4, 5\)"),
        (lambda: SRCNN()(torch.zeros(1, 16, 40)), r"at least 17 × 17 pixels, got .*\(1, 16, 40\)"),
        (lambda: SRCNN()(torch.zeros(1, 1, 40, 40)), r"items must be images \(batch, height"),
        (lambda: SRCNN(normalizer=3), "normalizer must be callable or None, got 3"),
    ],
)
def test_wrong_arguments_are_named(call, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        call()
