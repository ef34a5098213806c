"""Mutants of tasks, and of the sheets and the command that show them."""

MUTANTS = [
    (
        "tasks/_protocol/_draws.py",
        "later += later >= picked[:, place, None]",
        "later += later > picked[:, place, None]",
        ["tests/tasks/test_draws.py::test_an_arrangement_of_each_number_gives_each_selection_once"],
    ),
    (
        "tasks/_protocol/_draws.py",
        "largest = _WORDS - _WORDS % high - 1",
        "largest = _WORDS - 1",
        ["tests/tasks/test_draws.py::test_words_that_would_favour_small_numbers_are_drawn_again"],
    ),
    (
        "tasks/_protocol/_draws.py",
        "return np.sort(first)",
        "return first",
        [
            "tests/tasks/test_draws.py::test_first_draws_are_those_stored",
            "tests/tasks/test_abstract_rules.py::test_drawn_sets_are_frozen_for_this_version",
        ],
    ),
    (
        "tasks/_protocol/_draws.py",
        "first = np.unique(numbers, return_index=True)[1]",
        "first = np.arange(len(rows))",
        ["tests/tasks/test_draws.py::test_rows_of_a_large_space_are_distinct"],
    ),
    (
        "tasks/_rules/_abstract_rules.py",
        "return {train: order[withheld:], test: order[:withheld] if withheld else order}",
        "return {train: order[withheld:], test: order}",
        ["tests/tasks/test_abstract_rules.py::test_regimes_share_no_shape_or_no_problem"],
    ),
    (
        "tasks/_rules/_abstract_rules.py",
        "return {train: unique[cut:], test: unique[:cut]}",
        "return {train: unique, test: unique[:cut]}",
        [
            "tests/tasks/test_abstract_rules.py::test_regimes_share_no_shape_or_no_problem",
            "tests/tasks/test_abstract_rules.py::test_with_nothing_withheld_a_twentieth_of_the_pairs_is_kept",
        ],
    ),
    (
        "tasks/_rules/_abstract_rules.py",
        "np.concatenate([part[name] for part in parts])[order]",
        "np.concatenate([part[name] for part in parts])",
        ["tests/tasks/test_abstract_rules.py::test_sets_come_in_random_order"],
    ),
    (
        "metrics/_accuracy.py",
        "((outputs < own).sum(-1) == outputs.shape[-1] - 1)",
        "~(outputs > own).any(-1)",
        ["tests/tasks/test_abstract_rules.py::test_what_is_not_a_number_is_wrong"],
    ),
    (
        "tasks/_rules/_abstract_rules.py",
        "return torch.unique(pictures, dim=0, return_inverse=True)[1][problems.index]",
        "return problems.index",
        [
            "tests/tasks/test_abstract_rules.py::test_the_oracle_does_not_look_at_numbers_or_answers",
        ],
    ),
    (
        "tasks/_protocol/_samples.py",
        "return draw(stream(0))",
        "return draw(stream(int(np.random.default_rng().integers(99))))",
        [
            "tests/tasks/test_abstract_rules.py::test_a_sample_is_of_its_regime_and_repeats_with_its_generator"
        ],
    ),
    (
        "tasks/_rules/_same_different.py",
        "kept = max(1, total // 20)",
        "kept = max(1, total // 10)",
        ["tests/tasks/test_abstract_rules.py::test_sets_have_the_papers_sizes"],
    ),
    (
        "tasks/_rules/_same_different.py",
        "shared=shared, repeat=redrawn)",
        "shared=shared)",
        [
            "tests/tasks/test_abstract_rules.py::test_all_different_pairs_come_once_and_same_ones_are_drawn"
        ],
    ),
    (
        "tasks/_rules/_relational_match_to_sample.py",
        "np.where(answer[:, None, None] == 0, pairs[:, 1:], pairs[:, :0:-1])",
        "np.where(answer[:, None, None] == 1, pairs[:, 1:], pairs[:, :0:-1])",
        ["tests/tasks/test_abstract_rules.py::test_targets_follow_from_the_latent_description"],
    ),
    (
        "tasks/_rules/_relational_match_to_sample.py",
        "radices=(*range(images, images - 5, -1), 2)",
        "radices=(*range(images, images - 4, -1), 1, 2)",
        ["tests/tasks/test_abstract_rules.py::test_drawn_sets_are_frozen_for_this_version"],
    ),
    (
        "tasks/_rules/_distribution_of_three.py",
        "integers(choices_at, len(pool) - 3, count)",
        "integers(choices_at, min(len(pool) - 3, 5), count)",
        ["tests/tasks/test_abstract_rules.py::test_choices_hold_a_fourth_shape_of_the_same_regime"],
    ),
    (
        "tasks/_rules/_distribution_of_three.py",
        "for left in (4, 3, 2, 1)",
        "for left in (3, 3, 2, 1)",
        [
            "tests/tasks/test_abstract_rules.py::test_answers_are_balanced",
            "tests/tasks/test_abstract_rules.py::test_no_single_position_tells_the_answer",
        ],
    ),
    (
        "tasks/_rules/_patterns.py",
        '"ABB": (0, 1, 1)',
        '"ABB": (0, 1, 0)',
        ["tests/tasks/test_abstract_rules.py::test_targets_follow_from_the_latent_description"],
    ),
    (
        "tasks/_rules/_identity_rules.py",
        "        if not self.thirds:",
        "        if True:",
        [
            "tests/tasks/test_abstract_rules.py::test_thirds_takes_exactly_a_third_of_each_pattern",
        ],
    ),
    (
        "tasks/_rules/_shapes.py",
        'held = np.array(images, order="C")',
        "held = images",
        ["tests/tasks/test_shapes.py::test_a_table_cannot_be_changed_afterwards"],
    ),
    (
        "tasks/_files/_grey_png.py",
        "if (width, height, depth, colour) != (side, side, 8, 0):",
        "if (depth, colour) != (8, 0):",
        ["tests/tasks/test_shapes.py::test_a_hostile_picture_ends_in_a_clear_error"],
    ),
    (
        "tasks/_files/_grey_png.py",
        'if (headers := [kind for kind, _ in kept].count(b"IHDR")) != 1:',
        "if (headers := 2) != 2:",
        ["tests/tasks/test_shapes.py::test_a_second_header_is_refused"],
    ),
    (
        "tasks/_files/_grey_png.py",
        "for kind, chunk in _chunks(content) if kind in _READ",
        "for kind, chunk in _chunks(content)",
        ["tests/tasks/test_shapes.py::test_nothing_beside_the_pixels_is_unpacked"],
    ),
    (
        "reports/_problems/_problem_sheet.py",
        "_frame(axes, [moved(origin, layout.places[place]) for place in layout.framed[answer]])",
        "_frame(axes, [moved(origin, layout.places[place]) for place in layout.framed[0]])",
        ["tests/reports/test_problem_sheet.py::test_a_frame_encloses_the_right_answer_alone"],
    ),
    (
        "reports/_problems/_problem_sheet.py",
        "problem.items[problem.index[0, place]]",
        "problem.items[place]",
        [
            "tests/reports/test_problem_sheet.py::test_every_image_of_the_problems_stands_on_the_sheet"
        ],
    ),
    (
        "reports/_problems/_problem_sheet.py",
        "for turn in zip_longest(*turns) for row in turn if row is not None",
        "for turn in turns for row in turn",
        ["tests/reports/test_problem_sheet.py::test_kinds_take_turns_and_are_named"],
    ),
    (
        "tasks/_rules/_all_same.py",
        "return num_images - (2 * num_odd == num_images)",
        "return num_images",
        [
            "tests/tasks/test_harder_rules.py::test_sets_have_the_sizes_of_the_cards",
            "tests/tasks/test_harder_rules.py::test_targets_follow_from_the_latent_description",
        ],
    ),
    (
        "tasks/_rules/_all_same.py",
        "ways[places - place - 1, lacking - 1]",
        "ways[places - place - 1, lacking]",
        [
            "tests/tasks/test_harder_rules.py::test_every_number_names_a_set_of_places_once",
        ],
    ),
    (
        "tasks/_rules/_all_same.py",
        "[sum(those), *those]",
        "[max(those), *those]",
        [
            "tests/tasks/test_harder_rules.py::test_answers_are_balanced",
        ],
    ),
    (
        "tasks/_rules/_triple_match_to_sample.py",
        "np.where(answer[:, None, None] == 0,",
        "np.where(answer[:, None, None] == 1,",
        [
            "tests/tasks/test_harder_rules.py::test_targets_follow_from_the_latent_description",
        ],
    ),
    (
        "tasks/_rules/_triple_match_to_sample.py",
        '("AAB", "ABA", "ABB")',
        '("AAB", "ABA", "AAA")',
        [
            "tests/tasks/test_harder_rules.py::test_the_number_of_different_images_tells_triples_nothing",
        ],
    ),
    (
        "tasks/_rules/_triple_match_to_sample.py",
        "itertools.permutations(patterns, 2)",
        "itertools.combinations(patterns, 2)",
        [
            "tests/tasks/test_harder_rules.py::test_targets_without_a_source_tell_nothing",
        ],
    ),
    (
        "tasks/_rules/_distribution_of_n.py",
        "selected(row_length - 1, row_length - 2)",
        "selected(2, 1)",
        [
            "tests/tasks/test_harder_rules.py::test_choices_are_drawn_from_all_that_may_stand_there",
        ],
    ),
    (
        "tasks/_rules/_distribution_of_n.py",
        "integers(choices_at, len(pool) - row_length, len(digits))",
        "integers(choices_at, min(len(pool) - row_length, 3), len(digits))",
        [
            "tests/tasks/test_harder_rules.py::test_choices_are_drawn_from_all_that_may_stand_there",
        ],
    ),
    (
        "tasks/_rules/_distribution_of_n.py",
        "fewest = self.row_length + 1",
        "fewest = self.row_length",
        [
            "tests/tasks/test_harder_rules.py::test_rows_need_enough_shapes_on_either_side",
        ],
    ),
    (
        "tasks/_rules/_identity_rules_middle.py",
        "rows[:, 1, ::2]",
        "rows[:, 1, :2]",
        [
            "tests/tasks/test_harder_rules.py::test_targets_follow_from_the_latent_description",
        ],
    ),
    (
        "tasks/_rules/_identity_rules_middle.py",
        "torch.where(as_last, last, new)",
        "last",
        [
            "tests/tasks/test_harder_rules.py::test_the_oracle_is_always_right_and_reads_pixels",
        ],
    ),
    (
        "tasks/_rules/_tinted_same_different.py",
        "_every_other(answer), 1 - answer)",
        "_every_other(answer), answer)",
        [
            "tests/tasks/test_harder_rules.py::test_the_tint_alone_is_right_in_training_and_lost_at_test",
        ],
    ),
    (
        "tasks/_rules/_tinted_same_different.py",
        "return (ordinal + answer) % 2",
        "return ordinal % 3 % 2",
        [
            "tests/tasks/test_harder_rules.py::test_the_tint_alone_is_right_in_training_and_lost_at_test",
        ],
    ),
    (
        "tasks/_rules/_tinted_same_different.py",
        "images / 2 + 0.5",
        "1 - images / 2",
        [
            "tests/tasks/test_harder_rules.py::test_tints_keep_images_apart_and_within_the_greys",
        ],
    ),
    (
        "reports/_problems/_problem_sheet.py",
        "return math.ceil(count / math.ceil(count / most))",
        "return count",
        [
            "tests/reports/test_problem_sheet.py::test_wide_problems_take_several_rows",
        ],
    ),
    (
        "reports/_problems/_problem_layouts.py",
        '"Identity rules, missing middle", blank=1,',
        '"Identity rules, missing middle", blank=2,',
        [
            "tests/reports/test_problem_sheet.py::test_the_missing_middle_is_between_its_neighbours",
        ],
    ),
    (
        "cli/_commands.py",
        'words += ["--task.withheld", str(command.withheld)]',
        'words = ["--task.withheld", str(command.withheld)]',
        [
            "tests/cli/test_commands.py::test_show_takes_the_fields_of_the_task",
        ],
    ),
    (
        "tasks/_vaec/_vaec_objects.py",
        "_NARROWEST + 2 * level",
        "_NARROWEST + level",
        ["tests/tasks/test_vaec.py::test_objects_are_those_of_the_description"],
    ),
    (
        "tasks/_vaec/_vaec_objects.py",
        "(centre - (width + 1) // 2 + exact_width)",
        "(centre - (width - 1) // 2)",
        ["tests/tasks/test_vaec.py::test_objects_are_those_of_the_description"],
    ),
    (
        "tasks/_vaec/_vaec_objects.py",
        " + _WHOLE // 2) // _WHOLE",
        ") // _WHOLE",
        ["tests/tasks/test_vaec.py::test_other_sizes_are_means_of_the_published_picture"],
    ),
    (
        "tasks/_vaec/_vaec_objects.py",
        "return (first + 1 - covered.gather(1, first))[:, 0]",
        "return first[:, 0]",
        ["tests/tasks/test_vaec.py::test_objects_differ_and_are_measured_right"],
    ),
    (
        "tasks/_vaec/_vaec_problems.py",
        "foils = place + (place >= right[:, None])",
        "foils = place + (place > right[:, None])",
        ["tests/tasks/test_vaec.py::test_targets_follow_from_the_levels"],
    ),
    (
        "tasks/_vaec/_vaec_problems.py",
        "if distance and a != c and",
        "if distance and a < c and",
        ["tests/tasks/test_vaec.py::test_analogies_are_all_there_are"],
    ),
    (
        "tasks/_vaec/_vaec_problems.py",
        '_orders(place.child("irrelevant"), kinds, combinations)[:, :shown]',
        '_orders(place.child("irrelevant"), 1, combinations).repeat(kinds, 0)[:, :shown]',
        ["tests/tasks/test_vaec.py::test_irrelevant_levels_are_drawn_anew_for_each_analogy"],
    ),
    (
        "tasks/_vaec/_vaec_problems.py",
        "(candidates == analogy[:, 3:]).argmax(axis=1)",
        "0 * dimension",
        ["tests/tasks/test_vaec.py::test_shuffling_changes_only_the_order_of_the_candidates"],
    ),
    (
        "tasks/_vaec/_vaec_task.py",
        "others.sort(key=lambda number: abs(number - self.train_on))",
        "others.sort()",
        ["tests/tasks/test_vaec.py::test_training_on_any_region_leaves_its_problems_as_they_are"],
    ),
    (
        "tasks/_vaec/_vaec_scale.py",
        "steps + number - 1 if",
        "steps + 1 if",
        ["tests/tasks/test_vaec.py::test_scales_share_the_levels_that_the_card_says"],
    ),
    (
        "reports/_problems/_problem_layouts.py",
        "places=(*terms[:3], *choices),",
        "places=(*choices[:3], *choices),",
        ["tests/reports/test_problem_sheet.py::test_an_analogy_stands_over_its_candidates"],
    ),
    (
        "cli/_names.py",
        'if shapes != "glyphs":',
        "if not shapes:",
        ["tests/cli/test_commands.py::test_other_shapes_for_a_task_that_draws_its_own_are_refused"],
    ),
    (
        "tasks/_vaec/_vaec_write.py",
        "ascending = np.sort(candidates, axis=1)",
        "ascending = candidates",
        [
            "tests/tasks/test_vaec_files.py::test_shuffled_candidates_are_written_in_the_published_order"
        ],
    ),
    (
        "tasks/_vaec/_vaec_write.py",
        "temporary.unlink(missing_ok=True)",
        "pass",
        ["tests/tasks/test_vaec_files.py::test_a_full_disk_leaves_the_old_file_and_nothing_else"],
    ),
    (
        "tasks/_vaec/_vaec_write.py",
        "(b - a == d - c) & (a != b)",
        "(a != b)",
        ["tests/tasks/test_vaec_files.py::test_what_would_be_refused_is_not_written"],
    ),
    (
        "tasks/_vaec/_vaec_write.py",
        "& (varied[:, 0] == a)",
        "",
        ["tests/tasks/test_vaec_files.py::test_what_would_be_refused_is_not_written"],
    ),
    (
        "tasks/_vaec/_vaec_read.py",
        "max(2 * dataset.nbytes, largest)",
        "max(2 * chunk, largest)",
        ["tests/tasks/test_vaec_files.py::test_what_is_no_problem_of_vaec_is_refused"],
    ),
    (
        "tasks/_vaec/_vaec_read.py",
        "not size <= len(packed) <= size + _CHECKSUM",
        "len(packed) < size",
        ["tests/tasks/test_vaec_files.py::test_what_is_no_problem_of_vaec_is_refused"],
    ),
    (
        "tasks/_vaec/_vaec_read.py",
        "get_info(found.id).rc) != 1",
        "get_info(found.id).rc) < 1",
        ["tests/tasks/test_vaec_files.py::test_what_is_no_problem_of_vaec_is_refused"],
    ),
    (
        "tasks/_vaec/_vaec_read.py",
        "if not isinstance(link, h5py.HardLink):",
        "if not link:",
        ["tests/tasks/test_vaec_files.py::test_what_is_no_problem_of_vaec_is_refused"],
    ),
    (
        "tasks/_vaec/_vaec_read.py",
        "if dataset.external or dataset.is_virtual:",
        "if dataset.external:",
        ["tests/tasks/test_vaec_files.py::test_what_is_no_problem_of_vaec_is_refused"],
    ),
    (
        "tasks/_vaec/_vaec_read.py",
        "a in (b, c) or b - a != d - c",
        "a in (b, c)",
        ["tests/tasks/test_vaec_files.py::test_what_is_no_problem_of_vaec_is_refused"],
    ),
    (
        "tasks/_vaec/_vaec_read.py",
        "classes[np.arange(len(classes)), analogy[:, 0]]",
        "classes[:, 0]",
        ["tests/tasks/test_vaec_files.py::test_what_was_written_is_read"],
    ),
    (
        "tasks/_sequences/_copying.py",
        "index[:, -RECALLED - 1] = MARKER",
        "index[:, -RECALLED] = MARKER",
        ["tests/tasks/test_copying.py::test_problems_are_symbols_a_phase_a_marker_and_blanks"],
    ),
    (
        "tasks/_sequences/_copying.py",
        "first = -RECALLED if self.recalled_only else 0",
        "first = 0",
        ["tests/tasks/test_copying.py::test_score_and_loss_are_those_of_loops"],
    ),
    (
        "tasks/_sequences/_copying.py",
        "places = RECALLED if self.recalled_only else self._dormant(regime) + 2 * RECALLED",
        "places = RECALLED if self.recalled_only else self._dormant(regime) + RECALLED",
        [
            "tests/tasks/test_copying.py::test_the_floor_of_the_loss_is_that_of_blanks_and_one_in_eight"
        ],
    ),
    (
        "tasks/_sequences/_copying.py",
        "problems.items[problems.index[:, :RECALLED]].argmax(-1)",
        "problems.index[:, :RECALLED]",
        [
            "tests/tasks/test_copying.py::test_the_oracle_reads_the_first_ten_places_whatever_the_table"
        ],
    ),
    (
        "tasks/_sequences/_adding.py",
        "ends = [part * length // parts for part in range(parts + 1)]",
        "ends = [part * (length // parts) for part in range(parts + 1)]",
        ["tests/tasks/test_adding.py::test_one_place_of_each_part_is_marked"],
    ),
    (
        "tasks/_sequences/_adding.py",
        "+ np.var(choices) / 4",
        "+ np.var(choices) / 2",
        ["tests/tasks/test_adding.py::test_the_floor_is_the_variance_of_the_answer"],
    ),
    (
        "tasks/_sequences/_adding.py",
        "markers = parts if self.separate_markers else np.minimum(parts, 1)",
        "markers = np.minimum(parts, 1)",
        ["tests/tasks/test_adding.py::test_one_place_of_each_part_is_marked"],
    ),
    (
        "tasks/_sequences/_sequential_mnist.py",
        "INK: Final = 128",
        "INK: Final = 129",
        ["tests/tasks/test_sequential_mnist.py::test_resizing_is_torch_s_nearest_after_rounding"],
    ),
    (
        "tasks/_sequences/_sequential_mnist.py",
        "VALIDATION: order[-self.validation_images :]",
        "VALIDATION: order[: self.validation_images]",
        ["tests/tasks/test_sequential_mnist.py::test_sets_share_no_image_and_tests_show_the_same"],
    ),
    (
        "tasks/_files/_data_sets.py",
        "        check_digest(printable(path), content, file)\n",
        "",
        [
            "tests/tasks/test_data_sets.py::test_another_file_is_refused_with_both_digests",
        ],
    ),
    (
        "tasks/_files/_data_sets.py",
        "read_regular(path, file.size + 1)",
        "read_regular(path, file.size)",
        ["tests/tasks/test_data_sets.py::test_another_file_is_refused_with_both_digests"],
    ),
    (
        "tasks/_files/_data_sets.py",
        "unpacked = file.read(length + 1)",
        "unpacked = file.read()",
        ["tests/tasks/test_data_sets.py::test_no_more_is_unpacked_than_there_should_be"],
    ),
    (
        "tasks/_files/_fetch.py",
        "            check_digest(printable(address), content, file)\n",
        "",
        ["tests/tasks/test_data_sets.py::test_a_wrong_mirror_is_passed_over"],
    ),
    (
        "tasks/_files/_fetch.py",
        "        temporary.unlink(missing_ok=True)\n",
        "        pass\n",
        ["tests/tasks/test_data_sets.py::test_a_file_that_cannot_be_put_in_place_leaves_nothing"],
    ),
    (
        "tasks/_balls/_ball_motion.py",
        "push *= 2 / (masses[0] + masses[1])",
        "push *= 1 / (masses[0] + masses[1])",
        ["tests/tasks/test_bouncing_balls.py::test_two_balls_that_meet_keep_momentum_and_energy"],
    ),
    (
        "tasks/_balls/_ball_motion.py",
        "masses = radii[sequence, first] ** 2, radii[sequence, second] ** 2",
        "masses = radii[sequence, second] ** 2, radii[sequence, first] ** 2",
        ["tests/tasks/test_bouncing_balls.py::test_two_balls_that_meet_keep_momentum_and_energy"],
    ),
    (
        "tasks/_balls/_ball_motion.py",
        "way = np.where(speed > 0, 1 - own - place, own - place)",
        "way = np.where(speed > 0, 1 - place, own - place)",
        ["tests/tasks/test_bouncing_balls.py::test_a_wall_turns_one_speed_around"],
    ),
    (
        "tasks/_balls/_ball_motion.py",
        "            left[rows] -= step\n",
        "            left[rows] -= 0.9 * step\n",
        ["tests/tasks/test_bouncing_balls.py::test_motion_is_that_of_one_ball_at_a_time"],
    ),
    (
        "tasks/_balls/_ball_frames.py",
        "(columns >= curtain[:, :1])",
        "(columns > curtain[:, :1])",
        ["tests/tasks/test_bouncing_balls.py::test_items_are_the_frames_of_the_balls"],
    ),
    (
        "tasks/_balls/_ball_frames.py",
        "white = np.array([stayed, np.count_nonzero(shown) - stayed])",
        "white = np.array([stayed, np.count_nonzero(shown)])",
        ["tests/tasks/test_bouncing_balls.py::test_floors_are_those_of_loops"],
    ),
    (
        "tasks/_balls/_bouncing_balls.py",
        "return self._frame_losses(outputs[:, first - 1 : -1], problems, first).mean(1)",
        "return self._frame_losses(outputs[:, first:], problems, first).mean(1)",
        ["tests/tasks/test_bouncing_balls.py::test_scores_are_cross_entropies_of_the_next_frame"],
    ),
    (
        "tasks/_balls/_bouncing_balls.py",
        "return (losses * seen).sum(2) / seen.sum(2)",
        "return (losses * seen).mean(2)",
        ["tests/tasks/test_bouncing_balls.py::test_scores_are_cross_entropies_of_the_next_frame"],
    ),
    (
        "tasks/_balls/_bouncing_balls.py",
        "return self._mean_loss(outputs, problems, first=self.given)",
        "return self._mean_loss(outputs, problems, first=1)",
        [
            "tests/tasks/test_bouncing_balls.py::test_of_the_frames_given_none_is_scored_and_all_are_learned"
        ],
    ),
    (
        "metrics/_blobs.py",
        "cutoff * abs(len(one) - len(other))",
        "0 * abs(len(one) - len(other))",
        ["tests/metrics/test_blobs.py::test_it_is_that_of_the_best_matching"],
    ),
    (
        "core/_hints.py",
        'return tuple(kind.take(f"{name}[{k}]", part)',
        'return list(kind.take(f"{name}[{k}]", part)',
        ["tests/tasks/test_checks.py::test_lists_are_taken_as_tuples"],
    ),
    (
        "tasks/_balls/_bouncing_balls.py",
        "        check_regime(regime, self.regimes)\n        return {_name",
        "        return {_name",
        ["tests/tasks/test_bouncing_balls.py::test_samples_are_new_and_of_the_regime"],
    ),
    (
        "tasks/_sequences/_adding.py",
        "self._kind(check_regime(regime, self.regimes))",
        "self._kind(regime)",
        ["tests/tasks/test_adding.py::test_regimes_are_new_sequences_of_their_kind"],
    ),
]
