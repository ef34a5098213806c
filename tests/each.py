"""Cases of a check: many cheap ones in one test, and some of many dear ones in the test command."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Iterable, Mapping
from typing import Any

import pytest


def each(names: str, cases: Iterable[Any]) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """`pytest.mark.parametrize` as one test, whose error names every case that fails.

    The keys of a mapping are the names of its cases. All share the fixtures of the test.
    """
    arguments = [name.strip() for name in names.split(",")]
    listed = [*cases.items()] if isinstance(cases, Mapping) else [(case, case) for case in cases]

    def decorate(check: Callable[..., None]) -> Callable[..., None]:
        @functools.wraps(check)
        def test(**fixtures: object) -> None:
            errors = []
            for name, case in listed:
                values = case if len(arguments) > 1 else [case]
                try:
                    check(**fixtures, **dict(zip(arguments, values, strict=True)))
                except Exception as error:  # noqa: BLE001
                    error.add_note(f"in the case {name}")
                    errors.append(error)
            if errors:
                raise ExceptionGroup(f"{len(errors)} of {len(listed)} cases", errors)

        known = inspect.signature(check)
        kept = [given for name, given in known.parameters.items() if name not in arguments]
        test.__signature__ = known.replace(parameters=kept)
        return test

    return decorate


def some(shown: Iterable[Any], cases: Iterable[Any]) -> list[Any]:
    """Parameters of `pytest.mark.parametrize`: cases of which the test command runs those shown.

    `make thorough` runs the others. A case that is shown must be one of them.
    """
    shown, cases = [*shown], [*cases]
    strangers = [case for case in shown if case not in cases]
    if strangers:
        raise ValueError(f"shown must be cases, got {strangers}")
    further = pytest.mark.thorough
    return [pytest.param(case, marks=() if case in shown else further) for case in cases]
