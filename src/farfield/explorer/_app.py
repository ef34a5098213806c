"""The web application: addresses, errors and headers; it reads, and writes nothing.

Nothing here loads torch, so that the first page is there at once. The pages do (`_pages`); a
thread imports them meanwhile.
"""

from __future__ import annotations

import contextlib
import threading
from collections.abc import AsyncIterator, Callable, Sequence
from datetime import timedelta
from importlib import import_module
from pathlib import Path
from types import FrameType
from typing import Any, Final
from urllib.parse import urlencode

import jinja2

try:
    import uvicorn
    from starlette.applications import Starlette
    from starlette.datastructures import MutableHeaders, QueryParams
    from starlette.exceptions import HTTPException
    from starlette.middleware import Middleware
    from starlette.middleware.trustedhost import TrustedHostMiddleware
    from starlette.requests import Request
    from starlette.responses import HTMLResponse, PlainTextResponse, Response
    from starlette.routing import Mount, Route
    from starlette.staticfiles import StaticFiles
    from starlette.types import ASGIApp, Message, Receive, Scope, Send
except ModuleNotFoundError as error:
    package = str(error.name).partition(".")[0]
    raise ModuleNotFoundError(
        f"the explorer needs {package}: pip install 'farfield[web]'", name=error.name
    ) from error

from farfield._citations import REFERENCES
from farfield._errors import FarfieldError
from farfield._text import printable
from farfield.explorer._child import STATUS, Child, status_of

HOSTS: Final = ("127.0.0.1", "localhost")
"""Names by which a browser may ask: a page elsewhere whose name leads here is refused."""

PAGES: Final = {
    "/claims": "claims",
    "/profiles": "profiles",
    "/problems": "problems",
    "/runs": "runs",
    "/network": "network",
    "/overview": "overview",
    "/verdicts": "verdicts",
}
"""Addresses of pages, with their function in `_pages` and their template."""

PICTURES: Final = {"problems": "problems_picture", "network": "network_picture"}
"""Pages with a picture, each at the page's address and `.png`, with its function there."""

CHILD: Final = Child()
"""Process that draws pictures and evaluates networks, shared by all applications."""

HEADERS: Final = {
    "Content-Security-Policy": "default-src 'self'; base-uri 'none'; form-action 'self'; "
    "frame-ancestors 'none'; object-src 'none'",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Referrer-Policy": "no-referrer",
    "X-Content-Type-Options": "nosniff",
}
"""Sent with every answer."""

TEMPLATES: Final = jinja2.Environment(
    loader=jinja2.PackageLoader("farfield.explorer"),
    autoescape=True,
    undefined=jinja2.StrictUndefined,
    trim_blocks=True,
    lstrip_blocks=True,
    finalize=lambda value: printable(value) if type(value) is str else value,
)
TEMPLATES.filters["query"] = lambda words: urlencode(words, doseq=True)
TEMPLATES.filters["span"] = lambda seconds: str(timedelta(seconds=round(seconds)))


LISTED: Final = ("/claims", "/profiles", "/problems", "/runs")
"""Addresses of pages that every page leads to."""

PAPERS: Final = ("webb2020", "gondal2021", "ren2017", "webb2021", "lamb2022")
"""Papers whose verdicts are on the first page."""

GROUPS: Final = {
    "held": "reproduced or reached",
    "undecided": "compatible or undecided",
    "failed-claim": "not reproduced or missed",
    "beyond": "measured, nothing published",
    "not-run": "not run",
}
"""Words of the legend by the class of a color; `_pages` has the verdicts of each."""


def application(records: Path, results: Path, modules: Sequence[Path] = ()) -> Starlette:
    """Build the application that a server runs.

    Args:
        records: Folder of records; it may be absent, or one that `report --export` wrote.
        results: Folder that `report --export` wrote to; it may be absent.
        modules: Files with classes of one's own that records name; they are imported.
    """
    app = Starlette(
        routes=[
            Route("/", _front),
            *(Route(path, _page(name)) for path, name in PAGES.items()),
            *(Route(f"/{page}.png", _picture(name)) for page, name in PICTURES.items()),
            Mount("/static", StaticFiles(packages=[("farfield.explorer", "static")])),
        ],
        middleware=[
            Middleware(_Guard),
            Middleware(TrustedHostMiddleware, allowed_hosts=[*HOSTS], www_redirect=False),
        ],
        exception_handlers=dict.fromkeys((HTTPException, *STATUS), _refuse),
        lifespan=_start,
    )
    app.state.folders = (records, results, *modules)
    return app


