"""Neural Interpreters against arrays of the released code: kernel, layers, a network, gradients."""

from __future__ import annotations

import json
import os
import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from torch import Tensor, nn
from torch.nn import functional as F

from farfield.functional import compatibilities, truncated_kernel, type_distance
from farfield.models import SetModel, TokenReader
from farfield.nn import (
    Functions,
    Instructions,
    LineOfCode,
    ModLin,
    ModMLP,
    NeuralInterpreter,
    PatchEncoder,
    Syntax,
    TypeMatching,
)

GOLDEN = Path(os.environ.get("FARFIELD_GOLDEN") or Path(__file__).parents[3] / "shared" / "golden")
Arrays = dict[str, np.ndarray]


def cases(name: str) -> pytest.MarkDecorator:
    """All cases whose names begin so."""
    found = sorted(path.name for path in GOLDEN.glob(f"{name}*")) or [name]
    return pytest.mark.parametrize("case", found)


def meta_of(case: str) -> dict[str, Any]:
    return json.loads((GOLDEN / case / "meta.json").read_text())


def assert_near(found: Tensor, expected: np.ndarray, tolerance: float = 1e-9) -> None:
    scale = max(np.abs(expected).max(), 1.0)
    np.testing.assert_allclose(found.detach().numpy(), expected, rtol=0, atol=tolerance * scale)


def assert_gradients(found: dict[str, Tensor], case: str, arrays: Arrays) -> None:
    """Those of the original are float32, as far off as it has measured; inputs by `in:`."""
    measured = meta_of(case)["float32_vs_float64"]["per_gradient_max_abs"]
    given = {
        name.replace("gradin.", "in:").removeprefix("grad."): array
        for name, array in arrays.items()
        if name.startswith(("grad.", "gradin."))
    }
    assert {name for name in found if not name.startswith("in:")} <= given.keys() <= found.keys()
    for name, array in given.items():
        expected = np.asarray(array)
        off = np.abs(found[name].numpy().reshape(expected.shape) - expected).max()
        assert off <= 1.5 * measured[name] + 1e-9 * np.abs(expected).max(), name


def leaf(array: np.ndarray) -> Tensor:
    return torch.tensor(array).double().requires_grad_()


# --- The kernel ----------------------------------------------------------------------------------


@cases("ni_kernel")
def test_kernel(case: str, golden) -> None:
    arrays, settings = golden(case), meta_of(case)["hyper_parameters"]
    signatures, types = leaf(arrays["in.signatures"]), leaf(arrays["in.types"])
    distance = type_distance(types, signatures)
    assert_near(distance.transpose(0, 1), arrays["out64.distance"])
    loss, bandwidths = torch.zeros((), dtype=torch.float64), {}
    for kind, truncation in (
        ("direct", settings["truncation"]),
        ("masked", settings["truncation"]),
        ("preset", settings["preset_truncation"]),
        ("none", 2.0),
    ):
        bandwidths[kind] = leaf(arrays[f"state.{kind}.bandwidth"])
        kernel = truncated_kernel(
            distance,
            bandwidths[kind],
            truncation=truncation,
            straight_through=kind == "masked",
        )
        shares = compatibilities(kernel, eps=settings["epsilon"])
        assert_near(kernel.transpose(0, 1), arrays[f"out64.kernel_{kind}"])
        assert_near(shares.transpose(0, 1), arrays[f"out64.C_{kind}"])
        if kind in {"direct", "masked"}:
            loss = loss + (shares * torch.arange(shares.shape[-1])).sum()
    np.testing.assert_allclose(loss.item(), arrays["out64.loss"], rtol=1e-9)
    loss.backward()
    found = {f"{kind}.bandwidth": bandwidths[kind].grad for kind in ("direct", "masked")}
    found |= {"in:types": types.grad, "in:signatures": signatures.grad}
    assert_gradients(found, case, arrays)


# --- Layers --------------------------------------------------------------------------------------

LAYER = {"native_weight": "weight", "native_bias": "bias", "scale.weight": "code_weight"}
LINE = {
    "pre_attention_layernorm.": "norm1.",
    "pre_mlp_layernorm.": "norm2.",
    "query_compiler.": "attention.query.",
    "key_compiler.": "attention.key.",
    "value_compiler.": "attention.value.",
    "post_attention_fc.": "attention.out.",
    "pointwise_mlp.": "mlp.layers.",
    # What it names after the row lies along a row, one column from the next.
    "relative_positional_encoder.row_embeddings.weight": "position.column_embedding",
    "relative_positional_encoder.col_embeddings.weight": "position.row_embedding",
    "relative_positional_encoder.head_keys_row.weight": "position.column_head",
    "relative_positional_encoder.head_keys_col.weight": "position.row_head",
    "relative_positional_encoder.function_keys_row.weight": "position.column_code",
    "relative_positional_encoder.function_keys_col.weight": "position.row_code",
}
SCRIPT = {
    "type_inference.body.0.": "typing.hidden.",
    "type_inference.body.2.": "typing.out.",
    "type_inference.layernorm.": "typing.norm.",
    "function_pod.function_signatures": "signatures",
    "function_pod.function_codes": "codes",
    "function_pod.kernel.bandwidth": "bandwidth",
    "function_pod.loc_pods.": "lines.",
}
UNUSED = (
    "_gain",
    "relative_indices",
    "pos_embedding",
    "codebook",
    "function_output_signatures",
)


