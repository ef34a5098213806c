"""Steps with each normalizer that are measured, and the page made from them."""

from __future__ import annotations

import json

import pytest

from benchmarks import _image_networks_report as report
from benchmarks import image_networks, mixing


def test_every_contender_makes_a_step(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(mixing, "WARM_UP", 0)
    monkeypatch.setattr(mixing, "LABELLED", 8)
    monkeypatch.setattr(image_networks, "BATCH", 4)
    lines = mixing.measure(image_networks.steps(), 1)
    assert [line["name"] for line in lines][:4] == ["none", "BN", "LN-s", "DN"]
    assert all(len(line["seconds"]) == 1 for line in lines)
    assert {line["name"] for line in lines} >= report.TARGETS.keys()


def test_the_page_holds_medians_of_ratios_to_batch_normalization() -> None:
    times = {"BN": [0.1, 0.2, 0.2], "DN": [0.15, 0.2, 0.5], "DN, L1": [0.3, 0.6, 0.6]}
    results = {
        "environment": {"processor": "some processor"},
        "settings": {"rounds": 3, "batch": 100, "side": 32, "beside": "Others trained networks."},
        "lines": [{"name": name, "seconds": seconds} for name, seconds in times.items()],
    }
    page = report.markdown(json.loads(json.dumps(results)))
    assert "| BN | 200.0 | 1.00 | 1.00–1.00 | – | – |" in page
    assert "| DN | 200.0 | 1.50 | 1.00–2.50 | ≤ 2.0 | yes |" in page
    assert "| DN, L1 | 600.0 | 3.00 | 3.00–3.00 | – | – |" in page
    assert "Others trained networks." in page
