"""Rules of the house that no other tool checks, each proven on something that breaks it."""

from __future__ import annotations

import ast
import glob
import importlib
import importlib.metadata
import importlib.util
import inspect
import re
import subprocess
import sys
import tomllib
import typing
from collections.abc import Iterator
from pathlib import Path
from types import FunctionType, ModuleType

import pytest
from matplotlib.figure import Figure as Picture

from each import each
from farfield._exports import faces, moved
from sources import parsed

CHECKOUT = Path(__file__).resolve().parent.parent
PACKAGE = CHECKOUT / "src" / "farfield"
SOURCES = sorted(PACKAGE.rglob("*.py"))
TESTS = sorted((CHECKOUT / "tests").rglob("*.py"))
FOLDERS = sorted(path.parent.name for path in PACKAGE.glob("*/__init__.py"))


def dotted(node: ast.AST) -> str:
    """`np.random.seed` for the expression that says so, else an empty text."""
    match node:
        case ast.Name(id=name):
            return name
        case ast.Attribute(value=value, attr=name):
            return f"{owner}.{name}" if (owner := dotted(value)) else ""
    return ""


# --- No comparison is computed and thrown away ---------------------------------------------------

COMPARING = {"allclose", "isclose", "equal", "array_equal", "array_equiv", "is_close", "issubset"}


def statements(tree: ast.AST) -> Iterator[ast.AST]:
    """The statements of a file, those within others too; far fewer than its nodes."""
    found = [tree]
    while found:
        yield (node := found.pop())
        for part in ("body", "orelse", "finalbody", "handlers", "cases"):
            within = getattr(node, part, ())
            found.extend(within if isinstance(within, list) else ())


def thrown_away(tree: ast.AST) -> Iterator[int]:
    """Lines of the statements that compare and drop the answer."""
    for node in statements(tree):
        match node:
            case ast.Expr(value=ast.Compare() | ast.BoolOp() | ast.UnaryOp(op=ast.Not())):
                yield node.lineno
            case ast.Expr(value=ast.Call(func=ast.Attribute(attr=name) | ast.Name(id=name))):
                if name in COMPARING:
                    yield node.lineno


@each("path", TESTS)
def test_no_test_throws_a_comparison_away(path: Path) -> None:
    assert list(thrown_away(parsed(path))) == []


def test_thrown_away_comparisons_are_found() -> None:
    bad = """
first == second
torch.allclose(first, second)
equal(first, second)
first.is_close(second)
not first
first and second
with context: first in second
assert first == second
same = np.array_equal(first, second)
np.testing.assert_allclose(first, second)
"""
    assert sorted(thrown_away(ast.parse(bad))) == [2, 3, 4, 5, 6, 7, 8]


# --- Nothing draws from a global generator, unpickles or prints ----------------------------------

UNSAFE_MODULES = {"pickle", "cloudpickle", "dill", "joblib", "marshal", "random", "shelve"}
UNSAFE_CALLS = {"print", "torch.load", "torch.save", "torch.manual_seed", "torch.seed"}
# Dropout, other people's modules and kornia draw from the global generators and know no other:
# there they are set from a named stream.
MAY_SET_THE_GLOBAL_GENERATOR = {"core/_streams.py", "objectives/_rand_augment.py"}
OF_GLOBAL_GENERATORS = {
    "np.random.RandomState",
    "np.random.get_state",
    "np.random.seed",
    "np.random.set_state",
    "random",
    "torch.cuda.manual_seed_all",
    "torch.default_generator.manual_seed",
}
SAFE_NUMPY = {"Generator", "Philox", "BitGenerator"}
TORCH_DRAWS = {"rand", "randn", "randint", "randperm", "bernoulli", "multinomial", "normal"}


def unsafe(tree: ast.AST) -> Iterator[tuple[int, str]]:
    """Line and name of whatever reads or sets global state, loads code as data, or prints."""
    for node in ast.walk(tree):
        match node:
            case ast.Import(names=names):
                yield from (
                    (node.lineno, name.name)
                    for name in names
                    if name.name.partition(".")[0] in UNSAFE_MODULES
                )
            case ast.ImportFrom(module=str(module)) if module.partition(".")[0] in UNSAFE_MODULES:
                yield node.lineno, module
            case ast.Attribute() if _draws_of_numpy(dotted(node)):
                yield node.lineno, dotted(node)
            case ast.Call(func=func, keywords=keywords):
                name = dotted(func)
                owner, _, last = name.rpartition(".")
                given = {keyword.arg for keyword in keywords}
                if name in UNSAFE_CALLS or (owner.startswith("torch.") and last == "manual_seed"):
                    yield node.lineno, name
                elif owner == "torch" and last in TORCH_DRAWS and "generator" not in given:
                    yield node.lineno, f"{name} without generator"


