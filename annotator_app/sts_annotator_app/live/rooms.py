"""Rooms: each is one live session, its clock and the connections of its people.

One task owns a session and takes its steps; messages of people are handled between steps. The
clock runs while all people are connected. It never catches up after a delay.
"""

import asyncio
import base64
import contextlib
import logging
from collections.abc import Awaitable, Callable, Mapping
from typing import Any, Protocol

from sts.engine.rendering import encode_webp, render_frame
from sts.errors import ArgumentError, StsError, Unavailable
from sts.live.game import Game
from sts.live.openings import AGENT_PACE_S, get_controls
from sts.live.types import Turn, check_turn

COUNTDOWN_S = 3.0
"""Time between the moment when all people are connected and the first tick."""
PATIENCE_S = 300.0
"""Time after which a session ends if a person has not come back."""
CONTEXT_TICK_S = 0.35
"""Time from step to step in the context of a scenario that is turn-based."""
FAILED = "This session cannot be continued now; tell the study lead. All up to here is saved."
DISK_FAILED = "The server cannot save this session; tell the study lead. All up to here is saved."
AGENT_FAILED = "The agent has stopped working, so this session ends here. It is saved."
LEFT = "The other person did not come back, so this session ends here. It is saved."
_LOG = logging.getLogger(__name__)


class Refused(ArgumentError):
    """A person may not enter or start a session; says why, in words for them."""


class Connection(Protocol):
    """A person's connection."""

    async def send(self, message: dict[str, Any]) -> None:
        """Send a message; never raise if the connection is lost."""

    async def close(self, reason: str) -> None:
        """Close it, after telling the page why."""


