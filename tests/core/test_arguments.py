"""Arguments as their annotations ask for them: what passes, what becomes what, what is refused."""

from __future__ import annotations

import inspect
import math
import typing
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from enum import Enum
from fractions import Fraction as Ratio
from inspect import Parameter
from typing import Annotated, Any, Literal, Protocol, TypedDict, Unpack, runtime_checkable

import numpy as np
import pytest
import torch
from jaxtyping import Float
from torch import Tensor, nn

from each import each
from farfield.core.internal import (
    FactoryOptions,
    Fraction,
    Limits,
    NonNegativeInt,
    PositiveFloat,
    PositiveInt,
    check_arguments,
    check_fields,
    extend_arguments,
    hints_of,
    kind_of,
    take_factory_arguments,
)
from farfield.models import ESBN
from farfield.nn import CONTEXTS, ENCODERS
from farfield.objectives import OBJECTIVES
from farfield.tasks import TASKS


class Side(Enum):
    LEFT = 1


@runtime_checkable
class Sized(Protocol):
    size: int

    def grow(self) -> None: ...


class Box:
    size = 3

    def grow(self) -> None: ...


BOX = Box()
LINEAR = nn.Linear(1, 1)
TENSOR = torch.zeros(2)
Pair = typing.NewType("Pair", int)


@pytest.mark.parametrize(
    ("hint", "given", "expected"),
    [
        (int, np.int64(3), 3),
        (int, np.uint8(3), 3),
        (int, torch.tensor(3), 3),
        (float, 1, 1.0),
        (float, np.float32(0.5), 0.5),
        (float, np.int64(2), 2.0),
        (float, Ratio(1, 4), 0.25),
        (float, torch.tensor(0.5), 0.5),
        (bool, np.True_, True),
        (str, np.str_("a"), "a"),
        (int | float, 2, 2),
        (float | int, 2, 2),
        (float | int, np.int64(2), 2),
        (float | int, 2.5, 2.5),
        (float | None, 1, 1.0),
        (bool | int, True, True),
        (PositiveInt, np.int32(1), 1),
        (PositiveFloat | None, 1, 1.0),
        (Fraction, 1, 1.0),
        (Pair, np.int64(1), 1),
        (tuple[int, ...], [1, np.int64(2)], (1, 2)),
        (tuple[int, ...], range(2), (0, 1)),
        (tuple[int, ...], np.arange(2), (0, 1)),
        (tuple[int, ...], torch.Size([4]), (4,)),
        (tuple[str, float], ["a", 1], ("a", 1.0)),
        (tuple[tuple[int, ...], ...], [[0], [1, 2]], ((0,), (1, 2))),
        (tuple, [1, "a"], (1, "a")),
        (Literal["a", 1], "a", "a"),
    ],
)
def test_a_value_becomes_what_the_annotation_says(hint: Any, given: object, expected: Any) -> None:
    taken = kind_of(hint).take("name", given)
    assert taken == expected
    assert type(taken) is type(expected)
    for part, wanted in zip(taken, expected, strict=True) if isinstance(taken, tuple) else ():
        assert type(part) is type(wanted)


def test_there_is_one_zero() -> None:
    assert math.copysign(1, kind_of(float).take("name", -0.0)) == 1


@pytest.mark.parametrize(
    ("hint", "value"),
    [
        (Any, BOX),
        (object, "x"),
        (Tensor, TENSOR),
        (Float[Tensor, "batch"], TENSOR),
        (float | Float[Tensor, ""], torch.tensor(0.5)),
        (nn.Module | None, LINEAR),
        (torch.Generator | None, torch.Generator()),
        (torch.dtype | None, torch.float64),
        (torch.device | str, "cpu"),
        (Callable[[Tensor], Tensor], torch.relu),
        (Callable, nn.Linear),
        (type[nn.Module], nn.Linear),
        (type, int),
        (Sized, BOX),
        (Side, Side.LEFT),
        (Sequence[str], ["a"]),
        (Mapping[str, int], {"a": 1}),
        (list[int], [1]),
        (np.ndarray, np.zeros(2)),
        (bytes, b"a"),
    ],
)
def test_a_value_of_the_type_passes_as_it_is(hint: Any, value: object) -> None:
    assert kind_of(hint).take("name", value) is value


