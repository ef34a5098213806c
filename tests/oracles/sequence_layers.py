"""Sequence layers step by step in float64, for one sequence, from the papers' equations alone.

Nothing here imports the package. A sequence is (time, feature); `state` holds a module's parameters
by name.
"""

from __future__ import annotations

import cmath
import math

import numpy as np

from oracles.webb2021 import dot, linear, lstm_step, sigmoid, softmax
from oracles.webb2021_rivals import slot_address, softplus

Array = np.ndarray
State = dict[str, Array]


def applied(state: State, name: str, x: Array) -> Array:
    return linear(x, state[f"{name}.weight"], state.get(f"{name}.bias"))


def layer_norm(x: Array, gain: Array, shift: Array) -> Array:
    mean = math.fsum(x) / len(x)
    variance = math.fsum((number - mean) ** 2 for number in x) / len(x)
    return gain * (x - mean) / math.sqrt(variance + 1e-5) + shift


def normed(state: State, name: str, x: Array) -> Array:
    return layer_norm(x, state[f"{name}.weight"], state[f"{name}.bias"])


def gelu(x: Array) -> Array:
    return np.array([0.5 * number * (1 + math.erf(number / math.sqrt(2))) for number in x])


# --- press2022 -----------------------------------------------------------------------------------


def slopes(num_heads: int) -> list[float]:
    """Section 3; other numbers than powers of two as in the paper's code."""
    if num_heads & (num_heads - 1) == 0:
        first = 2 ** (-8 / num_heads)
        return [first ** (head + 1) for head in range(num_heads)]
    below = 1
    while 2 * below < num_heads:
        below *= 2
    return slopes(below) + slopes(2 * below)[0::2][: num_heads - below]


def attention(q: Array, k: Array, v: Array, slope: float, window: int | None) -> Array:
    """One head; every place sees itself and those before it."""
    out = []
    for t in range(len(q)):
        seen = range(0 if window is None else max(0, t - window + 1), t + 1)
        scores = [dot(q[t], k[s]) / math.sqrt(len(q[t])) - slope * (t - s) for s in seen]
        weights = softmax(scores)
        out.append(sum(weight * v[s] for weight, s in zip(weights, seen, strict=True)))
    return np.array(out)


def transformer(
    xs: Array,
    state: State,
    num_layers: int,
    num_heads: int,
    window: int | None,
    layer_heads: int | None = None,
    layer_top_k: int = 5,
) -> Array:
    xs = np.array([applied(state, "encode", x) for x in xs])
    states = [xs]
    for layer in range(num_layers):
        prefix = f"blocks.{layer}."
        own = {
            name.removeprefix(prefix): array
            for name, array in state.items()
            if name.startswith(prefix)
        }
        read = xs if layer_heads is None else layers_read(states, layer_heads, layer_top_k)
        xs = np.array(transformer_block(xs, read, own, num_heads, window))
        states.append(xs)
    return np.array([normed(state, "norm", x) for x in xs])


def layers_read(states: list[Array], heads: int, top_k: int) -> Array:
    """What the last state reads, step by step, from all states and a null element."""
    width = states[0].shape[1] // heads
    found = np.zeros_like(states[0])
    for step, head in np.ndindex(len(states[0]), heads):
        columns = slice(head * width, (head + 1) * width)
        values = [np.zeros(width), *(state[step, columns] for state in states)]
        scores = [dot(value, states[-1][step, columns]) / width for value in values]
        chosen = sorted(range(len(scores)), key=lambda n: (-scores[n], n))[:top_k]
        total = sum(math.exp(scores[n]) for n in chosen)
        for n in chosen:
            found[step, columns] += math.exp(scores[n]) / total * values[n]
    return found


