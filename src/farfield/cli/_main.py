"""From words on the command line to a command, and from errors to an exit status."""

from __future__ import annotations

import contextlib
import dataclasses
import gc
import io
import os
import sys
import tempfile
import warnings
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from importlib import import_module
from pathlib import Path
from typing import Any, Final, TextIO

import tyro

import farfield
from farfield._errors import FarfieldError, UnknownNameError, lacks_memory
from farfield._files import expand_home
from farfield._interrupts import held_interrupts
from farfield._text import printable
from farfield.cli._arguments import (
    COMMANDS,
    REPORTS,
    Bench,
    Cite,
    Command,
    Completion,
    Explore,
    Fetch,
    List,
    OfRuns,
    Plan,
    Profile,
    Report,
    Reproduce,
    Runs,
    Search,
    Show,
    Train,
    Training,
    Verify,
    is_key,
    options_of,
)
from farfield.cli._list import check_names, fields_of

DESCRIPTION = "Farfield: generalization far from the training data."

HELP = ("-h", "--help")

ACTIONS: Final[dict[type, str]] = {
    List: "_list.list_names",
    Show: "_show.show",
    Train: "_train.train",
    Search: "_train.search",
    Bench: "_train.bench_module",
    Profile: "_profile.profile_model",
    Reproduce: "_reproduce.reproduce",
    Plan: "_reproduce.plan",
    Verify: "_verify.verify_records",
    Report: "_report.report",
    Explore: "_show.explore",
    Runs: "_runs.do",
    Fetch: "_fetch.fetch_data",
    Cite: "_list.cite",
    Completion: "_list.print_script",
}
"""Module and function of each kind of command."""


def main(arguments: Sequence[str] | None = None) -> None:
    """Run one command, then end the process.

    The status is 0, 1 (a run failed, or a file cannot be read or written), 2 (a wrong argument;
    nothing was written) or 130 (interrupted).

    Args:
        arguments: Words after `farfield`; those of the process if `None`.
    """
    words = list(sys.argv[1:] if arguments is None else arguments)
    for pipe in (sys.stdout, sys.stderr):
        if isinstance(pipe, io.TextIOWrapper):
            pipe.reconfigure(errors="replace")  # a sign that a terminal lacks stops nothing
    # tyro's help and errors know nothing of NO_COLOR.
    tyro._experimental_options["ansi_codes"] = not os.environ.get("NO_COLOR")  # noqa: SLF001
    if words[:1] == ["--version"]:
        sys.stdout.write(f"farfield {farfield.__version__}\n")
        sys.exit()
    if words[:2] == ["completion", "--"]:
        from farfield.cli._list import candidates

        sys.stdout.write("".join(f"{word}\n" for word in candidates(words[2:] or [""])))
        sys.exit()
    try:
        status = _run(words)
    except KeyboardInterrupt:
        status = _say(
            "stopped; finished runs are kept, the same command goes on with the rest", 130
        )
    sys.exit(status)


def _run(words: Sequence[str]) -> int:
    """Do a command; returns the exit status."""
    if words and not words[0].startswith("-") and words[0] not in COMMANDS:
        return _unknown("command", words[0], COMMANDS)
    if _asks_for_fields(words):
        return _print_fields(words)
    command, rest = _parsed(words)
    prefix = {Show: "--task.", Reproduce: "--recipe."}.get(type(command), "--")
    takes_fields = isinstance(command, Reproduce | Show | Training)
    for word in rest:
        option = word.partition("=")[0]
        is_field = takes_fields and option.startswith(prefix) and "." in option
        if option.startswith("--") and not (is_field and not _is_unknown(option, command)):
            return _unknown("option", option, (*options_of(type(command)), *_fields_of(command)))
    if rest and not (takes_fields and rest[0].startswith("-")):
        message = (
            f"unrecognized: {' '.join(rest)}; `farfield {words[0]} --help` lists the arguments"
        )
        return _say(message, 2)
    if "--cell" in words and not all(getattr(command, "cell", ())):
        return _say("cell must name at least one cell, got none; without --cell all are run", 2)
    return _do(command, rest)


def _parsed(words: Sequence[str]) -> tuple[object, Sequence[str]]:
    """Parse a command; return the words that it does not know too."""
    command, rest = tyro.cli(
        Command,
        prog="farfield",
        description=DESCRIPTION,
        args=list(words),
        return_unknown_args=True,
    )
    return command.action if isinstance(command, OfRuns) else command, rest


def _asks_for_fields(words: Sequence[str]) -> bool:
    """Check whether help is requested for a task or model with further fields."""
    options = {word.partition("=")[0] for word in words}
    if options.isdisjoint(HELP):
        return False
    if words[0] == "show":
        return not (words[1].startswith("-") or is_key(words[1]))
    return words[0] in ("train", "search") and {"--task", "--model"} <= options


def _is_unknown(option: str, command: object) -> bool:
    """Check whether an option names a field that no recipe has, e.g. `--recipe.lr`."""
    known = _fields_of(command)
    field = ".".join(option.replace("_", "-").split(".")[:2])
    plain = field.replace("--recipe.no-", "--recipe.")
    return bool(known) and option.startswith("--recipe.") and not {field, plain} & {*known}


