"""Mirrors that lie, lead astray or drip."""

from __future__ import annotations

import contextlib
import gzip
import hashlib
import os
import re
import socket
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any
from urllib.error import HTTPError

import pytest

from farfield.tasks import DATA_SETS, fetch
from farfield.tasks._files import _fetch
from farfield.tasks._files._fetch import download
from farfield.tasks.internal import DataFile, DataSet

CONTENT = gzip.compress(b"\0\0\x08\x01\0\0\0\x03abc", mtime=0)
FILE = DataFile(
    name="a.gz", sha256=hashlib.sha256(CONTENT).hexdigest(), size=len(CONTENT), shape=(3,)
)
Reply = Callable[[socket.socket, bytes], None]


@pytest.fixture(autouse=True)
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty cache, a data set of one file, and no proxy."""
    for name in [name for name in os.environ if name.lower().endswith("_proxy")]:
        monkeypatch.delenv(name)
    monkeypatch.setenv("FARFIELD_CACHE", str(tmp_path / "cache"))
    known = DataSet(name="tiny", files=(FILE,), mirrors=(), licence="none")
    monkeypatch.setitem(DATA_SETS, "tiny", known)
    return tmp_path / "cache" / "tiny"


@pytest.fixture
def mirror() -> Iterator[Callable[[Reply], str]]:
    """Starts a server that answers as instructed; gives its address."""
    opened: list[socket.socket] = []

    def start(reply: Reply) -> str:
        server = socket.create_server(("127.0.0.1", 0))
        opened.append(server)

        def serve() -> None:
            with contextlib.suppress(OSError):
                while True:
                    client, _ = server.accept()
                    with client, contextlib.suppress(OSError):
                        reply(client, client.recv(65_536))

        threading.Thread(target=serve, daemon=True).start()
        return f"http://127.0.0.1:{server.getsockname()[1]}/"

    yield start
    for server in opened:
        server.close()


def says(content: bytes) -> Reply:
    return lambda client, _: client.sendall(content)


def drips(content: bytes) -> Reply:
    def reply(client: socket.socket, _: bytes) -> None:
        client.sendall(content)
        while True:
            client.sendall(b"x")
            time.sleep(0.02)

    return reply


def floods(content: bytes, more: bytes) -> Reply:
    def reply(client: socket.socket, _: bytes) -> None:
        client.sendall(content)
        while True:
            client.sendall(more)

    return reply


OK = b"HTTP/1.1 200 OK\r\n"
LENGTH = b"Content-Length: %d\r\n\r\n" % len(CONTENT)


def test_what_is_published_is_fetched(mirror: Any, cache: Path) -> None:
    address = mirror(says(OK + LENGTH + CONTENT))
    assert fetch("tiny", mirrors=[address]) == {cache / "a.gz": f"{address}a.gz"}
    assert (cache / "a.gz").read_bytes() == CONTENT


def test_redirects_are_followed_a_few_times(mirror: Any) -> None:
    found = mirror(says(OK + b"\r\n" + CONTENT))

    def chain(client: socket.socket, request: bytes) -> None:
        left = int(request.split()[1].strip(b"/") or b"4")
        target = f"/{left - 1}" if left else found
        client.sendall(b"HTTP/1.1 302 Found\r\nLocation: %s\r\n\r\n" % target.encode())

    address = mirror(chain)
    assert download(f"{address}4", len(CONTENT)) == CONTENT
    with pytest.raises(ValueError, match="after 5 redirects at most"):
        download(f"{address}5", len(CONTENT))


@pytest.mark.parametrize(
    "reply, message",
    [
        (says(b"HTTP/1.1 404 \x1b[2Jgone\x9b31m\r\n\r\n"), r"answer 404 \\x1b\[2Jgone\\x9b31m"),
        (says(b"\x1b[2J\r\n\r\n"), r"no answer of a mirror: BadStatusLine \\x1b\[2J"),
        (says(b"HTTP/1.1 500 " + b"long " * 9_000 + b"\r\n\r\n"), "answer 500 long .* … .*long"),
        (says(b""), "no answer of a mirror: RemoteDisconnected"),
        (says(b"HTTP/1.1 302 F\r\nLocation: ftp://there/a\r\n\r\n"), "one of https:, http:, got"),
        (says(b"HTTP/1.1 302 F\r\nLocation: file:///etc/passwd\r\n\r\n"), "one of https:, http:"),
        (says(b"HTTP/1.1 302 F\r\nLocation: data:,x\r\n\r\n"), "one of https:, http:, got 'data:"),
        (says(b"HTTP/1.1 302 F\r\nLocation: http://u:secret@h/\r\n\r\n"), "open to all, .* for h"),
        (says(b"HTTP/1.1 302 F\r\nLocation: http://[\r\n\r\n"), "Invalid IPv6 URL"),
        (says(b"HTTP/1.1 302 F\r\n\r\n"), "answer 302 F"),
        (says(b"HTTP/1.1 301 F\r\nLocation: /a.gz\r\n\r\n"), "after 5 redirects at most"),
        (says(OK + b"Content-Length: 1000000000000\r\n\r\n"), "the answer says 1,000,000,000,000"),
        (says(OK + LENGTH + CONTENT[:-1]), "must be the published file"),
        (says(OK + LENGTH + CONTENT[:-1] + b"x"), "must be the published file"),
        (floods(OK + b"\r\n", bytes(65_536)), f"got {len(CONTENT) + 1} bytes"),
        (floods(OK, b"Header: x\r\n"), "no answer of a mirror: HTTPException"),
        (floods(OK, b"x" * 65_536), "no answer of a mirror: LineTooLong"),
        (floods(b"", b"HTTP/1.1 100 Continue\r\n\r\n"), "in at most 1,048,6.. bytes, heads and al"),
        (
            floods(
                OK + b"Transfer-Encoding: chunked\r\n\r\n", b"1;x=%s\r\nx\r\n" % (b"y" * 60_000)
            ),
            "no answer of a mirror: IncompleteRead",
        ),
        (floods(b"HTTP/1.1 302 F\r\nLocation: ftp://x\r\n\r\n", bytes(65_536)), "one of https:"),
    ],
)
def test_other_answers_are_refused_in_words(
    mirror: Any, cache: Path, reply: Reply, message: str
) -> None:
    with pytest.raises(OSError, match=r"a\.gz must come from a mirror") as told:
        fetch("tiny", mirrors=[mirror(reply)])
    said = str(told.value).partition("\n  ")[2]
    assert re.search(message, said)
    assert said.isprintable()
    assert len(said) < 600
    assert "secret" not in said
    assert not cache.exists()


@pytest.mark.parametrize(
    "reply",
    [
        drips(OK + b"Content-Length: 1000000\r\n\r\n"),
        drips(OK + b"\r\n"),
        drips(OK + b"Transfer-Encoding: chunked\r\n\r\n"),
        drips(OK + b"Header: "),
        drips(b"HTTP/1.1 "),
        lambda client, _: time.sleep(2),
    ],
    ids=["body", "no-length", "chunks", "header", "status", "silent"],
)
def test_a_drip_is_waited_for_as_long_as_patience_lasts(
    mirror: Any, monkeypatch: pytest.MonkeyPatch, reply: Reply
) -> None:
    monkeypatch.setattr(_fetch, "PATIENCE", 0.2)
    with pytest.raises(TimeoutError, match=r"after 0\.2 s it must come at|timed out"):
        download(mirror(reply), 1_000_000)


def test_what_comes_steadily_is_waited_for(mirror: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    def reply(client: socket.socket, _: bytes) -> None:
        client.sendall(OK + b"\r\n")
        for _ in range(5):
            client.sendall(b"x" * 1_000)
            time.sleep(0.1)

    monkeypatch.setattr(_fetch, "PATIENCE", 0.3)
    monkeypatch.setattr(_fetch, "SLOWEST", 5_000)
    assert download(mirror(reply), 5_000) == b"x" * 5_000


def test_what_is_secure_stays_secure() -> None:
    def answer(target: str) -> HTTPError:
        return HTTPError("https://here/", 302, "", {"Location": target}, None)  # type: ignore[arg-type]

    with contextlib.closing(answer("http://there/a")) as found:
        with pytest.raises(ValueError, match="must begin with one of https:, got 'http://there/a'"):
            _fetch._redirected("https://here/a", found)
        assert _fetch._redirected("http://here/a", found) == "http://there/a"
    with contextlib.closing(answer("/b")) as found:
        assert _fetch._redirected("https://here/a", found) == "https://here/b"


@pytest.mark.parametrize("address", ["http://me:secret@there/", "https://me:sec@ret@there/mnist"])
def test_passwords_are_not_repeated(address: str) -> None:
    with pytest.raises(ValueError, match=r"must be open to all, .* for there") as told:
        fetch("tiny", mirrors=[address])
    assert "sec" not in str(told.value)


@pytest.mark.parametrize("address", ["http://[", "gopher://x/", "data:,x", "/data", ""])
def test_addresses_that_are_none_are_refused(address: str) -> None:
    with pytest.raises(ValueError, match="mirrors must be"):
        fetch("tiny", mirrors=[address])


def test_files_of_this_machine_are_regular(tmp_path: Path, cache: Path) -> None:
    (tmp_path / "b").mkdir()
    os.mkfifo(tmp_path / "a.gz")
    (tmp_path / "b" / "a.gz").symlink_to("/dev/zero")
    mirrors = [tmp_path.as_uri(), (tmp_path / "b").as_uri(), "file://elsewhere/a"]
    with pytest.raises(
        OSError, match=r"must be a regular file(?s:.)*must be a regular file"
    ) as told:
        fetch("tiny", mirrors=mirrors)
    assert "file: must be of this machine, got elsewhere" in str(told.value)
