"""The loop and the library compute the same, so that their speeds can be compared."""

import numpy as np
import pytest
import torch
from benchmarks.straightforward_relations import OVER_OBJECTS

from benchmarks import _cases, straightforward, straightforward_reasoners
from each import some
from farfield.core import Stream
from farfield.experiments import Network, Spec
from farfield.models import REASONERS
from farfield.tasks import TASKS, TRAINING

CASES = [(reasoner, task) for reasoner in _cases.REASONERS for task in _cases.TASKS]
SHOWN = [(reasoner, "distribution-of-three") for reasoner in ("esbn", "transformer", "rn")]
SHOWN += [(reasoner, "same-different") for reasoner in OVER_OBJECTS]

LIBRARY_NAMES = {
    "encoder.0": "encoder.conv1",
    "encoder.2": "encoder.conv2",
    "encoder.4": "encoder.conv3",
    "encoder.7": "encoder.fc1",
    "encoder.9": "encoder.fc2",
    "reasoner.cell": "reasoner.controller",
    "reasoner.lstm": "reasoner.controller",
    "reasoner.layer.self_attn.in_proj_": "reasoner.attention_in.",
    "reasoner.layer.self_attn.out_proj": "reasoner.attention_out",
    "reasoner.layer.linear1": "reasoner.fc1",
    "reasoner.layer.linear2": "reasoner.fc2",
    "reasoner.layer.norm": "reasoner.norm",
    "reasoner.pair.0": "reasoner.pair1",
    "reasoner.pair.2": "reasoner.pair2",
    "reasoner.triple.0": "reasoner.triple1",
    "reasoner.triple.2": "reasoner.triple2",
}

JOINED = {
    "ntm": {
        "reasoner.heads": (
            *("read_head.key", "write_head.key", "add", "erase"),
            *("read_head.gate", "write_head.gate", "read_head.strength", "write_head.strength"),
            *("read_head.sharpening", "write_head.sharpening"),
            *("read_head.shift", "write_head.shift"),
        )
    },
    "mnm": {
        "reasoner.heads": ("rate_head", "write_key", "write_value", "read_key"),
        "reasoner.target": ("targets.0", "targets.1", "targets.2"),
        "reasoner.memory": ("memory.0", "memory.1", "memory.2"),
    },
}
"""Layers of the loop whose rows stand one after the other in a layer of the library."""


def library_name(name):
    """Where the library keeps a parameter of the loop that is not joined with others."""
    name = name.removesuffix("_l0")
    for theirs, ours in LIBRARY_NAMES.items():
        if name.startswith(theirs):
            return ours + name.removeprefix(theirs)
    return name


def library_state(reasoner, tensors):
    """Parameters of the loop, or their gradients, by name and shape as the library keeps them."""
    rest, state = dict(tensors), {}
    for ours, parts in JOINED.get(reasoner, {}).items():
        for kind in ("weight", "bias"):
            names = [f"reasoner.{part}.{kind}" for part in parts]
            if names[0] in rest:
                state[f"{ours}.{kind}"] = torch.cat([rest.pop(name) for name in names])
    if "reasoner.memory.weight" in state:  # one tensor of three layers
        state["reasoner.memory"] = state.pop("reasoner.memory.weight").unflatten(0, (3, -1))
    return state | {library_name(name): tensor for name, tensor in rest.items()}


def two_networks(reasoner, task):
    """A network of the loop with random parameters, and the library's with the same ones."""
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(4)
        loop = straightforward.Network(reasoner, task.num_outputs, task.segments).double()
    if reasoner == "transformer":  # whose positions were rounded to float32
        loop.reasoner.positions = straightforward_reasoners.sinusoids(task.length)
    generator = torch.Generator().manual_seed(5)
    with torch.no_grad():
        for parameter in loop.parameters():
            noise = torch.randn(parameter.shape, generator=generator, dtype=parameter.dtype)
            parameter.add_(0.05 * noise)
    library = Network(reasoner=Spec(REASONERS[reasoner])).build(task, Stream(0)).double()
    library.load_state_dict(library_state(reasoner, loop.named_parameters()))
    return loop, library


def batch_of(task, count):
    problems = task.sample(TRAINING, count, np.random.default_rng(3))
    return problems.to("cpu", torch.float64)


@pytest.mark.parametrize("case", some(SHOWN, CASES), ids="-".join)
def test_loop_and_library_have_the_same_outputs_loss_and_gradients(case):
    reasoner, name = case
    task = TASKS[name](withheld=85)
    loop, library = two_networks(reasoner, task)
    problems = batch_of(task, 6)

    loop_outputs = loop(problems.sequences())
    loop_loss = straightforward.loss_of(loop_outputs, problems.target)
    loop_loss.backward()
    table = problems.compact()
    outputs = library(table.items, table.index)
    library_loss = task.loss(outputs, table).mean()
    library_loss.backward()

    torch.testing.assert_close(outputs, loop_outputs, rtol=1e-9, atol=1e-10)
    torch.testing.assert_close(library_loss, loop_loss, rtol=1e-10, atol=0.0)
    expected = library_state(reasoner, ((n, p.grad) for n, p in loop.named_parameters()))
    found = {n: parameter.grad for n, parameter in library.named_parameters()}
    assert found.keys() == expected.keys()
    largest = max(float(gradient.norm()) for gradient in expected.values())
    for place, gradient in expected.items():
        difference = (found[place] - gradient).norm()
        # Gradients that cancel, as those of an encoder before pairs, keep fewer digits.
        assert difference <= 1e-9 * max(gradient.norm(), 1e-2 * largest), place


def test_loop_knows_every_reasoner():
    assert straightforward_reasoners.REASONERS.keys() == REASONERS.keys() == set(_cases.REASONERS)


@pytest.mark.parametrize("name", _cases.TASKS)
def test_loop_scores_as_the_task_does(name):
    task = TASKS[name](withheld=85)
    loop, library = two_networks("lstm", task)
    problems = batch_of(task, 105)
    with torch.no_grad():
        scores = task.score(library(problems.items, problems.index), problems)
    assert straightforward.evaluate(loop, problems) == pytest.approx(float(scores.mean()))


def test_loop_learns_and_visits_every_problem_once_an_epoch():
    task = TASKS["same-different"](withheld=95)
    loop, _ = two_networks("lstm", task)
    problems = batch_of(task, 40)
    seen = []
    loop.register_forward_pre_hook(lambda _, inputs: seen.append(len(inputs[0])))
    steps = straightforward.train(loop, problems, torch.Generator().manual_seed(0))
    losses = [float(next(steps)) for _ in range(8)]
    assert seen == [32, 8] * 4
    assert sum(losses[-4:]) < sum(losses[:4])