def _fields_of(command: object) -> list[str]:
    """List the fields of the task and of the recipe that a command takes, as options."""
    if not isinstance(command, Reproduce | Training):
        return []
    from farfield.experiments import Recipe

    recipe = [f"--recipe.{f.name.replace('_', '-')}" for f in dataclasses.fields(Recipe)]
    return recipe if isinstance(command, Reproduce) else [*fields_of(command.task), *recipe]


def _print_fields(words: Sequence[str]) -> int:
    """Print the help of a command and of the fields; return the exit status."""
    with contextlib.suppress(SystemExit):
        _parsed((words[0], "--help"))
    command, _ = _parsed([word for word in words if word not in HELP])
    return _do(command, ("--help",))


def _unknown(kind: str, name: str, choices: Iterable[str]) -> int:
    return _say(str(UnknownNameError(kind, name, choices)), 2)


def _do(command: object, rest: Sequence[str]) -> int:
    """Do a command that was understood; returns the exit status."""
    try:
        command = _expanded(command)
        check_names(command)
        with held_interrupts(), _uncollected():  # an interrupt of torch's loading is an abort
            act = _action(command, rest)
        _check(command)
        with warnings.catch_warnings():
            warnings.simplefilter("once", UserWarning)
            warnings.showwarning = _warn
            act()
    except (ValueError, TypeError) as error:
        return _say(str(error), 2)
    except (FarfieldError, OSError, ModuleNotFoundError) as error:
        return _say("\n\n".join([str(error), *getattr(error, "__notes__", ())]), 1)
    except OverflowError as error:
        return _say(f"a number is too large: {error}", 2)
    except (MemoryError, RuntimeError) as error:
        if not lacks_memory(error):
            raise
        return _say(f"the memory does not suffice: {' '.join(str(error).splitlines()[:1])}", 1)
    return 0


@contextlib.contextmanager
def _uncollected() -> Iterator[None]:
    """Exempt objects that are loaded in the block from garbage collection, which takes 0.5 s."""
    gc.disable()
    try:
        yield
    finally:
        if not gc.get_freeze_count():
            gc.freeze()
        gc.enable()


def _expanded(command: Any) -> object:
    """Replace `~` in the paths of a command, which shells leave in `--out=~/mine`."""
    values = {field.name: getattr(command, field.name) for field in dataclasses.fields(command)}
    paths = {name: expand_home(value) for name, value in values.items() if isinstance(value, Path)}
    return dataclasses.replace(command, **paths)


def _check(command: object) -> None:
    """Raise `ValueError` for impossible options, before a folder is made."""
    seeds = (
        command.seeds if isinstance(command, Bench | Plan | Training | Reproduce | Report) else None
    )
    if seeds is not None and seeds < 1:
        raise ValueError(f"seeds must be at least 1, got {seeds}")
    if isinstance(command, Profile) and command.device is not None:
        from farfield.execution.internal import check_machine

        check_machine(command.device)
    if isinstance(command, Bench | Plan | Training | Reproduce | Verify):
        from farfield.execution.internal import check_machine

        if isinstance(command, Training | Reproduce) and command.executor is not None:
            from farfield.cli._train import cluster_of

            cluster_of(command)
        else:
            check_machine(command.device, command.workers)
    if isinstance(command, Bench | Explore | Training | Reproduce | Report | Runs | Show | Verify):
        _nearest_folder("records", command.records)
    if isinstance(command, Bench | Profile | Reproduce | Report):
        _check_writable("out", command.out or REPORTS)


def _nearest_folder(name: str, folder: Path) -> Path:
    """Find the nearest existing folder above a path; raise `ValueError` if it is a file."""
    at = next(at for at in (folder, *folder.absolute().parents) if at.exists())
    if not at.is_dir():
        found = "it" if at == folder else str(at)
        raise ValueError(f"{name} must name a folder, got {folder}: {found} is a file")
    return at


def _check_writable(name: str, folder: Path) -> None:
    """Raise `ValueError` unless files can be made in a folder, by making one."""
    at = _nearest_folder(name, folder)
    try:
        tempfile.TemporaryDirectory(prefix=".farfield-", dir=at).cleanup()
    except OSError as error:
        raise ValueError(
            f"{name} must name a folder that can be written, got {folder}: "
            f"nothing can be made in {at} ({error.strerror})"
        ) from error


def _action(command: object, rest: Sequence[str]) -> Callable[[], object]:
    """Import the module of a command, and bind its function to the command."""
    kind = next(kind for kind in ACTIONS if isinstance(command, kind))
    module, _, name = ACTIONS[kind].partition(".")
    act = getattr(import_module(f"farfield.cli.{module}"), name)
    words = (rest,) if isinstance(command, Reproduce | Show | Training) else ()
    return partial(act, command, *words)


def _warn(
    message: Warning | str, category: type[Warning], filename: str, *_: Any, **__: Any
) -> None:
    """Show a warning in one line; one of another package names its kind and its file."""
    origin = "" if category is UserWarning else f"{category.__name__} of {Path(filename).name}: "
    _say(f"{origin}{message}", 0)


def _say(message: str, status: int, stream: TextIO | None = None) -> int:
    message = "\n".join(map(printable, message.split("\n")))  # it may quote files
    (stream or sys.stderr).write(f"farfield: {message}\n")
    return status