@pytest.mark.parametrize(
    ("hint", "value", "message"),
    [
        (int, "x", "name must be an int, got 'x'"),
        (int, True, "name must be an int, got True"),
        (int, np.True_, "name must be an int"),
        (int, 2.0, "name must be an int, got 2.0"),
        (int, torch.tensor(True), "name must be an int"),
        (int, torch.tensor([3]), "name must be an int"),
        (int, None, "name must be an int, got None"),
        (float, math.nan, "name must be a finite number, got nan"),
        (float, math.inf, "name must be a finite number, got inf"),
        pytest.param(
            float,
            10**400,
            "name must be a finite number, got a number of 401 digits",
            id="401 digits",
        ),
        (float, True, "name must be a finite number, got True"),
        (float, "1", "name must be a finite number, got '1'"),
        (float, 1j, "name must be a finite number"),
        (float, torch.ones((), requires_grad=True), "name must be a finite number"),
        (bool, "no", "name must be True or False, got 'no'"),
        (bool, 1, "name must be True or False, got 1"),
        (str, 3, "name must be text, got 3"),
        (PositiveInt, 0, "name must be an int of at least 1, got 0"),
        (PositiveInt, 2**63, "name must be an int of at least 1, got 9223372036854775808"),
        (PositiveInt, "x", "name must be an int of at least 1, got 'x'"),
        (NonNegativeInt, -1, "name must be an int of at least 0, got -1"),
        (PositiveFloat, 0, "name must be a finite number above 0, got 0"),
        (Fraction, 1.5, "name must be a finite number 0…1, got 1.5"),
        (Annotated[float, Limits(at_least=0, below=1)], 1, "of at least 0 and below 1, got 1"),
        (float | None, "x", "name must be a finite number or None, got 'x'"),
        (tuple[int, ...], "ab", "name must be a tuple of parts, each an int, got 'ab'"),
        (tuple[int, ...], 3, "name must be a tuple of parts, each an int, got 3"),
        (tuple[int, ...], [1, "b"], r"name\[1\] must be an int, got 'b'"),
        (tuple[int, ...] | None, [1, "b"], r"name\[1\] must be an int, got 'b'"),
        (tuple[str, float], ("a",), r"name must be a tuple \(text, a finite number\)"),
        (Literal["a", 1], True, "name must be 'a' or 1, got True"),
        (Sequence[str], "ab", "name must be a Sequence, got 'ab'"),
        (Iterable[str], "ab", "name must be an Iterable, got 'ab'"),
        (Callable[[int], int], 3, "name must be callable, got 3"),
        (type[nn.Module], int, "name must be a class, Module or one under it, got the class int"),
        (type[nn.Module], LINEAR, "name must be a class, Module or one under it"),
        (nn.Module, nn.Linear, r"must be a Module, got the class Linear; write Linear\(…\)"),
        (Sized, Box, r"name must be a Sized, got the class Box; write Box\(…\)"),
        (Sized, 3, "name must be a Sized, got 3"),
        (Float[Tensor, "batch"], 3, "name must be a Tensor, got 3"),
        (torch.Generator | None, 3, "name must be a Generator or None, got 3"),
        (int, "x" * 100, "name must be an int, got an object of str"),
    ],
)
def test_a_value_of_another_type_is_refused(hint: Any, value: object, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        kind_of(hint).take("name", value)


@dataclass(frozen=True, kw_only=True)
class Steps:
    count: PositiveInt = 1
    parts: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        check_fields(self)


@dataclass(frozen=True)
class Holder:
    steps: Steps
    made: type[nn.Module] = nn.Linear

    def __post_init__(self) -> None:
        check_fields(self)


def test_fields_of_a_frozen_dataclass_are_checked() -> None:
    steps = Steps(count=np.int64(2), parts=["a"])
    assert repr(steps) == "Steps(count=2, parts=('a',))"
    with pytest.raises(ValueError, match="count must be an int of at least 1, got 0"):
        Steps(count=0)


def test_what_a_part_is_made_of_says_how_to_write_it() -> None:
    with pytest.raises(ValueError, match=r"must be a Steps, got 3; write Steps\(count=3\)"):
        Holder(3)
    with pytest.raises(ValueError, match=r"got the class Steps; write Steps\(…\)"):
        Holder(Steps)
    with pytest.raises(ValueError, match=r"steps must be a Steps, got 'x'$"):
        Holder("x")


class Layer(nn.Module):
    """A layer of somebody's own."""

    @check_arguments
    def __init__(
        self, size: int, /, width: PositiveInt = 2, *more: int, scale: float = 1, other=None
    ) -> None:
        super().__init__()
        self.given = (size, width, more, scale, other)


def plain(size: int, /, width: PositiveInt = 2, *more: int, scale: float = 1, other=None): ...


def test_arguments_of_a_constructor_are_checked() -> None:
    layer = Layer(np.int64(1), np.int8(3), np.int16(4), scale=2, other="x")
    assert layer.given == (1, 3, (4,), 2.0, "x")
    assert [type(part) for part in layer.given[:2]] == [int, int]
    assert type(layer.given[3]) is float
    assert Layer(1).given == (1, 2, (), 1, None)  # a default is the class's own business
    with pytest.raises(ValueError, match="width must be an int of at least 1, got 0"):
        Layer(1, width=0)
    with pytest.raises(ValueError, match="width must be an int of at least 1, got 0"):
        Layer(1, 0)
    with pytest.raises(ValueError, match=r"more\[1\] must be an int, got 'x'"):
        Layer(1, 2, 3, "x")


def test_a_checked_constructor_looks_as_before() -> None:
    assert inspect.signature(Layer) == inspect.signature(plain).replace(
        return_annotation=inspect.signature(Layer).return_annotation
    )
    assert Layer.__init__.__name__ == "__init__"
    with pytest.raises(TypeError, match=r"__init__\(\) missing 1 required positional argument"):
        Layer()
    with pytest.raises(TypeError, match="unexpected keyword argument 'wide'"):
        Layer(1, wide=3)


class Options(TypedDict, total=False):
    scale: float
    width: PositiveInt


class Base(nn.Module):
    @check_arguments
    def __init__(self, size: int, *, width: PositiveInt = 2, scale: float = 1) -> None:
        super().__init__()
        self.given = (size, width, scale)


class Extended(Base):
    @extend_arguments(Base)
    def __init__(
        self, size: int, *, depth: int = 3, width: PositiveInt = 4, **options: Unpack[Options]
    ) -> None:
        super().__init__(size, width=width, **options)
        self.depth = depth


def test_a_constructor_takes_the_keywords_of_its_base() -> None:
    names = {"size": Parameter.empty, "depth": 3, "width": 4, "scale": 1}
    assert {n: p.default for n, p in inspect.signature(Extended).parameters.items()} == names
    assert hints_of(Extended) == {"size": int, "depth": int, "width": PositiveInt, "scale": float}
    layer = Extended(1, depth=np.int8(5), scale=2)
    assert (*layer.given, layer.depth) == (1, 4, 2.0, 5)
    assert [type(part) for part in (layer.given[2], layer.depth)] == [float, int]
    with pytest.raises(ValueError, match="depth must be an int, got 'x'"):
        Extended(1, depth="x")
    with pytest.raises(ValueError, match="scale must be a finite number, got 'x'"):
        Extended(1, scale="x")
    with pytest.raises(TypeError, match="unexpected keyword argument 'wide'"):
        Extended(1, wide=3)


class Drawn(nn.Module):
    @take_factory_arguments()
    def __init__(self, size: PositiveInt, **options: Unpack[FactoryOptions]) -> None:
        super().__init__()
        self.weight = nn.Parameter(torch.empty(size))
        nn.init.normal_(self.weight, generator=options["generator"])


class DrawnTwice(Drawn):
    @take_factory_arguments(Drawn)
    def __init__(self, size: PositiveInt, *, more: int = 2, **options: Unpack[FactoryOptions]):
        super().__init__(size, **options)
        self.more = nn.Parameter(torch.zeros(more))


@each("cls", [Drawn, DrawnTwice])
def test_a_module_takes_factory_arguments(cls: type[Drawn]) -> None:
    names = list(inspect.signature(cls).parameters)
    assert names[-3:] == ["device", "dtype", "generator"]
    made = cls(3, dtype=torch.float64, generator=torch.Generator().manual_seed(0))
    assert {part.dtype for part in made.parameters()} == {torch.float64}
    drawn = torch.empty(3).normal_(generator=torch.Generator().manual_seed(0))
    assert torch.equal(made.weight, drawn.double())  # the same draws for every type
    assert {part.device.type for part in cls(3, device="meta").parameters()} == {"meta"}
    with pytest.raises(ValueError, match="size must be an int of at least 1, got 0"):
        cls(0)
    with pytest.raises(ValueError, match="dtype must be a dtype or None, got 'x'"):
        cls(3, dtype="x")
    with pytest.raises(TypeError, match="unexpected keyword argument 'wide'"):
        cls(3, wide=3)


def test_keywords_without_a_name_are_checked_by_theirs() -> None:
    @check_arguments
    def total(**sizes: int) -> int:
        return sum(sizes.values())

    assert total(a=np.int64(1), b=2) == 3
    with pytest.raises(ValueError, match="b must be an int, got 'x'"):
        total(a=1, b="x")


@each("cls", [ESBN, *CONTEXTS.values(), *ENCODERS.values(), *OBJECTIVES.values(), *TASKS.values()])
def test_annotations_of_the_library_can_be_read(cls: type) -> None:
    assert inspect.signature(cls).parameters.keys() <= hints_of(cls).keys()
