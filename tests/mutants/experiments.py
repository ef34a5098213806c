"""Mutants of what an experiment is made of, and of what its key sees."""

MUTANTS = [
    (
        "experiments/_source.py",
        "walk.see_all((name, _content(cell)) for name, cell in cells)",
        "del cells",
        ["tests/experiments/test_source.py::test_two_classes_of_one_name_are_told_apart"],
    ),
    (
        "experiments/_source.py",
        "    walk.see(value.__defaults__)\n",
        "",
        ["tests/experiments/test_source.py::test_what_changes_a_class_changes_its_digest"],
    ),
    (
        "experiments/_source.py",
        "walk.lines += sorted(written)",
        "walk.lines += written",
        ["tests/experiments/test_source.py::test_the_digest_is_that_of_another_process"],
    ),
    (
        "experiments/_source.py",
        "walk.see_all(sorted(_namespace(value).items()))",
        "",
        ["tests/experiments/test_source.py::test_what_is_set_after_the_class_statement_counts"],
    ),
    (
        "experiments/_source.py",
        "if isinstance(value, Iterator) and _is_known_by_name(cls):",
        "if False:",
        ["tests/experiments/test_source.py::test_what_cannot_be_told_apart_is_refused"],
    ),
    (
        "experiments/_code.py",
        "found = [one for one in named if _same(one, code)]",
        "found = named",
        [
            "tests/experiments/test_source.py::test_a_file_that_was_edited_since_it_was_imported_is_refused"
        ],
    ),
    (
        "experiments/_code.py",
        "with _PARSING:",
        "if True:",
        ["tests/experiments/test_source.py::test_source_is_read_by_one_thread_at_a_time"],
    ),
    (
        "experiments/_describe.py",
        "if isinstance(function, FunctionType):",
        "if False:",
        ["tests/experiments/test_experiment.py::test_a_replaced_method_of_the_library_has_no_key"],
    ),
    (
        "experiments/_experiment.py",
        "if self.key != self.key_of(self.to_json()):",
        "if False:",
        [
            "tests/experiments/test_experiment.py::test_a_key_that_is_no_longer_the_experiments_is_refused",
            "tests/execution/test_jobs.py::test_a_class_that_was_changed_is_not_run_under_its_old_key",
        ],
    ),
    (
        "experiments/_spec.py",
        "    return type(content), content\n",
        "    return content\n",
        [
            "tests/experiments/test_experiment.py::test_options_without_annotations_are_told_apart_by_their_types"
        ],
    ),
    (
        "execution/_job.py",
        "{(job.experiment.key, job.seed): job for job in given}",
        "{id(job): job for job in given}",
        ["tests/execution/test_jobs.py::test_a_job_asked_for_twice_is_run_once"],
    ),
    (
        "core/_hints.py",
        "number = float(value) + 0.0",
        "number = float(value)",
        ["tests/core/test_arguments.py::test_there_is_one_zero"],
    ),
    (
        "core/_hints.py",
        "value > self.above",
        "value >= self.above",
        ["tests/core/test_arguments.py::test_a_value_of_another_type_is_refused"],
    ),
    (
        "core/_arguments.py",
        "        if taken is not value:\n",
        "        if False:\n",
        ["tests/core/test_arguments.py::test_fields_of_a_frozen_dataclass_are_checked"],
    ),
]
