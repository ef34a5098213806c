"""The model that predicts frames and goes on from its own."""

from __future__ import annotations

from typing import final

import torch
from jaxtyping import Float, Int
from torch import Tensor, nn
from torch.nn import functional as F

from farfield.core import Size, check_arguments


@final
class RollOut(nn.Module):
    r"""Encoder, sequence layer and decoder as one model: what does each next frame show?

    $$z_t = E(x_t), \qquad h_t = C(z_1, \dots, z_t), \qquad
      \hat x_{t+1} = \sigma(D(h_t))$$

    In training every $x_t$ is a true frame (teacher forcing). In evaluation the first frames are,
    and from there on $x_t$ is the model's own $\hat x_t$: how likely it holds each pixel to be
    white, or, with `rounded`, which pixels it holds to be more likely white than not. It then reads
    no item behind those given. `SequenceModel` is always shown what was true.

    A roll-out goes on from the state after the frames before, one frame at a time: without
    gradients only the answers grow with its length.

    Args:
        encoder: From frames `(item, height, width)` to embeddings `(item, feature)`, or to what
            else the core takes at a place.
        core: What reads them: takes `(batch, time, feature)` and a state, or None, and gives
            `(batch, time, _)` and the state after, as `farfield.nn.RIMs` or `torch.nn.LSTM` with
            `batch_first`.
        decoder: From what the core gives, `(batch, time, _)`, to logits of the pixels of frames,
            `(batch, time, height, width)`.
        given: True frames that a roll-out starts from.
        rounded: Whether its own frames are black and white when they are read.

    Shape:
        Frames `(item, height, width)` and their index `(batch, time)` to
        `(batch, time, height · width)`, the logits of the frame after each place.

    Raises:
        ValueError: If `given` is below 1.

    Reference:
        lamb2022, section 8.4.2.
    """

    @check_arguments
    def __init__(
        self,
        encoder: nn.Module,
        core: nn.Module,
        decoder: nn.Module,
        *,
        given: Size,
        rounded: bool = False,
    ) -> None:
        super().__init__()
        self.encoder = encoder
        self.core = core
        self.decoder = decoder
        self.given = given
        self.rounded = rounded

    def forward(
        self, items: Float[Tensor, "item height width"], index: Int[Tensor, "batch time"]
    ) -> Float[Tensor, "batch time value"]:
        """Predict the frame after each place: from true frames in training, else rolled out.

        Args:
            items: The distinct frames.
            index: Which frame stands at which place of which sequence.

        Raises:
            ValueError: If the index is not `(batch, time)` with at least one place.
        """
        if index.ndim != 2 or index.shape[1] == 0:
            raise ValueError(
                f"index must be (batch, time) with at least one place, got {tuple(index.shape)}"
            )
        logits = self._taught(items, index) if self.training else self._rolled(items, index)
        return logits.flatten(2)

    def _taught(self, items: Tensor, index: Tensor) -> Tensor:
        """Logits of every next frame from true ones, each distinct one encoded once."""
        embeddings = self.encoder(items)
        flat = F.embedding(index, embeddings.flatten(1))
        read, _ = self.core(torch.unflatten(flat, -1, embeddings.shape[1:]))
        logits: Tensor = self.decoder(read)
        return logits

    def _rolled(self, items: Tensor, index: Tensor) -> Tensor:
        """Logits of every next frame from the first true ones, then from its own."""
        flat = F.embedding(index[:, : self.given], items.flatten(1))
        frames, state, logits = torch.unflatten(flat, -1, items.shape[1:]), None, list[Tensor]()
        for _ in range(max(1, index.shape[1] - self.given + 1)):
            embeddings = torch.unflatten(self.encoder(frames.flatten(0, 1)), 0, frames.shape[:2])
            read, state = self.core(embeddings, state)
            logits.append(self.decoder(read))
            frames = self._read_again(logits[-1][:, -1:])
        return torch.cat(logits, dim=1)

    def _read_again(self, logits: Tensor) -> Tensor:
        """Substitute for a true frame, from the prediction."""
        return (logits > 0).to(logits.dtype) if self.rounded else logits.sigmoid()

    def extra_repr(self) -> str:
        """Number of given frames, for `print`."""
        return f"given={self.given}, rounded={self.rounded}"