def transformer_block(
    xs: Array, read: Array, own: State, num_heads: int, window: int | None
) -> list[Array]:
    size = xs.shape[1]
    width = size // num_heads
    rows = np.array([applied(own, "attention_in", normed(own, "norm1", x)) for x in read])
    heads = []
    for head in range(num_heads):
        columns = slice(head * width, (head + 1) * width)
        q, k, v = (rows[:, part * size : (part + 1) * size][:, columns] for part in range(3))
        heads.append(attention(q, k, v, slopes(num_heads)[head], window))
    out = []
    for x, joined in zip(xs, np.concatenate(heads, axis=1), strict=True):
        attended = x + applied(own, "attention_out", joined)
        inner = gelu(applied(own, "fc1", normed(own, "norm2", attended)))
        out.append(attended + applied(own, "fc2", inner))
    return out


# --- orvieto2023 ---------------------------------------------------------------------------------


def linear_recurrence(inputs: Array, decay: Array, state: Array) -> Array:
    """Equation 1 with a diagonal matrix; inputs are (time, feature)."""
    out = np.empty_like(inputs)
    for t, feature in np.ndindex(inputs.shape):
        before = state[feature] if t == 0 else out[t - 1, feature]
        out[t, feature] = decay[feature] * before + inputs[t, feature]
    return out


def linear_recurrent_unit(xs: Array, state: State, num_layers: int) -> Array:
    xs = np.array([applied(state, "encode", x) for x in xs])
    for layer in range(num_layers):
        own = {
            name.removeprefix(f"blocks.{layer}."): array
            for name, array in state.items()
            if name.startswith(f"blocks.{layer}.")
        }
        number = len(own["nu"])
        h = [0j] * number
        out = []
        for x in xs:
            u = normed(own, "norm", x)
            for n in range(number):
                eigenvalue = cmath.exp(complex(-math.exp(own["nu"][n]), math.exp(own["theta"][n])))
                entering = complex(dot(own["enter"][n, 0], u), dot(own["enter"][n, 1], u))
                h[n] = eigenvalue * h[n] + math.exp(own["gamma"][n]) * entering
            y = own["skip"] * u
            for row in range(len(x)):
                for n in range(number):
                    real, imaginary = own["leave"][row, n]
                    y[row] += real * h[n].real + imaginary * h[n].imag
            gated = applied(own, "gated", gelu(y))
            out.append(x + gated[: len(x)] * sigmoid(gated[len(x) :]))
        xs = np.array(out)
    return xs


# --- Farfield's own ------------------------------------------------------------------------------


def holding_recurrence(
    inputs: Array, gates: Array, weight: Array, state: Array, min_update: float = 0.0
) -> Array:
    """States of one sequence; inputs are (time, feature), gates (time, group)."""
    units, groups = inputs.shape[1], gates.shape[1]
    out = []
    for entering, asked in zip(inputs, gates, strict=True):
        moved = [dot(weight[row], state) + entering[row] for row in range(units)]
        length = math.sqrt(sum(number * number for number in moved) / units + 1e-6)
        after = []
        for unit in range(units):
            group = unit // (units // groups)
            z = 0.5 + (asked[group] + dot(weight[units + group], state)) / 6
            z = min(1.0, max(0.0, z))
            z = 1.0 if 1 - z < min_update else z
            after.append(z * state[unit] + (1 - z) * moved[unit] / length)
        state = np.array(after)
        out.append(state)
    return np.array(out)


def register_machine(
    xs: Array, state: State, sizes: tuple[int, int, int, int], *, rounded: bool
) -> Array:
    """Outputs of one sequence, for so many automata, states, counters and registers."""
    automata, states, counters, registers = sizes
    weight, bias, across = state["weight_ih"], state["bias"], state["weight_hh"]
    shut, count = automata * states * states, automata * states * states + registers
    value = count + counters
    size = (len(weight) - value) // registers

    def moved(row: int, x: Array) -> float:
        return 2.0 * (dot(weight[row], x) + bias[row])

    q = [[1.0 * (number == 0) for number in range(states)] for _ in range(automata)]
    held, counts, out = np.zeros((registers, size)), [0.0] * counters, []
    for x in xs:
        before = np.array([number for one in q for number in one])
        for one in range(registers):
            asked = moved(shut + one, x) + 2.0 * dot(across[one], before)
            gate = float(asked > 0) if rounded else sigmoid(asked)
            for unit in range(size):
                row = value + one * size + unit
                entering = dot(weight[row], x) + bias[row]
                held[one, unit] = (1 - gate) * held[one, unit] + gate * entering
        for one in range(counters):
            step = math.tanh(moved(count + one, x) + 2.0 * dot(across[registers + one], before))
            counts[one] += round(step) if rounded else step
        for one in range(automata):
            after = [0.0] * states
            for start in range(states):
                first = (one * states + start) * states
                chances = softmax(np.array([moved(first + end, x) for end in range(states)]))
                if rounded:
                    chances = 1.0 * (np.arange(states) == np.argmax(chances))
                for end in range(states):
                    after[end] += q[one][start] * chances[end]
            q[one] = after
        shown = [number / (1 + abs(number)) for number in counts]
        out.append([number for one in q for number in one] + [*held.ravel()] + shown)
    return np.array(out)


