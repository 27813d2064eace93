"""A server on continuations of the packaged suite, and a browser in front of it."""

from __future__ import annotations

import contextlib
import os
import shutil
import signal
import socket
import subprocess
import sys
import time
import urllib.request
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from annotator_app.auth import cookie_name
from annotator_app.people import owner_key
from sts.annotations.store import Store
from sts.continuations.run import run
from sts.storage.workspace import Workspace
from sts.suites import store as suites
from tests.annotator_app import ring

REQUIRED = os.environ.get("STS_REQUIRE_BROWSER") == "1"
ROOT = Path(__file__).parents[2]
FLAGS = (
    "--headless --no-sandbox --disable-gpu --disable-quic --no-first-run --disable-sync "
    "--disable-background-networking --disable-component-update --renderer-process-limit=1"
).split()
SUITE = "starter@1"
OWNER = "Olga"
VIEWPORT = {"width": 1366, "height": 768}
STORED = "local_storage,indexeddb,cache_storage,file_systems,service_workers"
"""What pages may leave in a browser, in Chromium's words."""
PATIENCE = 180
"""Seconds after which a server or a page is taken for one that hangs, on a busy machine too."""
AGENTS = ("local-search", "stigmergy")


class Server:
    """`sts annotate` as a process of our own, on its own workspace and a free loopback port."""

    def __init__(
        self, folder: Path, suite: str = SUITE, base: str = "", options: tuple[str, ...] = ()
    ) -> None:
        self.folder, self.suite, self.base = folder, suite, base
        self.options = (*options, *(("--base-path", base) if base else ()))
        # Bound and not listened on, so that nobody but the server takes the port, at any start.
        self.held = socket.socket()
        self.held.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        self.held.bind(("127.0.0.1", 0))
        self.port = self.held.getsockname()[1]
        self.store = Store.open(Workspace.open(str(folder)))
        self.process: subprocess.Popen[bytes] | None = None

    @property
    def place(self) -> str:
        """What names the workspace to its pages."""
        return str(self.folder.resolve())

    def start(self) -> None:
        self.log = (self.folder / "server.log").open("ab")
        options = [
            "--workspace",
            str(self.folder),
            "--port",
            str(self.port),
            "--as",
            OWNER,
            "--no-browser",
        ]
        command = [sys.executable, "-m", "sts.cli.main", "annotate", self.suite]
        command += [*options, *self.options]
        self.process = subprocess.Popen(command, cwd=ROOT, stdout=self.log, stderr=self.log)
        began = time.monotonic()
        while time.monotonic() - began < PATIENCE:
            with contextlib.suppress(OSError):
                urllib.request.urlopen(self.url("/_stcore/health"), timeout=PATIENCE).close()
                return
            assert self.process.poll() is None, (self.folder / "server.log").read_text()
            time.sleep(0.1)
        self.end(signal.SIGKILL)
        raise AssertionError(f"the server did not come up within {PATIENCE} s")

    def end(self, how: int = signal.SIGTERM) -> None:
        assert self.process
        self.process.send_signal(how)
        self.process.wait(PATIENCE)
        self.log.close()

    def close(self) -> None:
        self.end()
        self.store.close()
        self.held.close()

    def url(self, path: str) -> str:
        return f"http://127.0.0.1:{self.port}{self.base}{path}"

    def secret(self, name: str, roles: tuple[str, ...] = ("annotator",)) -> str:
        """The secret of a session of `name`, who is added in these roles when new."""
        if name == OWNER:
            return owner_key(Workspace.open(str(self.folder)), OWNER)
        there = name in {one.name for one in self.store.annotators()}
        person = self.store.invite(name) if there else self.store.add_annotator(name, roles)
        return self.store.enter(str(person.token))

    def let_in(self, context: Any, name: str, roles: tuple[str, ...] = ("annotator",)) -> None:
        """Lets a person into a browser profile as an invitation would, without a page on the way.

        What is pressed on that page has a test of its own.
        """
        cookie = {"name": cookie_name(self.place), "value": self.secret(name, roles)}
        context.add_cookies([cookie | {"url": self.url("/"), "httpOnly": True}])

    def judgements(self, name: str) -> list[Any]:
        found = [one for one in self.store.annotators() if one.name == name]
        return self.store.history(found[0].id, limit=1000)


