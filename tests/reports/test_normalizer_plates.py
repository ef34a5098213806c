"""Constants by layer, pairs of responses, scores by setting and activation curves."""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import pytest
from scipy.stats import spearmanr

from farfield.analysis.internal import dependence, map_responses, normalizer_scales
from farfield.core import Problems, Stream, stream
from farfield.execution import Here, run
from farfield.execution.internal import Job
from farfield.experiments import Experiment, ItemNetwork, Recipe, Spec
from farfield.models import BottleneckMLP, QuickCNN
from farfield.nn import MapNormalizer
from farfield.records import Store
from farfield.reports import Figure, Plate, Quote, illustrate, tabulate
from farfield.reports._exhibits._layers import activation_curves, constants_by_layer, response_pairs
from farfield.reports._exhibits._scores import scores_by_setting
from farfield.reports.internal import DARK, LIGHT, Exhibit
from farfield.reproductions import Claim, Table, Unpublished, VerdictRule
from farfield.tasks import TRAINING
from farfield.training import trained_network
from farfield.training.internal import problems_of_run
from plain import Plain

SEEDS = (0, 1)
FIRST = "core.convolutions.0"


@dataclass(frozen=True, kw_only=True)
class Halves(Plain):
    """Single images of noise: is the first pixel bright?"""

    name: ClassVar[str] = "halves"

    def draw(self, stream: Stream) -> dict[str, Problems]:
        problems = super().draw(stream)[TRAINING]
        bright = problems.sequences()[:, 0, 0, 0] > 0.5
        return {TRAINING: dataclasses.replace(problems, target=bright.long())}


def claim(row: str, sigma: float, *, column: str = "accuracy") -> Claim:
    normalizer = MapNormalizer(field="window", sigma=sigma, learned_sigma=True)
    return Claim(
        paper="ren2017",
        table="some",
        row=row,
        column=column,
        published=Unpublished(runs=2, selection="last", split="new", unit="percent"),
        experiment=Experiment(
            task=Halves(item_shape=(8, 8), length=1),
            model=ItemNetwork(core=Spec(QuickCNN, width=2, normalizer=normalizer)),
            recipe=Recipe(steps=3, batch_size=8),
        ),
        rule=VerdictRule(),
        metric="accuracy",
        regime=TRAINING,
        quick=1,
        subject="Halves",
        group=column.replace(" = ", "-"),
    )


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Store:
    """Finished runs of all tests of the file, each of which asks for those it needs."""
    return Store(tmp_path_factory.mktemp("normalizer") / "runs")


def plate_of(exhibit: Exhibit, store: Store, *claims: Claim) -> Plate:
    for own in claims:
        for seed in SEEDS:
            run([Job(experiment=own.experiment, seed=seed)], store, Here())
    figure = Figure(
        table=Table(key="ren2017/figure", title="A figure", claims=claims),
        exhibits=(exhibit,),
        says=(Quote(of="*", words="so the paper says"),),
    )
    report = tabulate(figure.table, lambda own: store.records(own.experiment.key))
    (plate,) = illustrate(figure, report, store)
    assert {finding.paper for finding in plate.findings} <= {"so the paper says"}
    return plate


def numbers(plate: Plate) -> dict[str, str]:
    return {finding.what: finding.ours for finding in plate.findings}


def looked_into(own: Claim, store: Store) -> list[tuple]:
    return [
        (
            trained_network(own.experiment, seed, store),
            problems_of_run(own.experiment.task, seed)[TRAINING],
        )
        for seed in SEEDS
    ]


def test_constants_are_those_of_the_trained_networks(store: Store) -> None:
    claims = claim("DN", 0.5), claim("DN*", 1.5)
    plate = plate_of(constants_by_layer(regime=TRAINING, problems=20), store, *claims)
    found, picture = numbers(plate), plate.draw(DARK)
    assert len(found) == 4
    for own, axes in zip(claims, picture.axes, strict=False):
        scales = [normalizer_scales(one, sets[:20]) for one, sets in looked_into(own, store)]
        constants = [[scale.sigma for scale in each] for each in scales]
        ratio = np.mean([each[-1] / max(each) for each in constants])
        assert found[f"{own.row}, accuracy: last σ over the largest"].startswith(f"{ratio:.2f}")
        trend = np.mean([spearmanr((0, 1, 2), each).statistic for each in constants])
        said = found[f"{own.row}, accuracy: rank correlation of σ with depth"].replace("−", "-")
        assert said.startswith(f"{trend:.2f}")
        dots = axes.collections[0].get_offsets()
        expected = [(scale.input_scale, scale.sigma) for scale in scales[0]]
        np.testing.assert_allclose(dots, expected)
    assert "a network of seed 0" in plate.caption


