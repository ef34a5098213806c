"""Batches, evaluation, one network and a stack, stopping and going on."""

from __future__ import annotations

import dataclasses
import itertools
import json
from collections.abc import Callable
from functools import cache
from pathlib import Path

import msgspec
import numpy as np
import pytest
import torch
from torch import nn

from farfield import _machine
from farfield.core import Problems, stream
from farfield.core.internal import LazyItems, from_line, to_line
from farfield.experiments import Cosine, Experiment, Network, Recipe, Spec, Warmup
from farfield.models import MNM
from farfield.nn import RandomEncoder
from farfield.objectives import Reconstructing
from farfield.records import Score, StoreError
from farfield.records.internal import DamageWarning, read_tensors, write_tensors
from farfield.tasks import TRAINING, ProblemTask
from farfield.training import evaluate, train
from farfield.training._batches import StackedBatches
from farfield.training._checkpoint import _kinds, _Note
from farfield.training._turns import clip_grad_norm
from farfield.training.internal import (
    Batches,
    Clock,
    OneNetwork,
    Progress,
    Stack,
    curve_steps,
    problems_of_run,
    score_problems,
)
from learners import EVERY_STEP, check_resumed, check_together
from small import SMALL_LSTM, small_experiment, tiny_experiment

pytestmark = pytest.mark.processor

RISE_AND_FALL = Warmup(fraction=0.5, then=Cosine())


def some_problems(count: int = 10) -> Problems:
    generator = np.random.default_rng(0)
    index = torch.from_numpy(generator.integers(2, 9, (count, 3)))
    return Problems(
        items=torch.arange(20.0).reshape(20, 1), index=index, target=torch.arange(count)
    )


@pytest.mark.parametrize("same_shape", [False, True])
def test_an_epoch_shows_every_problem_once_and_in_place(same_shape: bool) -> None:
    problems = some_problems()
    batches = Batches(problems, batch_size=4, stream=stream(0, "b"), same_shape=same_shape)
    assert batches.steps_per_epoch == 3
    for epoch in range(2):
        parts = [batches(3 * epoch + place) for place in range(3)]
        assert [len(part) for part in parts] == [4, 4, 2]
        targets = torch.cat([part.target for part in parts])
        assert sorted(targets.tolist()) == list(range(10))
        shown = torch.cat([part.sequences() for part in parts])
        assert torch.equal(shown, problems.sequences()[targets])


def test_a_batch_holds_each_distinct_item_once() -> None:
    batches = Batches(some_problems(), batch_size=4, stream=stream(0, "b"))
    for step in range(3):
        items = batches(step).items.flatten().tolist()
        assert len(items) == len(set(items))
        assert set(batches(step).index.flatten().tolist()) == set(range(len(items)))


def test_batches_do_not_depend_on_what_was_asked_before() -> None:
    ahead = Batches(some_problems(), batch_size=4, stream=stream(0, "b"))
    ahead(7)
    for step in (7, 2, 5):
        fresh = Batches(some_problems(), batch_size=4, stream=stream(0, "b"))
        assert torch.equal(ahead(step).target, fresh(step).target)
    other = Batches(some_problems(), batch_size=4, stream=stream(1, "b"))
    assert not torch.equal(other(0).target, ahead(0).target)


def lazy(problems: Problems) -> Problems:
    drawn = LazyItems(latent=problems.table(), draw=lambda latent: latent + 1)
    return dataclasses.replace(problems, items=drawn)


@pytest.mark.parametrize("form", [Problems.compact, Problems.unshared, lazy])
def test_stacked_batches_are_those_of_every_seed(form: Callable[[Problems], Problems]) -> None:
    several = [
        Batches(form(problems), batch_size=4, stream=stream(seed, "b"), same_shape=True)
        for seed, problems in enumerate([some_problems(), some_problems()[torch.arange(9, -1, -1)]])
    ]
    together = StackedBatches(several)
    for step in (0, 2, 4):
        stacked, alone = together(step)
        for place, batches in enumerate(several):
            wanted, found = batches(step), {name: part[place] for name, part in stacked.items()}
            assert torch.equal(found.pop("rows"), batches.rows(step))
            for problems in (Problems(**found), alone[place]):
                assert torch.equal(problems.sequences(), wanted.sequences())
                assert torch.equal(problems.target, wanted.target)
                assert problems.items.shape == wanted.items.shape


