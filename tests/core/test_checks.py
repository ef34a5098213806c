"""Checks of what things are made with."""

from __future__ import annotations

import math
from dataclasses import dataclass

import pytest

from farfield.core.internal import check_fields
from farfield.nn import (
    Communication,
    Functions,
    GRUDynamics,
    InputAttention,
    Instructions,
    LSTMDynamics,
    Syntax,
    TypeMatching,
    Wiring,
)
from farfield.tasks import (
    Adding,
    Copying,
    FuzzyBoolean,
    IdentityRules,
    KMNISTAdaptation,
    ProgressiveMatrices,
    SameDifferent,
    SortOfCLEVR,
    VisualAnalogies,
)

NEITHER = ("False", 1, 0, math.nan, None, [True])


@dataclass(frozen=True)
class Flagged:
    flag: bool
    number: int = 0


@pytest.mark.parametrize("value", NEITHER)
def test_what_is_neither_true_nor_false_is_refused(value: object) -> None:
    with pytest.raises(ValueError, match="flag must be True or False, got "):
        check_fields(Flagged(value))  # type: ignore[arg-type]


@pytest.mark.parametrize("value", [True, False])
def test_flags_and_other_fields_pass(value: bool) -> None:
    check_fields(Flagged(value, number=5))


@pytest.mark.parametrize(
    "made, name",
    [
        (Adding, "separate_markers"),
        (Copying, "recalled_only"),
        (FuzzyBoolean, "multilinear"),
        (IdentityRules, "thirds"),
        (KMNISTAdaptation, "whole_file"),
        (ProgressiveMatrices, "distractors"),
        (SameDifferent, "softmax"),
        (SortOfCLEVR, "same_questions"),
        (VisualAnalogies, "contrasting"),
        (InputAttention, "bias"),
        (Communication, "gated"),
        (LSTMDynamics, "init_over_all"),
        (GRUDynamics, "init_over_all"),
        (Functions, "learned_codes"),
        (TypeMatching, "straight_through"),
        (Instructions, "residual"),
        (Syntax, "outer_residual"),
    ],
)
def test_flags_are_checked_where_things_are_made(made: type, name: str, unchecked: None) -> None:
    with pytest.raises(ValueError, match=f"{name} must be True or False, got 'False'"):
        made(**{name: "False"})


@pytest.mark.parametrize(
    "made, name, part",
    [
        (Wiring, "dynamics", "gru"),
        (Wiring, "dynamics", GRUDynamics),
        (Wiring, "communication", False),
        (Wiring, "input_attention", InputAttention),
        (Syntax, "functions", 3),
        (Syntax, "matching", TypeMatching),
        (Syntax, "instructions", None),
    ],
)
def test_parts_are_checked_where_things_are_made(
    made: type, name: str, part: object, unchecked: None
) -> None:
    with pytest.raises(ValueError, match=f"{name} must be "):
        made(**{name: part})
