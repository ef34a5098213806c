"""Searches: their trials, and the choice among scored ones."""

from __future__ import annotations

import dataclasses
import json
import math
import re
from typing import Any

import numpy as np
import pytest

from farfield.analysis import FGSM
from farfield.experiments import (
    SGD,
    Choice,
    Experiment,
    ItemNetwork,
    Network,
    Recipe,
    Search,
    Selection,
    SequenceNetwork,
    Spec,
    Uniform,
)
from farfield.experiments.internal import ScoredTrial, field_of, with_field
from farfield.models import BottleneckMLP, CoRelNet
from farfield.nn import LSTMLayer
from farfield.objectives import CropAndFlip, GroupDRO, Mixup
from farfield.tasks import (
    Copying,
    DigitDomains,
    FewLabels,
    ProblemTask,
    PublishedVisualAnalogies,
    SameDifferent,
)

JUDGE = Network(reasoner=Spec(CoRelNet))
DENSE = ItemNetwork(core=Spec(BottleneckMLP))
RATES = Choice(field="recipe.learning_rate", values=(0.1, 0.01))
SIZES = Choice(field="model.core.hidden_size", values=(4, 8, 16))
INTERVAL = Uniform(field="recipe.learning_rate", low=1e-4, high=1.0, log=True)


def experiment(task: ProblemTask | None = None, **parts: Any) -> Experiment:
    model = SequenceNetwork(core=Spec(LSTMLayer, hidden_size=2))
    recipe = Recipe(steps=3, optimizer=SGD())
    return Experiment(**{"task": task or Copying(), "model": model, "recipe": recipe, **parts})


def search(*over: Choice | Uniform, **fields: Any) -> Search:
    return Search(**{"experiment": experiment(), "over": over or (RATES, SIZES), **fields})


def selection(*scores: tuple[float | None, ...], metric: str = "accuracy") -> Selection:
    trials = tuple(
        ScoredTrial(values=(0.1 / 10**number,), key=f"k{number}", scores=each)
        for number, each in enumerate(scores)
    )
    return Selection(
        fields=("recipe.learning_rate",),
        metric=metric,
        regime="validation",
        seeds=tuple(range(len(scores[0]))),
        trials=trials,
    )


def test_a_grid_is_all_combinations_each_an_ordinary_experiment() -> None:
    trials = search().trials
    assert [t.values for t in trials] == [(r, s) for r in (0.1, 0.01) for s in (4, 8, 16)]
    for (rate, size), made in trials:
        model = SequenceNetwork(core=Spec(LSTMLayer, hidden_size=size))
        recipe = Recipe(steps=3, optimizer=SGD(), learning_rate=rate)
        assert made == experiment(model=model, recipe=recipe)


def test_trials_have_validation_and_the_choice_is_for_the_experiment_itself() -> None:
    rules = experiment(SameDifferent(withheld=95), model=JUDGE)
    asked = search(RATES, experiment=rules)
    for value, made in asked.trials:
        assert made.task == SameDifferent(withheld=95, validation_problems=2_000)
        assert made.recipe.learning_rate == value[0]
    assert asked.experiment == rules
    scored = tuple(
        ScoredTrial(values=values, key=made.key, scores=(score,))
        for (values, made), score in zip(asked.trials, (0.5, 0.75), strict=True)
    )
    chosen = dataclasses.replace(selection((0.5,), (0.75,)), trials=scored).of(rules)
    assert chosen == dataclasses.replace(
        rules, recipe=Recipe(steps=3, optimizer=SGD(), learning_rate=0.01)
    )


def test_equal_values_are_one_trial_in_the_type_of_the_field() -> None:
    (trial,) = search(Choice(field="recipe.learning_rate", values=(1, 1.0))).trials
    assert trial.values == (1.0,)
    assert isinstance(trial.values[0], float)


def test_draws_are_those_of_the_seed_and_of_each_field_alone() -> None:
    both = search(INTERVAL, SIZES, samples=40, sampling_seed=3)
    assert both.trials == search(INTERVAL, SIZES, samples=40, sampling_seed=3).trials
    assert both.trials != search(INTERVAL, SIZES, samples=40, sampling_seed=4).trials
    alone = search(INTERVAL, samples=40, sampling_seed=3)
    assert [t.values[0] for t in both.trials] == [t.values[0] for t in alone.trials]
    assert {t.values[1] for t in both.trials} == {4, 8, 16}


