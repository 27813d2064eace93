"""Play sessions: people play scenarios as an agent would, without the page itself."""

import hashlib
import logging
import threading
from collections import OrderedDict
from collections.abc import Collection, Iterator, Mapping
from itertools import islice
from typing import Any

from sts.annotations.store import AnnotationStore
from sts.annotations.types import Annotator
from sts.continuations import human
from sts.continuations.store import is_saved
from sts.domains import Worlds, load_domain
from sts.engine.rendering import Sheet, encode_webp, render_frame
from sts.errors import StsError
from sts.storage.workspace import Workspace
from sts.suites.types import Scenario, Suite
from sts.viewer.payload import encode_sprite
from sts.viewer.sprites import load_sprites
from sts_annotator_app import queueing
from sts_annotator_app.annotating import read_message

MAX_TRIES = 12
"""Scenarios tried per request until one can be displayed."""
MAX_OPEN = 256
"""Play sessions that a process keeps open, at some kilobytes a turn."""

_LOG = logging.getLogger(__name__)


class PlaySession:
    """A person's play of a scenario, for their page; it handles one message at a time."""

    def __init__(self, workspace: Workspace, scenario: Scenario, person: Annotator) -> None:
        """Replay the context; raise StsError if the scenario cannot be displayed."""
        recording, self._role = scenario.recording, scenario.players[0]
        self._lock = threading.Lock()
        self._takeover, self._domain = scenario.takeover, recording.domain
        self._view: dict[str, Any] = {}
        self._context: list[Sheet] = []
        self._sprites: list[dict[str, Any]] = []
        picture = load_domain(recording.domain).scene_layout(recording.state)
        self._framed = picture.kind == "frames"
        if self._framed:
            self._view["you"] = picture.names[picture.players[self._role]]
            context = recording.slice_steps(recording.state, 0, scenario.takeover)
            self._context = load_sprites(workspace, context, self._role)
            self._sprites = [encode_sprite(sheet) for sheet in self._context]
        else:
            self._view["drawing"] = recording.domain
        self.play = human.Play(scenario, person=person.name, attempt=0, look=self._record_frame)

    def _record_frame(self, frame: int, worlds: Worlds) -> None:
        """Render and keep a new frame of a pixel environment; the context's are kept already."""
        if not self._framed or 0 < frame <= self._takeover:
            return
        picture = render_frame(worlds, self._domain, self._role)
        if frame:
            self._sprites.append(encode_sprite(Sheet(encode_webp(picture), columns=1, count=1)))
        else:
            self._view["height"], self._view["width"], _ = picture.shape

    def answer(self, message: Mapping[str, Any]) -> dict[str, Any]:
        """Play the turns in `message` and return the frames that its page lacks.

        A page sends `frames`, the number that it has, and `turns`, those made since. Turns already
        played are final: a page with other turns is sent them. Turns after the first invalid one
        are ignored.

        Raises:
          StsError: a step failed, and the play cannot continue.
        """
        with self._lock:
            first, received = self._take_turns(message)
            view = self.play.view(first) | self._view | {"received": received}
            if self._framed:
                sprite_count = len(self._context) + first - self._takeover - 1 if first else 0
                view["sprites"] = self._sprites[sprite_count:]
            return view

    def _take_turns(self, message: Mapping[str, Any]) -> tuple[int, int]:
        """Return the first frame that the page lacks, and the number of turns it reports."""
        play, frames, sent = self.play, message.get("frames"), message.get("turns")
        first = frames if type(frames) is int and frames > self._takeover else 0
        turn_count = max(0, first - self._takeover - 1)
        if turn_count > len(play.turns):  # shown by an earlier process: ask the page for everything
            return 0, 0
        sent = sent if isinstance(sent, list) else []
        turns = _parse_turns(sent[: play.scenario.horizon - turn_count], play.scenario)
        later_turns = play.turns[turn_count:]
        if turns[: len(later_turns)] == later_turns[: len(turns)]:
            for turn in turns[len(later_turns) :]:
                play.take(turn)
        return first, turn_count + len(sent)


