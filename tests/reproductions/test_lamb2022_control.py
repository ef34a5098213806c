"""Agents of lamb2022 as claims: the published scores, and the experiments behind them."""

from __future__ import annotations

import dataclasses
from fnmatch import fnmatchcase

import pytest
import torch

from farfield.core import stream
from farfield.models import ActorCritic, QuantileAgent
from farfield.nn import RIMs
from farfield.objectives import PPO
from farfield.reproductions import TABLES, Claim, Verdict, judge
from farfield.tasks import Atari, BabyAIPicking, ObjectPicking, is_at_hand

KEYS = (
    "figure-4-agents",
    "object-picking",
    "object-picking-narrow",
    "object-picking-beyond",
    "figure-5-agents",
)
VALUES = ("object-picking-values", "nfm-table-3")
RUN = [claim for key in KEYS for claim in TABLES[f"lamb2022/{key}"].claims]


def cells(key: str) -> tuple[Claim, ...]:
    return TABLES[f"lamb2022/{key}"].claims


def test_games_without_records_are_not_run() -> None:
    for claim in cells("nfm-table-3"):
        assert judge(claim, []).verdict is Verdict.NOT_RUN


def test_known_and_novel_distractors_are_two_regimes_of_the_same_agents() -> None:
    for key, task, rows in (
        ("figure-4-agents", BabyAIPicking, 2),
        ("object-picking", ObjectPicking, 5),
        ("object-picking-narrow", ObjectPicking, 5),
        ("object-picking-beyond", ObjectPicking, 2),
    ):
        claims = cells(key)
        assert {type(claim.experiment.task) for claim in claims} == {task}
        assert len({claim.experiment.key for claim in claims}) == rows
        assert {"training", "novel-distractors"} <= {claim.regime for claim in claims}
    assert {claim.published.runs for claim in RUN} == {3}


def test_settings_of_atari_are_those_of_the_released_code() -> None:
    games = {claim.experiment.task for claim in cells("figure-5-agents")}
    names = ("ms_pacman", "frostbite", "alien", "amidar", "hero", "qbert", "crazy_climber")
    assert games == {Atari(game=game) for game in (*names, "demon_attack")}
    (recipe,) = {claim.experiment.recipe for claim in cells("figure-5-agents")}
    rule = cells("figure-5-agents")[0].experiment.objective
    assert (recipe.learning_rate, recipe.batch_size) == (2.5e-4, 8)
    assert rule == PPO(clip=0.1, value_clip=0.1, rollout_length=128, minibatches=4, reward_clip=1.0)
    assert recipe.steps == pytest.approx(10_000_000 / (8 * 128), abs=1)


@pytest.mark.parametrize(
    "claim",
    {claim.experiment.key: claim for claim in RUN[:14] + RUN[-4:]}.values(),
    ids=lambda claim: claim.cell,
)
def test_every_agent_can_be_built(claim: Claim) -> None:
    if not is_at_hand(claim.experiment.task):
        pytest.skip(claim.data)
    agent = claim.experiment.model.build(claim.experiment.task, stream(0))
    assert isinstance(agent, ActorCritic)
    if claim.row.startswith("RIMs"):
        assert isinstance(agent.core, RIMs)
        assert agent.core.num_mechanisms == 6


@pytest.mark.parametrize("key", VALUES)
def test_only_the_encoder_differs_and_reads_at_four_places_or_fewer(key: str) -> None:
    by_task: dict = {}
    for claim in cells(key):
        experiment = claim.experiment
        encoders, rest = by_task.setdefault(experiment.task, (set(), set()))
        encoders.add(experiment.model.encoder)
        rest.add((experiment.model.head, experiment.recipe, experiment.objective))
    for encoders, rest in by_task.values():
        assert (len(encoders), len(rest)) == (2, 1)
        plain, modules = sorted(encoders, key=lambda spec: len(spec.options))
        assert modules.cls.__name__.replace("NFM", "") == plain.cls.__name__
        assert dict(modules.options)["rules"].top_k == 4


@pytest.mark.parametrize("row", ["Rainbow-IQN", "Rainbow-IQN + NFM"])
@pytest.mark.parametrize("key", VALUES)
def test_every_agent_that_learns_values_can_act(key: str, row: str) -> None:
    claim = next(claim for claim in cells(key) if claim.row == row)
    if not is_at_hand(claim.experiment.task):
        pytest.skip(claim.data)
    task = claim.experiment.task
    agent = claim.experiment.model.build(task, stream(0)).eval()
    assert isinstance(agent, QuantileAgent)
    seen, fractions = torch.zeros(1, *task.item_shape), torch.full((1, 3), 0.5)
    assert agent(seen, fractions).shape == (1, 3, task.num_actions)


def test_steps_of_the_games_are_those_of_the_other_agents() -> None:
    experiment = cells("nfm-table-3")[0].experiment
    steps = experiment.recipe.steps * experiment.objective.copies
    assert steps == pytest.approx(10_000_000, rel=1e-3)
    assert experiment.objective.target_period * experiment.objective.copies == 20_000


def test_weight_decay_is_of_the_first_layer_alone() -> None:
    plain, beyond = (cells(f"object-picking-{name}")[0].experiment for name in ("narrow", "beyond"))
    optimizer = beyond.recipe.optimizer
    assert dataclasses.replace(beyond.recipe, optimizer=plain.recipe.optimizer) == plain.recipe
    assert dataclasses.replace(beyond, recipe=plain.recipe) == plain
    names = [name for name, _ in plain.model.build(plain.task, stream(0)).named_parameters()]
    decayed = [n for n in names if not any(fnmatchcase(n, p) for p in optimizer.undecayed)]
    assert decayed == ["encoder.layers.0.weight"]
