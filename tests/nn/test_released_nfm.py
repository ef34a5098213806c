"""Neural function modules against arrays of the released code: reads, attention, gradients."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import torch
from torch import Tensor

from farfield.functional.internal import NFMRead, NFMRules, WrittenState
from farfield.nn import NFM
from golden import Golden, cases, precisions, within

NAMES = {"query": "query_layers", "key": "key_layers", "value": "val_layers", "out": "out_layers"}


def ours(arrays: Golden, prefix: str) -> dict[str, np.ndarray]:
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


def loaded(arrays: Golden) -> NFM:
    settings = arrays.meta["hyper_parameters"]
    rules = replace(
        NFMRules.released(),
        num_heads=settings["n_heads"],
        key_size=settings["key_size"],
        value_size=settings["val_size"],
        top_k=None if settings["kept"] == "all" else settings["kept"],
    )
    nfm = NFM(tuple(settings["layer_channels"]), rules=rules).to(arrays.dtype)
    state = {name: torch.tensor(array) for name, array in ours(arrays, "state.").items()}
    nfm.load_state_dict(state)
    assert nfm.rules.temperature == settings["temperature"]
    return nfm.train(arrays.meta["mode"] == "train")


def both_reads(nfm: NFM, arrays: Golden) -> dict[str, tuple[Tensor, NFMRead]]:
    """Before the last layer is written, and after."""
    *below, x = (arrays.tensor(f"in.x{i}") for i in range(len(nfm.layers)))
    reader = len(below)
    written: list[WrittenState] = [nfm.write(each, layer) for layer, each in enumerate(below)]
    first = nfm.trace(x, written, reader)
    return {
        "read_only": first,
        "read_write": nfm.trace(x, [*written, nfm.write(x, reader)], reader),
    }


@precisions
@cases("nfm_read")
def test_reads(case: str, dtype: torch.dtype, golden) -> None:
    arrays = Golden(case, golden(case), dtype)
    nfm = loaded(arrays)
    for name, (y, read) in both_reads(nfm, arrays).items():
        arrays.check(y, f"y_{name}", 1e-12)
        attention = torch.cat((*read.attention, read.null.unsqueeze(-1)), -1)
        arrays.check(attention, f"attention_{name}", 1e-12)
    after = nfm.state_dict()
    for name, expected in ours(arrays, "state_after.").items():
        within(
            after[name], expected, 1e-6 * max(np.abs(expected).max(), 1.0)
        )  # the buffers of the original are float32


@precisions
@cases("nfm_read")
def test_gradients(case: str, dtype: torch.dtype, golden) -> None:
    """Those of the original are float32."""
    arrays = Golden(case, golden(case), dtype)
    nfm = loaded(arrays)
    loss = torch.stack([y.square().mean() for y, _ in both_reads(nfm, arrays).values()]).sum()
    arrays.check(loss, "loss", 1e-12)
    loss.backward()
    compared = ours(arrays, "grad.")
    assert compared
    for name, expected in compared.items():
        arrays.check_gradients(nfm.get_parameter(name).grad, expected)
