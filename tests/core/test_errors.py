"""A wrong name says what was received and what would be right."""

from __future__ import annotations

import pytest

from farfield.core import UnknownNameError


def test_the_nearest_name_is_suggested() -> None:
    error = UnknownNameError("task", "identity-rule", ["same-different", "identity-rules"])
    assert "unknown task 'identity-rule'" in str(error)
    assert "did you mean 'identity-rules'?" in str(error)
    assert "Known: same-different, identity-rules" in str(error)


def test_case_does_not_hide_the_nearest_name() -> None:
    assert "did you mean 'esbn'?" in str(UnknownNameError("model", "ESBN", ["esbn", "lstm"]))


def test_nothing_is_suggested_where_nothing_is_near() -> None:
    error = UnknownNameError("task", "xyz", iter(["same-different", "identity-rules"]))
    assert str(error) == "unknown task 'xyz'. Known: same-different, identity-rules"


def test_the_parts_are_kept_for_callers() -> None:
    error = UnknownNameError("task", "xyz", ["a", "b"])
    assert (error.kind, error.name, error.choices) == ("task", "xyz", ("a", "b"))


def test_it_is_caught_as_a_value_error() -> None:
    with pytest.raises(ValueError, match="unknown model"):
        raise UnknownNameError("model", "x", ["y"])
