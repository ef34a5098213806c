"""Rules by hand: what they answer, from items alone."""

from __future__ import annotations

from typing import get_args

import numpy as np
import pytest
import torch
from torch import Tensor

from farfield.core import Problems, stream
from farfield.experiments import ByHand
from farfield.tasks import (
    Adding,
    AllSame,
    CanvasRules,
    ChomskyHierarchy,
    Copying,
    DistributionOfN,
    FuzzyBoolean,
    IdentityRulesMiddle,
    ProgressiveMatrices,
    RelationalMatchToSample,
    SameDifferent,
    SetAlgorithms,
    SortOfCLEVR,
    SymbolSequences,
    SyntheticVisualReasoning,
    TintedSameDifferent,
    TripleMatchToSample,
    TwoMoons,
    VAECScale,
    VAECTranslation,
)
from farfield.tasks._protocol._answers import interpolate, nearest_class
from farfield.tasks._rules._canvas_rules import Rule
from farfield.tasks.internal import AnswersByHand

EXACT = [
    SameDifferent(withheld=98),
    RelationalMatchToSample(withheld=95),
    DistributionOfN(row_length=4, withheld=79, max_problems=50),
    IdentityRulesMiddle(withheld=96, max_problems=50),
    TintedSameDifferent(withheld=98),
    AllSame(num_images=3, withheld=98, max_problems=50),
    TripleMatchToSample(withheld=94, max_problems=50),
    *(CanvasRules(rule=rule, withheld=50, max_problems=40) for rule in get_args(Rule)),
    SyntheticVisualReasoning(problem=17, training_problems=4, test_problems=20),
    Copying(test_dormant=(90,), test_sequences=(4,), training_sequences=4),
    Adding(test_lengths=(70,), training_sequences=4, validation_sequences=4, test_sequences=4),
    SymbolSequences(rule="copying", training_sequences=4, test_lengths=(70,)),
    ChomskyHierarchy(
        rule="reverse-string", training_strings=4, test_lengths=((60, 70),), test_strings=(9,)
    ),
    SetAlgorithms(algorithm="shortest-path", training_strings=4, test_strings=(4, 4)),
    SortOfCLEVR(withheld_pairs=3, training_images=5, test_images=20),
    VAECTranslation(problems_per_regime=6, textured=True),
    VAECScale(problems_per_regime=6),
]


def answered(task: AnswersByHand, problems: Problems, seed: int = 0) -> Tensor:
    """Outputs of the module that stands in place of a network."""
    some = problems.compact()
    return ByHand().build(task, stream(seed, "weights"))(some.table(), some.index)


@pytest.mark.parametrize("task", EXACT, ids=lambda task: task.name)
def test_rules_that_are_right(task: AnswersByHand) -> None:
    problems = task.draw(stream(0, "problems"))[task.regimes[-1].name][:50]
    score = task.score(answered(task, problems), problems)
    assert score.mean() == (0 if isinstance(task, Adding) else 1)


def test_a_rule_sees_no_target() -> None:
    task = SameDifferent(withheld=98)
    shown: list[Problems] = []

    class Spy:
        """A task that keeps what it is asked."""

        def draw(self, run: object) -> dict[str, Problems]:
            return task.draw(stream(7, "problems"))

        def by_hand(self, problems: Problems, training: Problems) -> Tensor:
            shown.extend((problems, training))
            return torch.zeros(len(problems), 1)

    problems = task.draw(stream(7, "problems"))["training"]
    answered(Spy(), problems)  # type: ignore[arg-type]
    assert shown[0].target.numel() == 0
    assert not shown[0].latent
    assert torch.equal(shown[1].target, problems.target)


def test_training_problems_are_those_of_the_run() -> None:
    task = TwoMoons()
    sets = task.draw(stream(3, "problems"))
    assert task.score(answered(task, sets["training"], 3), sets["training"]).all()


def test_the_nearest_point_with_a_label() -> None:
    task = TwoMoons(labels_per_class=2, test_points=30)
    sets = task.draw(stream(0, "problems"))
    known, test = sets["training"], sets["test"]
    found = answered(task, test)
    for row, at in enumerate(test.index[:, 0]):
        for moon in (0, 1):
            far = [
                np.linalg.norm((test.items[at] - known.items[k]).double().numpy())
                for k, label in zip(known.index[:, 0], known.target, strict=True)
                if label == moon
            ]
            assert float(found[row, moon]) == pytest.approx(-min(far), rel=1e-4)


def test_the_nearest_mean_of_a_class() -> None:
    known = torch.tensor([[0.0, 0.0], [2.0, 0.0], [9.0, 9.0]])
    found = nearest_class(torch.tensor([[4.0, 4.0]]), known, torch.tensor([0, 0, 1]), 2)
    assert found.tolist() == [pytest.approx([-5.0, -(50**0.5)])]


def test_values_of_a_plane_are_exact() -> None:
    generator = np.random.default_rng(0)
    known, points = generator.random((60, 3)), generator.random((5, 3))
    weights = np.array([[1.0, -2.0], [0.5, 3.0], [2.0, 0.0]])
    found = interpolate(points, known, known @ weights + 1)
    np.testing.assert_allclose(found, points @ weights + 1, rtol=1e-9)


def test_fuzzy_functions_between_their_training_points() -> None:
    task = FuzzyBoolean(variables=2, functions=3, training_points=2_000, validation_points=200)
    problems = task.draw(stream(1, "problems"))["new-points"]
    assert task.score(answered(task, problems, 1), problems).mean() > 0.999


def test_ink_continues_a_row() -> None:
    task = ProgressiveMatrices(most_triples=1)
    ink = torch.tensor([1, 2, 4, 2, 3, 4, 1, 2.0, 3.4, 3.6, 9, 9, 9, 9, 9, 9])
    panels = Problems(
        items=-ink[:, None, None].expand(-1, 2, 2),
        index=torch.arange(16)[None],
        target=torch.zeros(1, 0),
    )
    found = task.by_hand(panels, panels)[0, :3]
    torch.testing.assert_close(found, torch.tensor([-0.1, -0.1, -5.5]))
