"""Repeatability of a run: a first step that is compared, and digests of files that are read."""

from __future__ import annotations

import contextlib
import json
import warnings
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, Final, final

import torch
from torch import Tensor
from torch.nn.modules import module
from torch.optim import optimizer

from farfield._machine import on_cpu
from farfield._watch import Watch, short_path
from farfield.core.internal import cache_folder, file_digest, file_stamp, printable
from farfield.experiments import Experiment
from farfield.tasks.internal import ReadsFiles, changed_files, file_digests

_DONE: Final = set[str]()
"""Keys of the experiments whose first step was compared in this process."""

_ROUNDING: Final = 1e-3
"""Share of a sum of magnitudes that a GPU may change, as it adds in any order."""

_MEND: Final = (
    "draw from the global generators of torch, NumPy or Python, or from generators that modules "
    "hold, which are seeded at every step; not from os.urandom, the time, a new generator, or a "
    "global that an earlier network changed"
)


@final
class FirstStep:
    """The first step of an experiment, as another network of the same seed does it.

    It is done once for every experiment and process, and not where all code is Farfield's. The
    other network is made anew, so that nothing of the one that is trained is touched.

    Args:
        learner: The network that is to be trained, before its first step.
        experiment: Its experiment.
        step: Number of the step; after the first one, nothing is compared.
    """

    def __init__(self, learner: Any, experiment: Experiment, step: int) -> None:
        self._found: dict[str, Tensor] | None = None
        self._reason = ""
        self._key: str | None = None
        again: Callable[[], Any] | None = getattr(learner, "again", None)
        if again is None:
            return
        learner.again = None  # which holds the weights that it starts from
        if step or experiment.key in _DONE:
            return
        self._key = experiment.key
        if not _is_of_users(experiment):
            return
        try:
            other = again()
            name = _difference(_before(other), _before(learner))
            self._found = None if name else _after(other, other.update(0))
        except Exception as error:  # noqa: BLE001 — which the step itself raises in a moment, if at all
            self._reason = str(error) or type(error).__name__
            return
        if name is not None:
            raise _refusal(name)

    def check(self, learner: Any, loss: Tensor) -> None:
        """Raise `ValueError` if the first step of the network was another one.

        Args:
            learner: The network after its first step.
            loss: The loss of that step.

        Raises:
            ValueError: If the loss, a gradient, a parameter or a buffer differs.
        """
        if self._reason:
            warnings.warn(
                f"the first step could not be done twice ({self._reason}), so that nobody knows "
                "whether the experiment is repeatable",
                stacklevel=3,
            )
        if self._found is not None:
            name = _difference(self._found, _after(learner, loss))
            if name is not None:
                raise _refusal(name)
        self._found, self._reason = None, ""
        if self._key is not None:
            _DONE.add(self._key)
            self._key = None


def _is_of_users(experiment: Experiment) -> bool:
    """Tell if it is an experiment with code of the user's, whose key must be the same as before."""
    described = experiment.to_json()
    if experiment.key_of(described) != experiment.key:
        raise ValueError(
            "the experiment must be repeatable, and to draw its problems or to make its network "
            "changed a value that its code refers to, as a global; keep it in the task or module"
        )
    return '"source":' in json.dumps(described, separators=(",", ":"))


def _before(learner: Any) -> dict[str, Tensor]:
    drawn = learner.first_problems() if hasattr(learner, "first_problems") else {}
    problems = {f"the {name} of the training problems": part for name, part in drawn.items()}
    return problems | {f"the first {name}": part for name, part in _tensors(learner).items()}


def _after(learner: Any, loss: Tensor) -> dict[str, Tensor]:
    named = learner.model.named_parameters()
    gradients = {f"the gradient of {name}": p.grad for name, p in named if p.grad is not None}
    return {"the loss": loss} | gradients | _tensors(learner)


def _tensors(learner: Any) -> dict[str, Tensor]:
    state = learner.model.state_dict()
    return {name: part for name, part in state.items() if isinstance(part, Tensor)}


def _difference(first: dict[str, Tensor], second: dict[str, Tensor]) -> str | None:
    """Find the name of the first tensor that differs, else `None`."""
    for name in first | second:
        if name not in first or name not in second or not _is_same(first[name], second[name]):
            return name
    return None


def _refusal(name: str) -> ValueError:
    return ValueError(
        "the experiment must be repeatable, and its first step, done twice with the same seed, had "
        f"other values of {name}; {_MEND}"
    )


def _is_same(first: Tensor, second: Tensor) -> bool:
    if first.shape != second.shape or first.dtype != second.dtype:
        return False
    if first.is_floating_point() and not on_cpu(first):
        most = _ROUNDING * float(first.detach().nan_to_num().abs().sum())
        return torch.allclose(first, second, rtol=0.0, atol=most, equal_nan=True)
    equal = first.detach() == second.detach()
    both_nan = (first != first) & (second != second)  # noqa: PLR0124 — true of nan alone
    return bool((equal | both_nan).all())


MOST_FILES: Final = 1_000
"""Largest number of files of a run that have a digest though no task names them."""
MOST_BYTES: Final = 2**30
"""Largest size of these files together."""
MOST_WORDS: Final = 20
"""Largest number of other inputs that a record names."""

_opened: Final = dict[str, dict[str, tuple[int, ...]]]()
"""Files that runs of an experiment opened in this process, by its key: another seed may find their
content in memory."""


@final
class Inputs:
    """Context manager that notes the inputs of a run beside its experiment.

    Args:
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
        """Compute SHA-256 of the read files: files of the task by name, other files by path."""
        return self._files | self._others()[0]

    def described(self) -> dict[str, str]:
        """Describe inputs as a record states them, if there are any.

        Raises:
            ValueError: If a file of the task was changed meanwhile.
        """
        if changed := changed_files(self._experiment.task, self._files):
            raise ValueError(
                f"the files of {self._experiment.task.name} must not change while a run "
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
        """Digest the files that the task does not name; inputs without digest are in words."""
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
    """List the files that changed since a run read them, in words.

    Args:
        recorded: Result of `Inputs.files` in the run; files that this machine lacks are left out.
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
    """Tell if a record names a file by its path, as it does where no task names it.

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
    """List the inputs that no key knows, in words.

    Args:
        files: Files of a record, by digest.
        inputs: Other inputs, as a record has them.
    """
    return [*filter(is_path, files), *filter(None, [inputs])]
