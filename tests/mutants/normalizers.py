"""Mutants of the normalizers and their statistics."""

MUTANTS = [
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
