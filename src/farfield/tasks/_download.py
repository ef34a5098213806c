"""One file from the network, within bounds of size, time and redirects.

pooch, which fetches scientific data, bounds none of the three and takes its downloads from
`requests`, which waits as long as something drips; with downloads of our own it would add a cache
folder and a digest, which are a dozen lines.
"""

from __future__ import annotations

import http.client
import io
import socket
import time
from collections.abc import Collection
from email.message import Message
from functools import partial
from pathlib import Path
from typing import IO, Any, Final
from urllib.error import HTTPError
from urllib.parse import urljoin, urlsplit
from urllib.request import (
    HTTPErrorProcessor,
    HTTPHandler,
    HTTPSHandler,
    OpenerDirector,
    ProxyHandler,
    Request,
    url2pathname,
)

from farfield.core import printable, read_regular

PATIENCE: Final = 60.0
"""Seconds until a connection must stand, and an answer of no length be complete."""
SLOWEST: Final = 20_000
"""Bytes a second, beyond that; the largest file takes two and a half hours then."""
MOST_REDIRECTS: Final = 5
_REDIRECTS: Final = (301, 302, 303, 307, 308)


def check_address(address: str, schemes: Collection[str]) -> str:
    """The scheme of an address, which must be one of some.

    Args:
        address: Of a file or folder.
        schemes: The right ones.

    Raises:
        ValueError: If it begins otherwise, or names a user. What it says of one is not repeated.
    """
    try:
        parts = urlsplit(address)
    except ValueError as error:
        raise ValueError(f"mirrors must be addresses, one is none: {error}") from error
    if "@" in parts.netloc:
        raise ValueError(
            f"mirrors must be open to all, got one with a name or password for "
            f"{printable(parts.netloc.rpartition('@')[2])}"
        )
    if parts.scheme not in schemes:
        raise ValueError(
            f"mirrors must begin with one of {', '.join(f'{s}:' for s in schemes)}, "
            f"got {printable(address)!r}"
        )
    return parts.scheme


def download(address: str, size: int) -> bytes:
    """What is at an address, as far as one byte more than there should be.

    Args:
        address: Of a file, with `http`, `https` or `file`.
        size: How long it should be, bytes.

    Raises:
        ValueError: If it is of another length as the answer says, or leads elsewhere than to the
            network, from `https` to `http`, or ever further.
        OSError: If there is no such file, no answer, or one that takes too long.
    """
    if urlsplit(address).scheme == "file":
        return _read_here(address, size)
    until = time.monotonic() + PATIENCE + size / SLOWEST
    try:
        for _ in range(MOST_REDIRECTS + 1):
            try:
                with _opener(until).open(Request(address), timeout=PATIENCE) as answer:  # noqa: S310 # scheme checked
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
    return read_regular(Path(url2pathname(parts.path)), size)


def _redirected(address: str, answer: HTTPError) -> str:
    """Where an answer leads to, if it is a redirect to where one may be led."""
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


def _opener(until: float) -> OpenerDirector:
    """Opens addresses of the network alone, and follows no redirect of itself."""
    opener = OpenerDirector()
    for handler in (ProxyHandler(), _HTTP(until), _HTTPS(until), HTTPErrorProcessor(), _Errors()):
        opener.add_handler(handler)
    return opener
