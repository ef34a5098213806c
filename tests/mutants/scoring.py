"""Mutants of the analogy scoring model, its encoders, and of items drawn on demand."""

MUTANTS = [
    (
        "core/_items.py",
        "rows, places = torch.unique(torch.as_tensor(index), return_inverse=True)",
        "rows, places = index.flatten(), torch.arange(index.numel()).view_as(index)",
        ["tests/core/test_items.py::test_an_item_that_occurs_often_is_drawn_once"],
    ),
    (
        "core/_problems.py",
        "items.only(rows)",
        "items.index_select(0, rows)",
        ["tests/core/test_items.py::test_problems_over_them_are_those_over_the_tensor"],
    ),
    (
        "training/_evaluate.py",
        "if isinstance(model, TwoStages) and len(problems.items) < problems.index.numel():",
        "if False:",
        [
            "tests/training/test_scoring_networks.py::test_evaluation_draws_and_encodes_every_item_once"
        ],
    ),
    (
        "training/_evaluate.py",
        '{f"{metric}/{part}": values[metric][chosen] for part, chosen in parts.items()}',
        '{f"{metric}/{part}": values[metric] for part, chosen in parts.items()}',
        [
            "tests/training/test_scoring_networks.py::test_every_part_has_a_score_of_its_own_under_the_metric_of_the_task"
        ],
    ),
    (
        "training/_stack.py",
        "            self._keep(place, network)\n",
        "",
        ["tests/training/test_scoring_networks.py::test_together_equals_alone[Remembering]"],
    ),
    (
        "models/_analogy_scoring.py",
        "index[:, : -self.num_candidates], index[:, -self.num_candidates :]",
        "index[:, self.num_candidates :], index[:, : self.num_candidates]",
        [
            "tests/models/test_analogy_scoring.py::test_scores_are_those_of_every_sequence_on_its_own"
        ],
    ),
    (
        "models/_lstm_scorer.py",
        "return torch.cat([tags, z], dim=-1)",
        "return torch.cat([tags.flip(1), z], dim=-1)",
        ["tests/models/test_analogy_scoring.py::test_a_sequence_is_scored_by_its_last_state[True]"],
    ),
    (
        "models/_lstm_scorer.py",
        "self.bias[hidden_size : 2 * hidden_size] = forget_bias",
        "self.bias[2 * hidden_size : 3 * hidden_size] = forget_bias",
        ["tests/models/test_analogy_scoring.py::test_first_parameters"],
    ),
    (
        "models/_layer_norm_lstm_scorer.py",
        "carry_normalized=True",
        "carry_normalized=False",
        [
            "tests/models/test_analogy_scoring.py::test_a_layer_normalized_sequence_is_scored_by_its_last_state"
        ],
    ),
    (
        "nn/_encoders/_analogy_encoder.py",
        "alone = items.requires_grad and torch.is_grad_enabled()",
        "alone = False",
        [
            "tests/models/test_analogy_scoring.py::test_an_image_has_gradients_of_its_own_and_no_other_s"
        ],
    ),
    (
        "nn/_encoders/_analogy_encoder.py",
        "return items.to(dtype) / 255",
        "return items.to(dtype) / 256",
        ["tests/models/test_analogy_scoring.py::test_pixels_count_from_0_to_1_whatever_their_type"],
    ),
    (
        "functional/_images/_overlay.py",
        "max(0, (first + padding - kernel) // stride + 1)",
        "max(0, (first + padding) // stride)",
        ["tests/functional/test_overlay.py::test_the_same_as_of_the_whole_maps"],
    ),
    (
        "functional/_images/_overlay.py",
        "min(whole, -(-(end + padding) // stride))",
        "whole",
        ["tests/functional/test_overlay.py::test_what_lies_outside_is_convolved_once"],
    ),
    (
        "functional/_images/_spatial_moments.py",
        "weight = maps.abs()",
        "weight = maps.square()",
        ["tests/functional/test_spatial_moments.py::test_loops_over_points"],
    ),
    (
        "nn/_encoders/_moment_encoder.py",
        "| (items[0] != background[0])",
        "",
        ["tests/nn/test_moment_encoder.py::test_a_picture_alone_is_embedded_as_among_others"],
    ),
    (
        "nn/_encoders/_moment_encoder.py",
        "margin = len(self.convolutions) * (self.kernel_size // 2)",
        "margin = 0",
        ["tests/nn/test_moment_encoder.py::test_what_is_looked_at_is_all_that_is_not_background"],
    ),
    (
        "functional/_attention/_self_attention.py",
        "key_padding_mask[..., None, None, :]",
        "key_padding_mask[..., None, :, None]",
        ["tests/models/test_sets.py::test_padding_is_no_element"],
    ),
    (
        "nn/_encoders/_set_encoders.py",
        "(y x channel)",
        "(x y channel)",
        ["tests/models/test_sets.py::test_patches"],
    ),
    (
        "models/_token_reader.py",
        "torch.cat((tokens, x), dim=1)",
        "torch.cat((x, tokens), dim=1)",
        ["tests/models/test_sets.py::test_tokens_are_read_where_they_stand"],
    ),
    (
        "models/_wren.py",
        "given_first.unsqueeze(2) + given_second.unsqueeze(1)",
        "given_first.unsqueeze(2) + given_second.unsqueeze(2)",
        ["tests/models/test_sets.py::test_wren"],
    ),
    (
        "models/_wren.py",
        "offered_first.unsqueeze(2) + given_second.unsqueeze(1)",
        "given_first.unsqueeze(1) + offered_second.unsqueeze(2)",
        ["tests/models/test_sets.py::test_wren"],
    ),
    (
        "models/_analogy_scoring.py",
        "if self.context is None and isinstance",
        "if self.context is not None and isinstance",
        [
            "tests/models/test_analogy_scoring.py::test_pairs_of_premises_are_looked_at_once_for_all_candidates"
        ],
    ),
    (
        "models/_sran.py",
        "weight * fused + (1 - weight) * level",
        "weight * level + (1 - weight) * fused",
        ["tests/models/test_sets.py::test_sran"],
    ),
    (
        "experiments/_set_network.py",
        "parameter.requires_grad_(False)",
        "parameter.requires_grad_(True)",
        ["tests/models/test_sets.py::test_only_what_is_named_is_trained"],
    ),
    (
        "experiments/_experiment.py",
        "any(is_within(name, part) for part in self.without)",
        "False",
        ["tests/models/test_sets.py::test_parts_are_left_out_and_rows_are_added"],
    ),
    (
        "training/_start.py",
        "tensor[: len(found)] if grows",
        "tensor[len(found) :] if grows",
        ["tests/models/test_sets.py::test_parts_are_left_out_and_rows_are_added"],
    ),
]
