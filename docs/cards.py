"""Pages of `docs/cards`, made from the docstrings.

    make docs                       # or:
    python docs/cards.py [FOLDER]

A page for each folder of the house, a card for each public class and function. The sets of
a task are measured on the task. The test command fails when the pages are not up to date.
"""

from __future__ import annotations

import enum
import importlib
import inspect
import json
import re
import sys
import types
import typing
from collections.abc import Iterable, Iterator
from pathlib import Path
from statistics import median
from typing import Any, TypeGuard

from docstring_parser import Docstring, DocstringMeta, DocstringParam
from docstring_parser.google import DEFAULT_SECTIONS, GoogleParser, Section, SectionType

from farfield.core import ARGUMENTS, Reference, stream
from farfield.core.internal import REFERENCES
from farfield.models import REASONERS
from farfield.nn import ENCODERS
from farfield.tasks import TASKS, TRAINING, Task
from farfield.tasks.internal import NeedsFiles

PAGES = {
    "tasks": "Tasks",
    "models": "Models",
    "nn": "Modules",
    "functional": "Functions",
    "objectives": "Objectives",
    "metrics": "Metrics",
    "experiments": "Experiments",
    "execution": "Execution",
    "analysis": "Analysis",
    "training": "Training",
    "records": "Records",
    "reproductions": "Reproductions",
    "reports": "Reports",
    "suites": "Suites",
    "core": "Core",
}
"""Titles of the pages, by folder; the most used first."""

FAMILIES = {
    "nn-normalizers": ("Normalizers", ("_norm",)),
    "nn-sequences": ("Sequence layers", ("_recurrent",)),
    "nn-functions": ("Interpreters and neural function modules", ("_interpreter", "_nfm")),
    "nn-relations": ("RIMs and layers over relations", ("_relations", "_rims")),
    "nn-encoders": ("Encoders, images and value heads", ("_encoders", "_images", "_control")),
}
"""Titles and private folders of the pages that the modules of `nn` are split into."""

OWN_NAMES = {"task": TASKS, "model": REASONERS, "encoder": ENCODERS}
WITHHELD = (0, 50, 85, 95, 98)
"""Numbers of withheld shapes in the paper."""

COMPILED = Path(__file__).parents[1] / "benchmarks" / "results" / "compiled"
"""Records of layers under `torch.compile`."""

SEQUENCES = COMPILED.with_name("sequences")
"""Records of sequence layers beside `torch.nn.LSTM`."""

HEAD = "<!-- Made from the docstrings by `make docs`; mend those and make it again. -->"
PARSER = GoogleParser(
    [
        *DEFAULT_SECTIONS,
        Section("Shape", "shape", SectionType.SINGULAR),
        Section("Reference", "reference", SectionType.SINGULAR),
    ]
)


def page(name: str) -> str:
    """Write the cards of one folder or family, as Markdown; of `nn`, a list of its families.

    Args:
        name: Name of the page, e.g. `"models"` or `"nn-normalizers"`.
    """
    folder, _, family = name.partition("-")
    module = importlib.import_module(f"farfield.{folder}")
    names = [one for one in module.__all__ if is_described(getattr(module, one))]
    if family:
        title, places = FAMILIES[name]
        names = [one for one in names if family_of(getattr(module, one)) in places]
        parts = [HEAD, f"# {title}", "One family of [all modules](nn.md).", contents(names)]
    elif families := [one for one in FAMILIES if one.startswith(f"{name}-")]:
        parts = [HEAD, f"# {PAGES[folder]}", inspect.getdoc(module) or ""]
        for one in families:
            title, places = FAMILIES[one]
            some = [part for part in names if family_of(getattr(module, part)) in places]
            lines = [line_of(part, getattr(module, part), f"{one}.md") for part in some]
            parts += [f"## {title}", f"[The cards]({one}.md).", "\n".join(lines)]
        return shielded("\n\n".join(parts)).rstrip() + "\n"
    else:
        parts = [HEAD, f"# {PAGES[folder]}", inspect.getdoc(module) or "", contents(names)]
    parts += [card(folder, one, getattr(module, one)) for one in names]
    return shielded("\n\n".join(parts)).rstrip() + "\n"


