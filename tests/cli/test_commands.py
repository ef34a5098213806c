"""Commands as a user types them: what they print, and the files they leave."""

from __future__ import annotations

import dataclasses
import hashlib
import json
import re
import runpy
import sqlite3
from collections.abc import Iterator
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import torch
from PIL import Image

from each import some
from farfield.cli import _report, _reproduce, _train
from farfield.cli._arguments import Search, Train
from farfield.cli._console import make_console
from farfield.cli._list import NAMES
from farfield.cli._names import find_reader
from farfield.cli._train import (
    GAN_WIDTH,
    HIDDEN,
    cluster_of,
    experiment_of,
    search_of,
    train_missing,
)
from farfield.core import stream
from farfield.core.internal import REFERENCES
from farfield.execution import Here, run
from farfield.execution._job import Job
from farfield.experiments import (
    AgentNetwork,
    ItemNetwork,
    Network,
    QuantileNetwork,
    ScoringNetwork,
    Selection,
    SequenceNetwork,
    SetNetwork,
    Spec,
    _describe,
)
from farfield.experiments.internal import RollOutNetwork
from farfield.models import GAN, REASONERS, PreActResNet
from farfield.models.internal import CLASSIFIERS, MAP_READERS, RESTORERS, SCORERS
from farfield.nn import CONTEXTS, ENCODERS, SEQUENCE_LAYERS, MapNormalizer
from farfield.nn.internal import SET_LAYERS, VALUE_HEADS
from farfield.objectives import OBJECTIVES
from farfield.objectives.internal import AGENT_OBJECTIVES
from farfield.records import Store, _environment
from farfield.reports import FIGURES, Figure, extrapolation_profile
from farfield.reproductions import TABLES, Budget, Table
from farfield.suites import SUITES
from farfield.tasks import (
    DATA_SETS,
    ENVIRONMENTS,
    TASKS,
    Atari,
    Copying,
    Digits,
    ImageClasses,
)
from farfield.tasks._rules._abstract_rules import RuleTask
from farfield.tasks.internal import DataFile, DataSet, NeedsFiles, form_of
from plain import Plain
from processes import run_forked
from tasks import image_sets
from worlds import score_episodes

KINDS = {
    "tasks": TASKS,
    "models": {**REASONERS, **SCORERS, **CLASSIFIERS, **MAP_READERS, **RESTORERS, "gan": GAN},
    "encoders": ENCODERS,
    "contexts": CONTEXTS,
    "layers": {**SEQUENCE_LAYERS, **SET_LAYERS, **VALUE_HEADS},
    "environments": ENVIRONMENTS,
    "objectives": {**OBJECTIVES, **AGENT_OBJECTIVES},
    "papers": REFERENCES,
    "claims": TABLES,
    "figures": FIGURES,
}
FIELDS = "--task.withheld 98 --task.max-problems 40 --model.hidden-size 8 --recipe.steps 3"
*FIRST, LAST = *SET_LAYERS, *REASONERS, *CLASSIFIERS, *MAP_READERS
SINGLE = f"{', '.join(FIRST)} or {LAST}"
TRAIN = (
    f"train --task same-different --model lstm --encoder random --context none --workers 1 {FIELDS}"
)
ASKED_FOR = experiment_of(
    Train(task="same-different", model="lstm", encoder="random", context="none"), FIELDS.split()
)


def files(folder: Path) -> list[str]:
    return sorted(str(path.relative_to(folder)) for path in folder.rglob("*") if path.is_file())


def content(folder: Path) -> dict[str, bytes]:
    return {name: (folder / name).read_bytes() for name in files(folder)}


def record_all(table: Table, store: Store, seeds: int, share: float = 1.0) -> None:
    """Train what a table asks for, in this process."""
    for claim in table.claims:
        for seed in range(seeds):
            job = Job(experiment=claim.experiment.at_fraction(share), seed=seed)
            run([job], store, Here())


@pytest.mark.parametrize("kind", [*KINDS, "all"])
def test_list_names_everything_of_a_kind(farfield, folder: Path, kind: str) -> None:
    ended = farfield(f"list {kind}")
    assert (ended.status, ended.err) == (0, "")
    listed = {tuple(line.split("\t")[:2]) for line in ended.out.splitlines()}
    for other, names in KINDS.items():
        of_kind = {name for listed_kind, name in listed if listed_kind == other}
        if kind == other == "claims":  # and what is printed and tested by no table
            assert of_kind >= {*names}
        else:
            assert of_kind == ({*names} if kind in (other, "all") else set())
    assert files(folder) == []


def test_list_folds_to_a_terminal_and_leaves_nothing_out(
    farfield, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "60")
    piped = [line.split("\t") for line in farfield("list").out.splitlines()]
    monkeypatch.setenv("TTY_COMPATIBLE", "1")  # so that rich takes the pipe for a terminal
    monkeypatch.setenv("NO_COLOR", "1")
    shown = re.sub(r"\x1b\[[0-9;]*m", "", farfield("list").out)
    assert max(map(len, shown.splitlines())) <= 60
    without_spaces = "".join(shown.split())
    for _, name, what, fields in piped:
        assert "".join((name + what + fields).split()) in without_spaces


def test_list_settings_has_a_claim_beside_text_and_code(farfield) -> None:
    table = "--table webb2021/table-9-released --cell esbn+tcn/withheld-98"
    lines = farfield(f"list settings {table}").out.splitlines()
    found = {cells[1]: cells[2:] for cells in (line.split("\t") for line in lines)}
    value, beside = found["variance of context normalization"]
    assert value == "1 (code)"
    assert "text: that of webb2020, over T (section 3.1), code: over T − 1" in beside
    assert "1 cell, e.g. esbn+tcn/withheld-98" in beside
    assert "slots of the NTM" not in found


@pytest.mark.parametrize(
    ("words", "problem"),
    [
        ("settings", "table must be given with settings"),
        ("tasks --table webb2021/table-9", "table must be given with settings"),
        ("settings --table webb2021/table-99", "table-99"),
        ("settings --table webb2021/table-9 --cell nobody/*", "nobody"),
    ],
)
def test_list_settings_is_of_one_table(farfield, words: str, problem: str) -> None:
    ended = farfield(f"list {words}")
    assert ended.status == 2
    assert problem in ended.err


def test_list_papers_has_letters_for_escapes(farfield) -> None:
    out = farfield("list papers").out
    assert "Université de Montréal" in out
    assert not {*"{}\\"} & {*out}


def test_list_shows_the_fields_that_train_takes(farfield) -> None:
    out = farfield("list").out
    for field in ("withheld=0", "max_problems=10000", "hidden_size=512", "num_heads=8"):
        assert field in out
    for offered_by_the_task in ("in_features=", "num_outputs=", "generator="):
        assert offered_by_the_task not in out


def test_list_shows_a_field_without_default_by_its_name(farfield) -> None:
    out = farfield("list").out
    assert "layers, weight=0.01" in out
    assert "MISSING" not in out


def test_train_takes_the_fields_of_the_task(farfield) -> None:
    words = "--task.withheld 98 --task.num-images 3 --task.max-problems 20 --recipe.steps 2"
    ended = farfield(
        f"train --task all-same --model corelnet --encoder random --workers 1 --seeds 1 {words}"
    )
    assert (ended.status, ended.err) == (0, "")
    (key,) = Store("runs").keys()
    (record,) = Store("runs").records(key)
    assert record.experiment["task"] == {
        "class": "farfield.tasks.AllSame",
        "version": 1,
        "num_images": 3,
        "withheld": 98,
        "max_problems": 20,
    }