def test_dependence_is_that_of_the_first_layer(store: Store) -> None:
    claims = claim("BN", 0.5), claim("DN", 1.5)
    exhibit = response_pairs(layer=FIRST, regime=TRAINING, problems=20, samples=1_200)
    plate = plate_of(exhibit, store, *claims)
    found = numbers(plate)
    for own in claims:
        both = [
            dependence(
                map_responses(
                    network, sets[:20], FIRST, 1_200, stream(seed, "response pairs", "positions")
                )
            )
            for seed, (network, sets) in zip(SEEDS, looked_into(own, store), strict=True)
        ]
        for name, values in (
            ("Corr.", [one.correlation for one in both]),
            ("MI", [one.information for one in both]),
        ):
            assert found[f"{own.row}: {name}"].startswith(f"{np.mean(values):.2f}")
    for theme in (LIGHT, DARK):
        axes = plate.draw(theme).axes
        assert [one.get_title(loc="left") for one in axes[:2]] == ["BN", "DN"]
        assert [one.axison for one in axes] == [True, True, False, False]
        assert axes[0].get_xlabel().startswith("Corr. ")


def trained_for(steps: int, column: str) -> Claim:
    recipe = Recipe(steps=steps, batch_size=8, learning_rate=0.01)
    model = ItemNetwork(core=Spec(BottleneckMLP, hidden_sizes=(8,)))
    experiment = Experiment(task=Halves(item_shape=(8, 8), length=1), model=model, recipe=recipe)
    return dataclasses.replace(claim("DN", 1.0, column=column), experiment=experiment)


def test_the_best_setting_is_that_of_the_highest_mean(store: Store) -> None:
    claims = [trained_for(steps, f"σ = {0.01 * steps:g}") for steps in (200, 1, 50)]
    plate = plate_of(scores_by_setting(), store, *claims)
    means = {
        own.column: 100
        * np.mean(
            [record.final(TRAINING, "accuracy") for record in store.records(own.experiment.key)]
        )
        for own in claims
    }
    assert len(set(means.values())) > 1
    best = max(sorted(means, key=lambda name: float(name[4:])), key=means.__getitem__)
    gain = f"{means[best] - means['σ = 0.01']:+.1f}".replace("-", "−")
    assert numbers(plate)["Halves: σ, DN: best"].startswith(f"{best}, ")
    assert numbers(plate)["Halves: σ, DN: best"].endswith(gain.lstrip("+"))
    axes = plate.draw(LIGHT).axes[0]
    assert [label.get_text() for label in axes.get_xticklabels()] == ["0.01", "0.5", "2"]
    assert axes.get_xlabel() == "σ"


def test_curves_need_no_network() -> None:
    exhibit = activation_curves(sigmas=(0.5,), fixed=0.5, others=(0.0,), sigma=1.0)
    plate = exhibit.plate(None, None, None)
    left, right = plate.draw(LIGHT).axes
    for axes, other, sigma in ((left, 0.5, 0.5), (right, 0.0, 1.0)):
        x, y = axes.lines[1].get_data()
        v = (np.asarray(x) - other) / 2
        np.testing.assert_allclose(y, np.maximum(v / np.sqrt(sigma**2 + v**2), 0), atol=1e-12)


@pytest.mark.parametrize(
    "make, said",
    [
        (lambda: constants_by_layer(regime="test", problems=0), "problems must be"),
        (lambda: response_pairs(layer=FIRST, regime="test", samples=0), "samples must be"),
        (lambda: activation_curves(sigmas=(-1.0,)), r"sigmas\[0\] must be"),
    ],
)
def test_fields_out_of_range_are_refused(make, said: str) -> None:
    with pytest.raises(ValueError, match=said):
        make()


def test_nothing_is_shown_of_what_was_not_run(store: Store) -> None:
    table = Table(key="ren2017/figure", title="A figure", claims=(claim("DN", 0.5),))
    report = tabulate(table, lambda own: [])
    for exhibit in (
        constants_by_layer(regime=TRAINING),
        response_pairs(layer=FIRST, regime=TRAINING),
        scores_by_setting(),
    ):
        figure = Figure(table=table, exhibits=(exhibit,))
        assert illustrate(figure, report, store) == ()
