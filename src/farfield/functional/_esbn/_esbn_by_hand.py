"""The recurrence of the ESBN with a gradient written by hand.

What is read at a place goes through the controller's weights: a mixture of products, one for each
key that was written, in place of a product of each mixture. The first two keys are the same for all
problems, so two products of a batch are left out. Weights get their gradient from one product over
all steps.
"""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise
from typing import Any

import torch
from torch import Tensor

from farfield.functional._autograd._gradient_of_gradient import differentiable_gradients
from farfield.functional._autograd._products import add_product, product
from farfield.functional._recurrent._lstm_table import LSTMTable


def esbn_by_hand(plain: Callable[..., Tensor], *tensors: Tensor) -> Tensor:
    """The last state of the recurrence; not for the transformations of `torch.func`.

    Args:
        plain: The recurrence as autograd differentiates it, of the same tensors.
        tensors: Weights of the reads, `(batch, read, slot)`, their confidence, `(batch, read, 1)`
            or without a column, the default key, a row or none, the biases of the gates, and the
            first two and the last four of `ESBNParameters`.
    """
    # torch leaves `apply` untyped.
    found: Tensor = _ByHand.apply(plain, *tensors)  # type: ignore[no-untyped-call]
    return found


class _ByHand(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, plain: Callable[..., Tensor], *tensors: Tensor) -> Tensor:
        weights, confidence, default_key, bias, weight_ih, weight_hh = tensors[:6]
        key_weight, key_bias, gate_weight, gate_bias = tensors[6:]
        batch, num_reads, _ = weights.shape
        rows = _rows(batch, num_reads)
        from_key, column = _split(weight_ih, len(key_weight))
        # The confidence is the share of one more slot, which holds a column of the weights.
        shares = torch.cat((confidence, weights), dim=-1)
        always = torch.cat((column.t(), product(default_key, from_key.t())))
        slots = weights.new_empty(shares.shape[-1], batch, len(bias))
        slots[: len(always)] = always.unsqueeze(1)
        table = LSTMTable.empty(rows[-1].stop, weight_hh)
        keys = weights.new_empty(rows[num_reads].start, len(key_weight))
        mixed, gates = (weights.new_empty(num_reads, batch, width) for width in (len(bias), 1))
        inputs = bias.unsqueeze(0)
        state = table.fill(rows[0], inputs, None)
        for read, (before, own) in enumerate(pairwise(rows)):
            if len(inputs) == len(state):
                inputs = add_product(inputs, state, weight_hh.t())
            else:
                inputs = inputs + product(state, weight_hh.t())
            after = table.fill(own, inputs, before)
            if read < num_reads:
                key = torch.addmm(key_bias, state, key_weight.t(), out=keys[before]).relu_()
                slots[len(always) + read] = product(key, from_key.t())
                known = slots[: len(always) + read + 1]
                share = shares[:, read, None, : len(known)]
                torch.bmm(share, known.transpose(0, 1), out=mixed[read].unsqueeze(1))
                gates[read] = torch.addmm(gate_bias, after, gate_weight.t()).sigmoid_()
                inputs = torch.addcmul(bias, mixed[read], gates[read])
            state = after
        ctx.plain = plain
        ctx.save_for_backward(*tensors, shares, from_key, keys, slots, mixed, gates, *table)
        return state.expand(batch, -1).clone()

    @staticmethod
    def backward(ctx: Any, of_state: Tensor) -> tuple[Tensor | None, ...]:
        given, saved = ctx.saved_tensors[:10], ctx.saved_tensors[10:]
        if torch.is_grad_enabled():  # This gradient is to be differentiated itself.
            return (None, *differentiable_gradients(ctx.plain, given, [of_state]))
        weights, confidence, default_key, _, _, weight_hh, key_weight, _, gate_weight, _ = given
        shares, from_key, keys, slots, mixed, gates = saved[:6]
        table = LSTMTable(*saved[6:])
        num_reads, num_always = len(mixed), len(slots) - len(mixed)
        rows = _rows(*weights.shape[:2])
        by_slot = shares.transpose(1, 2).contiguous()
        of_inputs, of_keys = torch.empty_like(table.gates), torch.empty_like(keys)
        of_slots, of_mixed = keys.new_empty(len(keys), len(from_key)), torch.empty_like(mixed)
        of_products, of_gates = [], []
        of_state = _summed(of_state, rows[-1])
        of_cell = torch.zeros_like(of_state)
        for read, (before, own) in reversed(list(enumerate(pairwise(rows)))):
            of_input = of_inputs[own]
            of_cell = table.gradients(own, before, of_state, of_cell, of_input)
            of_cell = _summed(of_cell, before)
            of_products.append(_summed(of_input, before))
            of_state = product(of_products[-1], weight_hh)
            if read > 0:  # The inputs of this step are what was read after the one before.
                gate = gates[read - 1]
                torch.mul(of_input, gate, out=of_mixed[read - 1])
                of_gate = (of_input * mixed[read - 1]).sum(-1, keepdim=True) * gate * (1 - gate)
                of_gates.append(_summed(of_gate, before))
                of_state.addmm_(of_gates[-1], gate_weight)
            if read < num_reads:
                share = by_slot[:, num_always + read, None, read:]
                of_slot = torch.bmm(share, of_mixed[read:].transpose(0, 1)).squeeze(1)
                of_slots[before] = _summed(of_slot, before)
                of_key = product(of_slots[before], from_key)
                torch.mul(of_key, keys[before] > 0, out=of_keys[before])
                of_state.addmm_(of_keys[before], key_weight)
        table.gradients(rows[0], None, of_state, of_cell, of_inputs[rows[0]])
        of_shares = torch.bmm(of_mixed.transpose(0, 1), slots.permute(1, 2, 0)).tril_(num_always)
        of_always = torch.einsum("brs,rbg->sg", shares[..., :num_always], of_mixed)
        widths = (confidence.shape[-1], len(default_key))
        of_column, of_default = torch.split_with_sizes(of_always, widths)
        of_from_key = product(of_slots.t(), keys).addmm_(of_default.t(), default_key)
        of_product = torch.cat(of_products[::-1])
        of_gate = torch.cat([*of_gates[::-1], gates.new_zeros(0, 1)])
        return (
            None,
            of_shares[..., confidence.shape[-1] :],
            of_shares[..., : confidence.shape[-1]],
            of_default @ from_key,
            of_inputs.sum(0),
            torch.cat((of_from_key, of_column.t()), dim=1),
            product(of_product.t(), table.states[: len(of_product)]),
            product(of_keys.t(), table.states[: len(keys)]),
            of_keys.sum(0),
            of_gate.t() @ table.states[1 : 1 + len(of_gate)],
            of_gate.sum(0),
        )


def _rows(batch: int, num_reads: int) -> list[slice]:
    """Rows of each step: one for all problems in the first two, before which nothing is read."""
    later = [slice(2 + n * batch, 2 + (n + 1) * batch) for n in range(num_reads)]
    return [slice(0, 1), slice(1, 2), *later]


def _split(weight_ih: Tensor, key_size: int) -> tuple[Tensor, Tensor]:
    """The weights of a key, and the column of the confidence, if any."""
    from_key, column = torch.split_with_sizes(
        weight_ih, (key_size, weight_ih.shape[1] - key_size), dim=1
    )
    return from_key.contiguous(), column


def _summed(gradient: Tensor, rows: slice) -> Tensor:
    """The gradient of what has one row for all problems, where `rows` is one row."""
    return gradient.sum(0, keepdim=True) if rows.stop - rows.start == 1 else gradient