# --- santoro2018 ---------------------------------------------------------------------------------


def relational_memory(xs: Array, state: State, num_slots: int, num_heads: int) -> Array:
    """Section 3, from a memory of the rows of an identity; gates as forget, input, output."""
    size = len(state["encode.weight"])
    width = size // num_heads
    memory, hidden, out = np.eye(num_slots, size), np.zeros((num_slots, size)), []
    weights = [state["attention.weight"][part * size : (part + 1) * size] for part in range(3)]
    for x in xs:
        seen = [*memory, applied(state, "encode", x)]
        new = []
        for m, h in zip(memory, hidden, strict=True):
            gathered = np.zeros(size)
            for head in range(num_heads):
                rows = slice(head * width, (head + 1) * width)
                query, keys, values = weights[0][rows], weights[1][rows], weights[2][rows]
                scores = [
                    dot(linear(m, query), linear(row, keys)) / math.sqrt(width) for row in seen
                ]
                for weight, row in zip(softmax(scores), seen, strict=True):
                    gathered[rows] += weight * linear(row, values)
            attended = normed(state, "norm1", m + gathered)
            inner = np.maximum(applied(state, "mlp1", attended), 0)
            candidate = normed(state, "norm2", attended + applied(state, "mlp2", inner))
            gates = applied(state, "gates_input", x) + applied(state, "gates_hidden", h)
            forget, enter, leave = np.split(sigmoid(gates), 3)
            changed = forget * m + enter * candidate
            new.append((changed, leave * np.tanh(changed)))
        memory = np.array([m for m, _ in new])
        hidden = np.array([h for _, h in new])
        out.append(hidden.reshape(-1))
    return np.array(out)


# --- henaff2017 ----------------------------------------------------------------------------------


def entity_network(xs: Array, state: State) -> Array:
    """Equations 2 to 5, from slots that are their keys."""
    slots, out = state["keys"].copy(), []
    for x in xs:
        s = applied(state, "encode", x)
        for j, key in enumerate(state["keys"]):
            gate = sigmoid(dot(s, slots[j]) + dot(s, key))
            total = (
                applied(state, "slot", slots[j])
                + applied(state, "key", key)
                + applied(state, "input", s)
            )
            candidate = np.where(total > 0, total, state["slope"] * total)
            changed = slots[j] + gate * candidate
            slots[j] = changed / math.sqrt(dot(changed, changed))
        out.append(slots.reshape(-1).copy())
    return np.array(out)


# --- graves2014 and graves2016 -------------------------------------------------------------------


def below(state: State, prefix: str) -> State:
    return {
        name.removeprefix(f"{prefix}."): array
        for name, array in state.items()
        if name.startswith(f"{prefix}.")
    }


def cosine(x: Array, y: Array, more: float = 0.0) -> float:
    return dot(x, y) / math.sqrt((dot(x, x) + more) * (dot(y, y) + more))


