"""Every public mechanism once, with a tiny input, through what all of them must hold.

A new export of `farfield.functional`, `farfield.nn` or `farfield.models` that is missing fails.
"""

from __future__ import annotations

import re
from contextlib import nullcontext, suppress
from copy import deepcopy

import pytest
import torch
from torch import Tensor, nn

import farfield.functional
import farfield.models
import farfield.nn
from each import each
from farfield._exports import faces
from farfield.core.internal import REFERENCES
from farfield.models import (
    CNN13,
    ESBN,
    LSTM,
    MNM,
    NTM,
    OCRA,
    RN,
    TRN,
    AbstractorNet,
    BottleneckMLP,
    CoRelNet,
    DeepSets,
    DigitCNN,
    PreActResNet,
    PreActResNetNFM,
    PrediNet,
    QuickCNN,
    RelConvNet,
    ResNet,
    SlotAbstractor,
    Transformer,
    WideResNet,
)
from farfield.models.internal import MLPReader, PresenceReader, RNReader
from zoo import (
    BATCH,
    ELSEWHERE,
    FUNCTIONS,
    LEARNING_RULES,
    MODULES,
    SEEDS,
    TOGETHER,
    Animal,
    drawn,
    first,
    generator,
    moved,
)

DTYPES = [torch.float32, torch.float64, torch.bfloat16]

modules = each("animal", MODULES)
functions = each("function, inputs, shape", FUNCTIONS)
by_themselves = each(
    "function, inputs",
    {name: found[:2] for name, found in FUNCTIONS.items() if name not in TOGETHER},
)
solitary = each("animal", {name: animal for name, animal in MODULES.items() if animal.alone})


NO_CLASSES = {
    "CLASSIFIERS",
    "CONTEXTS",
    "ENCODERS",
    "Field",
    "MAP_READERS",
    "REASONERS",
    "RESTORERS",
    "SCORERS",
    "SEQUENCE_LAYERS",
    "SET_LAYERS",
    "VALUE_HEADS",
}


def exports() -> dict[str, object]:
    floors = [face for name in ("functional", "nn", "models") for face in faces(f"farfield.{name}")]
    return {name: getattr(floor, name) for floor in floors for name in floor.__all__}


def as_dtype(inputs: tuple[Tensor, ...], dtype: torch.dtype) -> tuple[Tensor, ...]:
    return tuple(tensor.to(dtype) if tensor.is_floating_point() else tensor for tensor in inputs)


def test_every_export_is_in_the_zoo() -> None:
    listed = {name.partition(",")[0] for name in MODULES} | FUNCTIONS.keys() | ELSEWHERE
    missing, unknown = sorted(exports().keys() - listed), sorted(listed - exports().keys())
    assert not missing, f"tests/zoo.py has no entry for {', '.join(missing)}"
    assert not unknown, f"tests/zoo.py has entries for no export: {', '.join(unknown)}"


def test_registries_hold_every_encoder_classifier_and_reasoner() -> None:
    encoders = {cls for name, cls in exports().items() if name.endswith("Encoder")}
    assert set(farfield.nn.ENCODERS.values()) == encoders
    assert set(farfield.models.internal.CLASSIFIERS.values()) == {
        BottleneckMLP,
        CNN13,
        DigitCNN,
        PreActResNet,
        QuickCNN,
        ResNet,
        PreActResNetNFM,
        WideResNet,
    }
    assert set(farfield.models.internal.MAP_READERS.values()) == {
        MLPReader,
        PresenceReader,
        RNReader,
    }
    assert set(farfield.models.REASONERS.values()) == {
        ESBN,
        LSTM,
        MNM,
        NTM,
        OCRA,
        RN,
        TRN,
        AbstractorNet,
        CoRelNet,
        DeepSets,
        PrediNet,
        RelConvNet,
        SlotAbstractor,
        Transformer,
    }


UNCITED = LEARNING_RULES | {
    "FEWEST",
    "Rows",
    "lstm_weights",
    "CarriesState",
    "AgentOutputs",
    "HasFirstState",
    "EncodesItems",
    "EncodesToSets",
    "EncodesWithPart",
    "HasHiddenSize",
    "HasOutFeatures",
    "DigitCNN",
    "FitsAtOnce",
    "NeedsCalibration",
    "ReadsMemberships",
    "width_of",
    "ESBNKeys",
    "ESBNParameters",
    "Indexed",
    "Overlay",
    "as_fractions",
    "cached_log_probs",
    "check_segments",
    "check_truncation",
    "differing",
    "is_recorded",
    "is_autocast",
    "is_transformed",
    "linear",
    "uninitialized",
}


@each("name", exports().keys() - NO_CLASSES)
def test_docstrings_cite_known_papers(name: str) -> None:
    cited = set(re.findall(r"\b[a-z]+20\d\d\b", exports()[name].__doc__))
    assert cited <= REFERENCES.keys()
    if name not in UNCITED:
        assert cited


