"""Inputs of a run that its key does not know: recorded, compared, named."""

from __future__ import annotations

import hashlib
import importlib
import os
import socket
import subprocess
import sys
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, final

import msgspec
import pytest
import torch
from torch import Tensor, nn

from farfield._watch import Watch, unwatched
from farfield.execution import ExecutionError, Here, jobs_of, results, run
from farfield.execution.internal import Job
from farfield.experiments import Experiment, Network, Pretrained, Recipe, SequenceNetwork, Spec
from farfield.nn import MLPEncoder, NormalizedLSTM, WordEncoder
from farfield.records import Store
from farfield.records.internal import DamageWarning
from farfield.tasks import WordText
from farfield.tasks.internal import DataFile, DataSet
from farfield.training import _checkpoint, _repeatable
from farfield.training.internal import Clock, Inputs, OneNetwork
from small import tiny_experiment


def texts(folder: Path, last: str) -> Experiment:
    """A model of a text of three lines, whose last word before `d` is given."""
    for name in ("train", "valid", "test"):
        (folder / f"{name}.txt").write_text(f"a b c d <unk>\na b {last} d\n" * 3, encoding="utf-8")
    return Experiment(
        task=WordText(folder=str(folder), steps=3),
        model=SequenceNetwork(
            core=Spec(NormalizedLSTM, hidden_size=4), encoder=Spec(WordEncoder, out_features=4)
        ),
        recipe=Recipe(steps=3, batch_size=4),
    )


def test_a_text_that_was_rewritten_is_refused_until_it_is_put_back(tmp_path: Path) -> None:
    (folder := tmp_path / "texts").mkdir()
    jobs, store = jobs_of([texts(folder, "c")], [0]), Store(tmp_path / "runs")
    (note := tmp_path / "note").write_bytes(b"a report reads what it likes")
    run(jobs, store, Here(), report=lambda _: note.read_bytes())
    [record] = results(jobs, store)
    content = (folder / "train.txt").read_bytes()
    assert record.files["train.txt"] == hashlib.sha256(content).hexdigest()
    assert record.files.keys() == {"train.txt", "valid.txt", "test.txt"}
    assert "inputs" not in record.environment

    texts(folder, "b")
    more = [*jobs, Job(experiment=jobs[0].experiment, seed=1)]
    with pytest.raises(ValueError, match=r"^files must be .* on, got others: test\.txt has other"):
        run(more, store, Here())
    with pytest.raises(ValueError, match=r"^files must be those that seed 0 of"):
        run(more[1:], store, Here())  # whose seeds would differ in their texts
    assert results(jobs, store) == [record]
    texts(folder, "c")
    run(more, store, Here())
    assert results(jobs, store) == [record]


def test_a_network_does_not_start_from_one_of_other_files(tmp_path: Path) -> None:
    (folder := tmp_path / "texts").mkdir()
    first, store = texts(folder, "c"), Store(tmp_path / "runs")
    run(jobs_of([first], [0]), store, Here())
    texts(folder, "b")
    second = Experiment(
        task=tiny_experiment().task,
        model=first.model,
        recipe=Recipe(steps=1),
        starts_from=Pretrained(experiment=first, include=("core",)),
    )
    with pytest.raises(ValueError, match=r"files must be"):
        run(jobs_of([second], [0]), store, Here())


def test_a_record_without_digests_counts_as_before(tmp_path: Path) -> None:
    (folder := tmp_path / "texts").mkdir()
    jobs, store = jobs_of([texts(folder, "c")], [0]), Store(tmp_path / "runs")
    run(jobs, store, Here())
    [record] = results(jobs, store)
    old = {k: v for k, v in record.environment.items() if k != "files"}
    store._database.replace([(msgspec.structs.replace(record, environment=old), "")])
    texts(folder, "b")
    found = []
    run(jobs, store, Here(), report=lambda news: found.append(news.found))
    assert found == [True]


