"""What the parts of a network are told when they are made."""

from __future__ import annotations

import inspect
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import torch
from torch import nn

from farfield.core import stream
from farfield.experiments import Network, ScoringNetwork, Spec
from farfield.experiments._aliases import DEFAULTS
from farfield.experiments._describe import describe, restore
from farfield.experiments._networks import Parts
from farfield.models import CoRelNet, LSTMScorer, SetScorer
from farfield.nn import ZCA, ContextWhitening, FigureEncoder, MLPEncoder, PanelEncoder, Standardize
from farfield.nn.internal import CenterImages
from farfield.tasks import (
    ImageClasses,
    ProgressiveMatrices,
    RelationalMatchToSample,
    VisualAnalogies,
)
from tasks.image_sets import add, read


class Told(nn.Module):
    """A module that keeps what it is made with."""

    def __init__(
        self,
        *,
        in_features: int = 0,
        input_size: int = 0,
        num_features: int = 0,
        length: int = 0,
        num_outputs: int = 0,
        num_candidates: int = 0,
        segments: object = None,
        batch_first: bool = False,
        other: int = 3,
    ) -> None:
        super().__init__()
        self.told = {name: value for name, value in locals().items() if name != "self"}


def test_a_part_is_told_of_the_problems_and_of_the_embeddings() -> None:
    task = RelationalMatchToSample()
    parts = Parts(task, stream(0))
    assert parts.part("early", Spec(Told)).told["in_features"] == 0
    parts.encoder(Spec(MLPEncoder, out_features=10))
    told = parts.part("reasoner", Spec(Told, num_outputs=5)).told
    names = {"in_features", "input_size", "num_features"}
    assert (parts.width, {told[name] for name in names}) == (10, {10})
    assert (told["length"], told["segments"], told["batch_first"]) == (6, task.segments, True)
    assert (told["num_outputs"], told["num_candidates"], told["other"]) == (5, 0, 3)
    assert parts.part("decoder", Spec(Told), in_features=7).told["in_features"] == 7


def test_a_part_that_scores_candidates_is_told_of_one_sequence() -> None:
    task = VisualAnalogies()
    parts = Parts(task, stream(0), candidates=task.num_candidates)
    parts.encoder(Spec(PanelEncoder))
    told = parts.part("scorer", Spec(Told)).told
    assert (told["length"], told["num_outputs"], told["num_candidates"]) == (6, 1, 4)
    assert (parts.length, parts.num_outputs) == (6, 1)


class Preprocessing(nn.Module):
    """A module that keeps the statistics of images that it is made with."""

    def __init__(self, channel_mean: object, channel_std: object) -> None:
        super().__init__()
        self.made_with = channel_mean, channel_std


def test_a_part_has_the_statistics_that_it_asks_for(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("FARFIELD_CACHE", str(tmp_path))
    add(monkeypatch)
    task = ImageClasses(data_set="made-up")
    parts = Parts(task, stream(0))
    statistics = task.channel_statistics()
    assert parts.part("front", Spec(Preprocessing)).made_with == statistics
    given = Spec(Preprocessing, channel_mean=(0.5,))
    assert parts.part("front", given).made_with == ((0.5,), statistics.std)
    images = torch.from_numpy(read(False)[0])
    for spec, expected in (
        (Spec(Standardize), Standardize(*statistics)),
        (Spec(ZCA, eps=0.1), ZCA(*statistics, task.pixel_spectrum(), eps=0.1)),
        (
            Spec(CenterImages, includes_test=True),
            CenterImages(task.mean_images(), includes_test=True),
        ),
    ):
        assert torch.equal(parts.part("front", spec)(images), expected(images))


def test_statistics_are_found_only_where_they_are_asked_for(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """None of these data sets is there."""
    monkeypatch.setenv("FARFIELD_DATA", "nowhere")
    monkeypatch.setenv("FARFIELD_CACHE", "nowhere")
    parts = Parts(ImageClasses(data_set="cifar10"), stream(0))
    assert parts.part("encoder", Spec(Told)).told["length"] == 1
    assert parts.part("front", Spec(Standardize)).mean.shape == (3, 1, 1)
    with pytest.raises(ValueError, match="of cifar10 must exist"):
        parts.part("front", Spec(ZCA))
    parts = Parts(ImageClasses(data_set="mnist"), stream(0))
    given = Spec(Standardize, channel_mean=(0.25,), channel_std=(0.5,))
    assert float(parts.part("front", given).mean) == 0.25
    with pytest.raises(ValueError, match="of mnist must exist"):
        parts.part("front", Spec(Standardize))


def test_of_a_task_without_images_a_part_has_no_statistics() -> None:
    parts = Parts(RelationalMatchToSample(), stream(0))
    with pytest.raises(TypeError, match="channel_mean"):
        parts.part("front", Spec(Standardize))


@pytest.mark.parametrize("spec", [None, Spec(Told)])
def test_there_is_a_context_where_one_is_described(spec: Spec | None) -> None:
    context = Parts(RelationalMatchToSample(), stream(0)).context(spec)
    assert isinstance(context, Told) if spec else context is None


def test_a_scorer_of_sets_is_told_of_the_sets_and_of_no_context() -> None:
    task = ProgressiveMatrices(image_size=40)
    network = ScoringNetwork(encoder=Spec(FigureEncoder), scorer=Spec(SetScorer), context=None)
    model = network.build(task, stream(0))
    assert model.scorer.set_sizes == model.encoder.set_sizes
    with pytest.raises(ValueError, match=r"context must be None for SetScorer, .* got Spec"):
        ScoringNetwork(encoder=Spec(FigureEncoder), scorer=Spec(SetScorer))
    bare = replace(network, encoder=Spec(PanelEncoder))
    why = r"SetScorer needs set_sizes, which .* write Spec\(SetScorer, set_sizes=…\)"
    with pytest.raises(TypeError, match=why):
        bare.build(task, stream(0))


@pytest.mark.parametrize(
    "network, task",
    [
        (ScoringNetwork(scorer=Spec(LSTMScorer), encoder=Spec(PanelEncoder)), VisualAnalogies()),
        (Network(reasoner=Spec(CoRelNet)), RelationalMatchToSample()),
    ],
)
def test_a_network_takes_problems_as_a_task_draws_them(network: Any, task: Any) -> None:
    problems = task.sample("training", 2, stream(1).numpy())
    model = network.build(task, stream(0))
    there = problems.index.unique()  # all images of a task would not fit
    index = torch.searchsorted(there, problems.index)
    expected = model(problems.items[there], index)
    torch.testing.assert_close(model(problems.items, problems.index), expected)


def test_a_description_without_an_option_means_its_first_default() -> None:
    """The default of `ContextWhitening.eps` was 1e-6; descriptions and keys of that time stay."""
    path = "farfield.nn.ContextWhitening"
    for name, (first, now) in DEFAULTS[path].items():
        default = inspect.signature(ContextWhitening).parameters[name].default
        assert default == now
        assert describe(Spec(ContextWhitening, **{name: first}))["options"] == []
        assert describe(Spec(ContextWhitening))["options"] == [[name, now]]
    for spec in (
        Spec(ContextWhitening),
        Spec(ContextWhitening, eps=1e-6),
        Spec(ContextWhitening, eps=0.1),
    ):
        assert restore(describe(spec)) == spec
