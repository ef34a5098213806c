"""Records of sequence networks from when periods had to divide a sequence."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from farfield.experiments import Experiment, Recipe, SequenceNetwork, Spec
from farfield.nn import GRULayer
from farfield.tasks import SequentialMNIST

RECORDS = Path(__file__).resolve().parents[2] / "results" / "lamb2022" / "one-layer.jsonl"
CORE = Spec(GRULayer, hidden_size=4)
NETWORKS = {
    SequenceNetwork(core=CORE): {},
    SequenceNetwork(core=CORE, pace=8, whole_periods=True): {"pace": 8},
    SequenceNetwork(core=CORE, pace=8): {"pace": 8, "whole_periods": False},
}


@pytest.mark.parametrize("network", NETWORKS, ids=str)
def test_a_pace_without_a_word_is_of_whole_periods(network: SequenceNetwork) -> None:
    experiment = Experiment(task=SequentialMNIST(), model=network, recipe=Recipe(steps=2))
    described = experiment.to_json()
    written = {name: described["model"][name] for name in described["model"] if "p" in name}
    assert written == NETWORKS[network]
    assert Experiment.from_json(described) == experiment
    space: dict[str, object] = {}
    exec(experiment.to_python(), space)
    assert space["experiment"] == experiment


def test_recorded_networks_have_the_keys_that_they_had() -> None:
    paced = 0
    for line in RECORDS.read_text(encoding="utf-8").splitlines():
        described = json.loads(line)["record"]["experiment"]
        experiment = Experiment.from_json(described)
        assert experiment.key == Experiment.key_of(described)
        if "pace" in described["model"]:
            assert isinstance(experiment.model, SequenceNetwork)
            assert experiment.model.whole_periods
            paced += 1
    assert paced > 0


def test_whole_periods_need_a_pace() -> None:
    with pytest.raises(ValueError, match="whole_periods must be False without a pace, got True"):
        SequenceNetwork(core=CORE, whole_periods=True)
