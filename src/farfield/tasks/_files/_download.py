"""One file from the network, within bounds of size, time and redirects.

pooch, which fetches scientific data, bounds none of the three and takes its downloads from
`requests`, which waits as long as something drips; with downloads of our own it would add a cache
folder and a digest, which are a dozen lines.
"""

from __future__ import annotations

import http.client
import io
import socket
import sys
import time
from collections.abc import Callable, Collection
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

from farfield.core import excerpt, open_regular, printable

PATIENCE: Final = 30.0
"""Seconds that an answer may take, beside those for what has come of it."""
SLOWEST: Final = 50_000
"""Bytes a second of what has come."""
MOST_REDIRECTS: Final = 5
_OVERHEAD: Final = 2**20
"""Bytes of heads, beside twice those of the file."""
_REDIRECTS: Final = (301, 302, 303, 307, 308)


def check_address(address: str, schemes: Collection[str]) -> str:
    """The scheme of an address, which must be an allowed one.

    Args:
        address: Of a file or folder.
        schemes: The right ones.

    Raises:
        ValueError: If it begins otherwise, or names a user. What it says of one is not repeated.
    """
    try:
        parts = urlsplit(address)
        _ = parts.port  # which raises for one that is none
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
    """Content of an address, read up to one byte more than expected.

    Args:
        address: Of a file, with `http`, `https` or `file`.
        size: How long it should be, bytes.

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
    """A file of this machine."""
    parts = urlsplit(address)
    if parts.netloc not in {"", "localhost"}:
        raise ValueError(f"file: must be of this machine, got {printable(parts.netloc)}")
    with open_regular(Path(url2pathname(parts.path)), sys.maxsize) as file:
        return file.read(size + 1)


def _redirected(address: str, answer: HTTPError) -> str:
    """Target of a redirect, if it is an allowed one."""
    target = answer.headers.get("Location")
    if answer.code not in _REDIRECTS or target is None:
        raise OSError(f"answer {answer.code} {answer.reason}")
    to = urljoin(address, target)
    is_safe = urlsplit(address).scheme == "https"
    check_address(to, ("https",) if is_safe else ("https", "http"))
    return to


def _content(answer: http.client.HTTPResponse, size: int) -> bytes:
    """The body of an answer, of which no more is read than needed to judge it."""
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
        """Seconds left, more than none."""
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
    """An answer of which every byte, those of its head too, is waited for in time."""

    def __init__(self, opened: socket.socket, *rest: Any, clock: _Clock, **options: Any) -> None:
        super().__init__(opened, *rest, **options)
        self.fp.close()
        self.fp = io.BufferedReader(_Timed(opened, clock))


def _timed(
    kind: type[http.client.HTTPConnection], clock: _Clock
) -> Callable[..., http.client.HTTPConnection]:
    """Connections of a kind whose answers come in time."""

    def connection(host: str, **options: Any) -> http.client.HTTPConnection:
        made = kind(host, **options)
        made.response_class = partial(_Answer, clock=clock)  # type: ignore[assignment]
        return made

    return connection


def _opener(clock: _Clock) -> OpenerDirector:
    """Opens addresses of the network, and follows no redirect of itself."""

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
