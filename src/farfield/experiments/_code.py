"""The source of a function, checked against the code that runs, and its references."""

from __future__ import annotations
import __future__

import ast
import dis
import linecache
import threading
from collections.abc import Iterator
from functools import lru_cache
from importlib.machinery import SourceFileLoader
from importlib.util import resolve_name
from types import CodeType, FunctionType
from typing import Final, NamedTuple

_PARSING = threading.Lock()
"""Held while source is read: Python 3.11 parses it, and fails at that in two threads at once."""

_FUTURE: Final = sum(
    getattr(__future__, name).compiler_flag for name in __future__.all_feature_names
)

_LOADS: Final = {"LOAD_GLOBAL", "LOAD_NAME", "LOAD_FROM_DICT_OR_GLOBALS"}

Function = ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda
Chain = tuple[str, ...]
"""Attributes one after the other, as `("nn", "Linear")` of `torch.nn.Linear`."""


class Imported(NamedTuple):
    """A module that a function imports when it is called.

    Attributes:
        module: Its full name.
        chains: Attributes that are reached in it; the empty chain is the module itself.
    """

    module: str
    chains: tuple[Chain, ...]


_HIDING_WORDS: Final = {
    "__builtins__",
    "__globals__",
    "__import__",
    "__loader__",
    "__subclasses__",
    "ag_frame",
    "cr_frame",
    "f_back",
    "f_builtins",
    "f_globals",
    "f_locals",
    "gi_frame",
    "tb_frame",
}
"""Attributes through which code reaches objects that its text does not name."""


class Source(NamedTuple):
    """Source of a function.

    Attributes:
        text: Its syntax, without comments, docstrings, and how it is set in lines.
        names: Globals that it reads, those of functions and classes inside it among them.
        imports: Modules that it imports.
        nodes: Its nodes in the syntax tree.
        hiding: Attributes in it that reach objects that the text does not name, as `__globals__`.
    """

    text: str
    names: tuple[str, ...]
    imports: tuple[Imported, ...]
    nodes: tuple[Function, ...]
    hiding: tuple[str, ...]

    def chains(self, name: str) -> tuple[Chain, ...]:
        """List the attributes that a name is followed by; the empty chain is the name alone."""
        found = {chain for node in self.nodes for chain in _chains(node, name)}
        return tuple(sorted(found))


def source_of(function: FunctionType) -> Source:
    """Read the source of a function that was written in Python.

    Args:
        function: The function.

    Raises:
        OSError: If the source is missing, or was edited since the function was made from it.
    """
    code = function.__code__
    linecache.checkcache(code.co_filename)
    text = "".join(linecache.getlines(code.co_filename, function.__globals__))
    with _PARSING:
        try:
            file = _read(text, code.co_filename, code.co_flags & _FUTURE)
        except (SyntaxError, ValueError) as error:
            raise OSError(f"{code.co_filename} cannot be read as Python") from error
    written = _written(code, file.codes, function.__globals__)
    nodes = _nodes(written, file.functions)
    package = str(function.__globals__.get("__package__") or "")
    return Source(
        text="\n".join(sorted({_syntax(node) for node in nodes})),
        names=tuple(sorted(_global_names(written))),
        imports=tuple(_imports(nodes, package)),
        nodes=nodes,
        hiding=tuple(sorted({word for node in nodes for word in _words(node)} & _HIDING_WORDS)),
    )


class _File(NamedTuple):
    functions: tuple[Function, ...]
    codes: tuple[CodeType, ...]


@lru_cache(maxsize=64)
def _read(text: str, name: str, flags: int) -> _File:
    if not text:
        raise OSError(f"{name} has no source that can be read")
    whole = compile(text, name, "exec", flags, dont_inherit=True)
    functions = (node for node in ast.walk(ast.parse(text)) if isinstance(node, Function))
    return _File(tuple(functions), tuple(_inner(whole)))


def _inner(code: CodeType) -> Iterator[CodeType]:
    """List the code objects nested in a code object."""
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            yield constant
            yield from _inner(constant)


def _written(code: CodeType, codes: tuple[CodeType, ...], scope: dict[str, object]) -> CodeType:
    """Compile the current source of `code`."""
    named = [one for one in codes if one.co_qualname == code.co_qualname]
    found = [one for one in named if _same(one, code)]
    spec = scope.get("__spec__")
    if not found and type(getattr(spec, "loader", None)) not in (SourceFileLoader, type(None)):
        # An import hook, as pytest's, compiles another text than the file's.
        found = [one for one in named if one.co_firstlineno == code.co_firstlineno]
    if not found and code.co_filename.startswith("<"):  # since Python 3.13 another one's text
        raise OSError(f"{code.co_qualname} has no source that can be read")
    if not found:
        raise OSError(f"{code.co_filename} was edited since {code.co_qualname} was made from it")
    return min(found, key=lambda one: abs(one.co_firstlineno - code.co_firstlineno))


