"""Fetch of data sets into the cache, only when asked for, and digests of files for records."""

from __future__ import annotations

import contextlib
import hashlib
import http.client
import io
import os
import socket
import sys
import time
from collections.abc import Callable, Collection, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any, Final, final
from urllib.error import HTTPError
from urllib.parse import urljoin, urlsplit
from urllib.request import (
    HTTPHandler,
    HTTPRedirectHandler,
    HTTPSHandler,
    OpenerDirector,
    Request,
    build_opener,
    url2pathname,
)

import msgspec

from farfield.core.internal import (
    UnknownNameError,
    cache_folder,
    check_arguments,
    excerpt,
    file_digest,
    file_stamp,
    is_settled,
    kind_of,
    open_regular,
    printable,
    read_regular,
    write_whole,
)
from farfield.tasks._files._data_sets import DataFile, check_digest
from farfield.tasks._files._known_data_sets import DATA_SETS
from farfield.tasks._protocol._abilities import ReadsFiles

MOST_NAMED: Final = 1_000
"""Largest number of files that have a digest each in a record; more have one for each folder."""
_LARGEST: Final = 2**30
_Known = dict[str, tuple[tuple[int, ...], str]]
"""Stamp and digest of each file of a set, by its path."""


def file_digests(task: Any) -> dict[str, str]:
    """Compute the SHA-256 of the files that a task reads, by name; empty if it names no files.

    Of more than 1,000 files, one digest for each folder, over the names and the digests in it.
    The digests of the files are then kept in the cache folder, so that another process reads
    changed files only.

    Args:
        task: Any task; a file that is missing is left out.

    Raises:
        ValueError: If a folder is missing, or a file cannot be read.
    """
    return _named(task.input_files()) if isinstance(task, ReadsFiles) else {}


def _named(files: Mapping[str, Path]) -> dict[str, str]:
    """Compute digests of files by their names, or of their folders if there are many."""
    if len(files) <= MOST_NAMED:
        return {name: _digest(path) for name, path in sorted(files.items()) if path.exists()}
    folders: dict[str, Any] = {}
    for name, digest in _many(files).items():
        folder = folders.setdefault(_folder(name), hashlib.sha256())
        folder.update(name.encode("utf-8", "surrogatepass") + b"\0" + digest.encode())
    return {folder: digest.hexdigest() for folder, digest in folders.items()}


def changed_files(task: Any, recorded: Mapping[str, str]) -> list[str]:
    """Describe the files of a task that differ from a record; none if all are missing.

    Args:
        recorded: Digests of `file_digests` when the run was recorded.

    Raises:
        ValueError: If a file cannot be read.
    """
    if not recorded or not isinstance(task, ReadsFiles):
        return []
    try:
        files = task.input_files()
    except ValueError:  # the folder is on another machine
        return []
    found = _named(files)
    if found.keys().isdisjoint(recorded) and not any(path.exists() for path in files.values()):
        return []
    words = []
    for name in sorted(recorded.keys() | found.keys()):
        if name not in found:
            words.append(f"{name} is missing")
        elif name not in recorded:
            words.append(f"{name} is new")
        elif found[name] != recorded[name]:
            words.append(f"{name} has other content{_changed_last(files, name)}")
    return [printable(word) for word in words]


def _changed_last(files: Mapping[str, Path], name: str) -> str:
    """Name the file that was changed last, where a folder has one digest."""
    own = [(path, file) for file, path in files.items() if _folder(file) == name]
    if name in files or not own:
        return ""
    return f" (changed last: {max(own, key=lambda one: max(file_stamp(one[0])[:2]))[1]})"


def _folder(name: str) -> str:
    """Name in records of the folder of a file, where each folder has one digest."""
    folder = name.rpartition("/")[0]
    return f"{folder}/*" if folder else "*"


def _digest(path: Path) -> str:
    try:
        return file_digest(path)
    except OSError as error:
        raise ValueError(f"{printable(path)} must be readable: {error.strerror}") from error


def _many(files: Mapping[str, Path]) -> dict[str, str]:
    """Compute the digests of many files by name, anew for changed files only."""
    kept, known, settled = _digests_path(files), _Known(), _Known()
    with contextlib.suppress(OSError, msgspec.MsgspecError):
        if kept is not None:
            known = msgspec.json.decode(read_regular(kept, _LARGEST), type=_Known)
    digests = {}
    for name, path in sorted(files.items()):
        try:
            stamp = file_stamp(path)
        except OSError as error:
            raise ValueError(f"{printable(path)} must be readable: {error.strerror}") from error
        before = known.get(str(path))
        digests[name] = before[1] if before and before[0] == stamp else _digest(path)
        if is_settled(stamp):
            settled[str(path)] = stamp, digests[name]
    if kept is not None and settled != known:
        with contextlib.suppress(OSError):
            write_whole(kept, msgspec.json.encode(settled))
    return digests


