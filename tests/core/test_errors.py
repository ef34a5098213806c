"""A wrong name says what was received and what would be right."""

from __future__ import annotations

import pytest

from farfield.core.internal import UnknownNameError


def test_the_three_nearest_names_are_suggested() -> None:
    names = ["copying", "identity-rules", "identity-rules-middle", "identity", "identical"]
    assert str(UnknownNameError("task", "identity-rule", names)) == (
        "unknown task 'identity-rule'; "
        "did you mean 'identity-rules', 'identity-rules-middle' or 'identity'?"
    )


def test_case_does_not_hide_the_nearest_name() -> None:
    assert str(UnknownNameError("model", "ESBN", ["esbn", "lstm"])) == (
        "unknown model 'ESBN'; did you mean 'esbn'?"
    )


def test_where_nothing_is_near_the_first_names_are_shown() -> None:
    error = UnknownNameError("task", "xyz", iter(["same-different", "identity-rules"]))
    assert str(error) == "unknown task 'xyz'; known: same-different, identity-rules"
    error = UnknownNameError("task", "xyz", "abcdef")
    assert str(error) == "unknown task 'xyz'; known: a, b, c and 3 more"


def test_the_parts_are_kept_for_callers() -> None:
    error = UnknownNameError("task", "xyz", ["a", "b"])
    assert (error.kind, error.name, error.choices) == ("task", "xyz", ("a", "b"))


def test_it_is_caught_as_a_value_error() -> None:
    with pytest.raises(ValueError, match="unknown model"):
        raise UnknownNameError("model", "x", ["y"])
