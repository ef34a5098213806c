"""A+: loops over windows, regressions of nearest windows, and what it refuses."""

from __future__ import annotations

import builtins
import re

import numpy as np
import pytest
import torch

from farfield.core import Problems
from farfield.experiments import Experiment, ItemNetwork, Recipe, Spec
from farfield.models import AnchoredRegression
from farfield.tasks import SuperResolution
from farfield.training.internal import OneNetwork, Stack
from made import drawn, generator
from oracles import super_resolution as by_loops


def small(scale: int = 2, **options: int) -> AnchoredRegression:
    sizes = {"num_anchors": 6, "num_neighbors": 40, "num_components": 5} | options
    return AnchoredRegression(scale=scale, dtype=torch.float64, **sizes)


def state(network: AnchoredRegression) -> list[np.ndarray]:
    return [part.numpy() for part in network.buffers()]


def problems(sharp: torch.Tensor) -> Problems:
    rows = torch.arange(len(sharp))[:, None]
    return Problems(items=sharp, index=rows, target=sharp)


def images(count: int = 1, side: int = 30) -> torch.Tensor:
    return torch.randint(256, (count, side, side), dtype=torch.uint8, generator=generator())


@pytest.mark.parametrize("scale, height, width", [(2, 15, 14), (3, 20, 19)])
def test_loops_over_windows(scale: int, height: int, width: int) -> None:
    network = small(scale)
    for part in network.buffers():
        part.normal_(generator=generator(part.numel()))
    shown = drawn(2, height, width)
    expected = [by_loops.anchored(one, scale, *state(network)) for one in shown.numpy()]
    np.testing.assert_allclose(network(shown), expected, rtol=1e-9, atol=1e-11)


def test_an_unfitted_network_adds_nothing() -> None:
    shown = drawn(1, 20, 30)
    assert torch.equal(small()(shown), shown)


def test_matrices_are_ridge_regressions_of_the_nearest_windows() -> None:
    network, sharp = small(num_neighbors=30), images(side=20)
    sharp[:, :, 10:] = 100 + sharp[:, :, 10:] % 4  # flat windows, which are not of length 1
    network.fit_at_once(problems(sharp), generator())
    projection, anchors, found = state(network)
    np.testing.assert_allclose(projection.T @ projection, np.eye(5), atol=1e-9)
    np.testing.assert_allclose((anchors**2).sum(1), 1, atol=1e-9)
    expected = by_loops.anchored_regressors(sharp[0].numpy() / 255, 2, projection, anchors, 30, 0.1)
    np.testing.assert_allclose(found, expected, rtol=1e-6, atol=1e-8)


def test_a_network_is_fitted_when_it_is_built_and_never_stacked(tmp_path: object) -> None:
    from PIL import Image

    for folder in ("train", "test"):
        (tmp_path / folder).mkdir()
        for number, pixels in enumerate(images(2, 34)):
            Image.fromarray(pixels.numpy()).save(tmp_path / folder / f"{number}.png")
    experiment = Experiment(
        task=SuperResolution(
            scale=2,
            training=str(tmp_path / "train"),
            tests=(str(tmp_path / "test"),),
            patch=30,
        ),
        model=ItemNetwork(core=Spec(AnchoredRegression, scale=2, num_anchors=6, num_neighbors=40)),
        recipe=Recipe(steps=1, batch_size=1),
    )
    first, again, other = (OneNetwork(experiment, seed).weights()[0] for seed in (0, 0, 1))
    assert first["core.regressors"].any()
    assert all(torch.equal(first[name], again[name]) for name in first)
    assert not torch.equal(first["core.anchors"], other["core.anchors"])
    with pytest.raises(ValueError, match="fits at once is not stacked"):
        Stack(experiment, [0, 1])


@pytest.mark.parametrize(
    "network, sharp, message",
    [
        (small(), images().double(), "sharp images in bytes as targets, .* got torch.float64"),
        (small(num_neighbors=200), images(side=20), "at least 200 windows, .* got 36"),
    ],
)
def test_targets_it_cannot_learn_from(
    network: AnchoredRegression, sharp: torch.Tensor, message: str
) -> None:
    with pytest.raises(ValueError, match=message):
        network.fit_at_once(problems(sharp), generator())


def test_images_without_a_window_and_too_many_components() -> None:
    with pytest.raises(
        ValueError, match=re.escape("at least 10 × 10 pixels, got shape (1, 9, 20)")
    ):
        small()(drawn(1, 9, 20))
    with pytest.raises(ValueError, match=r"num_components must be at most 144, .* got 145"):
        small(num_components=145)


def test_a_missing_library_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    imported = builtins.__import__

    def without(name: str, *rest: object) -> object:
        if name.startswith("sklearn"):
            raise ModuleNotFoundError(name)
        return imported(name, *rest)

    monkeypatch.setattr(builtins, "__import__", without)
    with pytest.raises(ModuleNotFoundError, match=r"pip install 'farfield\[stats\]'"):
        small().fit_at_once(problems(images()), generator())
