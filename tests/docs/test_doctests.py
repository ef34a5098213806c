"""The examples in docstrings give what they say."""

from __future__ import annotations

import doctest
import importlib

import pytest
import torch

EXAMPLES = {
    "core": ["Problems", "stream"],
    "experiments": ["Experiment", "Recipe"],
    "metrics": ["accuracy", "paired_t_test", "t_interval"],
    "models": ["ESBN"],
    "nn": ["ContextNorm", "DivisiveNorm2d", "LSTMLayer", "NeuralInterpreter", "RIMs"],
    "objectives": ["ICT", "ManifoldMixup"],
    "tasks": ["SameDifferent"],
    "training": ["evaluate"],
}
"""Public names that people use first, by folder: each has an example."""


@pytest.mark.parametrize(
    "folder, name", [(folder, name) for folder, names in EXAMPLES.items() for name in names]
)
def test_an_example_gives_what_it_says(folder: str, name: str) -> None:
    public = vars(importlib.import_module(f"farfield.{folder}"))
    found = doctest.DocTestFinder(recurse=False).find(
        public[name], name, globs={**public, "torch": torch}
    )
    examples = [test for test in found if test.examples]
    assert examples, f"{name} has no example"
    runner = doctest.DocTestRunner(optionflags=doctest.ELLIPSIS)
    with torch.random.fork_rng(), torch.no_grad():
        torch.manual_seed(0)
        for test in examples:
            said: list[str] = []
            runner.run(test, out=said.append)
            assert not runner.failures, "".join(said)
