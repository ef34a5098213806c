"""Tests of the user's arrays as a task: values by hand, floors, splits, keys and refusals."""

import dataclasses
import json
import os
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
import torch
from torch import Tensor

from each import each
from farfield.core import Problems, stream
from farfield.core.internal import LazyItems, UnknownNameError
from farfield.execution import Here, jobs_of, results, run
from farfield.execution._order import Order, train_order
from farfield.experiments import Experiment, Network, Recipe, Spec
from farfield.models import LSTM
from farfield.nn import LinearEncoder
from farfield.objectives import VAT
from farfield.records import Store
from farfield.reports import compare, extrapolation_profile
from farfield.tasks import TRAINING, VALIDATION, ArrayTask, ProblemTask
from farfield.tasks._arrays import _array_task, _kept_arrays
from farfield.tasks.internal import NeedsFiles, ScoresSomeTraining, form_of, metric_of

X = np.arange(40, dtype=np.float32).reshape(10, 4)
Y = np.array([0, 1, 1, 0, 1, 1, 1, 1, 0, 1])
FAR = np.array([1, 0, 0])


@pytest.fixture(scope="module", autouse=True)
def _unpacked_once() -> None:
    """Leave Farfield unchanged here: keys refuse a part that was replaced."""


@pytest.fixture(autouse=True)
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty cache folder."""
    monkeypatch.setenv("FARFIELD_CACHE", str(tmp_path / "cache"))
    return tmp_path / "cache" / "array-tasks"


def classes(**options: Any) -> ArrayTask:
    data = {TRAINING: (X, Y), "far": (X[:3] + 100, FAR), "test": (X[4:6], Y[4:6])}
    return ArrayTask(data, distances={"far": 2}, unit="months", **options)


def drawn(task: ArrayTask) -> dict[str, Problems]:
    return task.draw(stream(0))


def experiment(task: ArrayTask) -> Experiment:
    model = Network(
        encoder=Spec(LinearEncoder, out_features=3),
        context=None,
        reasoner=Spec(LSTM, hidden_size=3),
    )
    return Experiment(task=task, model=model, recipe=Recipe(steps=3, batch_size=4))


def test_classes_by_hand() -> None:
    task = classes(validation=0)
    assert isinstance(task, ProblemTask)
    assert [(r.name, r.distance, r.unit) for r in task.regimes] == [
        (TRAINING, 0, "months"), ("test", 0, "months"), ("far", 2, "months"),
    ]  # fmt: skip
    sets = drawn(task)
    assert [*sets] == [TRAINING, "test", "far"]
    np.testing.assert_array_equal(sets["far"].sequences()[:, 0], X[:3] + 100)
    assert sets["far"].target.tolist() == [1, 0, 0]
    assert (task.item_shape, task.length, task.num_outputs, task.segments) == ((4,), 1, 2, ((0,),))
    assert (task.chance(TRAINING), task.chance("far")) == (0.7, 2 / 3)
    outputs = torch.tensor([[0.0, 2.0], [0.0, 1.0], [3.0, 0.0]])
    assert task.score(outputs, sets["far"]).tolist() == [1, 0, 1]
    expected = [np.log(1 + np.exp(-2.0)), np.log(1 + np.exp(1.0)), np.log(1 + np.exp(-3.0))]
    np.testing.assert_allclose(task.loss(outputs, sets["far"]), expected, rtol=1e-6)
    assert task.score(task.oracle(sets["far"]), sets["far"]).tolist() == [1, 1, 1]
    assert task.answers(outputs).tolist() == [1, 1, 0]
    assert (metric_of(task), form_of(task).arrangement) == ("accuracy", "single")
    assert isinstance(task, ScoresSomeTraining)


def test_text_is_classes_in_the_order_of_the_alphabet() -> None:
    names = np.array(["cat", "dog", "ant", "dog"])
    task = ArrayTask({TRAINING: (X[:4], names)}, validation=0)
    assert task.classes == ("ant", "cat", "dog")
    assert drawn(task)[TRAINING].target.tolist() == [1, 2, 0, 2]
    assert task.answers(torch.eye(3)).tolist() == ["ant", "cat", "dog"]
    assert task == ArrayTask({TRAINING: (X[:4], pd.Series([*names]))}, validation=0)
    assert task == ArrayTask({TRAINING: (X[:4], names[:, None].astype("U9"))}, validation=0)


def test_numbers_are_standardized_by_training_and_scored_by_r2() -> None:
    y, far = np.array([10.0, 30.0, 20.0, 20.0]), np.array([60.0, 20.0])
    data = {TRAINING: (X[:4], y), "far": (X[:2], far)}
    task = ArrayTask(data, distances={"far": 1}, validation=0)
    std = 50**0.5
    target = drawn(task)["far"].target
    np.testing.assert_allclose(target, [[40 / std], [0]], rtol=1e-6)
    outputs = torch.tensor([[20 / std], [10 / std]])  # 40 and 30
    assert task.loss(outputs, drawn(task)["far"]).tolist() == pytest.approx([400 / 50, 100 / 50])
    # The variance of 60 and 20 is 400: 1 − 400/400 and 1 − 100/400.
    assert task.score(outputs, drawn(task)["far"]).tolist() == pytest.approx([0, 0.75], abs=1e-6)
    mean = torch.full((2, 1), 20 / std)  # 40, the mean of the set
    assert float(task.score(mean, drawn(task)["far"]).mean()) == pytest.approx(
        task.chance("far"), abs=1e-6
    )
    np.testing.assert_allclose(task.answers(outputs), [40, 30], rtol=1e-6)
    assert (task.num_outputs, metric_of(task), task.classes) == (1, "r2", ())
    assert task.score(task.oracle(drawn(task)["far"]), drawn(task)["far"]).tolist() == [1, 1]


def test_several_numbers_have_a_variance_each() -> None:
    y = np.array([[0.0, 0.0], [2.0, 20.0]])
    task = ArrayTask({TRAINING: (X[:2], y)}, validation=0)
    outputs = torch.tensor([[0.0, -1.0], [1.0, 0.0]])  # errors (1, 0) and (0, 1) standardized
    assert task.num_outputs == 2
    assert task.score(outputs, drawn(task)[TRAINING]).tolist() == [0.5, 0.5]
    np.testing.assert_allclose(task.answers(outputs), [[1, 0], [2, 10]])


def test_targets_can_be_named() -> None:
    y = np.array([0, 1, 5, 5])
    task = ArrayTask({TRAINING: (X[:4], y)}, validation=0, targets="numbers")
    assert (task.num_outputs, task.metric) == (1, "r2")
    task = ArrayTask({TRAINING: (X[:4], y / 2)}, validation=0, targets="classes")
    assert task.classes == (0.0, 0.5, 2.5)


def half(outputs: Tensor, targets: Tensor) -> Tensor:
    return (outputs[:, 0] - targets).abs() / 2


def test_loss_score_and_floor_can_be_given() -> None:
    task = classes(loss_function=half, score_function=half, floor=0.25)
    outputs = torch.tensor([[0.0, 9.0], [1.0, 9.0], [4.0, 9.0]])
    assert task.loss(outputs, drawn(task)["far"]).tolist() == [0.5, 0.5, 2]
    assert task.score(outputs, drawn(task)["far"]).tolist() == [0.5, 0.5, 2]
    assert (metric_of(task), task.chance("far")) == ("half", 0.25)
    with pytest.raises(ValueError, match="floor must be given with score_function"):
        classes(score_function=half)
    wrong = classes(loss_function=lambda outputs, _: outputs)
    with pytest.raises(ValueError, match=r"loss_function must return \(batch,\), got shape \(3, 2"):
        wrong.loss(outputs, drawn(wrong)["far"])


def test_validation_is_a_fixed_part_of_training(monkeypatch: pytest.MonkeyPatch) -> None:
    sets = drawn(classes(validation=0.3))
    parts = [sets[name].sequences()[:, 0, 0].tolist() for name in (TRAINING, VALIDATION)]
    assert [len(part) for part in parts] == [7, 3]
    assert sorted(parts[0] + parts[1]) == X[:, 0].tolist()
    again = classes(validation=0.3).draw(stream(5))[VALIDATION]
    assert again.sequences()[:, 0, 0].tolist() == parts[1]
    np.testing.assert_array_equal(again.target, Y[(np.array(parts[1]) / 4).astype(int)])
    x, y = np.arange(200.0)[:, None], np.arange(200) % 2
    assert len(drawn(ArrayTask({TRAINING: (x, y)}))[VALIDATION]) == 20
    monkeypatch.setattr(_array_task, "MOST_VALIDATION", 12)
    assert len(drawn(ArrayTask({TRAINING: (x, y)}))[VALIDATION]) == 12


def test_a_set_of_the_name_is_validation() -> None:
    task = ArrayTask({TRAINING: (X, Y), VALIDATION: (X[:2], Y[:2])})
    assert {name: len(part) for name, part in drawn(task).items()} == {TRAINING: 10, VALIDATION: 2}
    with pytest.raises(ValueError, match="validation must be left out beside a set"):
        ArrayTask({TRAINING: (X, Y), VALIDATION: (X, Y)}, validation=0.1)


def test_problems_are_sampled_from_the_sets() -> None:
    some = classes().sample("far", 50, np.random.default_rng(0))
    assert len(some) == 50
    assert {*some.sequences()[:, 0, 0].tolist()} == {100.0, 104.0, 108.0}


def test_equal_arrays_make_one_key_and_other_arrays_another() -> None:
    key = experiment(classes()).key
    lists = {
        "far": (torch.from_numpy(X[:3] + 100), FAR.astype(np.uint8)),
        "test": (X[4:6].astype(np.float64), Y[4:6].tolist()),
        TRAINING: (pd.DataFrame(X), pd.Series(Y)),
    }
    same = ArrayTask(lists, distances={"test": 0, "far": 2}, unit="months")
    assert (same == classes(), hash(same) == hash(classes())) == (True, True)
    assert experiment(same).key == key
    other = X.copy()
    other[9, 3] += 1
    for x, y in ((other, Y), (X, Y[::-1]), (X.reshape(10, 1, 2, 2), Y), (X.astype(np.uint8), Y)):
        data = {TRAINING: (x, y), "far": (x[:3], FAR), "test": (x[4:6], Y[4:6])}
        assert experiment(ArrayTask(data, distances={"far": 2}, unit="months")).key != key


def test_a_description_says_what_the_arrays_are() -> None:
    (far, x, y), _, (training, _, classes_) = classes().data
    assert (far, x[:14], y[:9]) == ("far", "float32[3, 4] ", "int64[3] ")
    assert (training, classes_[:23]) == (TRAINING, "2 classes of int64[10] ")
    with pytest.raises(ValueError, match="must describe arrays by type, shape and digest"):
        ArrayTask(((TRAINING, x[1:], y[:9]),))


def test_the_key_stays() -> None:
    assert experiment(classes()).key == "00a19423fa6a4770b3e2"


def test_a_description_is_enough_where_the_arrays_were_kept(
    cache: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    whole = experiment(classes())
    text = json.dumps(whole.to_json())
    again = Experiment.from_json(json.loads(text)).problem_task
    assert again == whole.task
    np.testing.assert_array_equal(again.draw(stream(0))["far"].table(), X[:3] + 100)
    assert isinstance(again, NeedsFiles)
    monkeypatch.setenv("FARFIELD_CACHE", str(tmp_path / "other"))
    lost = Experiment.from_json(json.loads(text)).problem_task
    assert isinstance(lost, NeedsFiles)
    assert not lost.is_at_hand()
    assert [regime.name for regime in lost.regimes] == [TRAINING, VALIDATION, "test", "far"]
    assert (lost.item_shape, lost.length, lost.num_outputs) == ((4,), 1, 2)
    with pytest.raises(ValueError, match="must be on this machine: build the task once from the"):
        lost.draw(stream(0))
    assert len([*cache.glob("*.npy")]) == 6


def test_an_array_is_written_once(monkeypatch: pytest.MonkeyPatch) -> None:
    written, write = [], _kept_arrays._write

    def slow(*given: Any) -> None:
        written.append(given)
        time.sleep(0.05)
        write(*given)

    monkeypatch.setattr(_kept_arrays, "_write", slow)
    with ThreadPoolExecutor(4) as pool:
        assert len({*pool.map(_kept_arrays.keep, [X] * 4)}) == 1
    assert len(written) == 1


def test_kept_arrays_that_were_changed_are_refused(cache: Path) -> None:
    task = classes()
    digest = task.data[0][1].split()[-1]
    [path] = cache.glob(f"{digest}.npy")
    content = bytearray(path.read_bytes())
    content[-1] ^= 1
    path.write_bytes(content)
    with pytest.raises(ValueError, match="must not change while a task reads"):
        task.draw(stream(0))
    assert not dataclasses.replace(task).is_at_hand()
    with pytest.raises(ValueError, match="it has other content; build the task again"):
        _kept_arrays.find(digest)
    np.testing.assert_array_equal(drawn(classes())["far"].table(), X[:3] + 100)  # written anew


def test_a_copy_of_the_cache_is_known_by_its_content(
    cache: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    task = classes()
    for path in cache.glob("*.npy"):
        os.utime(path, (1, 1))
    assert dataclasses.replace(task).is_at_hand()
    digest = task.data[0][1].split()[-1]
    assert _kept_arrays.find(digest).stamp[0] == 1_000_000_000


def mapped(folder: Path, array: np.ndarray, name: str = "x.npy") -> Any:
    np.save(folder / name, array)
    return np.load(folder / name, mmap_mode="r")


def test_mapped_arrays_stay_in_their_files(tmp_path: Path, cache: Path) -> None:
    wide = mapped(tmp_path, np.hstack([X, Y[:, None]]).astype(np.float32))
    columns = ArrayTask({TRAINING: (wide[:, :4], wide[:, 4])}, targets="classes", validation=0)
    assert [*cache.glob("*.npy")] == []
    problems = drawn(columns)[TRAINING]
    np.testing.assert_array_equal(problems.table(), X)
    assert problems.target.tolist() == Y.tolist()
    same = ArrayTask({TRAINING: (mapped(tmp_path, X, "same.npy"), Y)}, validation=0)
    assert same == ArrayTask({TRAINING: (X, Y)}, validation=0)


def test_a_mapped_file_is_digested_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    x = mapped(tmp_path, X)
    os.utime(tmp_path / "x.npy", (1, 1))
    monkeypatch.setattr(_kept_arrays, "is_settled", lambda _: True)
    first = _kept_arrays.keep(x)
    monkeypatch.setattr(_kept_arrays, "_digest", None)  # is not called again
    assert _kept_arrays.keep(x) == first


def test_a_mapped_file_that_changed_is_another_array(tmp_path: Path) -> None:
    task = ArrayTask({TRAINING: (mapped(tmp_path, X), Y)})
    changed = ArrayTask({TRAINING: (mapped(tmp_path, X + 1), Y)})
    assert changed.data != task.data
    with pytest.raises(ValueError, match="must not change while a task reads"):
        task.draw(stream(0))


def test_digests_are_the_same_in_memory_and_in_files(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    array = np.arange(24.0).reshape(6, 2, 2)
    whole = _kept_arrays.keep(array)
    monkeypatch.setattr(_kept_arrays, "_CHUNK", 64)  # two rows
    pieces = _kept_arrays.keep(array + 0)
    assert pieces != whole  # the number is a part of the digest
    assert _kept_arrays.keep(np.asfortranarray(array)) == pieces
    assert _kept_arrays.keep(mapped(tmp_path, array)) == pieces
    wide = mapped(tmp_path, np.concatenate([array, array], 2), "wide.npy")
    assert _kept_arrays.keep(wide[:, :, 2:]) == pieces


def test_large_sets_are_read_as_they_are_needed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    big = np.arange(480.0, dtype=np.float32).reshape(20, 8, 3)
    data = {TRAINING: (mapped(tmp_path, big), Y[[*range(10)] * 2])}
    task = ArrayTask(data, axes="item time feature")
    plain = drawn(task)
    monkeypatch.setattr(_array_task, "IN_MEMORY", 100)
    lazy = drawn(task)
    assert isinstance(lazy[TRAINING].items, LazyItems)
    for name, part in plain.items():
        assert torch.equal(lazy[name].sequences(), part.sequences())
        assert torch.equal(lazy[name].target, part.target)
    np.testing.assert_array_equal(
        lazy[VALIDATION][:1].sequences()[0], big[int(lazy[VALIDATION].items[0][0]) // 24]
    )


@each(
    "x, axes, wanted",
    [
        (np.zeros((4, 6)), None, ((6,), 1, ("feature",), "single")),
        (np.zeros((4, 6)), "item time", ((1,), 6, ("feature",), "sequence")),
        (np.zeros((4, 6, 2)), "item time feature", ((2,), 6, ("feature",), "sequence")),
        (np.zeros((4, 6, 2)), "item height width", ((6, 2), 1, ("height", "width"), "single")),
        (np.zeros((4, 6, 2), np.uint8), None, ((6, 2), 1, ("height", "width"), "single")),
        (np.zeros((4, 3, 5, 5)), None, ((3, 5, 5), 1, ("channel", "height", "width"), "single")),
        (np.zeros((4, 5, 5, 3)), None, ((5, 5, 3), 1, ("height", "width", "channel"), "single")),
        (
            np.zeros((4, 7, 5, 5)),
            "item time height width",
            ((5, 5), 7, ("height", "width"), "sequence"),
        ),
    ],
)
def test_axes(x: np.ndarray, axes: str | None, wanted: tuple[Any, ...]) -> None:
    task = ArrayTask({TRAINING: (x, Y[:4])}, axes=axes, validation=0)
    assert (task.item_shape, task.length, task.form.axes, task.form.arrangement) == wanted
    problems = drawn(task)[TRAINING]
    assert problems.sequences().shape == (4, wanted[1], *wanted[0])
    is_image = x.dtype == np.uint8
    assert problems.items.dtype == (torch.uint8 if is_image else torch.float32)


def test_tests_may_be_longer_sequences() -> None:
    x, long = np.arange(6.0).reshape(2, 3), np.arange(10.0).reshape(2, 5)
    task = ArrayTask(
        {TRAINING: (x, FAR[:2]), "long": (long, FAR[:2])},
        distances={"long": 2},
        axes="item time",
        validation=0,
    )
    assert drawn(task)["long"].sequences()[1, :, 0].tolist() == [5, 6, 7, 8, 9]


@pytest.mark.parametrize("labels", [Y, Y.astype(str)])
@pytest.mark.parametrize("pair", [False, True])
def test_items_without_labels_are_learned_from_and_are_no_regime(
    labels: np.ndarray, pair: bool, tmp_path: Path
) -> None:
    data = {TRAINING: (X, labels), "test": (X[:6], labels[:6]), "unlabelled": X + 1}
    if pair:
        data["unlabelled"] = (X + 1, None)  # as of a file
    task = ArrayTask(data)
    assert [regime.name for regime in task.regimes] == [TRAINING, VALIDATION, "test"]
    others = drawn(task)["unlabelled"]
    np.testing.assert_array_equal(others.sequences()[:, 0], X + 1)
    assert others.target.tolist() == [-1] * 10
    assert task.num_outputs == 2
    learner = dataclasses.replace(
        experiment(task), objective=VAT(consistency="unlabelled"), recipe=Recipe(steps=1)
    )
    store = Store(tmp_path / "runs")
    run(jobs_of([learner], [0]), store, Here())
    (record,) = store.records(learner.key)
    assert 0 <= record.final("test") <= 1


@each(
    "make, words",
    [
        (lambda: ArrayTask((X, Y)), r"data\[0\] must be a tuple \(text"),
        (lambda: ArrayTask({}), "data must be a path, or sets"),
        (lambda: ArrayTask({"test": (X, Y)}), "data must have a set 'training', got test"),
        (lambda: ArrayTask({TRAINING: X}), r"data\['training'\] must be a pair \(x, y\)"),
        (lambda: ArrayTask({TRAINING: (X, None)}), "must have targets, got none"),
        (lambda: ArrayTask({TRAINING: (X, Y[:3])}), r"a target for each of 10 items, got \(3,\)"),
        (lambda: ArrayTask({TRAINING: (X + np.inf, Y)}), "finite numbers in float32, item 0"),
        (lambda: ArrayTask({TRAINING: (X, Y * np.nan)}), "finite numbers, got nan in row 0"),
        (lambda: ArrayTask({TRAINING: (Y, Y)}), r"must be of \(item, …\).*got shape \(10,\)"),
        (lambda: ArrayTask({TRAINING: (X.astype(str), Y)}), "must hold numbers, got <U32"),
        (lambda: ArrayTask({TRAINING: ([[1], [1, 2]], [0, 1])}), "must be items of one shape"),
        (lambda: ArrayTask({TRAINING: (X, [{}] * 10)}), "must be classes or numbers, got object"),
        (lambda: ArrayTask({TRAINING: (X, Y * 0)}), "must show two classes or more, got 0 alone"),
        (lambda: ArrayTask({TRAINING: (X, Y * 0.0)}), "numbers of training must differ"),
        (lambda: ArrayTask({TRAINING: (X, np.stack([Y, Y], 1))}),
         r"must be of \(item,\), got shape \(10, 2\); .* answers at every step need a task class"),
        (lambda: ArrayTask({TRAINING: (X, Y), "unlabelled": (X, Y)}), "items x without targets"),
        (lambda: ArrayTask({TRAINING: (X, Y), "unlabelled": X[:, 1:]}), r"and unlabelled \(3,\)"),
        (lambda: ArrayTask({TRAINING: (X, Y / 2), "unlabelled": X}), "classes beside a set 'unl"),
        (lambda: ArrayTask({TRAINING: (X, Y), "far": (X, Y)}), "each test, 'far' has"),
        (lambda: ArrayTask({TRAINING: (X, Y), "test": (X, Y + 1)}), "must be in training, got 2"),
        (lambda: ArrayTask({TRAINING: (X, Y), "test": (X[:, 1:], Y)}), r"has \(4,\) and test \(3,"),
        (lambda: ArrayTask({TRAINING: (X, Y), "test": (X, Y / 2)}), "integers and test numbers"),
        (lambda: ArrayTask({TRAINING: (X, Y)}, distances=[1]), r"distances\[0\] must be a tuple"),
        (lambda: classes(validation=1.0), "validation must be"),
        (lambda: classes(validation=0.99), "validation must leave a training problem"),
        (lambda: classes(axes="item width"), r"those of x, of shape \(10, 4\): item"),
        (lambda: ArrayTask({TRAINING: (np.zeros((4, 6, 2)), FAR[[0, 1, 1, 0]])}),
         "item time feature; item height width; got None"),
        (lambda: ArrayTask({TRAINING: (np.zeros((500, 2)), np.arange(500) // 4)}),
         "got 125 integers in 500 problems"),
        (lambda: ArrayTask({TRAINING: (pd.DataFrame({"a": ["b"] * 2}), FAR[:2])}),
         "column 'a' is .*get_dummies"),
    ],
)  # fmt: skip
def test_refusals(make: Callable[[], ArrayTask], words: str) -> None:
    with pytest.raises(ValueError, match=words):
        make()


def test_targets_are_named_with_the_data() -> None:
    with pytest.raises(ValueError, match="targets must be given together with the data"):
        dataclasses.replace(classes(), targets="numbers")
    numbers = ArrayTask({TRAINING: (X, Y / 2)})
    with pytest.raises(ValueError, match="targets must be given together with the data"):
        dataclasses.replace(numbers, targets="classes")
    assert dataclasses.replace(classes(), unit="days").classes == (0, 1)


def test_a_distance_of_no_set_is_refused() -> None:
    with pytest.raises(UnknownNameError, match="set in distances"):
        ArrayTask({TRAINING: (X, Y), "far": (X, Y)}, distances={"fat": 1})


def test_files_are_read(tmp_path: Path) -> None:
    np.savez(tmp_path / "data.npz", **{"x-training": X, "y-training": Y, "x": X, "y": Y})
    task = ArrayTask(tmp_path / "data.npz", validation=0)
    assert task == ArrayTask({TRAINING: (X, Y), "test": (X, Y)}, validation=0)
    frame = pd.DataFrame(X, columns=[*"abcd"]).assign(answer=Y)
    frame.to_csv(tmp_path / "rows.csv", index=False)
    plain = ArrayTask({TRAINING: (X, Y)})
    assert ArrayTask({TRAINING: (str(tmp_path / "rows.csv"), "answer")}) == plain
    assert ArrayTask({TRAINING: (frame, "answer")}) == plain


def test_a_cache_that_cannot_be_written_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("FARFIELD_CACHE", str(tmp_path / "file"))
    with pytest.raises(ValueError, match="FARFIELD_CACHE names another folder"):
        classes()


def test_networks_are_trained_compared_and_reported(tmp_path: Path) -> None:
    store, jobs = Store(tmp_path / "runs"), jobs_of([experiment(classes())], range(2))
    run(jobs, store, Here())
    record = next(iter(store.records(jobs[0].experiment.key)))
    assert record.experiment["task"]["data"][0] == ["far", *classes().data[0][1:]]
    assert {score.regime for score in record.scores} == {TRAINING, VALIDATION, "test", "far"}
    assert "inputs" not in record.environment
    profile = extrapolation_profile(classes(), results(jobs, store))
    assert [(point.regime, point.distance) for point in profile.points] == [
        (TRAINING, 0), (VALIDATION, 0), ("test", 0), ("far", 2),
    ]  # fmt: skip
    assert "far" in str(compare({"LSTM": jobs[0].experiment}, store))


def test_the_order_of_a_worker_names_the_arrays() -> None:
    order = Order(job=jobs_of([experiment(classes())], [0])[0])
    text = order.to_json()
    assert json.loads(text)["arrays"] == {}
    again = Order.from_json(text, announce=print, arrays={})
    assert train_order(again)[0].scores == train_order(order)[0].scores
