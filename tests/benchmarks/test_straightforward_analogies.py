"""The loops and the library compute the same on visual analogies."""

import numpy as np
import pytest
import torch

from benchmarks import straightforward_analogies as straightforward
from farfield.core import Stream
from farfield.experiments import ScoringNetwork, Spec
from farfield.models import LSTMScorer
from farfield.nn import AnalogyEncoder
from farfield.tasks import TRAINING, VAECTranslation

TASK = VAECTranslation(image_size=64, shuffled=True)
ENCODINGS = {
    28: straightforward.encode_every_analogy,
    10: straightforward.encode_every_place,
    7: straightforward.encode_every_picture,
}
WITHOUT_EFFECT = ("encoder.output.bias", "scorer.output.bias")
"""Shifts that context normalization or the softmax takes away: their gradient is rounding alone."""
NAMES = {
    **{f"encoder.convolutions.{2 * n}": f"encoder.convolutions.{n}" for n in range(4)},
    "encoder.layers.2": "encoder.layers.1",
    "lstm.weight_ih_l0": "scorer.weight_ih",
    "lstm.weight_hh_l0": "scorer.weight_hh",
    "lstm.bias_ih_l0": "scorer.bias",
    "output": "scorer.output",
}


def library_state(tensors, *, plain_encoder):
    """Parameters of a loop, or their gradients, by name as the library keeps them."""
    state = {}
    for name, tensor in tensors:
        if name == "lstm.bias_hh_l0":  # the library's scorer has one bias
            continue
        kept = plain_encoder and name.startswith("encoder")
        found = [] if kept else [theirs for theirs in NAMES if name.startswith(theirs)]
        state[name.replace(found[0], NAMES[found[0]], 1) if found else name] = tensor
    return state


def loop_of(encodings):
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(4)
        loop = straightforward.Network(ENCODINGS[encodings], TASK.item_shape).double()
    generator = torch.Generator().manual_seed(5)
    with torch.no_grad():
        for name, parameter in loop.named_parameters():
            noise = torch.randn(parameter.shape, generator=generator, dtype=parameter.dtype)
            parameter.add_(noise, alpha=0.0 if name == "lstm.bias_hh_l0" else 0.05)
    return loop


def library_of(loop, encoder=AnalogyEncoder):
    model = ScoringNetwork(scorer=Spec(LSTMScorer), encoder=Spec(encoder))
    library = model.build(TASK, Stream(0)).double()
    plain = encoder is straightforward.Encoder
    library.load_state_dict(library_state(loop.named_parameters(), plain_encoder=plain))
    return library


def batch_of(count):
    return TASK.sample(TRAINING, count, np.random.default_rng(3))


@pytest.mark.parametrize("encoder", [AnalogyEncoder, straightforward.Encoder])
@pytest.mark.parametrize("encodings", ENCODINGS)
def test_loop_and_library_have_the_same_outputs_loss_and_gradients(encodings, encoder):
    loop = loop_of(encodings)
    library, problems = library_of(loop, encoder), batch_of(2)

    loop_outputs = loop(problems.table(), problems.index)
    loop_loss = torch.nn.functional.cross_entropy(loop_outputs, problems.target)
    loop_loss.backward()
    some = problems.compact()
    outputs = library(some.table(), some.index)
    library_loss = TASK.loss(outputs, some).mean()
    library_loss.backward()

    torch.testing.assert_close(outputs, loop_outputs, rtol=1e-9, atol=1e-12)
    torch.testing.assert_close(library_loss, loop_loss, rtol=1e-12, atol=0.0)
    expected = library_state(
        ((name, parameter.grad) for name, parameter in loop.named_parameters()),
        plain_encoder=encoder is straightforward.Encoder,
    )
    found = {name: parameter.grad for name, parameter in library.named_parameters()}
    assert found.keys() == expected.keys()
    largest = max(float(gradient.norm()) for gradient in expected.values())
    for place, gradient in expected.items():
        difference = (found[place] - gradient).norm()
        scale = largest if place in WITHOUT_EFFECT else gradient.norm()
        assert difference <= 1e-9 * scale, place


@pytest.mark.parametrize("encodings", ENCODINGS)
def test_loop_encodes_as_many_images_of_a_problem_as_it_says(encodings):
    loop, problems, seen = loop_of(encodings), batch_of(2), []
    loop.encoder.register_forward_pre_hook(lambda _, inputs: seen.append(len(inputs[0])))
    loop(problems.table(), problems.index)
    assert seen == [2 * encodings]


def test_loop_scores_as_the_task_does():
    loop, problems = loop_of(7), batch_of(34)
    some = problems.compact()
    with torch.no_grad():
        scores = TASK.score(library_of(loop)(some.table(), some.index), some)
    found = straightforward.evaluate(loop, problems.table(), problems.index, problems.target)
    assert found == pytest.approx(float(scores.mean()))


def test_loop_learns_and_visits_every_problem_once_an_epoch():
    loop, problems, seen = loop_of(7), batch_of(34), []
    loop.register_forward_pre_hook(lambda _, inputs: seen.append(len(inputs[1])))
    shuffle = torch.Generator().manual_seed(0)
    steps = straightforward.train(loop, problems.table(), problems.index, problems.target, shuffle)
    losses = [float(next(steps)) for _ in range(6)]
    assert seen == [32, 2] * 3
    assert losses[4] < losses[0]
