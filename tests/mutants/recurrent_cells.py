"""Mutants of the recurrent cells with normalizers."""

MUTANTS = [
    (
        "nn/_recurrent/_normalized_lstm.py",
        "scaled if self.carry_normalized else cell",
        "scaled",
        ["tests/nn/test_normalized_cells.py::test_equations"],
    ),
    (
        "nn/_recurrent/_normalized_lstm.py",
        'keep = normalized("forget_gate", keep)',
        'keep = normalized("forget_gate", keep + self.forget_bias) - self.forget_bias',
        ["tests/nn/test_normalized_cells.py::test_equations"],
    ),
    (
        "nn/_recurrent/_normalized_lstm.py",
        "enter, keep, candidate, leave = sums.chunk(4, dim=-1)",
        "enter, candidate, keep, leave = sums.chunk(4, dim=-1)",
        ["tests/nn/test_normalized_cells.py::test_torch_gives_the_same"],
    ),
    (
        "nn/_recurrent/_normalized_gru.py",
        "inputs[..., 2 * size :] + reset * hidden[..., 2 * size :]",
        "reset * (inputs[..., 2 * size :] + hidden[..., 2 * size :])",
        ["tests/nn/test_normalized_cells.py::test_equations"],
    ),
    (
        "nn/_encoders/_placements.py",
        "len(gates) * hidden_size",
        "hidden_size",
        ["tests/nn/test_normalized_cells.py::test_a_normalizer_for_each_place_of_each_layer"],
    ),
    (
        "nn/_recurrent/_packed.py",
        "self._ended.insert(0, ",
        "self._ended.append(",
        ["tests/nn/test_normalized_cells.py::test_packed_sequences"],
    ),
    (
        "nn/_recurrent/_packed.py",
        "part.index_select(1, x.unsorted_indices)",
        "part",
        ["tests/nn/test_normalized_cells.py::test_packed_sequences"],
    ),
    (
        "nn/_recurrent/_recurrent_layers.py",
        "for layer in range(1, self.num_layers):\n            if self.dropout:",
        "for layer in range(1, self.num_layers):\n            if not self.dropout:",
        [
            "tests/nn/test_normalized_cells.py::test_dropout_between_layers_drops_what_torch_drops",
        ],
    ),
    (
        "nn/_recurrent/_recurrence.py",
        "made[place] = _checked(normalizer(width))",
        "made[place] = dict(self.normalizers[0].items()).get(place) or normalizer(width)",
        ["tests/nn/test_normalized_cells.py::test_a_normalizer_for_each_place_of_each_layer"],
    ),
]
