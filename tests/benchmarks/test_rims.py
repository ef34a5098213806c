"""The page on RIMs is made from its JSON, and both sides of it compute the same."""

import json

import pytest
import torch
from benchmarks.straightforward_rims import DirectRIMs

from benchmarks import _rims_report, rims
from farfield.nn import GRULayer, InputAttention, RIMs, Wiring

LINES = [
    {"name": _rims_report.LSTM, "flops": 2e9, "seconds": [0.1, 0.2, 1.0]},
    {"name": _rims_report.DIRECT, "flops": 9e9, "seconds": [1.2, 2.4, 9.0]},
    {"name": _rims_report.OURS, "flops": 3e9, "seconds": [0.15, 0.4, 1.5]},
]


def test_row_holds_the_medians_of_the_rounds_ratios():
    row = dict(zip(_rims_report.COLUMNS[:4], _rims_report.cells(LINES[2], LINES)[:4], strict=True))
    assert row == {
        "layer": _rims_report.OURS,
        "GFLOP": "3.0",
        "ms": "400",
        "times nn.LSTM": "1.50",
    }
    assert _rims_report.cells(LINES[2], LINES)[4:] == (
        *("1.50–2.00", "6.00", "6.00–8.00"),
        *("≤ 1.8, ≥ 5", "yes"),
    )


@pytest.mark.parametrize("name, factor", [(_rims_report.LSTM, 0.5), (_rims_report.DIRECT, 0.5)])
def test_both_targets_count(name, factor):
    lines = [
        {**line, "seconds": [factor * s for s in line["seconds"]]} if line["name"] == name else line
        for line in LINES
    ]
    assert _rims_report.cells(lines[2], lines)[-1] == "no"


def test_every_contender_can_be_made():
    made = rims.layers()
    assert {_rims_report.LSTM, _rims_report.DIRECT, _rims_report.OURS} <= made.keys()


def test_every_contender_is_measured_in_every_round():
    few = "few" + rims.BY_NUMBER
    contenders = {"small": torch.nn.LSTM(4, 4), few: GRULayer(4, 4)}
    lines = rims.measure(contenders, (20, 3, 4), rounds=3)
    assert [line["name"] for line in lines] == ["small", few]
    assert all(len(line["seconds"]) == 3 and line["flops"] > 0 for line in lines)


def test_the_transcription_computes_what_the_library_does():
    direct = DirectRIMs(5, 24, mechanisms=3, active=2).double()
    wiring = Wiring(input_attention=InputAttention(bias=False))
    layer = RIMs(5, 24, num_mechanisms=3, num_active=2, wiring=wiring).double()
    own = layer.layers[0]
    direct.separate()

    def blocks(weight: torch.Tensor) -> torch.Tensor:
        split = weight.reshape(4, 3, 8, 3, -1)
        return torch.stack([split[:, m, :, m].flatten(0, 1) for m in range(3)])

    def heads(weight: torch.Tensor) -> torch.Tensor:
        return weight.transpose(1, 2).unflatten(1, (4, -1))

    with torch.no_grad():
        for kind in ("ih", "hh"):
            getattr(own, f"weight_{kind}").copy_(blocks(getattr(direct.cell, f"weight_{kind}")))
            bias = getattr(direct.cell, f"bias_{kind}").reshape(4, 3, 8).transpose(0, 1)
            getattr(own, f"bias_{kind}").copy_(bias.flatten(1))
        own.input_attention.query.copy_(direct.query.transpose(1, 2).unsqueeze(1))
        own.input_attention.key.copy_(direct.key.weight.unsqueeze(0))
        own.input_attention.value.copy_(direct.value.weight.unsqueeze(0))
        for name in ("query", "key", "value"):
            own.communication[name].copy_(heads(getattr(direct, f"told_{name}")))
    generator = torch.Generator().manual_seed(0)
    x = torch.randn(5, 4, 5, dtype=torch.float64, generator=generator)
    # At the first step all tie, and the transcription takes whom `topk` takes.
    begun = torch.randn(2, 4, 24, dtype=torch.float64, generator=generator)
    hidden, cell = begun
    for step, (expected,) in zip(x, layer(x, tuple(begun.unsqueeze(1)))[0].split(1), strict=True):
        hidden, cell = direct.step(step, hidden, cell)
        torch.testing.assert_close(hidden, expected, rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("path", sorted(rims.RESULTS.glob("*.json")), ids=lambda path: path.stem)
def test_every_page_is_made_from_its_json(path):
    results = json.loads(path.read_text(encoding="utf-8"))
    page = path.with_suffix(".md").read_text(encoding="utf-8")
    assert page == _rims_report.markdown(results)