def test_every_epoch_has_an_order_of_its_own() -> None:
    batches = Batches(some_problems(), batch_size=10, stream=stream(0, "b"))
    orders = [batches(epoch).target.tolist() for epoch in range(3)]
    assert len({tuple(order) for order in orders}) == 3


def test_every_seed_has_problems_of_its_own() -> None:
    task = small_experiment().task
    first, second = (problems_of_run(task, seed)[TRAINING].sequences() for seed in (0, 1))
    assert not torch.equal(first, second)


def test_compact_problems_show_the_same() -> None:
    problems = some_problems()
    small = problems.compact()
    assert torch.equal(small.sequences(), problems.sequences())
    assert len(small.items) == len(problems.index.unique())


def test_scores_do_not_depend_on_how_problems_are_cut(monkeypatch: pytest.MonkeyPatch) -> None:
    experiment = small_experiment()
    model = experiment.model.build(experiment.task, stream(0, "weights")).double()
    problems = problems_of_run(experiment.task, 0)["withheld-95"].to("cpu", torch.float64)
    whole = score_problems(model, experiment.task, problems)
    monkeypatch.setattr("farfield.training._evaluate.CHUNK", 7)
    parts = score_problems(model, experiment.task, problems)
    assert torch.equal(whole[0], parts[0])
    torch.testing.assert_close(whole[1], parts[1], rtol=1e-12, atol=0)


def test_evaluate_names_an_argument_of_another_type() -> None:
    with pytest.raises(ValueError, match="model must be a Module, got None"):
        evaluate(None, small_experiment().task)
    with pytest.raises(ValueError, match="task must be a ProblemTask, got None"):
        evaluate(nn.Linear(2, 2), None)


def test_evaluate_scores_every_regime_and_leaves_the_model_as_it_was() -> None:
    task = small_experiment().task

    class Oracle(nn.Module):
        def forward(self, items: torch.Tensor, index: torch.Tensor) -> torch.Tensor:
            empty = torch.zeros(len(index), dtype=torch.int64)
            return task.oracle(Problems(items=items, index=index, target=empty))

    model = Oracle()
    assert evaluate(model, task, seed=2) == {"training": 1.0, "withheld-95": 1.0}
    assert model.training


def run(learner: OneNetwork | Stack, experiment: Experiment) -> list[list[Score]]:
    return train(learner, experiment)[0]


def test_training_learns_the_training_problems() -> None:
    experiment = tiny_experiment(steps=150)
    [scores] = run(OneNetwork(experiment, 0), experiment)
    final = {(score.regime, score.metric): score.value for score in scores}
    first = {
        (score.regime, score.metric): score.value for score in OneNetwork(experiment, 0).score(0)[0]
    }
    assert final["training", "accuracy"] == 1.0
    assert final["training", "loss"] < 0.35 < first["training", "loss"]
    assert {score.count for score in scores if score.regime == TRAINING} == {4}


def test_scores_stand_at_every_evaluation_point() -> None:
    experiment = small_experiment(steps=5, evaluations=2)
    [scores] = run(OneNetwork(experiment, 0), experiment)
    assert {(score.step, score.regime, score.metric) for score in scores} == {
        (step, regime, metric)
        for step in (2, 5)
        for regime in ("training", "withheld-95")
        for metric in ("accuracy", "loss")
    } | {(step, "training", metric) for step in (1, 3, 4) for metric in ("accuracy", "loss")}


def test_a_training_curve_has_four_points_an_octave() -> None:
    assert curve_steps(1) == (1,)
    assert curve_steps(20) == (1, 2, 3, 4, 5, 6, 7, 8, 10, 11, 13, 16, 19)
    far = [step for step in curve_steps(20_000) if step >= 64]
    ratios = [later / earlier for earlier, later in itertools.pairwise(far)]
    assert ratios == pytest.approx([2**0.25] * len(ratios), rel=0.02)
    assert far[-1] > 20_000 / 2**0.25


