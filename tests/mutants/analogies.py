"""Mutants of the visual analogies between rows, and of the sheet that shows them."""

MUTANTS = [
    (
        "tasks/_analogies/_analogy_relations.py",
        "& (step != 0)",
        "",
        ["tests/tasks/test_visual_analogies.py::test_rows_are_all_that_a_relation_makes"],
    ),
    (
        "tasks/_analogies/_analogy_relations.py",
        "& (sizes(third) == sizes(first))",
        "",
        ["tests/tasks/test_visual_analogies.py::test_rows_are_all_that_a_relation_makes"],
    ),
    (
        "tasks/_analogies/_analogy_problems.py",
        "lacking = lacking[_misleading(fresh, domain[lacking])]",
        "lacking = lacking[:0]",
        [
            "tests/tasks/test_visual_analogies.py::test_the_oracle_is_always_right_and_does_not_look_at_answers"
        ],
    ),
    (
        "tasks/_analogies/_analogy_problems.py",
        "relations = (relation[:, None] + np.arange(len(RELATIONS))) % len(RELATIONS)",
        "relations = (relation[:, None] * 0 + np.arange(len(RELATIONS))) % len(RELATIONS)",
        [
            "tests/tasks/test_visual_analogies.py::test_one_candidate_ends_the_target_as_the_source_ends"
        ],
    ),
    (
        "tasks/_analogies/_analogy_problems.py",
        "lacking = lacking[alike]",
        "lacking = lacking[:0]",
        [
            "tests/tasks/test_visual_analogies.py::test_foils_are_of_another_relation_or_of_none_in_particular"
        ],
    ),
    (
        "tasks/_analogies/_analogy_problems.py",
        "first = _triples(generator, relation, source, self.familiar)",
        "first = _triples(generator, relation, source, self.target)",
        [
            "tests/tasks/test_visual_analogies.py::test_values_are_familiar_but_in_the_target_of_the_last_test"
        ],
    ),
    (
        "tasks/_analogies/_analogy_drawing.py",
        "(bite >= 3 * side * side)",
        "(bite >= 2 * side * side)",
        ["tests/tasks/test_visual_analogies.py::test_pictures_are_those_of_the_description"],
    ),
    (
        "tasks/_analogies/_analogy_panels.py",
        "picked = choices[(words % np.uint64(len(choices))).astype(np.int64)]",
        "picked = choices[(words % np.uint64(2)).astype(np.int64) % len(choices)]",
        ["tests/tasks/test_visual_analogies.py::test_drawn_sets_are_frozen_for_this_version"],
    ),
    (
        "metrics/_accuracy.py",
        "(outputs < own).sum(-1) == outputs.shape[-1] - 1",
        "(outputs <= own).sum(-1) == outputs.shape[-1]",
        ["tests/tasks/test_vaec.py::test_a_tie_is_no_answer"],
    ),
    (
        "tasks/_analogies/_visual_analogies.py",
        "pairs={_PAIRS: withheld, last: scales}.get(name, shown)",
        "pairs={last: scales}.get(name, shown)",
        ["tests/tasks/test_visual_analogies.py::test_withheld_pairs_are_shown_in_their_test_alone"],
    ),
    (
        "reports/_problems/_ink.py",
        "vmax=1 if shown.is_floating_point() else 255",
        "vmax=1",
        ["tests/reports/test_problem_sheet.py::test_rows_of_panels_say_their_relation_and_domains"],
    ),
    (
        "tasks/_files/_panel_archive.py",
        "return image.astype(np.uint8).reshape(self.panels, PANEL_SIZE, PANEL_SIZE)",
        "return np.moveaxis(image.astype(np.uint8).reshape(160, 160, 9), 2, 0)",
        [
            "tests/tasks/test_published_analogies.py::test_what_is_published_is_read_in_the_order_of_the_numbers"
        ],
    ),
    (
        "tasks/_files/_panel_archive.py",
        "type(side) is not int or side < 0",
        "side < 0",
        [
            "tests/tasks/test_published_analogies.py::test_sides_that_are_no_sizes_are_refused_by_file_and_field"
        ],
    ),
    (
        "tasks/_files/_panel_archive.py",
        "    if header.dtype.hasobject:",
        "    if False:",
        [
            "tests/tasks/test_published_analogies.py::test_what_is_not_as_published_is_refused_by_file_and_field"
        ],
    ),
    (
        "tasks/_files/_panel_archive.py",
        " or (image != image.astype(np.uint8)).any()",
        "",
        [
            "tests/tasks/test_published_analogies.py::test_what_is_not_as_published_is_refused_by_file_and_field"
        ],
    ),
    (
        "tasks/_files/_panel_archive.py",
        "content = stream.read(length + 1)",
        "content = stream.read()[: length]",
        [
            "tests/tasks/test_published_analogies.py::test_no_more_is_unpacked_than_a_header_announces"
        ],
    ),
    (
        "tasks/_files/_panel_files.py",
        "    if not found.is_relative_to(folder):",
        "    if False:",
        ["tests/tasks/test_published_analogies.py::test_nothing_outside_the_folder_is_opened"],
    ),
    (
        "tasks/_files/_panel_files.py",
        "        before.add(str(found))\n",
        "",
        ["tests/tasks/test_published_analogies.py::test_lists_that_are_none_are_refused"],
    ),
    (
        "tasks/_files/_panel_files.py",
        "itertools.islice(named, at_most)",
        "list(named)[:at_most]",
        ["tests/tasks/test_published_analogies.py::test_a_list_is_read_as_far_as_it_is_asked_for"],
    ),
    (
        "tasks/_files/_panel_archive.py",
        "(count := content.count(_ENTRY)) > _MOST_FIELDS",
        "(count := content.count(_ENTRY)) > 10**6",
        [
            "tests/tasks/test_published_analogies.py::test_the_directory_of_an_archive_is_counted_before_it_is_read"
        ],
    ),
    (
        "tasks/_files/_panel_files.py",
        "return (int(numbers[-1]) if numbers else MOST_FILES, path.name)",
        "return (0, path.name)",
        [
            "tests/tasks/test_published_analogies.py::test_what_is_published_is_read_in_the_order_of_the_numbers"
        ],
    ),
    (
        "nn/_encoders/_panel_encoder.py",
        "kernel_size=3, stride=2, padding=1",
        "kernel_size=3, stride=2, padding=1, padding_mode='reflect'",
        ["tests/models/test_panel_scoring.py::test_an_encoder_is_loops_over_single_numbers"],
    ),
    (
        "models/_rnn_scorer.py",
        "first + self.hidden.bias",
        "first",
        ["tests/models/test_panel_scoring.py::test_a_scorer_is_loops_and_what_torch_computes"],
    ),
]
