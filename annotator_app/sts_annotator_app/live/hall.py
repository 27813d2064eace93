"""The hall: all live sessions of a server, and how people get into them."""

from __future__ import annotations

import asyncio
import logging
import threading
from collections.abc import Callable, Iterable, Sequence
from typing import NamedTuple

from sts import agents
from sts.annotations.records import Annotator
from sts.continuations import human
from sts.continuations.continuation import Continuation
from sts.continuations.continuation_store import is_saved
from sts.errors import StsError
from sts.live.game import Game
from sts.live.journal import read_events
from sts.live.openings import open_evaluation, open_scenario
from sts.live.plans import Plan
from sts.live.records import get_journal_path, make_live_continuation, store_live_trajectory
from sts.live.types import Opening, Participant, list_participants
from sts.storage.files import content_hash
from sts.storage.workspace import Workspace
from sts.suites.suite import Scenario
from sts_annotator_app.live.rooms import PATIENCE_S, Refused, Room

_LOG = logging.getLogger(__name__)


class Place(NamedTuple):
    """A place in a session that a person has, or may take."""

    opening: Opening  # of the session
    role: str  # of the place
    is_own: bool  # True if the person has it already
    has_ended: bool  # True if nothing is left but marks


class _Session(NamedTuple):
    """A session of the workspace: how it began, who takes part, and what became of it."""

    opening: Opening
    participants: tuple[Participant, ...]
    stage: str  # "open"; "ended", and marks may be missing; "stored"

    @property
    def person(self) -> str:
        """The first person's name; "" without one."""
        return next((p.name for p in self.participants if p.acts), "")


