"""Mutants of the normalizers and their statistics."""

MUTANTS = [
    (
        "functional/_context_norm_by_hand.py",
        "alpha=1 / (time - correction)",
        "alpha=1 / time",
        ["tests/functional/test_context_norm.py::test_equation"],
    ),
    (
        "functional/_context_norm_by_hand.py",
        "value=-1 / (time - correction)",
        "value=-1 / time",
        ["tests/functional/test_context_norm.py::test_second_gradient_and_that_of_eps"],
    ),
    (
        "functional/_context_norm_by_hand.py",
        ".mul(-0.5)",
        ".mul(0.5)",
        ["tests/functional/test_context_norm.py::test_second_gradient_and_that_of_eps"],
    ),
    (
        "functional/_context_norm_by_hand.py",
        "total * gain",
        "total",
        ["tests/functional/test_context_norm.py::test_blocks_of_problems_are_normalized_as_one"],
    ),
    (
        "functional/_context_statistics.py",
        "((number - 1) / number)",
        "1",
        ["tests/functional/test_context_statistics.py::test_equations"],
    ),
    (
        "functional/_context_statistics.py",
        "moved = wide - wide[..., :1, :]",
        "moved = wide - wide[..., -1:, :]",
        ["tests/functional/test_context_statistics.py::test_what_comes_later_changes_nothing"],
    ),
    (
        "functional/_context_statistics.py",
        "(normalized * scale + mean)",
        "(normalized * scale.square() + mean)",
        ["tests/functional/test_context_statistics.py::test_the_way_back"],
    ),
]
