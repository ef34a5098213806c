"""Each contender works in a process of its own, and says what it did."""

from dataclasses import replace

import pytest
from benchmarks._worker import Worker

from benchmarks import _estimate


def answers_of(contender):
    """What a contender answers to one of each request, on the smallest model."""
    worker = Worker(contender, threads=1)
    try:
        requests = {
            "prepare": {"reasoner": "lstm", "task": "same-different", "withheld": 85, "seeds": [0]},
            "train": {"seconds": 0.05, "networks": 1},
            "evaluate": {"networks": 1},
            "products": {"work": "training"},
        }
        found = {}
        for request, arguments in requests.items():
            worker.ask(request, **arguments)
            found[request] = worker.answer()
        return found
    finally:
        worker.close()


@pytest.mark.thorough
def test_contenders_answer_and_the_library_needs_fewer_flops():
    loop, ours = answers_of("straightforward"), answers_of("farfield")
    for answers in (loop, ours):
        assert answers["train"]["seconds"] >= 0.05
        assert answers["train"]["count"] >= 1
        assert answers["evaluate"]["count"] == 10_000
    assert 0 < ours["products"]["flops"] < loop["products"]["flops"]


@pytest.mark.thorough
def test_cell_is_measured_for_the_estimate():
    claim = _estimate.claims()[0]
    line = _estimate.measure(replace(claim, published=replace(claim.published, runs=2)), 1, 0.1)
    assert (line["table"], line["column"]) == (claim.home, claim.column)
    assert (line["networks"], line["steps"]) == (2, claim.experiment.recipe.steps)
    assert _estimate.hours(line) > 0.0


@pytest.mark.slow
def test_worker_that_fails_is_reported():
    worker = Worker("straightforward", threads=1)
    worker.ask("no_such_request")
    with pytest.raises(RuntimeError, match="status 1"):
        worker.answer()
    worker.close()
