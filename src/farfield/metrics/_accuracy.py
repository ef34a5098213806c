"""How often an answer is right."""

from __future__ import annotations

import torch
from jaxtyping import Float, Int
from torch import Tensor


def correct(
    outputs: Float[Tensor, "*batch class"], target: Int[Tensor, "*batch"]
) -> Float[Tensor, "*batch"]:
    r"""Which answers are right: 1 where they are, 0 where they are not.

    One output is the logit of class 1, and answers 1 when it is above 0; two outputs or more are
    the logits of as many classes, and the largest is the answer. The lowest class wins a tie, so
    a model that answers everything alike scores what its one answer is worth and no more.

    Args:
        outputs: Logits. Leading axes are free: seeds, problems, places.
        target: The right class.

    Shape:
        - outputs: `(*batch, class)`
        - target: `(*batch)`
        - result: `(*batch)`, in the dtype of `outputs`

    Raises:
        ValueError: If the leading axes differ, which broadcasting would hide.
    """
    if outputs.ndim == 0 or outputs.shape[:-1] != target.shape:
        raise ValueError(
            "target must have the shape of outputs without its last axis, "
            f"got outputs {tuple(outputs.shape)} and target {tuple(target.shape)}"
        )
    binary = outputs.shape[-1] == 1
    answer = (outputs[..., 0] > 0).to(torch.int64) if binary else outputs.argmax(-1)
    return (answer == target).to(outputs.dtype)


def accuracy(
    outputs: Float[Tensor, "*seed batch class"], target: Int[Tensor, "*seed batch"]
) -> Float[Tensor, "*seed"]:
    """Share of right answers in 0…1, one number per seed.

    Every problem counts the same, however the problems were cut into batches.

    Args:
        outputs: Logits, seeds before problems; without a seed axis the result is one number.
        target: The right class.

    Shape:
        - outputs: `(*seed, batch, class)`
        - target: `(*seed, batch)`
        - result: `(*seed)`

    Raises:
        ValueError: If the leading axes differ, or there is no problem to score.
    """
    right = correct(outputs, target)
    if right.ndim == 0 or right.shape[-1] == 0:
        raise ValueError(
            f"outputs must hold at least one problem, got shape {tuple(outputs.shape)}"
        )
    return right.mean(-1)