def test_a_point_of_the_curve_is_what_was_so_at_that_moment() -> None:
    experiment = small_experiment(steps=9, evaluations=1)
    [scores] = run(OneNetwork(experiment, 0), experiment)
    short = experiment.at_fraction(4 / 9)
    [shorter] = run(OneNetwork(short, 0), short)
    for metric in ("accuracy", "loss"):
        [point] = [s for s in scores if (s.step, s.metric) == (4, metric)]
        [end] = [s for s in shorter if (s.step, s.regime, s.metric) == (4, "training", metric)]
        assert point == end
        assert (0 < point.value < 1) == (metric == "accuracy")


@pytest.mark.parametrize(
    ("reasoner", "encoder"),
    [
        (small_experiment().model.reasoner, small_experiment().model.encoder),
        (SMALL_LSTM, Spec(RandomEncoder, out_features=10)),
    ],
    ids=["esbn", "lstm, fixed encoder"],
)
def test_together_equals_alone(reasoner: Spec, encoder: Spec) -> None:
    check_together(small_experiment(reasoner=reasoner, encoder=encoder), seeds=(0, 3, 5))


def uneven(problems: Problems, seed: int) -> Problems:
    return dataclasses.replace(problems, index=problems.index % (60 + seed))


FORMS = {
    "tables of other lengths": uneven,
    "no item twice": lambda problems, _: problems.unshared(),
    "drawn items": lambda problems, _: lazy(problems),
}


@pytest.mark.parametrize("form", FORMS.values(), ids=FORMS)
def test_regimes_are_scored_together_as_alone(
    form: Callable[[Problems, int], Problems], monkeypatch: pytest.MonkeyPatch
) -> None:
    def formed(task: ProblemTask, seed: int) -> dict[str, Problems]:
        return {name: form(each[:70], seed) for name, each in problems_of_run(task, seed).items()}

    experiment = small_experiment(reasoner=SMALL_LSTM)
    for name in ("_stack.problems_of_run", "_one_network.problems_of_run"):
        monkeypatch.setattr(f"farfield.training.{name}", formed)
    monkeypatch.setattr("farfield.training._evaluate.CHUNK", 32)
    seeds = (0, 3)
    stack = Stack(experiment, seeds, dtype=torch.float64)
    monkeypatch.delattr("farfield.training._stack.score_all")  # of one network after another
    together = [stack.score(0), stack.training_metrics(0)]
    for place, seed in enumerate(seeds):
        alone = OneNetwork(experiment, seed, dtype=torch.float64)
        for several, [wanted] in zip(
            together, [alone.score(0), alone.training_metrics(0)], strict=True
        ):
            for found, score in zip(several[place], wanted, strict=True):
                assert found == msgspec.structs.replace(score, value=found.value)
                assert found.value == pytest.approx(score.value, rel=1e-9)


def test_together_equals_alone_where_a_memory_is_to_rebuild() -> None:
    plain = small_experiment(reasoner=Spec(MNM, hidden_size=8, memory_size=5))
    experiment = dataclasses.replace(plain, objective=Reconstructing(weight=0.5))
    alone, other = check_together(experiment), OneNetwork(plain, 3, dtype=torch.float64)
    for step in range(2):
        other.update(step)
    rebuilt, supervised = (learner.weights()[0]["reasoner.memory"] for learner in (alone, other))
    assert not torch.allclose(rebuilt, supervised)


def one(experiment: Experiment) -> OneNetwork:
    return OneNetwork(experiment, 1)


def stack(experiment: Experiment) -> Stack:
    return Stack(experiment, (1, 2))


@pytest.mark.parametrize("make, stop", [(one, 1), (one, 5), (stack, 2)])
def test_stopped_and_started_again_ends_with_the_same_bytes(
    tmp_path: Path, make: Callable[[Experiment], OneNetwork | Stack], stop: int
) -> None:
    experiment = small_experiment(steps=6, evaluations=3)
    check_resumed(lambda: make(experiment), experiment, tmp_path / "c", stop=stop)


class OwnTime:
    """A clock on which an update takes a second, and the processor works on request."""

    def __init__(self) -> None:
        self.passed = self.worked = 0.0

    def monotonic(self) -> float:
        return self.passed

    def process_time(self) -> float:
        return self.worked


