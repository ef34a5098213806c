"""Adaptation of a trained network to the problems of a test (Tent)."""

from __future__ import annotations

import copy
from dataclasses import dataclass
from typing import Any, Final, final

import torch
from torch import Tensor, nn

from farfield.analysis._perturbations import NetworkChange
from farfield.core import Problems, Stream
from farfield.core.internal import PositiveFloat, Size
from farfield.functional.internal import log_probabilities
from farfield.tasks import Regime

_OTHERS: Final = (nn.LayerNorm, nn.GroupNorm)
"""Normalizers that are adapted by option."""


@final
@dataclass(frozen=True, kw_only=True)
class Tent(NetworkChange):
    r"""Answers of a network that lowers the entropy of its answers to each batch of a test.

    $$\min_{\gamma, \beta}\ -\frac{1}{B} \sum_b \sum_k p_k(x_b) \log p_k(x_b)$$

    over the gains $\gamma$ and shifts $\beta$ of all batch normalizations, which use statistics of
    the batch in place of running ones. Each batch is answered before the steps of Adam that it
    causes; the next batch meets the changed network. A copy of the network answers, and the
    problems are unchanged. No label is read. Batches follow the order of the test.

    Args:
        of: Name of the regime whose problems are answered.
        learning_rate: Learning rate of Adam.
        steps: Number of steps for each batch.
        batch_size: Largest number of problems of a batch.
        episodic: Whether every batch meets the trained network anew.
        all_norms: Whether gains and shifts of layer and group normalization are trained too, for
            networks without batch normalization.

    Raises:
        ValueError: If a number is out of range; or, of a network without batch normalization, when
            it is scored.

    Reference:
        Wang et al. 2021, section 3, with the numbers of its released code.
    """

    of: str
    learning_rate: PositiveFloat = 1e-3
    steps: Size = 1
    batch_size: Size = 200
    episodic: bool = False
    all_norms: bool = False

    @property
    def regime(self) -> Regime:
        """Regime of answers by the adapted network."""
        return Regime(name=f"tent-{self.of}", distance=float(self.steps), unit="steps of entropy")

    def network(self, model: nn.Module, stream: Stream) -> nn.Module:
        """Copy a network, to adapt it.

        Args:
            model: The network.
            stream: Not used.

        Raises:
            ValueError: If it has no batch normalization with a gain and a shift.
        """
        del stream
        return _Adapted(copy.deepcopy(model), self)


@final
class _Adapted(nn.Module):
    """A network whose gains and shifts are trained by each batch that it answers."""

    def __init__(self, network: nn.Module, tent: Tent) -> None:
        super().__init__()
        self.network, self.tent = network.eval(), tent
        norms = [
            part
            for part in network.modules()
            if _is_batch_norm(part) or (tent.all_norms and isinstance(part, _OTHERS))
        ]
        for part in norms:
            part.train()
        found = [getattr(part, name, None) for part in norms for name in ("weight", "bias")]
        self._adapted = [own for own in found if isinstance(own, nn.Parameter)]
        if not self._adapted:
            raise ValueError(
                "model must have batch normalization with gains and shifts to be adapted, got "
                f"{type(network).__name__}; Tent(all_norms=True) takes layer and group "
                "normalization too"
            )
        for parameter in network.parameters():
            parameter.requires_grad_(False)
        for parameter in self._adapted:
            parameter.requires_grad_()
        self._first = [parameter.detach().clone() for parameter in self._adapted]
        self._optimizer = self._new_optimizer()

    def _new_optimizer(self) -> torch.optim.Optimizer:
        return torch.optim.Adam(self._adapted, lr=self.tent.learning_rate)

    def forward(self, items: Tensor, index: Tensor) -> Any:
        """Answer problems batch by batch, and learn from each batch afterwards."""
        with torch.inference_mode(False), torch.enable_grad():
            items, index = items.clone(), index.clone()
            parts = index.tensor_split(-(-len(index) // self.tent.batch_size))
            return torch.cat([self._answer(items, part) for part in parts])

    def _answer(self, items: Tensor, index: Tensor) -> Tensor:
        batch = Problems(items=items, index=index, target=index[:, 0]).compact()
        if self.tent.episodic:
            with torch.no_grad():
                for parameter, first in zip(self._adapted, self._first, strict=True):
                    parameter.copy_(first)
            self._optimizer = self._new_optimizer()
        answers: Tensor | None = None
        for _ in range(self.tent.steps):
            outputs = self.network(batch.table(), batch.index)
            answers = outputs.detach() if answers is None else answers
            logs = log_probabilities(outputs)
            entropy = -(logs.exp() * logs).sum(-1).mean()
            slopes = torch.autograd.grad(entropy, self._adapted)
            for parameter, slope in zip(self._adapted, slopes, strict=True):
                parameter.grad = slope
            self._optimizer.step()
        return outputs.detach() if answers is None else answers


def _is_batch_norm(part: nn.Module) -> bool:
    """Tell if a module normalizes over a batch, with running averages or without."""
    kinds = (nn.BatchNorm1d, nn.BatchNorm2d, nn.BatchNorm3d)
    return isinstance(part, kinds) or isinstance(getattr(part, "running_mean", None), Tensor)
