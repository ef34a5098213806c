"""Loops over single numbers in float64, from the equations of the models that ESBN is set beside.

Nothing here imports the package. Parameters are plain arrays, laid out as the equations read them.
"""

from __future__ import annotations

import numpy as np

from oracles.webb2021 import Array, linear, relu


def tagged(z: Array, position_tags: bool) -> Array:
    """Each embedding with its place behind it; z is (time, feature)."""
    return np.array([[*row, float(t)] if position_tags else row for t, row in enumerate(z)])


def apply(state: dict[str, Array], name: str, x: Array) -> Array:
    return linear(x, state[f"{name}.weight"], state.get(f"{name}.bias"))


def relation_net(z: Array, state: dict[str, Array], position_tags: bool) -> Array:
    """Appendix A.3.7."""
    z = tagged(z, position_tags)
    total = np.zeros(len(state["pair2.bias"]))
    for first in z:
        for second in z:
            hidden = relu(apply(state, "pair1", np.concatenate((first, second))))
            total = total + relu(apply(state, "pair2", hidden))
    return apply(state, "output", relu(apply(state, "hidden", total)))