def contents(names: list[str]) -> str:
    """Write links to the cards of a page."""
    anchors = [anchor(names[: place + 1]) for place in range(len(names))]
    return " · ".join(f"[`{name}`](#{place})" for name, place in zip(names, anchors, strict=True))


def family_of(thing: Any) -> str:
    """Find the private folder that a class or function is defined in, e.g. `"_norm"`."""
    return str(thing.__module__).split(".")[2]


def line_of(name: str, thing: Any, where: str) -> str:
    """Write a line of a list: the name with a link to its card, and the first sentence."""
    text = PARSER.parse(inspect.getdoc(thing) or "").short_description or ""
    return f"- [`{name}`]({where}#{name.lower()}): {' '.join(text.split())}"


def anchor(names: list[str]) -> str:
    """Build the link to the last heading; a number separates `Stream` from `stream`."""
    *before, last = [name.lower() for name in names]
    return f"{last}-{before.count(last)}" if last in before else last


def shielded(text: str) -> str:
    """Protect formulas within lines whose escapes Markdown would remove."""
    return re.sub(r"\$([^$`\n]*\\[^\w\s][^$`\n]*)\$", r"$`\1`$", text)


def is_described(thing: object) -> bool:
    """Check whether a public name has a card; constants have none."""
    return inspect.isclass(thing) or inspect.isfunction(thing)


def card(folder: str, name: str, thing: Any) -> str:
    """Write one card.

    Args:
        folder: The folder that exports it.
        name: Its name.
        thing: A class or a function.
    """
    text = PARSER.parse(inspect.getdoc(thing) or "")
    text.meta = described(thing, text)
    parts = [f"## {name}", text.short_description or "", call(folder, name, thing)]
    parts += [f"On the command line: `{word}`." for word in own_names(thing)]
    parts += [fenced_formulas(text.long_description or ""), compiled(thing), beside_lstm(thing)]
    parts += list(sections(text))
    if inspect.isclass(thing):
        parts += [*([measured(thing)] if thing in TASKS.values() else []), members(thing)]
    return "\n\n".join(part for part in parts if part)


def described(thing: Any, text: Docstring) -> list[DocstringMeta]:
    """Complete the sections of a docstring with lines from its bases or from `ARGUMENTS`.

    Args:
        thing: A class or a function.
        text: Its docstring.
    """
    if not is_called(thing):
        return text.meta
    bases = [base for base in getattr(thing, "__mro__", ())[1:] if is_of_the_house(base)]
    whole = [PARSER.parse(inspect.getdoc(base) or "").meta for base in reversed(bases)]
    parts = {kind: {} for kind in ("param", "shape", "attribute", "raises")}
    parts["param"] = {name: argument(name, line) for name, line in ARGUMENTS.items()}
    for meta in [*whole, text.meta]:
        known = {kind: [part for part in meta if part.args[0] == kind] for kind in parts}
        for kind in ("param", "attribute"):
            parts[kind] |= {part.args[1]: part for part in known[kind]}
        for kind in ("shape", "raises"):
            parts[kind] = dict(enumerate(known[kind])) or parts[kind]
    order, own = [*inspect.signature(thing).parameters], {part.args[-1] for part in text.params}
    said = {name.strip() for names in own for name in names.split(",")}
    kept = [
        part
        for names, part in parts.pop("param").items()
        if names in own or (names in order and names not in said)
    ]
    inherited = [part for each in parts.values() for part in each.values()]
    rest = [part for part in text.meta if part.args[0] not in {"param", *parts}]
    return [*sorted(kept, key=lambda part: place_of(part, order)), *inherited, *rest]


