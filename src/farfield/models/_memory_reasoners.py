"""Reasoners with a memory."""

from __future__ import annotations

import math
from typing import final

import torch
from jaxtyping import Float
from torch import Tensor, nn

from farfield.core.internal import Size, check_arguments
from farfield.functional.internal import (
    ESBNKeys,
    ESBNParameters,
    MNMParameters,
    NTMParameters,
    content_scores,
    content_weights,
    default_layer,
    esbn,
    esbn_keys,
    linear_layer,
    lstm_controller,
    lstm_uniform_,
    lstm_weights,
    mnm,
    ntm,
    ntm_heads,
    read_confidence,
    relu_layer,
    uninitialized,
)
from farfield.models._sequence_reader import SequenceReader, check_sequence


@final
class ESBN(SequenceReader):
    r"""Bind learned keys to embeddings that the controller never sees, and answer.

    At each position the controller, an LSTM, writes a key $k^w_t$ beside the embedding $z_t$, and
    receives the keys of earlier positions, weighted by how well their embeddings match:

    $$k^r_t = g_t \sum_{i<t} \mathrm{softmax}_i(z_t \cdot z_i)
      \left(k^w_i \parallel \sigma(\gamma \, z_t \cdot z_i + \beta)\right)$$

    Nothing is read at the first position; after the last the controller makes one more step, and
    the answer is read from its state. An LSTM or a Transformer computes with the embeddings
    themselves; here they only decide which keys come back, so that learned rules about keys
    hold for embeddings never seen.

    Args:
        hidden_size: Hidden units of the controller.
        key_size: Size of a key.
        confidence: Whether the controller gets the confidence of a read. None is yes,
            unless there is a default memory, which does without.
        default_memory: Whether the memory starts with one learned key and value.

    Shape:
        `(batch, time, in_features)` to `(batch, num_outputs)`, for any time of at least 1.

    Attributes:
        controller: Holds the weights of the LSTM.
        key: Head of the written key.
        gate: Head of the gate on reads.
        output: The linear output layer.
        confidence_gain, confidence_bias: $\gamma$ and $\beta$, start at 1 and 0; None without
            confidence.
        default_key, default_value: The first entry of the memory, starts at 0; None without
            default memory.

    Raises:
        ValueError: If a size is below 1, or confidence and default memory are both asked for.

    Reference:
        webb2021, algorithm 1, appendix A.3.3; ablation and default memory, appendix A.5.5.

    Example:
        >>> reasoner = ESBN(in_features=8, num_outputs=2, hidden_size=16, key_size=4)
        >>> reasoner(torch.rand(3, 5, 8)).shape  # three problems of five embeddings
        torch.Size([3, 2])
    """

    @check_arguments
    def __init__(
        self,
        in_features: Size,
        num_outputs: Size,
        *,
        hidden_size: Size = 512,
        key_size: Size = 256,
        confidence: bool | None = None,
        default_memory: bool = False,
        generator: torch.Generator | None = None,
    ) -> None:
        super().__init__(in_features)
        if confidence and default_memory:
            raise ValueError(
                "default_memory=True replaces the confidence, got confidence=True; "
                "leave confidence out or set it to False"
            )
        told = not default_memory if confidence is None else confidence
        self.controller = lstm_controller(key_size + int(told), hidden_size, generator)
        self.key = relu_layer(hidden_size, key_size, generator)
        self.gate = linear_layer(hidden_size, 1, generator)
        self.output = linear_layer(hidden_size, num_outputs, generator)
        self.confidence_gain = nn.Parameter(torch.ones(1)) if told else None
        self.confidence_bias = nn.Parameter(torch.zeros(1)) if told else None
        self.default_key = nn.Parameter(torch.zeros(key_size)) if default_memory else None
        self.default_value = nn.Parameter(torch.zeros(in_features)) if default_memory else None

    def _read(self, z: Tensor) -> Tensor:
        weights, confidence = self._matches(z)
        return esbn(weights, confidence, self._parameters_of_recurrence())

    def keys(self, z: Float[Tensor, "batch time feature"]) -> ESBNKeys:
        """Return the keys written and read at every position of a trained network.

        Args:
            z: Embeddings, as for the answer.

        Raises:
            ValueError: If the embeddings are not `(batch, time, in_features)`.
        """
        check_sequence(z, self.in_features)
        return esbn_keys(*self._matches(z), self._parameters_of_recurrence())

    def _matches(self, z: Tensor) -> tuple[Tensor, Tensor | None]:
        """Compute the weights of all reads, and their confidence, if any."""
        scores = content_scores(z, self.default_value)
        weights = content_weights(scores)
        if self.confidence_gain is None or self.confidence_bias is None:
            return weights, None
        return weights, read_confidence(scores, weights, self.confidence_gain, self.confidence_bias)

    def _parameters_of_recurrence(self) -> ESBNParameters:
        return ESBNParameters(
            **lstm_weights(self.controller),
            key_weight=self.key.weight,
            key_bias=self.key.bias,
            gate_weight=self.gate.weight,
            gate_bias=self.gate.bias,
            default_key=self.default_key,
        )


