"""Browser tests: a real JupyterLab, a real browser, one page for all of them.

They need Chromium, playwright and the installed extension, and are skipped with the reason where one is missing;
GRADLAB_REQUIRE_UI=1 makes that a failure. A picture of every test is left in build/ui/.
"""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from labdriver import Lab
    from labserver import Server
    from playwright.sync_api import Browser

HERE = Path(__file__).parent
PICTURES = HERE.parents[1] / "build" / "ui"
# Errors of JupyterLab itself that say nothing about gradlab.
KNOWN = re.compile(r"favicon\.ico|Could not restore the debugger state")

sys.path.insert(0, str(HERE))

from labbrowser import launch, missing  # noqa: E402


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark every test of this folder `ui`."""
    for item in items:
        if HERE in item.path.parents:
            item.add_marker(pytest.mark.ui)


@pytest.fixture(scope="session")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """Run one JupyterLab for all browser tests."""
    if reason := missing():
        (pytest.fail if os.environ.get("GRADLAB_REQUIRE_UI") == "1" else pytest.skip)(reason)
    from labserver import serve

    with serve(tmp_path_factory.mktemp("notebooks")) as running:
        yield running


@pytest.fixture(scope="session")
def browser(server: Server) -> Iterator[Browser]:
    """Run one headless Chromium for all browser tests."""
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        running = launch(playwright)
        yield running
        running.close()


@pytest.fixture(scope="session")
def only_page(server: Server, browser: Browser) -> Lab:
    """Load JupyterLab once; clearing it between tests is quicker than loading it anew."""
    return load(server, browser)


@pytest.fixture
def lab(only_page: Lab, request: pytest.FixtureRequest) -> Iterator[Lab]:
    """Give a test the page with nothing open in it; afterwards take a picture and look for errors in the console."""
    yield from watched(only_page, request)


@pytest.fixture
def lab_of_its_own(server: Server, browser: Browser, request: pytest.FixtureRequest) -> Iterator[Lab]:
    """Give a test a page that no other test has used, as one needs that looks into the browser's memory."""
    lab = load(server, browser)
    yield from watched(lab, request)
    lab.page.context.close()


@pytest.fixture
def lab_without_extension(server: Server, browser: Browser, request: pytest.FixtureRequest) -> Iterator[Lab]:
    """Give a test a page of a JupyterLab where the extension is disabled."""
    with server.extension_disabled():
        lab = load(server, browser)
        yield from watched(lab, request)
        lab.page.context.close()


@pytest.fixture
def bare_lab(server: Server, browser: Browser, request: pytest.FixtureRequest) -> Iterator[Lab]:
    """Give a test a page of a JupyterLab without status bar, palette and main menu."""
    with server.disabled(
        "@jupyterlab/statusbar-extension:plugin", "@jupyterlab/apputils-extension:palette", "@jupyterlab/mainmenu-extension:plugin"
    ):
        lab = load(server, browser)
        yield from watched(lab, request)
        lab.page.context.close()


def load(server: Server, browser: Browser) -> Lab:
    """Load JupyterLab in a browser profile of its own."""
    from labdriver import loaded

    return loaded(server, browser)


def watched(lab: Lab, request: pytest.FixtureRequest) -> Iterator[Lab]:
    """Lend the page to one test."""
    lab.console_errors.clear()
    lab.message_sizes.clear()
    lab.listen(False)
    lab.pictures = PICTURES / request.node.name.removeprefix("test_")
    yield lab
    lab.shot("")
    errors = [e for e in lab.console_errors if not KNOWN.search(e)]
    lab.close_everything()
    assert errors == [], "errors in the browser's console"
