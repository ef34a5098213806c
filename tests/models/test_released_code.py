"""Whole models against the arrays of the released code: answers, losses, gradients."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from farfield.models import ESBN, LSTM, NTM, PrediNet, Transformer
from farfield.models.internal import Relational
from farfield.nn import ContextNorm, ConvEncoder
from golden import Golden, precisions

LAYER = "transformer_encoder.layers.0"
RELEASED_NAMES = {
    "context.weight": "gamma",
    "context.bias": "beta",
    "reasoner.controller.weight_ih": "lstm.weight_ih_l0",
    "reasoner.controller.weight_hh": "lstm.weight_hh_l0",
    "reasoner.controller.bias_ih": "lstm.bias_ih_l0",
    "reasoner.controller.bias_hh": "lstm.bias_hh_l0",
    "reasoner.attention_in.weight": f"{LAYER}.self_attn.in_proj_weight",
    "reasoner.attention_in.bias": f"{LAYER}.self_attn.in_proj_bias",
    "reasoner.query1.weight": "W_q1.weight",
    "reasoner.query2.weight": "W_q2.weight",
    "reasoner.shared_key.weight": "W_k.weight",
    "reasoner.shared_relation.weight": "W_s.weight",
    "reasoner.memory": "memory_init",
    "reasoner.confidence_gain": "confidence_gain",
    "reasoner.confidence_bias": "confidence_bias",
}
RELEASED_LAYERS = {
    "reasoner.key": "key_w_out",
    "reasoner.gate": "g_out",
    "reasoner.output": "y_out",
    "reasoner.hidden": "out_hidden",
    "reasoner.attention_out": f"{LAYER}.self_attn.out_proj",
    "reasoner.norm1": f"{LAYER}.norm1",
    "reasoner.norm2": f"{LAYER}.norm2",
    "reasoner.norm3": "transformer_encoder.norm",
    "reasoner.fc1": f"{LAYER}.linear1",
    "reasoner.fc2": f"{LAYER}.linear2",
}

NTM_HEADS = (
    "read_key",
    "write_key",
    "add",
    "erase",
    "read_interp_gate",
    "write_interp_gate",
    "read_key_strength",
    "write_key_strength",
    "read_sharpen",
    "write_sharpen",
    "read_shift_w",
    "write_shift_w",
)


def released_array(name: str, arrays: Golden) -> np.ndarray:
    layer, _, kind = name.rpartition(".")
    if layer == "reasoner.heads":
        return np.concatenate([arrays[f"state.{head}_out.{kind}"] for head in NTM_HEADS])
    return arrays[f"state.{released_name(name)}"]


def released_name(name: str) -> str:
    layer, _, kind = name.rpartition(".")
    if layer in RELEASED_LAYERS:
        return f"{RELEASED_LAYERS[layer]}.{kind}"
    return RELEASED_NAMES.get(name, name)


def small(num_outputs: int) -> ESBN:
    return ESBN(128, num_outputs, hidden_size=48, key_size=24)


PAIRS = ((0, 1), (2, 3), (4, 5))
CASES = {
    "esbn_dist3_T9": (lambda: small(4), None),
    "esbn_dist3_full_width": (lambda: ESBN(128, 4), None),
    "esbn_rmts_segmented_T6": (lambda: small(2), PAIRS),
    "esbn_samediff_T2": (lambda: small(2), None),
    "esbn_zoo_lstm": (lambda: LSTM(128, 4, hidden_size=48), None),
    "esbn_zoo_ntm": (
        lambda: NTM(128, 4, hidden_size=48, slot_size=24, first_read=False),
        None,
    ),
    "esbn_zoo_predinet": (lambda: PrediNet(128, 4, 9), None),
    "esbn_zoo_transformer": (lambda: Transformer(128, 4, final_norm=True), None),
}
# The released code fills its table of positions in float32; everything else is exact.
TOLERANCE = dict.fromkeys(CASES, 1e-9) | {"esbn_zoo_transformer": 5e-7}


def loaded(case: str, arrays: Golden) -> Relational:
    reasoner, segments = CASES[case]
    context = ContextNorm(128, segments=segments, correction=1)
    model = Relational(ConvEncoder(), context, reasoner()).to(arrays.dtype)
    model.load_state_dict(
        {name: torch.tensor(released_array(name, arrays)) for name in model.state_dict()}
    )
    return model


def answers(model: Relational, arrays: Golden) -> torch.Tensor:
    """Each distinct glyph in the table once, whatever the number of its places."""
    images = arrays.tensor("in.x")
    _, first, index = np.unique(arrays["in.seq_ind"], return_index=True, return_inverse=True)
    return model(images.flatten(0, 1)[first], torch.tensor(index.reshape(images.shape[:2])))


@precisions
@pytest.mark.parametrize("case", CASES)
def test_answers(case: str, dtype: torch.dtype, golden) -> None:
    arrays = Golden(case, golden(case), dtype)
    with torch.no_grad():
        logits = answers(loaded(case, arrays), arrays)
    arrays.check(logits, "logits", TOLERANCE[case])
    assert (logits.argmax(1).numpy() == arrays["out.pred"]).all()


@precisions
@pytest.mark.parametrize("case", ["esbn_dist3_T9", "esbn_rmts_segmented_T6", "esbn_samediff_T2"])
def test_loss_and_gradients(case: str, dtype: torch.dtype, golden) -> None:
    arrays = Golden(case, golden(case), dtype)
    model = loaded(case, arrays)
    target = torch.tensor(arrays["in.y"])
    loss = torch.nn.functional.cross_entropy(answers(model, arrays), target)
    arrays.check(loss, "loss")
    loss.backward()
    compared = 0
    for name, parameter in model.named_parameters():
        released = f"grad.{released_name(name)}"
        if released in arrays:
            arrays.check_gradient(parameter.grad, released)
            compared += 1
    assert compared == sum(name.startswith("grad.") for name in arrays)