@pytest.mark.parametrize(
    "command, encoder",
    [
        (Train(task="vaec-translation", model="lstm-scorer"), "AnalogyEncoder"),
        (Train(task="visual-analogies", model="rnn-scorer"), "PanelEncoder"),
        (Train(task="progressive-matrices", model="set-scorer"), "FigureEncoder"),
        (Train(task="vaec-scale", model="lstm-scorer", encoder="moment"), "MomentEncoder"),
        (Train(task="same-different", model="lstm"), "ConvEncoder"),
        (Train(task="copying", model="rims"), "LinearEncoder"),
        (Train(task="adding", model="lstm", context="none"), "LinearEncoder"),
        (Train(task="fuzzy-boolean", model="neural-interpreter"), "ComponentEncoder"),
        (Train(task="digits", model="pre-norm-transformer"), "PatchEncoder"),
        (Train(task="all-same", model="neural-interpreter"), "ConvEncoder"),
        (Train(task="same-different", model="gru"), "ConvEncoder"),
        (Train(task="object-picking", model="gru"), "PlanesEncoder"),
        (Train(task="object-picking", model="implicit-quantiles", encoder="mlp"), "MLPEncoder"),
    ],
    ids=lambda value: value.task if isinstance(value, Train) else value,
)
def test_train_takes_the_network_and_encoder_that_fit_the_task(
    command: Train, encoder: str
) -> None:
    network = experiment_of(command, []).model
    assert network.encoder.cls.__name__ == encoder
    kinds = {
        "same-different": Network if command.model == "lstm" else SequenceNetwork,
        "copying": SequenceNetwork,
        "adding": SequenceNetwork,
        "fuzzy-boolean": SetNetwork,
        "digits": SetNetwork,
        "all-same": SetNetwork,
        "object-picking": AgentNetwork if command.model == "gru" else QuantileNetwork,
    }
    assert isinstance(network, kinds.get(command.task, ScoringNetwork))


def test_train_sets_the_size_of_a_sequence_layer() -> None:
    command = Train(task="copying", model="rims")
    words = ["--model.hidden-size", "40", "--model.num-mechanisms", "5", "--model.num-active", "2"]
    core = experiment_of(command, words).model.core
    assert dict(core.options) == {"hidden_size": 40, "num_mechanisms": 5, "num_active": 2}
    assert dict(experiment_of(command, []).model.core.options) == {"hidden_size": HIDDEN}


@pytest.mark.parametrize(
    "task, model, words, normalizer",
    [
        ("image-classes", "quick-cnn", "", None),
        (
            "image-classes",
            "quick-cnn",
            "field window --model.normalizer.sigma 0.5",
            MapNormalizer(field="window", sigma=0.5),
        ),
        ("image-classes", "resnet", "field layer", MapNormalizer(field="layer", affine=True)),
        ("image-classes", "resnet", "field none", None),
        ("super-resolution", "srcnn", "field batch", MapNormalizer()),
    ],
)
def test_train_takes_a_normalizer_of_images(
    task: str, model: str, words: str, normalizer: MapNormalizer | None
) -> None:
    given = f"--model.normalizer.{words}".split() if words else []
    core = experiment_of(Train(task=task, model=model), given).model.core
    assert dict(core.options).get("normalizer") == normalizer
    assert (("normalizer", None) in core.options) == (words == "field none")


def test_search_chooses_the_constant_of_a_normalizer() -> None:
    over = ("model.normalizer.sigma=0.1,0.5",)
    command = Search(task="image-classes", model="quick-cnn", over=over)
    words = ["--model.normalizer.field", "window", "--task.validation-per-class", "10"]
    asked = search_of(command, words)
    found = [dict(e.model.core.options)["normalizer"].sigma for e in asked.experiments]
    assert found == [0.1, 0.5]


def test_train_sets_fields_that_are_several_numbers() -> None:
    words = ["--task.test-dormant", "60", "70", "--task.test-sequences", "4", "2"]
    task = experiment_of(Train(task="copying", model="linear-recurrent-unit"), words).task
    assert task == Copying(test_dormant=(60, 70), test_sequences=(4, 2))


def test_train_lets_a_model_go_on_from_its_own_frames_where_several_are_given() -> None:
    command = Train(task="bouncing-balls", model="rims")
    assert isinstance(experiment_of(command, []).model, SequenceNetwork)
    rolled_out = experiment_of(command, ["--task.given", "15"])
    assert isinstance(rolled_out.model, RollOutNetwork)
    assert rolled_out.model.build(rolled_out.task, stream(0)).given == 15


@pytest.mark.parametrize("model", ["neural-interpreter", "pre-norm-transformer"])
def test_train_tells_a_model_where_the_patches_of_an_image_lie(model: str) -> None:
    experiment = experiment_of(Train(task="digits", model=model), ["--model.num-features", "24"])
    network = experiment.model.build(experiment.task, stream(0)).eval()
    assert network.reader.core.num_features == 24
    image = torch.rand(1, *experiment.task.item_shape, generator=torch.Generator().manual_seed(0))
    turned = image.roll(16, dims=2)  # the same patches, each in another place
    alone = torch.zeros(1, 1, dtype=torch.int64)
    with torch.no_grad():
        assert (network(image, alone) - network(turned, alone)).abs().max() > 1e-4


@pytest.mark.parametrize(
    "task, model",
    [
        ("copying", "rims"),
        ("fuzzy-boolean", "neural-interpreter"),
        ("fuzzy-boolean", "mlp"),
        ("all-same", "rims"),
    ],
)
def test_train_refuses_a_context_where_items_are_read_one_by_one(
    farfield, task: str, model: str
) -> None:
    ended = farfield(f"train --task {task} --model {model} --context norm")
    assert ended.status == 2
    assert f"context must be none for {task}" in ended.err


def test_train_trains_a_classifier_of_single_items(farfield) -> None:
    task = "--task.variables 3 --task.functions 2"
    words = f"{task} --model.hidden-sizes 5 4 --model.bottleneck 2 --recipe.steps 2"
    ended = farfield(f"train --task fuzzy-boolean --model mlp --workers 1 --seeds 1 {words}")
    assert (ended.status, ended.err) == (0, "")
    (key,) = Store("runs").keys()
    (record,) = Store("runs").records(key)
    core = record.experiment["model"]["core"]
    assert core["cls"] == {"name": "farfield.models.BottleneckMLP"}
    assert core["options"] == [["bottleneck", 2], ["hidden_sizes", [5, 4]]]


def test_train_takes_a_classifier_for_images() -> None:
    words = ["--model.depth", "34", "--model.width", "2", "--recipe.steps", "2"]
    experiment = experiment_of(Train(task="digits", model="preact-resnet"), words)
    assert experiment.model == ItemNetwork(core=Spec(PreActResNet, depth=34, width=2))
    model = experiment.model.build(experiment.task, stream(0))
    assert model.mixing_layers == ("core.group1", "core.group2")


@pytest.mark.parametrize(
    "words, said",
    [
        ("--model cnn-13", "got (5,); BottleneckMLP (mlp) takes items of any shape"),
        ("--model mlp --encoder component", "encoder must be left out for mlp, which reads"),
    ],
)
def test_train_says_what_a_classifier_of_single_items_takes(
    farfield, words: str, said: str
) -> None:
    ended = farfield(f"train --task fuzzy-boolean {words}")
    assert ended.status == 2
    assert said in ended.err


@pytest.mark.parametrize(
    "task, model, fitting",
    [
        ("digits", "wren", SINGLE),
        ("digits", "rims", SINGLE),
        ("vaec-scale", "rims", ", ".join([*SCORERS, *SET_LAYERS, *REASONERS][:-1]) + " or trn"),
        ("object-frames", "esbn", "a network of farfield.experiments"),
    ],
)
def test_train_says_which_models_support_the_task(
    farfield, task: str, model: str, fitting: str
) -> None:
    ended = farfield(f"train --task {task} --model {model}")
    said = f"farfield: model '{model}' does not support task '{task}'; use {fitting}\n"
    assert (ended.status, ended.err) == (2, said)


