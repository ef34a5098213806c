"""RIMs against arrays of the released code: states, attention, gradients."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
import torch
from torch import Tensor

from farfield.nn import InputAttention, RIMs, Wiring
from golden import Golden, cases, precisions


def layer_of(settings: dict[str, int], *, gru: bool) -> RIMs:
    """The layer of a case, without weights of its own."""
    wiring = Wiring.released(gru=gru)
    reading = replace(
        wiring.input_attention,
        num_heads=settings["input_heads"],
        key_size=settings["input_key"],
        value_size=settings["input_value"],
    )
    telling = replace(
        wiring.communication,
        num_heads=settings["comm_heads"],
        key_size=settings["comm_key"],
        value_size=settings["comm_value"],
    )
    return RIMs(
        settings["ninp"],
        settings["nhid"],
        num_mechanisms=settings["num_blocks"],
        num_active=settings["topk"],
        wiring=replace(wiring, input_attention=reading, communication=telling),
    )


def by_mechanism(weight: np.ndarray, mechanisms: int, gates: int) -> np.ndarray:
    """The diagonal blocks of a weight with gates first: (mechanism, gate · unit, column)."""
    blocks = weight.reshape(gates, mechanisms, -1, mechanisms, weight.shape[1] // mechanisms)
    return np.stack([blocks[:, m, :, m].reshape(-1, blocks.shape[-1]) for m in range(mechanisms)])


def by_head(weight: np.ndarray, heads: int) -> np.ndarray:
    """(…, in, head · number) as (…, head, number, in)."""
    split = weight.reshape(*weight.shape[:-1], heads, -1)
    return np.moveaxis(split, -3, -1)


def ours(arrays: Golden, prefix: str) -> dict[str, np.ndarray]:
    """Arrays of the original under our names and in our layout; the null's rows are left out."""
    settings = arrays.meta["hyper_parameters"]
    own = {key.removeprefix(prefix): array for key, array in arrays.items()}
    cell = next(key for key in own if key.endswith(".weight_hh") and key.startswith("block_"))
    cell, mechanisms = cell.removesuffix("weight_hh"), settings["num_blocks"]
    gates = len(own[f"{cell}bias_hh"]) // settings["nhid"]
    found = {
        f"weight_{kind}": by_mechanism(own[f"{cell}weight_{kind}"], mechanisms, gates)
        for kind in ("ih", "hh")
    }
    for kind in ("ih", "hh"):
        bias = own[f"{cell}bias_{kind}"].reshape(gates, mechanisms, -1)
        found[f"bias_{kind}"] = bias.swapaxes(0, 1).reshape(mechanisms, -1)
    read, told = settings["input_heads"], settings["comm_heads"]
    found["input_attention.query"] = by_head(own["inp_att.GLN_qs.w"], read)
    found["input_attention.key"] = by_head(own["inp_att.GLN_ks.w"][1], read)
    found["input_attention.value"] = by_head(own["inp_att.GLN_vs.w"][1], read)
    for name, short in (("query", "qs"), ("key", "ks"), ("value", "vs")):
        found[f"communication.{name}"] = by_head(own[f"mha.GLN_{short}.w"], told)
    for kind in ("weight", "bias"):
        found[f"communication.gate_{kind}"] = own[f"mha.gate_fc.{kind}"]
        found[f"communication.out_{kind}"] = own[f"mha.fc.{kind}"]
    return {f"layers.0.{name}": array for name, array in found.items()}


def loaded(arrays: Golden) -> RIMs:
    gru = any("gru" in key for key in arrays)
    layer = layer_of(arrays.meta["hyper_parameters"], gru=gru).to(arrays.dtype).eval()
    state = ours(arrays, "state.")
    layer.load_state_dict({name: torch.tensor(array) for name, array in state.items()})
    return layer


def given(arrays: Golden) -> tuple[Tensor, tuple[Tensor, ...]]:
    x = arrays.tensor("in.x")
    begun = [arrays.tensor(f"in.{part}") for part in "hc" if f"in.{part}" in arrays]
    return (x if x.ndim == 3 else x.unsqueeze(0)), tuple(part.unsqueeze(0) for part in begun)


@precisions
@cases("rims_core")
def test_states_and_attention(case: str, dtype: torch.dtype, golden) -> None:
    arrays = Golden(case, golden(case), dtype)
    layer = loaded(arrays)
    (trace,) = layer.trace(*given(arrays))
    units = trace.active.repeat_interleave(layer.hidden_size // layer.num_mechanisms, dim=-1)
    found = {
        "h": trace.state[0],
        "c": trace.state[-1],
        "mask": units[-1].to(dtype),
        "input_attention": trace.input_attention[-1].mean(1),
        "comm_attention": trace.communication[-1].transpose(0, 1),
    }
    kept = {name.removeprefix("out64.") for name in arrays if name.startswith("out64.")}
    assert "h" in kept
    for name in found.keys() & kept:
        arrays.check(found[name], name)


@precisions
@cases("rims_core")
def test_gradients(case: str, dtype: torch.dtype, golden) -> None:
    """Those of the original are float32."""
    arrays = Golden(case, golden(case), dtype)
    if "out64.c" not in arrays:
        pytest.skip("its loss is that of another case")
    layer = loaded(arrays)
    x, state = given(arrays)
    leaves = [tensor.requires_grad_() for tensor in (x, *state)]
    _, (hidden, cell) = layer(leaves[0], tuple(leaves[1:]))
    units = torch.arange(layer.hidden_size)
    loss = hidden.square().sum() + (cell * units).sum() / layer.hidden_size
    arrays.check(loss, "loss")
    loss.backward()
    for name, expected in ours(arrays, "grad.").items():
        arrays.check_gradients(layer.get_parameter(name).grad, expected)
    for name, leaf in zip("xhc", leaves, strict=True):
        arrays.check_gradient(leaf.grad, f"gradin.{name}")


def test_the_variant_for_agents_shares_the_input_among_mechanisms() -> None:
    wiring, plain = Wiring.released_for_agents(), Wiring.released()
    assert replace(wiring.input_attention, over_mechanisms=False) == plain.input_attention
    assert replace(wiring.communication, key_size=16) == plain.communication
    layer = RIMs(5, 510, wiring=wiring).eval()
    (trace,) = layer.trace(torch.randn(3, 2, 5, generator=torch.Generator().manual_seed(0)))
    torch.testing.assert_close(trace.input_attention.sum(-2), torch.ones(3, 2, 1, 1))
    assert (trace.active.sum(-1) == 4).all()
    with pytest.raises(ValueError, match="per_position must be False with over_mechanisms"):
        InputAttention(per_position=True, over_mechanisms=True)