def _digests_path(files: Mapping[str, Path]) -> Path | None:
    """Return the cache file of the digests of a set of files; `None` without a user's folder."""
    names = "\0".join(sorted(str(path.absolute()) for path in files.values()))
    try:
        folder = cache_folder()
    except OSError:
        return None
    digest = hashlib.sha256(names.encode("utf-8", "surrogatepass")).hexdigest()
    return folder / "digests" / f"{digest}.json"


PATIENCE: Final = 30.0
"""Seconds that an answer may take, beside the seconds for its received bytes."""
SLOWEST: Final = 50_000
"""Least bytes a second of an answer."""
MOST_REDIRECTS: Final = 5
_OVERHEAD: Final = 2**20
"""Bytes of heads, in addition to twice the bytes of the file."""
_REDIRECTS: Final = (301, 302, 303, 307, 308)


# pooch, which fetches scientific data, bounds none of the three and takes its downloads from
# `requests`, which waits as long as something drips; with downloads of our own it would add a cache
# folder and a digest, which are a dozen lines.
def check_address(address: str, schemes: Collection[str]) -> str:
    """Return the scheme of an address, and refuse other schemes.

    Args:
        address: Address of a file or folder.
        schemes: The right ones.

    Raises:
        ValueError: If it begins otherwise, or names a user, whose name and password are not
            repeated.
    """
    try:
        parts = urlsplit(address)
        _ = parts.port  # which raises for an invalid port
    except ValueError as error:
        raise ValueError(f"mirrors must be addresses: {excerpt(error)}") from error
    if "@" in parts.netloc:
        raise ValueError(
            f"mirrors must be open to all, got one with a name or password for "
            f"{printable(parts.netloc.rpartition('@')[2])}"
        )
    if parts.scheme not in schemes:
        raise ValueError(
            f"mirrors must begin with one of {', '.join(f'{s}:' for s in schemes)}, "
            f"got {excerpt(address)!r}"
        )
    if parts.scheme != "file" and not parts.hostname:
        raise ValueError(f"mirrors must name a host after {parts.scheme}://, got {address!r}")
    if not address.isprintable() or (" " in address and parts.scheme != "file"):
        raise ValueError(
            f"mirrors must be addresses, without blanks or control signs, got {excerpt(address)!r}"
        )
    return parts.scheme


def download(address: str, size: int) -> bytes:
    """Download the content of an address, up to one byte more than expected.

    Args:
        address: Address of a file, with `http`, `https` or `file`.
        size: Expected length, bytes.

    Raises:
        ValueError: If it is of another length as the answer says, or leads elsewhere than to the
            network, from `https` to `http`, or ever further.
        OSError: If the file does not exist, or the answer fails or takes too long.
    """
    if urlsplit(address).scheme == "file":
        return _read_here(address, size)
    clock = _Clock(2 * size + _OVERHEAD)
    for _ in range(MOST_REDIRECTS + 1):
        try:
            with _opener(clock).open(Request(address), timeout=clock.left()) as answer:  # noqa: S310 # checked
                return _content(answer, size)
        except HTTPError as error:
            with error:
                address = _redirected(address, error)
        except http.client.HTTPException as error:
            raise OSError(f"no answer of a mirror: {type(error).__name__} {error}") from error
    raise ValueError(f"it must be there after {MOST_REDIRECTS} redirects at most")


def _read_here(address: str, size: int) -> bytes:
    """Read a file of this machine."""
    parts = urlsplit(address)
    if parts.netloc not in {"", "localhost"}:
        raise ValueError(f"file: must be of this machine, got {printable(parts.netloc)}")
    with open_regular(Path(url2pathname(parts.path)), sys.maxsize) as file:
        return file.read(size + 1)


def _redirected(address: str, answer: HTTPError) -> str:
    """Return the target of a redirect, if it has an allowed scheme."""
    target = answer.headers.get("Location")
    if answer.code not in _REDIRECTS or target is None:
        raise OSError(f"answer {answer.code} {answer.reason}")
    to = urljoin(address, target)
    is_safe = urlsplit(address).scheme == "https"
    check_address(to, ("https",) if is_safe else ("https", "http"))
    return to


def _content(answer: http.client.HTTPResponse, size: int) -> bytes:
    """Read the body of an answer, at most as much as is needed to judge it."""
    if answer.length not in {None, size}:
        raise ValueError(f"it must be of {size:,} bytes, the answer says {answer.length:,}")
    return answer.read(size + 1)


@final
class _Clock:
    """Remaining time of a download, by the least speed allowed."""

    def __init__(self, most: int) -> None:
        self._started = time.monotonic()
        self._most = most
        self.received = 0

    def left(self) -> float:
        """Return the seconds left, more than zero."""
        if self.received > self._most:
            raise ValueError(f"it must come in at most {self._most:,} bytes, heads and all")
        left = self._started + PATIENCE + self.received / SLOWEST - time.monotonic()
        if left <= 0:
            raise TimeoutError(f"after {PATIENCE:g} s it must come at {SLOWEST:,} bytes a second")
        return left


