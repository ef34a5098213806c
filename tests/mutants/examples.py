"""Mutants of the tasks whose problems are single examples, and of augmenting them."""

MUTANTS = [
    (
        "tasks/_fuzzy_logic.py",
        "neither *= 1 - term[:, None] * answers",
        "neither -= term[:, None] * answers",
        ["tests/tasks/test_fuzzy_boolean.py::test_both_forms_are_right_to_the_last_digits"],
    ),
    (
        "tasks/_fuzzy_logic.py",
        "terms = np.concatenate([terms * (1 - variable), terms * variable], axis=1)",
        "terms = np.concatenate([terms * variable, terms * (1 - variable)], axis=1)",
        ["tests/tasks/test_fuzzy_boolean.py::test_at_the_corners_functions_are_boolean"],
    ),
    (
        "tasks/_fuzzy_boolean.py",
        "return 1 + drawn[self.first : self.first + self.functions, 0]",
        "return 1 + drawn[: self.functions, 0]",
        [
            "tests/tasks/test_fuzzy_boolean.py::test_adaptation_has_functions_that_pre_training_has_not"
        ],
    ),
    (
        "tasks/_fuzzy_boolean.py",
        'child("points", self.first, regime)',
        'child("points", self.first)',
        ["tests/tasks/test_fuzzy_boolean.py::test_points_are_uniform_and_new_in_every_regime"],
    ),
    (
        "tasks/_fuzzy_boolean.py",
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
]
