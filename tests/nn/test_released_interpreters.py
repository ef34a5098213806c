"""Neural Interpreters against arrays of the released code: kernel, layers, a network, gradients."""

from __future__ import annotations

import re
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from farfield.functional.internal import compatibilities, truncated_kernel, type_distance
from farfield.models.internal import SetModel, TokenReader
from farfield.nn import (
    Functions,
    Instructions,
    NeuralInterpreter,
    PatchEncoder,
    Syntax,
    TypeMatching,
)
from farfield.nn.internal import LineOfCode, ModLin, ModMLP
from golden import Golden, cases, precisions


def assert_gradients(found: dict[str, Tensor], arrays: Golden) -> None:
    """All that are stored, and for parameters no others; inputs by `in:`."""
    given = {
        name.replace("gradin.", "in:").removeprefix("grad."): name
        for name in arrays
        if name.startswith(("grad.", "gradin."))
    }
    assert {name for name in found if not name.startswith("in:")} <= given.keys() <= found.keys()
    for own, name in given.items():
        arrays.check_gradient(found[own], name)


# --- The kernel ----------------------------------------------------------------------------------


@precisions
@cases("ni_kernel")
def test_kernel(case: str, dtype: torch.dtype, golden) -> None:
    arrays = Golden(case, golden(case), dtype)
    settings = arrays.meta["hyper_parameters"]
    signatures, types = (
        arrays.tensor(f"in.{name}", requires_grad=True) for name in ("signatures", "types")
    )
    distance = type_distance(types, signatures)
    arrays.check(distance.transpose(0, 1), "distance")
    loss, bandwidths = torch.zeros((), dtype=dtype), {}
    for kind, truncation in (
        ("direct", settings["truncation"]),
        ("masked", settings["truncation"]),
        ("preset", settings["preset_truncation"]),
        ("none", 2.0),
    ):
        bandwidths[kind] = arrays.tensor(f"state.{kind}.bandwidth", requires_grad=True)
        kernel = truncated_kernel(
            distance,
            bandwidths[kind],
            truncation=truncation,
            straight_through=kind == "masked",
        )
        shares = compatibilities(kernel, eps=settings["epsilon"])
        arrays.check(kernel.transpose(0, 1), f"kernel_{kind}")
        arrays.check(shares.transpose(0, 1), f"C_{kind}")
        if kind in {"direct", "masked"}:
            loss = loss + (shares * torch.arange(shares.shape[-1])).sum()
    arrays.check(loss, "loss")
    loss.backward()
    found = {f"{kind}.bandwidth": bandwidths[kind].grad for kind in ("direct", "masked")}
    found |= {"in:types": types.grad, "in:signatures": signatures.grad}
    assert_gradients(found, arrays)


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


def ours(arrays: Golden, prefix: str = "state.") -> dict[str, tuple[str, Tensor]]:
    """Under our names: the original's name and array, but for what it does not use."""
    found = {}
    for key in arrays:
        original = key.removeprefix(prefix)
        if key == original or original.endswith(UNUSED):
            continue
        name = original.replace("transformer.scripts.", "scripts.")
        for old, new in (SCRIPT | LINE | LAYER).items():
            name = name.replace(old, new)
        found[name] = (original, arrays.tensor(key))
    return found


def load(module: nn.Module, arrays: Golden) -> nn.Module:
    state = {name: tensor for name, (_, tensor) in ours(arrays).items()}
    module.to(arrays.dtype).load_state_dict(state)
    return module


def gradients_of(module: nn.Module, arrays: Golden) -> dict[str, Tensor]:
    """Under the names of the original; all of ours that are learned."""
    names = {name: original for name, (original, _) in ours(arrays).items()}
    return {names[name]: parameter.grad for name, parameter in module.named_parameters()}


@precisions
@cases("ni_modlin")
def test_modulated_layers(case: str, dtype: torch.dtype, golden) -> None:
    arrays = Golden(case, golden(case), dtype)
    settings = arrays.meta["hyper_parameters"]
    x, codes = (arrays.tensor(f"in.{name}", requires_grad=True) for name in ("x", "codes"))
    layers = nn.ModuleDict()
    for name, bias in (("a", True), ("b", False)):
        sizes = settings["in_features"], settings[f"out_features_{name}"], settings["code"]
        layers[name] = ModLin(*sizes, bias=bias)
    load(layers, arrays)
    first = F.gelu(layers["a"](x.transpose(0, 1), codes)).transpose(0, 1)
    second = layers["b"](x.transpose(0, 1), codes).transpose(0, 1)
    arrays.check(first, "a")
    arrays.check(second, "b")
    (first.square().sum() + second.square().sum()).backward()
    found = gradients_of(layers, arrays) | {"in:x": x.grad, "in:codes": codes.grad}
    assert_gradients(found, arrays)


@precisions
@cases("ni_loc_pod")
def test_line_of_code(case: str, dtype: torch.dtype, golden) -> None:
    arrays = Golden(case, golden(case), dtype)
    settings = arrays.meta["hyper_parameters"]
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
    x, codes = (arrays.tensor(f"in.{name}", requires_grad=True) for name in ("x", "codes"))
    compatibility = arrays.tensor("in.C").transpose(0, 1)
    y = line(x.transpose(0, 1), compatibility, codes).transpose(0, 1)
    arrays.check(y, "y")
    y.square().mean().backward()
    found = gradients_of(line, arrays) | {"in:x": x.grad, "in:codes": codes.grad}
    assert_gradients(found, arrays)


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


@precisions
@cases("ni_small_model")
def test_network(case: str, dtype: torch.dtype, golden) -> None:
    arrays = Golden(case, golden(case), dtype)
    settings = arrays.meta["hyper_parameters"]
    network = network_of(settings)
    state = {in_network(name): tensor for name, (_, tensor) in ours(arrays).items()}
    state["reader.tokens"] = state["reader.tokens"].squeeze(0)
    network.to(dtype).load_state_dict(state)
    sets = list(settings["num_classes_in_dataset"])
    images = arrays.tensor("in.image")
    elements = network.reader.elements(network.encoder(images))
    found = network.reader.core(elements)
    every_image = torch.arange(len(images)).unsqueeze(1)
    logits = network(images, every_image).unflatten(1, (len(sets), -1))
    arrays.check(found[:, len(sets) :], "output_patches")
    for place, name in enumerate(sets):
        arrays.check(logits[:, place], f"logits_{name}")
    traces = network.reader.core.trace(elements)
    joined = [torch.cat(parts).transpose(0, 1) for parts in zip(*traces, strict=True)]
    outputs, types, compatibility = joined
    arrays.check(outputs, "tokens_per_iteration")
    lengths = torch.tensor(arrays["out64.types_per_iteration"]).norm(dim=-1, keepdim=True)
    arrays.check(types * lengths.to(dtype), "types_per_iteration")
    arrays.check(compatibility, "compatibilities")
    assert (compatibility == 0).any()
    trained = [sets.index(name) for name in re.findall(r"logits_(\w+)", arrays.meta["loss"])]
    target = torch.tensor(arrays["in.y"])
    loss = torch.stack([F.cross_entropy(logits[:, place], target) for place in trained]).sum()
    arrays.check(loss, "loss")
    loss.backward()
    names = {in_network(name): original for name, (original, _) in ours(arrays).items()}
    gradients = {names[name]: part.grad for name, part in network.named_parameters()}
    assert_gradients(gradients, arrays)


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
