"""Synchronisation with the curation page: save its decisions, return its next candidates."""

import logging
import time
from collections.abc import Collection, Iterable, Mapping
from functools import partial
from types import MappingProxyType
from typing import Any

from sts.annotations.database.annotation_store import AnnotationStore
from sts.annotations.records import Annotator
from sts.errors import StsError
from sts.suites.decisions import find_rating
from sts_annotator_app.annotating import UNSAVED, read_list, read_message, storage_namespace
from sts_annotator_app.curation import edits, views
from sts_annotator_app.curation.drafts import CachedDraft, DraftCache
from sts_annotator_app.curation.lists import (
    SECOND_RATING,
    count_coverage,
    count_undecided,
    find_first,
    list_candidates,
    parse_filter,
)
from sts_annotator_app.curation.previews import PreviewWorker
from sts_scenarios.draft.curation import save_decisions

AHEAD, BEHIND = 8, 3
"""Candidates sent in advance, after and before the current one."""
MAX_IDS = 60
"""Candidate ids sent on either side of the current one."""
MAX_SECONDS = 1.0
"""Time after which no more candidates are loaded in an exchange: frames may have to be rendered."""
MAX_LOG_LINES = 12
"""Lines of the changelog."""
MAX_UNDOABLE = 20
"""Latest decisions of the person that can be undone."""
_LOG = logging.getLogger(__name__)

NO_DRAFT = {
    "title": "No draft yet",
    "text": "Create a draft on the command line: “sts mine NAME” mines candidates from "
    "trajectories, “sts draft new --from NAME@VERSION” starts the next version of a suite. It then "
    "appears here.",
}


def sync_page(
    drafts: DraftCache,
    store: AnnotationStore,
    person: Annotator,
    sent: object,
    *,
    workspace_path: str,
    previews: PreviewWorker | None = None,
    query: Mapping[str, str] = MappingProxyType({}),
) -> dict[str, Any]:
    """Save the decisions in `sent`, as `annotating.sync_page` does; return the next data.

    Invalid decisions are rejected one by one. `query` has the `draft` and the candidate, `at`, of
    the page's address, which a page that is opened shows first.
    """
    author = storage_namespace(workspace_path, person.id)
    data: dict[str, Any] = {"author": author, "acks": [], "draft": None, "trouble": "", "empty": {}}
    message = dict(query) if sent is None else read_message(sent, author)
    try:
        data["acks"] = save_decisions(
            store, person, read_list(message), partial(drafts.open_by_id, store)
        )
        data["drafts"] = drafts.list_names()
        name = message.get("draft")
        name = name if name in data["drafts"] else next(iter(data["drafts"]), None)
        if name is None:
            data["empty"] = NO_DRAFT
        else:
            opened = drafts.open_draft(name, store)
            data |= _describe_draft(opened, person, message)
            data["linked"] = query.get("at") if query.get("at") in opened.candidates else None
            if previews is not None:
                near = [state["id"] for state in data["states"]]
                previews.prioritise(opened, near)
                data["passed"] = previews.count_passes(
                    opened, [opened.candidates[id] for id in near]
                )
                data["ghost"] = previews.load_episode(opened, message.get("ghost"))
    except StsError as error:
        _LOG.error("drafts: %s", error)
        data["trouble"] = f"{UNSAVED} ({error})"
    return data


def preload(draft: CachedDraft, previews: PreviewWorker) -> None:
    """Load what the first page of a draft needs."""
    first = [*draft.candidates.values()][: AHEAD + 1]
    for candidate in first:
        views.describe_candidate(draft, candidate)
    count_coverage(draft, blind=False)
    previews.count_passes(draft, first)