@pytest.mark.parametrize(
    ("worked", "expected"),
    [(0.0, list(range(1, 13))), (0.4, [1, 5, 9])],
    ids=["the machine slept", "the processor worked"],
)
def test_reports_become_rarer_by_what_they_cost(
    monkeypatch: pytest.MonkeyPatch, worked: float, expected: list[int]
) -> None:
    experiment, time = tiny_experiment(steps=12), OwnTime()
    monkeypatch.setattr("farfield.training._progress.time", time)
    network, seen = one(experiment), list[int]()
    update = network.update

    def slow_update(step: int) -> torch.Tensor:
        time.passed += 1.0
        return update(step)

    def slow_report(progress: Progress) -> None:
        time.passed += 1000.0
        time.worked += worked
        seen.append(progress.step)

    monkeypatch.setattr(network, "update", slow_update)
    clock = Clock(report_seconds=0.99)
    train(network, experiment, report=slow_report, clock=clock)
    assert seen == expected


@pytest.mark.parametrize("content", [b"", b"garbage", None], ids=["empty", "garbage", "other run"])
def test_a_checkpoint_that_cannot_be_used_means_a_fresh_start(
    tmp_path: Path, content: bytes | None
) -> None:
    experiment = tiny_experiment(steps=4)
    path = tmp_path / "c"
    if content is None:
        other = tiny_experiment(steps=5)
        clock = Clock(checkpoint_seconds=-1.0)
        train(one(other), other, checkpoint=path, clock=clock)
        assert path.exists()
    else:
        path.write_bytes(content)
    before = path.read_bytes()
    expected, _ = train(one(experiment), experiment)
    with pytest.warns(DamageWarning, match=rf"^checkpoint {path} .*c\.damaged, and"):
        assert train(one(experiment), experiment, checkpoint=path)[0] == expected
    assert (tmp_path / "c.damaged").read_bytes() == before


def test_a_network_that_diverged_goes_on_from_its_checkpoint_too(tmp_path: Path) -> None:
    recipe = Recipe(steps=4, learning_rate=1e38)
    experiment = dataclasses.replace(tiny_experiment(), recipe=recipe)
    _, note = checkpoint_of(experiment, tmp_path / "c")
    assert "NaN" in note
    seen: list[int] = []
    clock = EVERY_STEP
    report = lambda progress: seen.append(progress.step)  # noqa: E731
    train(one(experiment), experiment, checkpoint=tmp_path / "c", report=report, clock=clock)
    assert seen[0] > 1


def checkpoint_of(experiment: Experiment, path: Path) -> tuple[dict[str, torch.Tensor], str]:
    """What a checkpoint of a run that was stopped holds."""
    train(one(experiment), experiment, checkpoint=path, clock=Clock(checkpoint_seconds=-1.0))
    return read_tensors(path)


Undisturbed = Callable[[], tuple[bytes, list[Score], dict[str, torch.Tensor]]]


@pytest.fixture(scope="module")
def undisturbed(tmp_path_factory: pytest.TempPathFactory) -> Undisturbed:
    """Last checkpoint, scores and weights of a run of four steps, once for each kind of product."""

    @cache
    def trained(_: object) -> tuple[bytes, list[Score], dict[str, torch.Tensor]]:
        experiment, path = tiny_experiment(steps=4), tmp_path_factory.mktemp("run") / "c"
        learner = one(experiment)
        clock = Clock(checkpoint_seconds=-1.0)
        scores, _ = train(learner, experiment, checkpoint=path, clock=clock)
        return path.read_bytes(), scores, learner.weights()[0]

    return lambda: trained(_machine.FORCED.get("onednn"))


def signed(text: str, saved: dict[str, torch.Tensor], **changes: object) -> str:
    """A note with changes, as if it had been written so with these tensors."""
    note = msgspec.structs.replace(from_line(text, _Note), **changes)
    return to_line(msgspec.structs.replace(note, digest=note.digest_with(saved)))


def with_more(tensors: dict[str, torch.Tensor]) -> dict[str, torch.Tensor]:
    return tensors | {"model.more": torch.zeros(3)}


