"""The user's class, from a file and its name."""

from __future__ import annotations

import importlib
import sys
from pathlib import Path

from torch import nn

from farfield.core import expand_home

WANTED = "module must be FILE.py:CLASS, e.g. my_module.py:MyReasoner"


def load_module(words: str) -> type[nn.Module]:
    """A class of networks from a file, which is imported as `import` would from its folder.

    The folder is put first on the path, so that worker processes find the file as well.

    Args:
        words: The file and the class, e.g. `my_module.py:MyReasoner`.

    Raises:
        ValueError: If there is no such file or class in it, the file cannot be imported, or another
            module has its name.
    """
    file, sign, name = words.rpartition(":")
    if not sign or not name.isidentifier() or not file.endswith(".py"):
        raise ValueError(f"{WANTED}, got {words!r}")
    path = expand_home(file).absolute()
    if not path.is_file():
        raise ValueError(f"{WANTED}, got {words!r}: there is no file {path}")
    sys.path.insert(0, str(path.parent))
    try:
        module = importlib.import_module(path.stem)
    except Exception as error:
        raise ValueError(
            f"module must be a file that can be imported, got {path}: {type(error).__name__}: "
            f"{error}"
        ) from error
    if Path(getattr(module, "__file__", None) or "") != path:
        raise ValueError(
            f"module must have a name that no other module has, got {path}: {path.stem} is "
            f"{getattr(module, '__file__', 'a part of Python')}; rename the file"
        )
    found = getattr(module, name, None)
    if not (isinstance(found, type) and issubclass(found, nn.Module)):
        parts = {one: part for one, part in vars(module).items() if isinstance(part, type)}
        theirs = [
            one for one, part in parts.items()
            if issubclass(part, nn.Module) and part.__module__ == path.stem
        ]  # fmt: skip
        raise ValueError(
            f"module must name a class of torch.nn.Module in {path.name}, got {name!r}; it has "
            f"{', '.join(theirs) or 'none'}"
        )
    return found