class Hall:
    """The live sessions of a server; those that have not ended survive a restart.

    Sessions are created in any thread, and entered in the server's event loop.
    """

    def __init__(
        self,
        workspace: Workspace,
        *,
        find_scenario: Callable[[str], Scenario],
        add_continuation: Callable[[Continuation], None],
        check_person: Callable[[Annotator], None],
    ) -> None:
        """Find the sessions that have not ended, and store the records that are missing.

        Args:
          workspace: where journals and records are kept.
          find_scenario: returns a scenario by its content hash.
          add_continuation: saves a person's continuation and has it judged.
          check_person: raises Refused for someone who may not take part.
        """
        self._workspace, self._find_scenario = workspace, find_scenario
        self._add_continuation, self._check_person = add_continuation, check_person
        self._rooms: dict[str, Room] = {}
        self._entry_lock = asyncio.Lock()
        self._lock, self._start_lock = threading.Lock(), threading.Lock()
        self._sessions: dict[str, _Session] = {}
        for path in sorted(workspace.path("live", "sessions").glob("*.jsonl")):
            try:
                events = read_events(path)
                kinds = {event["kind"] for event in events}
                opening, participants = Opening.from_json(events[0]), list_participants(events)
                self._note(opening, participants, "stored" if "ended" in kinds else "open")
                if "ended" in kinds and kinds.isdisjoint(("stored", "erased")):
                    self._store_when_marked(self._resume(path.stem, has_ended=True))
            except (StsError, OSError, IndexError) as error:
                _LOG.error("live session %s: %s", path.stem, error)

    def create(self, opening: Opening, scenario: Scenario | None = None) -> None:
        """Create a session; errors as for `Game.start`."""
        path = get_journal_path(self._workspace, opening.id)
        game = Game.start(path, opening, scenario=scenario)
        game.close()
        self._note(opening, game.participants, "open")

    def start_evaluation(self, plan: Plan, pseudonym: str) -> str:
        """Create the next session of a person in a study, and return its id.

        A session that has not ended is returned again. Someone new gets the first free place.

        Raises:
          Refused: all places are taken, or the person has done all sessions.
          StsError: the session cannot be created.
        """
        with self._start_lock:
            sessions = [s for s in self._list_sessions() if s.opening.study == plan.name]
            own = [session for session in sessions if session.person == pseudonym]
            if running := next(filter(self._is_running, own), None):
                return running.opening.id
            place = self._find_place(plan, sessions, pseudonym)
            started = {session.opening.cell for session in own}
            cells = (n for n, cell in enumerate(plan.cells) if cell.person == place)
            left = [number for number in cells if number not in started]
            if not left:
                raise Refused("You have done all sessions of this study. Thank you!")
            opening = open_evaluation(plan, left[0], pseudonym)
            self.create(opening)
            return opening.id

    def start_scenario(self, scenarios: Iterable[Scenario], pseudonym: str) -> str:
        """Create the session in which a person plays their next scenario, and return its id.

        A session that has not ended is returned again. The order is random, and differs between
        people.

        Raises:
          Refused: none is left that one person can play.
          StsError: no session can be created.
        """
        with self._start_lock:
            sessions = [s for s in self._list_sessions() if s.opening.scenario]
            own = [session for session in sessions if session.person == pseudonym]
            if running := next(filter(self._is_running, own), None):
                return running.opening.id
            started = {session.opening.scenario for session in own}
            error: StsError = Refused("You have played all scenarios that are open to you.")
            ranked = sorted(
                scenarios, key=lambda s: content_hash(pseudonym.encode(), s.hash.encode())
            )
            for scenario in ranked:
                identity = human.make_identity(scenario, pseudonym)
                if (
                    len(scenario.players) > 1
                    or scenario.hash in started
                    or is_saved(self._workspace, identity)
                ):
                    continue
                try:
                    opening = open_scenario(scenario, pseudonym)
                    self.create(opening, scenario)
                    return opening.id
                except StsError as failure:
                    _LOG.error("scenario %s: %s", scenario.id, failure)
                    error = failure
            raise error

    def _note(self, opening: Opening, participants: Iterable[Participant], stage: str) -> None:
        with self._lock:
            self._sessions[opening.id] = _Session(opening, tuple(participants), stage)

    def _list_sessions(self) -> list[_Session]:
        with self._lock:
            return [*self._sessions.values()]

    def _is_running(self, session: _Session) -> bool:
        """Return True if a session has not ended."""
        room = self._rooms.get(session.opening.id)
        return session.stage == "open" and not (room and room.game.ended)

    def _find_place(self, plan: Plan, sessions: Sequence[_Session], pseudonym: str) -> int:
        """Return the number of a person in a plan, which is the first free one for someone new."""
        cells = {s.opening.cell: s.person for s in sessions if s.opening.cell < len(plan.cells)}
        taken = {plan.cells[number].person: name for number, name in cells.items()}
        places = [place for place in range(plan.people) if taken.get(place) == pseudonym]
        places += [place for place in range(plan.people) if place not in taken]
        if not places:
            raise Refused("All places in this study are taken.")
        return places[0]

    def list_places(self, name: str) -> list[Place]:
        """List a person's places in sessions that are not stored, then those that are free."""
        places: list[Place] = []
        for session in self._list_sessions():
            opening, participants, stage = session
            own = [p for p in participants if p.acts and p.name == name]
            free = [p for p in participants if p.acts and not p.name]
            is_running = self._is_running(session)
            if stage == "stored" or not (own or is_running):
                continue
            places += [Place(opening, p.role, bool(own), not is_running) for p in own or free[:1]]
        return sorted(places, key=lambda place: not place.is_own)

    async def find(self, session: str, person: Annotator) -> tuple[Room, int]:
        """Return the room of a session and a person's place in it, which they take if it is free.

        Raises:
          Refused: the session has ended or does not exist, or has no place for them.
          StsError: it cannot be resumed.
        """
        await asyncio.to_thread(self._check_person, person)
        async with self._entry_lock:
            room = self._rooms.get(session)
            if room is None or room.task.done():  # one that stopped is resumed from its journal
                known = self._sessions.get(session)
                if known is None or known.stage == "stored":
                    raise Refused("This session has ended, or does not exist.")
                has_ended = known.stage == "ended"
                game = await asyncio.to_thread(self._resume, session, has_ended=has_ended)
                room = Room(game, self._finish)
                self._rooms[session] = room
                room.open()
            place = await room.seat(person.pseudonym)
            stage = self._sessions[session].stage
            if stage != "stored":
                self._note(room.game.opening, room.game.participants, stage)
        return room, place

    def _resume(self, session: str, *, has_ended: bool) -> Game:
        path = get_journal_path(self._workspace, session)
        load_agent = None if has_ended else agents.load
        return Game.resume(path, find_scenario=self._find_scenario, load_agent=load_agent)

    async def _finish(self, game: Game) -> None:
        """Store the record of an ended session, and forget its room."""
        await asyncio.to_thread(self._store, game)
        self._note(game.opening, game.participants, "stored")
        self._rooms.pop(game.opening.id, None)

    def _store_when_marked(self, game: Game) -> None:
        """Store an ended session, after its people have had time to return and mark it."""
        if all(told.mark for told in game.told):
            self._store(game)
            return
        game.close()
        self._note(game.opening, game.participants, "ended")
        timer = threading.Timer(PATIENCE_S, self._store_unmarked, (game.opening.id,))
        timer.daemon = True
        timer.start()

    def _store_unmarked(self, session: str) -> None:
        """Store an ended session, unless a person has returned to it."""
        with self._lock:
            if session in self._rooms:
                return
            self._sessions[session] = self._sessions[session]._replace(stage="stored")
        try:
            self._store(self._resume(session, has_ended=True))
        except (StsError, OSError) as error:  # such as one that was erased meanwhile
            _LOG.error("live session %s: %s", session, error)

    def _store(self, game: Game) -> None:
        """Store what an ended session has recorded, note it in its journal, and close this."""
        try:
            if game.opening.activity == "scenario" and game.ended == "finished":
                continuation = make_live_continuation(game)
                self._add_continuation(continuation)
                game.note_stored(continuation.id)
            elif game.opening.activity != "scenario" and game.time:
                store_live_trajectory(self._workspace, game)
            else:
                game.note_stored("")
        finally:
            game.close()
