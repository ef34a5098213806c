"""Mutants of the normalizers and their statistics."""

MUTANTS = [
    (
        "functional/_norm/_context_norm_by_hand.py",
        "alpha=1 / (time - correction)",
        "alpha=1 / time",
        ["tests/functional/test_context_norm.py::test_equation"],
    ),
    (
        "functional/_norm/_context_norm_by_hand.py",
        "value=-1 / (time - correction)",
        "value=-1 / time",
        ["tests/functional/test_context_norm.py::test_second_gradient_and_that_of_eps"],
    ),
    (
        "functional/_norm/_context_norm_by_hand.py",
        ".mul(-0.5)",
        ".mul(0.5)",
        ["tests/functional/test_context_norm.py::test_second_gradient_and_that_of_eps"],
    ),
    (
        "functional/_norm/_context_norm_by_hand.py",
        "total * gain",
        "total",
        ["tests/functional/test_context_norm.py::test_blocks_of_problems_are_normalized_as_one"],
    ),
    (
        "functional/_norm/_context_statistics.py",
        "((number - 1) / number)",
        "1",
        ["tests/functional/test_context_statistics.py::test_equations"],
    ),
    (
        "functional/_norm/_context_statistics.py",
        "moved = wide - wide[..., :1, :]",
        "moved = wide - wide[..., -1:, :]",
        ["tests/functional/test_context_statistics.py::test_what_comes_later_changes_nothing"],
    ),
    (
        "functional/_norm/_context_statistics.py",
        "(normalized * scale + mean)",
        "(normalized * scale.square() + mean)",
        ["tests/functional/test_context_statistics.py::test_the_way_back"],
    ),
    (
        "functional/_norm/_fields.py",
        "full = length - length % size",
        "full = length // size",
        [
            "tests/functional/test_field_norm.py::test_a_batch_of_the_paper_has_26_pieces_the_last_of_3"
        ],
    ),
    (
        "functional/_norm/_fields.py",
        "return lines.transpose(0, 1).reshape(like.shape)",
        "return lines.reshape(like.shape)",
        ["tests/functional/test_field_norm.py::test_sliding_equation"],
    ),
    (
        "functional/_norm/_fields.py",
        "sorted(range(len(places)), key=places.__getitem__)",
        "places",
        ["tests/functional/test_field_norm.py::test_over_time_it_is_context_normalization"],
    ),
    (
        "functional/_norm/_field_norm.py",
        "parameter.to(part.dtype).repeat(times)",
        "parameter.to(part.dtype).repeat_interleave(times)",
        [
            "tests/functional/test_field_norm.py::test_gain_and_shift_belong_to_the_features_everywhere"
        ],
    ),
    (
        "functional/_norm/_field_norm.py",
        "correction == 0 and part.shape[0] == 1",
        "len(part) == 1",
        ["tests/functional/test_field_norm.py::test_correction"],
    ),
    (
        "functional/_norm/_sliding_context_norm.py",
        "first = 0 if include_self else 1",
        "first = 0",
        ["tests/functional/test_field_norm.py::test_sliding_equation"],
    ),
    (
        "functional/_norm/_box_sum.py",
        "start += width",
        "start += 1",
        ["tests/functional/test_divisive_norm.py::test_box_sums_and_their_adjoint"],
    ),
    (
        "functional/_norm/_divisive_norm_by_hand.py",
        "sums(maps, side, axis, side // 2 if adjoint else None)",
        "sums(maps, side, axis)",
        ["tests/functional/test_divisive_norm.py::test_gradient_on_images"],
    ),
    (
        "functional/_norm/_divisive_norm_by_hand.py",
        ".addcmul_(along, offset)",
        "",
        ["tests/functional/test_divisive_norm.py::test_gradient_on_images"],
    ),
    (
        "functional/_norm/_divisive_norm_by_hand.py",
        " * root + along * offset",
        " * root",
        ["tests/functional/test_divisive_norm.py::test_what_a_compiler_sees_is_the_same"],
    ),
    (
        "functional/_norm/_divisive_norm.py",
        "size = window**2 if released_suppression else side**2",
        "size = side**2",
        ["tests/functional/test_divisive_norm.py::test_equation_on_images"],
    ),
    (
        "nn/_norm/_over_fields.py",
        "if module.training or len(z)",
        "if len(z)",
        ["tests/nn/test_normalizers.py::test_in_training_the_whole_batch_counts"],
    ),
    (
        "nn/_norm/_over_fields.py",
        "if module.training or module.mean is None or module.variance is None:",
        "if module.mean is None or module.variance is None:",
        ["tests/nn/test_normalizers.py::test_training_statistics_normalize_in_evaluation_alone"],
    ),
    (
        "nn/_norm/_image_batch_norm.py",
        "                self.training,\n",
        "                True,\n",
        ["tests/nn/test_normalizers.py::test_running_averages_are_those_of_torch"],
    ),
    (
        "functional/_norm/_box_sum.py",
        "(behind < window - first)",
        "(behind < window)",
        ["tests/functional/test_divisive_norm.py::test_box_sums_and_their_adjoint"],
    ),
    (
        "functional/_norm/_context_norm_by_hand.py",
        "sum([v.square() for v in centred[1:]], centred[0].square())",
        "sum([v.square() for v in centred[1:]])",
        ["tests/functional/test_context_norm.py::test_what_a_compiler_sees_is_the_same"],
    ),
    (
        "functional/_autograd/_segments.py",
        "members = members * ~padding_mask.unsqueeze(-2)",
        "pass",
        ["tests/nn/test_normalizers.py::test_padding_changes_nothing_and_comes_out_as_zeros"],
    ),
    (
        "functional/_norm/_context_whitening.py",
        "places = (~padding_mask).sum(-1)[..., None, None].clamp_min(1)",
        "pass",
        ["tests/nn/test_normalizers.py::test_padding_changes_nothing_and_comes_out_as_zeros"],
    ),
    (
        "nn/_norm/_gain_and_shift.py",
        '    if z.ndim < 3:\n        raise ValueError(\n            f"z must be (*batch',
        '    if z.ndim < 2:\n        raise ValueError(\n            f"z must be (*batch',
        ["tests/nn/test_normalizers.py::test_a_batch_is_not_taken_for_the_places_of_a_problem"],
    ),
    (
        "nn/_norm/_image_batch_norm.py",
        'state.pop(f"{prefix}num_batches_tracked", None)',
        "pass",
        ["tests/nn/test_normalizers.py::test_the_state_of_torch_s_batch_norm_is_loaded"],
    ),
]
