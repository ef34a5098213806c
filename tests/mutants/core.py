"""Mutants of core."""

MUTANTS = [
    (
        "core/_streams.py",
        "json.dumps([self.seed, *self.path]",
        "json.dumps([self.seed, *map(str, self.path)]",
        ["tests/core/test_streams.py::test_paths_that_read_alike_are_kept_apart"],
    ),
    (
        "core/_streams.py",
        "return Stream(self.seed, (*self.path, *path))",
        "return Stream(self.seed, path)",
        ["tests/core/test_streams.py::test_a_child_is_the_stream_of_the_longer_path"],
    ),
    (
        "core/_streams.py",
        "self.key & (2**63 - 1)",
        "self.seed",
        [
            "tests/core/test_streams.py::test_first_draws_are_those_stored",
            "tests/core/test_streams.py::test_neighbouring_streams_are_unrelated",
        ],
    ),
    (
        "core/_streams.py",
        "seed: Seed",
        "seed: int",
        ["tests/core/test_streams.py::test_a_seed_that_is_no_counting_number_is_refused"],
    ),
    (
        "core/_streams.py",
        "torch.Generator(device=device).manual_seed(",
        "torch.manual_seed(",
        ["tests/core/test_streams.py::test_the_global_generators_are_left_alone"],
    ),
    (
        "core/_problems.py",
        "latent={name: tensor[rows] for name, tensor in self.latent.items()}",
        "latent=dict(self.latent)",
        ["tests/core/test_problems.py::test_rows_are_taken_from_everything_but_the_table"],
    ),
    (
        "core/_problems.py",
        'for name, tensor in {"target": self.target, **self.latent}.items():',
        'for name, tensor in {"target": self.target}.items():',
        [
            "tests/core/test_problems.py::test_a_latent_without_one_row_per_problem_is_refused_by_name"
        ],
    ),
    (
        "core/_problems.py",
        "0 <= int(self.index.min()) and",
        "",
        ["tests/core/test_problems.py::test_an_index_outside_the_table_is_found"],
    ),
    (
        "core/_errors.py",
        "name.lower(), self.choices",
        "name, self.choices",
        ["tests/core/test_errors.py::test_case_does_not_hide_the_nearest_name"],
    ),
    (
        "core/_checks.py",
        'field.type in {"bool", bool} and not',
        "field.type is bool and not",
        ["tests/core/test_checks.py::test_what_is_neither_true_nor_false_is_refused"],
    ),
    (
        "core/_hints.py",
        "Size = Annotated[int, Limits(at_least=1, ",
        "Size = Annotated[int, Limits(at_least=0, ",
        ["tests/nn/test_interpreters.py::test_wrong_parts_are_refused"],
    ),
    (
        "core/_items.py",
        "index = torch.arange(len(self))[index]\n        rows",
        "index = torch.arange(len(self))\n        rows",
        ["tests/core/test_items.py::test_a_slice_or_a_mask_takes_what_it_takes_of_the_tensor"],
    ),
    (
        "core/_text.py",
        "sign if sign.isprintable() else _escape(sign)",
        "sign if sign.isascii() or sign.isprintable() else _escape(sign)",
        ["tests/core/test_text.py::test_what_moves_or_colors_or_turns_is_escaped"],
    ),
    (
        "core/_files.py",
        "if not stat.S_ISREG(known.st_mode):",
        "if stat.S_ISFIFO(known.st_mode):",
        ["tests/core/test_files.py::test_only_regular_files_are_read"],
    ),
    (
        "core/_files.py",
        "if known.st_size > most:",
        "if False:",
        ["tests/core/test_files.py::test_no_file_is_read_that_is_larger_than_allowed"],
    ),
]