@pytest.mark.parametrize(
    "shape, length, models",
    [
        ((16,), 6, {**SEQUENCE_LAYERS, **REASONERS, **SET_LAYERS}),
        ((3, 32, 32), 6, {**SEQUENCE_LAYERS, **REASONERS, **SET_LAYERS}),
        ((32, 32), 2, {**SEQUENCE_LAYERS, **REASONERS, **SET_LAYERS}),
        ((3, 32, 32), 1, {**SET_LAYERS, **REASONERS, **CLASSIFIERS, **MAP_READERS}),
    ],
)
def test_a_task_of_one_s_own_is_learned_with_every_model_that_can_read_it(
    monkeypatch: pytest.MonkeyPatch, shape: tuple[int, ...], length: int, models: dict[str, type]
) -> None:
    task = Plain(item_shape=shape, length=length)
    fields = [("item_shape", tuple[int, ...], shape), ("length", int, length)]
    own = dataclasses.make_dataclass("Own", fields, bases=(Plain,), frozen=True, kw_only=True)
    monkeypatch.setitem(TASKS, "plain", own)
    sets = task.draw(stream(0))["training"][:2].compact()
    by_reading = dict[str, list[str]]()
    for name, cls in models.items():
        reading, found = find_reader(task, name)
        assert found is cls
        by_reading.setdefault(reading, []).append(name)
    built = models
    if shape != (16,):  # the same cores as of numbers, behind other encoders
        built = {end for names in by_reading.values() for end in (names[0], names[-1])}
    for name in built:
        network = experiment_of(Train(task="plain", model=name), []).model.build(task, stream(0))
        assert network(sets.table(), sets.index).shape == (2, task.num_outputs)
    every = {
        **SCORERS,
        **SEQUENCE_LAYERS,
        **REASONERS,
        **SET_LAYERS,
        **CLASSIFIERS,
        **MAP_READERS,
        **VALUE_HEADS,
    }
    for name in every.keys() - models.keys():
        with pytest.raises(ValueError, match=f"model '{name}' does not support task 'plain'"):
            find_reader(task, name)


def test_list_says_how_tasks_are_read_and_models_read(farfield) -> None:
    lines = {line.split("\t")[1]: line for line in farfield("list").out.splitlines()}
    assert "Read as: group, sequence." in lines["all-same"]
    assert "Read as: elements, item, maps." in lines["digits"]
    assert "Read as: maps, group, sequence." in lines["sort-of-clevr"]
    assert "Reads: item." in lines["preact-resnet"]
    assert "Reads: maps." in lines["rn-reader"]
    assert "Reads: elements, group, candidates." in lines["esbn"]
    assert "Reads: sequence." in lines["rims"]
    assert "Reads: elements, group, candidates." in lines["neural-interpreter"]


@pytest.mark.parametrize(
    "words, option, said",
    [
        ("show copying", "--task.dormant", "Length of the dormant phase"),
        ("train --task all-same --model ntm", "--model.num-slots", "Number of slots."),
        ("train --model=rims --task=adding", "--recipe.steps", "Number of steps,"),
    ],
)
def test_help_with_names_says_which_fields_these_have(
    farfield, folder: Path, words: str, option: str, said: str
) -> None:
    ended = farfield(f"{words} --help")
    assert ended.status == 0
    assert f"usage: farfield {words.split(maxsplit=1)[0]} [-h]" in ended.out  # the command's own
    assert option in ended.out
    assert said in " ".join(ended.out.split())
    assert not any(folder.iterdir())


def test_help_of_bench_names_every_suite(farfield) -> None:
    [said] = re.findall(r"--suite STR(.*?)--seeds", farfield("bench --help").out, re.DOTALL)
    assert set(SUITES) <= set(re.findall(r"\w+", said))


def test_help_with_a_wrong_name_says_which_is_right(farfield) -> None:
    ended = farfield("train --task all-same --model nmt --help")
    assert (ended.status, "did you mean 'ntm'" in ended.err) == (2, True)


SHOWN = ["same-different", "copying", "image-classes", "word-text"]


@pytest.mark.parametrize("task", some(SHOWN, TASKS))
def test_show_draws_every_task(
    farfield,
    folder: Path,
    request: pytest.FixtureRequest,
    monkeypatch: pytest.MonkeyPatch,
    task: str,
) -> None:
    if issubclass(TASKS[task], NeedsFiles):
        monkeypatch.setenv("FARFIELD_DATA", str(request.getfixturevalue("data_folder")))
        if not TASKS[task]().is_at_hand():
            pytest.skip("not all files of the task are there")
    ended = farfield(f"show {task} {'--withheld 50' if issubclass(TASKS[task], RuleTask) else ''}")
    if task == "word-text":
        assert (ended.status, files(folder)) == (2, [])
        assert "a sheet shows pictures only" in ended.err
        return
    assert (ended.status, ended.err) == (0, "")
    assert files(folder) == [f"problems-{task}.png"]
    assert f"problems-{task}.png" in ended.out
    with Image.open(folder / f"problems-{task}.png") as picture:
        assert picture.format == "PNG"
        low, high = picture.convert("L").getextrema()
    assert (low, high) == (low, 255)
    assert low < 64


def test_show_draws_beginnings_of_episodes(farfield, folder: Path) -> None:
    room = "--task.side 3 --task.distractors 1 --task.more-distractors --task.larger-sides 5"
    ended = farfield(f"show object-picking {room} --task.view 3")
    assert (ended.status, ended.err) == (0, "")
    assert files(folder) == ["problems-object-picking.png"]


@pytest.mark.skipif(Atari().is_at_hand(), reason="ale-py is installed")
def test_an_environment_that_is_not_installed_is_named_with_the_mend(farfield) -> None:
    ended = farfield("show atari")
    assert ended.status == 1
    assert "pip install 'farfield[atari]'" in ended.err


def test_show_takes_several_names_for_a_field(farfield, folder: Path, data_folder: Path) -> None:
    if not Digits(data_sets=("svhn-first1083", "mnist")).is_at_hand():
        pytest.skip("MNIST or the excerpt of SVHN absent")
    ended = farfield("show digits --task.data-sets svhn-first1083 mnist --out digits.png")
    assert (ended.status, ended.err) == (0, "")
    assert files(folder) == ["digits.png"]


@pytest.mark.parametrize("task", ["image-classes", "few-labels"])
def test_show_draws_images_of_the_data_set_that_is_named(
    farfield, folder: Path, data_folder: Path, task: str
) -> None:
    if not ImageClasses(data_set="kmnist-first7011").is_at_hand():
        pytest.skip("K-MNIST absent")
    options = "--task.data-set kmnist-first7011 --task.labels-per-class 4"
    ended = farfield(f"show {task} {options} --task.validation-per-class 2")
    assert (ended.status, ended.err) == (0, "")
    assert files(folder) == [f"problems-{task}.png"]
    ended = farfield(f"show {task} --task.data-set mnits")
    assert (ended.status, "did you mean 'mnist'" in ended.err) == (2, True)


def test_other_shapes_for_a_task_that_draws_its_own_are_refused(farfield, folder: Path) -> None:
    for words in ("show vaec-scale", "train --task vaec-scale --model lstm-scorer"):
        ended = farfield(f"{words} --images letters")
        assert (ended.status, ended.out) == (2, "")
        assert "images must be left out for vaec-scale, got letters" in ended.err
    assert files(folder) == []


