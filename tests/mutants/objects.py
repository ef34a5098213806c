"""Mutants of dynamic object prediction, and of experiments that start from others."""

MUTANTS = [
    (
        "tasks/_squares/_squares.py",
        "<= widths.unsqueeze(-1) / 2",
        "< widths.unsqueeze(-1) / 2",
        ["tests/tasks/test_squares.py::test_the_edge_belongs_to_the_square_and_rows_go_along_y"],
    ),
    (
        "tasks/_squares/_squares.py",
        "spans(y, width).unsqueeze(-1) * spans(x, width).unsqueeze(-2)",
        "spans(x, width).unsqueeze(-1) * spans(y, width).unsqueeze(-2)",
        ["tests/tasks/test_squares.py::test_a_pixel_is_white_where_its_middle_is_inside"],
    ),
    (
        "tasks/_squares/_squares.py",
        "squares[:, 2] *= math.sqrt(2) if circumradius else 1.0",
        "squares[:, 2] *= 2.0 if circumradius else 1.0",
        ["tests/tasks/test_squares.py::test_ends_are_uniform_in_the_ranges_of_print"],
    ),
    (
        "tasks/_vaec/_dynamic_objects.py",
        "shown[:, :-1] if self.previous_frames else shown[:, 1:]",
        "shown[:, 1:] if self.previous_frames else shown[:, :-1]",
        [
            "tests/tasks/test_squares.py::test_scoring_against_the_frames_before_shifts_floor_and_ceiling"
        ],
    ),
    (
        "tasks/_vaec/_dynamic_objects.py",
        "- 2 * both",
        "- both",
        ["tests/tasks/test_squares.py::test_the_floor_is_the_error_of_the_frame_before"],
    ),
    (
        "nn/_norm/_sequence_norms.py",
        "    @torch.no_grad()\n",
        "",
        ["tests/models/test_object_prediction.py::test_statistics_carry_no_graph"],
    ),
    (
        "nn/_norm/_sequence_norms.py",
        "if looked_at and bool(self.scale.isnan().any()):",
        "if False:",
        [
            "tests/models/test_object_prediction.py::test_evaluation_without_statistics_or_with_other_places_is_refused"
        ],
    ),
    (
        "nn/_norm/_sequence_norms.py",
        "past = running_context_statistics(z[:, :-1],",
        "past = context_statistics(z[:, :-1],",
        ["tests/models/test_object_prediction.py::test_who_looks_ahead"],
    ),
    (
        "nn/_norm/_sequence_norms.py",
        "counted = z if self.include_last else z[:, :-1]",
        "counted = z",
        ["tests/models/test_object_prediction.py::test_predictions_are_the_oracle_s"],
    ),
    (
        "nn/_norm/_sequence_norms.py",
        "return _normalized(z, read, foreseen, self.weight, self.bias)",
        "return _normalized(z, read, read, self.weight, self.bias)",
        ["tests/models/test_object_prediction.py::test_predictions_are_the_oracle_s"],
    ),
    (
        "models/_object_predictor.py",
        "self.decoder(denormalize(predicted, sequence.mean, sequence.scale))",
        "self.decoder(predicted)",
        ["tests/models/test_object_prediction.py::test_predictions_are_the_oracle_s"],
    ),
    (
        "objectives/_predicting_embeddings.py",
        "error = error * sequence.scale",
        "error = error + 0 * sequence.scale",
        [
            "tests/models/test_object_prediction.py::test_the_objective_is_the_mean_squared_error_of_embeddings"
        ],
    ),
    (
        "experiments/_experiment.py",
        'f"{name}.".startswith(f"{part}.")',
        "name.startswith(part)",
        ["tests/experiments/test_experiment.py::test_a_part_is_a_whole_name"],
    ),
    (
        "training/_start.py",
        "_rows(taken[name], found, grows=pretrained.grows(name)).copy_(found)",
        "taken[name].add_(0)",
        ["tests/training/test_start.py::test_the_parts_named_are_taken_over_and_the_others_drawn"],
    ),
    (
        "training/_learner.py",
        "problems = dataclasses.replace(problems, items=shown.items, index=shown.index)",
        "problems = dataclasses.replace(problems)",
        ["tests/training/test_start.py::test_items_embedded_once_train_the_same_network"],
    ),
    (
        "execution/_run.py",
        "if not is_complete(job.experiment, job.seed, store)]",
        "if store.find(job.experiment.key, job.seed) is None]",
        ["tests/execution/test_stages.py::test_a_first_stage_that_is_not_whole_is_run_again"],
    ),
    (
        "execution/_run.py",
        "        waves.insert(0, wanted)\n",
        "        waves.append(wanted)\n",
        [
            "tests/execution/test_stages.py::test_waves_hold_each_job_once_behind_what_it_starts_from"
        ],
    ),
    (
        "reproductions/_claims.py",
        "return sum(steps_of(described)) / sum(self._steps)",
        "return steps_of(described)[-1] / self._steps[-1]",
        [
            "tests/reproductions/test_webb2020_objects.py::test_fewer_steps_of_the_autoencoder_are_fewer_steps"
        ],
    ),
    (
        "metrics/_measures.py",
        "max(values) if self.lower_is_better else min(values)",
        "min(values)",
        ["tests/reproductions/test_webb2020_objects.py::test_measures_know_what_is_better"],
    ),
    (
        "reports/_profile/_profiles.py",
        "    return 0.0, 1.08 * highest\n",
        "    return lowest / 2, 1.08 * highest\n",
        [
            "tests/reproductions/test_webb2020_objects.py::test_the_picture_of_errors_starts_at_zero_and_says_what_it_shows"
        ],
    ),
    (
        "reports/_profile/_profiles.py",
        "highest > APART * lowest",
        "highest > lowest",
        [
            "tests/reports/test_profiles.py::test_errors_of_several_orders_go_by_their_logarithms[0.1-linear]"
        ],
    ),
    (
        "reports/_profile/_panels.py",
        "furthest = max(",
        "furthest = min(",
        ["tests/reports/test_profiles.py::test_each_unit_of_distance_has_a_panel_named_after_it"],
    ),
    (
        "reports/_profile/_panels.py",
        "scale.inverted().transform(heights)",
        "heights",
        [
            "tests/reports/test_profiles.py::test_errors_of_several_orders_go_by_their_logarithms[0.001-log]"
        ],
    ),
    (
        "reports/_profile/_axes.py",
        ".index(label) + again",
        ".index(label)",
        ["tests/reports/test_profiles.py::test_ten_models_differ_in_colour_or_line"],
    ),
]