@functions
@pytest.mark.parametrize("dtype", DTYPES)
def test_functions_give_their_shape_in_the_dtype_of_the_input(
    function, inputs, shape, dtype
) -> None:
    out = function(*as_dtype(inputs, dtype))
    assert (out.shape, out.dtype) == (shape, dtype)
    assert out.isfinite().all()


@by_themselves
def test_functions_treat_every_problem_alone(function, inputs) -> None:
    inputs = as_dtype(inputs, torch.float64)
    together = function(*inputs)
    for row in (1, BATCH - 1):
        alone = function(*(tensor[row : row + 1] for tensor in inputs))
        torch.testing.assert_close(together[row : row + 1], alone, rtol=1e-9, atol=1e-12)


@functions
def test_functions_can_be_mapped(function, inputs, shape) -> None:
    stacked = [
        torch.stack([tensor.double() * factor for factor in (1.0, 0.5, 0.1)]) for tensor in inputs
    ]
    mapped = torch.func.vmap(function)(*stacked)
    looped = torch.stack([function(*(tensor[seed] for tensor in stacked)) for seed in range(3)])
    torch.testing.assert_close(mapped, looped, rtol=1e-9, atol=1e-12)


@modules
@pytest.mark.parametrize("dtype", DTYPES)
def test_modules_give_their_shape_in_the_dtype_of_the_input(animal: Animal, dtype) -> None:
    out = deepcopy(first(animal)).to(dtype)(*as_dtype(animal.inputs, dtype))
    assert (out.shape, out.dtype) == (animal.shape, dtype)
    assert out.isfinite().all()


@each("name", TOGETHER)
def test_other_functions_do_not(name: str) -> None:
    function, inputs, _ = FUNCTIONS[name]
    whole, part = (function(*(tensor[:rows] for tensor in inputs)) for rows in (BATCH, BATCH - 1))
    assert not torch.allclose(whole[: len(part)], part, rtol=1e-3)


ONE_BY_ONE = {"RelativePosition", "modulated_weight", "relative_position_scores"}
"""What knows no problems: above, it is applied to one after another."""


@each("name", (FUNCTIONS.keys() - TOGETHER | MODULES.keys()) - ONE_BY_ONE)
def test_no_problems_give_no_answers(name: str) -> None:
    if name in FUNCTIONS:
        answer, (*tables, last), shape = FUNCTIONS[name]
        tables = [table[:0] for table in tables]
    else:
        animal = MODULES[name]
        answer, (*tables, last), shape = first(animal), animal.inputs, animal.shape
    assert answer(*tables, last[:0]).shape == (0, *shape[1:])


