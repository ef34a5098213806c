"""Mutants of functional, nn and models."""

MUTANTS = [
    (
        "functional/_context_norm.py",
        "(len(groups[0]) - correction)",
        "len(groups[0])",
        ["tests/functional/test_context_norm.py::test_equation"],
    ),
    (
        "functional/_context_norm.py",
        "z.to(torch.promote_types(z.dtype, torch.float32))",
        "z",
        ["tests/functional/test_context_norm.py::test_short_floats_keep_float32_statistics"],
    ),
    (
        "functional/_context_norm.py",
        "sorted(place for group in groups for place in group)",
        "sorted({place for group in groups for place in group})",
        ["tests/functional/test_context_norm.py::test_segments_must_cover_every_place_once"],
    ),
    (
        "functional/_content_weights.py",
        ".tril(num_slots - num_reads)",
        ".tril()",
        ["tests/functional/test_memory.py::test_equations"],
    ),
    (
        "functional/_esbn_plain.py",
        "F.linear(gate * retrieved, parameters.weight_ih)",
        "F.linear(retrieved, parameters.weight_ih)",
        ["tests/functional/test_recurrences.py::test_without_gradient_the_same_state_comes_out"],
    ),
    (
        "functional/_esbn_tape.py",
        "slots[place - 1])",
        "slots[place - 2])",
        ["tests/functional/test_recurrences.py::test_esbn_by_hand_is_the_plain_one"],
    ),
    (
        "functional/_esbn_rewind.py",
        "(gate - gate.square())\n        state = (total.t()",
        "gate\n        state = (total.t()",
        ["tests/functional/test_recurrences.py::test_derivatives_of_esbn"],
    ),
    (
        "functional/_esbn_rewind.py",
        "(reads @ keys).tril(num_first)",
        "reads @ keys",
        ["tests/functional/test_recurrences.py::test_esbn_by_hand_is_the_plain_one"],
    ),
    (
        "functional/_gradient_of_gradient.py",
        "torch.func.vjp(function, *tensors)[1](outer)",
        "torch.func.vjp(function, *tensors)[1](2 * outer)",
        ["tests/functional/test_recurrences.py::test_derivatives_of_lstm"],
    ),
    (
        "functional/_lstm_step.py",
        "through * step.squashed.square()",
        "through * step.squashed",
        ["tests/functional/test_recurrences.py::test_lstm_by_hand_is_the_plain_one"],
    ),
    (
        "functional/_initialization.py",
        "nn.init.xavier_normal_(weight[: 2 * size], generator=generator)",
        "nn.init.xavier_normal_(weight[:size], generator=generator)",
        ["tests/functional/test_initialization.py::test_lstm_rows_are_drawn_by_kind_of_gate"],
    ),
    (
        "functional/_initialization.py",
        "gain=TANH_GAIN, generator=generator",
        "gain=TANH_GAIN",
        ["tests/test_zoo.py::test_a_generator_decides_and_the_global_one_is_left_alone"],
    ),
    (
        "functional/_self_attention.py",
        '"... head time feature -> ... time (head feature)"',
        '"... head time feature -> ... time (feature head)"',
        ["tests/functional/test_attention.py::test_equation"],
    ),
    (
        "nn/_encoders.py",
        "torch.relu(self.fc2(torch.relu(self.fc1(maps.flatten(1)))))",
        "self.fc2(torch.relu(self.fc1(maps.flatten(1))))",
        ["tests/nn/test_encoders.py::test_loops_over_single_numbers"],
    ),
    (
        "nn/_encoders.py",
        'self.register_buffer("weight", drawn.weight.detach())',
        "self.weight = drawn.weight",
        ["tests/nn/test_encoders.py::test_a_random_encoder_is_never_trained"],
    ),
    (
        "models/_esbn.py",
        "told = not default_memory if confidence is None else confidence",
        "told = confidence is not False",
        ["tests/models/test_reasoners.py::test_first_parameters_of_esbn"],
    ),
    (
        "models/_transformer.py",
        "self._layer(z + place)",
        "self._layer(z)",
        ["tests/models/test_reasoners.py::test_transformer_is_that_of_the_equations"],
    ),
    (
        "models/_transformer.py",
        "bound = 1 / math.sqrt(layer.in_features)",
        "bound = 2 / math.sqrt(layer.in_features)",
        ["tests/models/test_reasoners.py::test_first_parameters_of_transformer"],
    ),
    (
        "models/_relational.py",
        "if self.context is not None:",
        "if self.context is None:",
        ["tests/models/test_reasoners.py::test_a_table_is_the_same_as_every_place"],
    ),
]