def in_float64(tensors: dict[str, torch.Tensor]) -> dict[str, torch.Tensor]:
    return {name: tensor.double() for name, tensor in tensors.items()}


def without_moments(tensors: dict[str, torch.Tensor]) -> dict[str, torch.Tensor]:
    return {name: tensor for name, tensor in tensors.items() if name.startswith("model.")}


def without_a_moment(tensors: dict[str, torch.Tensor]) -> dict[str, torch.Tensor]:
    last = max(name for name in tensors if name.startswith("optimizer.0.state."))
    return {name: tensor for name, tensor in tensors.items() if name != last}


def with_narrow_moments(tensors: dict[str, torch.Tensor]) -> dict[str, torch.Tensor]:
    return {
        name: tensor[:1].clone() if name.endswith(".exp_avg") else tensor
        for name, tensor in tensors.items()
    }


@pytest.mark.parametrize(
    ("change", "is_listed"),
    [
        (with_more, False),
        (in_float64, False),
        (without_moments, False),
        (without_a_moment, False),
        (with_narrow_moments, False),
        (with_more, True),
        (in_float64, True),
    ],
)
def test_a_state_that_does_not_fit_means_a_fresh_start(
    tmp_path: Path,
    change: Callable[[dict[str, torch.Tensor]], dict[str, torch.Tensor]],
    is_listed: bool,
    undisturbed: Undisturbed,
) -> None:
    experiment, path = tiny_experiment(steps=4), tmp_path / "c"
    content, expected, weights = undisturbed()
    path.write_bytes(content)
    tensors, text = read_tensors(path)
    changed = change(tensors)
    if is_listed:  # as if written by a class that has changed since
        text = signed(text, changed, tensors=_kinds(changed))
    write_tensors(path, changed, text)
    resumed, seen = one(experiment), list[int]()
    report = lambda progress: seen.append(progress.step)  # noqa: E731
    said = (
        "tensors differ from the state of the network"
        if is_listed
        else "content differs from its digest"
    )
    with pytest.warns(DamageWarning, match=said):
        scores, _ = train(resumed, experiment, checkpoint=path, report=report)
    assert seen == [1]
    assert scores == expected
    for name, weight in weights.items():
        assert torch.equal(resumed.weights()[0][name], weight), name


@pytest.mark.parametrize("is_signed", [True, False])
@pytest.mark.parametrize("changes", [{"step": 4}, {"step": -1}, {"scores": ()}, {"since": ()}])
def test_a_note_that_does_not_fit_means_a_fresh_start(
    tmp_path: Path, changes: dict[str, object], is_signed: bool, undisturbed: Undisturbed
) -> None:
    experiment, path = tiny_experiment(steps=4), tmp_path / "c"
    content, expected, _ = undisturbed()
    path.write_bytes(content)
    tensors, text = read_tensors(path)
    changed = signed(text, tensors, **changes)
    if not is_signed:
        digest = json.loads(text)["digest"]
        changed = json.dumps(json.loads(changed) | {"digest": digest})
    write_tensors(path, tensors, changed)
    said = (
        r"checkpoint is of step .*, with scores of"
        if is_signed
        else "content differs from its digest"
    )
    with pytest.warns(DamageWarning, match=said):
        assert train(one(experiment), experiment, checkpoint=path)[0] == expected


@pytest.mark.parametrize("at", [3, 20, 200, -4000, -900, -1])
def test_a_flipped_bit_of_a_checkpoint_is_noticed(
    tmp_path: Path, at: int, undisturbed: Undisturbed
) -> None:
    experiment, path = tiny_experiment(steps=4), tmp_path / "c"
    written, expected, _ = undisturbed()
    content = bytearray(written)
    content[at] ^= 64
    path.write_bytes(content)
    with pytest.warns(DamageWarning, match=f"^checkpoint {path} cannot be used: "):
        assert train(one(experiment), experiment, checkpoint=path)[0] == expected


