"""Mutants of tasks, and of the sheets that show them."""

MUTANTS = [
    (
        "tasks/_draws.py",
        "later += later >= picked[:, place, None]",
        "later += later > picked[:, place, None]",
        ["tests/tasks/test_draws.py::test_an_arrangement_of_each_number_gives_each_selection_once"],
    ),
    (
        "tasks/_draws.py",
        "largest = _WORDS - _WORDS % high - 1",
        "largest = _WORDS - 1",
        ["tests/tasks/test_draws.py::test_words_that_would_favour_small_numbers_are_drawn_again"],
    ),
    (
        "tasks/_draws.py",
        "return np.sort(first)",
        "return first",
        [
            "tests/tasks/test_draws.py::test_first_draws_are_those_stored",
            "tests/tasks/test_abstract_rules.py::test_drawn_sets_are_frozen_for_this_version",
        ],
    ),
    (
        "tasks/_draws.py",
        "first = np.unique(numbers, return_index=True)[1]",
        "first = np.arange(len(rows))",
        ["tests/tasks/test_draws.py::test_rows_of_a_large_space_are_distinct"],
    ),
    (
        "tasks/_abstract_rules.py",
        "return {train: order[withheld:], test: order[:withheld] if withheld else order}",
        "return {train: order[withheld:], test: order}",
        ["tests/tasks/test_abstract_rules.py::test_regimes_share_no_shape_or_no_problem"],
    ),
    (
        "tasks/_abstract_rules.py",
        "return {train: unique[cut:], test: unique[:cut]}",
        "return {train: unique, test: unique[:cut]}",
        [
            "tests/tasks/test_abstract_rules.py::test_regimes_share_no_shape_or_no_problem",
            "tests/tasks/test_abstract_rules.py::test_with_nothing_withheld_a_twentieth_of_the_pairs_is_kept",
        ],
    ),
    (
        "tasks/_abstract_rules.py",
        "np.concatenate([part[name] for part in parts])[order]",
        "np.concatenate([part[name] for part in parts])",
        ["tests/tasks/test_abstract_rules.py::test_sets_come_in_random_order"],
    ),
    (
        "tasks/_abstract_rules.py",
        " & ~outputs.isnan().any(dim=1)",
        "",
        ["tests/tasks/test_abstract_rules.py::test_what_is_not_a_number_is_wrong"],
    ),
    (
        "tasks/_abstract_rules.py",
        "return torch.unique(pictures, dim=0, return_inverse=True)[1][problems.index]",
        "return problems.index",
        [
            "tests/tasks/test_abstract_rules.py::test_the_oracle_does_not_look_at_numbers_or_answers",
        ],
    ),
    (
        "tasks/_abstract_rules.py",
        "return draw(stream(0))",
        "return draw(stream(int(np.random.default_rng().integers(99))))",
        [
            "tests/tasks/test_abstract_rules.py::test_a_sample_is_of_its_regime_and_repeats_with_its_generator"
        ],
    ),
    (
        "tasks/_same_different.py",
        "kept = max(1, total // 20)",
        "kept = max(1, total // 10)",
        ["tests/tasks/test_abstract_rules.py::test_sets_have_the_papers_sizes"],
    ),
    (
        "tasks/_same_different.py",
        "shared=shared, repeat=redrawn)",
        "shared=shared)",
        [
            "tests/tasks/test_abstract_rules.py::test_all_different_pairs_come_once_and_same_ones_are_drawn"
        ],
    ),
    (
        "tasks/_relational_match_to_sample.py",
        "np.where(answer[:, None, None] == 0, pairs[:, 1:], pairs[:, :0:-1])",
        "np.where(answer[:, None, None] == 1, pairs[:, 1:], pairs[:, :0:-1])",
        ["tests/tasks/test_abstract_rules.py::test_targets_follow_from_the_latent_description"],
    ),
    (
        "tasks/_relational_match_to_sample.py",
        "radices=(*range(images, images - 5, -1), 2)",
        "radices=(*range(images, images - 4, -1), 1, 2)",
        ["tests/tasks/test_abstract_rules.py::test_drawn_sets_are_frozen_for_this_version"],
    ),
    (
        "tasks/_distribution_of_three.py",
        "integers(choices_at, len(pool) - 3, count)",
        "integers(choices_at, min(len(pool) - 3, 5), count)",
        ["tests/tasks/test_abstract_rules.py::test_choices_hold_a_fourth_shape_of_the_same_regime"],
    ),
    (
        "tasks/_distribution_of_three.py",
        "for left in (4, 3, 2, 1)",
        "for left in (3, 3, 2, 1)",
        [
            "tests/tasks/test_abstract_rules.py::test_answers_are_balanced",
            "tests/tasks/test_abstract_rules.py::test_no_single_position_tells_the_answer",
        ],
    ),
    (
        "tasks/_patterns.py",
        '"ABB": (0, 1, 1)',
        '"ABB": (0, 1, 0)',
        ["tests/tasks/test_abstract_rules.py::test_targets_follow_from_the_latent_description"],
    ),
    (
        "tasks/_identity_rules.py",
        "        if not self.thirds:",
        "        if True:",
        [
            "tests/tasks/test_abstract_rules.py::test_thirds_takes_exactly_a_third_of_each_pattern",
        ],
    ),
    (
        "tasks/_glyphs.py",
        "(rows[row] - y0[piece]) * run",
        "(rows[row] - y0[piece]) * 0",
        [
            "tests/tasks/test_shapes.py::test_ink_is_what_the_outline_of_another_reader_winds_round",
        ],
    ),
    (
        "tasks/_glyphs.py",
        "curve = rest**2 * start + 2 * step * rest * control + step**2 * end",
        "curve = _PIECES * (rest * start + step * end)",
        [
            "tests/tasks/test_shapes.py::test_ink_is_what_the_outline_of_another_reader_winds_round",
            "tests/tasks/test_shapes.py::test_the_glyphs_are_the_stored_bytes",
        ],
    ),
    (
        "tasks/_shapes.py",
        'held = np.array(images, order="C")',
        "held = images",
        ["tests/tasks/test_shapes.py::test_a_table_cannot_be_changed_afterwards"],
    ),
    (
        "tasks/_shapes.py",
        "if (width, height, depth, colour) != (32, 32, 8, 0):",
        "if (depth, colour) != (8, 0):",
        ["tests/tasks/test_shapes.py::test_a_hostile_picture_ends_in_a_clear_error"],
    ),
    (
        "reports/_problem_sheet.py",
        "_frame(axes, [_moved(origin, layout.places[place]) for place in layout.framed[answer]])",
        "_frame(axes, [_moved(origin, layout.places[place]) for place in layout.framed[0]])",
        ["tests/reports/test_problem_sheet.py::test_a_frame_encloses_the_right_answer_alone"],
    ),
    (
        "reports/_problem_sheet.py",
        "problem.items[problem.index[0, place]]",
        "problem.items[place]",
        [
            "tests/reports/test_problem_sheet.py::test_every_image_of_the_problems_stands_on_the_sheet"
        ],
    ),
    (
        "reports/_problem_sheet.py",
        "for turn in zip_longest(*turns) for row in turn if row is not None",
        "for turn in turns for row in turn",
        ["tests/reports/test_problem_sheet.py::test_kinds_take_turns_and_are_named"],
    ),
]
