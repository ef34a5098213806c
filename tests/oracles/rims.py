"""Recurrent independent mechanisms for one sequence, loop by loop in float64, after lamb2022, 8.2.

Nothing here imports the package. `w` holds arrays by name: `weight_ih`, `weight_hh`, `bias_ih`,
`bias_hh` by mechanism; where there is input attention `query` (mechanism, head, key, unit), `key`
and `value` (head, …, feature), perhaps their biases; where there is communication `told_query`,
`told_key`, `told_value` (mechanism, head, …, unit), perhaps `gate_weight`, `gate_bias`,
`out_weight`, `out_bias`.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

Array = np.ndarray


@dataclass
class Step:
    """Hidden states and cells by mechanism, who was active, and all attention of one step."""

    hidden: list[Array]
    cell: list[Array]
    active: list[bool]
    attention: list[list[list[float]]]  # head, mechanism, slot
    told: list[list[list[float]]]  # head, reading mechanism, read mechanism


def sigmoid(x: float) -> float:
    return 1 / (1 + math.exp(-x))


def dot(first: Array, second: Array) -> float:
    return math.fsum(a * b for a, b in zip(first, second, strict=True))


def times(weight: Array, x: Array, bias: Array | None = None) -> Array:
    shift = np.zeros(len(weight)) if bias is None else bias
    return np.array([dot(row, x) + b for row, b in zip(weight, shift, strict=True)])


def softmax(scores: list[float]) -> list[float]:
    powers = [math.exp(score - max(scores)) for score in scores]
    return [power / math.fsum(powers) for power in powers]


def best(scores: list[float], k: int) -> list[bool]:
    """The k largest; of equal ones the first."""
    order = sorted(range(len(scores)), key=lambda i: (-scores[i], i))
    return [i in order[:k] for i in range(len(scores))]


def lstm(x: Array, h: Array, c: Array, w: dict[str, Array], m: int) -> tuple[Array, Array]:
    n = len(h)
    sums = times(w["weight_ih"][m], x, w["bias_ih"][m]) + times(
        w["weight_hh"][m], h, w["bias_hh"][m]
    )
    new = np.zeros(n)
    for u in range(n):
        enter, keep, candidate = sums[u], sums[n + u], sums[2 * n + u]
        new[u] = sigmoid(keep) * c[u] + sigmoid(enter) * math.tanh(candidate)
    return np.array([sigmoid(sums[3 * n + u]) * math.tanh(new[u]) for u in range(n)]), new


def gru(x: Array, h: Array, c: Array, w: dict[str, Array], m: int) -> tuple[Array, Array]:
    n = len(h)
    from_x = times(w["weight_ih"][m], x, w["bias_ih"][m])
    from_h = times(w["weight_hh"][m], h, w["bias_hh"][m])
    new = np.zeros(n)
    for u in range(n):
        reset = sigmoid(from_x[u] + from_h[u])
        keep = sigmoid(from_x[n + u] + from_h[n + u])
        candidate = math.tanh(from_x[2 * n + u] + reset * from_h[2 * n + u])
        new[u] = (1 - keep) * candidate + keep * h[u]
    return new, c


def over_columns(rows: list[list[float]]) -> list[list[float]]:
    """A softmax over the rows, for each column."""
    columns = [softmax([row[p] for row in rows]) for p in range(len(rows[0]))]
    return [[column[m] for column in columns] for m in range(len(rows))]


def read(
    elements: Array,
    hidden: list[Array],
    w: dict[str, Array],
    num_active: int,
    per_position: bool,
    over_mechanisms: bool,
) -> tuple[list[Array], list[bool], list[list[list[float]]]]:
    """Equations 8.1 to 8.3: what each mechanism reads, who is active, and the attention."""
    mechanisms, heads, width, _ = w["query"].shape
    attention, values = [], []
    for head in range(heads):
        key_bias = w["key_bias"][head] if "key_bias" in w else None
        value_bias = w["value_bias"][head] if "value_bias" in w else None
        keys = [times(w["key"][head], x, key_bias) for x in elements]
        own = [times(w["value"][head], x, value_bias) for x in elements]
        if not (per_position or over_mechanisms):
            keys, own = [np.zeros(width), *keys], [np.zeros(len(own[0])), *own]
        values.append(own)
        rows = []
        for m in range(mechanisms):
            query = times(w["query"][m][head], hidden[m])
            rows.append([dot(query, key) / math.sqrt(width) for key in keys])
        attention.append(over_columns(rows) if over_mechanisms else [softmax(row) for row in rows])
    if per_position:
        active = [False] * mechanisms
        for p in range(len(elements)):
            mean = [
                math.fsum(attention[head][m][p] for head in range(heads)) / heads
                for m in range(mechanisms)
            ]
            for m, won in enumerate(best(mean, num_active)):
                active[m] = active[m] or won
                for head in range(heads):
                    attention[head][m][p] *= won
    elif over_mechanisms:
        parts = [sum(sum(head[m]) for head in attention) for m in range(mechanisms)]
        active = best(parts, num_active)
    else:
        null = [
            math.fsum(attention[head][m][0] for head in range(heads)) / heads
            for m in range(mechanisms)
        ]
        active = best([-share for share in null], num_active)
    gathered = []
    for m in range(mechanisms):
        parts = [
            sum(
                share * value for share, value in zip(attention[head][m], values[head], strict=True)
            )
            for head in range(heads)
        ]
        gathered.append(np.concatenate(parts))
    return gathered, active, attention


def tell(
    shown: list[Array], w: dict[str, Array], top_k: int | None
) -> tuple[list[Array], list[list[list[float]]]]:
    """Section 8.2.4, for all mechanisms: what each would read, and the attention."""
    mechanisms, heads, width, _ = w["told_query"].shape
    told: list[list[Array]] = [[] for _ in range(mechanisms)]
    attention = []
    for head in range(heads):
        queries, keys, values = (
            [times(w[f"told_{name}"][m][head], shown[m]) for m in range(mechanisms)]
            for name in ("query", "key", "value")
        )
        rows = []
        for m in range(mechanisms):
            scores = [dot(queries[m], key) / math.sqrt(width) for key in keys]
            among = best(scores, top_k or mechanisms)
            shares = iter(softmax([s for s, chosen in zip(scores, among, strict=True) if chosen]))
            rows.append([next(shares) if chosen else 0.0 for chosen in among])
            told[m].append(sum(s * v for s, v in zip(rows[m], values, strict=True)))
        attention.append(rows)
    joined = [np.concatenate(parts) for parts in told]
    if "gate_weight" in w:
        for m, parts in enumerate(joined):
            gate = times(w["gate_weight"], parts, w["gate_bias"])
            out = times(w["out_weight"], parts, w["out_bias"])
            pairs = zip(gate, out, strict=True)
            joined[m] = np.array([sigmoid(g) * math.tanh(o) for g, o in pairs])
    return joined, attention


def rims(
    xs: Array,
    hidden: list[Array],
    cell: list[Array],
    w: dict[str, Array],
    *,
    num_active: int,
    dynamics=lstm,
    per_position: bool = False,
    over_mechanisms: bool = False,
    top_k: int | None = None,
    hypothetical: bool = False,
) -> list[Step]:
    """Every step of a sequence, (time, element, feature)."""
    mechanisms, steps = len(w["weight_hh"]), []
    for elements in xs:
        if "query" in w:
            given, active, attention = read(
                elements, hidden, w, num_active, per_position, over_mechanisms
            )
        else:
            given, active, attention = [elements[0]] * mechanisms, [True] * mechanisms, []
        moved = [dynamics(given[m], hidden[m], cell[m], w, m) for m in range(mechanisms)]
        kept = [moved[m] if active[m] else (hidden[m], cell[m]) for m in range(mechanisms)]
        hidden, cell = [h for h, _ in kept], [c for _, c in kept]
        told_attention: list[list[list[float]]] = []
        if "told_query" in w:
            shown = [h for h, _ in moved] if hypothetical else hidden
            told, told_attention = tell(shown, w, top_k)
            hidden = [hidden[m] + told[m] if active[m] else hidden[m] for m in range(mechanisms)]
        steps.append(Step(hidden, cell, active, attention, told_attention))
    return steps
