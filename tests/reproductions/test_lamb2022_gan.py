"""GANs of chapter 10 of lamb2022 as claims: the printed numbers, and what tests them."""

from __future__ import annotations

from pathlib import Path

import pytest

from farfield.core import stream
from farfield.experiments import Adam
from farfield.reports import FIGURES
from farfield.reproductions import TABLES


def claims(key: str):
    return TABLES[f"lamb2022/{key}"].claims


def test_every_cell_is_a_claim_that_waits_for_the_weights_of_inception() -> None:
    for claim in (*claims("nfm-table-4"), *claims("nfm-gan-text")):
        assert claim.unbuilt
        assert "the weights of Inception v3" in claim.data


def test_recipes_are_those_of_the_code_that_the_text_names() -> None:
    for claim in (*claims("nfm-table-4"), *claims("nfm-gan-text")):
        recipe = claim.experiment.recipe
        assert (recipe.steps, recipe.batch_size, recipe.learning_rate) == (100_000, 64, 2e-4)
        assert recipe.optimizer == Adam(betas=(0.0, 0.9))
        assert recipe.rate(75_000) == pytest.approx(5e-5)
        first, second = claim.experiment.players
        assert (first.repeats, second.repeats) == (5, 1)


@pytest.mark.parametrize("key", ["nfm-table-4", "nfm-gan-narrow"])
def test_rows_differ_in_the_terms_of_their_methods(key: str) -> None:
    weights = {}
    for claim in claims(key):
        both = [player.objective for player in claim.experiment.players]
        weights[claim.row] = [(rule.info_max, rule.rotation) for rule in both]
    assert weights.pop("SNGAN") == [(0.0, 0.0)] * 2
    assert weights.pop("SSGAN") == [(0.0, 1.0), (0.0, 0.2)]
    assert set(map(tuple, weights.values())) == {((0.2, 0.0),) * 2}


def test_function_modules_are_in_the_generator_alone() -> None:
    rows = {claim.row: claim.experiment.model for claim in claims("nfm-table-4")}
    plain, ours = rows["InfoMax-GAN"], rows["NFM(InfoMax-GAN)"]
    assert plain.discriminator == ours.discriminator
    assert dict(plain.generator.options) == {}
    (rules,) = dict(ours.generator.options).values()
    assert (rules.num_heads, rules.key_size, rules.value_size) == (4, 32, 32)


def test_narrow_networks_are_judged_by_classifiers_trained_before(data_folder: Path) -> None:
    narrow = claims("nfm-gan-narrow")
    assert {claim.metric for claim in narrow} == {
        "fid/mnist-preact-resnet",
        "is/mnist-preact-resnet",
    }
    sizes = {}
    for claim in narrow:
        experiment = claim.experiment
        if claim.row not in sizes:
            network = experiment.model.build(experiment.task, stream(0))
            sizes[claim.row] = sum(p.numel() for p in network.generator.parameters())
        first = experiment.starts_from
        assert first.into == "judge.network"
        assert first.experiment.model == experiment.model.judge.model
    # More numbers alone are no advantage of the modules over the wider generator.
    assert sizes["NFM(InfoMax-GAN)"] < sizes["InfoMax-GAN, wider"]


def test_samples_are_of_the_narrow_networks_over_training() -> None:
    shown = FIGURES["lamb2022/nfm-gan-samples"].table.claims
    whole = {claim.experiment.key for claim in claims("nfm-gan-narrow")}
    steps = [claim.experiment.recipe.steps for claim in shown]
    assert sorted(set(steps)) == [70, 210, 700]
    for claim in shown:
        assert (claim.experiment.key in whole) == (claim.experiment.recipe.steps == 700)
        assert claim.experiment.starts_from.experiment.recipe.steps == 600
