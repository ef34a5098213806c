"""Every task with every reasoner: a few updates, and a score in every regime."""

from __future__ import annotations

from pathlib import Path

import pytest

from each import each, some
from farfield.execution import Here, run
from farfield.execution.internal import Job
from farfield.experiments import Experiment, Network, Recipe, Spec
from farfield.models import REASONERS
from farfield.nn import ContextNorm, LinearEncoder
from farfield.records import Store
from farfield.tasks import TASKS
from farfield.tasks._rules._abstract_rules import RuleTask

RULES = [name for name, task in TASKS.items() if issubclass(task, RuleTask)]


@each("reasoner", list(REASONERS))
@pytest.mark.parametrize("task", some(["same-different", "identity-rules-middle"], RULES))
def test_every_reasoner_trains_on_every_task(task: str, reasoner: str, tmp_path: Path) -> None:
    small = {"hidden_size": 12} if reasoner in ("esbn", "lstm", "ntm", "mnm") else {}
    experiment = Experiment(
        task=TASKS[task](withheld=50, max_problems=64),
        model=Network(
            reasoner=Spec(REASONERS[reasoner], **small),
            encoder=Spec(LinearEncoder, out_features=16),
            context=Spec(ContextNorm),
        ),
        recipe=Recipe(steps=2, batch_size=16),
    )
    store = Store(tmp_path)
    run([Job(experiment=experiment, seed=0)], store, Here())
    (record,) = store.records(experiment.key)
    for regime in experiment.task.regimes:
        assert 0 <= record.final(regime.name) <= 1
