"""Encoders: the original's embeddings, loops over single numbers, refusals."""

from __future__ import annotations

import math

import numpy as np
import pytest
import torch

from farfield.nn import ContextNorm, ConvEncoder, MLPEncoder, PlanesEncoder, RandomEncoder
from golden import Golden, precisions
from oracles import webb2021 as oracle

ENCODERS_OF_GLYPHS = {"conv": ConvEncoder, "mlp": MLPEncoder, "random": RandomEncoder}
"""Those of webb2021."""


def generator(seed: int = 0) -> torch.Generator:
    return torch.Generator().manual_seed(seed)


def arrays_of(module: torch.nn.Module) -> dict[str, np.ndarray]:
    return {name: tensor.numpy().astype(float) for name, tensor in module.state_dict().items()}


def with_biases(module: torch.nn.Module) -> torch.nn.Module:
    """Biases away from their first value, 0."""
    with torch.no_grad():
        for name, tensor in module.state_dict().items():
            if name.endswith("bias"):
                tensor.normal_(0, 0.1, generator=generator(1))
    return module.double()


def test_loops_over_single_numbers() -> None:
    items = torch.rand(2, 16, 8, dtype=torch.float64, generator=generator(2))
    encoder = with_biases(ConvEncoder((16, 8), out_features=5, generator=generator()))
    expected = [oracle.conv_encoder(item, arrays_of(encoder)) for item in items.numpy()]
    np.testing.assert_allclose(encoder(items).detach(), expected, rtol=1e-9, atol=1e-12)
    encoder = with_biases(MLPEncoder((16, 8), out_features=5, generator=generator()))
    expected = [
        oracle.layers(item.reshape(-1), arrays_of(encoder), ["fc1", "fc2", "fc3"])
        for item in items.numpy()
    ]
    np.testing.assert_allclose(encoder(items).detach(), expected, rtol=1e-9, atol=1e-12)
    encoder = with_biases(RandomEncoder((16, 8), out_features=5, generator=generator()))
    state = {f"only.{name}": array for name, array in arrays_of(encoder).items()}
    expected = [oracle.layers(item.reshape(-1), state, ["only"]) for item in items.numpy()]
    np.testing.assert_allclose(encoder(items), expected, rtol=1e-9, atol=1e-12)


@precisions
def test_released_code_on_glyphs(dtype: torch.dtype, golden) -> None:
    arrays = Golden("esbn_encoder_tcn", golden("esbn_encoder_tcn"), dtype)
    encoder = ConvEncoder(generator=generator()).to(dtype)
    prefix = "state.encoder."
    encoder.load_state_dict(
        {
            name.removeprefix(prefix): torch.tensor(array)
            for name, array in arrays.items()
            if name.startswith(prefix)
        }
    )
    images = arrays.tensor("in.x")
    with torch.no_grad():
        z = encoder(images.flatten(0, 1)).unflatten(0, images.shape[:2])
    arrays.check(z, "z")
    for name, segments in (("whole", None), ("segments", ((0, 1), (2, 3), (4, 5)))):
        context = ContextNorm(128, segments=segments, correction=1).to(dtype)
        context.load_state_dict(
            {
                "weight": torch.tensor(arrays["state.gamma"]),
                "bias": torch.tensor(arrays["state.beta"]),
            }
        )
        arrays.check(context(z), f"z_norm_{name}", 1e-8)


def test_widths_are_those_of_the_paper() -> None:
    shapes = {
        name: {part: tuple(tensor.shape) for part, tensor in cls().state_dict().items()}
        for name, cls in ENCODERS_OF_GLYPHS.items()
    }
    assert {part: shape for part, shape in shapes["conv"].items() if "weight" in part} == {
        "conv1.weight": (32, 1, 4, 4),
        "conv2.weight": (32, 32, 4, 4),
        "conv3.weight": (32, 32, 4, 4),
        "fc1.weight": (256, 512),
        "fc2.weight": (128, 256),
    }
    assert {part: shape for part, shape in shapes["mlp"].items() if "weight" in part} == {
        "fc1.weight": (512, 1024),
        "fc2.weight": (256, 512),
        "fc3.weight": (128, 256),
    }
    assert shapes["random"] == {"weight": (128, 1024), "bias": (128,)}


