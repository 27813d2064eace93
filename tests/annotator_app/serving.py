"""`sts annotate` on continuations of a small suite, as a process of a test."""

from __future__ import annotations

import contextlib
import signal
import socket
import subprocess
import sys
import urllib.request
from pathlib import Path
from typing import Any, Self

from sts.annotations.answers import progress
from sts.annotations.database.annotation_store import AnnotationStore
from sts.annotations.people import people, sessions
from sts.storage.workspace import Workspace
from sts_annotator_app.auth.browser_sessions import cookie_name
from tests.stores import add_person, ask, change
from tests.waiting import PATIENCE, wait_until
from tests.zygote import Copy, Zygote

ROOT = Path(__file__).parents[2]
SUITE = "small@1"
OWNER = "Olga"
AGENTS = ("local-search", "stigmergy")


class Server:
    """`sts annotate` as a process, on its own workspace and a free loopback port.

    `attempt` is added to names, so that a test that is repeated meets no work of its first attempt.
    """

    def __init__(
        self,
        folder: Path,
        suite: str = SUITE,
        base: str = "",
        options: tuple[str, ...] = (),
        zygote: Zygote | None = None,
    ) -> None:
        self.folder, self.suite, self.base, self.zygote = folder, suite, base, zygote
        self.options = (*options, *(("--base-path", base) if base else ()))
        # Bound and not listened on, so that only the server takes the port, at any start.
        self.held = socket.socket()
        self.held.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        self.held.bind(("127.0.0.1", 0))
        self.port = self.held.getsockname()[1]
        self.store = AnnotationStore.open(Workspace.open(str(folder)))
        self.process: subprocess.Popen[bytes] | Copy | None = None
        self.attempt = ""

    @property
    def place(self) -> str:
        """The name of the workspace in its cookie and storage."""
        return str(self.folder.resolve())

    def start(self) -> None:
        words = ["annotate", self.suite, "--workspace", str(self.folder), "--port", str(self.port)]
        words += ["--user", OWNER, "--no-browser", *self.options]
        if self.zygote:
            self.process = self.zygote.start(words, ROOT, self.folder / "server.log")
        else:
            command = [sys.executable, "-m", "sts.cli.main", *words]
            with (self.folder / "server.log").open("ab") as log:
                self.process = subprocess.Popen(command, cwd=ROOT, stdout=log, stderr=log)
        try:
            wait_until(self._answers, "the server answers")
        except AssertionError:
            self.end(signal.SIGKILL)
            raise

    def _answers(self) -> bool:
        assert self.process
        with contextlib.suppress(OSError):
            urllib.request.urlopen(self.url("/_stcore/health"), timeout=PATIENCE).close()
            return True
        assert self.process.poll() is None, (self.folder / "server.log").read_text()
        return False

    def end(self, how: int = signal.SIGTERM) -> None:
        assert self.process
        self.process.send_signal(how)
        self.process.wait(PATIENCE)

    def close(self) -> None:
        self.end()
        self.store.close()
        self.held.close()

    def __enter__(self) -> Self:
        self.start()
        return self

    def __exit__(self, *error: object) -> None:
        self.close()

    def url(self, path: str) -> str:
        return f"http://127.0.0.1:{self.port}{self.base}{path}"

    def secret(self, name: str, roles: tuple[str, ...] = ("annotator",)) -> str:
        """Return the secret of a session of `name`, who is added in these roles when new."""
        name = name if name == OWNER else name + self.attempt
        if name == OWNER:
            owner = ask(self.store, people.get_person, OWNER).id
            return change(self.store, sessions.start_session, owner)
        if name in {one.name for one in ask(self.store, people.list_people)}:
            person = change(self.store, people.invite, name)
        else:
            person = add_person(self.store, name, roles)
        return change(self.store, sessions.accept_invitation, str(person.token))

    def let_in(self, context: Any, name: str, roles: tuple[str, ...] = ("annotator",)) -> None:
        """Sign a person in to a browser profile, without the page of an invitation."""
        cookie = {"name": cookie_name(self.place), "value": self.secret(name, roles)}
        context.add_cookies([cookie | {"url": self.url("/"), "httpOnly": True}])

    def judgements(self, name: str) -> list[Any]:
        name += self.attempt
        found = [one for one in ask(self.store, people.list_people) if one.name == name]
        return ask(self.store, progress.load_recent_judgements, found[0].id, limit=1000)


def empty_workspace(folder: Path) -> Workspace:
    """Return a workspace that needs more judgements than all tests give."""
    workspace = Workspace.open(str(folder)).create()
    settings = folder / "workspace.toml"
    settings.write_text(settings.read_text().replace("clip = 1\n", "clip = 40\n"))
    return workspace


def quiet(done: int, total: int) -> None:
    """Show no progress."""