@pytest.mark.parametrize("log", [False, True])
def test_intervals_are_drawn_evenly(log: bool) -> None:
    interval = Uniform(field="recipe.learning_rate", low=0.01, high=100.0, log=log)
    generator = np.random.default_rng(0)
    drawn = np.sort([interval.draw(generator) for _ in range(2_000)])
    low, high, drawn = (np.log(v) if log else v for v in (0.01, 100.0, drawn))
    distance = np.abs((drawn - low) / (high - low) - np.linspace(0, 1, 2_000)).max()
    assert distance < 1.63 / math.sqrt(2_000)  # Kolmogorov and Smirnov, at 1 %


def test_fields_are_reached_through_specs_and_objectives() -> None:
    first = experiment(objective=CropAndFlip(objective=Mixup(alpha=1.0)))
    for path, content in (
        ("objective.objective.alpha", 0.5),
        ("recipe.optimizer.momentum", 0.9),
        ("model.core.num_layers", 2),
        ("model.encoder", Spec(LSTMLayer, hidden_size=3)),
        ("recipe", Recipe(steps=7)),
    ):
        changed = with_field(first, path, content)
        assert field_of(changed, path) == content != field_of(first, path)
        assert with_field(changed, path, field_of(first, path)) == first


def test_an_option_at_its_default_is_found() -> None:
    assert field_of(experiment(), "model.core.num_layers") == 1


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"over": (Choice(field="recipe.learning_rat", values=(1,)),)}, "did you mean 'recipe.lea"),
        ({"over": (Choice(field="model.core.size", values=(1,)),)}, "unknown field 'model.core.si"),
        ({"over": (Choice(field="recipe.steps.x", values=(1,)),)}, "recipe.steps must be an obj"),
        ({"over": (Choice(field="recipe.learning_rate", values=(1, "x")),)}, "number above 0, got"),
        ({"over": (Choice(field="model.core.hidden_size", values=(0.5,)),)}, "hidden_size must be"),
        ({"over": (Choice(field="task.dormant", values=(5,)),)}, "another task draws other prob"),
        ({"over": (RATES, RATES)}, "each field once, got 'recipe.learning_rate' twice"),
        ({"over": (INTERVAL,)}, "samples must be a number where values of recipe.learning_rate"),
        ({"over": ()}, "over must not be empty"),
        ({"seeds": ()}, "seeds must not be empty"),
        ({"regime": "dormant-200"}, "regime must be 'validation', got 'dormant-200' of copying"),
        ({"regime": "training"}, "nothing is chosen on problems of a test or of training"),
        ({"regime": "validated"}, "unknown regime 'validated'; did you mean 'validation'"),
        ({"metric": "accurate"}, "unknown metric 'accurate'; did you mean 'accuracy'"),
        (
            {"experiment": experiment(PublishedVisualAnalogies(), model=JUDGE)},
            "task must have a regime 'validation' to choose on",
        ),
    ],
)
def test_what_cannot_be_searched_is_refused_by_name(wrong: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=re.escape(message)):
        search(**{"over": (RATES,), **wrong})


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: Choice(field="a", values=()), "values of a must not be empty"),
        (lambda: Uniform(field="a", low=2, high=2), r"high must be greater than low \(2.0\)"),
        (lambda: Uniform(field="a", low=0, high=2, log=True), "low must be above 0 where log"),
    ],
)
def test_impossible_values_are_refused(make: Any, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        make()


def test_perturbed_validation_is_no_test() -> None:
    attacks = FGSM(eps=0.1, of="validation"), FGSM(eps=0.1, of="test")
    images = experiment(
        FewLabels(data_set="mnist"),
        model=ItemNetwork(core=Spec(BottleneckMLP)),
        perturbations=attacks,
    )
    ours, theirs = (attack.regime.name for attack in attacks)
    assert search(RATES, experiment=images, regime=ours).regime == ours
    with pytest.raises(ValueError, match=f"'validation' or '{ours}', got '{theirs}'"):
        search(RATES, experiment=images, regime=theirs)


def domains(kind: Any = "rotated", **parts: Any) -> Experiment:
    return experiment(DigitDomains(kind=kind, test="rotation-30"), model=DENSE, **parts)


def test_each_training_domain_is_left_out_once_in_every_trial() -> None:
    attack = FGSM(eps=0.1, of="rotation-30")
    asked = search(
        RATES, experiment=domains(perturbations=(attack,)), regime="left-out-domain", seeds=(4, 5)
    )
    assert [len(asked.scored(trial)) for trial in asked.trials] == [5, 5]
    assert len({one.key for one in asked.experiments}) == 10
    for trial in asked.trials:
        for made, regime in asked.scored(trial):
            assert isinstance(made.task, DigitDomains)
            assert made.recipe == trial.experiment.recipe
            assert made.task.test == regime not in (*made.task.domains, "rotation-30")
            assert made.task.left_out == ("rotation-30",)  # the test is not looked at
            assert len(made.task.domains) == 4
            assert not made.perturbations
    usual = search(RATES, experiment=domains())
    assert [usual.scored(trial) for trial in usual.trials] == [
        ((trial.experiment, "validation"),) for trial in usual.trials
    ]


@pytest.mark.parametrize(
    ("made", "message"),
    [
        (
            experiment(),
            "2 or more training domains where the objective is Supervised, got training",
        ),
        (
            experiment(DigitDomains(), model=DENSE, objective=GroupDRO()),
            "3 or more training domains where the objective is GroupDRO, got plus-90, plus-80",
        ),
    ],
)
def test_too_few_domains_to_leave_one_out_are_refused(made: Experiment, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        search(RATES, experiment=made, regime="left-out-domain")


@pytest.mark.parametrize(
    ("metric", "scores", "best"),
    [
        ("accuracy", [(0.1, 0.5), (0.6, 0.2), (0.3, 0.3)], 1),
        ("loss", [(0.1, 0.5), (0.6, 0.2), (0.2, 0.3)], 2),
        ("accuracy", [(0.1, 0.3), (0.3, 0.5), (0.5, 0.3)], 1),  # equal: the first
        ("accuracy", [(0.9, None), (0.2, 0.2), (0.1, 0.1)], 1),  # diverged: never
    ],
)
def test_the_best_mean_is_chosen(metric: str, scores: Any, best: int) -> None:
    assert selection(*scores, metric=metric).best.key == f"k{best}"


def test_a_search_whose_trials_all_diverged_chooses_nothing() -> None:
    with pytest.raises(ValueError, match="trials must have one of which no network diverged"):
        selection((0.9, None), (None, None))


def test_a_selection_needs_a_score_of_every_network() -> None:
    with pytest.raises(ValueError, match="trials must have 1 values and 2 scores each"):
        selection((0.9, 0.8), (0.1,))


def test_what_was_chosen_is_said_in_words_and_made_again_from_json() -> None:
    found = selection((0.2, 0.3), (0.8, 0.9))
    said = "learning rate 0.01, chosen among 2 by validation accuracy over 2 networks each"
    assert str(found) == said
    assert Selection.from_json(json.loads(json.dumps(found.to_json()))) == found
    assert found.chosen == {"recipe.learning_rate": 0.01}
    assert found.of(experiment()).recipe.learning_rate == 0.01
    assert found.is_of(found.of(experiment()))
    assert not found.is_of(experiment())


def test_fields_of_one_name_are_told_by_their_paths() -> None:
    trial = ScoredTrial(values=(0.5, SGD(momentum=0.9)), key="k", scores=(1.0,))
    fields = {"metric": "accuracy", "regime": "validation", "seeds": (0,), "trials": (trial,)}
    alike = Selection(fields=("a.weight", "b.weight"), **fields)
    assert str(alike).startswith("a.weight 0.5, b.weight SGD(momentum=0.9), chosen among 1 by")
    apart = Selection(fields=("a.weight", "recipe.optimizer"), **fields)
    assert str(apart).startswith("weight 0.5, optimizer SGD(momentum=0.9)")
    assert Selection.from_json(apart.to_json()) == apart


@pytest.mark.parametrize("described", [{}, {"class": "farfield.experiments.Adam"}, {"class": "x"}])
def test_json_of_something_else_is_refused(described: Any) -> None:
    with pytest.raises(ValueError, match=r"not a selection|not part of Farfield"):
        Selection.from_json(described)
