"""Inputs of a run beside its experiment: files of the task, and what code reads meanwhile."""

from __future__ import annotations

import contextlib
import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Final, final

from torch.nn.modules import module
from torch.optim import optimizer

from farfield._watch import Watch, short_path
from farfield.core import file_digest, file_stamp, printable
from farfield.experiments import Experiment
from farfield.tasks import ReadsFiles, cache_folder, changed_files, file_digests

MOST_FILES: Final = 1_000
"""Largest number of files of a run that have a digest though no task names them."""
MOST_BYTES: Final = 2**30
"""Largest size of such files together."""
MOST_WORDS: Final = 20
"""Largest number of other inputs that a record names."""

_opened: Final = dict[str, dict[str, tuple[int, ...]]]()
"""Files that runs of an experiment opened in this process, by its key: another seed may find what
they held in memory."""


@final
class Inputs:
    """Context manager that notes what a run reads beside its experiment.

    Args:
        experiment: What is run.
        checkpoint: File of the run, which is left out.

    Raises:
        ValueError: If a file of the task cannot be read.
    """

    def __init__(self, experiment: Experiment, checkpoint: Path | None = None) -> None:
        task = experiment.task
        self._experiment, self._files = experiment, file_digests(task)
        files = [*task.input_files().values()] if isinstance(task, ReadsFiles) else []
        folders = list[Path]()
        with contextlib.suppress(OSError):
            folders.append(cache_folder())
        self._watch = Watch(folders, files if checkpoint is None else [*files, checkpoint])

    def __enter__(self) -> Inputs:
        self._watch.__enter__()
        for words in _hooks_on_all():
            self._watch.note(words)
        return self

    def __exit__(self, *error: object) -> None:
        self._watch.__exit__(*error)

    def files(self) -> dict[str, str]:
        """SHA-256 of the files that were read: those of the task by their names, others by path."""
        return self._files | self._others()[0]

    def described(self) -> dict[str, str]:
        """Inputs as a record states them, where there are some.

        Raises:
            ValueError: If a file of the task was changed meanwhile.
        """
        if changed := changed_files(self._experiment.task, self._files):
            raise ValueError(
                f"the files of {self._experiment.task.name} must stay as they are while a run "
                f"reads them: {'; '.join(changed)}"
            )
        files, words = self._others()
        words = [*words, *self._watch.others]
        if len(words) > MOST_WORDS:
            words[MOST_WORDS:] = [f"{len(words) - MOST_WORDS:,} more"]
        found = {"files": json.dumps(self._files | files) if self._files or files else ""}
        found["inputs"] = "; ".join(map(printable, words))
        return {name: text for name, text in found.items() if text}

    def _others(self) -> tuple[dict[str, str], list[str]]:
        """Digests of the files that the task does not name, and what has none in words."""
        opened = _opened.setdefault(self._experiment.key, {})
        opened |= self._watch.files
        digests, words, left, more = dict[str, str](), list[str](), MOST_BYTES, 0
        for path, stamp in opened.items():
            name = short_path(path)
            with contextlib.suppress(OSError):
                if file_stamp(Path(path)) == stamp:
                    if len(digests) == MOST_FILES or (left := left - stamp[2]) < 0:
                        more += 1
                    else:
                        digests[name] = file_digest(Path(path))
                    continue
            words.append(f"{name}, which was changed meanwhile")
        return digests, words + [f"{more:,} more files"] * bool(more)


def changed_inputs(experiment: Experiment, recorded: Mapping[str, str]) -> list[str]:
    """Files that are not those that a run read, in words.

    Args:
        experiment: What was run.
        recorded: What `Inputs.files` gave then; files that are not on this machine are left out.
    """
    other = {name: digest for name, digest in recorded.items() if is_path(name)}
    words = changed_files(
        experiment.task, {name: recorded[name] for name in recorded.keys() - other.keys()}
    )
    for name, digest in other.items():
        with contextlib.suppress(OSError, RuntimeError):
            if file_digest(Path(name).expanduser()) != digest:
                words.append(printable(f"{name} has other content"))
    return words


def is_path(name: str) -> bool:
    """True if a record names a file by its path, as it does where no task names it.

    Args:
        name: Name of a file in a record.
    """
    return name.startswith("~") or Path(name).is_absolute()


def _hooks_on_all() -> list[str]:
    """Hooks of torch that act on every module or optimizer, in words."""
    found = dict[str, Any]()
    for file, what in ((module, "module"), (optimizer, "optimizer")):
        for name, hooks in vars(file).items():
            if name.startswith("_global_") and isinstance(hooks, dict) and hooks:
                names = [getattr(h, "__qualname__", "") for h in hooks.values() if callable(h)]
                found |= {f"a hook on every {what}, {own}": None for own in names}
    return [*found]


def words_of(files: Mapping[str, str], inputs: str) -> Sequence[str]:
    """Inputs that no key knows, in words.

    Args:
        files: Files of a record, by digest.
        inputs: Other inputs, as a record has them.
    """
    return [*filter(is_path, files), *filter(None, [inputs])]
