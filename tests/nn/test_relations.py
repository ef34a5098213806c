"""Relational cross-attention, the Abstractor and slot attention beside the originals."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import pytest
import torch
from torch import Tensor, nn

from farfield.experiments import Spec
from farfield.nn import (
    Abstractor,
    DualAttentionTransformer,
    GroupAttentionConvolution,
    PositionalSymbols,
    RelationalConvolution,
    RelationalCrossAttention,
    RelativeSymbols,
    SlotAttention,
    SymbolLibrary,
)
from golden import Golden, cases, precisions
from made import gradcheck

ACTIVATIONS = ("softmax", "sigmoid", "tanh", "relu", "identity")


def drawn(*shape: int, seed: int = 0) -> Tensor:
    generator = torch.Generator().manual_seed(seed)
    return torch.randn(*shape, dtype=torch.float64, generator=generator)


def generator() -> torch.Generator:
    return torch.Generator().manual_seed(0)


def load(module: nn.Module, golden: Golden, names: Mapping[str, str]) -> nn.Module:
    """Set the parameters of a module from arrays of the original, by name."""
    module.to(golden.dtype)
    state = {
        ours: golden.tensor(f"state.{theirs}").reshape(module.state_dict()[ours].shape)
        for ours, theirs in names.items()
    }
    wanting = set(dict(module.named_parameters())) - set(state)
    assert not wanting
    module.load_state_dict(state, strict=False)
    return module


@cases("rivals_slot_attention")
@precisions
def test_slot_attention_is_the_original(case: str, dtype: torch.dtype, golden) -> None:
    arrays = Golden(case, golden(case), dtype)
    sizes = arrays.meta["hyper_parameters"]
    layer = SlotAttention(
        sizes["features"],
        num_slots=sizes["slots"],
        num_iterations=sizes["iterations"],
        feedforward_size=sizes["hidden"],
        eps=sizes["eps"],
    )
    names = {"mean": "slots_mu", "log_std": "slots_logsigma"}
    pairs = {"norm": "norm_input", "slot_norm": "norm_slots", "mlp_norm": "norm_pre_ff"}
    pairs |= {"query": "to_q", "key": "to_k", "value": "to_v", "fc1": "mlp.0", "fc2": "mlp.2"}
    for ours, theirs in pairs.items():
        names |= {f"{ours}.{kind}": f"{theirs}.{kind}" for kind in ("weight", "bias")}
    names |= {name: name for name, _ in layer.named_parameters() if name.startswith("gru.")}
    load(layer, arrays, names)
    arrays.check(layer(arrays.tensor("in.x"), noise=arrays.tensor("in.noise")), "slots")


@cases("rivals_relational_cross_attention")
@precisions
def test_relational_cross_attention_is_the_original(case: str, dtype, golden) -> None:
    arrays = Golden(case, golden(case), dtype)
    sizes = arrays.meta["hyper_parameters"]
    symbols = SymbolLibrary(
        sizes["d_model"], num_symbols=sizes["n_symbols"], num_heads=sizes["symbol_heads"]
    )
    names = {"templates": "template_features", "symbols": "symbol_library"}
    names |= {f"query.{kind}": f"q_proj.{kind}" for kind in ("weight", "bias")}
    load(symbols, arrays, {ours: f"symbols.{theirs}" for ours, theirs in names.items()})
    x = arrays.tensor("in.x")
    hidden = torch.ones(x.shape[1], x.shape[1]).triu(1).bool() if sizes["causal"] else None
    arrays.check(symbols(x), "symbols")
    layer = RelationalCrossAttention(
        sizes["d_model"],
        num_heads=sizes["n_heads"],
        activation=activation_of(arrays, sizes),
    )
    letters = {"query": "q", "key": "k", "value": "v", "output": "o"}
    load(layer, arrays, {f"{o}.weight": f"rca.w{t}.weight" for o, t in letters.items()})
    arrays.check(layer.relations(x, mask=hidden), "attention")
    arrays.check(layer(x, symbols(x), mask=hidden), "out")


def activation_of(arrays: Golden, sizes: Mapping[str, object]) -> str:
    """Read the activation of a case, from its relations where it names none."""
    for name in ("activation", "rel_activation", "relation_activation"):
        if name in sizes:
            return {"linear": "identity"}.get(str(sizes[name]), str(sizes[name]))
    relations = arrays["out64.attention"]
    if np.allclose(relations.sum(-1), 1) and relations.min() >= 0:
        return "softmax"
    return "sigmoid" if 0 <= relations.min() and relations.max() <= 1 else "identity"


def load_keras(layer: Abstractor, arrays: Golden) -> None:
    """Set the parameters of an Abstractor from arrays that are named by their order."""
    state = [name.removeprefix("state.") for name in arrays if name.startswith("state.")]
    kernels = [name for name in state if name.endswith((".kernel", ".gamma", ".symbols"))]
    rest = iter(kernels)
    found: dict[str, Tensor] = {}

    def take(ours: str, width: int) -> None:
        theirs = next(rest)
        kernel = arrays.tensor(f"state.{theirs}")
        found[f"{ours}.weight"] = kernel if kernel.ndim == 1 else kernel.reshape(-1, width).T
        bias = theirs.replace(".kernel", ".bias").replace(".gamma", ".beta")
        if bias in state:
            found[f"{ours}.bias"] = arrays.tensor(f"state.{bias}").flatten()

    size = layer.num_features
    heads = [name for name in kernels if name.endswith(".symbols")]
    if isinstance(layer.symbols, SymbolLibrary):
        tables = {"symbols": "symbols", "templates": "binding"}
        for ours, theirs in tables.items():
            parts = [arrays.tensor(f"state.{h.removesuffix('symbols')}{theirs}") for h in heads]
            found[f"symbols.{ours}"] = torch.cat(parts, dim=1)
        queries = [h.removesuffix("symbols") + "query_mapping.kernel" for h in heads]
        maps = [arrays.tensor(f"state.{name}") for name in queries]
        found["symbols.query.weight"] = torch.cat(maps, dim=1).T
        rest = iter([name for name in kernels if name not in {*queries, *heads}])
    else:
        found["symbols.symbols"] = arrays.tensor(f"state.{next(rest)}")
    for number, block in enumerate(layer.layers):
        for attention, norm in (("own", "norm1"), ("cross", "norm2")):
            if getattr(block, attention) is not None:
                for part in ("query", "key", "value", "output"):
                    of_heads = part == "output"
                    width = size if of_heads else layer.layers[0].cross.query.out_features
                    take(f"layers.{number}.{attention}.{part}", width)
                take(f"layers.{number}.{norm}", size)
        take(f"layers.{number}.fc1", block.fc1.out_features)
        take(f"layers.{number}.fc2", size)
        take(f"layers.{number}.norm3", size)
    layer.load_state_dict(found)


@cases("rivals_abstractor")
@precisions
def test_the_released_abstractor(case: str, dtype: torch.dtype, golden) -> None:
    arrays = Golden(case, golden(case), dtype)
    sizes = arrays.meta["hyper_parameters"]
    retrieving = "symbol_n_heads" in sizes
    library = Spec(
        SymbolLibrary,
        num_symbols=sizes["symbols"] if retrieving else 1,
        num_heads=sizes.get("symbol_n_heads", 1),
        bias=False,
    )
    table = Spec(PositionalSymbols, num_symbols=sizes["objects"], sinusoidal=True)
    layer = Abstractor(
        sizes["d_model"],
        symbols=library if retrieving else table,
        num_layers=sizes["layers"],
        num_heads=sizes["num_heads"],
        feedforward_size=sizes["dff"],
        activation=activation_of(arrays, sizes),
        self_attention=sizes.get("use_self_attn", True),
        released=True,
    ).to(dtype)
    load_keras(layer, arrays)
    x = arrays.tensor("in.x")
    arrays.check(layer.layers[-1].cross.relations(x), "attention")
    arrays.check(layer(x), "out")


@cases("rivals_dual_attention_block")
@precisions
def test_the_dual_attention_block(case: str, dtype: torch.dtype, golden) -> None:
    arrays = Golden(case, golden(case), dtype)
    sizes = arrays.meta["hyper_parameters"]
    library = arrays["state.symbols.symbol_library"]
    layer = DualAttentionTransformer(
        sizes["d_model"],
        symbols=Spec(SymbolLibrary, num_symbols=len(library), num_heads=sizes["n_heads_ra"]),
        num_layers=1,
        num_heads=sizes["n_heads_sa"],
        num_relational_heads=sizes["n_heads_ra"],
        num_relations=sizes["n_relations"],
        feedforward_size=sizes["dff"],
        norm_first=sizes["norm_first"],
    )
    names = {"symbols.templates": "symbols.template_features"}
    names |= {"symbols.symbols": "symbols.symbol_library"}
    layers = {"norm1": "norm1", "norm2": "norm2"}
    layers |= {"fc1": "ff_block.linear1", "fc2": "ff_block.linear2"}
    layers = {f"blocks.0.{ours}": f"block.{theirs}" for ours, theirs in layers.items()}
    for ours, theirs in (layers | {"symbols.query": "symbols.q_proj"}).items():
        names |= {f"{ours}.{kind}": f"{theirs}.{kind}" for kind in ("weight", "bias")}
    ours, theirs = "blocks.0.attention.", "block.dual_attn."
    names[f"{ours}relation"] = f"{theirs}relational_attention.wr"
    own = {"query": "wq", "key": "wk", "value": "wv", "output": "wo"}
    relational = {"relational_query": "wq_attn", "relational_key": "wk_attn", "first": "wq_rel"}
    relational |= {"second": "wk_rel", "symbol": "wv", "relational_output": "wo"}
    for kind, parts in (("self_attention", own), ("relational_attention", relational)):
        for part, letter in parts.items():
            names[f"{ours}{part}.weight"] = f"{theirs}{kind}.{letter}.weight"
    load(layer, arrays, names)
    x = arrays.tensor("in.x")
    hidden = torch.ones(x.shape[1], x.shape[1]).triu(1).bool() if sizes["causal"] else None
    block = layer.blocks[0]
    symbols = layer.symbols(x)
    given = block.norm1(x) if sizes["norm_first"] else x
    arrays.check(symbols, "symbols")
    arrays.check(block.attention.relations(given), "relations")
    arrays.check(block.attention(given, symbols, mask=hidden), "dual")
    arrays.check(layer(x, mask=hidden), "out")


def keras_sides(arrays: Golden, prefix: str, symmetric: bool) -> dict[str, Tensor]:
    """Join the layers of all relations: first sides, then second sides."""
    names = [name for name in arrays if name.startswith(f"state.{prefix}dense")]
    found = {}
    for kind in ("kernel", "bias"):
        parts = [arrays.tensor(name) for name in names if name.endswith(kind)]
        half = len(parts) // (1 if symmetric else 2)
        sides = {"first": parts[:half]} | ({} if symmetric else {"second": parts[half:]})
        for side, own in sides.items():
            joined = torch.cat(own, dim=-1)
            found[f"{side}.{'weight' if kind == 'kernel' else 'bias'}"] = joined.T
    return found


@pytest.mark.filterwarnings("ignore:The use of `x.T`")
@cases("rivals_relational_convolution")
@precisions
def test_relational_convolution_is_the_original(case: str, dtype, golden) -> None:
    arrays = Golden(case, golden(case), dtype)
    sizes = arrays.meta["hyper_parameters"]
    shared = {
        "num_relations": sizes["rel_dim"],
        "projection_size": sizes["proj_dim"],
        "num_filters": sizes["filters"],
        "group_size": sizes["graphlet_size"],
        "symmetric": sizes["symmetric"],
        "aggregator": sizes["aggregator"] if sizes["symmetric"] else None,
    }
    x = arrays.tensor("in.x")
    soft = RelationalConvolution(
        sizes["width"],
        **shared,
        ordered=sizes["groups"] == "permutations",
        num_groups=sizes["n_groups"],
        num_items=sizes["objects"],
        beta=sizes["beta"],
    ).to(dtype)
    every = RelationalConvolution(
        sizes["width"], **shared, ordered=sizes["groups"] == "permutations"
    ).to(dtype)
    sides = keras_sides(arrays, "multi_dim_inner_prod_relation.", sizes["symmetric"])
    sides["filters"] = arrays.tensor("state.relational_graphlet_convolution.filters")
    for layer in (soft, every):
        layer.inside.load_state_dict(sides)
    arrays.check(every.inside.relations(x), "relations")
    arrays.check(every(x), "all_groups")
    if sizes["grouping"] == "temporal":
        soft.logits.data = arrays.tensor("state.temporal_grouping.group_matrix")
        arrays.check(soft(x), "grouped")
    attending = GroupAttentionConvolution(
        sizes["width"],
        **shared,
        num_groups=sizes["n_groups"],
        key_size=sizes["group_attn_key_dim"],
        positions=sizes["group_attn_key"] == "pos+feat",
    ).to(dtype)
    prefix = "relational_graphlet_convolution_group_attn."
    sides = keras_sides(arrays, f"{prefix}multi_dim_inner_prod_relation_1.", sizes["symmetric"])
    sides["filters"] = arrays.tensor(f"state.{prefix}filters")
    attending.inside.load_state_dict(sides)
    attending.queries.data = arrays.tensor("state.embedding.embeddings")
    (key,) = [
        name for name in arrays
        if name.startswith("state.dense") and arrays[name].shape[-1] == sizes["group_attn_key_dim"]
    ]  # fmt: skip
    attending.key.weight.data = arrays.tensor(key).T
    arrays.check(attending.attention(x), "group_attention_scores")
    arrays.check(attending(x), "group_attention")


# --- The equations, in loops ----------------------------------------------------------------------


def read_by_loops(
    layer: RelationalCrossAttention, x: np.ndarray, symbols: np.ndarray
) -> np.ndarray:
    """Relational cross-attention of one set, number by number."""
    weights = {name: weight.detach().numpy() for name, weight in layer.named_parameters()}
    items, width = len(x), weights["query.weight"].shape[0]
    size, found = width // layer.num_heads, np.zeros((len(x), width))
    rho = {"sigmoid": lambda t: 1 / (1 + np.exp(-t)), "tanh": np.tanh}
    rho |= {"relu": lambda t: np.maximum(t, 0), "identity": lambda t: t}
    for head in range(layer.num_heads):
        own = slice(head * size, (head + 1) * size)
        for i in range(items):
            query = weights["query.weight"][own] @ x[i]
            scores = np.array(
                [query @ weights["key.weight"][own] @ x[j] / size**0.5 for j in range(items)]
            )
            if layer.activation == "softmax":
                relations = np.exp(scores) / np.exp(scores).sum()
            else:
                relations = rho[layer.activation](scores)
            for j in range(items):
                symbol = symbols[i, j] if symbols.ndim == 3 else symbols[j]
                found[i, own] += relations[j] * (weights["value.weight"][own] @ symbol)
    return found @ weights["output.weight"].T


@pytest.mark.parametrize("activation", ACTIVATIONS)
@pytest.mark.parametrize("pairs", [False, True])
def test_relational_cross_attention_by_loops(activation: str, pairs: bool) -> None:
    layer = RelationalCrossAttention(
        6, num_heads=2, activation=activation, generator=generator()
    ).double()
    x = drawn(2, 4, 6)
    symbols = drawn(2, 4, 4, 6, seed=1) if pairs else drawn(2, 4, 6, seed=1)
    expected = [read_by_loops(layer, a.numpy(), b.numpy()) for a, b in zip(x, symbols, strict=True)]
    np.testing.assert_allclose(layer(x, symbols).detach(), expected, rtol=1e-9, atol=1e-12)
    assert gradcheck(lambda z: layer(z, symbols), x.requires_grad_())


def test_symbols_of_distances_end_at_the_reach() -> None:
    table = RelativeSymbols(3, reach=2, generator=generator())
    symbols = table(torch.zeros(1, 6, 3))[0]
    for i in range(6):
        for j in range(6):
            assert torch.equal(symbols[i, j], table.symbols[min(max(j - i, -2), 2) + 2])


@pytest.mark.parametrize("symbols", [PositionalSymbols, RelativeSymbols, SymbolLibrary])
def test_an_abstractor_takes_every_kind_of_symbols(symbols: type[nn.Module]) -> None:
    layer = Abstractor(6, symbols=symbols, num_layers=2, generator=generator()).double()
    x = drawn(2, 5, 6)
    assert layer(x).shape == x.shape


def test_an_abstractor_sees_relations_alone() -> None:
    """Turned objects have the same inner products if queries and keys are the identity."""
    layer = Abstractor(6, num_heads=1, generator=generator()).double()
    for block in layer.layers:
        torch.nn.init.eye_(block.cross.query.weight)
        torch.nn.init.eye_(block.cross.key.weight)
    turn, _ = torch.linalg.qr(drawn(6, 6))
    x = drawn(2, 5, 6, seed=1)
    torch.testing.assert_close(layer(x @ turn), layer(x), rtol=1e-9, atol=1e-9)
    assert not torch.allclose(layer(x + 1), layer(x))


@pytest.mark.parametrize(
    "layer",
    [
        Abstractor(6, symbols=SymbolLibrary, generator=generator()),
        DualAttentionTransformer(6, num_heads=1, num_relational_heads=1, generator=generator()),
        GroupAttentionConvolution(6, num_groups=2, generator=generator()),
        SlotAttention(6, num_slots=2, generator=generator()),
    ],
    ids=lambda layer: type(layer).__name__,
)
def test_padding_is_nothing(layer: nn.Module) -> None:
    layer = layer.double()
    x, padding = drawn(2, 5, 6), torch.zeros(2, 5).bool()
    padding[1, 3:] = True
    alone = layer(x[1:, :3])
    found = layer(x, padding)[1:]
    kept = found[:, :3] if found.shape[1] == x.shape[1] else found
    torch.testing.assert_close(kept, alone, rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize("aggregator", ["mean", "max"])
def test_aggregated_groups_have_no_order(aggregator: str) -> None:
    layer = RelationalConvolution(
        4, group_size=3, symmetric=True, aggregator=aggregator, generator=generator()
    ).double()
    x = drawn(2, 3, 4)
    torch.testing.assert_close(layer(x.flip(1)), layer(x), rtol=1e-9, atol=1e-9)


def test_slots_compete() -> None:
    layer = SlotAttention(
        6, num_slots=3, num_iterations=1, eps=1e-12, generator=generator()
    ).double()
    x, noise = drawn(2, 5, 6), drawn(2, 3, 6, seed=1)
    slots, attention = layer.slots_and_attention(x, noise=noise)
    assert slots.shape == (2, 3, 6)
    torch.testing.assert_close(attention.sum(-1), torch.ones(2, 3).double())
    swapped, _ = layer.slots_and_attention(x, noise=noise.flip(1))
    torch.testing.assert_close(swapped.flip(1), slots, rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda: RelationalCrossAttention(6, num_heads=4), "num_heads must divide"),
        (lambda: SymbolLibrary(6, num_heads=4), "num_heads must divide"),
        (lambda: DualAttentionTransformer(6, num_heads=3), "together must divide"),
        (lambda: DualAttentionTransformer(8, num_relations=3), "num_relations must divide"),
        (lambda: RelationalConvolution(6, num_groups=2), "belong together"),
        (lambda: RelationalConvolution(6)(torch.zeros(1, 2, 6)), "at least group_size=3"),
        (lambda: PositionalSymbols(6, num_symbols=2)(torch.zeros(1, 3, 6)), "at most num_symbols"),
        (
            lambda: RelationalCrossAttention(6)(torch.zeros(2, 3, 6), torch.zeros(2, 4, 6)),
            "symbols must be",
        ),
        (
            lambda: SlotAttention(6)(torch.zeros(2, 3, 6), noise=torch.zeros(2, 3, 6)),
            "noise must be of shape",
        ),
        (
            lambda: RelationalCrossAttention(6).relations(
                torch.zeros(2, 3, 6), mask=torch.zeros(3, 3)
            ),
            "mask must be bool",
        ),
    ],
)
@pytest.mark.usefixtures("unchecked")
def test_refusals(make, words: str) -> None:
    with pytest.raises(ValueError, match=words):
        make()