def empty_workspace(folder: Path) -> Workspace:
    """Returns a workspace that wants enough judgements for no test to leave another without."""
    workspace = Workspace.open(str(folder)).ensure()
    settings = folder / "workspace.toml"
    settings.write_text(settings.read_text().replace("required = 1 ", "required = 40 "))
    return workspace


def quiet(done: int, total: int) -> None:
    """Shows no progress."""


@pytest.fixture(scope="session")
def recorded(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A workspace in which two agents have continued the packaged suite, each scenario once."""
    folder = tmp_path_factory.mktemp("recorded")
    workspace = empty_workspace(folder)
    scenarios = suites.load(workspace, SUITE).scenarios
    run(workspace, scenarios, AGENTS, count=1, seed=0, workers=1, progress=quiet)
    return folder


@pytest.fixture(scope="session")
def ringing(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A workspace of a domain that renders pixels, in which one agent has continued a suite."""
    folder = tmp_path_factory.mktemp("ringing")
    workspace = empty_workspace(folder)
    scenarios = ring.scenarios(60)
    suites.freeze(workspace, "rings", scenarios)
    run(workspace, scenarios, (ring.RINGER,), count=1, seed=0, workers=1, progress=quiet)
    return folder


@pytest.fixture(scope="session")
def server(recorded: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    made = Server(shutil.copytree(recorded, tmp_path_factory.mktemp("shared") / "workspace"))
    made.start()
    yield made
    made.close()


@pytest.fixture(scope="session")
def pixels(ringing: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """A server on episodes that are seen as pictures."""
    copy = shutil.copytree(ringing, tmp_path_factory.mktemp("pixels") / "workspace")
    made = Server(copy, ring.SUITE)
    made.start()
    yield made
    made.close()


@pytest.fixture(scope="session")
def chromium() -> Iterator[Any]:
    names = ("chromium", "google-chrome", "chromium-browser")
    found = next(filter(None, ["/usr/bin/chromium", *map(shutil.which, names)]))
    if not found or not Path(found).exists():
        if REQUIRED:
            pytest.fail("STS_REQUIRE_BROWSER=1, and no chromium was found")
        pytest.skip(
            "no chromium found (apt-get install chromium); STS_REQUIRE_BROWSER=1 demands it"
        )
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=found, args=FLAGS)
        yield browser
        browser.close()


@pytest.fixture(scope="session")
def shared_profile(chromium: Any, server: Server) -> Iterator[Any]:
    """A browser profile that one test after the other has, each of which finds it empty.

    What it has fetched and compiled stays, which is half of what it costs to open a page: all its
    pages have one process, which lasts as long as one of them is open.
    """
    context = chromium.new_context()
    context.set_default_timeout(1000 * PATIENCE)
    context.new_page().goto(server.url("/_stcore/health"))
    yield context
    context.close()


@pytest.fixture
def profile(shared_profile: Any) -> Iterator[Any]:
    """The shared profile, of which nothing is left to the next test but what it has fetched."""
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


@pytest.fixture
def open_page(chromium: Any, profile: Any, server: Server) -> Iterator[Callable[..., Any]]:
    """Opens a person's page, and adds the person when new.

    A test's first page is one of the shared profile; that of another person, or one with a script
    or options that are a browser's and not a page's, has a profile of its own.
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
        if opened or script or options:
            context = chromium.new_context(**options)
            context.set_default_timeout(1000 * PATIENCE)
            context.add_init_script(script)
            contexts.append(context)
        opened.append(name)
        page = context.new_page()
        page.set_viewport_size(viewport)
        page.emulate_media(color_scheme=color_scheme)
        page.add_init_script("localStorage['sts:settings'] ??= '{\"autoplay\": false}'")
        page.on("pageerror", lambda error: errors.append(str(error)))
        at.let_in(context, name, roles)
        page.goto(at.url(path))
        if ready:
            page.wait_for_selector(".player .stage:not([hidden])")
        return page

    errors: list[str] = []
    yield opens
    for context in contexts:
        context.close()
    assert not errors