@final
class _Timed(io.RawIOBase):
    """Reader of a socket within the time of a clock."""

    def __init__(self, opened: socket.socket, clock: _Clock) -> None:
        self._socket, self._clock = opened, clock
        self._raw = opened.makefile("rb", buffering=0)

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int | None:
        self._socket.settimeout(self._clock.left())
        count = self._raw.readinto(buffer)
        self._clock.received += count or 0
        return count

    def close(self) -> None:
        self._raw.close()
        super().close()


@final
class _Answer(http.client.HTTPResponse):
    """Answer whose bytes, head included, are each waited for within a time limit."""

    def __init__(self, opened: socket.socket, *rest: Any, clock: _Clock, **options: Any) -> None:
        super().__init__(opened, *rest, **options)
        self.fp.close()
        self.fp = io.BufferedReader(_Timed(opened, clock))


def _timed(
    kind: type[http.client.HTTPConnection], clock: _Clock
) -> Callable[..., http.client.HTTPConnection]:
    """Make the class of connections of a kind whose answers come in time."""

    def connection(host: str, **options: Any) -> http.client.HTTPConnection:
        made = kind(host, **options)
        made.response_class = partial(_Answer, clock=clock)  # type: ignore[assignment]
        return made

    return connection


def _opener(clock: _Clock) -> OpenerDirector:
    """Make an opener of network addresses that follows no redirect by itself."""

    class HTTP(HTTPHandler):
        def http_open(self, request: Request) -> http.client.HTTPResponse:
            return self.do_open(_timed(http.client.HTTPConnection, clock), request)

    class HTTPS(HTTPSHandler):
        def https_open(self, request: Request) -> http.client.HTTPResponse:
            return self.do_open(_timed(http.client.HTTPSConnection, clock), request)

    class Redirects(HTTPRedirectHandler):
        def redirect_request(self, *_: Any) -> None:
            return None

    return build_opener(HTTP, HTTPS, Redirects)


SCHEMES: Final = ("https", "http", "file")
"""Allowed schemes of mirrors; files are checked by their digests, whatever the scheme."""


@check_arguments
def fetch(name: str, *, mirrors: Sequence[str] = ()) -> dict[Path, str]:
    """Bring the files of a data set into the cache, one after another.

    A file that exists as published is kept. Any other file is read from the first mirror that has
    it as published, by size and SHA-256, written to a temporary file, and renamed.

    Args:
        name: Name of the data set.
        mirrors: Addresses of folders to ask first, before those that are known.

    Returns:
        Address that each file was read from, by its path; an empty text if it existed.

    Raises:
        UnknownNameError: If the data set is unknown.
        ValueError: If an argument is of another type, or an address is invalid, has another scheme,
            or holds a password.
        OSError: If no mirror gives a file as published, or it cannot be written.
    """
    if name not in DATA_SETS:
        raise UnknownNameError("data set", name, DATA_SETS)
    for mirror in kind_of(tuple[str, ...]).take("mirrors", mirrors):
        check_address(mirror, SCHEMES)
    data_set, folder = DATA_SETS[name], cache_folder() / name
    asked = (*mirrors, *data_set.mirrors)
    _check_folder(folder)
    return {
        (path := folder / file.name): "" if _is_whole(path, file) else _bring(path, file, asked)
        for file in data_set.published
    }


def _check_folder(folder: Path) -> None:
    """Raise `OSError`, before anything is asked for, where no folder could be made."""
    existing = next(one for one in (folder, *folder.absolute().parents) if os.path.lexists(one))
    if not (existing.is_dir() and os.access(existing, os.W_OK)):
        what = "is read-only" if existing.is_dir() else "is no folder"
        raise OSError(
            f"cannot make {printable(folder)}: {printable(existing)} {what}; FARFIELD_CACHE names "
            "another folder for data sets"
        )


def _is_whole(path: Path, file: DataFile) -> bool:
    """Check whether the file exists as published."""
    with contextlib.suppress(OSError, ValueError):
        check_digest(str(path), read_regular(path, file.size), file)
        return True
    return False


def _bring(path: Path, file: DataFile, mirrors: Sequence[str]) -> str:
    """Put the file into the cache from the first mirror that has it; return the address."""
    failures = []
    for mirror in mirrors:
        address = urljoin(mirror.rstrip("/") + "/", file.name)
        try:
            content = download(address, file.size)
            check_digest(printable(address), content, file)
        except (OSError, ValueError) as error:
            failures.append(f"{printable(address)}: {excerpt(error)}")
            continue
        write_whole(path, content)
        return address
    raise OSError(f"{file.name} must come from a mirror, none has it:\n  " + "\n  ".join(failures))
