"""Tasks of several training domains, and their copies without one."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import torch

from farfield.core import stream
from farfield.tasks import ArrayTask, DigitDomains, VAECScale, VAECTranslation

REGIONS = VAECTranslation(
    train_on=2, also_train_on=(4, 1), problems_per_regime=60, validation_problems=30
)


def test_regions_are_domains_with_equally_many_problems() -> None:
    assert REGIONS.domains == ("region-2", "region-4", "region-1")
    assert [regime.name for regime in REGIONS.regimes] == [
        *("training", "validation", "region-3", "region-5", "region-6"),
    ]
    sets = REGIONS.draw(stream(0))
    for name in ("training", "validation"):
        of = sets[name].latent["domain"]
        assert set(of.tolist()) == {0, 1, 2}
        assert of.bincount().max() - of.bincount().min() <= 1
    assert "domain" not in sets["region-5"].latent


def test_the_problems_of_a_domain_are_in_its_region() -> None:
    training = REGIONS.draw(stream(0))["training"]
    levels = training.items.latent[training.index]
    for number, region in enumerate((2, 4, 1)):
        own = levels[training.latent["domain"] == number].flatten(0, 1)
        assert own.min() >= 7 * (region - 1)
        assert own.max() < 7 * region


def test_a_region_that_is_left_out_is_a_test() -> None:
    without = REGIONS.leaving_out("region-2")
    assert without.domains == ("region-4", "region-1")
    assert "region-2" in {regime.name for regime in without.regimes}
    alone = without.leaving_out("region-1")
    assert alone.domains == ()
    assert (alone.train_on, alone.also_train_on) == (4, ())
    for task, name in ((REGIONS, "region-3"), (alone, "region-4"), (VAECScale(), "scale-1")):
        with pytest.raises(ValueError, match="unknown one of several training domains"):
            task.leaving_out(name)


@pytest.mark.parametrize("kind", ["colored", "rotated"])
def test_digits_of_a_domain_that_is_left_out_are_the_test(kind: str, data_folder: Path) -> None:
    task = DigitDomains(kind=kind, images=600)
    domain = task.domains[0]
    without = task.leaving_out(domain)
    assert without.domains == task.domains[1:]
    whole, part = task.draw(stream(1)), without.draw(stream(1))
    seen = set(part["training"].latent["image"].tolist())
    test = part[domain].latent["image"]
    assert not seen & set(test.tolist())
    # The withheld test stays unseen: its digits are in no set of the copy.
    assert not {*whole[task.regimes[2].name].latent["image"].tolist()} & (seen | {*test.tolist()})
    own = whole["training"].latent["domain"] == 0
    assert torch.equal(whole["training"].latent["image"][own], test)
    with pytest.raises(ValueError, match="unknown training domain"):
        task.leaving_out(task.regimes[2].name)


def test_arrays_of_a_domain_that_is_left_out_are_the_only_test() -> None:
    numbers = np.random.default_rng(0)
    sets = {
        name: (numbers.normal(size=(count, 2)).astype(np.float32), np.arange(count) % 2)
        for name, count in {"a": 40, "b": 30, "c": 20, "far": 10}.items()
    }
    task = ArrayTask(sets, training=("a", "b", "c"), distances={"far": 1})
    without = task.leaving_out("b")
    assert without.domains == ("a", "c")
    drawn = without.draw(stream(0))
    assert {*drawn} == {"training", "validation", "b"}
    np.testing.assert_array_equal(drawn["b"].items[drawn["b"].index[:, 0]], sets["b"][0])
    with pytest.raises(ValueError, match="unknown one of several training domains 'far'"):
        task.leaving_out("far")