def _draws_of_numpy(name: str) -> bool:
    owner, _, last = name.rpartition(".")
    return owner in {"np.random", "numpy.random"} and last not in SAFE_NUMPY


@each("path", SOURCES)
def test_no_source_draws_globally_or_unpickles_or_prints(path: Path) -> None:
    found = {name for _, name in unsafe(parsed(path))}
    if path.relative_to(PACKAGE).as_posix() in MAY_SET_THE_GLOBAL_GENERATOR:
        found -= OF_GLOBAL_GENERATORS
    assert found == set()


def test_unsafe_sources_are_found() -> None:
    bad = """
import pickle
from random import choice
np.random.seed(0)
torch.manual_seed(0)
torch.cuda.manual_seed(0)
torch.load(path)
print(path)
numpy.random.default_rng()
torch.randn(3)
torch.randn(3, generator=generator)
np.random.Generator(np.random.Philox(key=0))
torch.Generator().manual_seed(0)
console.print(path)
json.load(path)
"""
    assert sorted(line for line, _ in unsafe(ast.parse(bad))) == [2, 3, 4, 5, 6, 7, 8, 9, 10]


# --- One canonical import path per public name ---------------------------------------------------


def re_exported(face: Path) -> dict[str, str]:
    """Names that a face of a package takes from its private files, with their modules."""
    return {
        alias.asname or alias.name: statement.module or ""
        for statement in parsed(face).body
        if isinstance(statement, ast.ImportFrom)
        and (statement.module or "").startswith("farfield.")
        and statement.module != "farfield._exports"
        for alias in statement.names
    }


def crossing(tree: ast.AST, folder: str) -> Iterator[str]:
    """Private modules of other folders that a file of `folder` imports from."""
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("farfield."):
            _, owner, *rest = (node.module or "").split(".")
            if owner != folder and any(part.startswith("_") for part in rest):
                yield node.module or ""


def made_in(face: Path) -> set[str]:
    """Names that a face binds itself, such as the literal table of its classes."""
    names: set[str] = set()
    for statement in parsed(face).body:
        match statement:
            case ast.FunctionDef(name=name) | ast.ClassDef(name=name):
                names.add(name)
            case ast.AnnAssign(target=ast.Name(id=name)):
                names.add(name)
            case ast.Assign(targets=targets):
                names.update(dotted(target) for target in targets)
    return {name for name in names if not name.startswith("_")}


@each("folder", FOLDERS)
def test_a_face_offers_all_that_it_binds_and_no_name_is_in_two(folder: str) -> None:
    offered: list[str] = []
    for face in faces(f"farfield.{folder}"):
        path = Path(face.__file__ or "")
        assert set(face.__all__) == {*re_exported(path), *made_in(path)}
        offered += face.__all__
    assert len(offered) == len(set(offered))


@pytest.mark.parametrize("folder", FOLDERS)
def test_every_offered_name_is_described(folder: str) -> None:
    modules = faces(f"farfield.{folder}")
    assert all((module.__doc__ or "").strip() for module in modules)
    for name, value in ((name, getattr(face, name)) for face in modules for name in face.__all__):
        if inspect.isclass(value) or inspect.isfunction(value):
            # A dataclass without a docstring gets its signature for one.
            described = (value.__doc__ or f"{name}(").strip()
            assert not described.startswith(f"{name}("), f"{folder}.{name} has no docstring"


def functions_of(value: object) -> Iterator[FunctionType]:
    """The function itself, or the public ones of a class and of its bases in the package."""
    classes = value.__mro__ if inspect.isclass(value) else ()
    members = [pair for base in classes for pair in vars(base).items()] or [("", value)]
    for name, member in members:
        function = inspect.unwrap(getattr(member, "__func__", getattr(member, "fget", member)))
        written = name == "__init__" and not hasattr(value, "__dataclass_fields__")
        ours = inspect.isfunction(function) and function.__module__.startswith(
            (__name__, "farfield")
        )
        if ours and (written or not name.startswith("_")):
            yield function


