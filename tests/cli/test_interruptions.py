"""The real process, interrupted, killed and starved: what is finished stays, the rest goes on."""

from __future__ import annotations

import os
import shlex
import signal
import subprocess
import sys
import textwrap
from functools import cache
from pathlib import Path

import pytest
import torch

from farfield.cli._arguments import Train
from farfield.cli._train import experiment_of
from farfield.execution import Here, run
from farfield.execution._job import Job
from farfield.execution.internal import News
from farfield.experiments import Experiment
from farfield.records import Score, Store
from farfield.training import train
from farfield.training.internal import OneNetwork
from processes import Forked, gone, wait_for, workers

PROGRAM = textwrap.dedent(
    """
    import os
    import signal
    import sys
    from farfield.cli import main
    from farfield.training.internal import Clock

    os.setsid()
    signal.signal(signal.SIGINT, signal.default_int_handler)
    Clock.__init__.__kwdefaults__["checkpoint_seconds"] = 0.05
    main(sys.argv[1:])
    """
)
"""The command line, saving twenty times a second: a user's run lasts longer than these. What a
shell starts in the background ignores Ctrl-C, and so would all that is started from there."""


FEW = "--task.withheld 98 --task.max-problems 40"
FIELDS = f"{FEW} --model.hidden-size 8 --recipe.steps 300 --recipe.evaluations 2"
TRAIN = "train --task same-different --model lstm --encoder random --context none --seeds 2"


@pytest.fixture
def experiment(unchecked: None) -> Experiment:
    """What the commands below train."""
    command = Train(task="same-different", model="lstm", encoder="random", context="none")
    return experiment_of(command, FIELDS.split())


def start(folder: Path, *, workers: int) -> Forked:
    words = shlex.split(f"{TRAIN} --workers {workers} {FIELDS}")
    return Forked(PROGRAM, *words, folder=folder)


@cache
def alone(experiment: Experiment, seed: int) -> tuple[dict[str, torch.Tensor], list[Score]]:
    learner = OneNetwork(experiment, seed)
    [scores], _ = train(learner, experiment)
    return learner.weights()[0], scores


def assert_as_if_alone(store: Store, experiment: Experiment, *interrupted: int) -> None:
    """What is recorded is, bit for bit, what an uninterrupted run leaves."""
    assert [record.seed for record in store.records(experiment.key)] == [0, 1]
    for record in (store.records(experiment.key)[seed] for seed in interrupted):
        weights, scores = alone(experiment, record.seed)
        found = store.weights(experiment.key, record.seed)
        assert found.keys() == weights.keys()
        assert all(torch.equal(found[name], weights[name]) for name in weights)
        by_name = sorted(scores, key=lambda score: (score.step, score.regime, score.metric))
        assert record.scores == tuple(by_name)


def test_ctrl_c_ends_cleanly_and_the_same_command_goes_on(
    farfield, tmp_path: Path, experiment: Experiment
) -> None:
    store = Store(tmp_path / "runs")
    run([Job(experiment=experiment, seed=0)], store, Here())
    [before] = store.records(experiment.key)
    checkpoint = store.checkpoint_path(experiment.key, 1)
    process = start(tmp_path, workers=1)
    wait_for(checkpoint.exists)
    begun = workers(process.process.pid)
    os.killpg(process.process.pid, signal.SIGINT)  # as a terminal does: to the workers as well
    status, _, err = process.finish()
    assert status == 130
    assert err == (
        "farfield: stopped; finished runs are kept, the same command goes on with the rest\n"
    )
    assert len(begun) == 1
    wait_for(lambda: all(gone(pid) for pid in begun))
    assert store.records(experiment.key) == [before]
    assert checkpoint.exists()

    again = farfield(f"{TRAIN} --workers 1 {FIELDS}")
    assert (again.status, again.err) == (0, "")
    assert "2/2 networks done, 1 of them found in the records" in again.out
    assert store.find(experiment.key, 0) == before
    assert not checkpoint.exists()
    assert_as_if_alone(store, experiment, 1)


def test_ctrl_c_waits_until_torch_is_loaded() -> None:
    """Torch that is interrupted while it loads may abort, or fail with another error."""
    program = textwrap.dedent(
        """
        import atexit, importlib.abc, os, signal, sys
        from farfield.cli import main

        class Interrupt(importlib.abc.MetaPathFinder):
            def find_spec(self, name, path, target=None):
                if name == "torch.nn":
                    os.kill(os.getpid(), signal.SIGINT)

        signal.signal(signal.SIGINT, signal.default_int_handler)
        atexit.register(lambda: print("farfield.records" in sys.modules))
        sys.meta_path.insert(0, Interrupt())
        main(["show", "same-different"])
        """
    )
    words = [sys.executable, "-c", program]
    ended = subprocess.run(words, capture_output=True, text=True, check=False)
    assert ended.returncode == 130
    assert ended.stdout == "True\n"
    assert ended.stderr.count("\n") == 1


@pytest.mark.thorough
def test_killed_and_started_again_ends_with_the_same_bytes(
    tmp_path: Path, experiment: Experiment
) -> None:
    store = Store(tmp_path / "runs")
    paths = [store.checkpoint_path(experiment.key, seed) for seed in range(2)]
    process = start(tmp_path, workers=2)
    wait_for(lambda: any(path.exists() for path in paths))
    begun = workers(process.process.pid)
    process.kill()
    assert len(begun) == 2
    wait_for(lambda: all(gone(pid) for pid in begun))
    assert store.records(experiment.key) == []

    shown: list[int] = []  # every run shows its first step, unless it goes on from a checkpoint

    def note(news: News) -> None:
        shown.append(news.progress.step if news.progress else 0)

    for path, seed in zip(paths, range(2), strict=True):
        saved, before = path.exists(), len(shown)
        job = Job(experiment=experiment, seed=seed)
        run([job], store, Here(), report=note)
        assert (1 in shown[before:]) is not saved
        assert not path.exists()
    assert_as_if_alone(store, experiment, 0, 1)


@pytest.mark.thorough
@pytest.mark.skipif(sys.platform == "win32", reason="limits of files are set by a POSIX shell")
def test_a_full_disk_ends_in_one_line_and_keeps_what_is_finished(tmp_path: Path) -> None:
    """A limit on the size of files stands in for a full disk; the system answers alike."""
    command = "train --task same-different --model lstm --encoder random --seeds 2 --workers 1"
    words = f"{command} {FEW} --recipe.steps 1".split()
    limited = ["sh", "-c", 'ulimit -f 200; exec "$@"', "sh"]  # 100 to 200 kB, as the shell counts
    ended = subprocess.run(
        [*limited, sys.executable, "-c", PROGRAM, *words],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
    )
    assert ended.returncode == 1
    assert "2 of 2 runs did not finish: cannot write " in ended.stderr
    assert "File too large" in ended.stderr
    assert ended.stderr.count("\n") == 1
    store = Store(tmp_path / "runs")
    assert store.keys() == []
    left = {path.parent.name for path in store.folder.rglob("*.*")} - {store.folder.name}
    assert left <= {"progress"}  # how far the runs were that stopped