def is_of_the_house(cls: type) -> bool:
    """Check whether a class is one of this package and no protocol."""
    return cls.__module__.startswith("farfield.") and not getattr(cls, "_is_protocol", False)


def argument(name: str, line: str) -> DocstringParam:
    """Make the line of an argument, as the parser of docstrings does."""
    return DocstringParam(["param", name], line, name, None, None, None)


def is_argument(part: DocstringMeta) -> TypeGuard[DocstringParam]:
    """Check whether a line is one of the section Args."""
    return part.args[0] == "param"


def place_of(part: DocstringParam, order: list[str]) -> int:
    """Find the position of an argument in the signature; the first of several in one line."""
    name = part.arg_name.split(",")[0].strip().lstrip("*")
    return order.index(name) if name in order else len(order)


def call(folder: str, name: str, thing: Any) -> str:
    """Import and signature."""
    lines = [f"from farfield.{folder} import {name}"]
    if is_called(thing):
        signature = inspect.signature(thing)
        arguments = list(arguments_of(signature))
        line = f"{name}({', '.join(arguments)}){returned(signature)}"
        if len(line) > 88:
            inner = "".join(f"    {argument},\n" for argument in arguments)
            line = f"{name}(\n{inner}){returned(signature)}"
        lines += ["", line]
    return "\n".join(["```py", *lines, "```"])


def is_called(thing: Any) -> bool:
    """Check whether users call a name: a function, or a class but no protocol, error or enum."""
    if not inspect.isclass(thing):
        return True
    plain = not issubclass(thing, Exception | enum.Enum)
    return plain and not getattr(thing, "_is_protocol", False)


def arguments_of(signature: inspect.Signature) -> Iterator[str]:
    """Format the arguments with their types and defaults."""
    starred = False
    for parameter in signature.parameters.values():
        if parameter.kind is parameter.VAR_POSITIONAL:
            starred = True
        elif parameter.kind is parameter.KEYWORD_ONLY and not starred:
            starred = True
            yield "*"
        prefix = {parameter.VAR_POSITIONAL: "*", parameter.VAR_KEYWORD: "**"}
        annotation = "" if parameter.annotation is parameter.empty else parameter.annotation
        shown = f"{prefix.get(parameter.kind, '')}{parameter.name}"
        if annotation:
            shown += f": {type_name(annotation)}"
        if parameter.default is not parameter.empty:
            default = repr(parameter.default)
            shown += f" = {'…' if '<' in default else default}"
        yield shown


def returned(signature: inspect.Signature) -> str:
    """Format the return annotation of a signature."""
    empty = signature.return_annotation in (signature.empty, None, "None")
    return "" if empty else f" -> {type_name(signature.return_annotation)}"


def type_name(annotation: object) -> str:
    """Format a type as written."""
    if isinstance(annotation, typing.ForwardRef):
        annotation = annotation.__forward_arg__
    if isinstance(annotation, str):
        return annotation.replace("'", '"')
    if isinstance(annotation, type) and not isinstance(annotation, types.GenericAlias):
        return annotation.__name__
    return re.sub(r"\b(?:\w+\.)+(\w+)", r"\1", str(annotation))


def own_names(thing: object) -> Iterator[str]:
    """Yield the names of a class on the command line."""
    for kind, names in OWN_NAMES.items():
        for name, cls in names.items():
            if cls is thing:
                yield f"--{kind} {name}"


def fenced_formulas(text: str) -> str:
    """Set displayed formulas as separate blocks, which no rule of Markdown changes."""
    return re.sub(
        r"\$\$(.+?)\$\$",
        lambda found: f"```math\n{inspect.cleandoc(found[1])}\n```",
        text,
        flags=re.DOTALL,
    )


