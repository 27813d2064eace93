"""A small server with the page of live sessions, for tests of the page alone."""

from __future__ import annotations

import asyncio
import json
import socket
import threading
from collections.abc import Coroutine, Sequence
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import uvicorn
from starlette.applications import Starlette
from starlette.requests import HTTPConnection, Request
from starlette.responses import HTMLResponse, Response
from starlette.routing import Route, WebSocketRoute

from sts.annotations.records import Annotator
from sts.domains import load_domain
from sts.domains.drawing import read_drawing
from sts.live.game import Game
from sts.live.types import Opening, Participant
from sts_annotator_app.auth.browser_sessions import BrowserSessions
from sts_annotator_app.components import load_component
from sts_annotator_app.live.rooms import Refused, Room
from sts_annotator_app.live.socket import serve_live
from tests.waiting import wait_until

PROMPTS = [
    {"kind": "instruction", "difficulty": "easy", "text": "Ask the other player to go somewhere."},
    {"kind": "question", "difficulty": "medium", "text": "Ask what the other player can see."},
    {"kind": "play", "difficulty": "hard", "text": "Make up a game for the two of you."},
]
PAGE = """<!doctype html><html lang="en"><meta charset="utf-8">
<meta name="viewport" content="width=device-width"><title>Live session</title>
<style>
  :root { color-scheme: light dark; --st-background-color: #ffffff; --st-text-color: #31333f; }
  @media (prefers-color-scheme: dark) {
    :root {
      --st-background-color: #0e1117; --st-text-color: #fafafa; --st-border-color: #444444;
      --st-secondary-background-color: #262730;
    }
  }
  body { background: var(--st-background-color); color: var(--st-text-color); margin: 12px 16px; }
  h1 { font: 600 20px sans-serif; margin: 0 0 6px; }
</style>
<main><h1>Live session</h1><div id="host"></div></main>
<script type="module">
  import mount from "/live.js";
  const root = document.getElementById("host").attachShadow({ mode: "open" });
  const { html, css, data } = DATA;
  root.innerHTML = `<style>${css}</style>${html}`;
  mount({ parentElement: root, data, setStateValue: (name, value) => (window.sent = value) });
</script></html>"""


class Cookies(BrowserSessions):
    """Sessions whose secret is the name of the person."""

    def __init__(self) -> None:
        super().__init__(lambda: cast(Any, None), "person")

    def find_person(self, connection: HTTPConnection) -> Annotator | None:
        """Return the person in the cookie."""
        name = self.read_secret(connection)
        return Annotator(1, name) if name else None


class SteppedRoom(Room):
    """A room whose clock is the test's: it takes as many steps as it is granted."""

    _granted = 0

    async def grant(self, steps: int) -> None:
        """Let it take some more steps."""
        self._granted += steps
        self._changed.set()

    def _tick(self) -> float | None:
        return None if super()._tick() is None else 0.0

    async def _step(self, late_ms: float) -> None:
        if self._tick() is not None:
            await self._wait_until(lambda: self._granted > 0 or self._is_interrupted)
            if self._is_interrupted:
                return
            self._granted -= 1
            self._slow = False  # this clock is never late
        await super()._step(0.0)

    def is_pressed(self, player: int) -> bool:
        """Return True if a key of a player has arrived since the last step, or is held."""
        return player in self._turns or player in self._held


class Host:
    """A server on a free loopback port, in a thread; `rooms` are its sessions by id.

    Their clock is that of `kind`, the test's unless it is said.
    """

    def __init__(self, folder: Path, kind: type[Room] = SteppedRoom) -> None:
        self.folder, self._kind = folder, kind
        self.rooms: dict[str, Any] = {}
        self.finished: list[str] = []
        drawings = {"lambda-star": read_drawing(load_domain("lambda-star"))}
        self._component = load_component("live", drawings)
        routes = [
            Route("/", self._show_page),
            Route(
                "/live.js",
                lambda request: Response(self._component.js, media_type="text/javascript"),
            ),
            WebSocketRoute("/live/{session}", serve_live(Cookies(), self._find)),
        ]
        self._bound = socket.socket()
        self._bound.bind(("127.0.0.1", 0))
        self.address = f"http://127.0.0.1:{self._bound.getsockname()[1]}"
        config = uvicorn.Config(
            Starlette(routes=routes),
            ws="websockets-sansio",
            log_level="error",
            timeout_graceful_shutdown=1,
        )
        self._server = uvicorn.Server(config)
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._serve, daemon=True)
        self._thread.start()

    def _serve(self) -> None:
        with asyncio.Runner(loop_factory=lambda: self._loop) as runner:
            runner.run(self._server.serve(sockets=[self._bound]))

    def close(self) -> None:
        """Stop the server."""
        self._server.should_exit = True
        self._thread.join()

    def open(
        self, participants: Sequence[Participant], domain: str = "lambda-star", **changes: Any
    ) -> str:
        """Open a session and return its id.

        `changes` are fields of the opening, arguments of the room, or a `scenario` to play.
        """
        id = f"{len(self.rooms):024x}"
        room = {n: changes.pop(n) for n in ("countdown", "patience") if n in changes}
        more = {n: changes.pop(n) for n in ("load_agent", "scenario") if n in changes}
        if played := more.get("scenario"):
            steps, recording = played.context + played.horizon, played.recording
            changes |= {"scenario": played.hash, "state": recording.state, "max_steps": steps}
        settings = {"height": 6, "width": 6, "n_players": 3, "horizon": 50}
        world = load_domain(domain)
        (state,) = world.generate(1, seed=5, **(settings if domain == "lambda-star" else {}))
        fields: dict[str, Any] = {"tick": 0.1, "max_steps": 10_000, "state": state} | changes
        activity = "scenario" if "scenario" in fields else "record"
        opening = Opening(id, activity, domain, fields.pop("state"), tuple(participants), **fields)
        game = Game.start(self.folder / id, opening, **more)

        async def start() -> None:
            self.rooms[id] = self._kind(game, self._finish, **({"countdown": 0.0} | room))
            self.rooms[id].open()

        self._run(start())
        return id

    def step(self, session: str, steps: int) -> int:
        """Have a session take some steps; return its time once it has."""
        room = self.rooms[session]
        until = room.game.time + steps
        self._run(room.grant(steps))
        wait_until(lambda: room.game.time >= until or room.game.ended, "the steps are taken")
        return room.game.time

    def _run(self, what: Coroutine[Any, Any, None]) -> None:
        asyncio.run_coroutine_threadsafe(what, self._loop).result()

    def url(self, session: str, person: str) -> str:
        """Return the address of a person's page."""
        return f"{self.address}/?session={session}&person={person}"

    async def _finish(self, game: Game) -> None:
        self.finished.append(game.opening.id)

    async def _find(self, session: str, person: Annotator) -> tuple[Room, int]:
        names = [p.name for p in self.rooms[session].game.participants]
        if session in self.finished or person.name not in names:
            raise Refused("This session is over.")
        return self.rooms[session], names.index(person.name)

    def _show_page(self, request: Request) -> Response:
        query = SimpleNamespace(**request.query_params)
        data = {
            "author": f"place:{query.person}",
            "base": "",
            "session": query.session,
            "prompts": PROMPTS,
            "completions": ["go to the red ball", "pick up a key"],
        }
        shown = {"html": self._component.html, "css": self._component.css, "data": data}
        page = PAGE.replace("DATA", json.dumps(shown).replace("<", "\\u003c"))
        response = HTMLResponse(page)
        response.set_cookie("person", query.person)
        return response
