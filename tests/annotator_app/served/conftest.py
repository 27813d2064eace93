"""Servers on continuations of two suites, and a browser in front of them."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.annotator_app import ring
from tests.annotator_app.served.browser import STAGE, Opener
from tests.annotator_app.serving import Server
from tests.browser import start_chromium
from tests.waiting import PATIENCE
from tests.zygote import Zygote

VIEWPORT = {"width": 1366, "height": 768}
SETTINGS = """
if (origin !== "null") localStorage["sts:settings"] ??= '{"autoplay": false}'
"""
"""Of a page; the frame of a report that is refused meanwhile has no storage."""
STORED = "local_storage,indexeddb,cache_storage,file_systems,service_workers"
"""Kinds of storage that pages may fill, as Chromium names them."""
IMPORTED = (
    "sts_annotator_app.commands.annotate sts_annotator_app.shell.connections "
    "sts_annotator_app.shell.server "
    "sts_annotator_app.state pandas streamlit sts_annotator_app.pages.team "
    "sts_annotator_app.results sts_annotator_app.shell.page_html sts_annotator_app.auth.openid "
    "sts.viewer.sprites uvicorn tests.annotator_app.dying"
).split()
"""Modules that a server imports before it serves."""


@pytest.fixture(scope="session")
def zygote() -> Iterator[Zygote]:
    """A process that has imported the server, which servers are copies of."""
    made = Zygote(IMPORTED)
    yield made
    made.close()


@pytest.fixture(scope="session")
def server(
    recorded: Path, tmp_path_factory: pytest.TempPathFactory, zygote: Zygote
) -> Iterator[Server]:
    folder = shutil.copytree(recorded, tmp_path_factory.mktemp("shared") / "workspace")
    with Server(folder, zygote=zygote) as made:
        yield made


@pytest.fixture(scope="session")
def pixels(
    ringing: Path, tmp_path_factory: pytest.TempPathFactory, zygote: Zygote
) -> Iterator[Server]:
    """A server on episodes that are shown as pictures."""
    copy = shutil.copytree(ringing, tmp_path_factory.mktemp("pixels") / "workspace")
    with Server(copy, ring.SUITE, zygote=zygote) as made:
        yield made


@pytest.fixture(scope="package")
def chromium() -> Iterator[Any]:
    """A browser for all tests of this folder, none of which runs an event loop of its own."""
    with start_chromium() as browser:
        yield browser


@pytest.fixture(scope="package")
def shared_profile(chromium: Any, server: Server) -> Iterator[Any]:
    """A browser profile that tests share one after the other, each of which finds it empty.

    Its cache and process stay, which halves the time to open a page.
    """
    context = chromium.new_context()
    context.set_default_timeout(1000 * PATIENCE)
    context.new_page().goto(server.url("/_stcore/health"))
    yield context
    context.close()


@pytest.fixture
def profile(shared_profile: Any) -> Iterator[Any]:
    """The shared profile, emptied after the test except for its cache."""
    kept, *_ = shared_profile.pages
    yield shared_profile
    origins = {"/".join(page.url.split("/")[:3]) for page in shared_profile.pages}
    for page in shared_profile.pages:
        if page != kept:
            page.close()
    shared_profile.clear_cookies()
    shared_profile.unroute_all()
    shared_profile.set_offline(False)
    session = shared_profile.new_cdp_session(kept)
    for origin in origins:
        session.send("Storage.clearDataForOrigin", {"origin": origin, "storageTypes": STORED})
    session.detach()


@pytest.fixture(autouse=True)
def _name_attempt(request: pytest.FixtureRequest) -> Iterator[None]:
    """Give people other names if a test is repeated."""
    count = getattr(request.node, "execution_count", 1)
    if count == 1:
        yield
        return
    shared = {*request.fixturenames} & {"server", "pixels"}
    servers = [request.getfixturevalue(name) for name in shared]
    for server in servers:
        server.attempt = f" {count}"
    yield
    for server in servers:
        server.attempt = ""


@pytest.fixture
def open_page(chromium: Any, profile: Any, server: Server) -> Iterator[Opener]:
    """A function that opens a page of a person, who is added when new.

    A test's first page is in the shared profile. Further pages, and pages with options of a
    browser, have a profile of their own.
    """
    contexts: list[Any] = []
    opened: list[str] = []

    def opens(
        name: str,
        at: Server = server,
        path: str = "/",
        ready: bool = True,
        script: str = "",
        roles: tuple[str, ...] = ("annotator",),
        viewport: dict[str, int] = VIEWPORT,
        color_scheme: str = "light",
        **options: Any,
    ) -> Any:
        context = profile
        if opened or options:
            context = chromium.new_context(**options)
            context.set_default_timeout(1000 * PATIENCE)
            contexts.append(context)
        opened.append(name)
        page = context.new_page()
        page.set_viewport_size(viewport)
        page.emulate_media(color_scheme=color_scheme)
        page.add_init_script(SETTINGS + script)
        page.on("pageerror", lambda error: errors.append(str(error)))
        at.let_in(context, name, roles)
        page.goto(at.url(path))
        if ready:
            page.wait_for_selector(STAGE)
        return page

    errors: list[str] = []
    yield opens
    for context in contexts:
        context.close()
    assert not errors