def test_first_weights_are_kaiming_normal_and_biases_zero() -> None:
    for cls in ENCODERS_OF_GLYPHS.values():
        for name, tensor in cls(generator=generator()).state_dict().items():
            if name.endswith("bias"):
                assert (tensor == 0).all()
            else:
                spread = tensor.double().square().mean().sqrt() * math.sqrt(tensor[0].numel() / 2)
                assert abs(spread - 1) < 6 / math.sqrt(2 * tensor.numel())


def test_a_random_encoder_is_never_trained() -> None:
    encoder = RandomEncoder(generator=generator())
    items = torch.rand(2, 32, 32, generator=generator(2))
    assert list(encoder.parameters()) == []
    assert not encoder(items).requires_grad
    assert encoder(items.requires_grad_()).requires_grad


@pytest.mark.parametrize("cls", ENCODERS_OF_GLYPHS.values())
def test_wrong_items_are_refused(cls, unchecked) -> None:
    encoder = cls((16, 8), generator=generator())
    for shape in ((2, 8, 16), (16, 8), (2, 1, 16, 8)):
        with pytest.raises(ValueError, match=r"items must be \(item, 16, 8\), got shape"):
            encoder(torch.zeros(shape))
    for item_shape in ((8,), (0, 8), (1, 8, 8)):
        with pytest.raises(ValueError, match=r"item_shape.* must be "):
            cls(item_shape)
    with pytest.raises(ValueError, match=r"out_features must be an int 1….*, got 0"):
        cls((16, 8), out_features=0)


def test_sides_must_be_halved_three_times() -> None:
    with pytest.raises(ValueError, match=r"multiples of 8 .* got \(32, 20\)"):
        ConvEncoder((32, 20))
    assert MLPEncoder((3, 20)).fc1.in_features == 60


def convolved(maps: np.ndarray, weight: np.ndarray, bias: np.ndarray, stride: int) -> np.ndarray:
    """Window by window, with a ReLU."""
    out, _, side, _ = weight.shape
    rows, columns = ((size - side) // stride + 1 for size in maps.shape[1:])
    found = np.zeros((out, rows, columns))
    for k, i, j in np.ndindex(found.shape):
        window = maps[:, i * stride : i * stride + side, j * stride : j * stride + side]
        found[k, i, j] = max(0.0, float((window * weight[k]).sum() + bias[k]))
    return found


def test_planes_are_convolved_window_by_window() -> None:
    encoder = with_biases(
        PlanesEncoder(
            (3, 6, 7), convolutions=((4, 2, 1), (5, 3, 2)), out_features=6, generator=generator()
        )
    )
    items = torch.rand(2, 3, 6, 7, dtype=torch.float64, generator=generator(2))
    w = arrays_of(encoder)
    for item, found in zip(items.numpy(), encoder(items).detach(), strict=True):
        maps = convolved(item, w["layers.0.weight"], w["layers.0.bias"], 1)
        maps = convolved(maps, w["layers.1.weight"], w["layers.1.bias"], 2)
        rows = w["output.weight"] @ maps.reshape(-1) + w["output.bias"]
        np.testing.assert_allclose(found, np.maximum(rows, 0), rtol=1e-9, atol=1e-12)


def test_planes_that_do_not_fit_are_refused() -> None:
    with pytest.raises(ValueError, match=r"item_shape must be \(channel, height, width\)"):
        PlanesEncoder((7, 7))
    with pytest.raises(ValueError, match="convolutions must leave something of"):
        PlanesEncoder((3, 3, 3))
    with pytest.raises(ValueError, match=r"items must be \(item, 3, 7, 7\), got shape"):
        PlanesEncoder((3, 7, 7))(torch.zeros(1, 3, 7, 8))
    atari = ((32, 8, 4), (64, 4, 2), (32, 3, 1))
    encoder = PlanesEncoder((4, 84, 84), convolutions=atari, out_features=512)
    assert encoder.output.in_features == 32 * 7 * 7