def sections(text: Docstring) -> Iterator[str]:
    """Yield the sections after the description, each under its name."""
    given: dict[str, list[str]] = {}
    for part in text.meta:
        kind, *names = part.args
        written = part.description or ""
        line = written if kind == "examples" else on_one_line(written)
        label = ", ".join(f"`{name.strip()}`" for name in ",".join(names).split(",") if name)
        listed = kind in ("param", "attribute", "raises")
        given.setdefault(kind, []).append(f"- {label}: {line}" if listed else line)
    titles = {
        "param": "Arguments",
        "shape": "Shape",
        "attribute": "Attributes",
        "returns": "Returns",
        "raises": "Raises",
        "reference": "Reference",
    }
    for kind, title in titles.items():
        lines = given.pop(kind, [])
        if lines and lines[0].startswith("- "):
            yield f"**{title}**\n\n" + "\n".join(lines)
        elif lines:
            yield f"**{title}.** {' '.join(lines)}"
        if lines and kind == "reference":
            yield "\n".join(
                f"- {citation(reference)}"
                for key, reference in REFERENCES.items()
                if re.search(rf"\b{key}\b", lines[0])
            )
    for example in given.pop("examples", []):
        yield f"```pycon\n{example}\n```"
    if given:
        raise ValueError(f"a card has no section {', '.join(given)}")


def on_one_line(text: str) -> str:
    """Join a paragraph to one line; a list stays a list."""
    return re.sub(r"\s*\n(?!\s*- )\s*", " ", text)


def citation(reference: Reference) -> str:
    """Format a document as an entry of a list of references."""
    read = reference.unescaped()
    everyone = "; ".join(read.authors.split(" and "))
    return f"{everyone} ({read.year}). *{read.title}*. {read.venue}."


def members(cls: Any) -> str:
    """List the public members of a class, a line each; members of a task are under `Task`."""
    if issubclass(cls, enum.Enum):
        return "\n".join(f"- `{member.name}`: {member.value}" for member in cls)
    if issubclass(cls, Exception):
        return ""
    known = set(dir(Task)) if cls in TASKS.values() else {"forward", "extra_repr"}
    lines = []
    for name, member in own_and_inherited(cls).items():
        if (name.startswith("_") and name != "__call__") or name in known:
            continue
        function = inspect.unwrap(getattr(member, "__func__", member))
        summary = (inspect.getdoc(function) or "").partition("\n\n")[0].replace("\n", " ")
        if isinstance(member, property) or hasattr(member, "attrname"):
            lines.append(f"- `{name}`: {summary}")
        elif inspect.isfunction(function):
            arguments = ", ".join(a for a in inspect.signature(function).parameters if a != "self")
            lines.append(f"- `{name}({arguments})`: {summary}")
            if getattr(cls, "_is_protocol", False):
                lines += described_arguments(function)
    more = "\n\nIts members are those of [`Task`](#task)." if cls in TASKS.values() else ""
    return ("**Members**\n\n" + "\n".join(lines) + more if lines else more).strip()


def own_and_inherited(cls: type) -> dict[str, Any]:
    """Collect the members of a class and of its bases in the package, except protocols."""
    ours = [base for base in reversed(cls.__mro__) if base is cls or is_of_the_house(base)]
    return {name: member for base in ours for name, member in vars(base).items()}


def described_arguments(function: Any) -> Iterator[str]:
    """Format the arguments of a member that users write themselves."""
    for part in described(function, PARSER.parse(inspect.getdoc(function) or "")):
        if is_argument(part):
            yield f"  - `{part.arg_name}`: {on_one_line(part.description or '')}"


def compiled(thing: Any) -> str:
    """Describe a layer under `torch.compile` by the last record, if any."""
    path = max(COMPILED.glob("*.json"))
    for line in json.loads(path.read_text(encoding="utf-8"))["lines"]:
        if line["name"] == thing.__name__:
            pairs = zip(line["compiled"], line["eager"], strict=True)
            ratio = median(one / other for one, other in pairs)
            where = f"../../{path.with_suffix('.md').relative_to(COMPILED.parents[2])}"
            return (
                f"Under `torch.compile` a pass forward and backward takes {ratio:.2f} times as "
                f"long as in eager mode, after {line['compile']:.0f} s of compilation "
                f"([measured]({where}))."
            )
    return ""