class Room:
    """A live session with its connections.

    Attributes:
      game: the session.
      task: which owns it, from `open` on.
    """

    task: asyncio.Task[None]

    def __init__(
        self,
        game: Game,
        finish: Callable[[Game], Awaitable[None]],
        *,
        countdown: float = COUNTDOWN_S,
        patience: float = PATIENCE_S,
    ) -> None:
        """Prepare a room; `finish` stores the record of an ended session."""
        self.game, self._finish = game, finish
        self._countdown, self._patience = countdown, patience
        self._people = {i for i, p in enumerate(game.participants) if p.acts}
        self._acting = {p.player for p in game.participants if p.acts and p.player is not None}
        self._connections: dict[int, Connection] = {}
        self._turns: dict[int, Turn] = {}  # next turns, by player
        self._held: dict[int, Turn] = {}  # keys that are held down, by player
        self._changed = asyncio.Event()
        self._game_lock = asyncio.Lock()  # the game is used by one coroutine at a time
        self._slow = False
        self._done: set[int] = set()  # participants who mark nothing more
        self._is_closed = False  # True once nothing more can be changed
        layout = game.domain.scene_layout(game.opening.state)
        self._is_framed = layout.kind == "frames"
        self._layout = vars(layout) | {"details": dict(layout.details)}

    def open(self) -> None:
        """Start the task that owns the session."""
        self.task = asyncio.create_task(self._run())

    async def seat(self, name: str) -> int:
        """Return a person's place, after taking a free one if they have none.

        Raises:
          Refused: there is none.
          Unavailable: the journal cannot be written.
        """
        async with self._game_lock:
            places = {p.name: i for i, p in enumerate(self.game.participants) if p.acts}
            if name in places:
                return places[name]
            if "" not in places:
                raise Refused("You have no place in this session.")
            await asyncio.to_thread(self.game.seat, places[""], name)
            return places[""]

    async def enter(self, participant: int, connection: Connection) -> None:
        """Connect a person; an earlier connection of theirs is closed."""
        async with self._game_lock:
            before = self._connections.pop(participant, None)
            if before is not None:
                await before.close("This session was opened in another tab.")
            else:
                await asyncio.to_thread(self._note, "joined", participant)
            await connection.send(self._greet(participant))
            await connection.send(await self._show(participant))
            self._connections[participant] = connection
            await self._send_state()
        self._changed.set()

    async def leave(self, participant: int, connection: Connection) -> None:
        """Disconnect a person, unless they have connected again."""
        if self._connections.get(participant) is not connection:
            return
        del self._connections[participant]
        self._turns.clear()
        self._held.clear()
        async with self._game_lock:
            await asyncio.to_thread(self._note, "left", participant)
            await self._send_state()
        self._changed.set()

    async def receive(self, participant: int, message: Mapping[str, Any]) -> dict[str, Any]:
        """Handle a message of a person, and return the answer; it is saved when it arrives."""
        kind = message.get("type")
        try:
            if kind in ("press", "release"):
                self._take_key(participant, kind, message)
                return {"type": "key"}
            async with self._game_lock:
                if self._is_closed:
                    raise ArgumentError("This session is closed and can no longer be changed.")
                await asyncio.to_thread(self._handle, participant, kind, message)
                await self._send_state()
        except (ArgumentError, Unavailable) as error:
            text = DISK_FAILED if isinstance(error, Unavailable) else str(error)
            return {"type": "refused", "key": message.get("key"), "text": text}
        self._changed.set()
        return {"type": "saved", "key": message.get("key")}

    def _handle(self, participant: int, kind: object, message: Mapping[str, Any]) -> None:
        """Change the session; raise ArgumentError if the message is invalid."""
        game = self.game
        if kind == "tell":
            game.tell(
                participant,
                _read(message, "text", str),
                prompt=_read(message, "prompt", str, ""),
                typed=_read(message, "typed", str, "free"),
                key=_read(message, "key", str, ""),
            )
        elif kind == "mark":
            number, note = _read(message, "instruction", int), _read(message, "note", str, "")
            game.mark(participant, number, _read(message, "mark", str), note)
        elif kind == "swap":
            game.swap()
        elif kind == "end":
            game.end("finished")
        elif kind == "done":
            self._done.add(participant)
        else:
            raise ArgumentError("This message is not known.")

    def _take_key(self, participant: int, kind: str, message: Mapping[str, Any]) -> None:
        """Note a key for the next step; the last one before a tick counts."""
        player = self.game.participants[participant].player
        if player is None:
            raise ArgumentError("You set tasks here and do not move.")
        turn = Turn(_read(message, "move", int), message.get("say", self.game.silence))
        if kind == "release":
            if (held := self._held.get(player)) and held.move == turn.move:
                del self._held[player]
            return
        check_turn(turn, self.game.domain)
        if self.game.is_forced(player):
            return
        self._turns[player] = turn
        if get_controls(self.game.domain.name).repeats:
            self._held[player] = turn._replace(say=self.game.silence)
        self._changed.set()

    async def _run(self) -> None:
        """Take steps until the session ends, and store its record once people have left it."""
        try:
            await self._take_steps()
            await self._send_state()
            if self.game.told:  # which may be marked until then
                await self._wait_for_marks()
            async with self._game_lock:
                self._is_closed = True
            await self._finish(self.game)
        except (Unavailable, OSError) as error:  # of the disk; what is on it can be resumed
            _LOG.error("live session %s: %s", self.game.opening.id, error)
            await self._broadcast({"type": "stopped", "text": DISK_FAILED})
        except StsError as error:
            _LOG.error("live session %s: %s", self.game.opening.id, error)
            await self._broadcast({"type": "stopped", "text": FAILED})
        finally:
            async with self._game_lock:
                self._is_closed = True
                await asyncio.to_thread(self.game.close)

    async def _take_steps(self) -> None:
        loop, game = asyncio.get_running_loop(), self.game
        due = wanted = -1.0  # no step before the countdown
        while not game.ended:
            if not self._all_here:
                await self._wait_for_people()
                due = -1.0
                continue
            if due < 0 or self._is_at_takeover():
                await self._broadcast({"type": "countdown", "seconds": self._countdown})
                wanted = loop.time() + self._countdown + (self._tick() or 0.0)
                due = wanted
            tick = self._tick()
            if tick is None:
                await self._wait_until(
                    lambda: self._acting <= self._turns.keys() or self._is_interrupted
                )
            else:
                await asyncio.sleep(max(0.0, due - loop.time()))
            if self._is_interrupted:
                continue
            began = loop.time()
            await self._step(0.0 if tick is None else max(0.0, began - wanted) * 1000)
            self._slow = tick is not None and loop.time() - began > tick
            wanted = due + (tick or 0.0)
            due = max(wanted, loop.time())

    @property
    def _all_here(self) -> bool:
        """True if all people are connected."""
        return self._people <= self._connections.keys()

    @property
    def _is_interrupted(self) -> bool:
        """True if there is no step to take."""
        return bool(self.game.ended) or not self._all_here

    def _is_at_takeover(self) -> bool:
        """Return True if a person takes over at a clocked step, for which they get ready."""
        scenario, tick = self.game.scenario, self.game.opening.tick
        return scenario is not None and bool(tick) and self.game.time == scenario.context

    def _tick(self) -> float | None:
        """Return the seconds to the next step; None if it waits for turns."""
        tick = self.game.opening.tick
        if tick is None:
            return CONTEXT_TICK_S if all(map(self.game.is_forced, self._acting)) else None
        return tick or AGENT_PACE_S

    async def _wait_for_people(self) -> None:
        """Wait until all people are connected; end the session if one stays away."""
        try:
            async with asyncio.timeout(self._patience if self.game.time else None):
                await self._wait_until(lambda: self._all_here or bool(self.game.ended))
        except TimeoutError:
            async with self._game_lock:
                await asyncio.to_thread(self.game.end, "left")
                await self._broadcast({"type": "ended", "text": LEFT})

    async def _wait_for_marks(self) -> None:
        """Wait until all have left, and have marked what they asked or said that they are done."""
        told = self.game.told
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(self._patience):
                await self._wait_until(
                    lambda: (
                        not self._connections and {t.by for t in told if not t.mark} <= self._done
                    )
                )

    async def _wait_until(self, is_true: Callable[[], bool]) -> None:
        while not is_true():
            self._changed.clear()
            await self._changed.wait()

    async def _step(self, late_ms: float) -> None:
        turns, self._turns = self._held | self._turns, {}
        async with self._game_lock:
            if self.game.ended:
                return
            try:
                await asyncio.to_thread(self.game.step, turns, late_ms)
            except Unavailable:
                raise
            except StsError as error:  # of an agent
                _LOG.error("live session %s: %s", self.game.opening.id, error)
                await asyncio.to_thread(self.game.end, "agent failed", str(error))
                await self._broadcast({"type": "ended", "text": AGENT_FAILED})
                return
            for participant, connection in [*self._connections.items()]:
                await connection.send(await self._show(participant))

    async def _show(self, participant: int) -> dict[str, Any]:
        """Return the present frame, as a person may see it; setters see everything."""
        me = self.game.participants[participant]
        player = None if me.role == "setter" else me.player
        view = self.game.look(player)
        if self._is_framed:
            view |= await asyncio.to_thread(self._render, player)
        forced = player is not None and self.game.is_forced(player)
        return {
            "type": "frame",
            "t": self.game.time,
            "view": view,
            "said": self._list_said() if player is None else [],
            "watch": forced,
            "slow": self._slow,
        }

    def _render(self, player: int | None) -> dict[str, Any]:
        """Return a picture as lossless WebP, with its size."""
        picture = render_frame(self.game.worlds, self.game.domain.name, player)
        raw = base64.b64encode(encode_webp(picture)).decode()
        return {"webp": raw, "height": picture.shape[0], "width": picture.shape[1]}

    def _list_said(self) -> list[tuple[int, str]]:
        """Return the utterances of the last step: the player and the word."""
        game = self.game
        spoken = game.steps[-1].utterances.tolist() if game.steps else []
        words = game.domain.tokens
        return [(p, words[u] if words else u) for p, u in enumerate(spoken) if u != game.silence]

    def _greet(self, participant: int) -> dict[str, Any]:
        """Return what a page needs to know before the first frame."""
        game = self.game
        controls, me = get_controls(game.domain.name), game.participants[participant]
        scenario = game.scenario
        asked = scenario.instructions if scenario else ()
        return {
            "type": "hello",
            "session": game.opening.id,
            "activity": game.opening.activity,
            "drawing": None if self._is_framed else game.domain.name,
            "layout": self._layout,
            "moves": list(game.domain.action_names),
            "tokens": list(game.domain.tokens),
            "keys": dict(controls.keys),
            "repeats": controls.repeats,
            "tick": game.opening.tick,
            "max_steps": game.opening.max_steps,
            "me": participant,
            "player": me.player,
            "players": [p.player for p in game.participants],
            "instructions": [{"text": i.text, "step": i.given_at} for i in asked],
            "takeover": scenario.context if scenario else 0,
            "practice": game.opening.practice,
        }

    async def _send_state(self) -> None:
        """Send everybody the roles, instructions and marks, and who is connected."""
        game = self.game
        state = {
            "type": "state",
            "roles": [p.role for p in game.participants],
            "kinds": ["person" if p.acts else p.kind for p in game.participants],
            "here": sorted(self._connections),
            "told": [
                {
                    "text": told.text,
                    "step": told.step,
                    "by": told.by,
                    "mark": told.mark,
                    "key": told.key,
                }
                for told in game.told
            ],
            "swapped": game.swapped,
            "ended": game.ended,
        }
        await self._broadcast(state)

    async def _broadcast(self, message: dict[str, Any]) -> None:
        for connection in [*self._connections.values()]:
            await connection.send(message)

    def _note(self, kind: str, participant: int) -> None:
        if self._is_closed:
            return
        try:
            self.game.note_presence(kind, participant)
        except Unavailable as error:  # the next step reports it to the page
            _LOG.error("live session %s: %s", self.game.opening.id, error)


def _read(message: Mapping[str, Any], name: str, kind: type, default: Any = None) -> Any:
    """Return a field of a message; raise ArgumentError if it is missing or of another type."""
    value = message.get(name, default)
    if type(value) is not kind:
        raise ArgumentError(f"expected {name} in this message, found {type(value).__name__}")
    return value
