"""RIMs against arrays of the released code: states, attention, gradients."""

from __future__ import annotations

import json
import os
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import torch
from torch import Tensor

from farfield.nn import InputAttention, RIMs, Wiring

GOLDEN = Path(os.environ.get("FARFIELD_GOLDEN") or Path(__file__).parents[3] / "shared" / "golden")
CASES = sorted(path.name for path in GOLDEN.glob("rims_core*")) or ["rims_core_step_lstm"]
cases = pytest.mark.parametrize("case", CASES)


def settings_of(case: str) -> dict[str, int]:
    return json.loads((GOLDEN / case / "meta.json").read_text())["hyper_parameters"]


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
    ).double()


def by_mechanism(weight: np.ndarray, mechanisms: int, gates: int) -> np.ndarray:
    """The diagonal blocks of a weight with gates first: (mechanism, gate · unit, column)."""
    blocks = weight.reshape(gates, mechanisms, -1, mechanisms, weight.shape[1] // mechanisms)
    return np.stack([blocks[:, m, :, m].reshape(-1, blocks.shape[-1]) for m in range(mechanisms)])


def by_head(weight: np.ndarray, heads: int) -> np.ndarray:
    """(…, in, head · number) as (…, head, number, in)."""
    split = weight.reshape(*weight.shape[:-1], heads, -1)
    return np.moveaxis(split, -3, -1)


def ours(
    arrays: dict[str, np.ndarray], prefix: str, settings: dict[str, int]
) -> dict[str, np.ndarray]:
    """Arrays of the original under our names and in our layout; the null's rows are left out."""
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


def loaded(case: str, arrays: dict[str, np.ndarray]) -> RIMs:
    settings = settings_of(case)
    layer = layer_of(settings, gru=any("gru" in key for key in arrays)).eval()
    state = ours(arrays, "state.", settings)
    layer.load_state_dict({name: torch.tensor(array) for name, array in state.items()})
    return layer


def given(arrays: dict[str, np.ndarray]) -> tuple[Tensor, tuple[Tensor, ...]]:
    x = torch.tensor(arrays["in.x"]).double()
    begun = [torch.tensor(arrays[f"in.{part}"]).double() for part in "hc" if f"in.{part}" in arrays]
    return (x if x.ndim == 3 else x.unsqueeze(0)), tuple(part.unsqueeze(0) for part in begun)


def assert_near(found: Tensor, expected: np.ndarray, tolerance: float) -> None:
    scale = max(np.abs(expected).max(), 1.0)
    np.testing.assert_allclose(
        found.detach().numpy().reshape(expected.shape), expected, rtol=0, atol=tolerance * scale
    )


@cases
def test_states_and_attention(case: str, golden) -> None:
    arrays = golden(case)
    layer = loaded(case, arrays)
    (trace,) = layer.trace(*given(arrays))
    units = trace.active.repeat_interleave(layer.hidden_size // layer.num_mechanisms, dim=-1)
    found = {
        "h": trace.state[0],
        "c": trace.state[-1],
        "mask": units[-1].double(),
        "input_attention": trace.input_attention[-1].mean(1),
        "comm_attention": trace.communication[-1].transpose(0, 1),
    }
    kept = {name.removeprefix("out64.") for name in arrays if name.startswith("out64.")}
    assert "h" in kept
    for name in found.keys() & kept:
        assert_near(found[name], arrays[f"out64.{name}"], 1e-9)


@cases
def test_gradients(case: str, golden) -> None:
    """Those of the original are float32."""
    arrays, settings = golden(case), settings_of(case)
    if "out64.c" not in arrays:
        pytest.skip("its loss is that of another case")
    layer = loaded(case, arrays)
    x, state = given(arrays)
    leaves = [tensor.requires_grad_() for tensor in (x, *state)]
    _, (hidden, cell) = layer(leaves[0], tuple(leaves[1:]))
    units = torch.arange(layer.hidden_size)
    loss = hidden.square().sum() + (cell * units).sum() / layer.hidden_size
    np.testing.assert_allclose(loss.item(), arrays["out64.loss"], rtol=1e-9)
    loss.backward()
    for name, expected in ours(arrays, "grad.", settings).items():
        assert_near(layer.get_parameter(name).grad, expected, 3e-7)
    for name, leaf in zip("xhc", leaves, strict=True):
        assert_near(leaf.grad, arrays[f"gradin.{name}"], 3e-7)


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
