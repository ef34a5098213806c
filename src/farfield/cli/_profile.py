"""Command that measures where a model of one's own stops working."""

from __future__ import annotations

import inspect
import sys
from collections.abc import Mapping
from typing import Any

from torch import nn

from farfield.cli._arguments import REPORTS, Profile
from farfield.cli._console import make_console, say
from farfield.core import FarfieldError
from farfield.core.internal import UnknownNameError, printable
from farfield.suites import mend, profile
from farfield.suites.internal import import_own, names_of_shifts, read_profile
from farfield.tasks.internal import read_arrays

OPTIONS = ("kind", "axes", "level", "items", "minutes", "seed", "device")
"""Options that are passed on as given."""

WANTED = "model must be FILE.py:NAME, e.g. my_model.py:load"

SAVED = (".joblib", ".pickle", ".pkl", ".pt", ".pth", ".safetensors", ".skops")
"""Endings of files of saved models."""


def profile_model(command: Profile) -> None:
    """Measure a model over shifts of its items, print the table and write the page.

    Args:
        command: Model, data and shifts.

    Raises:
        FarfieldError: If the model fails before a required strength.
    """
    required = dict(map(_requirement, command.require))
    earlier = None if command.against is None else read_profile(command.against)
    if command.train and not command.mend:
        raise ValueError("train is of --mend: give both, or neither")
    data = read_arrays(command.data, target=command.target)
    if command.training is not None:
        data["training"] = _training(command, data)
    console = make_console()
    options: dict[str, Any] = {
        **{name: getattr(command, name) for name in OPTIONS},
        **{name: _names(getattr(command, name)) for name in ("shifts", "without", "columns")},
        "subject": f"{command.model} on {command.data.name}",
        "report": _show_progress if sys.stderr.isatty() else None,
    }
    model = load_model(command.model)
    if required:
        _check_required(required, data, options)
    mends = None
    if command.mend:
        train = None if command.train is None else load_function(command.train)
        mends = mend(model, data, train=train, seeds=command.seeds, **options)
    found = mends.before if mends else profile(model, data, **options)
    say(console, f"\n{found}\n")
    if mends:
        say(console, f"{mends}\n")
    file, _, name = command.model.rpartition(":")
    stem = file.rpartition("/")[2].removesuffix(".py")
    folder = command.out or REPORTS / f"profile-{stem}-{name}-{command.data.stem}"
    moved = None if earlier is None else found.against(earlier)
    sections = {} if moved is None else {f"Against {command.against}": str(moved)}
    for heading, text in sections.items():
        say(console, f"{printable(heading)}:\n\n{text}\n")
    for path in (mends or found).write(folder, sections):
        say(console, f"  {printable(path)}")
    if failures := found.require(required):
        raise FarfieldError("; ".join(failures))
    for name, least in required.items():
        curve = found[name]
        say(console, f"{name} must hold to {least:g} {curve.unit}, holds to {curve.failure}")


def _training(command: Profile, data: Mapping[str, Any]) -> Any:
    """Read the set of training from the file or folder beside the data.

    Raises:
        ValueError: If the data have such a set, or the file has several sets and none of training.
    """
    path = command.training
    if path is None or "training" in data:
        raise ValueError(f"training must be left out where {command.data} has a set training")
    sets = read_arrays(path, target=command.target)
    if len(sets) > 1 and "training" not in sets:
        raise ValueError(f"training must be a file of one set, {path} has {', '.join(sets)}")
    return sets["training"] if "training" in sets else next(iter(sets.values()))


def _check_required(
    required: Mapping[str, float], data: Mapping[str, Any], options: Mapping[str, Any]
) -> None:
    """Raise `UnknownNameError` for a required shift that will not be measured."""
    given = {name: options[name] for name in ("kind", "axes", "shifts", "without", "columns")}
    names = names_of_shifts(data, **given)
    for name in required:
        if name not in names:
            raise UnknownNameError("shift", name, names)


def _show_progress(name: str) -> None:
    """Write the name of the shift that is measured over the name before it."""
    sys.stderr.write(f"\r  {printable(name):<40}\r")
    sys.stderr.flush()


def load_model(words: str) -> Any:
    """Load a model from a file of the user's.

    Args:
        words: The file and the name of a function without arguments that returns the model, of the
            model itself, or of a function from items to answers.

    Raises:
        ValueError: If the file has no such name, or its function fails.
    """
    if words.endswith(SAVED):
        raise ValueError(
            f"{WANTED}, got {words!r}; a saved model needs such a function: "
            f'def load(): return joblib.load("{words}"), or of torch, a module with its weights'
        )
    module, name = import_own(words, WANTED)
    if not hasattr(module, name):
        theirs = [one for one, part in vars(module).items() if callable(part) and one[0] != "_"]
        raise ValueError(
            f"{WANTED}, got {name!r}; the file has {', '.join(theirs) or 'no function'}"
        )
    found = getattr(module, name)
    if isinstance(found, nn.Module) or not callable(found) or not _takes_nothing(found):
        return found
    try:
        return found()
    except Exception as error:
        raise ValueError(
            f"model must be loaded by {words}, got {type(error).__name__}: {error}"
        ) from error


def load_function(words: str) -> Any:
    """Load a function from a file of the user's.

    Args:
        words: The file and the name of the function.

    Raises:
        ValueError: If the file has no such function.
    """
    module, name = import_own(words, WANTED.replace("model must", "train must"))
    found = getattr(module, name, None)
    if not callable(found):
        raise ValueError(f"train must name a function of {module.__name__}.py, got {name!r}")
    return found


def _takes_nothing(function: Any) -> bool:
    """Check whether a function or class can be called without arguments."""
    try:
        inspect.signature(function).bind()
    except (TypeError, ValueError):
        return False
    return True


def _names(words: str) -> tuple[str, ...]:
    """Return names that are separated by commas."""
    return tuple(name.strip() for name in words.split(",") if name.strip())


def _requirement(words: str) -> tuple[str, float]:
    """Return a shift and the strength to which a model must hold.

    Raises:
        ValueError: If the words are no name and number.
    """
    name, _, strength = words.rpartition(" ")
    try:
        return name, float(strength)
    except ValueError:
        raise ValueError(
            f'require must be a shift and a strength, e.g. "offset+ 0.5", got {words!r}'
        ) from None
