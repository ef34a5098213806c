"""Mutants of the sequence layers."""

MUTANTS = [
    (
        "nn/_recurrent/_states.py",
        "else tuple(given)",
        "else first",
        ["tests/nn/test_sequence_layers.py::test_a_sequence_in_pieces_is_the_sequence"],
    ),
    (
        "nn/_recurrent/_states.py",
        "return given == wanted",
        "return True",
        ["tests/nn/test_sequence_layers.py::test_wrong_states_are_refused"],
    ),
    (
        "nn/_recurrent/_states.py",
        "part.unsqueeze(1) for part in given) if alone",
        "part.unsqueeze(1) for part in first) if alone",
        [
            "tests/nn/test_sequence_layers.py::test_a_sequence_may_stand_without_a_batch[False-GRULayer]"
        ],
    ),
    (
        "nn/_recurrent/_sequence_layer.py",
        "walk.narrow(x.shape[1]))\n            outputs.append",
        "state)\n            outputs.append",
        ["tests/nn/test_sequence_layers.py::test_packed_sequences_are_sequences_alone"],
    ),
    (
        "nn/_recurrent/_sequence_layer.py",
        "if self.growing_axis is not None:",
        "if self.growing_axis is True:",
        [
            "tests/nn/test_sequence_layers.py::test_packed_sequences_are_refused_where_the_state_grows"
        ],
    ),
    (
        "functional/_rims/_gated_recurrence.py",
        "weight_ih, weight_hh, bias_ih, bias_hh = parameters",
        "weight_ih, weight_hh, bias_hh, bias_ih = parameters",
        ["tests/nn/test_sequence_layers.py::test_equations_of_the_fused_layers"],
    ),
    (
        "functional/_rims/_gated_recurrence.py",
        "linear(x.items, weight_ih, bias_ih), x.index)",
        "linear(x.items, weight_ih), x.index)",
        [
            "tests/nn/test_sequence_layers.py::test_items_in_places_are_read_as_the_sequence_they_are"
        ],
    ),
    (
        "nn/_recurrent/_sequence_layer.py",
        "self._run_indexed(x, state) if isinstance(x, Indexed) else",
        "self._run_indexed(x, self._begin(None, x, alone=False)) if isinstance(x, Indexed) else",
        [
            "tests/nn/test_sequence_layers.py::test_items_in_places_are_read_as_the_sequence_they_are"
        ],
    ),
    (
        "functional/_attention/_causal_attention.py",
        "range(1, 2 * power, 2)",
        "range(2, 2 * power, 2)",
        ["tests/nn/test_causal_transformer.py::test_slopes"],
    ),
    (
        "functional/_attention/_causal_attention.py",
        "distance >= window",
        "distance > window",
        ["tests/nn/test_causal_transformer.py::test_attention"],
    ),
    (
        "functional/_attention/_causal_attention.py",
        "own.start - window + 1)",
        "own.start - window + 2)",
        ["tests/nn/test_causal_transformer.py::test_attention"],
    ),
    (
        "functional/_attention/_causal_attention.py",
        "hidden = distance < 0",
        "hidden = distance < -1",
        ["tests/nn/test_sequence_layers.py::test_later_steps_change_no_earlier_output"],
    ),
    (
        "nn/_recurrent/_causal_transformer.py",
        "seen[0].shape[1] - self.window + 1)",
        "seen[0].shape[1] - self.window + 2)",
        ["tests/nn/test_sequence_layers.py::test_a_sequence_step_by_step_is_the_sequence"],
    ),
    (
        "functional/_recurrent/_linear_recurrence.py",
        "torch.stack([state, *ends])",
        "torch.stack([torch.zeros_like(state), *ends])",
        ["tests/nn/test_linear_recurrent_unit.py::test_recurrence"],
    ),
    (
        "functional/_recurrent/_ring_spectrum.py",
        "-0.5 * square.log()",
        "-1.0 * square.log()",
        ["tests/nn/test_linear_recurrent_unit.py::test_the_spectrum_is_even_over_the_area"],
    ),
    (
        "nn/_recurrent/_linear_recurrent_unit.py",
        "torch.log(-torch.expm1(-2 * nu",
        "torch.log(-torch.expm1(-nu",
        [
            "tests/nn/test_linear_recurrent_unit.py::test_the_factor_starts_at_the_root_of_one_minus_the_square"
        ],
    ),
    (
        "nn/_recurrent/_linear_recurrent_unit.py",
        "parts[-1]",
        "parts[0]",
        ["tests/nn/test_sequence_layers.py::test_a_sequence_in_pieces_is_the_sequence"],
    ),
    (
        "functional/_recurrent/_holding_recurrence.py",
        "torch.lerp(candidate.to(state.dtype), state, gate.to(state.dtype))",
        "torch.lerp(state, candidate.to(state.dtype), gate.to(state.dtype))",
        ["tests/nn/test_holding_rnn.py::test_the_recurrence_is_that_of_loops[0.0]"],
    ),
    (
        "functional/_recurrent/_holding_recurrence.py",
        "F.hardtanh(asked + held + 3.0, 0.0, 6.0) / 6.0",
        "torch.sigmoid(asked + held)",
        ["tests/nn/test_holding_rnn.py::test_a_group_whose_gate_is_at_one_keeps_every_bit"],
    ),
    (
        "functional/_recurrent/_holding_recurrence.py",
        "gate > 1 - least_move, 1.0, gate",
        "gate > least_move, 1.0, gate",
        ["tests/nn/test_holding_rnn.py::test_the_recurrence_is_that_of_loops[0.3]"],
    ),
    (
        "nn/_recurrent/_holding_rnn.py",
        "least_move=self.least_move,",
        "",
        ["tests/nn/test_holding_rnn.py::test_the_layer_is_the_recurrence_with_its_weights[0.3]"],
    ),
    (
        "nn/_recurrent/_holding_rnn.py",
        "(states[-1:].clone(),)",
        "(states[-1:],)",
        ["tests/nn/test_sequence_layers.py::test_a_state_is_no_part_of_the_outputs[HoldingRNN]"],
    ),
    (
        "nn/_recurrent/_holding_rnn.py",
        "gates + self.bias",
        "gates",
        ["tests/nn/test_holding_rnn.py::test_the_layer_is_the_recurrence_with_its_weights[0.0]"],
    ),
    (
        "functional/_memory/_relational_memory.py",
        "torch.cat((key_and_value, from_row.unsqueeze(1)), dim=1)",
        "torch.cat((key_and_value, key_and_value[:, :1]), dim=1)",
        ["tests/nn/test_slot_layers.py::test_equations_of_the_relational_memory"],
    ),
    (
        "functional/_memory/_relational_memory.py",
        "memory = keep * memory + enter * candidate",
        "memory = enter * memory + keep * candidate",
        ["tests/nn/test_slot_layers.py::test_equations_of_the_relational_memory"],
    ),
    (
        "nn/_recurrent/_relational_memory_core.py",
        "eye.expand(1, x.shape[1], -1, -1)",
        "torch.ones_like(eye).expand(1, x.shape[1], -1, -1)",
        [
            "tests/nn/test_slot_layers.py::test_slots_that_begin_alike_stay_alike_and_those_of_a_core_do_not"
        ],
    ),
    (
        "functional/_memory/_entity_network.py",
        " - slope * torch.relu(-candidate)",
        " + slope * torch.relu(-candidate)",
        ["tests/nn/test_slot_layers.py::test_equations_of_the_entity_network"],
    ),
    (
        "functional/_memory/_entity_network.py",
        ".squeeze(-1) + match)",
        ".squeeze(-1) - match)",
        ["tests/nn/test_slot_layers.py::test_equations_of_the_entity_network"],
    ),
    (
        "functional/_autograd/_unroll.py",
        "return torch.stack(outputs), *state",
        "return torch.stack(outputs), *tensors[first:second]",
        ["tests/nn/test_sequence_layers.py::test_a_sequence_in_pieces_is_the_sequence"],
    ),
    (
        "functional/_memory/_ntm.py",
        "_written(weights, memory, heads))\n    return",
        "memory)\n    return",
        ["tests/nn/test_memory_layers.py::test_equations_of_the_turing_machine"],
    ),
    (
        "functional/_memory/_dnc_memory.py",
        "order.argsort(dim=-1)",
        "order",
        ["tests/nn/test_memory_layers.py::test_allocation_gives_away_what_is_free"],
    ),
    (
        "functional/_memory/_dnc_memory.py",
        "return changed * apart, ",
        "return changed, ",
        ["tests/nn/test_memory_layers.py::test_links_lead_to_at_most_one_slot"],
    ),
    (
        "functional/_memory/_dnc_memory.py",
        "(1 - free.unsqueeze(-1) * read)",
        "(1 - free.unsqueeze(-1) * (1 - read))",
        ["tests/nn/test_memory_layers.py::test_usage_stays_between_nothing_and_everything"],
    ),
    (
        "functional/_memory/_dnc.py",
        "torch.stack((reading @ links, like, reading @ links.transpose(-1, -2)), dim=-2)",
        "torch.stack((reading @ links.transpose(-1, -2), like, reading @ links), dim=-2)",
        ["tests/nn/test_memory_layers.py::test_equations_of_the_neural_computer"],
    ),
    (
        "functional/_memory/_dnc.py",
        "_EPS = 1e-6",
        "_EPS = 1e-24",
        [
            "tests/nn/test_memory_layers.py::test_an_empty_memory_has_gradients_of_moderate_size",
            "tests/nn/test_memory_layers.py::test_equations_of_the_neural_computer",
        ],
    ),
    (
        "functional/_memory/_dnc.py",
        "*last[2:])",
        "*state[4:])",
        ["tests/nn/test_sequence_layers.py::test_a_sequence_in_pieces_is_the_sequence"],
    ),
    (
        "nn/_recurrent/_fused_layers.py",
        "tuple(part.contiguous() for part in state)",
        "tuple(state)",
        [
            "tests/nn/test_sequence_layers.py::test_states_of_packed_sequences_reach_the_kernel_whole"
        ],
    ),
    (
        "functional/_attention/_causal_attention.py",
        "alibi_slopes(query.shape[1], dtype=at_least_single,",
        "alibi_slopes(query.shape[1],",
        ["tests/nn/test_causal_transformer.py::test_attention[16-None]"],
    ),
    (
        "functional/_autograd/_products.py",
        "x.reshape(-1, x.shape[-1])",
        "x.flatten(0, -2)",
        [
            "tests/nn/test_sequence_layers.py::test_many_gradients_at_once_are_those_one_by_one[GRULayer]"
        ],
    ),
    (
        "functional/_autograd/_products.py",
        "rows = as_table(gradient)",
        "rows = gradient.flatten(0, -2)",
        ["tests/nn/test_sequence_layers.py::test_many_gradients_of_large_products_at_once"],
    ),
    (
        "nn/_input_checks.py",
        "or x.dtype == weight.dtype or torch.is_autocast_enabled(x.device.type):",
        "or x.dtype == weight.dtype:",
        [
            "tests/nn/test_sequence_layers.py::test_other_types_than_that_of_the_weights_are_refused[DNC]"
        ],
    ),
    (
        "nn/_recurrent/_states.py",
        "if part.dtype != like.dtype and",
        "if False and",
        [
            "tests/nn/test_sequence_layers.py::test_other_types_than_that_of_the_weights_are_refused[DNC]"
        ],
    ),
    (
        "nn/_recurrent/_states.py",
        "size = given[0][axis]",
        "size = 0",
        ["tests/nn/test_sequence_layers.py::test_a_sequence_in_pieces_is_the_sequence"],
    ),
    (
        "nn/_recurrent/_fused_layers.py",
        "            state[prefix + name] = state.pop(old)\n",
        "            pass\n",
        ["tests/nn/test_sequence_layers.py::test_weights_saved_under_their_old_names_load"],
    ),
    (
        "nn/_recurrent/_fused_layers.py",
        'or torch.is_autocast_enabled("cpu")',
        "or False",
        ["tests/nn/test_sequence_layers.py::test_the_kernel_is_not_asked_for_under_autocast"],
    ),
    (
        "functional/_attention/_causal_attention.py",
        ", plain=plain)",
        ")",
        ["tests/nn/test_drop_in.py::test_gradients_have_gradients[CausalTransformer]"],
    ),
    (
        "nn/_recurrent/_normalized_lstm.py",
        "if self.forget_bias and not self.forget_bias_normalized:",
        "if self.forget_bias:",
        ["tests/nn/test_normalized_cells.py::test_equations"],
    ),
    (
        "functional/_attention/_causal_attention.py",
        "if value.shape[-2] != seen:",
        "if value.shape[-2] < 0:",
        ["tests/nn/test_causal_transformer.py::test_what_cannot_be_is_refused"],
    ),
]