class PlaySessions:
    """Cache of open play sessions, one for each person and scenario.

    Beyond `MAX_OPEN` the least recently used session is closed; its page then sends every turn
    again, from which the session is rebuilt.
    """

    def __init__(self) -> None:
        self._open: OrderedDict[str, PlaySession] = OrderedDict()
        self._lock = threading.Lock()

    def get_or_open(
        self, workspace: Workspace, scenario: Scenario, person: Annotator
    ) -> PlaySession:
        """Return the open session of a person and scenario, or open one; see `PlaySession`."""
        name = session_key(person, scenario)
        with self._lock:
            session = self._open.get(name)
        session = session or PlaySession(workspace, scenario, person)
        with self._lock:
            session = self._open.setdefault(name, session)
            self._open.move_to_end(name)
            while len(self._open) > MAX_OPEN:
                self._open.popitem(last=False)
        return session

    def close(self, scenario: Scenario, person: Annotator) -> None:
        """Discard a session that cannot continue."""
        with self._lock:
            self._open.pop(session_key(person, scenario), None)


def sync_page(
    workspace: Workspace,
    store: AnnotationStore,
    suite: Suite,
    person: Annotator,
    sent: object,
    *,
    author: str,
    judged: Collection[str],
    plays: PlaySessions,
    broken: set[str],
) -> dict[str, Any]:
    """Play the turns in `sent` and return the next data for the person's page.

    Scenarios that cannot be displayed are added to `broken` by content hash and skipped; if none
    is left, the page gets their number. `judged` holds the hashes of scenarios that the person has
    annotated and is therefore not offered, since annotators see more than an agent may. A finished
    continuation is stored and queued for other annotators.
    """
    message = read_message(sent, author)
    playable = _iterate_playable(workspace, suite, person, message.get("session"), judged)
    for scenario in islice((s for s in playable if s.hash not in broken), MAX_TRIES):
        name, session = session_key(person, scenario), None
        try:
            session = plays.get_or_open(workspace, scenario, person)
            view = session.answer(message if message.get("session") == name else {})
        except StsError as error:
            _LOG.error("scenario %s: %s", scenario.id, error)
            if session is None:  # an error in the sent turns does not affect other people
                broken.add(scenario.hash)
            plays.close(scenario, person)
        else:
            break
    else:
        return {"author": author, "session": None, "broken": len(broken)}
    if view["finished"]:
        seconds = _parse_seconds(message.get("seconds"))
        continuation = session.play.finish(workspace, seconds=seconds)
        queueing.enqueue(store, suite, [continuation])
    return {"author": author, "session": name, **view}


def session_key(person: Annotator, scenario: Scenario) -> str:
    """Return the opaque name of a person's scenario that is sent to the browser."""
    return hashlib.sha256(f"play {person.id} {scenario.hash}".encode()).hexdigest()[:24]


def _iterate_playable(
    workspace: Workspace,
    suite: Suite,
    person: Annotator,
    requested: object,
    judged: Collection[str],
) -> Iterator[Scenario]:
    """Yield the requested scenario, then those that the person may play, in a personal order."""
    by_key = {session_key(person, s): s for s in suite.scenarios if len(s.players) == 1}
    if isinstance(requested, str) and requested in by_key:
        yield by_key.pop(requested)
    for _, scenario in sorted(by_key.items()):
        if scenario.hash not in judged:
            if not is_saved(workspace, human.make_identity(scenario, person.name, 0)):
                yield scenario


def _parse_turns(sent: list[object], scenario: Scenario) -> list[human.Turn]:
    """Return the turns in `sent` before the first invalid one."""
    world = load_domain(scenario.recording.domain)
    turns: list[human.Turn] = []
    for pair in sent:
        if not isinstance(pair, list) or [type(index) for index in pair] != [int, int]:
            break
        if not (0 <= pair[0] < len(world.action_names) and 0 <= pair[1] < len(world.tokens)):
            break
        turns.append(human.Turn(*pair))
    return turns


def _parse_seconds(sent: object) -> float:
    is_valid = isinstance(sent, int | float) and not isinstance(sent, bool) and 0 <= sent <= 1e6
    return float(sent) if is_valid else float("nan")  # type: ignore[arg-type]
