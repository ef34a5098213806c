"""Mutants of the analyses: keys, their overlap, time courses, paired tests, and their pictures."""

MUTANTS = [
    (
        "analysis/_time_courses.py",
        "set.intersection(*(",
        "set.union(*(",
        [
            "tests/analysis/test_time_courses.py::test_only_points_that_all_networks_have_count",
        ],
    ),
    (
        "analysis/_time_courses.py",
        "before[-1] + 1 if before else 0",
        "before[0] + 1 if before else 0",
        ["tests/analysis/test_time_courses.py::test_a_course_has_settled_where_it_stays"],
    ),
    (
        "analysis/_time_courses.py",
        "[value <= level if falling else value >= level",
        "[not value > level if falling else not value < level",
        ["tests/analysis/test_time_courses.py::test_a_course_has_settled_where_it_stays"],
    ),
    (
        "analysis/_time_courses.py",
        "math.inf if steps is None else steps for steps in each",
        "steps for steps in each if steps is not None",
        [
            "tests/analysis/test_time_courses.py::test_the_median_is_over_networks_and_counts_those_that_never_settle"
        ],
    ),
    (
        "reports/_exhibits/_course_plate.py",
        "-math.log(row.claim.experiment.task.chance(TRAINING))",
        "1 - row.claim.experiment.task.chance(TRAINING)",
        ["tests/reports/test_plates.py::test_losses_fall_to_a_level"],
    ),
    (
        "analysis/_keys.py",
        "torch.arange(length) > torch.arange(first)",
        "torch.arange(length) >= torch.arange(first)",
        ["tests/analysis/test_keys.py::test_keys_are_those_of_algorithm_1_at_the_right_places"],
    ),
    (
        "analysis/_keys.py",
        "recalled=keys.read.gather(",
        "recalled=keys.written.gather(",
        ["tests/analysis/test_keys.py::test_keys_are_those_of_algorithm_1_at_the_right_places"],
    ),
    (
        "analysis/_key_overlap.py",
        "    return first + (keys.double() - first).mean(0)\n",
        "    return keys.double().mean(0)\n",
        ["tests/analysis/test_keys.py::test_keys_that_are_constant_overlap_completely"],
    ),
    (
        "analysis/_key_overlap.py",
        "(near < far) + 0.5 * (near == far)",
        "(near <= far)",
        ["tests/analysis/test_keys.py::test_keys_that_are_constant_overlap_completely"],
    ),
    (
        "analysis/_key_overlap.py",
        "((0, 1), (1, 0))",
        "((0, 0), (1, 1))",
        ["tests/analysis/test_keys.py::test_overlap_is_that_of_its_definition"],
    ),
    (
        "analysis/_key_overlap.py",
        "torch.pdist(means[:first])",
        "torch.pdist(means)",
        ["tests/analysis/test_keys.py::test_overlap_is_that_of_its_definition"],
    ),
    (
        "analysis/_linear_fit.py",
        "share=float(both.square() / (spread * height))",
        "share=float(both.abs() / (spread * height).sqrt())",
        ["tests/analysis/test_embeddings.py::test_a_line_is_that_of_least_squares"],
    ),
    (
        "analysis/_linear_fit.py",
        "slope = float(both / spread)",
        "slope = float(both / height)",
        ["tests/analysis/test_embeddings.py::test_a_line_is_that_of_least_squares"],
    ),
    (
        "analysis/_linear_fit.py",
        ".long().clamp(max=num_bins - 1)",
        ".round().long().clamp(max=num_bins - 1)",
        ["tests/analysis/test_embeddings.py::test_the_mean_line_is_that_of_its_bins"],
    ),
    (
        "analysis/_embeddings.py",
        "plain = AnalogyScoring(nothing, context, nothing,",
        "plain = AnalogyScoring(nothing, None, nothing,",
        [
            "tests/analysis/test_embeddings.py::test_embeddings_and_levels_stand_in_contexts_of_one_kind"
        ],
    ),
    (
        "analysis/_embeddings.py",
        "principal_components(points.flatten(0, 2), num_components=1)",
        "principal_components(points[:, 0].flatten(0, 1), num_components=1)",
        [
            "tests/analysis/test_embeddings.py::test_the_component_and_its_lines_are_those_of_their_definitions"
        ],
    ),
    (
        "analysis/_principal_components.py",
        "axes=axes * largest.sign(),",
        "axes=axes,",
        [
            "tests/analysis/test_keys.py::test_principal_components_are_the_directions_of_most_variance"
        ],
    ),
    (
        "metrics/_paired_test.py",
        "p = 2 * float(",
        "p = float(",
        ["tests/metrics/test_paired_test.py::test_it_is_student_s"],
    ),
    (
        "metrics/_paired_test.py",
        "(differences - differences[0]).std(ddof=1)",
        "(differences - differences[0]).std(ddof=0)",
        ["tests/metrics/test_paired_test.py::test_it_is_what_a_table_says"],
    ),
    (
        "reports/_exhibits/_course_plate.py",
        "    if len(course.steps) == 1:\n",
        "    if not course.steps:\n",
        [
            "tests/reports/test_plates.py::test_updates_until_the_level_stand_beside_the_paper_s_words"
        ],
    ),
    (
        "reports/_exhibits/_course_plate.py",
        "low, high = means - errors,",
        "low, high = means - 2 * errors,",
        ["tests/reports/test_plates.py::test_courses_are_drawn_where_the_records_are"],
    ),
    (
        "reports/_exhibits/_difference_plate.py",
        "ours={place: _mean(one) - _mean(other) for place, one, other in run},",
        "ours={place: _mean(other) - _mean(one) for place, one, other in run},",
        ["tests/reports/test_plates.py::test_tests_are_those_of_the_means"],
    ),
    (
        "reports/_exhibits/_embedding_plate.py",
        "shown = everything if context is None else [*parts.values()]",
        "shown = everything",
        [
            "tests/reports/test_embedding_plate.py::test_shares_and_linearity_are_those_of_all_networks"
        ],
    ),
    (
        "reports/_exhibits/_looked_into.py",
        "network = trained_network(experiment, record.seed, store)",
        "network = trained_network(experiment, row.records[0].seed, store)",
        [
            "tests/reports/test_embedding_plate.py::test_shares_and_linearity_are_those_of_all_networks"
        ],
    ),
    (
        "reports/_exhibits/_illustrate.py",
        "rivals = [row for row in hardest if row not in own]",
        "rivals = [row for row in rows if row not in own and row.records]",
        [
            "tests/reports/test_plates.py::test_the_lowest_of_one_and_the_highest_of_others_are_found"
        ],
    ),
    (
        "reports/_exhibits/_key_plate.py",
        "count = min(PROBLEMS, *(",
        "count = min(PROBLEMS // 6, *(",
        ["tests/reports/test_plates.py::test_keys_are_measured_over_the_networks"],
    ),
    (
        "reports/_exhibits/_looked_into.py",
        "problems_of_run(experiment.task, record.seed)",
        "problems_of_run(experiment.task, row.records[0].seed)",
        ["tests/reports/test_plates.py::test_keys_are_measured_over_the_networks"],
    ),
    (
        "reports/_tables/_write.py",
        "png(one.draw(LIGHT)) for one in plates if one.draw}",
        "png(one.draw(LIGHT)) for one in plates[1:] if one.draw}",
        ["tests/reports/test_plates.py::test_pictures_lie_beside_the_report"],
    ),
    (
        "reproductions/_figures.py",
        "for saying in self.says:",
        "for saying in reversed(self.says):",
        ["tests/reproductions/test_figures.py::test_the_first_saying_that_fits_counts"],
    ),
    (
        "cli/_reproduce.py",
        "return figure.quick_networks if figure and budget is Budget.QUICK else NETWORKS",
        "return figure.quick_networks if figure else NETWORKS",
        ["tests/cli/test_commands.py::test_networks_of_a_figure_are_those_asked_for_or_ten"],
    ),
    (
        "analysis/_activation.py",
        "late[:, 1:] != late[:, :-1]",
        "late[:, 1:] != late[:, :1]",
        [
            "tests/analysis/test_activation.py::test_the_difference_of_phases_is_counted_step_by_step"
        ],
    ),
    (
        "analysis/_activation.py",
        "trace(embedded)[-1].active\n    return active.transpose(0, 1).bool()",
        "trace(embedded)[-1].active\n    return active.transpose(0, 1).bool().flip(1)",
        [
            "tests/analysis/test_activation.py::test_as_many_mechanisms_are_active_as_there_should_be_and_no_others_change"
        ],
    ),
    (
        "reports/_exhibits/_activation_plate.py",
        "left=steps + 0.5",
        "left=steps - 0.5",
        ["tests/reports/test_activation_plate.py::test_the_picture_shows_who_is_active_when"],
    ),
    (
        "analysis/_roll_outs.py",
        "logits[:, network.given - 1 : -1]",
        "logits[:, network.given :]",
        ["tests/analysis/test_roll_outs.py::test_frames_after_those_given_are_what_is_scored"],
    ),
    (
        "reports/_exhibits/_roll_out_plate.py",
        "torch.stack([one[name].mean(0) for one in courses]).mean(0)",
        "torch.stack([one[name].mean(0) for one in courses]).amax(0)",
        [
            "tests/reports/test_roll_out_plate.py::test_courses_are_means_over_sequences_and_networks"
        ],
    ),
    (
        "reports/_exhibits/_roll_out_drawing.py",
        "film.frames[number - 1 - panel.given]",
        "film.frames[number - panel.given - 2]",
        ["tests/reports/test_roll_out_plate.py::test_films_show_the_truth_and_what_was_made_of_it"],
    ),
    (
        "models/_at_one_side.py",
        "(2 * torch.arange(self.side, device=device) + 1)",
        "(2 * torch.arange(self.side, device=device))",
        ["tests/models/test_at_one_side.py::test_it_reads_the_nearest_places"],
    ),
    (
        "analysis/_routing.py",
        "for group in (centred[groups == function]",
        "for group in (own[groups == function]",
        ["tests/analysis/test_routing.py::test_clustering_is_the_share_of_variance_between_groups"],
    ),
    (
        "analysis/_routing.py",
        "total = compatibility.sum(2, keepdim=True)",
        "total = compatibility.sum(3, keepdim=True)",
        ["tests/analysis/test_routing.py::test_similarity_of_paths"],
    ),
    (
        "analysis/_routing.py",
        "core.num_iterations = before",
        "core.num_iterations = core.num_iterations",
        ["tests/analysis/test_routing.py::test_fewer_iterations_are_scored_and_taken_back"],
    ),
    (
        "reports/_exhibits/_curve_plate.py",
        "one.low > other.high or",
        "one.low < other.high or",
        ["tests/reports/test_interpreter_plates.py::test_rows_are_compared_in_every_column"],
    ),
    (
        "analysis/_dormant_phases.py",
        "sequences, place.numpy())",
        "sequences, place.child(regime.name).numpy())",
        [
            "tests/analysis/test_dormant_phases.py::test_every_length_is_asked_for_with_the_same_symbols"
        ],
    ),
    (
        "reports/_exhibits/_dormant_plate.py",
        "> analysis.trained",
        ">= analysis.trained",
        ["tests/reports/test_dormant_plate.py::test_what_is_said_is_measured_over_the_networks"],
    ),
    (
        "reports/_exhibits/_dormant_plate.py",
        "length % slots",
        "length // slots",
        ["tests/reports/test_dormant_plate.py::test_lengths_with_one_remainder"],
    ),
]