def beside_lstm(thing: Any) -> str:
    """Compare a sequence layer with `torch.nn.LSTM` by the last record, if any."""
    path = max(SEQUENCES.glob("*.json"))
    results = json.loads(path.read_text(encoding="utf-8"))
    lines = {line["name"]: line["seconds"] for line in results["lines"]}
    if thing.__name__ not in lines:
        return ""
    pairs = zip(lines[thing.__name__], lines["torch.nn.LSTM"], strict=True)
    ratio = median(one / other for one, other in pairs)
    where = f"../../{path.with_suffix('.md').relative_to(COMPILED.parents[2])}"
    return (
        f"With equal parameters a pass forward and backward over {results['settings']['time']} "
        f"steps takes {ratio:.1f} times as long as that of `torch.nn.LSTM` on one thread "
        f"([measured]({where}))."
    )


def measured(task: Any) -> str:
    """Describe sizes, floor and ceiling, from the task itself."""
    first = task()
    if isinstance(first, NeedsFiles):
        return f"{as_drawn(first)}; problems are read from files, and so not measured here."
    columns = ["training", "test", "test regime", "distance", "floor", "ceiling"]
    if hasattr(first, "withheld"):
        made = {f"| {withheld} ": task_or_none(task, withheld) for withheld in WITHHELD}
        columns = ["m", *columns]
    else:
        made = {"": first}
    rows = [f"| {' | '.join(columns)} |", "|--:" * len(columns) + "|"]
    for head, variant in made.items():
        rows += [head + row for row in measured_rows(variant)] if variant else []
    about = f"{as_drawn(first)}; problems of each set, floor and ceiling of the test."
    return about + "\n\n" + "\n".join(rows)


def as_drawn(task: Any) -> str:
    """Describe the shapes and contents of the problems of a task."""
    contexts = " ".join(steps_of(segment) for segment in task.segments)
    outputs = "1 output" if task.num_outputs == 1 else f"{task.num_outputs} outputs"
    return (
        f"**As drawn** (version {task.version}): items of {task.item_shape}, "
        f"{task.length} time steps, contexts {contexts}, {outputs}"
    )


def steps_of(segment: tuple[int, ...]) -> str:
    """Format the time steps of a context; consecutive steps by their ends."""
    first, last = segment[0], segment[-1]
    in_a_row = segment == tuple(range(first, last + 1))
    return f"({first}, …, {last})" if in_a_row and len(segment) > 20 else str(segment)


def task_or_none(task: Any, withheld: int) -> Any:
    """Make the task with a number of withheld shapes, where that leaves enough."""
    try:
        return task(withheld=withheld)
    except ValueError:
        return None


def measured_rows(task: Any) -> Iterator[str]:
    """Yield a row for each test regime of one task."""
    sets = task.draw(stream(0))
    for test in task.regimes[1:]:
        problems = sets[test.name]
        ceiling = float(task.score(task.oracle(problems), problems).mean())
        yield (
            f"| {len(sets[TRAINING]):,} | {len(problems):,} | `{test.name}` "
            f"| {test.distance:g} {test.unit} | {task.chance(test.name):.3g} | {ceiling:g} |"
        )


def main(folder: Path, names: Iterable[str] = (*PAGES, *FAMILIES)) -> None:
    """Write pages.

    Args:
        folder: Where to.
        names: Which ones; that of the tasks measures floors and ceilings, and takes longest.
    """
    folder.mkdir(parents=True, exist_ok=True)
    for name in names:
        (folder / f"{name}.md").write_text(page(name), encoding="utf-8")


if __name__ == "__main__":
    chosen = Path(sys.argv[1]) if len(sys.argv) > 1 else Path(__file__).parent / "cards"
    main(chosen, sys.argv[2:] or (*PAGES, *FAMILIES))
