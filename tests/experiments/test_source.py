"""The digest of a user's code: what changes it, what does not, and what is refused."""

from __future__ import annotations

import ast
import builtins
import functools
import importlib
import itertools
import os
import subprocess
import sys
import textwrap
import threading
import time
import types
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from types import ModuleType

import pytest
import torch
from torch import nn

from farfield.experiments._owners import is_of_the_user
from farfield.experiments._source import source_digest

_NUMBERS = itertools.count()

Make = Callable[[str], ModuleType]


@pytest.fixture
def make(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Make:
    """A module of the user's from its text; `OTHER` in it names one that is written first."""
    monkeypatch.syspath_prepend(str(tmp_path))

    def imported(text: str) -> ModuleType:
        name = f"mine_{tmp_path.name}_{next(_NUMBERS)}"
        other, _, own = text.rpartition("# --- mine\n")
        (tmp_path / f"{name}_other.py").write_text(other)
        (tmp_path / f"{name}.py").write_text(own.replace("OTHER", f"{name}_other"))
        importlib.invalidate_caches()
        return importlib.import_module(name)

    return imported


SCRIPT = '''
"""A module."""
import math
import enum
import functools
import pathlib
import re
from collections import OrderedDict, namedtuple
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cached_property, lru_cache, partial, wraps

import numpy as np
import torch
from torch import nn

SCALE = 2.0
NOTHING = None
CONFIG = {"width": 2, "deep": {"x": [1, 2]}}
SIZES = [3, 4]
PAIR = (5, (6, 7))
NAMES = {"a", "b", "c"}
ARRAY = np.arange(3)
TENSOR = torch.tensor([1.0, 2.0])
FOLDER = pathlib.Path("data/x")
PATTERN = re.compile("ab+")
ORDERED = OrderedDict(a=1)
Point = namedtuple("Point", "x y")
POINT = Point(1, 2)
LINEAR = nn.Linear
unused = 1

class Color(enum.Enum):
    RED = 1
    BLUE = 2

    def __init__(self, number):
        self.shade = 32

    def mixed(self):
        return 33

@dataclass(frozen=True)
class Settings:
    width: int = 8
    parts: tuple = field(default_factory=lambda: (9,))

SETTINGS = Settings(width=10)

class Holder:
    def __init__(self, size):
        self.size = size

    @cached_property
    def double(self):
        return 2 * self.size

HOLDER = Holder(11)

class Lazy:
    def __init__(self, function):
        self.function = function

    def __get__(self, owner, cls):
        found = owner.__dict__["lazy"] = self.function(owner)
        return found

class Empty:
    @cached_property
    def single(self):
        return 1

    @Lazy
    def lazy(self):
        return [self.single]

EMPTY = Empty()

def power(x, exponent):
    return x**exponent

square = partial(power, exponent=12)
double = lambda x: x * 13
first, second = (lambda x: x + 14), (lambda x: x + 15)

def scaled(factor):
    def decorate(function):
        @wraps(function)
        def inner(*args):
            return function(*args) * factor
        return inner
    return decorate

@scaled(16)
def decorated(z):
    return z

@lru_cache
def remembered(x):
    return x + 17

@torch.no_grad()
def frozen(z):
    return z + 18

@contextmanager
def context():
    yield 19

SHIFT, MORE = 30, 31

def default(z, first=SHIFT, shift=20, *, more=21, last=MORE):
    return z + first + shift + more + last

def counted(z):
    return z * counted.times
counted.times = 22

class Meta(type):
    level = 23

class Base(metaclass=Meta):
    factor = 24

    @staticmethod
    def fixed():
        return 25

    @classmethod
    def made(cls):
        return 26

    @property
    def side(self):
        return 27

def family(amount):
    class Inner:
        kept = amount
        def value(self):
            return amount
    return Inner

class Local(family(28)):
    pass

class Mine(Base):
    def forward(self, z):
        """What it does."""
        # a comment
        unused = SIZES[0]
        inner = [PAIR for _ in range(2)]
        class Within:
            width = CONFIG["width"]
        def nested():
            return sorted(NAMES)
        return (
            SCALE, NOTHING, ARRAY, TENSOR, FOLDER, PATTERN, ORDERED, POINT, LINEAR, Color.RED,
            SETTINGS, HOLDER, EMPTY, square, double, first, second, decorated, remembered, frozen,
            context, default, counted, Local, Within, nested, unused, math.pi, inner,
        )
'''

CHANGES = [
    ("SCALE = 2.0", "SCALE = 3.0"),
    ("SCALE = 2.0", "SCALE = 2"),
    ("NOTHING = None", "NOTHING = 0"),
    ('"width": 2', '"width": 64'),
    ('{"x": [1, 2]}', '{"x": [1, 3]}'),
    ("SIZES = [3, 4]", "SIZES = [3, 5]"),
    ("(5, (6, 7))", "(5, (6, 8))"),
    ('{"a", "b", "c"}', '{"a", "b", "d"}'),
    ("np.arange(3)", "np.arange(4)"),
    ("np.arange(3)", "np.arange(3, dtype=np.float32)"),
    ("[1.0, 2.0]", "[1.0, 2.5]"),
    ("data/x", "data/y"),
    ("ab+", "ab*"),
    ("OrderedDict(a=1)", "OrderedDict(a=2)"),
    ("Point(1, 2)", "Point(1, 3)"),
    ("LINEAR = nn.Linear", "LINEAR = nn.Bilinear"),
    ("RED = 1", "RED = 3"),
    ("Settings(width=10)", "Settings(width=12)"),
    ("width: int = 8", "width: int = 9"),
    ("(9,)", "(10,)"),
    ("Holder(11)", "Holder(12)"),
    ("2 * self.size", "3 * self.size"),
    ("exponent=12", "exponent=13"),
    ("x**exponent", "x + exponent"),
    ("x * 13", "x * 14"),
    ("x + 14", "x + 16"),
    ("@scaled(16)", "@scaled(17)"),
    ("function(*args) * factor", "function(*args) / factor"),
    ("x + 17", "x + 18"),
    ("@lru_cache", "@lru_cache(maxsize=3)"),
    ("z + 18", "z + 19"),
    ("yield 19", "yield 20"),
    ("shift=20", "shift=21"),
    ("more=21", "more=22"),
    ("SHIFT, MORE = 30, 31", "SHIFT, MORE = 32, 31"),
    ("SHIFT, MORE = 30, 31", "SHIFT, MORE = 30, 32"),
    ("times = 22", "times = 23"),
    ("level = 23", "level = 24"),
    ("factor = 24", "factor = 25"),
    ("return 25", "return 26"),
    ("return 26", "return 27"),
    ("return 27", "return 28"),
    ("@staticmethod\n    def fixed()", "@classmethod\n    def fixed(cls)"),
    ("family(28)", "family(29)"),
    ("math.pi", "math.e"),
    ("sorted(NAMES)", "len(NAMES)"),
    ('CONFIG["width"]', 'CONFIG["deep"]'),
    ("class Mine(Base):", "class Mine(Base):\n    added = 1"),
    ("class Mine(Base):", "class Mine(Holder, Base):"),
    ("@torch.no_grad()", "@torch.enable_grad()"),
    ("shade = 32", "shade = 33"),
    ("return 33", "return 34"),
    ("HOLDER = Holder(11)", "HOLDER = Holder(11)\nHOLDER.__dict__['double'] = 23"),
    ("HOLDER = Holder(11)", "HOLDER = Holder(11)\nHOLDER.more = 22"),
    ("HOLDER = Holder(11)", "HOLDER = Holder(11)\nColor.BLUE.shade = 34"),
    ("EMPTY = Empty()", "EMPTY = Empty()\nEMPTY.__dict__['single'] = 2"),
]

NO_CHANGES = [
    ("unused = 1", "unused = 2"),  # of the same name as a local
    ("unused = 1", "forward = CONFIG"),  # as an attribute
    ('"""What it does."""', '"""Else."""'),
    ("# a comment", "# another"),
    ("        # a comment\n", "\n\n"),
    ("unused = 1", "\n\nunused = 1"),
    ('"""A module."""', ""),
    ("SETTINGS, HOLDER, EMPTY, square", "SETTINGS,\n            HOLDER, EMPTY, square"),
    ('NAMES = {"a", "b", "c"}', 'NAMES = {"c", "b", "a"}'),
    ("HOLDER = Holder(11)", "HOLDER = Holder(11)\nHOLDER.double"),
    ("HOLDER = Holder(11)", "HOLDER = Holder(11)\nHOLDER.__dict__['double'] = 22"),
    ("EMPTY = Empty()", "EMPTY = Empty()\nEMPTY.single"),
    ("EMPTY = Empty()", "EMPTY = Empty()\nimport copy\ncopy.copy(EMPTY)"),
    ("EMPTY = Empty()", "EMPTY = Empty()\nEMPTY.lazy"),
    ("def power(x, exponent):", 'def power(x, exponent):\n    "Docs."'),
]


def test_what_changes_a_class_changes_its_digest(make: Make) -> None:
    before = source_digest(make(SCRIPT).Mine)
    for old, new in CHANGES:
        assert SCRIPT.count(old) >= 1, old
        assert source_digest(make(SCRIPT.replace(old, new, 1)).Mine) != before, (old, new)


def test_what_changes_nothing_keeps_the_digest(make: Make) -> None:
    before = source_digest(make(SCRIPT).Mine)
    for old, new in NO_CHANGES:
        assert SCRIPT.count(old) >= 1, old
        assert source_digest(make(SCRIPT.replace(old, new, 1)).Mine) == before, (old, new)


def test_the_digest_is_that_of_another_process(make: Make) -> None:
    module = make(SCRIPT)
    code = (
        f"import {module.__name__} as m; from farfield.experiments._source import source_digest; "
        "print(source_digest(m.Mine))"
    )
    folder = str(Path(module.__file__).parent)
    path = os.pathsep.join([folder, *filter(None, sys.path)])
    hash_seed = str(1 + (os.environ.get("PYTHONHASHSEED") == "1"))  # another than here
    environment = {**os.environ, "PYTHONPATH": path, "PYTHONHASHSEED": hash_seed}
    found = subprocess.run(
        [sys.executable, "-c", code], env=environment, capture_output=True, check=True
    )
    assert found.stdout.decode().strip() == source_digest(module.Mine)


PLAIN = """
WIDTH = 2
class Mine:
    width = 2
    def forward(self, z):
        return z * self.width
class Other:
    def forward(self, z):
        return z / 2
"""


def test_what_is_set_after_the_class_statement_counts(make: Make) -> None:
    module = make(PLAIN)
    before = source_digest(module.Mine)
    seen = {before}
    module.Mine.width = 64
    seen.add(source_digest(module.Mine))
    module.Mine.forward = module.Other.forward
    seen.add(source_digest(module.Mine))
    module.Mine.more = [1]
    seen.add(source_digest(module.Mine))
    module.Mine.more.append(2)
    seen.add(source_digest(module.Mine))
    assert len(seen) == 5
    del module.Mine.more
    module.Mine.width = 2
    module.Mine.forward = make(PLAIN).Mine.forward
    assert source_digest(module.Mine) == before


OWN = {name: getattr(builtins, name) for name in ("print", "open", "zip")}
BUILTINS = """
echo = print
class Mine:
    def forward(self, z, show=print):
        print(echo, show, open)
        return zip(z, z)
"""


@pytest.mark.parametrize("name", ["print", "open", "zip"])
def test_a_builtin_is_named_whatever_stands_in_its_place(
    make: Make, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    own = OWN[name]
    monkeypatch.setattr(builtins, name, own)  # Ray may have printed in this process
    before, module = source_digest(make(BUILTINS).Mine), make(BUILTINS)

    def other(*values: object, **options: object) -> object:
        return own(*values, **options)

    monkeypatch.setattr(builtins, name, other)
    assert source_digest(module.Mine) == before
    other.__module__ = "textwrap"  # of a package, as Ray's print is
    assert source_digest(module.Mine) == source_digest(make(BUILTINS).Mine) == before


USES = "def mine(z):\n    print(zip(z, z))\n"


def test_a_key_made_before_builtins_were_named_is_the_same(make: Make) -> None:
    assert source_digest(make(USES).mine) == "1f7fb103140bd332"


def test_a_name_of_a_builtin_that_the_module_binds_is_followed(make: Make) -> None:
    texts = [f"def print(z):\n    return z + {amount}\n{USES}" for amount in (1, 2)]
    assert len({source_digest(make(text).mine) for text in (*texts, USES)}) == 3


def test_a_function_of_the_users_in_the_place_of_a_builtin_is_followed(
    make: Make, monkeypatch: pytest.MonkeyPatch
) -> None:
    digests = set()
    for amount in (1, 2):
        module = make(f"def tell(z):\n    return z + {amount}\ndef mine(z):\n    tell(z)\n")
        monkeypatch.setattr(builtins, "print", module.tell)
        digests.add(source_digest(module.mine))
    assert len(digests) == 2


def test_a_builtin_that_hides_is_refused_whatever_stands_in_its_place(
    make: Make, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(builtins, "eval", lambda text: None)
    with pytest.raises(ValueError, match="mine → eval reaches objects that its text does not name"):
        source_digest(make("def mine(z):\n    return eval(z)\n").mine)


@pytest.mark.parametrize("has_cells", [True, False])
def test_what_an_installed_function_wraps_counts_whatever_its_code_is_called(
    make: Make, has_cells: bool
) -> None:
    """As torch 2.15 calls that of `no_grad` by the name of the decorator."""
    digests = set()
    for number in (18, 19):
        module = make(f"def inner(z):\n    return z + {number}\ndef mine(z):\n    frozen(z)\n")
        wrapper = torch.no_grad()(module.inner) if has_cells else textwrap.dedent
        frozen = types.FunctionType(
            wrapper.__code__.replace(co_qualname="no_grad"),
            wrapper.__globals__,
            closure=wrapper.__closure__,
        )
        if not has_cells:
            frozen.__wrapped__ = module.inner
        module.frozen = frozen
        digests.add(source_digest(module.mine))
    assert len(digests) == 2


def test_two_classes_of_one_name_are_told_apart() -> None:
    def made(width: int) -> type:
        class Mine(nn.Module):
            def forward(self, z: torch.Tensor) -> torch.Tensor:
                return z * width

        return Mine

    assert source_digest(made(2)) == source_digest(made(2))
    assert source_digest(made(2)) != source_digest(made(3))


MODULES = """
CONFIG = {"x": 1}
class Layer:
    width = 2
def function(z):
    return z + CONFIG["x"]
unrelated = 3
# --- mine
import OTHER as short
from OTHER import Layer as Alias

class Mine:
    def forward(self, z):
        return %s
"""


@pytest.mark.parametrize(
    ("use", "old", "new", "differs"),
    [
        ("short.function(z)", '"x": 1', '"x": 2', True),
        ("short.function(z)", "z + CONFIG", "z - CONFIG", True),
        ("short.function(z)", "unrelated = 3", "unrelated = 4", False),
        ("short.function(z)", "width = 2", "width = 3", False),
        ('short.CONFIG["x"]', '"x": 1', '"x": 2', True),
        ("short.Layer.width", "width = 2", "width = 3", True),
        ('short.__dict__["CONFIG"]', '"x": 1', '"x": 2', True),
        ('vars(short)["CONFIG"]', '"x": 1', '"x": 2', True),
        ("Alias()", "width = 2", "width = 3", True),
        ('getattr(short, "unrelated")', "unrelated = 3", "unrelated = 4", True),
    ],
)
def test_modules_of_the_users_are_looked_into(
    make: Make, use: str, old: str, new: str, differs: bool
) -> None:
    text = MODULES % use
    changed = source_digest(make(text.replace(old, new, 1)).Mine)
    assert (source_digest(make(text).Mine) != changed) is differs


@pytest.mark.parametrize(
    "imports", ["from OTHER import CONFIG as c", "import OTHER as o\n        c = o.CONFIG"]
)
def test_what_is_imported_in_a_function_counts(make: Make, imports: str) -> None:
    text = f'CONFIG = {{"x": 1}}\n# --- mine\ndef mine():\n        {imports}\n        return c\n'
    changed = text.replace('"x": 1', '"x": 2')
    assert source_digest(make(text).mine) != source_digest(make(changed).mine)


def test_circles_end(make: Make) -> None:
    text = """
CIRCLE = []
CIRCLE.append(CIRCLE)
def other():
    return mine, CIRCLE
def mine():
    return other, Mine, REGISTRY
class Mine:
    def forward(self):
        return mine()
REGISTRY = {Mine, mine}
"""
    first, second = make(text), make(text.replace("return other, Mine", "return Mine, other"))
    assert source_digest(first.mine) == source_digest(make(text).mine)
    assert source_digest(first.mine) != source_digest(second.mine)


def test_one_object_twice_is_not_two_equal_ones(make: Make) -> None:
    text = "A = []\nB = %s\ndef mine():\n    return A, B\n"
    assert source_digest(make(text % "A").mine) != source_digest(make(text % "[]").mine)


@pytest.mark.parametrize(
    ("setting", "message"),
    [
        (
            "import sys; thing = sys.__stdin__",
            r"mine → thing is a TextIOWrapper, which changes when it is",
        ),
        ("thing = (x for x in range(2))", "mine → thing is a generator, which changes when it"),
        ("thing = iter([1])", "mine → thing is a list_iterator, which changes"),
        (
            "import threading; thing = threading.Lock()",
            "mine → thing is a lock, whose state cannot be read",
        ),
        (
            "import torch; thing = torch.Generator()",
            "mine → thing is a Generator, whose state changes when it is drawn from",
        ),
        (
            "import numpy as np; thing = {'draw': np.random.default_rng(0)}",
            r"mine → thing → \['draw'\] is a Generator, whose state changes",
        ),
        ("from random import random as thing", "mine → thing is a Random, whose state changes"),
        ("import weakref; thing = weakref.ref(mine)", "is a ReferenceType, whose state cannot"),
        (
            "import torch; thing = torch.eye(2).to_sparse()",
            "mine → thing is a tensor whose numbers cannot be read",
        ),
        ("thing = eval('lambda: 1')", "thing must have the source that it was made from"),
        ("thing = globals", "mine → thing reaches objects that its text does not name"),
        (
            "import importlib; thing = importlib.import_module",
            "reaches objects that its text does not",
        ),
        (
            "class Held:\n    pass\nthing = Held()\nimport sys; thing.file = sys.__stdin__",
            "mine → thing → file is a TextIOWrapper",
        ),
    ],
)
def test_what_cannot_be_told_apart_is_refused(make: Make, setting: str, message: str) -> None:
    module = make(f"def mine():\n    return thing\n{setting}\n")
    with pytest.raises(ValueError, match=message):
        source_digest(module.mine)
    with pytest.raises(ValueError, match=r"has no key: mine .* Make it a plain value"):
        source_digest(module.mine)


@pytest.mark.parametrize(
    "call",
    [
        "eval('x')",
        "globals()['x']",
        "sys.modules['x']",
        "getattr(sys, 'modules')['x']",
        "sys._getframe().f_back",
        "other.__globals__['x']",
        "getattr(other, '__globals__')['x']",
        "object.__subclasses__()",
        "pkgutil.resolve_name('x:y')",
        "importlib.util.find_spec('x')",
        "getattr(importlib, 'import_module')('x')",
        "inspect.currentframe()",
        "pickle.loads(b'x')",
    ],
)
def test_code_that_reaches_what_it_does_not_name_is_refused(make: Make, call: str) -> None:
    imports = "import importlib.util, inspect, pickle, pkgutil, sys\ndef other():\n    pass\n"
    module = make(f"{imports}def mine():\n    return {call}\n")
    with pytest.raises(ValueError, match=r"mine → .* reaches objects that its text does not name"):
        source_digest(module.mine)


@pytest.mark.parametrize(
    "line",
    [
        "import sys; return sys.modules['x']",
        "from sys import modules as known; return known['x']",
        "import importlib; return importlib.import_module('x')",
        "from importlib import import_module; return import_module('x')",
        "from importlib import util; return util.find_spec('x')",
        "from pkgutil import resolve_name; return resolve_name('x:y')",
        "import pydoc; return pydoc.locate('x.y')",
        "import runpy; return runpy",
    ],
)
def test_code_that_imports_what_reaches_further_is_refused(make: Make, line: str) -> None:
    module = make(f"def mine():\n    {line}\n")
    with pytest.raises(ValueError, match=r"mine → \w+ reaches objects that its text does not name"):
        source_digest(module.mine)
    plain = make("def mine():\n    import sys\n    return sys.maxsize\n")
    assert source_digest(plain.mine)
    seeded = make("from numpy.random import default_rng\ndef mine():\n    return default_rng(0)\n")
    assert source_digest(seeded.mine)


def test_a_class_without_source_is_refused() -> None:
    made: dict[str, type] = {"__name__": "nowhere"}
    exec("class Mine:\n    def forward(self): pass", made)  # as one that comes from a pipe
    with pytest.raises(ValueError, match=r"Mine → forward must have the source .*has no source"):
        source_digest(made["Mine"])


def test_a_file_that_was_edited_since_it_was_imported_is_refused(make: Make) -> None:
    module = make(PLAIN)
    file = Path(module.__file__)
    before = source_digest(module.Mine)
    file.write_text("\n# moved\n" + PLAIN)
    assert source_digest(module.Mine) == before
    file.write_text(PLAIN.replace("z * self.width", "z - self.width"))
    with pytest.raises(ValueError, match=r"was edited since Mine\.forward was made from it"):
        source_digest(module.Mine)


def test_lambdas_of_one_line_are_told_apart(make: Make) -> None:
    module = make("mine, other = (lambda x: x + 1), (lambda x: x + 2)\n")
    assert source_digest(module.mine) != source_digest(module.other)


def test_source_is_read_by_one_thread_at_a_time(
    make: Make, monkeypatch: pytest.MonkeyPatch
) -> None:
    inside, most, parse = [], [], ast.parse

    def slow(*text: str, **options: object) -> ast.Module:
        inside.append(threading.get_ident())
        most.append(len(inside))
        time.sleep(0.01)
        inside.pop()
        return parse(*text, **options)

    monkeypatch.setattr("farfield.experiments._code.ast.parse", slow)
    modules = [make(f"def mine():\n    return {k}\n").mine for k in range(8)]
    with ThreadPoolExecutor(4) as threads:
        found = list(threads.map(source_digest, modules))
    assert len(set(found)) == 8
    assert most == [1] * 8


def test_what_is_installed_counts_by_its_name_and_text() -> None:
    assert source_digest(nn.Flatten) != source_digest(nn.Unflatten)
    assert source_digest(nn.Flatten) == source_digest(nn.Flatten)


def test_what_the_user_puts_into_an_installed_module_or_class_counts(
    make: Make, monkeypatch: pytest.MonkeyPatch
) -> None:
    text = """
import torch
def other(z):
    return z + %d
class Mine(torch.nn.Flatten):
    def forward(self, z):
        return torch.nn.functional.relu(torch.nn.GELU()(z))
"""
    for owner, name, wrap in (
        (nn.functional, "relu", None),
        (nn.functional, "relu", functools.partial),
        (nn.Flatten, "extra_repr", None),
        (nn.GELU, "forward", None),
    ):
        digests = {source_digest(make(text % 1).Mine)}
        for number in (1, 2):
            module = make(text % number)
            with monkeypatch.context() as patch:
                patch.setattr(owner, name, wrap(module.other) if wrap else module.other)
                digests.add(source_digest(module.Mine))
        assert len(digests) == 3, name


def test_an_installed_package_of_the_users_is_followed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    digests = set()
    for number in (1, 2):
        name, folder = f"copied_{number}", tmp_path / str(number) / "site-packages"
        folder.mkdir(parents=True)
        (folder / f"{name}.py").write_text(f"def mine(z):\n    return z + {number}\n")
        monkeypatch.syspath_prepend(str(folder))
        digests.add(source_digest(importlib.import_module(name).mine))
    assert len(digests) == 2


@pytest.mark.parametrize(
    ("url", "is_local"),
    [
        ('{"url": "file:///project", "dir_info": {}}', True),
        ('{"url": "https://pypi.org/x.whl", "archive_info": {}}', False),
        ("[]", False),
        (None, False),
    ],
)
def test_an_installed_package_is_the_users_if_it_came_from_the_machine(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, url: str | None, is_local: bool
) -> None:
    name = f"delivered_{tmp_path.name}"
    folder = tmp_path / "site-packages"
    info = folder / f"{name}-1.0.dist-info"
    info.mkdir(parents=True)
    (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: 1.0\n")
    (folder / f"{name}.py").write_text("def mine(z):\n    return z\n")
    if url:
        (info / "direct_url.json").write_text(url)
    monkeypatch.syspath_prepend(str(folder))
    importlib.import_module(name)
    assert is_of_the_user(name) is is_local
