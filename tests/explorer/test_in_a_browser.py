"""The pages in a Chromium: what only a browser can tell."""

from __future__ import annotations

import shutil
import socket
import threading
import time
from collections.abc import Iterator
from typing import Any

import pytest
import uvicorn

from explorer.conftest import EXPORTED, TABLE, Explored
from farfield.explorer import application

CHROMIUM = next(
    filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None
)
playwright = pytest.importorskip("playwright.sync_api", reason="playwright is not installed")
needs_chromium = pytest.mark.skipif(CHROMIUM is None, reason="there is no Chromium on the path")


def wait_until(page: Any, expression: str) -> None:
    """Wait for a condition; the pages forbid the way that Playwright has, which evaluates text."""
    end = time.monotonic() + 120
    while not page.evaluate(expression):
        assert time.monotonic() < end, expression
        page.wait_for_timeout(20)


@pytest.fixture
def address(explored: Explored) -> Iterator[str]:
    """Address of a server in a thread."""
    folder = explored.folder
    listening = socket.create_server(("127.0.0.1", 0))
    config = uvicorn.Config(application(folder / "runs", folder / "results"), log_level="warning")
    server = uvicorn.Server(config)
    thread = threading.Thread(target=server.run, kwargs={"sockets": [listening]})
    thread.start()
    while not server.started:
        time.sleep(0.01)
    yield f"http://127.0.0.1:{listening.getsockname()[1]}"
    server.should_exit = True
    thread.join()
    listening.close()


@needs_chromium
@pytest.mark.slow
def test_pages_work_in_a_browser(address: str) -> None:
    said: list[str] = []
    with playwright.sync_playwright() as driver:
        browser = driver.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        page = browser.new_page(color_scheme="dark", viewport={"width": 420, "height": 800})
        page.set_default_timeout(120_000)
        page.on("console", lambda message: said.append(message.text))  # violations of the policy
        page.on("pageerror", lambda error: said.append(str(error)))

        page.goto(f"{address}/claims?table={TABLE.key}")
        page.evaluate("window.stays = true")
        page.get_by_label("Verdict").select_option("reproduced")
        cells = page.locator('tbody th[scope="row"]')
        wait_until(page, "document.querySelectorAll('tbody th[scope=row]').length === 1")
        assert cells.inner_text() == f"{EXPORTED.row}, {EXPORTED.column}"
        assert page.evaluate("window.stays")  # replaced in place
        assert "verdict=reproduced" in page.url

        page.get_by_role("link", name=cells.inner_text()).click()
        page.wait_for_selector(".chart canvas")
        assert page.locator(".u-legend .u-series:visible").count() == 2  # distance and curve
        page.get_by_label("10 % of steps").check()
        wait_until(page, "document.querySelectorAll('.u-marker').length > 5")
        assert page.locator(".u-legend .u-series:visible").count() == 3

        page.goto(f"{address}/problems?task=same-different&withheld=98&max_problems=40&number=1")
        drawn = "document.querySelector('.sheet').naturalWidth > 100"
        wait_until(page, drawn)
        page.keyboard.press("Tab")
        assert page.evaluate("document.activeElement.className") == "skip"
        paper = page.evaluate("getComputedStyle(document.body).backgroundColor")
        assert paper == "rgb(20, 23, 28)"
        assert page.evaluate("document.documentElement.scrollWidth") == 420
        browser.close()
    assert said == []


@needs_chromium
@pytest.mark.slow
def test_tables_need_no_script(address: str) -> None:
    with playwright.sync_playwright() as driver:
        browser = driver.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        page = browser.new_context(java_script_enabled=False).new_page()
        page.set_default_timeout(120_000)
        page.goto(f"{address}/claims?table={TABLE.key}")
        page.locator("#mechanism").fill("lstm +")
        page.get_by_role("button", name="Show").click()
        assert page.locator('tbody th[scope="row"]').count() == len(
            [claim for claim in TABLE.claims if claim.row == "LSTM + TCN"]
        )
        browser.close()
