"""A person's turn, apart from the page: at which scenario they are, and what comes of it."""

from __future__ import annotations

import hashlib
import logging
import threading
from collections import OrderedDict
from collections.abc import Collection, Iterator, Mapping
from itertools import islice
from typing import Any

from sts.annotations.store import Store
from sts.annotations.types import Annotator
from sts.continuations import human
from sts.continuations.store import saved
from sts.domains import Worlds, domain
from sts.engine.rendering import Sheet, look, webp
from sts.errors import StsError
from sts.storage.workspace import Workspace
from sts.suites.types import Scenario, Suite
from sts.viewer.payload import encode_sprite
from sts.viewer.sprites import load_sprites
from sts_annotator_app import queueing
from sts_annotator_app.events import read_message

MAX_TRIES = 12
"""Scenarios that are tried at a time until one can be shown."""
MAX_OPEN = 256
"""Plays that a process holds open: what each has seen is some kilobytes a turn."""

_LOG = logging.getLogger(__name__)


class PlaySession:
    """A person's play as their pages are shown it; it takes one message at a time."""

    def __init__(self, workspace: Workspace, scenario: Scenario, person: Annotator) -> None:
        """Replays the context.

        Raises:
          StsError: the scenario cannot be shown.
        """
        recording, self._role = scenario.recording, scenario.roles[0]
        self._lock = threading.Lock()
        self._takeover, self._domain = scenario.takeover, recording.domain
        self._view: dict[str, Any] = {}
        self._context: list[Sheet] = []
        self._sprites: list[dict[str, Any]] = []
        picture = domain(recording.domain).picture(recording.state)
        self._framed = picture.kind == "frames"
        if self._framed:
            self._view["you"] = picture.names[picture.participants[self._role]]
            context = recording.part(recording.state, 0, scenario.takeover)
            self._context = load_sprites(workspace, context, self._role)
            self._sprites = [encode_sprite(one) for one in self._context]
        else:
            self._view["drawing"] = recording.domain
        self.play = human.Play(scenario, person=person.name, attempt=0, look=self._record_frame)

    def _record_frame(self, frame: int, worlds: Worlds) -> None:
        """Keep one picture more where they see frames; the context's are there already."""
        if not self._framed or 0 < frame <= self._takeover:
            return
        seen = look(worlds, self._domain, self._role)
        if frame:
            self._sprites.append(encode_sprite(Sheet(webp(seen), columns=1, count=1)))
        else:
            self._view["height"], self._view["width"], _ = seen.shape

    def answer(self, message: Mapping[str, Any]) -> dict[str, Any]:
        """Take the turns in `message` and return what its page has not been shown yet.

        A page sends `frames`, how many it has, and `turns`, all that it has made since these.
        Turns that were taken stay: a page that has others is sent these. Everything after the
        first invalid turn is left out.

        Raises:
          StsError: a step failed, and the play cannot go on.
        """
        with self._lock:
            first, received = self._take_turns(message)
            view = self.play.view(first) | self._view | {"received": received}
            if self._framed:
                shown = len(self._context) + first - self._takeover - 1 if first else 0
                view["sprites"] = self._sprites[shown:]
            return view

    def _take_turns(self, message: Mapping[str, Any]) -> tuple[int, int]:
        """Return the first frame that the page lacks, and how many turns it says were made."""
        play, frames, sent = self.play, message.get("frames"), message.get("turns")
        first = frames if type(frames) is int and frames > self._takeover else 0
        shown = max(0, first - self._takeover - 1)
        if shown > len(play.turns):  # by a process that is gone; its page sends everything again
            return 0, 0
        sent = sent if isinstance(sent, list) else []
        turns = _parse_turns(sent[: play.scenario.horizon - shown], play.scenario)
        taken = play.turns[shown:]
        if turns[: len(taken)] == taken[: len(turns)]:
            for turn in turns[len(taken) :]:
                play.take(turn)
        return first, shown + len(sent)


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
        """Return a person's play of a scenario, as far as it has come; errors as `PlaySession`."""
        name = session_key(person, scenario)
        with self._lock:
            found = self._open.get(name)
        made = found or PlaySession(workspace, scenario, person)
        with self._lock:
            made = self._open.setdefault(name, made)
            self._open.move_to_end(name)
            while len(self._open) > MAX_OPEN:
                self._open.popitem(last=False)
        return made

    def close(self, scenario: Scenario, person: Annotator) -> None:
        """End a play that cannot go on."""
        with self._lock:
            self._open.pop(session_key(person, scenario), None)


def sync_page(
    workspace: Workspace,
    store: Store,
    suite: Suite,
    person: Annotator,
    sent: object,
    *,
    author: str,
    judged: Collection[str],
    plays: PlaySessions,
    broken: set[str],
) -> dict[str, Any]:
    """Take the turns in `sent` and return what the person's page has not been shown yet.

    A scenario that cannot be shown is added to `broken`, by its content hash, and passed over; if
    none is left, the page is given their number. `judged` holds the hashes of scenarios that the
    person has met as an annotator, who sees more than an agent may. A finished continuation is
    kept, and queued for others to judge.
    """
    message = read_message(sent, author)
    offered = _iterate_playable(workspace, suite, person, message.get("session"), judged)
    for scenario in islice((one for one in offered if one.hash not in broken), MAX_TRIES):
        name, shown = session_key(person, scenario), None
        try:
            shown = plays.get_or_open(workspace, scenario, person)
            view = shown.answer(message if message.get("session") == name else {})
        except StsError as error:
            _LOG.error("scenario %s: %s", scenario.id, error)
            if shown is None:  # what a page sent closes a scenario to nobody else
                broken.add(scenario.hash)
            plays.close(scenario, person)
        else:
            break
    else:
        return {"author": author, "session": None, "broken": len(broken)}
    if view["finished"]:
        one = shown.play.finish(workspace, seconds=_parse_seconds(message.get("seconds")))
        queueing.enqueue(store, suite, [one])
    return {"author": author, "session": name, **view}


def session_key(person: Annotator, scenario: Scenario) -> str:
    """What a browser knows a person's scenario by; it tells neither which nor where it is from."""
    return hashlib.sha256(f"play {person.id} {scenario.hash}".encode()).hexdigest()[:24]


def _iterate_playable(
    workspace: Workspace,
    suite: Suite,
    person: Annotator,
    wanted: object,
    judged: Collection[str],
) -> Iterator[Scenario]:
    """The scenario that the page is at, then those that the person may play, in their own order."""
    order = sorted(
        (s for s in suite.scenarios if len(s.roles) == 1), key=lambda s: session_key(person, s)
    )
    yield from (one for one in order if session_key(person, one) == wanted)
    for one in order:
        played = saved(workspace, human.identity(one, person.name, 0))
        if not played and one.hash not in judged and session_key(person, one) != wanted:
            yield one


def _parse_turns(sent: list[object], scenario: Scenario) -> list[human.Turn]:
    """Return what of `sent` comes before the first that is no turn."""
    world = domain(scenario.recording.domain)
    turns: list[human.Turn] = []
    for one in sent:
        if not isinstance(one, list) or [type(n) for n in one] != [int, int]:
            break
        if not (0 <= one[0] < len(world.moves) and 0 <= one[1] < len(world.tokens)):
            break
        turns.append(human.Turn(*one))
    return turns


def _parse_seconds(sent: object) -> float:
    sound = isinstance(sent, int | float) and not isinstance(sent, bool) and 0 <= sent <= 1e6
    return float(sent) if sound else float("nan")  # type: ignore[arg-type]