def test_the_note_of_another_step_or_seed_is_noticed(tmp_path: Path) -> None:
    experiment, path = tiny_experiment(steps=4), tmp_path / "c"
    kept, written = list[bytes](), write_tensors

    def keep(path: Path, tensors: dict[str, torch.Tensor], note: str = "") -> str:
        digest = written(path, tensors, note)
        kept.append(path.read_bytes())
        return digest

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("farfield.training._checkpoint.write_tensors", keep)
        checkpoint_of(experiment, path)
        train(
            OneNetwork(experiment, 2),
            experiment,
            checkpoint=tmp_path / "other",
            clock=Clock(checkpoint_seconds=-1.0),
        )
    first, last, others = kept[0], kept[2], kept[-1]
    (tmp_path / "first").write_bytes(first)
    path.write_bytes(last)
    tensors, _ = read_tensors(path)
    write_tensors(path, tensors, read_tensors(tmp_path / "first")[1])
    expected, _ = train(one(experiment), experiment)
    with pytest.warns(DamageWarning, match="content differs from its digest"):
        assert train(one(experiment), experiment, checkpoint=path)[0] == expected
    path.write_bytes(others)
    with pytest.warns(DamageWarning, match=r"checkpoint belongs to experiment \w+, seeds \(2,\)"):
        assert train(one(experiment), experiment, checkpoint=path)[0] == expected


def test_a_folder_in_place_of_a_checkpoint_is_named_before_anything_is_trained(
    tmp_path: Path,
) -> None:
    experiment, seen = tiny_experiment(), list[Progress]()
    with pytest.raises(StoreError, match=f"checkpoint must be a file, got {tmp_path}: it is a fol"):
        train(one(experiment), experiment, checkpoint=tmp_path, report=seen.append)
    assert seen == []


class WithDropout(nn.Module):
    """A reasoner that draws from torch's global generator at every step."""

    def __init__(self, in_features: int, num_outputs: int) -> None:
        super().__init__()
        self.output = nn.Linear(in_features, num_outputs)
        self.dropout = nn.Dropout(0.5)

    def forward(self, z: torch.Tensor) -> torch.Tensor:
        return self.output(self.dropout(z).mean(1))


def test_dropout_of_ones_own_repeats_and_leaves_the_global_generator_alone() -> None:
    experiment = Experiment(
        task=small_experiment().task,
        model=Network(reasoner=Spec(WithDropout), encoder=Spec(RandomEncoder)),
        recipe=Recipe(steps=5),
    )
    torch.manual_seed(1)
    before = torch.random.get_rng_state()
    first, again = one(experiment), one(experiment)
    run(first, experiment)
    assert torch.equal(before, torch.random.get_rng_state())
    torch.manual_seed(2)
    run(again, experiment)
    for name, content in first.weights()[0].items():
        assert torch.equal(content, again.weights()[0][name]), name


class Noise(nn.Module):
    """A reasoner that answers with what dropout leaves of ones, and learns nothing."""

    shown: list[torch.Tensor]

    def __init__(self, in_features: int, num_outputs: int) -> None:
        super().__init__()
        self.bias = nn.Parameter(torch.zeros(num_outputs))
        self.dropout = nn.Dropout(0.5)

    def forward(self, z: torch.Tensor) -> torch.Tensor:
        kept = self.dropout(torch.ones(len(z), len(self.bias)))
        if self.training:
            type(self).shown.append(kept)
        return kept + 0 * z.sum() + self.bias


@pytest.fixture
def noisy(monkeypatch: pytest.MonkeyPatch) -> Experiment:
    monkeypatch.setattr(Noise, "shown", [], raising=False)
    return Experiment(
        task=small_experiment().task,
        model=Network(reasoner=Spec(Noise), encoder=Spec(RandomEncoder)),
        recipe=Recipe(steps=3, evaluations=3),
    )


def test_updates_are_made_with_dropout(noisy: Experiment) -> None:
    [scores] = run(one(noisy), noisy)
    assert {score.step for score in scores} == {1, 2, 3}
    last = Noise.shown[-3:]  # after a trial of the first one
    assert [set(kept.flatten().tolist()) for kept in last] == [{0.0, 2.0}] * 3


def test_dropout_differs_from_step_to_step(noisy: Experiment) -> None:
    run(one(noisy), noisy)
    assert not torch.equal(Noise.shown[-1], Noise.shown[-2])


