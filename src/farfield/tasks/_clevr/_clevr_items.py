"""The table of items of Sort-of-CLEVR: all questions, then images."""

from __future__ import annotations

import numpy as np
import torch
from jaxtyping import Int64, UInt8
from torch import Tensor

from farfield.tasks._clevr._clevr_questions import FEATURES, QUESTIONS, vectors
from farfield.tasks._clevr._clevr_scenes import ABSENT, COLORS, Scenes, images


def descriptions(scenes: Scenes) -> Int64[np.ndarray, "item feature"]:
    """Latent descriptions of the items: number of a question, −1 for images; then the objects.

    Args:
        scenes: The scenes.
    """
    table = np.full((QUESTIONS + len(scenes), 1 + scenes[0].size), ABSENT)
    table[:QUESTIONS, 0] = np.arange(QUESTIONS)
    table[QUESTIONS:, 1:] = scenes.reshape(len(scenes), -1)
    return table


def rendered(latent: Int64[Tensor, "item feature"]) -> UInt8[Tensor, "item 3 75 75"]:
    """Images, and questions in the first pixels of black images, for `farfield.core.LazyItems`.

    Args:
        latent: Rows of `descriptions`.
    """
    question = latent[:, 0].numpy()
    shown = images(latent[:, 1:].reshape(-1, len(COLORS), 3).numpy())
    is_question = question != ABSENT
    shown[is_question] = 0
    shown[is_question, :, 0, :FEATURES] = 255 * vectors()[question[is_question], None]
    return torch.from_numpy(shown)
