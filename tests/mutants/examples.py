"""Mutants of the tasks whose problems are single examples, and of augmenting them."""

MUTANTS = [
    (
        "tasks/_boolean/_fuzzy_logic.py",
        "neither *= 1 - term[:, None] * answers",
        "neither -= term[:, None] * answers",
        ["tests/tasks/test_fuzzy_boolean.py::test_both_forms_are_right_to_the_last_digits"],
    ),
    (
        "tasks/_boolean/_fuzzy_logic.py",
        "terms = np.concatenate([terms * (1 - variable), terms * variable], axis=1)",
        "terms = np.concatenate([terms * variable, terms * (1 - variable)], axis=1)",
        ["tests/tasks/test_fuzzy_boolean.py::test_at_the_corners_functions_are_boolean"],
    ),
    (
        "tasks/_boolean/_fuzzy_boolean.py",
        "return 1 + drawn[self.first : self.first + self.functions, 0]",
        "return 1 + drawn[: self.functions, 0]",
        [
            "tests/tasks/test_fuzzy_boolean.py::test_adaptation_has_functions_that_pre_training_has_not"
        ],
    ),
    (
        "tasks/_boolean/_fuzzy_boolean.py",
        'child("points", self.first, regime)',
        'child("points", self.first)',
        ["tests/tasks/test_fuzzy_boolean.py::test_points_are_uniform_and_new_in_every_regime"],
    ),
    (
        "tasks/_boolean/_fuzzy_boolean.py",
        'problems.latent["variance"]\n',
        "problems.target.square().mean(0)\n",
        [
            "tests/tasks/test_fuzzy_boolean.py::test_the_mean_score_is_the_coefficient_of_determination"
        ],
    ),
    (
        "training/_evaluate.py",
        '**{f"{metric}/{answer}": scores for answer, scores in several.items()},',
        '**{f"{metric}/{answer}": scores[:1] for answer, scores in several.items()},',
        ["tests/tasks/test_fuzzy_boolean.py::test_every_function_has_a_record_of_its_own"],
    ),
    (
        "tasks/_digits/_digit_images.py",
        "return ((total.astype(np.int32) + 128) >> 8).astype(np.uint8)",
        "return (total.astype(np.int32) >> 8).astype(np.uint8)",
        ["tests/tasks/test_digits.py::test_images_grow_as_the_fractions_say"],
    ),
    (
        "tasks/_digits/_digit_images.py",
        "np.divmod(14 * np.arange(SIDE) - 1, 16)",
        "np.divmod(14 * np.arange(SIDE), 16)",
        ["tests/tasks/test_digits.py::test_images_grow_as_torch_s_do"],
    ),
    (
        "tasks/_digits/_digit_images.py",
        "np.maximum(pieces, digits) - np.minimum(pieces, digits)",
        "pieces - digits",
        ["tests/tasks/test_digits.py::test_digits_stand_over_photographs_in_every_colour"],
    ),
    (
        "tasks/_digits/_digit_images.py",
        "room = sizes[chosen, axis] - SMALL + 1",
        "room = sizes[chosen, axis] - SMALL",
        ["tests/tasks/test_digits.py::test_pieces_are_anywhere_in_any_photograph"],
    ),
    (
        "tasks/_files/_photographs.py",
        "(row + across[:, None]) * width + column + across",
        "(row + across) * width + column + across[:, None]",
        ["tests/tasks/test_digits.py::test_pieces_are_anywhere_in_any_photograph"],
    ),
    (
        "tasks/_files/_photographs.py",
        "pixels += (own := width * height)",
        "pixels = (own := width * height)",
        ["tests/tasks/test_digits.py::test_too_many_pixels_are_refused_before_they_are_unpacked"],
    ),
    (
        "tasks/_files/_photographs.py",
        'scanned += own * content.count(b"\\xff\\xda")',
        "scanned += own",
        ["tests/tasks/test_photographs.py::test_scans_are_counted_before_they_are_read"],
    ),
    (
        "tasks/_files/_jpeg.py",
        "marker not in _READ | _METADATA",
        "not marker",
        ["tests/tasks/test_photographs.py::test_what_is_more_than_a_picture_is_refused"],
    ),
    (
        "tasks/_files/_download.py",
        'check_address(to, ("https",) if is_safe else ("https", "http"))',
        "pass",
        [
            "tests/tasks/test_download.py::test_what_is_secure_stays_secure",
            "tests/tasks/test_download.py::test_other_answers_are_refused_in_words",
        ],
    ),
    (
        "tasks/_files/_download.py",
        "self._clock.received += count or 0",
        "pass",
        ["tests/tasks/test_download.py::test_what_comes_steadily_is_waited_for"],
    ),
    (
        "tasks/_files/_download.py",
        "answer.length not in {None, size}",
        "False",
        ["tests/tasks/test_download.py::test_other_answers_are_refused_in_words"],
    ),
    (
        "tasks/_digits/_digit_files.py",
        'held["y"][:, 0].astype(np.int64) % 10',
        'held["y"][:, 0].astype(np.int64) - 1',
        ["tests/tasks/test_digits.py::test_a_matlab_file_is_read_as_published"],
    ),
    (
        "tasks/_digits/_digits.py",
        "order[:-held][: self.training_images]",
        "order[: self.training_images]",
        ["tests/tasks/test_digits.py::test_no_image_is_left_out_and_none_is_for_two_purposes"],
    ),
    (
        "tasks/_digits/_digits.py",
        "own = place.child(files.source)",
        "own = place.child(str(id(files)))",
        ["tests/tasks/test_digits.py::test_no_image_is_left_out_and_none_is_for_two_purposes"],
    ),
    (
        "tasks/_digits/_digits.py",
        "correct(own, problems.target % DIGITS)",
        "correct(outputs, problems.target)",
        ["tests/tasks/test_digits.py::test_outputs_of_other_data_sets_are_not_looked_at"],
    ),
    (
        "tasks/_digits/_kmnist_adaptation.py",
        "order = order[np.lexsort((turn, ranks))]",
        "order = order[np.argsort(turn)]",
        ["tests/tasks/test_kmnist_adaptation.py::test_of_any_labels_as_many_of_each_are_chosen"],
    ),
    (
        "tasks/_digits/_kmnist_adaptation.py",
        "TRAINING: order[first : first + self.training_samples]",
        "TRAINING: order[: self.training_samples]",
        ["tests/tasks/test_kmnist_adaptation.py::test_of_any_labels_as_many_of_each_are_chosen"],
    ),
    (
        "objectives/_rand_augment.py",
        "        torch.default_generator.manual_seed(stream.torch().initial_seed())\n",
        "",
        [
            "tests/objectives/test_augmented.py::test_every_draw_is_from_the_stream_and_no_generator_is_moved"
        ],
    ),
    (
        "objectives/_rand_augment.py",
        "with torch.random.fork_rng(devices=[]):",
        "if True:",
        [
            "tests/objectives/test_augmented.py::test_every_draw_is_from_the_stream_and_no_generator_is_moved",
            "tests/objectives/test_augmented.py::test_the_generators_are_put_back_after_an_error",
        ],
    ),
    (
        "objectives/_rand_augment.py",
        "choices = len(OPERATIONS) + 1",
        "choices = len(OPERATIONS)",
        [
            "tests/objectives/test_augmented.py::test_each_image_has_operations_of_its_own_all_equally_likely"
        ],
    ),
    (
        "objectives/_rand_augment.py",
        "else images.float().clone()",
        "else images.float()",
        [
            "tests/objectives/test_augmented.py::test_the_type_stays_and_the_images_given_are_left_as_they_are"
        ],
    ),
    (
        "objectives/_augmented.py",
        'changed = dataclasses.replace(update.problems, items=update.draws["items"])',
        "changed = update.problems",
        ["tests/objectives/test_augmented.py::test_the_loss_is_that_of_changed_images"],
    ),
]
