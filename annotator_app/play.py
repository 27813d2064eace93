"""A person's turn, apart from the page: at which scenario they are, and what comes of it."""

from __future__ import annotations

import hashlib
import logging
from collections.abc import Collection, Iterator
from itertools import islice
from typing import Any

from annotator_app import queueing, sprites
from annotator_app.episodes import sprite_view
from annotator_app.events import own
from sts.annotations.store import Store
from sts.annotations.types import Annotator
from sts.continuations import session
from sts.continuations.store import saved
from sts.domains import Worlds, domain
from sts.engine.rendering import look
from sts.errors import StsError
from sts.storage.workspace import Workspace
from sts.suites.types import Scenario, Suite

PATIENCE = 12
"""Scenarios that are tried at a time until one can be shown."""

_LOG = logging.getLogger(__name__)


def exchange(
    workspace: Workspace,
    store: Store,
    suite: Suite,
    person: Annotator,
    sent: object,
    *,
    author: str,
    judged: Collection[str],
    broken: set[str],
) -> dict[str, Any]:
    """Replays the turns in `sent` and returns what the person sees now.

    Everything after the first turn that is not one is left out, and the page goes on from there. A
    scenario that cannot be shown is passed over; where none is left, the page is told how many.

    Args:
      workspace: keeps the continuation once it is finished.
      store: has it judged among the others from then on.
      suite: whose scenarios are played.
      person: who is at the page; never asked to judge what they played.
      sent: the component's state, or None on a page that has just been opened.
      author: the person's namespace; what another author sent is ignored.
      judged: content hashes of scenarios that the person has met as a judge, who sees more than
        an agent may.
      broken: content hashes of scenarios that cannot be shown, as was found by now; what is found
        here is added.
    """
    message = own(sent, author)
    offered = _offered(workspace, suite, person, message.get("session"), judged)
    for scenario in islice((one for one in offered if one.hash not in broken), PATIENCE):
        name = key(person, scenario)
        received = message.get("turns") if message.get("session") == name else None
        turns: list[session.Turn] = []
        try:
            turns = _turns(received, scenario)
            view = _view(workspace, scenario, turns, person)
        except StsError as error:
            _LOG.error("scenario %s: %s", scenario.id, error)
            if not turns:  # what a page sent closes a scenario to nobody else
                broken.add(scenario.hash)
        else:
            break
    else:
        return {"author": author, "session": None, "broken": len(broken)}
    if view["finished"]:
        seconds = _seconds(message.get("seconds"))
        one = session.finish(
            workspace, scenario, turns, person=person.name, attempt=0, seconds=seconds
        )
        queueing.enqueue(workspace, store, suite, [one])
    count = len(received) if isinstance(received, list) else 0
    return {"author": author, "session": name, "received": count, **view}


def _view(
    workspace: Workspace, scenario: Scenario, turns: list[session.Turn], person: Annotator
) -> dict[str, Any]:
    """The person's view; with pictures of 1 or more frames each where they see frames."""
    recording, takeover, role = scenario.recording, scenario.takeover, scenario.roles[0]
    picture = domain(recording.domain).picture(recording.state)
    if picture.kind != "frames":
        view = session.view(scenario, turns, person=person.name, attempt=0)
        return {**view, "drawing": recording.domain}
    context = sprites.sprites_of(workspace, recording.part(recording.state, 0, takeover), role)
    seen = [sprite_view(one) for one in context]
    size: dict[str, int] = {}

    def see(frame: int, worlds: Worlds) -> None:
        if frame == 0:
            height, width, _ = look(worlds, recording.domain, role).shape
            size.update(height=height, width=width)
        if frame > takeover:
            seen.append(sprite_view(sprites.sight_of(worlds, recording.domain, role)))

    view = session.view(scenario, turns, person=person.name, attempt=0, look=see)
    you = picture.names[picture.participants[role]]
    return {**view, **size, "sprites": seen, "you": you}


def key(person: Annotator, scenario: Scenario) -> str:
    """What a browser knows a person's scenario by; it tells neither which nor where it is from."""
    return hashlib.sha256(f"play {person.id} {scenario.hash}".encode()).hexdigest()[:24]


def _offered(
    workspace: Workspace,
    suite: Suite,
    person: Annotator,
    wanted: object,
    judged: Collection[str],
) -> Iterator[Scenario]:
    """The scenario that the page is at, then those that the person may play, in their own order."""
    order = sorted((s for s in suite.scenarios if len(s.roles) == 1), key=lambda s: key(person, s))
    yield from (one for one in order if key(person, one) == wanted)
    for one in order:
        played = saved(workspace, session.identity(one, person.name, 0))
        if not played and one.hash not in judged and key(person, one) != wanted:
            yield one


def _turns(sent: object, scenario: Scenario) -> list[session.Turn]:
    world = domain(scenario.recording.domain)
    turns: list[session.Turn] = []
    for one in sent[: scenario.horizon] if isinstance(sent, list) else ():
        if not isinstance(one, list) or [type(n) for n in one] != [int, int]:
            break
        if not (0 <= one[0] < len(world.moves) and 0 <= one[1] < len(world.tokens)):
            break
        turns.append(session.Turn(*one))
    return turns


def _seconds(sent: object) -> float:
    sound = isinstance(sent, int | float) and not isinstance(sent, bool) and 0 <= sent <= 1e6
    return float(sent) if sound else float("nan")  # type: ignore[arg-type]
