"""The recurrence of the emergent symbol binding network."""

from __future__ import annotations

from typing import NamedTuple

import torch
from jaxtyping import Float
from torch import Tensor
from torch.nn import functional as F

from farfield.functional._autograd._products import ALIGNED, is_rewritten, linear
from farfield.functional._esbn._esbn_by_hand import esbn_by_hand
from farfield.functional._recurrent._lstm_step import lstm_step


class ESBNParameters(NamedTuple):
    """Weights of the controller and of its two heads, for H hidden units and keys of K numbers.

    Attributes:
        weight_ih: Controller, from the retrieved key and its confidence, if any: (4H, K + 1).
        weight_hh: Controller, from its own state: (4H, H).
        bias_ih: Controller: (4H).
        bias_hh: Controller: (4H).
        key_weight: Head of the written key: (K, H).
        key_bias: Head of the written key: (K).
        gate_weight: Head of the gate on what is read: (1, H).
        gate_bias: Head of the gate on what is read: (1).
        default_key: Key that stands in the memory from the start: (K), or None.
    """

    weight_ih: Tensor
    weight_hh: Tensor
    bias_ih: Tensor
    bias_hh: Tensor
    key_weight: Tensor
    key_bias: Tensor
    gate_weight: Tensor
    gate_bias: Tensor
    default_key: Tensor | None = None


class ESBNKeys(NamedTuple):
    """Keys that an ESBN writes and reads, position by position.

    Attributes:
        written: Key bound to the embedding of each place.
        read: Key that each place retrieves, the weighted sum of the keys of earlier places, before
            the gate and without the confidence; zero at the first place, which reads nothing.
    """

    written: Float[Tensor, "batch time key"]
    read: Float[Tensor, "batch time key"]


class _Passed(NamedTuple):
    """States and keys of the recurrence.

    Attributes:
        written: Keys of all places but the last, whose key nothing reads.
        read: Keys retrieved at all places but the first.
        before: Hidden state at the last place.
        after: Hidden state after the extra step.
    """

    written: list[Tensor]
    read: list[Tensor]
    before: Tensor
    after: Tensor


def esbn(
    weights: Float[Tensor, "batch time slot"],
    confidence: Float[Tensor, "batch time"] | None,
    parameters: ESBNParameters,
) -> Float[Tensor, "batch _"]:
    r"""Last hidden state of an LSTM that sees a sequence only through the keys bound to its items.

    $$h_t = \mathrm{LSTM}(h_{t-1}, k^r_{t-1}), \qquad
      k^w_t = \mathrm{ReLU}(W_k h_t + b_k), \qquad
      g_t = \sigma(w_g h_t + b_g), \qquad
      k^r_t = g_t \sum_{i<t} w_{ti} \, (k^w_i \parallel c_{ti})$$

    with nothing read at the first place and one more LSTM step after the last. The weights $w$
    and confidences $c$ come from the embeddings alone, so they are given for all places at once.

    Args:
        weights: $w$ from the second place on, zero for slots not yet written. With a default key
            its slot comes first.
        confidence: $\sum_i w_{ti} c_{ti}$, or None for a controller without it.
        parameters: Weights of the controller and its heads.

    Returns:
        The hidden state after the extra step, from which the answer is read.

    Raises:
        ValueError: If the shapes do not belong together.

    Reference:
        webb2021, algorithm 1 and appendix A.3.3.
    """
    _check_shapes(weights, confidence, parameters)
    tensors = _tensors(weights, confidence, parameters)
    if is_rewritten() or not torch.is_grad_enabled():
        return _last_state(*tensors)
    return esbn_by_hand(_last_state, *tensors)