def wrong_annotations(value: object) -> Iterator[str]:
    """Functions and classes whose annotations are no expressions, or name what is not there."""
    # Loaded where they are used: an extra, which no import may need, and a third of a second.
    late = {"pd": pytest.importorskip("pandas"), "Picture": Picture}
    for part in [value, *functions_of(value)] if inspect.isclass(value) else functions_of(value):
        try:
            typing.get_type_hints(part, localns=late)
        except Exception as error:  # noqa: BLE001
            yield f"{part.__module__}.{part.__qualname__}: {error!r}"


@each("folder", FOLDERS)
def test_every_public_annotation_can_be_evaluated(folder: str) -> None:
    modules = faces(f"farfield.{folder}")
    values = [getattr(module, name) for module in modules for name in module.__all__]
    assert [line for value in values for line in wrong_annotations(value)] == []


def test_an_internal_name_is_found_in_the_public_face_with_a_warning(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    inner = ModuleType("package.internal")
    vars(inner).update(__all__=["serve"], serve=len)
    monkeypatch.setitem(sys.modules, "package.internal", inner)
    monkeypatch.setitem(sys.modules, "package", ModuleType("package"))
    find = moved("package")
    with pytest.warns(DeprecationWarning, match=r"package\.serve is package\.internal\.serve now"):
        assert find("serve") is len
    for unknown in ("other", "internal", "_private"):
        with pytest.raises(AttributeError, match=f"'package' has no attribute '{unknown}'"):
            find(unknown)


def test_wrong_annotations_are_found() -> None:
    class Wrong:
        def function(self, z: ast.Nowhere) -> None: ...

        @property
        def value(self) -> ast.Nowhere: ...

        def right(self, tree: ast.AST) -> None: ...

    found = [line.split(": ")[0].split(".")[-1] for line in wrong_annotations(Wrong)]
    assert found == ["function", "value"]


@each("path", [path for path in SOURCES if "._" in path.read_text(encoding="utf-8")])
def test_no_folder_reaches_into_the_private_files_of_another(path: Path) -> None:
    assert list(crossing(parsed(path), path.relative_to(PACKAGE).parts[0])) == []


def test_reaching_into_private_files_is_found() -> None:
    tree = ast.parse(
        "from farfield.core._streams import stream\nfrom farfield.nn import MLPEncoder"
    )
    assert list(crossing(tree, "tasks")) == ["farfield.core._streams"]
    assert list(crossing(tree, "core")) == []


def test_oracles_know_nothing_of_the_package() -> None:
    """An expected value that shares code with the answer proves nothing."""
    oracles = [path for path in TESTS if "oracles" in path.parent.parts]
    sharing = {
        path.name
        for path in oracles
        for node in ast.walk(parsed(path))
        if isinstance(node, ast.Import | ast.ImportFrom) and "farfield" in ast.unparse(node)
    }
    assert sharing == set()


# --- What is installed, imported and shipped -----------------------------------------------------


@pytest.mark.parametrize("name", ["torchvision", "torchaudio"])
def test_companions_of_torch_stay_out(name: str) -> None:
    """They have no build for every torch, and their mere presence breaks other packages."""
    assert importlib.util.find_spec(name) is None
    with pytest.raises(importlib.metadata.PackageNotFoundError):
        importlib.metadata.distribution(name)


@pytest.mark.parametrize("module", ["farfield", "farfield.cli", "farfield.explorer"])
def test_the_command_line_answers_without_torch(module: str) -> None:
    heavy = "{'torch', 'numpy', 'scipy', 'matplotlib'}"
    code = f"import {module}, sys; print(sorted({heavy} & {{*sys.modules}}))"
    ended = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=False
    )
    assert (ended.stdout.strip(), ended.stderr) == ("[]", "")


def shapes_out_of_quotes(tree: ast.AST) -> Iterator[str]:
    """Shapes of annotations that a tool has taken for expressions: "item *feature" is one.

    A bare ellipsis is no shape either, and would leave the whole function without a check.
    """
    for node in ast.walk(tree):
        match node:
            case ast.Subscript(
                value=ast.Name(id="Float" | "Int" | "Int64" | "Bool" | "UInt8" | "UInt64"),
                slice=ast.Tuple(elts=[_, shape]),
            ) if not isinstance(getattr(shape, "value", None), str):
                yield ast.unparse(node)


