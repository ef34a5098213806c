"""Mutants of recurrent independent mechanisms."""

MUTANTS = [
    (
        "functional/_rims/_top_k_mask.py",
        "descending=True",
        "descending=False",
        ["tests/functional/test_top_k_mask.py"],
    ),
    (
        "functional/_rims/_rims_reading.py",
        "torch.stack((null.t(), share.t()), dim=-1)",
        "torch.stack((share.t(), null.t()), dim=-1)",
        ["tests/nn/test_rims.py::test_equations"],
    ),
    (
        "functional/_rims/_rims_reading.py",
        "top_k_mask(_odds_of_reading(scores), num_active)",
        "top_k_mask(_odds_of_reading(scores[:, :1]), num_active)",
        ["tests/nn/test_rims.py::test_activation_goes_by_the_average_over_heads"],
    ),
    (
        "functional/_rims/_rims_reading.py",
        "top_k_mask(_odds_of_reading(scores), num_active)",
        "top_k_mask(-attention[..., 0].mean(1), num_active)",
        ["tests/nn/test_rims.py::test_who_is_active_is_told_apart_where_attention_saturates"],
    ),
    (
        "functional/_rims/_rims_reading.py",
        "null = torch.sigmoid(-scores)",
        "null = 1 - share",
        ["tests/nn/test_rims.py::test_an_input_and_its_one_element_activate_the_same"],
    ),
    (
        "nn/_rims/_rims.py",
        "if isinstance(read, Tensor) and number and self.dropout:",
        "if isinstance(read, Tensor) and self.dropout:",
        ["tests/nn/test_rims.py::test_dropout_stands_between_layers_in_training_alone"],
    ),
    (
        "nn/_rims/_mechanisms.py",
        "heads = fitting[-1]",
        "heads = fitting[0]",
        [
            "tests/nn/test_rims.py::test_heads_of_the_communication_are_those_that_divide_a_mechanism"
        ],
    ),
    (
        "nn/_recurrent/_packed.py",
        "or min(sizes) < 1 or",
        "or",
        ["tests/nn/test_rims.py::test_what_is_packed_must_fit_together"],
    ),
    (
        "nn/_recurrent/_packed.py",
        "or len(x.data) != sum(sizes)",
        "",
        ["tests/nn/test_rims.py::test_what_is_packed_must_fit_together"],
    ),
    (
        "functional/_rims/_rims_reading.py",
        "attention * won.unsqueeze(1), ",
        "attention, ",
        ["tests/nn/test_rims.py::test_every_position_has_its_winners"],
    ),
    (
        "functional/_rims/_rims.py",
        "if rules.hypothetical:",
        "if True:",
        ["tests/nn/test_rims.py::test_equations"],
    ),
    (
        "functional/_rims/_rims.py",
        "shown = torch.where(on, moved[0], moved[0].detach())",
        "shown = moved[0]",
        ["tests/nn/test_released_rims.py::test_gradients"],
    ),
    (
        "functional/_rims/_rims.py",
        "torch.addcmul(state[0], told, on.to(told.dtype))",
        "state[0] + told",
        ["tests/nn/test_rims.py::test_the_inactive_keep_their_state"],
    ),
    (
        "functional/_rims/_rims_communication.py",
        "if top_k is not None:",
        "if False:",
        ["tests/nn/test_rims.py::test_sparse_communication_reads_from_as_many_as_named"],
    ),
    (
        "functional/_rims/_rims_dynamics.py",
        "new + keep * (state[0] - new)",
        "state[0] + keep * (new - state[0])",
        ["tests/nn/test_rims.py::test_equations"],
    ),
    (
        "functional/_rims/_rims.py",
        "_PIECE = 64",
        "_PIECE = 6400",
        ["tests/nn/test_rims.py::test_memory_does_not_grow_but_for_the_outputs"],
    ),
    (
        "functional/_rims/_rims_reading.py",
        "F.dropout(x.new_ones(len(weight), time * batch, size), dropout)",
        "1 - x.new_full((len(weight), time * batch, size), dropout).bernoulli()",
        ["tests/nn/test_rims.py::test_dropout_keeps_the_mean_of_what_is_read"],
    ),
    (
        "nn/_rims/_rims.py",
        "replace(attention, per_position=False)",
        "attention",
        ["tests/nn/test_rims.py::test_layers_read_the_one_before_as_one_element"],
    ),
    (
        "nn/_rims/_mechanisms.py",
        "size * num_mechanisms if dynamics.init_over_all else size",
        "size",
        ["tests/nn/test_rims.py::test_first_weights"],
    ),
    (
        "functional/_rims/_rims.py",
        "return source._replace(streams=tuple(streams))",
        "return source._replace(streams=tuple(reversed(streams)))",
        ["tests/nn/test_rims.py::test_items_in_places_are_read_as_the_sequence_they_are"],
    ),
    (
        "functional/_rims/_rims.py",
        "if not x.repeats or rules.input_dropout:",
        "if not x.repeats:",
        ["tests/nn/test_rims.py::test_every_place_of_an_item_misses_numbers_of_its_own"],
    ),
    (
        "nn/_rims/_rims.py",
        "            read = found.outputs\n",
        "",
        ["tests/nn/test_rims.py::test_layers_read_the_one_before_as_one_element"],
    ),
    (
        "functional/_rims/_stable_order.py",
        "((other == this) & earlier)",
        "((other == this) & ~earlier)",
        ["tests/functional/test_stable_order.py::test_an_export_sorts_as_torch_does"],
    ),
    (
        "functional/_rims/_stable_order.py",
        "if descending else -x",
        "if descending else x",
        ["tests/functional/test_stable_order.py::test_an_export_sorts_as_torch_does"],
    ),
]
