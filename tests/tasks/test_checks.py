"""Fields of tasks that hold several numbers."""

from __future__ import annotations

import pytest

from farfield.tasks import Adding, BouncingBalls, Copying, ProblemTask, SequentialMNIST

FIELDS: list[tuple[type[ProblemTask], dict[str, list[object]]]] = [
    (Copying, {"test_dormant": [100, 300], "test_sequences": [5, 6]}),
    (Adding, {"added": [1, 2], "test_added": [3], "test_lengths": [70]}),
    (SequentialMNIST, {"test_sides": [16, 20]}),
    (BouncingBalls, {"balls": [2, 3], "test_balls": [[4, 4], [5, 6]]}),
]


def frozen(value: object) -> object:
    return tuple(map(frozen, value)) if isinstance(value, list) else value


@pytest.mark.parametrize(("cls", "fields"), FIELDS)
def test_lists_are_taken_as_tuples(cls, fields: dict[str, list[object]], unchecked) -> None:
    listed, held = cls(**fields), cls(**{name: frozen(value) for name, value in fields.items()})
    assert listed == held
    assert hash(listed) == hash(held)


@pytest.mark.parametrize(
    ("cls", "name"), [(cls, name) for cls, fields in FIELDS for name in fields]
)
def test_a_number_where_several_are_asked_for_is_refused(cls, name: str, unchecked) -> None:
    with pytest.raises(ValueError, match=rf"{name} must be a tuple .*, got 4"):
        cls(**{name: 4})


def test_a_number_of_balls_is_two(unchecked) -> None:
    with pytest.raises(ValueError, match=r"test_balls\[0\] must be a tuple .*, got 4"):
        BouncingBalls(test_balls=(4, 5))
