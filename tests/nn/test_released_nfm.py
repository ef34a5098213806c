"""Neural function modules against arrays of the released code: reads, attention, gradients."""

from __future__ import annotations

import json
import os
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import torch
from torch import Tensor

from farfield.functional import NFMRead, NFMRules, WrittenState
from farfield.nn import NFM

GOLDEN = Path(os.environ.get("FARFIELD_GOLDEN") or Path(__file__).parents[3] / "shared" / "golden")
CASES = sorted(path.name for path in GOLDEN.glob("nfm_read*")) or ["nfm_read_sparse"]
cases = pytest.mark.parametrize("case", CASES)
NAMES = {"query": "query_layers", "key": "key_layers", "value": "val_layers", "out": "out_layers"}


def ours(arrays: dict[str, np.ndarray], prefix: str) -> dict[str, np.ndarray]:
    """Arrays of the original under our names; its 1×1 convolutions are linear layers here."""
    found = {}
    for key, array in arrays.items():
        kind, *place = key.removeprefix(prefix).split(".")
        if not key.startswith(prefix):
            continue
        if kind == "gammas":
            found[f"layers.{place[0]}.gamma"] = array
            continue
        (name,) = (name for name, theirs in NAMES.items() if theirs == kind)
        linear = name != "out" and place[1] == "weight"
        found[".".join(("layers", place[0], name, *place[1:]))] = (
            array[:, :, 0, 0] if linear else array
        )
    return found


def loaded(case: str, arrays: dict[str, np.ndarray]) -> NFM:
    meta = json.loads((GOLDEN / case / "meta.json").read_text())
    settings = meta["hyper_parameters"]
    rules = replace(
        NFMRules.released(),
        num_heads=settings["n_heads"],
        key_size=settings["key_size"],
        value_size=settings["val_size"],
        top_k=None if settings["kept"] == "all" else settings["kept"],
    )
    nfm = NFM(tuple(settings["layer_channels"]), rules=rules).double()
    state = {name: torch.tensor(array) for name, array in ours(arrays, "state.").items()}
    nfm.load_state_dict(state)
    assert nfm.rules.temperature == settings["temperature"]
    return nfm.train(meta["mode"] == "train")


def both_reads(nfm: NFM, arrays: dict[str, np.ndarray]) -> dict[str, tuple[Tensor, NFMRead]]:
    """Before the last layer is written, and after."""
    *below, x = (torch.tensor(arrays[f"in.x{i}"]).double() for i in range(len(nfm.layers)))
    reader = len(below)
    written: list[WrittenState] = [nfm.write(each, layer) for layer, each in enumerate(below)]
    first = nfm.trace(x, written, reader)
    return {
        "read_only": first,
        "read_write": nfm.trace(x, [*written, nfm.write(x, reader)], reader),
    }


def assert_near(found: Tensor, expected: np.ndarray, tolerance: float) -> None:
    scale = max(np.abs(expected).max(), 1.0)
    np.testing.assert_allclose(
        found.detach().numpy().reshape(expected.shape), expected, rtol=0, atol=tolerance * scale
    )


@cases
def test_reads(case: str, golden) -> None:
    arrays = golden(case)
    nfm = loaded(case, arrays)
    for name, (y, read) in both_reads(nfm, arrays).items():
        assert_near(y, arrays[f"out64.y_{name}"], 1e-12)
        attention = torch.cat((*read.attention, read.null.unsqueeze(-1)), -1)
        assert_near(attention, arrays[f"out64.attention_{name}"], 1e-12)
    after = nfm.state_dict()
    for name, expected in ours(arrays, "state_after.").items():
        assert_near(after[name], expected, 1e-6)  # the buffers of the original are float32


@cases
def test_gradients(case: str, golden) -> None:
    """Those of the original are float32."""
    arrays = golden(case)
    nfm = loaded(case, arrays)
    loss = torch.stack([y.square().mean() for y, _ in both_reads(nfm, arrays).values()]).sum()
    np.testing.assert_allclose(loss.item(), arrays["out64.loss"], rtol=1e-12)
    loss.backward()
    compared = ours(arrays, "grad.")
    assert compared
    for name, expected in compared.items():
        assert_near(nfm.get_parameter(name).grad, expected, 5e-7)
