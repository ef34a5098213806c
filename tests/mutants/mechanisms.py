"""Mutants of functional, nn and models, and of training them together."""

MUTANTS = [
    (
        "functional/_norm/_context_norm.py",
        "z.to(torch.promote_types(z.dtype, torch.float32))",
        "z",
        ["tests/functional/test_context_norm.py::test_short_floats_keep_float32_statistics"],
    ),
    (
        "functional/_autograd/_segments.py",
        "sorted(place for group in groups for place in group)",
        "sorted({place for group in groups for place in group})",
        ["tests/functional/test_context_norm.py::test_segments_must_cover_every_place_once"],
    ),
    (
        "functional/_norm/_context_whitening.py",
        "(values.unsqueeze(-1) + values.unsqueeze(-2))",
        "(2 * values.unsqueeze(-1))",
        [
            "tests/functional/test_context_whitening.py::test_gradients_where_items_differ_and_where_they_repeat"
        ],
    ),
    (
        "functional/_norm/_context_whitening.py",
        "return -(back @ solution.mT + solution.mT @ back), back",
        "return -(back @ solution.mT), back",
        [
            "tests/functional/test_context_whitening.py::test_gradients_where_items_differ_and_where_they_repeat"
        ],
    ),
    (
        "functional/_norm/_context_whitening.py",
        "unit @ unit.mT + eps * identity",
        "unit @ unit.mT + 2 * eps * identity",
        ["tests/functional/test_context_whitening.py::test_equation"],
    ),
    (
        "functional/_norm/_context_whitening.py",
        "wide.square().sum((-2, -1), keepdim=True)",
        "wide.square().sum((-3, -2, -1), keepdim=True)",
        [
            "tests/functional/test_context_whitening.py::test_every_problem_stands_alone_whatever_the_leading_axes"
        ],
    ),
    (
        "functional/_norm/_context_whitening.py",
        "torch.where(finite, wide * torch.where(scale > 0, scale, 1).rsqrt(), 0)",
        "wide * torch.where(scale > 0, scale, 1).rsqrt()",
        [
            "tests/functional/test_context_whitening.py::test_what_is_not_finite_spoils_its_own_problem_alone"
        ],
    ),
    (
        "functional/_norm/_context_whitening.py",
        "torch.where(finite, whitened * math.sqrt(z.shape[-1]), math.nan)",
        "(whitened * math.sqrt(z.shape[-1]))",
        [
            "tests/functional/test_context_whitening.py::test_what_is_not_finite_spoils_its_own_problem_alone"
        ],
    ),
    (
        "functional/_esbn/_content_weights.py",
        ".tril(num_slots - num_reads)",
        ".tril()",
        ["tests/functional/test_memory.py::test_equations"],
    ),
    (
        "functional/_esbn/_esbn_plain.py",
        "F.linear(gate * retrieved, parameters.weight_ih)",
        "F.linear(retrieved, parameters.weight_ih)",
        ["tests/functional/test_recurrences.py::test_without_gradient_the_same_state_comes_out"],
    ),
    (
        "functional/_esbn/_esbn_tape.py",
        "slots[place - 1])",
        "slots[place - 2])",
        ["tests/functional/test_recurrences.py::test_esbn_by_hand_is_the_plain_one"],
    ),
    (
        "functional/_esbn/_esbn_rewind.py",
        "(gate - gate.square())\n        state = product(",
        "gate\n        state = product(",
        ["tests/functional/test_recurrences.py::test_derivatives_of_esbn"],
    ),
    (
        "functional/_esbn/_esbn_rewind.py",
        "(reads @ keys).tril(num_first)",
        "reads @ keys",
        ["tests/functional/test_recurrences.py::test_esbn_by_hand_is_the_plain_one"],
    ),
    (
        "functional/_autograd/_gradient_of_gradient.py",
        "torch.func.vjp(function, *tensors)[1](outer)",
        "torch.func.vjp(function, *tensors)[1](2 * outer)",
        ["tests/functional/test_recurrences.py::test_derivatives_of_lstm"],
    ),
    (
        "functional/_recurrent/_lstm_by_hand.py",
        "step = step_by_hand(gates, cell)",
        "step = step_by_hand(gates, None)",
        ["tests/functional/test_recurrences.py::test_without_gradient_the_same_state_comes_out"],
    ),
    (
        "functional/_images/_overlay.py",
        "base.masked_fill(inside, 0)",
        "base",
        ["tests/functional/test_overlay.py::test_the_same_as_of_the_whole_maps"],
    ),
    (
        "functional/_recurrent/_lstm_step.py",
        "through * step.squashed.square()",
        "through * step.squashed",
        ["tests/functional/test_recurrences.py::test_lstm_by_hand_is_the_plain_one"],
    ),
    (
        "functional/_init/_initialization.py",
        "nn.init.xavier_normal_(weight[: 2 * size], generator=generator)",
        "nn.init.xavier_normal_(weight[:size], generator=generator)",
        ["tests/functional/test_initialization.py::test_lstm_rows_are_drawn_by_kind_of_gate"],
    ),
    (
        "functional/_init/_initialization.py",
        "gain=TANH_GAIN, generator=generator",
        "gain=TANH_GAIN",
        ["tests/test_zoo.py::test_a_generator_decides_and_the_global_one_is_left_alone"],
    ),
    (
        "functional/_attention/_self_attention.py",
        '"... head time feature -> ... time (head feature)"',
        '"... head time feature -> ... time (feature head)"',
        ["tests/functional/test_attention.py::test_equation"],
    ),
    (
        "nn/_encoders/_encoders.py",
        "torch.relu(self.fc2(torch.relu(self.fc1(maps.flatten(1)))))",
        "self.fc2(torch.relu(self.fc1(maps.flatten(1))))",
        ["tests/nn/test_encoders.py::test_loops_over_single_numbers"],
    ),
    (
        "nn/_encoders/_encoders.py",
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
        "z if self.context is None else self.context(z)",
        "z if self.context is None else z",
        ["tests/models/test_reasoners.py::test_a_table_is_the_same_as_every_place"],
    ),
    (
        "functional/_attention/_relation_sum.py",
        "... time (place hidden) -> ... (place time) hidden",
        "... time (hidden place) -> ... (place time) hidden",
        ["tests/functional/test_relation_sum.py::test_equation"],
    ),
    (
        "functional/_attention/_relation_sum.py",
        "not 0 <= place < length",
        "not place < length",
        ["tests/functional/test_relation_sum.py::test_sets_that_do_not_fit_are_refused"],
    ),
    (
        "models/_rn.py",
        "product(range(z.shape[1]), repeat=2)",
        "product(range(z.shape[1] - 1), range(1, z.shape[1]))",
        ["tests/models/test_relation_networks.py::test_rn_is_that_of_the_equations"],
    ),
    (
        "models/_rn.py",
        "in_features + int(position_tags)",
        "in_features + 1",
        ["tests/models/test_relation_networks.py::test_rn_knows_order_by_its_tags_alone"],
    ),
    (
        "models/_trn.py",
        "combinations(range(z.shape[1]), size)",
        "combinations(reversed(range(z.shape[1])), size)",
        ["tests/models/test_relation_networks.py::test_trn_is_that_of_the_equations"],
    ),
    (
        "models/_trn.py",
        "total if third is None else",
        "total if third is not None else",
        ["tests/models/test_relation_networks.py::test_trn_is_that_of_the_equations"],
    ),
    (
        "models/_trn.py",
        "self.triple3 = layer(relation_size, relation_size) if order_layers else None",
        "self.triple3 = layer(relation_size, relation_size)",
        ["tests/models/test_relation_networks.py::test_first_parameters_of_trn"],
    ),
    (
        "functional/_attention/_relation_matrix.py",
        ".triu(1)",
        ".triu()",
        ["tests/models/test_corelnet.py::test_matrix"],
    ),
    (
        "models/_corelnet.py",
        "torch.tril_indices",
        "torch.triu_indices",
        ["tests/models/test_corelnet.py::test_equations"],
    ),
    (
        "models/_checks.py",
        "if z.shape[1] != length:",
        "if z.shape[1] > length:",
        ["tests/models/test_corelnet.py::test_what_cannot_be_is_refused"],
    ),
    (
        "functional/_attention/_pair_attention.py",
        "for weight in (first_weight, second_weight)",
        "for weight in (second_weight, first_weight)",
        ["tests/models/test_predinet.py::test_attention"],
    ),
    (
        "models/_predinet.py",
        "torch.cat((differences, first @ places, second @ places)",
        "torch.cat((differences, second @ places, first @ places)",
        [
            "tests/models/test_predinet.py::test_equations",
            "tests/models/test_released_code.py::test_answers",
        ],
    ),
    (
        "models/_predinet.py",
        "tagged = in_features + 1",
        "tagged = in_features + 2",
        ["tests/models/test_predinet.py::test_first_parameters"],
    ),
    (
        "functional/_memory/_slot_address.py",
        "weights.roll(turn, -1)",
        "weights.roll(-turn, -1)",
        [
            "tests/models/test_ntm.py::test_address",
            "tests/models/test_released_code.py::test_answers",
        ],
    ),
    (
        "functional/_memory/_slot_address.py",
        "weights.clamp_min(torch.finfo(weights.dtype).tiny).log()",
        "weights.log()",
        ["tests/models/test_ntm.py::test_a_great_exponent_leaves_one_slot_and_no_nan"],
    ),
    (
        "functional/_memory/_ntm.py",
        "torch.stack((torch.zeros_like(weights[:, 0]), weights[:, 1]), dim=1)",
        "weights",
        ["tests/models/test_ntm.py::test_equations"],
    ),
    (
        "functional/_memory/_ntm.py",
        "sharpening=sharpening + 1",
        "sharpening=sharpening",
        ["tests/models/test_ntm.py::test_equations"],
    ),
    (
        "functional/_memory/_ntm.py",
        "if place + 1 < num_places:",
        "if place + 2 < num_places:",
        ["tests/models/test_ntm.py::test_equations"],
    ),
    (
        "functional/_memory/_ntm_heads_init.py",
        "for rows in tanh.chunk(3):",
        "for rows in tanh.chunk(1):",
        ["tests/models/test_ntm.py::test_first_parameters"],
    ),
    (
        "functional/_memory/_function_memory.py",
        "F.linear(activations[-1], layer.weight)",
        "F.linear(keys, layer.weight)",
        ["tests/models/test_mnm.py::test_equations"],
    ),
    (
        "functional/_memory/_function_memory.py",
        "aim.shape[1:].numel()",
        "aim.shape[-1]",
        ["tests/models/test_mnm.py::test_writing_twice_and_reading"],
    ),
    (
        "functional/_memory/_mnm.py",
        "torch.stack(errors).sum(0) / len(embedded)",
        "torch.stack(errors).mean(0)",
        ["tests/models/test_mnm.py::test_equations"],
    ),
    (
        "models/_mnm.py",
        "if memory_trained:",
        "if True:",
        ["tests/models/test_mnm.py::test_a_memory_that_is_not_trained_is_kept_with_the_weights"],
    ),
    (
        "models/_mnm.py",
        "_uniform_all_(layer, layer.in_features, generator)",
        "_uniform_all_(layer, layer.out_features, generator)",
        ["tests/models/test_mnm.py::test_first_parameters"],
    ),
    (
        "functional/_autograd/_weight_gradients.py",
        "return of_weight, ",
        "return of_weight / len(used), ",
        ["tests/functional/test_weight_gradients.py::test_values_and_gradients"],
    ),
    (
        "functional/_autograd/_weight_gradients.py",
        "if torch.is_grad_enabled():  # This",
        "if False:  # This",
        ["tests/functional/test_weight_gradients.py::test_derivatives"],
    ),
    (
        "functional/_autograd/_weight_gradients.py",
        "retain_graph=True",
        "retain_graph=False",
        [
            "tests/functional/test_weight_gradients.py::test_the_gradient_can_be_taken_twice_and_in_parts"
        ],
    ),
    (
        "functional/_autograd/_weight_gradients.py",
        "ctx.save_for_backward(*tensors, _carrier(walk))",
        "ctx.save_for_backward(*tensors, _carrier(walk)); ctx.walk = walk",
        [
            "tests/functional/test_weight_gradients.py::test_the_steps_are_freed_with_the_backward_pass"
        ],
    ),
    (
        "functional/_autograd/_weight_gradients.py",
        "_carried(carrier) or _walked",
        "_carried(carrier) and _walked",
        ["tests/functional/test_weight_gradients.py::test_what_is_saved_can_be_put_elsewhere"],
    ),
    (
        "functional/_autograd/_products.py",
        "return _by_onednn(first, second.t()).add_(added)",
        "return added.add_(_by_onednn(first, second.t()))",
        ["tests/functional/test_products.py::test_products_of_any_layout"],
    ),
    (
        "functional/_autograd/_products.py",
        "        bias = bias.contiguous()\n",
        "        pass\n",
        ["tests/functional/test_products.py::test_a_bias_of_any_layout"],
    ),
    (
        "functional/_autograd/_products.py",
        "        inputs.ndim > 1\n        and ",
        "        ",
        ["tests/functional/test_products.py::test_one_row_alone_has_its_gradients"],
    ),
    (
        "functional/_autograd/_products.py",
        "rows.sum(0) if of_bias",
        "rows.mean(0) if of_bias",
        ["tests/functional/test_products.py::test_linear_and_its_gradients"],
    ),
    (
        "functional/_autograd/_products.py",
        "not is_rewritten()  # asked",
        "True  # asked",
        ["tests/functional/test_products.py::test_where_it_is_not_made_for_torch_multiplies"],
    ),
    (
        "functional/_autograd/_products.py",
        "        return torch.equal(_by_onednn(",
        "        return not torch.equal(_by_onednn(",
        ["tests/functional/test_products.py::test_operator_that_is_missing_or_wrong_is_not_taken"],
    ),
    (
        "training/_stack.py",
        "gradient.contiguous()",
        "gradient",
        ["tests/training/test_training.py::test_together_equals_alone"],
    ),
    (
        "functional/_esbn/_esbn_plain.py",
        "        reads.append(retrieved)\n",
        "        reads.append(gate * retrieved)\n",
        ["tests/models/test_reasoners.py::test_esbn_hands_out_the_keys_of_algorithm_1"],
    ),
    (
        "functional/_esbn/_esbn_plain.py",
        "    last = _written_key(passed.before, parameters)\n",
        "    last = _written_key(passed.after, parameters)\n",
        ["tests/models/test_reasoners.py::test_esbn_hands_out_the_keys_of_algorithm_1"],
    ),
    (
        "nn/_recurrent/_linear_recurrent_unit.py",
        "torch.complex(*before.unbind(-1)),",
        "torch.view_as_complex(before),",
        ["tests/nn/test_linear_recurrent_unit.py::test_a_state_of_any_strides_is_taken"],
    ),
]
