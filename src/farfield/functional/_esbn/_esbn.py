"""The recurrence of the emergent symbol binding network."""

from __future__ import annotations

import torch
from jaxtyping import Float
from torch import Tensor

from farfield.functional._autograd._products import is_autocast
from farfield.functional._esbn._esbn_by_hand import esbn_by_hand
from farfield.functional._esbn._esbn_plain import ESBNKeys, ESBNParameters, esbn_plain, keys_plain


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
    # Without a gradient nothing need be kept; at one place nothing is read.
    plain = torch.compiler.is_compiling() or is_autocast() or weights.shape[1] == 0
    by_hand = torch.is_grad_enabled() and not plain
    return (esbn_by_hand if by_hand else esbn_plain)(weights, confidence, parameters)


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
    return keys_plain(weights, confidence, parameters)


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