@each("path", [path for path in SOURCES if "jaxtyping" in path.read_text(encoding="utf-8")])
def test_shapes_are_in_quotes(path: Path) -> None:
    assert list(shapes_out_of_quotes(parsed(path))) == []


def test_shapes_out_of_quotes_are_found() -> None:
    tree = ast.parse("a: Float[Tensor, item * feature]\nb: Float[Tensor, '*batch']\nc: Int[x, ...]")
    assert list(shapes_out_of_quotes(tree)) == ["Float[Tensor, item * feature]", "Int[x, ...]"]


def test_what_may_wait_is_not_loaded(tmp_path: Path) -> None:
    """The shape hook is for tests alone; pyplot would look for a screen and keep every figure."""
    code = (
        "import sys; from farfield.reports import problem_sheet;"
        "from farfield.tasks import SameDifferent;"
        f"problem_sheet(SameDifferent(withheld=98), {str(tmp_path / 'sheet.png')!r});"
        "print(sorted({'beartype', 'h5py', 'matplotlib.pyplot'} & {*sys.modules}))"
    )
    ended = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=False
    )
    assert (ended.stdout.strip(), ended.stderr) == ("[]", "")


def test_the_shape_hook_is_on_in_tests() -> None:
    import jaxtyping
    import torch

    from farfield.metrics import accuracy

    for target in (torch.ones(3), torch.ones(4, dtype=torch.int64)):  # the type, and the batch
        with pytest.raises(jaxtyping.TypeCheckError):
            accuracy(torch.ones(3, 2), target)


def test_every_case_that_fails_is_named() -> None:
    @each("first, second", {"less": (1, 2), "same": (2, 2), "more": (3, 2)})
    def ordered(first: int, second: int) -> None:
        assert first < second

    with pytest.raises(ExceptionGroup, match="2 of 3 cases") as failed:
        ordered()
    notes = [error.__notes__ for error in failed.value.exceptions]
    assert notes == [["in the case same"], ["in the case more"]]


def tracked() -> list[Path]:
    """Files under version control, or nothing where the checkout is none."""
    try:
        listing = subprocess.run(
            ["git", "ls-files", "-z"], cwd=CHECKOUT, capture_output=True, text=True, check=True
        )
    except (FileNotFoundError, subprocess.CalledProcessError):
        pytest.skip("not a checkout under git")
    paths = (CHECKOUT / name for name in listing.stdout.split("\0") if name)
    return [path for path in paths if path.is_file()]


MACHINE_PATHS = ["/" + "work/", "/" + "tmp/plan", "/" + "root/", "/" + "home/"]


def test_no_file_names_a_place_on_somebodys_machine() -> None:
    named = {
        (path.relative_to(CHECKOUT).as_posix(), place)
        for path in tracked()
        for place in MACHINE_PATHS
        if place.encode() in path.read_bytes()
    }
    assert named == set()


def test_every_data_file_goes_into_the_package() -> None:
    """An installed package without claims would pass every test of the checkout."""
    project = tomllib.loads((CHECKOUT / "pyproject.toml").read_text(encoding="utf-8"))
    patterns = project["tool"]["setuptools"]["package-data"]["farfield"]
    packed = {
        PACKAGE / name
        for pattern in patterns
        for name in glob.glob(pattern, root_dir=PACKAGE, recursive=True)  # noqa: PTH207 — as setuptools
    }
    data = {path for path in tracked() if PACKAGE in path.parents and path.suffix != ".py"}
    assert data - packed == set()


BY_MACHINE = {
    "_machine.py",
    "_interrupts.py",
    "execution/_clusters.py",  # whether a worker has the GPU that it was promised
    "execution/_processes.py",
    "functional/_autograd/_products.py",
    "nn/_recurrent/_fused_layers.py",  # where weights lie in memory
    "records/_environment.py",  # states it in the record
    "training/_stack.py",  # how a number reaches the GPU
}
"""Files that may ask for the machine: CONTRIBUTING names the switch of each choice."""


def test_choices_by_machine_have_a_switch() -> None:
    asks = re.compile(
        r"\.is_(cpu|cuda)\b|get_cpu_capability|cuda\.is_available|hasattr\((os|signal|sys),"
    )
    asking = {
        path.relative_to(PACKAGE).as_posix()
        for path in PACKAGE.rglob("*.py")
        if asks.search(path.read_text(encoding="utf-8"))
    }
    assert asking == BY_MACHINE
