"""The page on Neural Interpreters is made from its JSON, and both sides compute the same."""

import json

import pytest
import torch
from benchmarks._held import most_bytes
from benchmarks.straightforward_interpreters import DirectInterpreter

from benchmarks import _interpreters_report, interpreters
from farfield.nn import Functions, NeuralInterpreter, Syntax, TypeMatching

LINES = [
    {
        "name": name,
        "parameters": 1000,
        "flops": 2e9,
        "bytes": size,
        "seconds": seconds,
    }
    for name, size, seconds in (
        (_interpreters_report.VIT, 2e6, [0.1, 0.2, 1.0]),
        (_interpreters_report.DIRECT, 9e6, [0.6, 0.9, 9.0]),
        (_interpreters_report.OURS, 3e6, [0.15, 0.25, 1.5]),
    )
]


def test_row_holds_the_medians_of_the_rounds_ratios():
    row = _interpreters_report.cells(LINES[2], LINES)
    assert dict(zip(_interpreters_report.COLUMNS, row, strict=False)) == {
        "core": _interpreters_report.OURS,
        "parameters": "1,000",
        "GFLOP": "2",
        "ms": "250",
        "MB": "3",
        "faster than the transcription": "4.00",
        "range": "1.25–1.50",
        "of its memory": "0.33",
        "times the Transformer": "1.50",
        "targets": "≥ 3, ≤ 1/3, ≤ 1.5",
        "met": "yes, yes, yes",
    }


@pytest.mark.parametrize("place, met", [(0, "yes, yes, no"), (1, "no, no, yes")])
def test_every_target_counts(place, met):
    lines = list(LINES)
    half = {"bytes": 0.5 * LINES[place]["bytes"]}
    lines[place] = LINES[place] | half | {"seconds": [0.5 * s for s in LINES[place]["seconds"]]}
    assert _interpreters_report.cells(lines[2], lines)[-1] == met


def test_every_contender_is_measured_in_every_round():
    core = NeuralInterpreter(8, 2, 1)
    (line,) = interpreters.measure({"small": (core, 8)}, items=3, batch=2, rounds=3)
    assert (line["name"], len(line["seconds"])) == ("small", 3)
    assert line["flops"] > 0
    assert line["bytes"] > 2 * 3 * 8 * 4


def test_memory_is_the_most_that_is_held_at_once():
    def work():
        first = torch.zeros(1000)
        second = first + 1
        del first
        return (second * 2).sum()

    assert most_bytes(work) == 2 * 4000 + 4


def test_the_transformer_has_as_many_operations_within_a_tenth(monkeypatch):
    monkeypatch.setattr(interpreters, "WARM_UP", 0)
    core = NeuralInterpreter.released_digits()
    cores = {"ours": (core, 192), "vit": (interpreters.transformer(), interpreters.VIT_FEATURES)}
    ours, vit = interpreters.measure(cores, items=interpreters.ITEMS, batch=1, rounds=0)
    assert 0.9 < ours["flops"] / vit["flops"] < 1.1


def test_the_transcription_computes_what_the_library_does():
    direct = DirectInterpreter(12, 3, 2, heads=2, key_size=10, type_size=4, side=2, truncation=1.1)
    released = Syntax.released(num_heads=2, features_per_head=5)
    syntax = Syntax(
        functions=Functions(),
        matching=TypeMatching(type_size=4, truncation=1.1),
        instructions=released.instructions,
        outer_residual=False,
    )
    core = NeuralInterpreter(12, 3, 2, syntax=syntax, grid=(2, 2))
    names = {
        "signatures": "signatures",
        "codes": "codes",
        "bandwidth": "bandwidth",
        "typing.0.": "typing.norm.",
        "typing.1.": "typing.hidden.",
        "typing.3.": "typing.out.",
        "norm1.": "lines.0.norm1.",
        "norm2.": "lines.0.norm2.",
        "position.": "lines.0.position.",
        "query.": "lines.0.attention.query.",
        "key.": "lines.0.attention.key.",
        "value.": "lines.0.attention.value.",
        "out.": "lines.0.attention.out.",
        "fc1.": "lines.0.mlp.layers.0.",
        "fc2.": "lines.0.mlp.layers.1.",
    }
    state = {}
    for name, tensor in direct.state_dict().items():
        start = next(start for start in names if name.startswith(start))
        own = names[start] + name.removeprefix(start)
        own = own.replace("linear.", "").replace("scale.weight", "code_weight")
        if ".position." in own:
            own = own.removesuffix(".weight")
        state[f"scripts.0.{own}"] = tensor
    core.load_state_dict(state)
    x = torch.randn(3, 6, 12, dtype=torch.float64, generator=torch.Generator().manual_seed(0))
    expected = direct.double()(x)
    torch.testing.assert_close(core.double()(x), expected, rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize(
    "path", sorted(interpreters.RESULTS.glob("*.json")), ids=lambda path: path.stem
)
def test_every_page_is_made_from_its_json(path):
    results = json.loads(path.read_text(encoding="utf-8"))
    page = path.with_suffix(".md").read_text(encoding="utf-8")
    assert page == _interpreters_report.markdown(results)
