"""Agents of lamb2022 as claims: the published scores, and the experiments behind them."""

from __future__ import annotations

import dataclasses
from fnmatch import fnmatchcase

import pytest

from farfield.core import stream
from farfield.models import ActorCritic
from farfield.nn import RIMs
from farfield.objectives import PPO
from farfield.reproductions import STATEMENTS, TABLES, Claim, Verdict, judge
from farfield.reproductions._comparisons import as_published
from farfield.reproductions.lamb2022 import _print_control as printed
from farfield.tasks import Atari, BabyAIPicking, ObjectPicking, is_at_hand

KEYS = (
    "figure-4-agents",
    "object-picking",
    "object-picking-narrow",
    "object-picking-beyond",
    "figure-5-agents",
    "nfm-table-3",
)
RUN = [claim for key in KEYS for claim in TABLES[f"lamb2022/{key}"].claims if not claim.unbuilt]


def cells(key: str) -> tuple[Claim, ...]:
    return TABLES[f"lamb2022/{key}"].claims


def test_the_scores_are_those_of_print() -> None:
    found = {(claim.row, claim.column): str(claim.published) for claim in cells("nfm-table-3")}
    assert len(found) == 10
    assert found["Rainbow-IQN", "Ms. Pacman"] == "6432"
    assert found["Rainbow-IQN + NFM", "Ms. Pacman"] == "6300 ± 3384 SD"
    assert found["Rainbow-IQN + NFM", "Amidar"] == "3948 ± 23 SD"
    assert found["Rainbow-IQN", "Crazy Climber"] == "333242"
    for claim in cells("nfm-table-3"):
        assert judge(claim, []).verdict is Verdict.NOT_RUN
    statement = STATEMENTS["lamb2022/atari-nfm"]
    assert as_published(statement.comparison) == printed.BETTER == 4


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
    assert {claim.published.runs for claim in RUN} == {printed.TRIALS}


def test_only_the_recurrent_layer_differs() -> None:
    for key in KEYS[:5]:
        by_task = {}
        for claim in cells(key):
            experiment = claim.experiment
            rest = (experiment.model.encoder, experiment.recipe, experiment.objective)
            by_task.setdefault(experiment.task, set()).add(rest)
        assert {len(settings) for settings in by_task.values()} == {1}


def test_settings_of_atari_are_those_of_the_released_code() -> None:
    games = {claim.experiment.task for claim in cells("figure-5-agents")}
    assert games == {Atari(game=game) for game in printed.GAMES.values()}
    (recipe,) = {claim.experiment.recipe for claim in cells("figure-5-agents")}
    rule = cells("figure-5-agents")[0].experiment.objective
    assert (recipe.learning_rate, recipe.batch_size) == (2.5e-4, 8)
    assert rule == PPO(clip=0.1, rollout_length=128, minibatches=4, reward_clip=1.0)
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


def test_weight_decay_is_of_the_first_layer_alone() -> None:
    plain, beyond = (cells(f"object-picking-{name}")[0].experiment for name in ("narrow", "beyond"))
    optimizer = beyond.recipe.optimizer
    assert dataclasses.replace(beyond.recipe, optimizer=plain.recipe.optimizer) == plain.recipe
    assert dataclasses.replace(beyond, recipe=plain.recipe) == plain
    names = [name for name, _ in plain.model.build(plain.task, stream(0)).named_parameters()]
    decayed = [n for n in names if not any(fnmatchcase(n, p) for p in optimizer.undecayed)]
    assert decayed == ["encoder.layers.0.weight"]