def _same(one: CodeType, other: CodeType) -> bool:
    """Tell if two code objects do the same, wherever they are defined."""
    constants = zip(one.co_consts, other.co_consts, strict=False)
    return (
        (one.co_code, one.co_names, one.co_varnames, one.co_freevars, one.co_cellvars)
        == (other.co_code, other.co_names, other.co_varnames, other.co_freevars, other.co_cellvars)
        and len(one.co_consts) == len(other.co_consts)
        and all(
            _same(a, b)
            if isinstance(a, CodeType) and isinstance(b, CodeType)
            else type(a) is type(b)
            and (repr(a) == repr(b) or (isinstance(a, frozenset) and a == b))
            for a, b in constants
        )
    )


def _nodes(code: CodeType, functions: tuple[Function, ...]) -> tuple[Function, ...]:
    """Find the syntax of a function: one node, or all lambdas of a line that it may be."""
    found = [
        node
        for node in functions
        if getattr(node, "name", "<lambda>") == code.co_name
        and min([node.lineno, *(part.lineno for part in getattr(node, "decorator_list", ()))])
        == code.co_firstlineno
    ]
    if len(found) > 1:
        positions = set(code.co_positions())
        exact = [node for node in found if _range(node) in positions]
        found = exact if len(exact) == 1 else found
    if not found:
        raise OSError(f"{code.co_qualname} is not where {code.co_filename} should have it")
    return tuple(found)


def _range(node: Function) -> tuple[int | None, ...]:
    """List the lines and columns of the body of a lambda."""
    body = node.body if isinstance(node, ast.Lambda) else node.body[-1]
    return body.lineno, body.end_lineno, body.col_offset, body.end_col_offset


def _global_names(code: CodeType) -> set[str]:
    """List the names that the code reads and does not bind itself."""
    found, bound = set[str](), {"__name__"}  # which every class reads, to say where it is from
    for instruction in dis.get_instructions(code):
        name = instruction.argval
        if instruction.opname == "STORE_NAME":
            bound.add(name)
        elif instruction.opname == "LOAD_GLOBAL" or (
            instruction.opname in _LOADS and name not in bound
        ):
            found.add(name)
    return found.union(*(_global_names(one) for one in code.co_consts if isinstance(one, CodeType)))


def _words(node: ast.AST) -> Iterator[str]:
    """List the names, attributes and texts in the syntax, as `getattr` takes either."""
    for part in ast.walk(node):
        if isinstance(part, ast.Name):
            yield part.id
        elif isinstance(part, ast.Attribute):
            yield part.attr
        elif isinstance(part, ast.Constant) and isinstance(part.value, str):
            yield part.value


def _imports(nodes: tuple[Function, ...], package: str) -> Iterator[Imported]:
    for node in nodes:
        for part in ast.walk(node):
            if isinstance(part, ast.ImportFrom):
                name = "." * part.level + (part.module or "")
                module = resolve_name(name, package) if part.level else name
                yield Imported(module, tuple((alias.name,) for alias in part.names))
            elif isinstance(part, ast.Import):
                for alias in part.names:
                    head = alias.name if alias.asname else alias.name.partition(".")[0]
                    yield Imported(head, tuple(sorted(_chains(node, alias.asname or head))))


def _chains(node: ast.AST, name: str) -> set[Chain]:
    chain: list[str] = []
    inner = node
    while isinstance(inner, ast.Attribute):
        chain.insert(0, inner.attr)
        inner = inner.value
    if isinstance(inner, ast.Name) and inner.id == name:
        return {tuple(chain)}
    return set().union(*(_chains(child, name) for child in ast.iter_child_nodes(node)))


_LEFT_OUT: Final = {"ctx", "kind", "type_comment", "type_ignores"}


def _syntax(node: object) -> str:
    """Write syntax as text that is the same in every version of Python."""
    if isinstance(node, list):
        return f"[{', '.join(map(_syntax, node))}]"
    if not isinstance(node, ast.AST):
        return repr(node)
    fields = [
        f"{name}={_syntax(_without_docstring(node, content) if name == 'body' else content)}"
        for name, content in ast.iter_fields(node)
        if name not in _LEFT_OUT and content is not None and content != []
    ]
    return f"{type(node).__name__}({', '.join(fields)})"


def _without_docstring(node: ast.AST, body: object) -> object:
    documented = ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef
    if isinstance(node, documented) and ast.get_docstring(node, clean=False) is not None:
        return node.body[1:]
    return body
