"""Mutants of the progressive matrices, generated and published."""

MUTANTS = [
    (
        "tasks/_matrices/_matrix_relations.py",
        "return attribute != (POSITION if relation == UNION else NUMBER)",
        "return True",
        [
            "tests/tasks/test_progressive_matrices.py::test_there_are_29_triples_and_400_pairs_of_them_as_published"
        ],
    ),
    (
        "tasks/_matrices/_matrix_relations.py",
        "& np.isin(third, masks)",
        "",
        ["tests/tasks/test_progressive_matrices.py::test_lines_are_all_that_a_triple_makes"],
    ),
    (
        "tasks/_matrices/_matrix_problems.py",
        "lacking = lacking[(laws(found) != wanted[lacking]).any(axis=(1, 2, 3))]",
        "lacking = lacking[:0]",
        [
            "tests/tasks/test_progressive_matrices.py::test_one_candidate_fits_what_holds_and_nothing_else_holds"
        ],
    ),
    (
        "tasks/_matrices/_matrix_problems.py",
        "np.concatenate([_BITS, _BITS.sum(axis=1, keepdims=True) % 2], axis=1),",
        "np.concatenate([_BITS, _BITS.min(axis=1, keepdims=True)], axis=1),",
        [
            "tests/tasks/test_progressive_matrices.py::test_every_option_of_a_triple_is_shown_as_often"
        ],
    ),
    (
        "tasks/_matrices/_matrix_problems.py",
        'order = np.argsort(words, axis=1, kind="stable")',
        "order = np.tile(np.arange(8), (count, 1)) + 0 * words.astype(np.int64)",
        ["tests/tasks/test_progressive_matrices.py::test_drawn_sets_are_frozen_for_this_version"],
    ),
    (
        "tasks/_matrices/_matrix_holdouts.py",
        "kept &= np.logical_or.reduce(shows) == test",
        "kept &= np.logical_or.reduce(shows) | (not test)",
        [
            "tests/tasks/test_progressive_matrices.py::test_withheld_triples_and_pairs_are_shown_by_their_test_alone"
        ],
    ),
    (
        "tasks/_matrices/_matrix_panels.py",
        "choices = np.arange(NUM_KINDS) if attribute == TYPE else familiar",
        "choices = np.arange(NUM_KINDS)",
        [
            "tests/tasks/test_progressive_matrices.py::test_sizes_and_colours_are_familiar_but_where_a_test_is_about_them"
        ],
    ),
    (
        "tasks/_matrices/_matrix_drawing.py",
        "greys(colour[shown] - 1)",
        "greys(colour[shown])",
        ["tests/tasks/test_progressive_matrices.py::test_pictures_are_those_of_the_description"],
    ),
    (
        "tasks/_matrices/_progressive_matrices.py",
        "levels=held.novel if test else held.familiar,",
        "levels=held.familiar,",
        [
            "tests/tasks/test_progressive_matrices.py::test_sizes_and_colours_are_familiar_but_where_a_test_is_about_them"
        ],
    ),
    (
        "tasks/_files/_panel_files.py",
        " + step * step // 2) //",
        ") //",
        ["tests/tasks/test_published_matrices.py::test_smaller_panels_are_means_of_their_squares"],
    ),
    (
        "tasks/_matrices/_published_matrices.py",
        "structure.amax(dim=1)",
        "structure[:, 0]",
        ["tests/tasks/test_published_matrices.py::test_without_descriptions_there_are_fewer_parts"],
    ),
    (
        "tasks/_files/_panel_archive.py",
        "if not set(bits.ravel().tolist()) <= {0, 1}:",
        "if False:",
        [
            "tests/tasks/test_published_matrices.py::test_what_is_not_as_published_is_refused_by_file_and_field"
        ],
    ),
    (
        "tasks/_matrices/_raven.py",
        "numbers.repeat_interleave(counts)",
        "numbers.repeat_interleave(counts.flip(0))",
        ["tests/tasks/test_published_matrices.py::test_configurations_are_read_together"],
    ),
    (
        "reproductions/gondal2021/_matrices.py",
        "most_triples=2 if holdout in PAIRS else 1,",
        "most_triples=2,",
        [
            "tests/reproductions/test_gondal2021.py::test_matrices_have_two_triples_where_pairs_are_withheld_and_one_elsewhere"
        ],
    ),
    (
        "reports/_exhibits/_matrix_plate.py",
        "if int(one.shares.argmax()) == target",
        "if int(one.shares.argmax()) != target",
        [
            "tests/reports/test_interpreter_plates.py::test_a_matrix_is_shown_with_the_scores_of_its_candidates"
        ],
    ),
    (
        "tasks/_matrices/_matrix_relations.py",
        "OPEN: Final = np.array([[6, 7], [2, 5]])",
        "OPEN: Final = np.array([[3, 4], [1, 4]])",
        [
            "tests/tasks/test_progressive_matrices.py::test_the_last_lines_alone_tell_much_and_not_all"
        ],
    ),
]