def test_scores_are_taken_without_dropout(noisy: Experiment) -> None:
    learner = one(noisy)
    learner.update(0)
    drawn = len(Noise.shown)
    assert learner.score(1) == learner.score(1)
    learner.update(1)
    assert len(Noise.shown) == drawn + 1


def test_threads_are_given_back() -> None:
    torch.set_num_threads(2)
    experiment = tiny_experiment(steps=1)
    run(OneNetwork(experiment, 0), experiment)
    assert torch.get_num_threads() == 2
    torch.set_num_threads(1)


@pytest.mark.parametrize("stacked", [False, True])
def test_gradients_are_shortened_to_the_norm_and_no_further(stacked: bool) -> None:
    source = torch.Generator().manual_seed(0)
    gradients = [
        torch.randn(2, *shape, generator=source, dtype=torch.float64)
        for shape in ((3, 4), (5,), ())
    ]
    gradients[0] = gradients[0].transpose(1, 2)
    networks = [[g[seed].clone() for g in gradients] for seed in range(2)]
    norms = [torch.cat([g.flatten() for g in network]).norm() for network in networks]
    clip = float(sum(norms) / 2)
    if stacked:
        together = clip_grad_norm(gradients, clip, stacked=True)
        shortened = [[g[seed] for g in together] for seed in range(2)]
    else:
        shortened = [clip_grad_norm(network, clip) for network in networks]
    for norm, before, after in zip(norms, networks, shortened, strict=True):
        for was, now in zip(before, after, strict=True):
            torch.testing.assert_close(now, was * min(1.0, clip / float(norm)), rtol=1e-12, atol=0)


def test_a_gradient_of_two_parameters_is_shortened_once() -> None:
    first, second = nn.Parameter(torch.ones(4)), nn.Parameter(torch.ones(4))
    gradients = torch.autograd.grad((first + second).sum(), (first, second))
    shortened = clip_grad_norm(gradients, 2**0.5)
    assert all(torch.allclose(g, torch.full((4,), 0.5)) for g in shortened)


def test_shortened_gradients_are_those_that_are_taken() -> None:
    free = small_experiment(steps=3, reasoner=SMALL_LSTM)
    clipped = dataclasses.replace(free, recipe=dataclasses.replace(free.recipe, clip_norm=1e-3))
    alone = [OneNetwork(clipped, seed, dtype=torch.float64) for seed in (0, 1)]
    together = Stack(clipped, [0, 1], dtype=torch.float64)
    for learner in (*alone, together):
        learner.update(0)
        learner.update(1)
    for seed in (0, 1):
        for name, weight in alone[seed].weights()[0].items():
            torch.testing.assert_close(together.weights()[seed][name], weight, rtol=1e-9, atol=1e-9)
    named = OneNetwork(clipped, 0)
    named.update(0)
    squares = sum(p.grad.square().sum() for p in named.model.parameters() if p.grad is not None)
    assert float(squares) == pytest.approx(1e-6, rel=1e-4)


def test_the_step_size_of_the_recipe_is_the_one_that_is_taken() -> None:
    plain = small_experiment(steps=4, reasoner=SMALL_LSTM)
    halved = dataclasses.replace(
        plain, recipe=dataclasses.replace(plain.recipe, schedule=RISE_AND_FALL)
    )
    alone = [OneNetwork(halved, seed, dtype=torch.float64) for seed in (0, 1)]
    together = Stack(halved, [0, 1], dtype=torch.float64)
    before = alone[0].weights()[0]["reasoner.output.bias"].clone()
    for learner in (*alone, together):
        learner.update(0)
    # Adam's first step is its step size in every parameter, whatever the gradient.
    moved = (alone[0].weights()[0]["reasoner.output.bias"] - before).abs()
    assert moved.max().item() == pytest.approx(halved.recipe.rate(0), rel=1e-4)
    for learner in (*alone, together):
        learner.update(1)
        learner.update(2)
    for seed in (0, 1):
        for name, weight in alone[seed].weights()[0].items():
            torch.testing.assert_close(together.weights()[seed][name], weight, rtol=1e-9, atol=1e-9)
