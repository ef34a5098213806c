"""Metalearned neural memory."""

from __future__ import annotations

import math
from typing import final

import torch
from jaxtyping import Float
from torch import Tensor, nn

from farfield.core import Size, check_arguments
from farfield.functional import (
    MNMOutputs,
    MNMParameters,
    mnm,
    uninitialized,
    xavier_normal_,
)
from farfield.models._checks import check_sequence


@final
class MNM(nn.Module):
    r"""Let an LSTM write to the weights of a network and read from it, and answer.

    The memory is a network of three layers. To write a value under a key is to change its weights
    so that the key gives the value, $W_l \leftarrow W_l - \frac{2 \beta}{n}
    (a_l - t_l) a_{l-1}^\top$, where each layer has a target $t_l$ that another layer makes of the
    value (MNM-p, the learned local update). To read is to put a key in. Where `NTM` keeps slots,
    here nothing has a place of its own.

    The memory is meant to be trained for giving back what was just written as well:
    the error that `answer_and_error` gives is that part of the loss.

    Args:
        in_features: Size of an embedding.
        num_outputs: Numbers in an answer.
        hidden_size: Hidden units of the controller.
        memory_size: Numbers in a key, in a value, and in each layer of the memory.
        num_heads: How many keys are written, and read, at each step.
        memory_trained: Whether the weights that the memory starts with are learned. In the
            released code they stay as they were drawn.
        generator: Where the first weights are drawn from; None is torch's global generator.

    Shape:
        `(batch, time, in_features)` to `(batch, num_outputs)`, for any time of at least 1.

    Attributes:
        controller: Holds the weights of the LSTM.
        heads: All heads as one layer; `farfield.functional.MNMParameters` names its rows.
        rate: Makes the rate of writing.
        target: Makes the targets of the memory's layers.
        memory: Weights that the memory starts every sequence with; a buffer if not trained.
        read_out: Layer on the controller's state and what was read last.
        output: The linear output layer.

    Raises:
        ValueError: If a size is below 1.

    Reference:
        Munkhdalai et al. 2019; webb2021, appendix A.3.6. All but the output layer start as torch's
        own layers do, uniform in $\pm 1 / \sqrt{n}$ for $n$ inputs, or hidden units of the LSTM.
    """

    memory: Tensor

    @check_arguments
    def __init__(
        self,
        in_features: Size,
        num_outputs: Size,
        *,
        hidden_size: Size = 128,
        memory_size: Size = 128,
        num_heads: Size = 1,
        memory_trained: bool = True,
        generator: torch.Generator | None = None,
    ) -> None:
        super().__init__()
        self.in_features = in_features
        self.controller = uninitialized(nn.LSTMCell, in_features + memory_size, hidden_size)
        self.heads = uninitialized(nn.Linear, hidden_size, (3 * num_heads + 1) * memory_size)
        self.rate = uninitialized(nn.Linear, memory_size, 1)
        self.target = uninitialized(nn.Linear, memory_size, 3 * memory_size)
        self.read_out = uninitialized(nn.Linear, hidden_size + memory_size, hidden_size)
        memory = torch.empty(3, memory_size, memory_size)
        _uniform_(memory, memory_size, generator)
        if memory_trained:
            self.memory = nn.Parameter(memory)
        else:
            self.register_buffer("memory", memory)
        _uniform_all_(self.controller, hidden_size, generator)
        for layer in (self.heads, self.rate, self.target, self.read_out):
            _uniform_all_(layer, layer.in_features, generator)
        self.output = xavier_normal_(uninitialized(nn.Linear, hidden_size, num_outputs), generator)

    @classmethod
    def released(
        cls, in_features: int, num_outputs: int, *, generator: torch.Generator | None = None
    ) -> MNM:
        """As in webb2021's released code: the memory starts as it was drawn.

        Args:
            in_features: Size of an embedding.
            num_outputs: Numbers in an answer.
            generator: Where the first weights are drawn from; None is torch's global generator.
        """
        return cls(in_features, num_outputs, memory_trained=False, generator=generator)

    def forward(self, z: Float[Tensor, "batch time feature"]) -> Float[Tensor, "batch _"]:
        """Answer every problem of a batch."""
        return self.answer_and_error(z)[0]

    def answer_and_error(
        self, z: Float[Tensor, "batch time feature"]
    ) -> tuple[Float[Tensor, "batch _"], Float[Tensor, " batch"]]:
        """Answers, and the reconstruction error of the memory.

        Args:
            z: The embeddings.

        Returns:
            The answers, and the mean square of the reconstruction over the numbers of a value,
            right after each writing, summed over all steps and divided by the number of places.
        """
        found = self._recur(z)
        answer = self.output(self.read_out(torch.cat((found.state, found.read), dim=-1)))
        return answer, found.error

    def _recur(self, z: Tensor) -> MNMOutputs:
        check_sequence(z, self.in_features)
        cell = self.controller
        parameters = MNMParameters(
            weight_ih=cell.weight_ih,
            weight_hh=cell.weight_hh,
            bias_ih=cell.bias_ih,
            bias_hh=cell.bias_hh,
            heads_weight=self.heads.weight,
            heads_bias=self.heads.bias,
            rate_weight=self.rate.weight,
            rate_bias=self.rate.bias,
            target_weight=self.target.weight,
            target_bias=self.target.bias,
            memory=self.memory,
        )
        return mnm(z, parameters)


def _uniform_(tensor: Tensor, size: int, generator: torch.Generator | None) -> None:
    bound = 1 / math.sqrt(size)
    nn.init.uniform_(tensor, -bound, bound, generator=generator)


def _uniform_all_(module: nn.Module, size: int, generator: torch.Generator | None) -> None:
    for parameter in module.parameters():
        _uniform_(parameter, size, generator)
