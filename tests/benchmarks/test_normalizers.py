"""The normalizers' page is made from its JSON, and a line is measured as it says."""

import json

import pytest
import torch

from benchmarks import _normalizer_report, normalizers

LINE = {
    "name": "context_norm",
    "reference": "layer_norm",
    "shape": [4, 3, 2],
    "compiled": False,
    "target": 3.5,
    "ours": [0.003, 0.008, 0.020],
    "theirs": [0.001, 0.002, 0.010],
}


def test_row_holds_the_median_of_the_rounds_ratios():
    row = dict(zip(_normalizer_report.COLUMNS, _normalizer_report.cells(LINE), strict=True))
    assert (row["ratio"], row["range"]) == ("3.00", "2.00–4.00")  # of the medians it is 4
    assert (row["its time (ms)"], row["time (ms)"]) == ("2.00", "8.00")
    assert (row["run"], row["shape"], row["target"], row["met"]) == (
        "eager",
        "4 × 3 × 2",
        "3.5",
        "yes",
    )


@pytest.mark.parametrize("target, met", [(3.0, "yes"), (2.9, "no"), (None, "–")])
def test_a_target_is_a_largest_ratio(target, met):
    assert _normalizer_report.cells({**LINE, "target": target})[-1] == met


def test_a_line_has_a_sample_of_each_for_every_round():
    case = normalizers.Case(
        name="small",
        ours=lambda z, weight, bias: z * weight + bias,
        reference="twice",
        theirs=lambda z, weight, bias: 2 * z,
        shape=(3, 2),
        targets=(3.5, 2.0),
    )
    line = normalizers.measure(case, compiled=False, rounds=4, busy=True)
    assert len(line["ours"]) == len(line["theirs"]) == 4
    assert (line["target"], line["shape"]) == (3.5, [3, 2])
    assert json.loads(json.dumps(line)) == line


@pytest.mark.parametrize("case", normalizers.CASES, ids=lambda case: f"{case.name} {case.shape}")
def test_both_sides_of_a_case_keep_the_shape(case):
    shape = (2, *case.shape[1:])
    tensors = (torch.ones(shape), torch.ones(shape[-1]), torch.zeros(shape[-1]))
    assert case.ours(*tensors).shape == case.theirs(*tensors).shape == shape


@pytest.mark.parametrize(
    "path", sorted(normalizers.RESULTS.glob("*.json")), ids=lambda path: path.stem
)
def test_every_page_is_made_from_its_json(path):
    results = json.loads(path.read_text(encoding="utf-8"))
    page = path.with_suffix(".md").read_text(encoding="utf-8")
    assert page == _normalizer_report.markdown(results)