def test_a_checkpoint_of_other_files_is_set_aside(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (folder := tmp_path / "texts").mkdir()
    jobs, store = jobs_of([texts(folder, "c")], [0]), Store(tmp_path / "runs")
    save = _checkpoint.Checkpoint.save

    def stop(*given: Any) -> None:
        save(*given)
        raise KeyboardInterrupt

    monkeypatch.setattr(_checkpoint.Checkpoint, "save", stop)
    with pytest.raises(KeyboardInterrupt):
        run(jobs, store, Here(), clock=Clock(checkpoint_seconds=-1.0))
    monkeypatch.setattr(_checkpoint.Checkpoint, "save", save)
    texts(folder, "b")
    with pytest.warns(DamageWarning, match=r"other files: test\.txt has other content"):
        run(jobs, store, Here())
    content = (folder / "train.txt").read_bytes()
    assert results(jobs, store)[0].files["train.txt"] == hashlib.sha256(content).hexdigest()


def test_a_file_that_changes_while_it_is_read_ends_the_run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (folder := tmp_path / "texts").mkdir()
    jobs, store = jobs_of([texts(folder, "c")], [0]), Store(tmp_path / "runs")
    update = OneNetwork.update

    def rewrite(learner: OneNetwork, step: int) -> Tensor:
        (folder / "valid.txt").write_text("a", encoding="utf-8")
        return update(learner, step)

    monkeypatch.setattr(OneNetwork, "update", rewrite)
    with pytest.raises(ExecutionError, match=r"must not change .*valid\.txt has other"):
        run(jobs, store, Here())


@final
class Reading(nn.Module):
    """A network whose answers depend on a file."""

    def __init__(self, length: int, in_features: int, num_outputs: int) -> None:
        super().__init__()
        self.layer = nn.Linear(length * in_features, num_outputs)

    def forward(self, z: Tensor) -> Tensor:
        place = os.environ.get("FARFIELD_TEST_SCALE", "")
        if place:
            return self.layer(z.flatten(1)) * float(Path(place).read_text(encoding="utf-8"))
        return self.layer(z.flatten(1))


def reading() -> Experiment:
    return Experiment(
        task=tiny_experiment().task,
        model=Network(
            reasoner=Spec(Reading), encoder=Spec(MLPEncoder, out_features=4), context=None
        ),
        recipe=Recipe(steps=2),
    )


def test_a_file_that_a_network_reads_is_named_and_compared(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (file := tmp_path / "scale").write_text("2", encoding="utf-8")
    monkeypatch.setenv("FARFIELD_TEST_SCALE", str(file))
    monkeypatch.setenv("HOME", str(tmp_path))
    jobs, store = jobs_of([reading()], [0, 1]), Store(tmp_path / "runs")
    with pytest.warns(UserWarning, match="has read") as warned:
        run(jobs, store, Here())
    [warning] = warned
    assert str(warning.message) == (
        f"experiment {jobs[0].experiment.key} has read inputs that its key lacks: "
        "~/scale; the variable FARFIELD_TEST_SCALE of the environment; its records say so"
    )
    for record in results(jobs, store):
        assert record.files == {"~/scale": hashlib.sha256(b"2").hexdigest()}
        assert record.environment["inputs"] == "the variable FARFIELD_TEST_SCALE of the environment"
    run(jobs, store, Here())
    file.write_text("3", encoding="utf-8")
    with pytest.raises(ValueError, match=r"got others: ~/scale has other content"):
        run(jobs, store, Here())
    file.unlink()
    run(jobs, store, Here())  # as on another machine


def test_a_file_that_a_first_run_kept_in_memory_is_named_for_the_others(tmp_path: Path) -> None:
    (file := tmp_path / "numbers").write_bytes(b"1")
    experiment, found = tiny_experiment(steps=1), {str(file): hashlib.sha256(b"1").hexdigest()}
    with Inputs(experiment) as first:
        file.read_bytes()
    with Inputs(experiment) as second:
        pass
    assert first.files() == second.files() == found
    file.write_bytes(b"2")
    assert second.described() == {"inputs": f"{file}, which was changed meanwhile"}
    with Inputs(tiny_experiment(steps=2)) as other:
        pass
    assert other.described() == {}


def test_more_files_than_have_digests_are_counted(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(_repeatable, "MOST_FILES", 2)
    monkeypatch.setattr(_repeatable, "MOST_WORDS", 1)
    for name in "abcd":
        (tmp_path / name).touch()
    with Inputs(tiny_experiment(steps=3)) as inputs:
        for name in "abcd":
            (tmp_path / name).read_bytes()
        os.environ.get("FARFIELD_NONE")
    assert len(inputs.files()) == 2
    assert inputs.described()["inputs"] == "2 more files; 1 more"


def test_files_of_published_data_are_no_inputs(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("FARFIELD_DATA", str(tmp_path))
    digest = hashlib.sha256(b"known").hexdigest()
    file = DataFile(name="numbers", sha256=digest, size=5, shape=(5,))
    data = DataSet(name="published", files=(file,), mirrors=(), licence="")
    (tmp_path / "published").mkdir()
    (tmp_path / "published" / "numbers").write_bytes(b"known")
    assert not watched(lambda: data.content("numbers")).files


def watched(work: Callable[[], Any], *, files: tuple[Path, ...] = ()) -> Watch:
    with Watch(files=files) as watch:
        work()
    return watch


def test_files_that_are_read_are_noted_once(tmp_path: Path) -> None:
    (file := tmp_path / "numbers.txt").write_text("1", encoding="utf-8")
    assert [*watched(file.read_text).files] == [str(file)]
    assert [*watched(lambda: os.close(os.open(file, os.O_RDONLY))).files] == [str(file)]
    assert not watched(file.read_text, files=(file,)).files
    assert not watched(lambda: file.write_text("2", encoding="utf-8")).files

    def write_and_read() -> None:
        file.write_text("3", encoding="utf-8")
        file.read_text(encoding="utf-8")

    assert not watched(write_and_read).files

    def read_unwatched() -> None:
        with unwatched():
            file.read_text(encoding="utf-8")

    assert not watched(read_unwatched).files
    file.read_text(encoding="utf-8")  # after the context nothing is noted, nor does it fail


def test_what_python_and_its_packages_read_is_not_noted(tmp_path: Path) -> None:
    (tmp_path / "mine_with_data.txt").write_text("1", encoding="utf-8")
    (tmp_path / "mine_with_data.py").write_text(
        f"data = open({str(tmp_path / 'mine_with_data.txt')!r}).read()\n", encoding="utf-8"
    )

    def work() -> None:
        import_anew()
        Path(torch.__file__).with_name("version.py").read_text(encoding="utf-8")
        Path(os.__file__).read_text(encoding="utf-8")
        Path("/dev/null").read_bytes()
        os.environ.get("HOME")

    def import_anew() -> None:
        sys.path.insert(0, str(tmp_path))
        try:
            importlib.import_module("mine_with_data")
        finally:
            sys.path.remove(str(tmp_path))

    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ResourceWarning)
        watch = watched(work)
    assert not watch.files
    assert [*watch.others] == ["the variable HOME of the environment"]  # this file is the user's


@pytest.mark.parametrize(
    ("work", "words"),
    [
        (lambda: os.environ["PATH"], "the variable PATH of the environment"),
        (lambda: os.getenv("FARFIELD_NONE"), "the variable FARFIELD_NONE of the environment"),
        (lambda: "HOME" in os.environ, "the variable HOME of the environment"),
        (lambda: os.listdir("/"), "the list of a folder, /"),  # noqa: PTH208
        (lambda: subprocess.run([sys.executable, "-c", ""], check=True), "another program, python"),
        (lambda: Path("/dev/urandom").open("rb").close(), "random numbers of the system"),
    ],
)
def test_other_inputs_are_noted_in_words(work: Callable[[], Any], words: str) -> None:
    assert any(other.startswith(words) for other in watched(work).others)


def test_a_connection_is_noted() -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        watch = watched(lambda: socket.create_connection(server.getsockname()).close())
    assert "a connection to the network" in watch.others


@pytest.fixture
def _hook_on_all() -> Iterator[None]:
    handle = nn.modules.module.register_module_forward_hook(doubled)
    yield
    handle.remove()


def doubled(module: nn.Module, given: Any, output: Any) -> Any:
    """Twice the output of every linear layer."""
    return 2 * output if isinstance(module, nn.Linear) else output


@pytest.mark.usefixtures("_hook_on_all")
def test_a_hook_on_every_module_is_noted(tmp_path: Path) -> None:
    jobs, store = jobs_of([tiny_experiment()], [0]), Store(tmp_path)
    with pytest.warns(UserWarning, match="a hook on every module, doubled"):
        run(jobs, store, Here())
    assert results(jobs, store)[0].environment["inputs"] == "a hook on every module, doubled"