def ours(arrays: Arrays, prefix: str = "state.") -> dict[str, tuple[str, Tensor]]:
    """Under our names: the original's name and array, but for what it does not use."""
    found = {}
    for key, array in arrays.items():
        original = key.removeprefix(prefix)
        if key == original or original.endswith(UNUSED):
            continue
        name = original.replace("transformer.scripts.", "scripts.")
        for old, new in (SCRIPT | LINE | LAYER).items():
            name = name.replace(old, new)
        found[name] = (original, torch.tensor(array).double())
    return found


def load(module: nn.Module, arrays: Arrays) -> nn.Module:
    state = {name: tensor for name, (_, tensor) in ours(arrays).items()}
    module.double().load_state_dict(state)
    return module


def gradients_of(module: nn.Module, arrays: Arrays) -> dict[str, Tensor]:
    """Under the names of the original; all of ours that are learned."""
    names = {name: original for name, (original, _) in ours(arrays).items()}
    return {names[name]: parameter.grad for name, parameter in module.named_parameters()}


@cases("ni_modlin")
def test_modulated_layers(case: str, golden) -> None:
    arrays, settings = golden(case), meta_of(case)["hyper_parameters"]
    x, codes = leaf(arrays["in.x"]), leaf(arrays["in.codes"])
    layers = nn.ModuleDict()
    for name, bias in (("a", True), ("b", False)):
        sizes = settings["in_features"], settings[f"out_features_{name}"], settings["code"]
        layers[name] = ModLin(*sizes, bias=bias)
    load(layers, arrays)
    first = F.gelu(layers["a"](x.transpose(0, 1), codes)).transpose(0, 1)
    second = layers["b"](x.transpose(0, 1), codes).transpose(0, 1)
    assert_near(first, arrays["out64.a"])
    assert_near(second, arrays["out64.b"])
    (first.square().sum() + second.square().sum()).backward()
    found = gradients_of(layers, arrays) | {"in:x": x.grad, "in:codes": codes.grad}
    assert_gradients(found, case, arrays)


@cases("ni_loc_pod")
def test_line_of_code(case: str, golden) -> None:
    arrays, settings = golden(case), meta_of(case)["hyper_parameters"]
    side = settings.get("image_size")
    line = LineOfCode(
        settings["variable_features"],
        settings["code_features"],
        instructions=Instructions(
            num_heads=settings["heads"],
            key_size=settings["key_size_per_head"],
            eps=settings["epsilon"],
        ),
        grid=None if side is None else (side, side),
    )
    load(line, arrays)
    x, codes = leaf(arrays["in.x"]), leaf(arrays["in.codes"])
    compatibility = torch.tensor(arrays["in.C"]).double().transpose(0, 1)
    y = line(x.transpose(0, 1), compatibility, codes).transpose(0, 1)
    assert_near(y, arrays["out64.y"])
    y.square().mean().backward()
    found = gradients_of(line, arrays) | {"in:x": x.grad, "in:codes": codes.grad}
    assert_gradients(found, case, arrays)


# --- A network -----------------------------------------------------------------------------------


def reading(core: NeuralInterpreter, *, side: int, patch: int, sets: int, classes: int) -> SetModel:
    """Farfield's network for digits, with one CLS token and head for all sets, as released."""
    encoder = PatchEncoder((3, side, side), patch_size=patch, out_features=core.num_features)
    width = core.num_features
    return SetModel(encoder, TokenReader(core, width, sets * classes, num_tokens=sets, shared=True))


NETWORK = {
    "patch_to_embedding": "encoder.embedding",
    "shared_cls_token": "reader.tokens",
    "shared_prediction_head": "reader.heads.0",
}
"""Parts of the network around the interpreter: the original's names and ours."""


def in_network(name: str) -> str:
    """The name in the network of what is called so in the original, or in the interpreter."""
    part, dot, rest = name.partition(".")
    return NETWORK[part] + dot + rest if part in NETWORK else f"reader.core.{name}"


