"""Language models with a cache of recent words."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import torch
from torch import nn

from farfield.analysis import NeuralCache
from farfield.core import stream
from farfield.experiments import Experiment, Recipe, SequenceNetwork, Spec
from farfield.functional.internal import cached_log_probs
from farfield.nn import NormalizedLSTM, WordEncoder
from farfield.objectives import CarriedState
from farfield.tasks import WordText
from farfield.training.internal import OneNetwork
from oracles import texts

CACHE = NeuralCache(of="test", size=5, scale=2.0, weight=0.3)


def experiment_of(folder: Path) -> Experiment:
    numbers = stream(0, "text").numpy()
    for name in ("train", "valid", "test"):
        rows = [" ".join("abcdef"[k] for k in numbers.integers(6, size=5)) for _ in range(6)]
        (folder / f"{name}.txt").write_text("\n".join(rows) + "\n", encoding="utf-8")
    return Experiment(
        task=WordText(folder=str(folder), steps=3),
        model=SequenceNetwork(
            core=Spec(NormalizedLSTM, hidden_size=4), encoder=Spec(WordEncoder), core_bound=1.0
        ),
        objective=CarriedState(),
        recipe=Recipe(steps=2, batch_size=4),
        perturbations=(CACHE,),
    )


@pytest.mark.parametrize("remembered", [0, 1, 4])
def test_words_that_followed_similar_states_are_more_likely(remembered: int) -> None:
    numbers = stream(0, "cache").numpy()
    logits, hidden = numbers.normal(size=(2, 7, 6)), numbers.normal(size=(2, 7 + remembered, 3))
    words = numbers.integers(6, size=hidden.shape[:2])
    options = {"size": 3, "scale": 1.5, "weight": 0.4}
    found = cached_log_probs(*map(torch.from_numpy, (logits, hidden, words)), **options).exp()
    for row in range(2):
        expected = texts.cached(logits[row], hidden[row], words[row], **options)
        np.testing.assert_allclose(found[row].numpy(), expected, rtol=1e-9)


def test_a_set_is_scored_with_a_cache_that_goes_through_the_text_once(tmp_path: Path) -> None:
    experiment = experiment_of(tmp_path)
    learner = OneNetwork(experiment, 0)
    scores = {(s.regime, s.metric): s.value for s in learner.score(0)[0]}
    problems = experiment.task.draw(stream(0))["test"]
    index = problems.index.reshape(1, -1)
    with torch.no_grad():
        hidden = learner.model.hidden_states(problems.items, index)[0].double()
        logits = learner.model.output.double()(hidden)
    likely = texts.cached(
        logits[0].numpy(), hidden[0].numpy(), index[0].numpy(), size=5, scale=2.0, weight=0.3
    )
    expected = texts.perplexity(np.log(likely), problems.target.numpy())
    assert scores["cache-test", "perplexity"] == pytest.approx(expected, rel=1e-5)
    assert scores["test", "perplexity"] != pytest.approx(expected, rel=1e-3)


def test_pieces_of_a_text_are_answered_as_the_whole(tmp_path: Path) -> None:
    experiment = experiment_of(tmp_path)
    network = CACHE.network(OneNetwork(experiment, 0).model.eval(), stream(0))
    problems = experiment.task.draw(stream(0))["training"]
    index, state, pieces = problems.index.reshape(2, -1), None, []
    with torch.no_grad():
        for part in (index[:, :1], index[:, 1:9], index[:, 9:]):
            outputs, state = network.continued(problems.items, part, state)
            pieces.append(outputs)
        torch.testing.assert_close(torch.cat(pieces, 1), network(problems.items, index))


def test_other_networks_are_refused() -> None:
    with pytest.raises(ValueError, match=r"model must be a SequenceModel .* got Linear"):
        CACHE.network(nn.Linear(2, 2), stream(0))
