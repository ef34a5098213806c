"""Parts of Farfield that a caller replaced: refused by their name, whatever they became."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Iterator
from typing import Any

import pytest
from torch import nn

import farfield.functional
from farfield.experiments import Spec
from farfield.functional import context_norm
from farfield.models import ESBN
from farfield.nn import ContextNorm
from farfield.tasks import WordText
from small import small_experiment


def other(self: object, z: object, **options: object) -> object:
    return z


class Wide(ESBN):
    """A class of the user's over one of Farfield's."""


class Uses(nn.Module):
    def __init__(self, in_features: int, num_outputs: int) -> None:
        super().__init__()
        self.norm = ContextNorm(in_features)


REPLACED = {
    "function": ("ContextNorm.forward", other),
    "lambda": ("ContextNorm.forward", lambda self, z: z),
    "partialmethod": ("ContextNorm.forward", functools.partialmethod(other)),
    "static method": ("ContextNorm.forward", staticmethod(other)),
    "our own": ("ContextNorm.forward", ESBN.forward),
    "added": ("ContextNorm.__call__", other),
    "function of a module": ("farfield.functional.context_norm", other),
}


NORM: Any = inspect.unwrap(context_norm)  # beneath the checks of shapes in a run of tests


@pytest.fixture
def kept() -> Iterator[None]:
    """The code and defaults of a function, put back afterwards."""
    code, defaults = NORM.__code__, NORM.__defaults__
    keywords = dict(NORM.__kwdefaults__)
    yield
    NORM.__code__, NORM.__defaults__ = code, defaults
    NORM.__kwdefaults__ = keywords


@pytest.mark.parametrize("kind", REPLACED)
def test_a_part_of_farfield_that_was_replaced_is_named(
    monkeypatch: pytest.MonkeyPatch, kind: str
) -> None:
    before = small_experiment().key
    name, value = REPLACED[kind]
    owner = ContextNorm if name.startswith("Context") else farfield.functional
    monkeypatch.setattr(owner, name.rpartition(".")[2], value, raising=False)
    with pytest.raises(ValueError, match=rf"{name} was replaced.*, which no key can tell"):
        _ = small_experiment().key
    monkeypatch.undo()
    assert small_experiment().key == before


def test_a_class_of_ones_own_is_refused_with_what_it_reaches(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    for reasoner in (Wide, Uses):
        key = small_experiment(reasoner=Spec(reasoner)).key
        assert key == small_experiment(reasoner=Spec(reasoner)).key
    monkeypatch.setattr(ESBN, "forward", other)
    monkeypatch.setattr(ContextNorm, "forward", other)
    for reasoner in (Wide, Uses):
        with pytest.raises(ValueError, match=r"\.forward was replaced"):
            _ = small_experiment(reasoner=Spec(reasoner)).key


@pytest.mark.usefixtures("kept")
def test_a_changed_default_of_farfield_is_named() -> None:
    assert small_experiment().key
    words = "a default of context_norm was replaced"
    NORM.__kwdefaults__["eps"] = 0.1
    with pytest.raises(ValueError, match=words):
        _ = small_experiment().key
    NORM.__kwdefaults__["eps"] = 1e-8
    assert small_experiment().key
    NORM.__defaults__ = (1, 2)
    with pytest.raises(ValueError, match=words):
        _ = small_experiment().key


@pytest.mark.usefixtures("kept")
def test_changed_code_of_farfield_is_named() -> None:
    assert small_experiment().key
    NORM.__code__ = (lambda z, *rest, **options: z).__code__
    with pytest.raises(ValueError, match="the code of context_norm was replaced"):
        _ = small_experiment().key


def test_what_an_experiment_does_not_reach_may_be_replaced(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    before = small_experiment().key
    monkeypatch.setattr(WordText, "sample", other)
    assert small_experiment().key == before


def test_an_attribute_beside_the_fields_of_a_task_is_refused() -> None:
    experiment = small_experiment()
    object.__setattr__(experiment.task, "sample", other)
    with pytest.raises(ValueError, match="DistributionOfThree has an attribute sample that its"):
        _ = experiment.key


def test_a_change_that_was_undone_by_hand_is_none() -> None:
    before, inherited = small_experiment().key, ContextNorm.__call__
    ContextNorm.__call__ = other
    with pytest.raises(ValueError, match=r"ContextNorm\.__call__ was replaced"):
        _ = small_experiment().key
    ContextNorm.__call__ = inherited
    assert small_experiment().key == before
    del ContextNorm.__call__


def test_names_that_a_compiler_leaves_change_no_key(monkeypatch: pytest.MonkeyPatch) -> None:
    """`torch.compile` puts the builtins into the module of a function that it compiles."""
    before = small_experiment().key
    module = inspect.getmodule(NORM)
    monkeypatch.setattr(module, "__builtins_dict___0", {}, raising=False)
    assert small_experiment().key == before
    monkeypatch.setattr(module, "sum", other, raising=False)
    with pytest.raises(ValueError, match=r"\.sum was replaced"):
        _ = small_experiment().key
