"""One exchange with a curator's page: what it decided is kept, what it needs comes back."""

from __future__ import annotations

import logging
from collections.abc import Mapping, Sequence
from typing import Any

from sts.annotations.store import Store
from sts.annotations.types import Annotator
from sts.errors import StsError
from sts.suites.decisions import Decision, opinion_of
from sts_annotator_app.curation import edits, outbox, views
from sts_annotator_app.curation.drafts import Drafts, Opened
from sts_annotator_app.curation.ghosts import Ghosts
from sts_annotator_app.curation.lists import SECOND, chosen, coverage, listed
from sts_annotator_app.events import UNSAVED, namespace, own
from sts_scenarios.freezing import Looked

AHEAD, BEHIND = 8, 3
"""Candidates that a page is sent before it asks for them, after and before that in view."""
NAMED = 60
"""Candidates on either side of it of which it is sent the ids."""
LINES = 12
"""Of the changelog."""
BACK = 20
"""Decisions of a person's own that can be undone before the next exchange."""
_HAS = 200
_LOG = logging.getLogger(__name__)

NO_DRAFT = {
    "title": "There is no draft yet",
    "text": "A draft is begun on the command line: “sts mine NAME” takes candidates from "
    "recordings, “sts draft from NAME@VERSION” begins the next version of a suite. It then appears "
    "here by itself.",
}


def exchange(
    drafts: Drafts,
    store: Store,
    person: Annotator,
    sent: object,
    *,
    place: str,
    ghosts: Ghosts | None = None,
) -> dict[str, Any]:
    """Keep the decisions in `sent`, as of `events.exchange`; return the next data.

    A decision that cannot be made is refused by name.
    """
    author = namespace(place, person.id)
    data: dict[str, Any] = {"author": author, "acks": [], "draft": None, "trouble": "", "empty": {}}
    message = own(sent, author)
    try:
        data["acks"] = outbox.keep(drafts, store, person, message.get("outbox"))
        data["drafts"] = drafts.names()
        name = message.get("draft")
        name = name if name in data["drafts"] else next(iter(data["drafts"]), None)
        if name is None:
            data["empty"] = NO_DRAFT
        else:
            opened = drafts.opened(name, store)
            data |= _of(opened, person, message)
            if ghosts is not None:
                near = [one["id"] for one in data["states"]]
                ghosts.near(opened, near)
                data["passed"] = ghosts.passed(opened, [opened.every[id] for id in near])
                data["ghost"] = ghosts.episode(opened, message.get("ghost"))
    except StsError as error:
        _LOG.error("drafts: %s", error)
        data["trouble"] = f"{UNSAVED} ({error})"
    return data


def prepare(opened: Opened, ghosts: Ghosts) -> None:
    """Load what the first page of a draft would wait for."""
    first = [*opened.every.values()][: AHEAD + 1]
    for one in first:
        views.candidate(opened, one)
    coverage(opened, blind=False)
    ghosts.passed(opened, first)


def _of(opened: Opened, person: Annotator, message: Mapping[str, Any]) -> dict[str, Any]:
    """Return what a page needs of a draft."""
    choice = chosen(message.get("list"), opened)
    blind = choice.status == SECOND
    ids = listed(opened, choice, person)
    at = message.get("at")
    at = at if isinstance(at, str) and at in opened.every else next(iter(ids), None)
    position = ids.index(at) if at in ids else None
    near = position or 0
    first = max(0, near - NAMED)
    undoable = _undoable(opened, person, blind)
    names = dict.fromkeys(one for one in (at,) if one is not None)
    names |= dict.fromkeys(ids[max(0, near - BEHIND) : near + AHEAD + 1])
    named = dict.fromkeys(one for one in _acked(message) if one in opened.every)
    about = names | named | dict.fromkeys(one["candidate"] for one in undoable)
    return {
        "draft": {
            "name": opened.draft.name,
            "id": opened.draft.id,
            "parent": opened.draft.parent,
            "candidates": len(opened.every),
        },
        "list": choice._asdict(),
        "total": len(ids),
        "position": position,
        "at": at,
        "first": first,
        "ids": ids[first : near + NAMED + 1],
        "candidates": _fresh(opened, list(names), message.get("has")),
        "states": [views.state(opened.every[id], person, blind) for id in about],
        "coverage": coverage(opened, blind),
        "log": [] if blind else [views.line(one) for one in reversed(opened.decided[-LINES:])],
        "agreement": None if blind else opened.agreement(),
        "undoable": undoable,
        "half": None if blind else _half(opened, at),
        "edit": edits.answer(opened, message.get("edit")),
        "sight": _sight(opened, message.get("sight")),
    }


def _half(opened: Opened, at: str | None) -> dict[str, Any] | None:
    """Return the other half of the pair that the candidate in view is of, without its scenes."""
    other = None if at is None else opened.other_half(opened.every[at])
    if other is None:
        return None
    view = {k: v for k, v in views.candidate(opened, other).items() if k != "episode"}
    return view | {"of": at, "status": other.status}


def _sight(opened: Opened, id: object) -> dict[str, Any] | None:
    """Return what the asked one of a candidate sees, where a page asks for it."""
    one = opened.every.get(id) if isinstance(id, str) else None
    if one is None:
        return None
    own = {"id": one.summary.id, "mark": opened.mark(one)}
    try:
        return own | {"view": views.sight(opened, one), "broken": ""}
    except StsError as error:
        return own | {"view": None, "broken": str(error)}


def _fresh(opened: Opened, ids: Sequence[str], has: object) -> list[dict[str, Any]]:
    """Return the candidates that a page does not have as they are now."""
    there = set()
    for one in has[:_HAS] if isinstance(has, list) else []:
        if isinstance(one, list) and len(one) == 2 and all(isinstance(x, str) for x in one):
            there.add(tuple(one))
    every = [opened.every[id] for id in ids]
    return [
        views.candidate(opened, one)
        for one in every
        if (one.summary.id, opened.mark(one)) not in there
    ]


def _acked(message: Mapping[str, Any]) -> list[str]:
    """Return the candidates that a page's outbox is about."""
    sent = message.get("outbox")
    sent = sent[: outbox.AT_ONCE] if isinstance(sent, list) else []
    every = [one.get("candidate") for one in sent if isinstance(one, Mapping)]
    return [one for one in every if isinstance(one, str)]


def _last(one: Looked) -> Decision | None:
    return one.state.standing[-1] if one.state.standing else None


def _undoable(opened: Opened, person: Annotator, blind: bool) -> list[dict[str, Any]]:
    """Return the latest decisions of a person that can be undone, the latest first.

    Where they are blind, these are their opinions.
    """
    out = []
    for one in reversed(opened.decided):
        looked = opened.every.get(one.candidate)
        if looked is None or one.person != person.id or (one.kind == "opinion") != blind:
            continue
        stands = opinion_of(looked.state, person.id) if blind else _last(looked)
        if stands is not None and stands.uuid == one.uuid:
            out.append({"uuid": one.uuid, "candidate": one.candidate, "kind": one.kind})
        if len(out) == BACK:
            break
    return out