@final
class NTM(SequenceReader):
    r"""LSTM that reads and writes a memory of slots, by content and by location, and answers.

    At each position one head reads a mixture of slots, $r = \sum_i w_i M_i$, which the controller
    sees beside the next embedding, and another then erases and adds, $M_i \leftarrow
    M_i (1 - w_i e) + w_i a$. Both find their slots by the cosine with a key, mixed with where they
    were before, turned by up to one slot, and sharpened. After the last position the controller
    makes one more step, and the answer is read from its state. `ESBN` stores every embedding
    untouched and computes with keys alone; here embeddings and memory mix in the controller.

    Args:
        hidden_size: Hidden units of the controller.
        num_slots: Number of slots.
        slot_size: Numbers in a slot.
        first_read: Whether the memory is read at the first position already. The released code does
            so from the second on.

    Shape:
        `(batch, time, in_features)` to `(batch, num_outputs)`, for any time of at least 1.

    Attributes:
        controller: Holds the weights of the LSTM.
        heads: All heads as one layer; `farfield.functional.internal.NTMParameters` names its rows.
        memory: Contents of the memory at the start of every sequence, learned.
        output: The linear output layer.

    Raises:
        ValueError: If a size is below 1.

    Reference:
        Graves et al. 2014; webb2021, appendix A.3.5. The sharpening is not specified there and
        starts as the strength of the key does, the other softplus unit.
    """

    @check_arguments
    def __init__(
        self,
        in_features: Size,
        num_outputs: Size,
        *,
        hidden_size: Size = 512,
        num_slots: Size = 10,
        slot_size: Size = 256,
        first_read: bool = True,
        generator: torch.Generator | None = None,
    ) -> None:
        super().__init__(in_features)
        self.first_read = first_read
        self.controller = lstm_controller(in_features + slot_size, hidden_size, generator)
        self.heads = ntm_heads(hidden_size, slot_size, generator)
        self.memory = nn.Parameter(torch.empty(num_slots, slot_size))
        nn.init.xavier_normal_(self.memory, generator=generator)
        self.output = linear_layer(hidden_size, num_outputs, generator)

    @classmethod
    def released(
        cls, in_features: int, num_outputs: int, *, generator: torch.Generator | None = None
    ) -> NTM:
        """Build the network of webb2021's released code: nothing is read at the first position."""
        return cls(in_features, num_outputs, first_read=False, generator=generator)

    def _read(self, z: Tensor) -> Tensor:
        parameters = NTMParameters(
            **lstm_weights(self.controller),
            heads_weight=self.heads.weight,
            heads_bias=self.heads.bias,
            memory=self.memory,
        )
        return ntm(z, parameters, first_read=self.first_read)


@final
class MNM(SequenceReader):
    r"""Let an LSTM write to the weights of a network and read from it, and answer.

    The memory is a network of three layers. To write a value under a key is to change its weights
    so that the key gives the value, $W_l \leftarrow W_l - \frac{2 \beta}{n}
    (a_l - t_l) a_{l-1}^\top$, where each layer has a target $t_l$ that another layer makes of the
    value (MNM-p, the learned local update). To read is to put a key in. Where `NTM` keeps slots,
    a write is spread over all weights.

    The memory is meant to be trained to return written values as well:
    the error that `answer_and_error` gives is that part of the loss.

    Args:
        hidden_size: Hidden units of the controller.
        memory_size: Numbers in a key, in a value, and in each layer of the memory.
        num_heads: How many keys are written, and read, at each step.
        memory_trained: Whether the weights that the memory starts with are learned. In the
            released code they stay as they were drawn.

    Shape:
        `(batch, time, in_features)` to `(batch, num_outputs)`, for any time of at least 1.

    Attributes:
        controller: Holds the weights of the LSTM.
        heads: All heads as one layer; `farfield.functional.internal.MNMParameters` names its rows.
        rate: Makes the rate of writing.
        target: Makes the targets of the memory's layers.
        memory: Weights that the memory starts every sequence with; a buffer if not trained.
        read_out: Layer on the controller's state and the last read.
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
        super().__init__(in_features)
        bound = 1 / math.sqrt(memory_size)
        memory = torch.empty(3, memory_size, memory_size)
        nn.init.uniform_(memory, -bound, bound, generator=generator)
        if memory_trained:
            self.memory = nn.Parameter(memory)
        else:
            self.register_buffer("memory", memory)
        self.controller = lstm_uniform_(
            uninitialized(nn.LSTMCell, in_features + memory_size, hidden_size), generator
        )
        self.heads = default_layer(hidden_size, (3 * num_heads + 1) * memory_size, generator)
        self.rate = default_layer(memory_size, 1, generator)
        self.target = default_layer(memory_size, 3 * memory_size, generator)
        self.read_out = default_layer(hidden_size + memory_size, hidden_size, generator)
        self.output = linear_layer(hidden_size, num_outputs, generator)

    @classmethod
    def released(
        cls, in_features: int, num_outputs: int, *, generator: torch.Generator | None = None
    ) -> MNM:
        """Build the network of webb2021's released code: the memory starts as it was drawn."""
        return cls(in_features, num_outputs, memory_trained=False, generator=generator)

    def _read(self, z: Tensor) -> Tensor:
        return self._read_and_error(z)[0]

    def answer_and_error(
        self, z: Float[Tensor, "batch time feature"]
    ) -> tuple[Float[Tensor, "batch _"], Float[Tensor, " batch"]]:
        """Return the answers, and the reconstruction error of the memory.

        Args:
            z: The embeddings.

        Returns:
            The answers, and the mean square of the reconstruction over the numbers of a value,
            right after each writing, summed over all steps and divided by the number of positions.
        """
        check_sequence(z, self.in_features)
        features, error = self._read_and_error(z)
        return self.output(features), error

    def _read_and_error(self, z: Tensor) -> tuple[Tensor, Tensor]:
        parameters = MNMParameters(
            **lstm_weights(self.controller),
            heads_weight=self.heads.weight,
            heads_bias=self.heads.bias,
            rate_weight=self.rate.weight,
            rate_bias=self.rate.bias,
            target_weight=self.target.weight,
            target_bias=self.target.bias,
            memory=self.memory,
        )
        found = mnm(z, parameters)
        return self.read_out(torch.cat((found.state, found.read), dim=-1)), found.error
