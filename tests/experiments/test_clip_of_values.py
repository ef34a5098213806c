"""Records of agents from when one clip was that of probabilities and of values."""

from __future__ import annotations

import dataclasses
import json
from itertools import islice
from pathlib import Path

import pytest

from farfield.experiments import AgentNetwork, Experiment, Recipe, Spec
from farfield.nn import GRULayer
from farfield.objectives import PPO
from farfield.tasks import ObjectPicking

RECORDS = Path(__file__).resolve().parents[2] / "results" / "lamb2022"
RULES = {
    PPO(value_clip=0.1): {},
    PPO(): {"value_clip": None},
    PPO(clip=0.2, value_clip=0.2): {"clip": 0.2},
    PPO(clip=0.2): {"clip": 0.2, "value_clip": None},
    PPO(clip=0.2, value_clip=0.1): {"clip": 0.2, "value_clip": 0.1},
    PPO(value_clip=0.2): {"value_clip": 0.2},
}


def experiment_of(rule: PPO) -> Experiment:
    return Experiment(
        task=ObjectPicking(),
        model=AgentNetwork(core=Spec(GRULayer, hidden_size=4)),
        recipe=Recipe(steps=2),
        objective=rule,
    )


@pytest.mark.parametrize("rule", RULES, ids=str)
def test_a_description_without_a_clip_of_values_is_of_the_one_clip(rule: PPO) -> None:
    experiment = experiment_of(rule)
    described = experiment.to_json()
    assert described["objective"] == {"class": "farfield.objectives.PPO", **RULES[rule]}
    assert Experiment.from_json(described) == experiment
    space: dict[str, object] = {}
    exec(experiment.to_python(), space)
    assert space["experiment"] == experiment


def test_every_rule_has_a_key_of_its_own() -> None:
    assert len({experiment_of(rule).key for rule in RULES}) == len(RULES)


@pytest.mark.parametrize("name", ["object-picking-narrow", "object-picking-beyond"])
def test_recorded_agents_have_the_keys_that_they_had(name: str) -> None:
    with (RECORDS / f"{name}.jsonl").open(encoding="utf-8") as lines:
        record = next(json.loads(line)["record"] for line in islice(lines, 1))
    experiment = Experiment.from_json(record["experiment"])
    assert experiment.key == Experiment.key_of(record["experiment"])
    rule = experiment.objective
    assert isinstance(rule, PPO)
    assert rule.value_clip == rule.clip == 0.2
    none = dataclasses.replace(rule, value_clip=None)
    assert dataclasses.replace(experiment, objective=none).key != experiment.key