@solitary
def test_modules_treat_every_problem_alone(animal: Animal) -> None:
    module, inputs = moved(animal), as_dtype(animal.inputs, torch.float64)
    together = module(*inputs)
    *tables, last = inputs
    for row in (1, BATCH - 1):
        alone = module(*tables, last[row : row + 1])
        torch.testing.assert_close(together[row : row + 1], alone, rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("animal", MODULES.values(), ids=MODULES)  # a tenth of a second each
def test_networks_together_are_networks_alone(animal: Animal) -> None:
    networks = [moved(animal, seed) for seed in range(SEEDS)]
    inputs = as_dtype(animal.inputs, torch.float64)
    parameters, buffers = torch.func.stack_module_state(networks)

    def loss(own: dict[str, Tensor], fixed: dict[str, Tensor]) -> tuple[Tensor, Tensor]:
        out = torch.func.functional_call(networks[0], (own, fixed), inputs)
        return out.square().sum(), out

    mapped = torch.func.vmap(torch.func.grad(loss, has_aux=True))
    gradients, outs = mapped(parameters, buffers)
    for seed in (1, SEEDS - 1):
        network = networks[seed]
        out = network(*inputs)
        torch.testing.assert_close(outs[seed], out, rtol=1e-9, atol=1e-10)
        if own := dict(network.named_parameters()):
            alone = torch.autograd.grad(out.square().sum(), own.values(), materialize_grads=True)
            for name, gradient in zip(own, alone, strict=True):
                torch.testing.assert_close(gradients[name][seed], gradient, rtol=1e-8, atol=1e-9)


SAVES_ITS_OUTPUT = {
    "content_weights",  # softmax
    "relation_matrix",
    "slot_address",
    "lstm",  # torch's
    "LSTMLayer",
    "relu",
    "ConvEncoder",
    "DenseMaps",
    "MLPEncoder",
    "MultiPass",
    "MultiPass, shared",
    "PanelEncoder",
    "PlanesEncoder",
    "PlanesNFMEncoder",
    "RandomEncoder",
    "FrameDecoder",  # sigmoid
    "ObjectAutoencoder",
    "ObjectPredictor",
}
"""What ends in a function of torch whose gradient is made of its result."""


@each("name", [*FUNCTIONS, *MODULES])
def test_outputs_may_be_changed_in_place_where_those_of_torch_may(name: str) -> None:
    """Gradients by inputs and parameters are the same where a function changes the output."""
    if name in FUNCTIONS:
        answer, inputs, _ = FUNCTIONS[name]
        wanted = []
    else:
        answer, inputs = first(MODULES[name]), MODULES[name].inputs
        wanted = [*answer.parameters()]
    leaves = [tensor.clone().requires_grad_(tensor.is_floating_point()) for tensor in inputs]
    out = answer(*(leaf.clone() for leaf in leaves))
    if not out.requires_grad:
        return
    wanted += [leaf for leaf in leaves if leaf.requires_grad]
    options = {"materialize_grads": True, "allow_unused": True}
    loss = torch.relu(out).square().sum()
    expected = torch.autograd.grad(loss, wanted, retain_graph=True, **options)
    with suppress(RuntimeError) if name in SAVES_ITS_OUTPUT else nullcontext():
        changed = torch.autograd.grad(torch.relu_(out).square().sum(), wanted, **options)
        torch.testing.assert_close(changed, expected, rtol=1e-5, atol=1e-6, equal_nan=True)


def dependent(module: nn.Module) -> dict[str, Tensor]:
    """Parameters of which each depends on those before, as where a network makes another's."""
    made: dict[str, Tensor] = {}
    before = torch.zeros((), dtype=torch.float64)
    for name, parameter in module.named_parameters():
        made[name] = parameter + 0.01 * before
        before = made[name].mean()
    return made


@modules
def test_gradients_that_are_to_be_differentiated_are_the_same(animal: Animal) -> None:
    module, inputs = moved(animal), as_dtype(animal.inputs, torch.float64)
    taken = []
    for graph in (False, True):
        out = torch.func.functional_call(module, dependent(module), inputs)
        if not out.requires_grad:
            return
        wanted = [*module.parameters()]
        taken.append(torch.autograd.grad(out.sin().sum(), wanted, create_graph=graph))
    torch.testing.assert_close(*taken, rtol=1e-8, atol=1e-10)


def gradients_of(loss: Tensor, module: nn.Module) -> dict[str, Tensor | None]:
    own = dict(module.named_parameters())
    trained = {name: parameter for name, parameter in own.items() if parameter.requires_grad}
    if not (loss.requires_grad and trained):
        return dict.fromkeys(own)
    found = torch.autograd.grad(loss, trained.values(), allow_unused=True)
    return dict.fromkeys(own) | dict(zip(trained, found, strict=True))


@modules
def test_modules_train_where_torch_casts_by_itself(animal: Animal, monkeypatch) -> None:
    module = first(animal)
    images = any(isinstance(part, nn.Conv2d | nn.ConvTranspose2d) for part in module.modules())
    # oneDNN leaves parts of a bfloat16 kernel's gradient unwritten where images are one pixel.
    monkeypatch.setattr(torch.backends.mkldnn, "enabled", not images)
    with torch.autocast("cpu", torch.bfloat16):
        out = module(*animal.inputs)
    assert out.shape == animal.shape
    for gradient in gradients_of(out.float().square().sum(), module).values():
        assert gradient is None or gradient.isfinite().all()


def same_state(first: nn.Module, second: nn.Module) -> bool:
    mine, theirs = first.state_dict(), second.state_dict()
    return mine.keys() == theirs.keys() and all(torch.equal(mine[at], theirs[at]) for at in mine)


@modules
def test_state_makes_the_round_trip(animal: Animal) -> None:
    inputs = as_dtype(animal.inputs, torch.float64)
    module, other = moved(animal), deepcopy(moved(animal, 1))
    expected = module(*inputs)
    assert not torch.equal(other(*inputs), expected)
    other.load_state_dict(module.state_dict())
    assert torch.equal(other(*inputs), expected)


@modules
def test_a_generator_decides_and_the_global_one_is_left_alone(animal: Animal) -> None:
    before = torch.get_rng_state()
    again = animal.build(generator())
    again.double()(*as_dtype(animal.inputs, torch.float64))
    assert torch.equal(torch.get_rng_state(), before)
    assert same_state(again.float(), first(animal))
    assert same_state(again, first(animal, 1)) is not animal.drawing


@modules
def test_without_a_generator_the_global_one_decides(animal: Animal) -> None:
    with torch.random.fork_rng():
        torch.manual_seed(1)
        assert same_state(animal.build(None), first(animal, 1))


@modules
def test_every_parameter_receives_a_gradient(animal: Animal) -> None:
    module = moved(animal)
    out = module(*as_dtype(animal.inputs, torch.float64))
    gradients = gradients_of((out * drawn(*out.shape, seed=8)).sum(), module)
    silent = {name for name, found in gradients.items() if found is None or not found.any()}
    assert silent == animal.without_gradient
