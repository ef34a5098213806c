"""Watch of the reads of a thread: files, folders, variables of the environment, other programs."""

from __future__ import annotations

import contextlib
import os
import sys
import sysconfig
import tempfile
import threading
from collections.abc import Callable, Iterable, Iterator
from functools import cache
from pathlib import Path
from types import FrameType
from typing import Any, Final, final

from farfield._files import file_stamp

_PACKAGE: Final = str(Path(__file__).resolve().parent)
_PYTHON: Final = tuple(
    {
        str(Path(sysconfig.get_path(name)).resolve()): None
        for name in ("stdlib", "platstdlib")
        if name in sysconfig.get_path_names()
    }
)
_SITE: Final = ("site-packages", "dist-packages")
_SYSTEM: Final = tuple(
    f"{os.sep}{name}{os.sep}" for name in ("proc", "sys", "dev", "etc", "usr/lib", "usr/share")
)
"""Folders of the system, whose files are no data."""
_CODE: Final = (".py", ".pyc", ".pyi", ".so", ".pyd", ".dll", ".dylib")
_COMPILERS: Final = ("farfield", "torch", "triton")
"""Packages that list folders, and start compilers, for their own ends."""
_RANDOM: Final = ("/dev/random", "/dev/urandom")

_EVENTS: Final[dict[str, Callable[[Watch, Any], None]]] = {
    "open": lambda watch, given: watch.note_file(*given),
    "os.listdir": lambda watch, given: watch.note_folder(given[0]),
    "os.scandir": lambda watch, given: watch.note_folder(given[0]),
    "sqlite3.connect": lambda watch, given: watch.note_file(given[0], "r", 0),
    "socket.connect": lambda watch, _: watch.note("a connection to the network"),
    "subprocess.Popen": lambda watch, given: watch.note_program(given[0], given[1]),
    "os.system": lambda watch, given: watch.note_program(given[0], ()),
    "os.posix_spawn": lambda watch, given: watch.note_program(given[0], ()),
}
"""Action at each event of Python's audit, with its arguments."""


@final
class Watch:
    """Context manager that records the reads of its thread.

    Files of Python, of installed packages, of Farfield and of the system are left out, and so is
    everything read while a module is imported.

    Args:
        folders: Folders whose files are left out as well.
        files: Files that are left out as well, links followed.

    Attributes:
        files: Stamp of each file that was opened to be read, when it was first opened.
        others: Everything else, in words.
    """

    def __init__(self, folders: Iterable[Path] = (), files: Iterable[Path] = ()) -> None:
        self.files: dict[str, tuple[int, ...]] = {}
        self.others: dict[str, None] = {}
        self._folders = tuple(f"{path.absolute()}{os.sep}" for path in folders)
        self._files = {os.path.realpath(path) for path in files}
        self._seen: set[Any] = set()
        self._before: Watch | None = None
        self._top: FrameType | None = None

    def __enter__(self) -> Watch:
        _install()
        self._top = sys._getframe(1)  # noqa: SLF001
        thread = threading.get_ident()
        self._before = _watches.get(thread)
        _watches[thread] = self
        return self

    def __exit__(self, *_: object) -> None:
        _restore(threading.get_ident(), self._before)
        self._top = None

    def note(self, words: str) -> None:
        """Note something in words.

        Args:
            words: Description of the read.
        """
        if words not in self.others and not self._is_import():
            self.others[words] = None

    def note_file(self, path: Any, mode: Any, flags: Any) -> None:
        """Note a file that is opened, unless it is opened to be written, or was written before.

        Args:
            path: Its path as given to Python.
            mode: The mode of `open`; `None` where the system's is called.
            flags: The flags of the system.
        """
        if isinstance(path, int) or path in self._seen:
            return
        self._seen.add(path)
        reads = "r" in mode if isinstance(mode, str) else not flags & (os.O_WRONLY | os.O_RDWR)
        name = _absolute(path)
        if not reads or name in _RANDOM:
            if name in _RANDOM:
                self.note(f"random numbers of the system ({name})")
            return
        if self._is_ignored(name) or name.endswith(_CODE) or self._is_import():
            return
        with contextlib.suppress(OSError, ValueError):
            if (file := Path(name)).is_file():
                self.files[name] = file_stamp(file)

    def note_folder(self, path: Any) -> None:
        """Note a folder that is listed.

        Args:
            path: Its path as given to Python.
        """
        if isinstance(path, int) or ("folder", path) in self._seen:
            return
        self._seen.add(("folder", path))
        name = _absolute("." if path is None else path)
        if not self._is_ignored(name) and self._caller() not in _COMPILERS:
            self.note(f"the list of a folder, {short_path(name)}")

    def note_program(self, program: Any, words: Any) -> None:
        """Note a program that is started.

        Args:
            program: Its path, if that is given.
            words: Its words, the first of them its name.
        """
        name = program or (words if isinstance(words, str) else next(iter(words), ""))
        if self._caller() not in _COMPILERS:
            self.note(f"another program, {Path(os.fsdecode(name)).name}")

    def note_variable(self, name: Any) -> None:
        """Note a variable of the environment that code of the user's reads.

        Args:
            name: Its name.
        """
        if name not in self._seen and self._is_read_by_the_user():
            self._seen.add(name)
            self.note(f"the variable {name} of the environment")

    def _frames(self) -> Iterator[FrameType]:
        """Yield the frames inside of the context and outside of this file, the innermost first."""
        frame: FrameType | None = sys._getframe(1)  # noqa: SLF001
        while frame is not None and frame is not self._top:
            if frame.f_code.co_filename != __file__:
                yield frame
            frame = frame.f_back

    def _is_import(self) -> bool:
        """Check whether a module is being imported."""
        files = (frame.f_code.co_filename for frame in self._frames())
        return any(file.startswith("<frozen importlib") for file in files)

    def _caller(self) -> str:
        """Find the innermost package that is not Python's."""
        names = map(_package, self._frames())
        return next((name for name in names if name not in sys.stdlib_module_names), "")

    def _is_read_by_the_user(self) -> bool:
        """Check whether code reads a variable that is not Python's, Farfield's, or of a package."""
        frames = (f for f in self._frames() if _package(f) not in ("os", "collections"))
        if (frame := next(frames, None)) is None or _package(frame) == "farfield":
            return False
        parts = Path(frame.f_code.co_filename).parts
        return _package(frame) not in sys.stdlib_module_names and not set(_SITE) & set(parts)

    def _is_ignored(self, name: str) -> bool:
        known = name.startswith((*_installed(), *_SYSTEM, *self._folders))
        return known or os.path.realpath(name) in self._files