def test_show_draws_a_row_for_every_regime_and_the_run_asked_for(farfield, folder: Path) -> None:
    for name, options in {
        "same": "--withheld 0",
        "again": "--withheld 0",
        "withheld": "--withheld 95",
        "seed": "--withheld 0 --seed 1",
    }.items():
        assert farfield(f"show same-different {options} --out deep/{name}.png").status == 0
    found = content(folder)
    assert found["deep/same.png"] == found["deep/again.png"]
    assert len(set(found.values())) == 3


def test_show_takes_the_fields_of_the_task(farfield, folder: Path) -> None:
    for name, options in {
        "short": "--withheld 95",
        "long": "--task.withheld 95",
        "three": "--task.num-images 3 --withheld 95",
        "three, too": "--task.num-images=3 --task.withheld=95",
    }.items():
        assert farfield(f"show all-same {options} --out '{name}.png'").status == 0
    found = content(folder)
    assert found["short.png"] == found["long.png"]
    assert found["three.png"] == found["three, too.png"]
    assert len(set(found.values())) == 2


@pytest.mark.parametrize("out", ["file/picture.png", "folder.png"])
def test_show_that_cannot_write_says_so(farfield, folder: Path, out: str) -> None:
    (folder / "file").write_text("x")
    (folder / "folder.png").mkdir()
    ended = farfield(f"show same-different --out {out}")
    assert ended.status == 1
    assert ended.err.startswith(f"farfield: cannot write {out}: ")
    assert ended.err.count("\n") == 1
    assert files(folder) == ["file"]


