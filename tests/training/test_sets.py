"""Sets of items of several sizes, scores of whole sets, and regimes made from a trained network."""

from __future__ import annotations

import dataclasses
import math
from dataclasses import dataclass
from typing import ClassVar, final

import numpy as np
import pytest
import torch
from torch import Tensor, nn
from torch.nn import functional as F

from farfield.analysis import FGSM
from farfield.core import Problems, Stream, stream
from farfield.core.internal import RaggedItems, joined
from farfield.execution import Here, jobs_of, results, run
from farfield.experiments import Experiment, Recipe, SetNetwork, Spec
from farfield.nn import PatchEncoder, PreNormTransformer
from farfield.records import Store
from farfield.reports import extrapolation_profile
from farfield.tasks import TRAINING, VALIDATION, Digits, Regime
from farfield.tasks.internal import SetScores
from farfield.training import evaluate, train
from farfield.training.internal import OneNetwork, Stack
from small import SMALL_LSTM, small_experiment

SIZES = [(4, 6), (5, 3), (4, 6)]


def pictures(sizes: list[tuple[int, int]], generator: np.random.Generator) -> list[Tensor]:
    return [torch.from_numpy(generator.uniform(0.2, 0.8, size)).float() for size in sizes]


@final
@dataclass(frozen=True, kw_only=True)
class Restoring:
    """Images under noise are to be given back; the score is the fraction of noise taken off.

    Tested on images of two sizes. PSNR, in decibels of the error over a whole set, is a score of
    the set.
    """

    name: ClassVar[str] = "restoring"
    version: ClassVar[int] = 1
    metric: ClassVar[str] = "restored"
    item_shape, length, num_outputs, segments = (4, 4), 1, 16, ((0,),)
    regimes = (
        Regime(name=TRAINING, distance=0, unit="pixels"),
        Regime(name="sizes", distance=8, unit="pixels"),
    )
    noise: float = 0.1

    def draw(self, stream: Stream) -> dict[str, Problems]:
        return {
            regime.name: self.sample(regime.name, 24, stream.child(regime.name).numpy())
            for regime in self.regimes
        }

    def sample(self, regime: str, n: int, generator: np.random.Generator) -> Problems:
        sizes = [(4, 4)] * n if regime == TRAINING else SIZES * (n // 3)
        clean = pictures(sizes, generator)
        noisy = [
            x + self.noise * torch.from_numpy(generator.normal(size=x.shape)).float() for x in clean
        ]
        stack = torch.stack if regime == TRAINING else RaggedItems
        return Problems(items=stack(noisy), index=torch.arange(n)[:, None], target=stack(clean))

    def loss(self, outputs: Tensor, problems: Problems) -> Tensor:
        return (outputs - problems.target.to(outputs)).square().flatten(1).mean(1)

    def score(self, outputs: Tensor, problems: Problems) -> Tensor:
        noise = (problems.sequences()[:, 0] - problems.target.to(outputs)).square()
        return 1 - self.loss(outputs, problems) / noise.flatten(1).mean(1)

    def chance(self, regime: str) -> float:
        return 0.0

    def oracle(self, problems: Problems) -> Tensor:
        return problems.target


@final
class Smoothing(nn.Module):
    """One convolution; images of any size will do."""

    def __init__(self) -> None:
        super().__init__()
        self.kernel = nn.Parameter(torch.zeros(1, 1, 3, 3))

    def forward(self, items: Tensor, index: Tensor) -> Tensor:
        x = F.embedding(index[:, 0], items.flatten(1)).unflatten(1, items.shape[1:])
        return x + F.conv2d(x[:, None], self.kernel, padding=1)[:, 0]


@final
@dataclass(frozen=True, kw_only=True)
class Smoother:
    def build(self, task: object, stream: Stream) -> nn.Module:
        return Smoothing()


RESTORING = Experiment(
    task=Restoring(), model=Smoother(), recipe=Recipe(steps=4, batch_size=8, evaluations=2)
)


def test_items_of_several_sizes_are_scored_each_in_its_own() -> None:
    task, network = Restoring(), Smoothing()
    nn.init.normal_(network.kernel, std=0.1, generator=torch.Generator().manual_seed(0))
    problems = task.draw(stream(3, "problems"))["sizes"]
    expected = []
    for row in range(len(problems)):
        noisy, clean = problems.items.tensors[row], problems.target.tensors[row]
        kernel = network.kernel.detach()
        answer = noisy + F.conv2d(noisy[None, None], kernel, padding=1)[0, 0]
        error = float((answer - clean).square().mean())
        expected.append(1 - error / float((noisy - clean).square().mean()))
    assert evaluate(network, task, seed=3)["sizes"] == pytest.approx(np.mean(expected), rel=1e-5)


def test_problems_of_several_sizes_come_apart_and_keep_their_rows() -> None:
    problems = Restoring().draw(stream(0))["sizes"]
    groups = problems.by_shape()
    assert [tuple(part.items.shape[1:]) for _, part in groups] == [(4, 6), (5, 3)]
    assert sorted(torch.cat([rows for rows, _ in groups]).tolist()) == list(range(24))
    for rows, part in groups:
        for row, answer, item in zip(
            rows.tolist(), part.target, part.sequences()[:, 0], strict=True
        ):
            assert torch.equal(answer, problems.target.tensors[row])
            assert torch.equal(item, problems.items.tensors[row])
    some = problems[torch.tensor([1, 2])].to("cpu", torch.float64).compact()
    assert some.items.shapes == ((5, 3), (4, 6))
    assert some.items.tensors[0].dtype == torch.float64
    with pytest.raises(ValueError, match=r"of one shape .*got \(4, 6\) and \(5, 3\); .*by_shape"):
        problems.table()
    with pytest.raises(ValueError, match="tensors must be one or more of one type, got none"):
        RaggedItems([])
    whole = Restoring().draw(stream(0))[TRAINING]
    ((rows, same),) = whole.by_shape()
    assert same is whole
    assert rows.tolist() == list(range(24))


@pytest.mark.parametrize("make", [lambda e: OneNetwork(e, 0), lambda e: Stack(e, (0, 1))])
def test_items_of_several_sizes_are_scored_in_training(make) -> None:
    (scores, *_), _ = train(make(RESTORING), RESTORING)
    last = {(s.regime, s.metric): s for s in scores if s.step == 4}
    assert last["sizes", "restored"].count == 24
    assert math.isfinite(last["sizes", "restored"].value)


@final
@dataclass(frozen=True, kw_only=True)
class Words:
    """The next of four symbols after one; perplexity is a score of the whole set."""

    name: ClassVar[str] = "words"
    version: ClassVar[int] = 1
    item_shape, length, num_outputs, segments = (4,), 1, 4, ((0,),)
    regimes = (Regime(name=TRAINING, distance=0, unit="symbols"),)

    def draw(self, stream: Stream) -> dict[str, Problems]:
        return {TRAINING: self.sample(TRAINING, 700, stream.numpy())}

    def sample(self, regime: str, n: int, generator: np.random.Generator) -> Problems:
        seen = torch.from_numpy(generator.integers(0, 4, n))
        return Problems(items=torch.eye(4), index=seen[:, None], target=(seen + 1) % 4)

    def loss(self, outputs: Tensor, problems: Problems) -> Tensor:
        return F.cross_entropy(outputs, problems.target, reduction="none")

    def score(self, outputs: Tensor, problems: Problems) -> Tensor:
        return (outputs.argmax(1) == problems.target).float()

    def set_scores(self, outputs: Tensor, problems: Problems) -> dict[str, float]:
        perplexity = float(self.loss(outputs, problems).double().mean().exp())
        return {"perplexity": perplexity, "answers": float(outputs.argmax(1).unique().numel())}

    def chance(self, regime: str) -> float:
        return 0.25

    def oracle(self, problems: Problems) -> Tensor:
        return 100 * F.one_hot(problems.target, 4).float()


@final
class Table(nn.Module):
    """A row of scores for each symbol."""

    def __init__(self) -> None:
        super().__init__()
        self.rows = nn.Parameter(torch.eye(4).roll(1, 1))

    def forward(self, items: Tensor, index: Tensor) -> Tensor:
        return F.embedding(index[:, 0], items) @ self.rows


@final
@dataclass(frozen=True, kw_only=True)
class Lookup:
    def build(self, task: object, stream: Stream) -> nn.Module:
        return Table()


def test_scores_of_whole_sets_stand_beside_means_over_problems() -> None:
    experiment = Experiment(task=Words(), model=Lookup(), recipe=Recipe(steps=1))
    assert isinstance(experiment.task, SetScores)
    found = {score.metric: score for score in OneNetwork(experiment, 0).score(0)[0]}
    # Every answer has score 1 where it is right and 0 elsewhere.
    assert found["perplexity"].value == pytest.approx((math.e + 3) / math.e, rel=1e-6)
    assert found["answers"].value == 4
    assert found["perplexity"].count == 700
    assert found["accuracy"].value == 1.0


@final
@dataclass(frozen=True, kw_only=True)
class Mirrored:
    """Images turned left to right, a fraction of them."""

    of: str = "withheld-95"
    lost: int = 0

    @property
    def regime(self) -> Regime:
        return Regime(name=f"mirrored-{self.of}", distance=1, unit="turns")

    def __call__(self, model, problems, loss, stream: Stream) -> Problems:
        own = problems.unshared()
        turned = torch.rand(len(own.items), generator=stream.torch()) < 0.5
        items = torch.where(turned[:, None, None], own.table().flip(-1), own.table())
        return dataclasses.replace(own, items=items)[: len(own) - self.lost]


PERTURBED = dataclasses.replace(
    small_experiment(steps=4, reasoner=SMALL_LSTM),
    perturbations=(
        FGSM(eps=0.01, of=TRAINING, bounds=(0.0, 1.0)),
        FGSM(eps=0.3, of=TRAINING, bounds=(0.0, 1.0)),
        Mirrored(of=TRAINING),
    ),
)


def test_an_attack_moves_every_number_by_its_strength_where_the_loss_grows() -> None:
    experiment = PERTURBED
    learner = OneNetwork(experiment, 0, dtype=torch.float64)
    task = experiment.task
    problems = task.draw(stream(0, "problems"))[TRAINING][:3].to("cpu", torch.float64)
    attacked = FGSM(eps=1e-4, of=TRAINING)(learner.model, problems, task.loss, stream(0))
    before, after = problems.sequences(), attacked.sequences()
    moved = (after - before).abs()
    assert torch.all((moved < 1e-12) | ((moved - 1e-4).abs() < 1e-12))
    assert (moved > 0).any()
    assert torch.equal(attacked.target, problems.target)

    def loss_at(sequence: Tensor) -> Tensor:
        items = sequence.flatten(0, 1)
        index = torch.arange(len(items)).reshape(sequence.shape[:2])
        with torch.no_grad():
            return task.loss(learner.model(items, index), problems)

    assert torch.all(loss_at(after) > loss_at(before))
    row, position = 1, 0
    step = torch.zeros_like(before)
    pixel = (moved[row, position] > 0).nonzero()[0].tolist()
    step[row, position, pixel[0], pixel[1]] = 1e-6
    slope = float((loss_at(before + step) - loss_at(before - step))[row])
    shift = float((after - before)[row, position, pixel[0], pixel[1]])
    assert math.copysign(1, slope) == math.copysign(1, shift)


def test_an_attack_stays_within_its_bounds_and_takes_bytes_for_fractions() -> None:
    def model(items: Tensor, index: Tensor) -> Tensor:
        return items[index[:, 0]].flatten(1).sum(1)

    problems = Problems(
        items=torch.tensor([[0, 255], [128, 3]], dtype=torch.uint8),
        index=torch.tensor([[0], [1]]),
        target=torch.tensor([0.0, 0.0]),
    )
    attacked = FGSM(eps=0.1, of=TRAINING)(model, problems, lambda outputs, _: outputs, stream(0))
    expected = torch.tensor([[0.1, 1.0], [128 / 255 + 0.1, 3 / 255 + 0.1]])
    torch.testing.assert_close(attacked.items, expected)


@pytest.mark.parametrize("make", [lambda e: OneNetwork(e, 0), lambda e: Stack(e, (0, 1))])
def test_networks_are_scored_in_perturbed_regimes(make) -> None:
    learner = make(PERTURBED)
    (scores, *_), _ = train(learner, PERTURBED)
    last = {s.regime: s for s in scores if s.step == 4 and s.metric == "loss"}
    names = [regime.name for regime in PERTURBED.regimes]
    assert set(last) == set(names)
    weak, strong, mirrored = (last[change.regime.name] for change in PERTURBED.perturbations)
    plain = last[TRAINING]
    assert plain.value < weak.value < strong.value
    assert mirrored.value != plain.value
    assert {weak.count, strong.count, mirrored.count} == {plain.count}


def test_perturbed_regimes_change_no_other_score_and_are_the_same_again() -> None:
    plain = dataclasses.replace(PERTURBED, perturbations=())
    (with_them,), _ = train(OneNetwork(PERTURBED, 0), PERTURBED)
    (again,), _ = train(OneNetwork(PERTURBED, 0), PERTURBED)
    (without,), _ = train(OneNetwork(plain, 0), plain)
    assert with_them == again
    named = {regime.name for regime in plain.regimes}
    assert [score for score in with_them if score.regime in named] == without
    assert PERTURBED.key != plain.key
    assert "perturbations" not in plain.to_json()


def test_a_profile_goes_on_with_the_strength_of_the_attack(tmp_path) -> None:
    store, jobs = Store(tmp_path / "records"), jobs_of([PERTURBED], range(2))
    run(jobs, store, Here())
    profile = extrapolation_profile(PERTURBED.task, results(jobs, store), PERTURBED.perturbations)
    assert [point.regime for point in profile.points] == [r.name for r in PERTURBED.regimes]
    assert [point.distance for point in profile.points[-3:]] == [0.01, 0.3, 1]
    assert "0.3 ε" in str(profile)
    assert profile.points[-1].floor == PERTURBED.task.chance(TRAINING)


def test_experiments_with_attacks_are_restored_from_their_description() -> None:
    attacks = dataclasses.replace(PERTURBED, perturbations=PERTURBED.perturbations[:2])
    assert Experiment.from_json(attacks.to_json()) == attacks
    assert attacks.chance("fgsm-0.3-training") == attacks.task.chance(TRAINING)


@pytest.mark.parametrize(
    "changes, message",
    [
        (
            (FGSM(eps=0.1, of="tset"),),
            r"must change regimes of the task .*, got 'tset'",
        ),
        (
            (FGSM(eps=0.1, of=TRAINING),) * 2,
            "must make regimes of other names, got 'fgsm-",
        ),
        ((3,), r"perturbations\[0\] must be a Perturbation, got 3"),
    ],
)
def test_what_is_no_perturbation_is_refused(changes, message: str, unchecked) -> None:
    with pytest.raises(ValueError, match=message):
        dataclasses.replace(PERTURBED, perturbations=changes)


def test_a_perturbation_that_loses_problems_is_refused() -> None:
    losing = dataclasses.replace(PERTURBED, perturbations=(Mirrored(of=TRAINING, lost=1),))
    with pytest.raises(ValueError, match=r"as many problems as they take \(\d+\), got \d+ from"):
        OneNetwork(losing, 0).score(0)


def test_sets_with_tables_of_their_own_are_joined() -> None:
    task = Words()
    first, second = (task.sample(TRAINING, n, np.random.default_rng(n)).unshared() for n in (3, 2))
    both = joined([first, second])
    assert torch.equal(both.sequences(), torch.cat([first.sequences(), second.sequences()]))
    assert torch.equal(both.target, torch.cat([first.target, second.target]))


@pytest.mark.thorough
def test_digits_are_attacked_at_growing_strength(data_folder) -> None:
    """The profile over ε: a network that has learned something loses it as ε grows."""
    task = Digits(data_sets=("mnist",), training_images=300, test_images=60)
    if not task.is_at_hand():
        pytest.skip("the files of MNIST are not in the data folder")
    attacks = tuple(FGSM(eps=eps, of=VALIDATION) for eps in (0.02, 0.1, 0.3))
    experiment = Experiment(
        task=task,
        model=SetNetwork(
            core=Spec(PreNormTransformer, num_layers=1, num_heads=2),
            encoder=Spec(PatchEncoder, out_features=16),
        ),
        recipe=Recipe(steps=60, batch_size=32, learning_rate=3e-3),
        perturbations=attacks,
    )
    (scores,), _ = train(OneNetwork(experiment, 0), experiment)
    last = {s.regime: s.value for s in scores if s.step == 60 and s.metric == "loss"}
    losses = [last[VALIDATION], *(last[attack.regime.name] for attack in attacks)]
    assert losses == sorted(losses)
    assert losses[-1] > losses[0] + 0.1