_watches: Final = dict[int, Watch]()
"""Watch of each thread that has one."""


def _restore(thread: int, before: Watch | None) -> None:
    if before is None:
        _watches.pop(thread, None)
    else:
        _watches[thread] = before


@contextlib.contextmanager
def unwatched() -> Iterator[None]:
    """Context manager: this thread is not watched meanwhile."""
    thread = threading.get_ident()
    before = _watches.pop(thread, None)
    try:
        yield
    finally:
        _restore(thread, before)


def _hook(event: str, given: tuple[Any, ...]) -> None:
    """Take an event of Python's audit; there are some at every step, so most end here."""
    if event in _EVENTS and (watch := _watches.get(threading.get_ident())) is not None:
        _watches.pop(threading.get_ident())  # the code below opens files and reads variables
        with contextlib.suppress(Exception):  # which would stop the watched code
            _EVENTS[event](watch, given)
        _watches[threading.get_ident()] = watch


_installing: Final = threading.Lock()
_hooks: Final = list[Callable[..., None]]()


def _install() -> None:
    """Install the hook of Python's audit once in a process, as it cannot be removed."""
    with _installing:
        if _hooks:
            return
        _hooks.append(_hook)
        sys.addaudithook(_hook)
        encode = getattr(os.environ, "encodekey", None)
        if encode is None:  # a Python whose environment is made otherwise
            return

        def encode_noted(name: Any) -> Any:
            if (watch := _watches.get(threading.get_ident())) is not None:
                with unwatched():
                    watch.note_variable(name)
            return encode(name)

        os.environ.encodekey = encode_noted


@cache
def _installed() -> tuple[str, ...]:
    """List the beginnings of the paths of Python, of packages, and of compilers' caches."""
    kept = (f"torchinductor_{os.environ.get('USER', '')}", "torchinductor", "triton")
    folders = {
        *_PYTHON,
        _PACKAGE,
        *map(sysconfig.get_path, ("purelib", "platlib")),
        *(str(Path(tempfile.gettempdir()) / name) for name in kept),
        str(Path("~/.triton").expanduser()),
        *filter(None, map(os.environ.get, ("TORCHINDUCTOR_CACHE_DIR", "TRITON_CACHE_DIR"))),
    }
    return tuple(folder + os.sep for folder in folders)


def _absolute(path: Any) -> str:
    """Make a path of Python absolute, without following links."""
    return os.path.abspath(os.fsdecode(path))  # noqa: PTH100


def short_path(path: str) -> str:
    """Write a path with `~` for the home folder, as in records.

    Args:
        path: An absolute path.
    """
    home = os.path.expanduser("~")  # noqa: PTH111
    return f"~{path[len(home) :]}" if path.startswith(home + os.sep) else path


def _package(frame: FrameType) -> str:
    """Name the package of a frame's code."""
    return str(frame.f_globals.get("__name__", "")).partition(".")[0]
