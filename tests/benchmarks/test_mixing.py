"""Steps of mixtures that are measured, their direct versions, and the page made from them."""

from __future__ import annotations

import json

import pytest
import torch
from torch import Tensor

from benchmarks import _mixing_report as report
from benchmarks import mixing
from benchmarks import straightforward_mixing as direct
from farfield.core import Problems, stream
from farfield.core.internal import TRAINING
from farfield.objectives import ICT, Bound, ManifoldMixup, Update
from farfield.objectives._consistency import ramp_up

SIZE = 6


def images(name: str) -> Problems:
    return mixing.Images().sample(TRAINING, SIZE, stream(0, name).numpy())


def update_of(model: mixing.Classifier, draws: dict[str, Tensor], **others) -> Update:
    return Update(
        network=Bound(module=model),
        batches={TRAINING: images("labelled"), "unlabelled": images("others")},
        task_loss=mixing.Images().loss,
        draws=draws,
        **others,
    )


def drawing(monkeypatch: pytest.MonkeyPatch, *pairs: tuple[float, Tensor]) -> None:
    """Let direct versions draw these pairs, one after the other."""
    left = iter(pairs)
    monkeypatch.setattr(direct, "draw", lambda size, alpha: next(left))


@pytest.mark.parametrize("at", [0, 1, 2])
def test_direct_mixtures_have_the_loss_of_the_library(
    monkeypatch: pytest.MonkeyPatch, at: int
) -> None:
    model, batch = mixing.Classifier(), images("labelled")
    rule = ManifoldMixup(layers=mixing.LAYERS)
    draws = {**rule.draw({TRAINING: batch}, stream(1)), "layer": torch.tensor(at)}
    drawing(monkeypatch, (float(draws["weight"]), draws["partner"]))
    found = direct.mixed_loss(model.core, batch.items, batch.target, at=at, alpha=2.0)
    torch.testing.assert_close(found, rule.loss(update_of(model, draws))[0], rtol=1e-5, atol=0)


@pytest.mark.parametrize("logs", [False, True])
def test_direct_consistency_trains_as_the_library(
    monkeypatch: pytest.MonkeyPatch, logs: bool
) -> None:
    model, batch, others = mixing.Classifier(), images("labelled"), images("others").items
    rule = ICT(consistency="unlabelled", warmup=True, mixes_logits=True)
    sets = update_of(model, {}).batches
    state = rule.start(Bound(module=model), sets, stream(0))
    consistency = direct.Consistency(model.core, logs=logs)
    for step in range(3):
        draws = rule.draw(sets, stream(step))
        pairs = [
            (float(draws[f"{of}.weight"]), draws[f"{of}.partner"])
            for of in ("supervised", "consistency")
        ]
        drawing(monkeypatch, *pairs)
        found = consistency.loss(batch.items, batch.target, others, progress=0.1)
        expected, state = rule.loss(update_of(model, dict(draws), state=state, progress=0.1))
        torch.testing.assert_close(found, expected, rtol=1e-4, atol=0)
        with torch.no_grad():
            for parameter in model.parameters():
                parameter.mul_(0.9)
        consistency.after()
        state = rule.after(state, dict(model.named_parameters()), 0.1)
    for name, tensor in consistency.teacher.state_dict().items():
        torch.testing.assert_close(tensor, state[f"core.{name}"], rtol=1e-4, atol=1e-6)


def test_weights_of_the_direct_loss_grow_as_the_librarys(monkeypatch: pytest.MonkeyPatch) -> None:
    model, batch, others = mixing.Classifier(), images("labelled"), images("others").items
    partner = torch.arange(SIZE).roll(1)
    losses = []
    for progress in (0.0, 0.1, 0.9):
        drawing(monkeypatch, (0.3, partner), (0.4, partner))
        consistency = direct.Consistency(model.core, logs=False)
        losses.append(consistency.loss(batch.items, batch.target, others, progress=progress))
    first, second = losses[1] - losses[0], losses[2] - losses[0]
    least, some = ramp_up(0.0, 0.25), ramp_up(0.1, 0.25)
    expected = torch.tensor((some - least) / (1 - least))
    torch.testing.assert_close(first / second, expected, rtol=1e-2, atol=0)


def test_every_contender_makes_a_step(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(mixing, "WARM_UP", 0)
    monkeypatch.setattr(mixing, "BATCH", 4)
    monkeypatch.setattr(mixing, "LABELLED", 8)
    monkeypatch.setattr(mixing, "UNLABELLED", 8)
    lines = mixing.measure(mixing.image_steps(), 1)
    assert [line["name"] for line in lines if report.DIRECT not in line["name"]] == [
        report.PLAIN,
        report.INPUT,
        report.MANIFOLD,
        report.TWICE,
        report.ICT,
    ]
    assert all(len(line["seconds"]) == 1 for line in lines)
    assert mixing.relational_steps().keys() >= report.TARGETS.keys()


def lines() -> list[dict[str, object]]:
    times = {
        report.PLAIN: [0.1, 0.2],
        report.MANIFOLD: [0.1, 0.22],
        report.TWICE: [0.2, 0.4],
        report.ICT: [0.4, 0.6],
        report.PLAIN + report.DIRECT: [0.2, 0.2],
        report.TWICE + report.DIRECT: [0.4, 0.4],
        report.ICT + report.DIRECT: [0.5, 0.5],
    }
    return [{"name": name, "seconds": seconds} for name, seconds in times.items()]


def test_rows_hold_medians_of_ratios() -> None:
    rows = {line["name"]: report.cells(line, lines()) for line in lines()}
    assert rows[report.PLAIN][1:5] == ("150.0", "1.00", "1.00–1.00", "–")
    assert rows[report.MANIFOLD][2:6] == ("1.05", "1.00–1.10", "≤ 1.05", "yes")
    assert rows[report.ICT][2:] == (
        *("1.75", "1.50–2.00", "≤ 1.5", "no"),
        *("1.00", "0.80–1.20"),
    )
    assert rows[report.ICT + report.DIRECT][2:6] == ("1.25", "1.25–1.25", "–", "–")


def test_the_page_is_made_from_the_results_alone() -> None:
    results = {
        "environment": {"processor": "some processor"},
        "settings": {"rounds": 2, "batch": 100, "side": 32, "beside": "Others trained networks."},
        "images": lines(),
        "relational": lines(),
    }
    page = report.markdown(json.loads(json.dumps(results)))
    assert "## 100 images of 32×32 in color" in page
    assert "Others trained networks." in page
    assert page.count("| manifold mixup | 160.0 | 1.05 | 1.00–1.10 | ≤ 1.05 | yes | – | – |") == 2