def serve(records: Path, results: Path, port: int, modules: Sequence[Path] = ()) -> None:
    """Serve the application to this machine alone, until it is interrupted.

    Args:
        records: Folder of records.
        results: Folder of exports.
        port: Port of 127.0.0.1.
        modules: Files with classes of one's own that records name.
    """
    config = uvicorn.Config(
        application(records, results, modules), host=HOSTS[0], port=port, log_level="warning"
    )
    server = _Server(config)
    with contextlib.suppress(KeyboardInterrupt):
        server.run()
    if not server.started:
        raise FarfieldError(f"the server did not start at {HOSTS[0]}:{port}")


class _Server(uvicorn.Server):
    """A server that ends with the first Ctrl-C, though a picture is being drawn."""

    def handle_exit(self, sig: int, frame: FrameType | None) -> None:
        """Refuse open requests, then end."""
        CHILD.close()
        super().handle_exit(sig, frame)


@contextlib.asynccontextmanager
async def _start(_: Starlette) -> AsyncIterator[None]:
    """Start the process, and import the pages, while the first page is looked at."""
    CHILD.start()
    threading.Thread(target=import_module, args=("farfield.explorer._pages",), daemon=True).start()
    yield


class _Guard:
    """Refuse requests that another site's page makes, and add headers to every answer.

    Args:
        app: The application.
    """

    def __init__(self, app: ASGIApp) -> None:
        self.app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        async def send_with_headers(message: Message) -> None:
            if message["type"] == "http.response.start":
                MutableHeaders(scope=message).update(HEADERS)
            await send(message)

        app = self.app
        if scope["type"] == "http":
            site = Request(scope).headers.get("sec-fetch-site", "none")
            if site not in ("none", "same-origin"):
                app = PlainTextResponse("asked for by another site", status_code=403)
        await app(scope, receive, send_with_headers)


def _rendered(name: str, request: Request, status: int = 200, **context: Any) -> HTMLResponse:
    template = TEMPLATES.get_template(f"{name}.html.jinja")
    records, results, *_ = request.app.state.folders
    page = template.render(
        here=request.url.path,
        legend=GROUPS,
        listed={path: PAGES[path] for path in LISTED},
        records=records,
        results=results,
        **context,
    )
    return HTMLResponse(page, status_code=status)


def _front(request: Request) -> Response:
    return _rendered("front", request, papers={key: REFERENCES[key].title for key in PAPERS})


def _called(name: str, request: Request) -> Any:
    """Call a function of `_pages` for a request."""
    pages: Any = import_module("farfield.explorer._pages")
    source = pages.source_of(*request.app.state.folders)
    return getattr(pages, name)(source, request.query_params)


def _asked(name: str, request: Request, query: QueryParams) -> Any:
    """Call a function of `_pages` in the process that draws."""
    return CHILD.ask(name, request.app.state.folders, query.multi_items())


def _page(name: str) -> Callable[[Request], Response]:
    """Make the endpoint of a page; not a coroutine, so it is called in a thread."""

    def answer(request: Request) -> Response:
        return _rendered(name, request, **_called(name, request))

    return _page_with_picture(name) if name in PICTURES else answer


def _page_with_picture(name: str) -> Callable[[Request], Response]:
    """Make the endpoint of a page with a picture, or with the reason that there is none."""

    def answer(request: Request) -> Response:
        context = _asked(name, request, request.query_params)
        if not context["reason"]:
            try:
                _asked(PICTURES[name], request, QueryParams(context["asked"]))  # it is kept
            except HTTPException as refused:
                context["reason"] = refused.detail
        return _rendered(name, request, **context)

    return answer


def _picture(name: str) -> Callable[[Request], Response]:
    """Make the endpoint of a PNG."""

    def answer(request: Request) -> Response:
        picture = _asked(name, request, request.query_params)
        return Response(picture, media_type="image/png")

    return answer


def _refuse(request: Request, error: Exception) -> Response:
    """Render the page of an error."""
    if isinstance(error, HTTPException):
        return _rendered("error", request, error.status_code, message=error.detail)
    return _rendered("error", request, status_of(error), message=str(error))
