"""A second process for pictures and trained networks, with limits of time and memory.

It imports the pages once and then answers request after request. Where one takes more than it may,
the process is killed, the request is refused in words, and a new process is started.
"""

from __future__ import annotations

import atexit
import contextlib
import os
import queue
import subprocess
import sys
import threading
import traceback
from collections.abc import Callable, Iterator, Sequence
from importlib import import_module
from pathlib import Path
from typing import IO, Any, Final, final

import msgspec
from starlette.datastructures import QueryParams
from starlette.exceptions import HTTPException

from farfield._errors import FarfieldError, lacks_memory
from farfield._interrupts import held_interrupts
from farfield._system import limit_memory

SECONDS: Final = 10.0
"""Longest time that an answer takes; the slowest picture of a task as it comes takes three."""

STARTING: Final = 120.0
"""Longest time in which the process imports the pages, on a busy machine too."""

MEMORY: Final = 1 << 30
"""Most bytes that an answer takes; the largest picture of a task as it comes takes a quarter."""

STATUS: Final[dict[type[Exception], int]] = {
    ValueError: 400, FarfieldError: 404, OSError: 404, ModuleNotFoundError: 404,
}  # fmt: skip
"""Errors whose message says all, and their status."""

_TOO_MUCH: Final = 413
"""Status of a request that takes too much memory or time."""

_CODE: Final = (
    "import sys; sys.path.append(sys.argv[1]); from farfield.explorer._child import answer_requests"
    "; answer_requests()"
)

_Call = tuple[str, Sequence[str], Sequence[tuple[str, str]]]
"""Function of `_pages`, the folders, and the words of the request."""


def status_of(error: Exception) -> int:
    """Choose the status of an error with a complete message.

    Args:
        error: One of the classes of `STATUS`.
    """
    return next(status for kind, status in STATUS.items() if isinstance(error, kind))


@final
class Child:
    """The process, started when it is first needed, or before."""

    def __init__(self) -> None:
        self._asking = threading.Lock()
        self._starting = threading.Lock()
        self._process: subprocess.Popen[bytes] | None = None
        self._is_ready = self._is_closed = False
        atexit.register(self._end)

    def start(self) -> None:
        """Start the process, unless it runs or was closed; its imports are not waited for."""
        with self._starting:
            if self._is_closed or (self._process and self._process.poll() is None):
                return
            self._end()
            root = str(Path(__file__).resolve().parents[2])
            with held_interrupts():
                self._process = subprocess.Popen(
                    [sys.executable, "-P", "-c", _CODE, root],
                    stdin=subprocess.PIPE,
                    stdout=subprocess.PIPE,
                    env=os.environ | dict.fromkeys(("OMP_NUM_THREADS", "MKL_NUM_THREADS"), "1"),
                )

    def ask(self, *call: Any) -> Any:
        """Call a function of `_pages`; one request is answered after the other.

        Args:
            call: The name of the function, the folders, and the words of the request.

        Raises:
            HTTPException: If the request is refused, with the reason in words.
        """
        with self._asking:
            self.start()
            status, found = self._answer(call)
            if status == _TOO_MUCH:
                self._end()  # its memory is not released
            if status != 200:
                self.start()
                raise HTTPException(status, found)
            return found

    def close(self) -> None:
        """End the process for good; a request under way is refused."""
        self._is_closed = True
        if self._process:
            self._process.kill()

    def _answer(self, call: tuple[Any, ...]) -> tuple[int, Any]:
        process = self._process
        if process is None or process.stdin is None or process.stdout is None:
            return 503, "the explorer is ending"
        late = threading.Event()

        def end() -> None:
            late.set()
            process.kill()

        try:
            if not self._is_ready:
                with _timer(STARTING, end):
                    _receive(process.stdout)
                self._is_ready = True
            with _timer(SECONDS, end):
                _send(process.stdin, call)
                status, found = _receive(process.stdout)
                return status, found
        except (EOFError, OSError):
            pass
        if self._is_closed:
            return 503, "the explorer is ending"
        if late.is_set():
            return _TOO_MUCH, f"this takes longer than {SECONDS:g} s: ask for fewer or smaller ones"
        return _TOO_MUCH, (
            f"the process that draws ended with status {process.wait()}, as one that finds "
            "too little memory: ask for fewer or smaller ones"
        )

    def _end(self) -> None:
        """End the process that there is."""
        self._is_ready = False
        if process := self._process:
            process.kill()
            process.wait()
            for pipe in (process.stdin, process.stdout):
                if pipe:
                    with contextlib.suppress(OSError):  # the rest of the request
                        pipe.close()
        self._process = None


@contextlib.contextmanager
def _timer(seconds: float, act: Callable[[], None]) -> Iterator[None]:
    """Call a function unless the block ends in time."""
    timer = threading.Timer(seconds, act)
    timer.daemon = True
    timer.start()
    try:
        yield
    finally:
        timer.cancel()


def answer_requests() -> None:
    """Answer requests from standard input until it ends: the work of the process."""
    try:
        replies = os.fdopen(os.dup(1), "wb")
        os.dup2(2, 1)  # prints of a module go to standard error
        calls: queue.SimpleQueue[_Call] = queue.SimpleQueue()
        threading.Thread(target=_read, args=(sys.stdin.buffer, calls), daemon=True).start()
        pages = import_module("farfield.explorer._pages")
        limit_memory(MEMORY)
        _send(replies, None)
        while True:
            _send(replies, answer(pages, calls.get()))
    except BaseException:  # noqa: BLE001 — the thread that reads would hold up any other end
        traceback.print_exc()
        os._exit(1)


def _read(requests: IO[bytes], calls: queue.SimpleQueue[_Call]) -> None:
    """Read requests; the process ends with the one that asks."""
    while True:
        try:
            calls.put(_receive(requests))
        except (EOFError, OSError):
            os._exit(0)


def _send(pipe: IO[bytes], message: object) -> None:
    """Write a message, its length in eight bytes first; dataclasses become mappings."""
    content = msgspec.msgpack.encode(message, enc_hook=str)
    pipe.write(len(content).to_bytes(8, "little") + content)
    pipe.flush()


def _receive(pipe: IO[bytes]) -> Any:
    """Read a message.

    Raises:
        EOFError: If the pipe ends before.
    """
    length = pipe.read(8)
    content = pipe.read(int.from_bytes(length, "little"))
    if len(length) < 8 or len(content) < int.from_bytes(length, "little"):
        raise EOFError
    return msgspec.msgpack.decode(content)


def answer(pages: Any, call: _Call) -> tuple[int, Any]:
    """Return the status of a request, and its result or the reason that there is none.

    Args:
        pages: The module of the pages.
        call: The request.
    """
    function, folders, words = call
    try:
        return 200, getattr(pages, function)(
            pages.source_of(*map(Path, folders)),
            QueryParams([(name, text) for name, text in words]),
        )
    except Exception as error:  # noqa: BLE001 — the next request is answered, whatever this one does
        if lacks_memory(error):
            return _TOO_MUCH, (
                f"this takes more than {MEMORY >> 30} GiB of memory: ask for fewer or smaller ones"
            )
        if isinstance(error, (*STATUS,)):
            return status_of(error), str(error)
        traceback.print_exc()
        return 500, f"this cannot be shown: {type(error).__name__}: {error}"
