"""Mutants of Neural Interpreters."""

MUTANTS = [
    (
        "functional/_interpreter/_type_matching.py",
        "torch.where(distance < truncation, kernel, 0.0)",
        "torch.where(distance > truncation, kernel, 0.0)",
        ["tests/nn/test_interpreters.py::test_straight_through_reaches_what_is_cut"],
    ),
    (
        "functional/_interpreter/_type_matching.py",
        "kernel if truncation == 2 else",
        "kernel if False else",
        [
            "tests/nn/test_interpreters.py::test_at_the_distance_of_opposite_directions_nothing_is_cut"
        ],
    ),
    (
        "functional/_interpreter/_type_matching.py",
        "if straight_through else cut",
        "if False else cut",
        ["tests/nn/test_interpreters.py::test_straight_through_reaches_what_is_cut"],
    ),
    (
        "functional/_interpreter/_type_matching.py",
        ".clamp(min=_LEAST_BANDWIDTH)",
        "",
        ["tests/nn/test_interpreters.py::test_nothing_is_nan_at_any_temperature"],
    ),
    (
        "functional/_interpreter/_type_matching.py",
        "kernel.sum(0, keepdim=True) + eps",
        "kernel.sum(-1, keepdim=True) + eps",
        ["tests/nn/test_interpreters.py::test_equations"],
    ),
    (
        "functional/_interpreter/_type_matching.py",
        "kernel = kernel * keep.to(dtype).unsqueeze(-1)",
        "pass",
        ["tests/nn/test_interpreters.py::test_a_function_that_is_dropped_is_a_function_removed"],
    ),
    (
        "functional/_interpreter/_modulated_linear.py",
        "F.layer_norm(linear(codes, code_weight), weight.shape[-1:])",
        "linear(codes, code_weight)",
        ["tests/nn/test_interpreters.py::test_a_modulated_layer_scales_its_inputs"],
    ),
    (
        "functional/_interpreter/_relative_position.py",
        "place - place.unsqueeze(-1)",
        "place.unsqueeze(-1) - place",
        ["tests/nn/test_interpreters.py::test_equations"],
    ),
    (
        "functional/_interpreter/_relative_position.py",
        "(num_leading, 0, num_leading, 0)",
        "(0, num_leading, 0, num_leading)",
        [
            "tests/nn/test_interpreters.py::test_positions_tell_places_apart_and_leading_elements_not"
        ],
    ),
    (
        "functional/_interpreter/_script.py",
        "compatibility = compatibility.masked_fill(key_padding_mask, 0.0)",
        "pass",
        ["tests/nn/test_interpreters.py::test_padding_changes_nothing"],
    ),
    (
        "functional/_interpreter/_script.py",
        "return x + found if rules.outer_residual else found",
        "return x + found",
        ["tests/nn/test_interpreters.py::test_as_released_an_element_without_a_function_is_gone"],
    ),
    (
        "functional/_interpreter/_modulated_attention_by_hand.py",
        "out=of_found[..., -1:]).neg_()",
        "out=of_found[..., -1:])",
        ["tests/nn/test_interpreters.py::test_gradients_by_hand_are_those_of_autograd"],
    ),
    (
        "functional/_autograd/_gradient_of_gradient.py",
        "else tensor.view_as(tensor)",
        "else tensor",
        ["tests/nn/test_interpreters.py::test_gradients_of_gradients_by_hand"],
    ),
    (
        "functional/_interpreter/_line_of_code_by_hand.py",
        "of_c = 2 * c.squeeze(-1) * of_c",
        "of_c = c.squeeze(-1) * of_c",
        ["tests/nn/test_interpreters.py::test_gradients_by_hand_are_those_of_autograd"],
    ),
    (
        "functional/_interpreter/_line_of_code_by_hand.py",
        "to_x, to_gathered = x.new_zeros(x.shape)",
        "to_x, to_gathered = torch.zeros_like(x)",
        ["tests/nn/test_interpreters.py::test_gradients_by_hand_from_other_strides"],
    ),
    (
        "nn/_interpreter/_neural_interpreter.py",
        "return x if mask is None else x.masked_fill(mask.unsqueeze(-1), 0.0)",
        "return x",
        ["tests/nn/test_interpreters.py::test_padding_changes_nothing"],
    ),
    (
        "nn/_interpreter/_syntax.py",
        "keys = num_heads * features_per_head",
        "keys = features_per_head",
        ["tests/nn/test_released_interpreters.py::test_the_preset_has_643_059_parameters"],
    ),
    (
        "nn/_interpreter/_script.py",
        "old[left].clone()",
        "old[: len(left)].clone()",
        ["tests/nn/test_interpreters.py::test_functions_added_and_removed_leave_all_as_it_was"],
    ),
    (
        "reports/_exhibits/_curve_plate.py",
        "Verdict.REACHED if (above, apart) == (numbers, near)",
        "Verdict.REACHED if above == numbers",
        [
            "tests/reports/test_interpreter_plates.py::test_a_goal_for_two_rows_is_judged_over_all_columns"
        ],
    ),
    (
        "functional/_interpreter/_line_of_code.py",
        "        and normal.shape[1] > 0\n",
        "",
        ["tests/nn/test_interpreters.py::test_an_empty_batch_gives_an_empty_batch"],
    ),
    (
        "functional/_interpreter/_script.py",
        '_ITERATIONS.take("num_iterations", num_iterations)',
        "num_iterations",
        ["tests/nn/test_interpreters.py::test_wrong_sets_are_refused"],
    ),
    (
        "analysis/_routing.py",
        "0 <= number < functions",
        "number < functions",
        ["tests/analysis/test_routing.py::test_as_many_functions_as_cannot_be_removed_are_refused"],
    ),
    (
        "training/_start.py",
        "check_parts(field, getattr(pretrained, field), state)",
        "_ = field",
        ["tests/training/test_start.py::test_parts_that_a_network_has_not_are_named"],
    ),
    (
        "nn/_interpreter/_syntax.py",
        "type_size: Size = 24",
        "type_size: int = 24",
        ["tests/nn/test_interpreters.py::test_wrong_parts_are_refused"],
    ),
    (
        "reports/_exhibits/_type_plate.py",
        "step - before + 1",
        "step + 1",
        [
            "tests/reports/test_interpreter_plates.py::test_iterations_are_counted_within_their_script"
        ],
    ),
    (
        "reports/_exhibits/_sweep_plate.py",
        "    draw_floors(axes.axhline, [row for row, _ in courses], theme)\n",
        "",
        [
            "tests/reports/test_interpreter_plates.py::test_fewer_iterations_and_fewer_functions_are_scored"
        ],
    ),
    (
        "nn/_interpreter/_syntax.py",
        "return self.outer_residual if self.sums_changes is None",
        "return False if self.sums_changes is None",
        [
            "tests/nn/test_interpreters.py::test_a_bare_interpreter_keeps_elements_as_large_as_they_are"
        ],
    ),
    (
        "nn/_interpreter/_script.py",
        "rows[: self.num_fixed].detach()",
        "rows[: self.num_fixed]",
        [
            "tests/nn/test_interpreters.py::test_new_functions_learn_alone_where_the_others_are_frozen"
        ],
    ),
    (
        "nn/_interpreter/_line_of_code.py",
        "codes.dtype) * self.attention.key_size**0.5",
        "codes.dtype)",
        ["tests/nn/test_interpreters.py::test_what_a_mask_adds_to_scores_is_not_scaled"],
    ),
    (
        "nn/_interpreter/_script.py",
        "            self.requires_grad_(False)\n",
        "",
        [
            "tests/nn/test_interpreters.py::test_new_functions_learn_alone_where_the_others_are_frozen"
        ],
    ),
]