def network_of(settings: dict[str, Any]) -> SetModel:
    script = settings["program_kwargs"]["script_kwargs"]
    pod = script["function_pod_kwargs"]
    released = Syntax.released(
        num_heads=pod["num_heads_in_loc"], features_per_head=pod["num_features_per_loc_head"]
    )
    kernel = pod["kernel_kwargs"]
    syntax = Syntax(
        functions=Functions(
            code_size=pod["code_features"],
            learned_signatures=not pod["detach_function_signatures"],
            learned_codes=not pod["detach_function_codes"],
        ),
        matching=TypeMatching(
            type_size=script["type_features"],
            truncation=kernel["truncation"],
            straight_through="masked" in kernel.values(),
        ),
        instructions=released.instructions,
        outer_residual=not pod["no_residual"],
    )
    side = settings["image_size"] // settings["patch_size"]
    core = NeuralInterpreter(
        script["variable_features"],
        pod["num_functions"],
        script["num_iterations"],
        pod["num_loc_pods"],
        settings["program_kwargs"]["num_scripts"],
        syntax=syntax,
        grid=(side, side) if pod["loc_pod_kwargs"]["relative_positional_encoder"] else None,
    )
    sets = settings["num_classes_in_dataset"]
    return reading(
        core,
        side=settings["image_size"],
        patch=settings["patch_size"],
        sets=len(sets),
        classes=next(iter(sets.values())),
    )


@cases("ni_small_model")
def test_network(case: str, golden) -> None:
    arrays, meta = golden(case), meta_of(case)
    settings = meta["hyper_parameters"]
    network = network_of(settings)
    state = {in_network(name): tensor for name, (_, tensor) in ours(arrays).items()}
    state["reader.tokens"] = state["reader.tokens"].squeeze(0)
    network.double().load_state_dict(state)
    sets = list(settings["num_classes_in_dataset"])
    images = torch.tensor(arrays["in.image"]).double()
    elements = network.reader.elements(network.encoder(images))
    found = network.reader.core(elements)
    every_image = torch.arange(len(images)).unsqueeze(1)
    logits = network(images, every_image).unflatten(1, (len(sets), -1))
    assert_near(found[:, len(sets) :], arrays["out64.output_patches"])
    for place, name in enumerate(sets):
        assert_near(logits[:, place], arrays[f"out64.logits_{name}"])
    traces = network.reader.core.trace(elements)
    joined = [torch.cat(parts).transpose(0, 1) for parts in zip(*traces, strict=True)]
    outputs, types, compatibility = joined
    assert_near(outputs, arrays["out64.tokens_per_iteration"])
    expected = torch.tensor(arrays["out64.types_per_iteration"])
    assert_near(types, F.normalize(expected, dim=-1).numpy())
    assert_near(compatibility, arrays["out64.compatibilities"])
    assert (compatibility == 0).any()
    trained = [sets.index(name) for name in re.findall(r"logits_(\w+)", meta["loss"])]
    target = torch.tensor(arrays["in.y"])
    loss = torch.stack([F.cross_entropy(logits[:, place], target) for place in trained]).sum()
    np.testing.assert_allclose(loss.item(), arrays["out64.loss"], rtol=1e-9)
    loss.backward()
    names = {in_network(name): original for name, (original, _) in ours(arrays).items()}
    gradients = {names[name]: part.grad for name, part in network.named_parameters()}
    assert_gradients(gradients, case, arrays)


def test_the_preset_has_643_059_parameters() -> None:
    core = NeuralInterpreter.released_digits()
    network = reading(core, side=32, patch=4, sets=3, classes=10)
    learned = sum(parameter.numel() for parameter in network.parameters())
    frozen = core.scripts[0].signatures.numel()
    unused = {
        "absolute positions of 64 patches": 64 * 192,
        "codebook of 100 types": 100 * 24,
        "output signatures of 5 functions": 5 * 24,
    }
    assert learned + frozen + sum(unused.values()) == 643_059
    assert (learned, frozen) == (628_131, 120)


def test_layers_are_named_as_the_functions_they_call() -> None:
    """A row of signatures and codes is a function, so that more of them share the first rows."""
    core = NeuralInterpreter.released_digits()
    shapes = {name: tuple(tensor.shape) for name, tensor in core.state_dict().items()}
    assert shapes["scripts.0.signatures"] == (5, 24)
    assert shapes["scripts.0.codes"] == (5, 192)
    core.add_functions(2)
    more = {name: tuple(tensor.shape) for name, tensor in core.state_dict().items()}
    changed = {name for name in shapes if shapes[name] != more[name]}
    assert changed == {"scripts.0.signatures", "scripts.0.codes"}
    assert ModMLP((4, 4), 3).state_dict().keys() == {
        "layers.0.weight",
        "layers.0.code_weight",
        "layers.0.bias",
    }