def _describe_draft(
    opened: CachedDraft, person: Annotator, message: Mapping[str, Any]
) -> dict[str, Any]:
    """Return the data of a draft for the page."""
    choice = parse_filter(message.get("list"), opened)
    blind = choice.status == SECOND_RATING
    ids = list_candidates(opened, choice, person)
    at = message.get("at")
    at = at if isinstance(at, str) and at in opened.candidates else find_first(opened, ids)
    position = ids.index(at) if at in ids else None
    near = position or 0
    first = max(0, near - MAX_IDS)
    undoable = _list_undoable(opened, person, blind)
    latest = opened.decisions[-MAX_LOG_LINES:]
    around = ids[max(0, near - BEHIND) : near + AHEAD + 1]
    names = dict.fromkeys(around if at is None else [at, *around])
    sent = [entry for entry in read_list(message) if isinstance(entry, Mapping)]
    ids_sent = [id for entry in sent if isinstance(id := entry.get("candidate"), str)]
    named = dict.fromkeys(id for id in ids_sent if id in opened.candidates)
    about = names | named | dict.fromkeys(entry["candidate"] for entry in undoable)
    return {
        "draft": {name: getattr(opened.draft, name) for name in ("name", "id", "parent")}
        | {"candidates": len(opened.candidates)},
        "list": choice._asdict(),
        "total": len(ids),
        "position": position,
        "at": at,
        "first": first,
        "elsewhere": None if blind else count_undecided(opened) - count_undecided(opened, ids),
        "ids": ids[first : near + MAX_IDS + 1],
        "candidates": _load_missing(opened, names, read_list(message, "has"), bool(sent)),
        "states": [views.describe_state(opened.candidates[id], person, blind) for id in about],
        "coverage": count_coverage(opened, blind),
        "log": [] if blind else [*map(views.format_log_line, reversed(latest))],
        "agreement": None if blind else opened.compute_agreement(),
        "undoable": undoable,
        "half": None if blind else _load_other_half(opened, at),
        "edit": edits.preview_edit(opened, message.get("edit")),
        "sight": _load_player_view(opened, message.get("sight")),
    }


def _load_other_half(opened: CachedDraft, at: str | None) -> dict[str, Any] | None:
    """Return the other half of the current candidate's pair, without its episode."""
    other = None if at is None else opened.find_other_half(opened.candidates[at])
    if other is None:
        return None
    view = {k: v for k, v in views.describe_candidate(opened, other).items() if k != "episode"}
    return view | {"of": at, "status": other.status}


def _load_player_view(opened: CachedDraft, id: object) -> dict[str, Any] | None:
    """Return the evaluated player's view of a candidate, if the page requests it."""
    candidate = opened.candidates.get(id) if isinstance(id, str) else None
    if candidate is None:
        return None
    view = {"id": candidate.summary.id, "mark": candidate.row_hash}
    try:
        return view | {"view": views.load_player_view(opened, candidate), "broken": ""}
    except StsError as error:
        return view | {"view": None, "broken": str(error)}


def _load_missing(
    opened: CachedDraft, ids: Iterable[str], has: Collection[object], acknowledges: bool
) -> list[dict[str, Any]]:
    """Return the candidates of which the page lacks the current version, in order.

    A message that acknowledges decisions, or has taken MAX_SECONDS, has no more than the first;
    the page then asks for the others.
    """
    loaded: list[dict[str, Any]] = []
    end = time.monotonic() + (0.0 if acknowledges else MAX_SECONDS)
    for candidate in map(opened.candidates.__getitem__, ids):
        if [candidate.summary.id, candidate.row_hash] not in has:
            if loaded and time.monotonic() > end:
                break
            loaded.append(views.describe_candidate(opened, candidate))
    return loaded


def _list_undoable(opened: CachedDraft, person: Annotator, blind: bool) -> list[dict[str, Any]]:
    """Return the latest decisions of a person that can be undone, latest first.

    If blind is set, these are their second ratings.
    """
    states = [candidate.state for candidate in opened.candidates.values()]
    if blind:
        ratings = (find_rating(state, person.id) for state in states)
        last = [rating for rating in ratings if rating is not None]
    else:
        last = [decision for state in states for decision in state.standing[-1:]]
    own = [decision for decision in last if decision.person == person.id]
    own.sort(key=lambda decision: decision.number, reverse=True)
    names = ("uuid", "candidate", "kind")
    return [{name: getattr(d, name) for name in names} for d in own[:MAX_UNDOABLE]]