def esbn_keys(
    weights: Float[Tensor, "batch time slot"],
    confidence: Float[Tensor, "batch time"] | None,
    parameters: ESBNParameters,
) -> ESBNKeys:
    r"""The keys $k^w_t$ that the recurrence of `esbn` writes, and those it reads.

    What is read is $\sum_{i<t} w_{ti} \, k^w_i$, before the gate $g_t$ and without the confidence,
    so that it lies among the keys written. The keys of the first two places are the same for all
    problems: nothing has been read when they are written.

    Args:
        weights: As for `esbn`.
        confidence: As for `esbn`.
        parameters: As for `esbn`.

    Returns:
        Both for all places, `(batch, time, key)`, one place more than the weights have.

    Raises:
        ValueError: If the shapes do not belong together.

    Reference:
        webb2021, algorithm 1 and appendix A.6.
    """
    _check_shapes(weights, confidence, parameters)
    passed = _pass(*_tensors(weights, confidence, parameters))
    last = linear(passed.before, parameters.key_weight, parameters.key_bias).relu()
    nothing = last.new_zeros(1, last.shape[-1])
    written, read = (
        torch.stack([key.expand(weights.shape[0], -1) for key in keys], dim=1)
        for keys in ([*passed.written, last], [nothing, *passed.read])
    )
    return ESBNKeys(written=written, read=read)


def _tensors(
    weights: Tensor, confidence: Tensor | None, parameters: ESBNParameters
) -> tuple[Tensor, ...]:
    """The tensors of the recurrence: no column of confidences, no default key are none."""
    default = parameters.default_key
    return (
        weights,
        weights[..., :0] if confidence is None else confidence.unsqueeze(-1),
        parameters.key_bias.expand(0, -1) if default is None else default.unsqueeze(0),
        parameters.bias_ih + parameters.bias_hh,
        *parameters[:2],
        *parameters[4:8],
    )


def _last_state(weights: Tensor, *others: Tensor) -> Tensor:
    return _pass(weights, *others).after.expand(weights.shape[0], -1)


def _pass(
    weights: Tensor,
    confidence: Tensor,
    default_key: Tensor,
    bias: Tensor,
    weight_ih: Tensor,
    weight_hh: Tensor,
    *heads: Tensor,
) -> _Passed:
    """The recurrence, step by step; until something is read, all problems share one row."""
    key_weight, key_bias, gate_weight, gate_bias = heads
    spare = (0, -weight_ih.shape[-1] % ALIGNED)  # zeros, for faster products
    confidence, weight_ih = F.pad(confidence, spare), F.pad(weight_ih, spare)
    # Zero input and zero state.
    state, cell = lstm_step(bias.unsqueeze(0), bias.new_zeros(()))
    written: list[Tensor] = []
    reads: list[Tensor] = []
    inputs = bias
    for read in range(weights.shape[1]):
        written.append(linear(state, key_weight, key_bias).relu())
        state, cell = lstm_step(linear(state, weight_hh) + inputs, cell)
        first, *others = (*default_key.unbind(0), *written)
        retrieved = weights[:, read, :1] * first
        for slot, key in enumerate(others, start=1):
            retrieved = torch.addcmul(retrieved, weights[:, read, slot, None], key)
        reads.append(retrieved)
        received = torch.cat((retrieved, confidence[:, read]), dim=-1)
        gate = torch.sigmoid(linear(state, gate_weight, gate_bias))
        inputs = linear(gate * received, weight_ih) + bias
    after, _ = lstm_step(linear(state, weight_hh) + inputs, cell)
    return _Passed(written, reads, before=state, after=after)


def _check_shapes(weights: Tensor, confidence: Tensor | None, parameters: ESBNParameters) -> None:
    batch, num_reads, num_slots = weights.shape
    expected = num_reads + (parameters.default_key is not None)
    if num_slots != expected:
        raise ValueError(
            f"weights must have {expected} slots for {num_reads} reads, got {num_slots}"
        )
    if confidence is not None and confidence.shape != (batch, num_reads):
        raise ValueError(
            f"confidence must be {(batch, num_reads)} as the weights, "
            f"got shape {tuple(confidence.shape)}"
        )
    size = len(parameters.key_weight) + (confidence is not None)
    if parameters.weight_ih.shape[-1] != size:
        raise ValueError(
            f"weight_ih must take the key and the confidence, if any, {size} numbers in all, "
            f"got {parameters.weight_ih.shape[-1]}"
        )
