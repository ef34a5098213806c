"""The page of the ledger is made from its JSON, and its cluster is simulated as it says."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from benchmarks import ledger


@pytest.mark.parametrize("path", sorted(ledger.RESULTS.glob("*.json")), ids=lambda path: path.stem)
def test_the_page_is_made_from_its_json(path: Path) -> None:
    results = json.loads(path.read_text(encoding="utf-8"))
    assert path.with_suffix(".md").read_text(encoding="utf-8") == ledger.markdown(results)


@pytest.mark.parametrize(
    ("cores", "until"),
    [(1, 1 + 2 + 3 + 4 + 0.5), (2, 2 + 4 + 0.5), (4, 4 + 0.5), (9, 4 + 0.5)],
)
def test_a_core_takes_the_next_network_and_one_process_writes(cores: int, until: float) -> None:
    assert ledger.simulated([1, 2, 3, 4], cores, write=0.5) == until


def test_networks_that_end_at_once_are_written_one_after_another() -> None:
    assert ledger.simulated([1, 1, 1], 3, write=0.5) == 1 + 3 * 0.5