def test_fetch_fills_the_cache_and_says_from_where(
    farfield, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    content = b"published"
    file = DataFile(
        name="a.gz", sha256=hashlib.sha256(content).hexdigest(), size=len(content), shape=(1,)
    )
    made_up = DataSet(name="tiny", files=(file,), mirrors=(), licence="free for all")
    monkeypatch.setitem(DATA_SETS, "tiny", made_up)
    monkeypatch.setitem(NAMES["data-sets"], "tiny", ["made up"])
    monkeypatch.setenv("FARFIELD_CACHE", str(folder / "cache"))
    (folder / "mirror").mkdir()
    (folder / "mirror" / "a.gz").write_bytes(content)
    address = (folder / "mirror").as_uri()
    for said in (f"from {address}/a.gz", "was there"):
        ended = farfield(f"fetch tiny --mirror {address}")
        assert (ended.status, ended.err) == (0, "")
        assert f"{folder / 'cache' / 'tiny' / 'a.gz'}: {said}\n" in ended.out
        assert "licence: free for all" in ended.out
    (folder / "cache" / "tiny" / "a.gz").unlink()
    (folder / "mirror" / "a.gz").write_bytes(b"another")
    ended = farfield(f"fetch tiny --mirror {address}")
    assert (ended.status, ended.out) == (1, "")
    assert "a.gz must come from a mirror, none has it" in ended.err
    assert files(folder) == ["mirror/a.gz"]


def test_cite_prints_each_paper_once(farfield) -> None:
    names = "webb2021 webb2021/table-9 webb2021/figure-9 webb2021"
    assert farfield(f"cite {names}").out.count("@") == 1
    everything = farfield("cite").out
    assert everything.count("@") == len(REFERENCES)
    for key, paper in REFERENCES.items():
        assert paper.bibtex() in everything
        assert farfield(f"cite {key}").out.strip() == paper.bibtex().strip()


def test_search_chooses_by_validation_and_finds_its_records_again(farfield, folder: Path) -> None:
    fields = (
        "--task.dormant 2 --task.test-dormant 3 --task.test-sequences 10 --recipe.steps 2 "
        "--task.training-sequences 20 --task.validation-sequences 10"
    )
    words = f"search --task copying --model lstm --workers 1 --seeds 2 --out choice.json {fields}"
    over = "--over recipe.learning-rate=0.1,0.01 --over model.hidden-size=4"
    ended = farfield(f"{words} {over}")
    assert (ended.status, ended.err) == (0, "")
    found = Selection.from_json(json.loads((folder / "choice.json").read_text()))
    assert f"\nChosen: {found}\n" in ended.out
    assert f"\nexperiment {found.best.key} in runs\n" in ended.out
    assert "\nNo score in dormant-3 was read\n" in ended.out
    assert found.fields == ("recipe.learning_rate", "model.core.hidden_size")
    assert [trial.values for trial in found.trials] == [(0.1, 4), (0.01, 4)]
    for trial in found.trials:
        records = Store("runs").records(trial.key)
        assert trial.scores == tuple(record.final("validation") for record in records)
    again = farfield(f"{words} {over}")
    assert again.out.startswith("4/4 networks done, 4 of them found in the records")
    drawn = farfield(f"{words} --over recipe.learning-rate=loguniform:1e-4:1e-1 --samples 3")
    assert "chosen among 3 by validation accuracy over 2 networks each" in drawn.out


def test_train_trains_once_and_then_finds_its_records(farfield, folder: Path) -> None:
    first = farfield(f"{TRAIN} --seeds 2 --records here")
    assert (first.status, first.err) == (0, "")
    assert "2/2 networks done" in first.out
    for word in ("lstm on same-different", "training", "withheld-98", "98 withheld shapes"):
        assert word in first.out
    key = ASKED_FOR.key
    assert f"experiment {key} in here" in first.out
    records = Store("here").records(key)
    assert [(record.seed, record.steps) for record in records] == [(0, 3), (1, 3)]
    described = records[0].experiment
    assert described["task"]["withheld"] == 98
    assert described["model"]["context"] is None
    before = content(folder / "here" / "weights")

    again = farfield(f"{TRAIN} --seeds 2 --records here")
    assert again.status == 0
    assert "2/2 networks done, 2 of them found in the records" in again.out
    assert "step" not in again.out
    assert Store("here").records(key) == records
    assert content(folder / "here" / "weights") == before
    assert first.out.splitlines()[-6:] == again.out.splitlines()[-6:]


def test_paths_are_printed_as_they_are(farfield, folder: Path, tiny_table: Table) -> None:
    """A style, a bracket and an emoji of rich."""
    name = "r[old] a:cat: z["
    shown = farfield(f"show same-different --out '{name}/sheet.png'")
    assert f"problems of every regime in {name}/sheet.png\n" in shown.out
    run([Job(experiment=ASKED_FOR, seed=0)], Store(name), Here())
    trained = farfield(f"{TRAIN} --seeds 1 --records '{name}'")
    assert trained.out.endswith(f"experiment {ASKED_FOR.key} in {name}\n")
    record_all(tiny_table, Store(name), seeds=1)
    places = f"--records '{name}' --results '{name}/results' --pages '{name}/pages'"
    reported = farfield(f"report webb2021/tiny --export {places} --out '{name}'")
    assert f"  {name}/webb2021-tiny-paper/report.md\n" in reported.out
    assert f"exported: {name}/results/webb2021/tiny.jsonl\n" in reported.out
    assert f"pages of results: {name}/pages\n" in reported.out
    assert (reported.status, reported.err) == (0, "")


def test_a_path_that_ends_a_style_is_no_error(farfield, folder: Path) -> None:
    run([Job(experiment=ASKED_FOR, seed=0)], Store("z[/old]"), Here())
    ended = farfield(f"{TRAIN} --seeds 1 --records 'z[/old]'")
    assert (ended.status, ended.err) == (0, "")
    assert ended.out.endswith(f"experiment {ASKED_FOR.key} in z[/old]\n")


def test_reproduce_runs_what_is_missing_and_reports(
    farfield, folder: Path, tiny_table: Table
) -> None:
    store = Store(folder / "runs")
    record_all(tiny_table, store, seeds=2, share=0.5)
    before = {key: store.records(key) for key in store.keys()}  # noqa: SIM118

    found = farfield("reproduce webb2021/tiny --seeds 2")
    assert (found.status, found.err) == (0, "")
    assert "4/4 networks done, 4 of them found in the records" in found.out
    assert {key: store.records(key) for key in store.keys()} == before  # noqa: SIM118
    report = folder / "reports" / "webb2021-tiny-quick"
    names = ["problems-same-different.png", "profiles.png", "report.html", "report.md"]
    assert sorted(path.name for path in report.iterdir()) == names
    for name in names:
        assert f"reports/webb2021-tiny-quick/{name}" in found.out
    assert "2 underpowered" in found.out

    both = farfield("reproduce webb2021/tiny --cell lstm/* --cell esbn/* --seeds 2")
    assert "4/4 networks done, 4 of them found in the records" in both.out
    one = farfield("reproduce webb2021/tiny --cell lstm/* --seeds 3 --workers 1 --out here")
    assert one.status == 0
    assert "3/3 networks done, 2 of them found in the records" in one.out
    lstm, other = (claim.experiment.at_fraction(0.5).key for claim in tiny_table.claims)
    assert [record.seed for record in store.records(lstm)] == [0, 1, 2]
    assert store.records(other) == before[other]
    assert (folder / "here" / "report.html").is_file()


def test_a_claim_is_trained_with_a_recipe_of_ones_own(
    farfield, folder: Path, tiny_table: Table
) -> None:
    claim = tiny_table.claims[0]
    recipe = dataclasses.replace(claim.at(Budget.QUICK).recipe, steps=2, learning_rate=1e-3)
    own = dataclasses.replace(claim.experiment, recipe=recipe)
    words = f"reproduce webb2021/tiny --cell {claim.cell} --seeds 1 --recipe.learning-rate 1e-3"
    ended = farfield(f"{words} --recipe.steps 2 --workers 1")
    assert (ended.status, ended.err) == (0, "")
    assert list(Store("runs").keys()) == [own.key]
    said = "at the quick budget with steps 2, learning_rate 0.001: your own experiment"
    assert f"{claim.cell} {said} {own.key}\n" in ended.out
    assert str(extrapolation_profile(own.task, Store("runs").records(own.key))) in ended.out
    assert not (folder / "reports").exists()

    script = farfield(f"{words} --recipe.steps 2 --python")
    assert (script.status, script.err) == (0, "")
    (folder / "mine.py").write_text(script.out)
    made = runpy.run_path("mine.py")  # finds the record
    assert made["experiment"] == own


def test_python_is_printed_of_one_experiment(farfield, tiny_table: Table) -> None:
    ended = farfield("reproduce webb2021/tiny --python")
    cells = ", ".join(claim.cell for claim in tiny_table.claims)
    message = f"cell must select one experiment to print its Python, got 2: {cells}"
    assert (ended.status, ended.out, ended.err) == (2, "", f"farfield: {message}\n")
    ended = farfield("reproduce webb2021/table-9 --python")
    assert ended.err.endswith("esbn/withheld-0, esbn/withheld-50, esbn/withheld-85, …\n")


@pytest.mark.usefixtures("two_tables")
def test_report_is_made_from_records_alone(farfield, folder: Path, tiny_table: Table) -> None:
    store = Store(folder / "runs")
    record_all(tiny_table.select("lstm/*"), store, seeds=2)
    before = (folder / "runs" / "records.sqlite").read_bytes()
    ended = farfield("report webb2021/tiny")
    assert (ended.status, ended.err) == (0, "")
    assert "1 not run" in ended.out
    assert "1 underpowered" in ended.out
    assert (folder / "reports" / "webb2021-tiny-paper" / "report.md").is_file()
    assert not (folder / "results").exists()
    assert (folder / "runs" / "records.sqlite").read_bytes() == before

    quick = farfield("report webb2021/tiny --budget quick")
    assert quick.status == 2
    hint = "; `farfield report webb2021/tiny` shows some\n"
    assert f"webb2021/tiny has no records at the quick budget{hint}" in quick.err
    with_cell = farfield("report --cell lstm/*")
    assert (with_cell.status, with_cell.err) == (0, "")
    without = farfield("report --cell gru/*")
    assert without.status == 2
    assert "records must hold runs of some table with such a cell" in without.err
    nothing = farfield("report --budget quick")
    assert nothing.status == 2
    assert "it holds none at the quick budget" in nothing.err
    assert not (folder / "reports" / "webb2021-tiny-quick").exists()


def test_report_of_everything_exports_text_and_its_pages(
    farfield, folder: Path, tiny_table: Table, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(_describe, "check_as_written", lambda _: None)  # most of the time
    record_all(tiny_table, Store(folder / "runs"), seeds=2)
    ended = farfield("report --export --seeds 1 --pages pages")
    assert (ended.status, ended.err) == (0, "")
    path = folder / "results" / "webb2021" / "tiny.jsonl"
    lines = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
    assert sorted((line["cell"], line["record"]["seed"]) for line in lines) == [
        ("esbn/withheld-98", 0),
        ("lstm/withheld-98", 0),
    ]
    pages = content(folder / "pages")
    assert b"webb2021/tiny,esbn/withheld-98" in pages["webb2021.csv"]
    assert str(path.relative_to(folder)) in ended.out
    before = content(folder / "results")
    assert farfield("report webb2021/tiny --export --seeds 1 --pages pages").status == 0
    assert content(folder / "results") == before
    assert content(folder / "pages") == pages


def test_networks_of_an_uncommitted_tree_are_exported_if_asked_for(
    farfield, folder: Path, tiny_table: Table, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(_environment, "_commit", lambda: "0123456789ab+")
    record_all(tiny_table, Store(folder / "runs"), seeds=2)
    monkeypatch.setattr(_environment, "_is_checkout", lambda: False)
    refused = farfield("report webb2021/tiny --export --pages pages")
    assert refused.status == 2
    assert (
        "got 4 networks of an uncommitted tree (webb2021/tiny/lstm/withheld-98, seeds 0–1 of "
        "0123456789ab+; webb2021/tiny/esbn/withheld-98, seeds 0–1 of 0123456789ab+). Train them "
        "again, or export them with --any-commit" in refused.err
    )
    assert sorted(path.name for path in folder.iterdir()) == ["runs"]
    exported = farfield("report webb2021/tiny --export --any-commit --pages pages")
    assert (exported.status, exported.err) == (0, "")
    assert "Commits are not compared with a repository" in exported.out
    assert "(2) ‡ " in exported.out
    assert "4 come from uncommitted trees" in (folder / "pages" / "index.md").read_text("utf-8")
    assert "(2) ‡ " in farfield("report webb2021/tiny --records results").out


def test_where_nothing_was_run_a_report_is_of_what_comes_with_farfield(
    farfield, folder: Path, tiny_table: Table, monkeypatch: pytest.MonkeyPatch
) -> None:
    record_all(tiny_table, Store(folder / "mine"), seeds=2)
    places = "--records mine --results package --pages pages"
    assert farfield(f"report webb2021/tiny --export {places}").status == 0
    before = content(folder / "package")
    monkeypatch.setattr(_report, "recorded_results", lambda: folder / "package")
    (folder / "results").mkdir()  # of another program
    (folder / "results" / "other.json").write_text("{}")
    named = farfield("report webb2021/tiny --records results")
    assert (named.status, named.err) == (0, "")
    assert named.out.count("(2)") == 2
    alone = farfield("report webb2021/tiny")
    remark = "runs holds no records; these are the results that come with Farfield.\n"
    assert alone.out == remark + named.out
    own = farfield("report webb2021/tiny --results package")
    assert own.out == remark.replace("that come with Farfield", "of package") + named.out
    refused = farfield("report webb2021/tiny --export")
    assert refused.status == 2
    assert "records must name a folder of records, got runs: it holds none" in refused.err
    listed = farfield("list claims")
    assert "webb2021/tiny\tA tiny table\trun: 2 in part, of 2 cells" in listed.out
    assert content(folder / "package") == before
    run([Job(experiment=ASKED_FOR, seed=0)], Store("runs"), Here())
    lacking = farfield("report webb2021/tiny")
    assert lacking.status == 2
    assert lacking.err.endswith("; `farfield report webb2021/tiny --records results` shows some\n")
    exported = farfield("report webb2021/tiny --export")
    assert exported.status == 2
    assert "webb2021/tiny has no records at the paper budget" in exported.err


def test_a_table_without_records_names_the_commands_that_show_some(farfield, folder: Path) -> None:
    recorded = Path(__file__).resolve().parents[2] / "results"
    where = f"--budget quick --records {recorded}"
    for table, said in {
        "webb2020/table-1": f"`farfield report webb2020/table-1 {where}` shows some",
        "gondal2021/table-2": (
            f"`farfield report gondal2021/table-2-generated {where}` shows tables beside it"
        ),
    }.items():
        ended = farfield(f"report {table} --records {recorded}")
        assert ended.status == 2
        assert f"table {table} has no records at the paper budget; {said}\n" in ended.err


def test_a_report_is_made_from_exported_text_as_from_the_records(
    farfield, folder: Path, tiny_table: Table
) -> None:
    record_all(tiny_table, Store(folder / "runs"), seeds=3)
    assert farfield("report webb2021/tiny --export --pages pages").status == 0
    for options in ("--seeds 2", "--seeds 3"):
        for place in ("runs", "results"):
            made = farfield(f"report webb2021/tiny {options} --records {place} --out from-{place}")
            assert (made.status, made.err) == (0, "")
        reports = [
            folder / f"from-{place}" / "webb2021-tiny-paper" for place in ("runs", "results")
        ]
        assert content(reports[0]) == content(reports[1])
    before = content(folder / "results")
    assert farfield("report --records results --export --pages others").status == 0
    assert content(folder / "results") == before
    assert content(folder / "others") == content(folder / "pages")
    quick = farfield("report webb2021/tiny --records results --budget quick")
    assert quick.status == 2
    hint = "; `farfield report webb2021/tiny --records results` shows some\n"
    assert f"webb2021/tiny has no records at the quick budget{hint}" in quick.err
    with (folder / "results" / "webb2021" / "tiny.jsonl").open("a") as file:
        file.write("{}\n")
    damaged = farfield("report webb2021/tiny --records results")
    assert damaged.status == 2
    assert "tiny.jsonl, line 7: not a record" in damaged.err


def test_reproduce_of_a_figure_trains_its_networks_and_draws_it(
    farfield, folder: Path, small_figure: Figure
) -> None:
    ended = farfield("reproduce webb2021/small-figure --workers 1")
    assert (ended.status, ended.err) == (0, "")
    assert "2/2 networks done" in ended.out
    (cell,) = small_figure.table.claims
    records = Store("runs").records(cell.experiment.at_fraction(cell.quick).key)
    assert [record.seed for record in records] == [0, 1]
    report = folder / "reports" / "webb2021-small-figure-quick"
    names = ["keys.png", "problems-distribution-of-three.png", "profiles.png", "report.html"]
    assert sorted(path.name for path in report.iterdir()) == [*names, "report.md"]
    with Image.open(report / "keys.png") as picture:
        assert picture.format == "PNG"
    for words in (
        "keys of positions 4–9 nearest to one of positions 1–3",
        "kept apart",
        "(2 networks)",
    ):
        assert words in ended.out
        assert words in (report / "report.html").read_text(encoding="utf-8")
        assert words in (report / "report.md").read_text(encoding="utf-8")

    before = content(report)
    again = farfield("report webb2021/small-figure --budget quick")
    assert (again.status, again.err) == (0, "")
    assert content(report) == before


def test_a_figure_is_exported_with_its_picture_and_text_alone_has_none_of_networks(
    farfield, folder: Path, small_figure: Figure, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(TABLES, small_figure.table.key, small_figure.table)
    record_all(small_figure.table, Store("runs"), seeds=1, share=0.5)
    words = "report webb2021/small-figure --budget quick"
    command = f"{words} --export --pages docs/pages"
    assert farfield(command).status == 0
    page = (folder / "docs" / "pages" / "webb2021.md").read_text(encoding="utf-8")
    (picture,) = re.findall(r"!\[.*\]\((.*)\)", page)
    with Image.open(folder / "docs" / "pages" / picture) as opened:
        assert opened.format == "PNG"
    assert page.count("kept apart") == 1
    before = content(folder / "results")
    assert farfield(command).status == 0
    assert content(folder / "results") == before
    from_text = farfield(f"{words} --records results --out text")
    assert (from_text.status, from_text.err) == (0, "")
    assert "kept apart" not in from_text.out
    assert not (folder / "text" / "webb2021-small-figure-quick" / "keys.png").exists()


def test_networks_of_a_figure_are_those_asked_for_or_ten(
    farfield, folder: Path, small_figure: Figure, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("_report", "_draw_problems"):
        monkeypatch.setattr(_reproduce, name, lambda *_: None)
    record_all(small_figure.table, Store("runs"), seeds=3, share=0.5)
    record_all(small_figure.table, Store("runs"), seeds=10)
    for options, count in (("--seeds 3", 3), ("", 2), ("--budget paper", 10)):
        ended = farfield(f"reproduce webb2021/small-figure {options}")
        assert f"{count}/{count} networks done, {count} of them found" in ended.out


def test_a_figure_without_records_or_networks_says_so(
    farfield, folder: Path, small_figure: Figure
) -> None:
    store = Store("runs")
    nothing = farfield("report webb2021/small-figure")
    assert nothing.status == 2
    advice = "has no records at the paper budget; `farfield reproduce` makes some\n"
    assert f"webb2021/small-figure {advice}" in nothing.err
    record_all(small_figure.table, store, seeds=1)
    (cell,) = small_figure.table.claims
    store.weights_path(cell.experiment.key, 0).unlink()
    gone = farfield("report webb2021/small-figure")
    assert gone.status == 1
    assert "0.safetensors" in gone.err
    assert gone.err.count("\n") == 1


@pytest.mark.parametrize(
    "words",
    [f"{TRAIN} --seeds 1", "reproduce webb2021/tiny --seeds 1", "report webb2021/tiny"],
    ids=["train", "reproduce", "report"],
)
class TestRecordsThatCannotBeUsed:
    """The folder of records is not what it should be."""

    def test_a_file_in_place_of_the_folder(
        self, farfield, folder: Path, tiny_table: Table, words: str
    ) -> None:
        (folder / "file").write_text("mine")
        for named, what in (("file", "it"), ("file/runs", str(folder / "file"))):
            ended = farfield(f"{words} --records {named}")
            said = f"farfield: records must name a folder, got {named}: {what} is a file\n"
            assert (ended.status, ended.err) == (2, said)
        assert content(folder) == {"file": b"mine"}

    def test_a_database_of_something_else(
        self, farfield, folder: Path, tiny_table: Table, words: str
    ) -> None:
        path = folder / "runs" / "records.sqlite"
        path.parent.mkdir()
        path.write_bytes(b"somebody's notes, and quite a lot of them\n" * 100)
        before = content(folder)
        ended = farfield(words)
        assert ended.status == 1
        assert ended.err.startswith("farfield: cannot use ")
        assert ended.err.count("\n") == 1
        assert content(folder) == before

    def test_a_damaged_record(self, farfield, folder: Path, tiny_table: Table, words: str) -> None:
        store = Store(folder / "runs")
        record_all(tiny_table, store, seeds=1)
        record_all(tiny_table, store, seeds=1, share=0.5)
        run([Job(experiment=ASKED_FOR, seed=0)], store, Here())
        with closing(sqlite3.connect(folder / "runs" / "records.sqlite")) as connection, connection:
            connection.execute("UPDATE runs SET environment = 'torn'")
        connection.close()
        ended = farfield(words)
        assert all(line.startswith("farfield: ") for line in ended.err.splitlines())
        assert "holds a damaged record of" in ended.err
        if words.startswith("report"):
            assert ended.status == 2
            assert "has no records at the paper budget" in ended.err
            assert not (folder / "reports").exists()
        else:
            assert "is kept as 0.safetensors.damaged, and the network is trained anew" in ended.err
            again = farfield(words)
            assert (ended.status, again.status, again.err) == (0, 0, "")


@pytest.mark.parametrize("command", ["reproduce", "report"])
def test_a_report_that_has_no_place_is_refused_at_once(
    farfield, folder: Path, tiny_table: Table, command: str
) -> None:
    for words, said in {
        "--out reports": "out must name a folder, got reports: it is a file",
        "--out reports/of/mine": f"got reports/of/mine: {folder / 'reports'} is a file",
        "": "out must name a folder, got reports: it is a file",
        "--out /proc/reports": "got /proc/reports: nothing can be made in /proc (",
    }.items():
        (folder / "reports").write_text("mine")
        ended = farfield(f"{command} webb2021/tiny {words}")
        assert ended.status == 2
        assert said in ended.err
        assert content(folder) == {"reports": b"mine"}


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ("reproduce webb2021/tiny --cell nothing", "nothing"),
        ("report webb2021/tiny", "records must name a folder of records, got "),
    ],
)
def test_a_place_for_a_report_is_tried_and_left_as_it_was(
    farfield, folder: Path, tiny_table: Table, words: str, said: str
) -> None:
    (folder / "mine").mkdir()
    ended = farfield(f"{words} --out mine/new")
    assert ended.status == 2
    assert said in ended.err
    assert [path.name for path in folder.rglob("*")] == ["mine"]


def test_a_run_held_by_another_process_is_one_line(farfield, folder: Path) -> None:
    store = Store("runs")
    with store.lock(ASKED_FOR.key, 0):
        ended = farfield(f"{TRAIN} --seeds 1")
    assert ended.status == 1
    assert "1 of 1 runs did not finish" in ended.err
    assert "is at seed 0 of experiment" in ended.err
    assert ended.err.count("\n") == 1
    assert store.records(ASKED_FOR.key) == []


def test_data_that_is_not_at_hand_is_named_before_anything_is_made(
    farfield, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("FARFIELD_DATA", str(folder))
    monkeypatch.setenv("FARFIELD_CACHE", str(folder / "cache"))
    ended = farfield("train --task digits --model neural-interpreter --seeds 1")
    assert ended.status == 2
    assert ended.err.startswith("farfield: train-images-idx3-ubyte.gz of mnist must exist")
    assert "run `farfield fetch mnist`" in ended.err
    assert list(folder.iterdir()) == []


@pytest.mark.parametrize(
    "task", [name for name, task in TASKS.items() if "withheld" in task.__dataclass_fields__]
)
def test_a_regime_is_far_from_training_by_default(task: str) -> None:
    scored = "candidates" in form_of(TASKS[task]()).readings
    command = Train(task=task, model="lstm-scorer" if scored else "esbn")
    assert max(regime.distance for regime in experiment_of(command, []).task.regimes) > 0


@pytest.mark.parametrize("option", ["--lr", "--learning-rate", "--recipe.lr"])
def test_a_field_of_the_recipe_is_recognized_by_its_name_or_initials(farfield, option: str) -> None:
    ended = farfield(f"train --task all-same --model esbn {option} 1e-3")
    assert ended.status == 2
    assert f"unknown option '{option}'; did you mean '--recipe.learning-rate'" in ended.err


@pytest.mark.parametrize("task, meant", [("all-same", "--task.withheld"), ("nil", "--")])
def test_a_field_of_the_task_without_its_prefix_is_recognized(
    farfield, task: str, meant: str
) -> None:
    ended = farfield(f"train --task {task} --model esbn --withheld 3")
    assert ended.status == 2
    assert f"unknown option '--withheld'; did you mean '{meant}" in ended.err


def test_claims_are_counted_again_only_after_a_change_of_results(
    farfield, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    counted: list[Path] = []

    def rows(results: Path) -> Iterator[tuple[str, str, list[str]]]:
        counted.append(results)
        yield "paper/table", "A title", [f"run: {len(counted)}"]

    monkeypatch.setattr("farfield.cli._report.claim_rows", rows)
    first = farfield("list claims")
    assert first.out == "claims\tpaper/table\tA title\trun: 1\n"
    assert farfield("list claims") == first
    (folder / "results" / "webb2021").mkdir(parents=True)
    for content in ("one\n", "two lines\n"):
        (folder / "results" / "webb2021" / "table-9.jsonl").write_text(content)
        assert farfield("list claims").out.endswith(f"run: {len(counted)}\n")
    assert len(counted) == 3
    assert farfield("list claims --results elsewhere").out.endswith("run: 4\n")


def test_an_impossible_width_is_refused_before_anything_is_made(farfield, folder: Path) -> None:
    ended = farfield(f"{TRAIN} --seeds 1 --model.hidden-size 0")
    assert ended.status == 2
    assert ended.err == "farfield: hidden_size must be an int 1…16777216, got 0\n"
    assert files(folder) == []


def test_signs_that_a_terminal_lacks_stop_nothing(folder: Path) -> None:
    code = (
        "import sys; sys.stdout.reconfigure(encoding='ascii')\n"
        "from farfield.cli import main; main(['list', 'claims'])"
    )
    status, out, err = run_forked(code)
    assert (status, err) == (0, "")
    assert "webb2021/table-11" in out


def test_a_number_too_large_is_said(farfield) -> None:
    ended = farfield(f"train --task same-different --model esbn --recipe.steps {'9' * 400}")
    assert ended.status == 2
    assert "steps must be an int 1…1000000000, got a number of" in ended.err


@pytest.mark.parametrize(
    "error", [MemoryError("8 GiB"), RuntimeError("DefaultCPUAllocator: can't allocate\nC++ …")]
)
def test_too_little_memory_is_said_in_one_line(
    farfield, monkeypatch: pytest.MonkeyPatch, error: Exception
) -> None:
    def fail(*_: object) -> None:
        raise error

    monkeypatch.setattr("farfield.cli._main._action", fail)
    ended = farfield("list")
    assert ended.status == 1
    assert ended.err.startswith("farfield: the memory does not suffice: ")
    assert ended.err.count("\n") == 1


def test_agents_are_trained_in_an_environment_by_name(
    farfield, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    score_episodes(monkeypatch, 20)
    fields = (
        "--task.side 3 --task.distractors 1 --task.more-distractors 2 --task.larger-sides 4 "
        "--workers 1 --seeds 1 --model.hidden-size 12 --recipe.steps 1"
    )
    for model, field in (("rims", "rollout-length"), ("implicit-quantiles", "acting-quantiles")):
        words = f"--task object-picking --model {model} {fields} --objective.{field} 5"
        ended = farfield(f"train {words}")
        assert ended.status == 0, ended.err
        assert re.search(r"\| novel-distractors +\| +1 novel distractors \|", ended.out)
    refused = farfield("train --task object-picking --model esbn")
    assert "model 'esbn' does not support task 'object-picking'; use lstm, gru" in refused.err


def test_a_gan_is_trained_by_name_and_judged_by_the_classifier_of_the_tables(
    farfield, monkeypatch: pytest.MonkeyPatch
) -> None:
    judged = TABLES["lamb2022/nfm-gan-narrow"].claims[0].experiment
    asked = experiment_of(Train(task="image-generation", model="gan"), ["--task.data-set", "mnist"])
    assert asked.starts_from == judged.starts_from
    assert asked.model.judge == judged.model.judge
    assert dict(asked.model.discriminator.options)["width"] == GAN_WIDTH
    image_sets.add(monkeypatch, shape=(3, 8, 8), classes=6, read=large_images)
    monkeypatch.setattr(_train, "JUDGE_RECIPE", replace(_train.JUDGE_RECIPE, steps=1))
    words = "train --task image-generation --model gan --workers 1 --seeds 2"
    small = "--task.data-set made-up --task.noise-size 3 --model.width 2 --recipe.steps 2"
    ended = farfield(f"{words} {small}")
    assert ended.status == 0, ended.err
    assert re.search(r"\nfid/made-up-preact-resnet in test: [\d.]+ ± [\d.]+\n", ended.out)
    refused = farfield(f"{words} {small} --encoder conv")
    assert (
        "encoder must be left out for gan, which makes images of noise, got 'conv'" in refused.err
    )
    unknown = farfield(f"{words} {small}".replace("gan", "mlp"))
    assert "model 'mlp' does not support task 'image-generation'; use gan" in unknown.err


def large_images(is_test: bool) -> tuple[np.ndarray, np.ndarray]:
    """Images of 3 × 8 × 8 of six classes."""
    images, _ = image_sets.read(is_test)
    return images.repeat(4, 2).repeat(4, 3), np.arange(len(images)) % 6


def test_matrices_are_multiplied_as_asked_on_every_executor(tmp_path, monkeypatch):
    asked = []
    monkeypatch.setattr(_train, "run", lambda *_, **options: asked.append(options["matmul"]))
    for executor in (None, "ray", "slurm"):
        command = Train(
            task="same-different", model="lstm", executor=executor, device="cuda", matmul="tf32"
        )
        train_missing(command, [], {}, Store(tmp_path), make_console())
    assert asked == ["tf32", "tf32", "tf32"]


def test_slurm_needs_no_word_on_shared_folders():
    command = Train(task="same-different", model="lstm", executor="slurm", shared=True)
    with pytest.raises(ValueError, match="shared must be left out with slurm"):
        cluster_of(command)


OWN_MODEL = """
class Middle:
    def __init__(self, middle):
        self.middle = middle
    def predict(self, x):
        return (x[:, 0] > self.middle).astype(int)
def load():
    return Middle(0.0)
def train(x, y, mend, seed):
    x, y = mend.arrays(x, y)
    return Middle((x[y == 0, 0].mean() + x[y == 1, 0].mean()) / 2)
"""


def test_profile_of_an_own_model(farfield, folder: Path) -> None:
    Path("middle_of_two.py").write_text(OWN_MODEL, encoding="utf-8")
    y = np.arange(200) % 2
    x = np.random.default_rng(0).normal(size=(200, 2)) + 3 * y[:, None] - 1.5
    np.savez("two.npz", x=x, y=y, **{"x-training": x, "y-training": y})
    words = "profile middle_of_two.py:load two.npz --shifts 0+"
    ended = farfield(f"{words} --device cpu --out first --require '0+ 0.1'")
    assert (ended.status, ended.err) == (0, "")
    assert ended.out.split()[:3] == ["middle_of_two.py:load", "on", "two.npz:"]
    assert Path("first/profile.html").is_file()
    mends = "--mend --train middle_of_two.py:train --seeds 1"
    ended = farfield(f"{words} --against first/profile.json {mends}")
    assert ended.status == 0
    assert "Against first/profile.json:" in ended.out
    page = Path("reports/profile-middle_of_two-load-two/profile.html").read_text(encoding="utf-8")
    assert page.index("<h2>Mends</h2>") < page.index("<h2>Against first/profile.json</h2>")
    assert "augmented" in ended.out
    assert Path("reports/profile-middle_of_two-load-two/trained.csv").is_file()
    ended = farfield(f"{words} --require '0+ 5'")
    assert ended.status == 1
    assert ended.err.startswith("farfield: 0+ must hold to 5 sd, fails at ")
    ended = farfield(f"{words} --require '0+ 0.1'")
    assert ended.out.splitlines()[-1].startswith("0+ must hold to 0.1 sd, holds to ")
    ended = farfield(f"{words} --require 'noise 1'")  # refused before anything is measured
    assert (ended.status, ended.out) == (2, "")
    assert ended.err.startswith("farfield: unknown shift 'noise'")


def test_training_of_a_table_is_another_file(farfield, folder: Path) -> None:
    Path("middle_of_table.py").write_text(OWN_MODEL.replace("x[:, 0]", 'x["a"]').replace(
        "x[y == 0, 0]", 'x["a"][y == 0]').replace("x[y == 1, 0]", 'x["a"][y == 1]'))  # fmt: skip
    rng = np.random.default_rng(0)
    for name in ("test", "training"):
        y = np.arange(200) % 2
        table = pd.DataFrame({"a": rng.normal(size=200) + 3 * y - 1.5, "y": y})
        table.to_csv(f"{name}.csv", index=False)
    words = "profile middle_of_table.py:load test.csv --target y --shifts a --mend --seeds 1"
    train = "--train middle_of_table.py:train"
    ended = farfield(f"{words} {train}")
    assert (ended.status, ended.out) == (2, "")
    assert ended.err.startswith("farfield: data must have a set named training for train to learn")
    ended = farfield(f"{words} {train} --training training.csv")
    assert (ended.status, ended.err) == (0, "")
    assert "augmented" in ended.out
    ended = farfield(f"{words} --training none.csv")
    assert ended.err == "farfield: path must be a file or a folder, there is no none.csv\n"
    x, y = rng.normal(size=(40, 2)), np.arange(40) % 2
    np.savez("both.npz", x=x, y=y, x_training=x, y_training=y)
    ended = farfield("profile middle_of_table.py:load both.npz --training training.csv")
    assert ended.err == ("farfield: training must be left out where both.npz has a set training\n")


def test_a_saved_model_needs_a_function_that_loads_it(farfield, folder: Path) -> None:
    np.savez("two.npz", x=np.zeros((40, 2)), y=np.arange(40) % 2)
    ended = farfield("profile pipe.joblib two.npz")
    assert ended.status == 2
    assert 'def load(): return joblib.load("pipe.joblib")' in ended.err


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ("--require noise", 'require must be a shift and a strength, e.g. "offset+ 0.5"'),
        ("--train a.py:train", "train is of --mend: give both, or neither"),
        ("--device cuda", "device is 'cuda', but torch finds no such GPU here; use 'cpu'"),
        ("", "model must be FILE.py:NAME, e.g. my_model.py:load, got 'none.py:load': there is no"),
    ],
)
def test_profile_refuses(words: str, message: str, farfield, folder: Path) -> None:
    np.savez("two.npz", x=np.zeros((40, 2)), y=np.arange(40) % 2)
    ended = farfield(f"profile none.py:load two.npz {words}")
    assert ended.status == 2
    assert ended.err.startswith(f"farfield: {message}")
    assert files(folder) == ["two.npz"]
