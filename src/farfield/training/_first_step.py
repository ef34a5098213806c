"""The first step of an experiment with code of the user's, done twice and compared."""

from __future__ import annotations

import json
import warnings
from collections.abc import Callable
from typing import Any, Final, final

import torch
from torch import Tensor

from farfield._machine import on_cpu
from farfield.experiments import Experiment
from farfield.training._learner import OneNetwork

_DONE: Final = set[str]()
"""Keys of the experiments whose first step was compared in this process."""

_ROUNDING: Final = 1e-3
"""Share of a sum of magnitudes that a GPU may change, as it adds in any order."""

_MEND: Final = (
    "draw from the global generators of torch, NumPy or Python, or from generators that modules "
    "hold, which are seeded at every step; not from os.urandom, the time, a new generator, or what "
    "an earlier network left in a global"
)


@final
class FirstStep:
    """The first step of an experiment, as another network of the same seed does it.

    It is done once for every experiment and process, and not where all code is Farfield's. The
    other network is made anew, so that nothing of the one that is trained is touched.

    Args:
        learner: The network that is to be trained, before its first step.
        experiment: What it is trained on.
        step: Number of the step; after the first one, nothing is compared.
    """

    def __init__(self, learner: Any, experiment: Experiment, step: int) -> None:
        self._found: dict[str, Tensor] | None = None
        self._reason = ""
        self._key: str | None = None
        again: Callable[[], Any] | None = getattr(learner, "again", None)
        if again is None:
            return
        learner.again = None  # which holds the weights that it starts from
        if step or experiment.key in _DONE:
            return
        self._key = experiment.key
        if not _is_of_users(experiment):
            return
        try:
            other = again()
            name = _difference(_before(other), _before(learner))
            self._found = None if name else _after(other, other.update(0))
        except Exception as error:  # noqa: BLE001 — which the step itself raises in a moment, if at all
            self._reason = str(error) or type(error).__name__
            return
        if name is not None:
            raise _refusal(name)

    def check(self, learner: Any, loss: Tensor) -> None:
        """Raise `ValueError` if the first step of the network was another one.

        Args:
            learner: The network after its first step.
            loss: The loss of that step.

        Raises:
            ValueError: If the loss, a gradient, a parameter or a buffer differs.
        """
        if self._reason:
            warnings.warn(
                f"the first step could not be done twice ({self._reason}), so that nobody knows "
                "whether the experiment is repeatable",
                stacklevel=3,
            )
        if self._found is not None:
            name = _difference(self._found, _after(learner, loss))
            if name is not None:
                raise _refusal(name)
        self._found, self._reason = None, ""
        if self._key is not None:
            _DONE.add(self._key)
            self._key = None


def _is_of_users(experiment: Experiment) -> bool:
    """True for an experiment with code of the user's, whose key must be the same as before."""
    described = experiment.to_json()
    if experiment.key_of(described) != experiment.key:
        raise ValueError(
            "the experiment must be repeatable, and to draw its problems or to make its network "
            "changed a value that its code refers to, as a global; keep it in the task or module"
        )
    return '"source":' in json.dumps(described, separators=(",", ":"))


def _before(learner: Any) -> dict[str, Tensor]:
    drawn = learner.first_problems() if isinstance(learner, OneNetwork) else {}
    problems = {f"the {name} of the training problems": part for name, part in drawn.items()}
    return problems | {f"the first {name}": part for name, part in _tensors(learner).items()}


def _after(learner: Any, loss: Tensor) -> dict[str, Tensor]:
    named = learner.model.named_parameters()
    gradients = {f"the gradient of {name}": p.grad for name, p in named if p.grad is not None}
    return {"the loss": loss} | gradients | _tensors(learner)


def _tensors(learner: Any) -> dict[str, Tensor]:
    state = learner.model.state_dict()
    return {name: part for name, part in state.items() if isinstance(part, Tensor)}


def _difference(first: dict[str, Tensor], second: dict[str, Tensor]) -> str | None:
    """Name of the first tensor that differs, else `None`."""
    for name in first | second:
        if name not in first or name not in second or not _is_same(first[name], second[name]):
            return name
    return None


def _refusal(name: str) -> ValueError:
    return ValueError(
        "the experiment must be repeatable, and its first step, done twice with the same seed, had "
        f"other values of {name}; {_MEND}"
    )


def _is_same(first: Tensor, second: Tensor) -> bool:
    if first.shape != second.shape or first.dtype != second.dtype:
        return False
    if first.is_floating_point() and not on_cpu(first):
        most = _ROUNDING * float(first.detach().nan_to_num().abs().sum())
        return torch.allclose(first, second, rtol=0.0, atol=most, equal_nan=True)
    equal = first.detach() == second.detach()
    both_nan = (first != first) & (second != second)  # noqa: PLR0124 — true of nan alone
    return bool((equal | both_nan).all())