def ntm(xs: Array, state: State) -> Array:
    """Section 3 of graves2014, with the heads of webb2021, appendix A.3.5."""
    controller, memory = below(state, "controller"), state["memory"].copy()
    slots, size = memory.shape
    h, c = np.zeros((2, controller["weight_hh"].shape[1]))
    r, weights, out = np.zeros(size), [[0.0] * slots] * 2, []
    for x in xs:
        h, c = lstm_step(np.concatenate((x, r)), h, c, controller)
        rows = applied(state, "heads", h)
        keys, add = [np.tanh(rows[n * size : (n + 1) * size]) for n in range(2)], rows[2 * size :]
        erase, numbers = sigmoid(rows[3 * size : 4 * size]), rows[4 * size :]
        weights = [
            slot_address(
                [cosine(keys[head], slot) for slot in memory],
                weights[head],
                gate=sigmoid(numbers[head]),
                strength=softplus(numbers[2 + head]),
                sharpening=1 + softplus(numbers[4 + head]),
                shift=softmax(numbers[6 + 3 * head : 9 + 3 * head]),
            )
            for head in range(2)
        ]
        r = sum(weight * slot for weight, slot in zip(weights[0], memory, strict=True))
        for i, weight in enumerate(weights[1]):
            memory[i] = memory[i] * (1 - weight * erase) + weight * np.tanh(add[:size])
        out.append(np.concatenate((h, r)))
    return np.array(out)


def allocation(usage: Array) -> Array:
    """Methods, equation 1."""
    weights, before = np.zeros(len(usage)), 1.0
    for i in sorted(range(len(usage)), key=lambda i: usage[i]):
        weights[i] = (1 - usage[i]) * before
        before *= usage[i]
    return weights


def usage(before: Array, written: Array, reads: Array, free: Array) -> Array:
    out = np.empty(len(before))
    for i in range(len(before)):
        kept = math.prod(1 - f * w[i] for f, w in zip(free, reads, strict=True))
        out[i] = (before[i] + written[i] - before[i] * written[i]) * kept
    return out


def links(before: Array, precedence: Array, written: Array) -> tuple[Array, Array]:
    out = np.zeros_like(before)
    for i, j in np.ndindex(before.shape):
        if i != j:
            out[i, j] = (1 - written[i] - written[j]) * before[i, j] + written[i] * precedence[j]
    return out, (1 - math.fsum(written)) * precedence + written


def alike(key: Array, memory: Array, strength: float) -> Array:
    """Content weights; the constant in the lengths is that of the released code."""
    return np.array(softmax([strength * cosine(key, slot, 1e-6) for slot in memory]))


def dnc(xs: Array, state: State, slots: int, size: int, heads: int) -> Array:
    """Methods; rows of the interface as the package names them."""
    controller = below(state, "controller")
    h, c = np.zeros((2, controller["weight_hh"].shape[1]))
    memory, used, last = np.zeros((slots, size)), np.zeros(slots), np.zeros(slots)
    link, written = np.zeros((slots, slots)), np.zeros(slots)
    reads, reading, out = np.zeros((heads, size)), np.zeros((heads, slots)), []
    for x in xs:
        h, c = lstm_step(np.concatenate((x, reads.reshape(-1))), h, c, controller)
        rows = iter(applied(state, "interface", h))

        def take(count: int, rows=rows) -> Array:
            return np.array([next(rows) for _ in range(count)])

        keys = [take(size) for _ in range(heads)]
        write_key, add, erase = take(size), take(size), sigmoid(take(size))
        free, allocate, write = sigmoid(take(heads)), sigmoid(take(1))[0], sigmoid(take(1))[0]
        strengths = [1 + softplus(number) for number in take(heads + 1)]
        modes = [softmax(take(3)) for _ in range(heads)]
        used = usage(used, written, reading, free)
        mixed = allocate * allocation(used) + (1 - allocate) * alike(
            write_key, memory, strengths[heads]
        )
        written = write * mixed
        memory = np.array(
            [m * (1 - w * erase) + w * add for m, w in zip(memory, written, strict=True)]
        )
        link, last = links(link, last, written)
        reading = np.array(
            [
                modes[r][0] * (link.T @ reading[r])
                + modes[r][1] * alike(keys[r], memory, strengths[r])
                + modes[r][2] * (link @ reading[r])
                for r in range(heads)
            ]
        )
        reads = reading @ memory
        out.append(np.concatenate((h, reads.reshape(-1))))
    return np.array(out)
