"""Curators' decisions and ratings on candidates."""

import getpass
import re
import secrets
import time
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any, NamedTuple, Protocol

from sts.agreement import Agreement, compute_alpha
from sts.annotations.database.annotation_store import AnnotationStore, Connection
from sts.annotations.log import decisions
from sts.annotations.log.decisions import DecisionConflict
from sts.annotations.people import people
from sts.annotations.records import Annotator
from sts.errors import ArgumentError, StoreError, StsError
from sts.names import is_one_line, isolate, quote
from sts.suites.decisions import (
    KINDS,
    MAX_REASON_CHARS,
    RATINGS,
    STATUSES,
    CandidateState,
    Decision,
    find_rating,
)
from sts.suites.drafts import (
    Draft,
    check_open,
    lock_draft,
)
from sts.suites.suite import KINDS as SCENARIO_KINDS
from sts.suites.suite import Scenario
from sts.trajectories.trajectory import Trajectory
from sts_scenarios.draft.editing import Edit, add_scenario, make_free_category
from sts_scenarios.draft.freezing import DraftCandidate, current_scenario
from sts_scenarios.rules import categories
from sts_scenarios.rules.category import Category
from sts_scenarios.rules.linking import link_fields, link_scenarios

UNSEEN = "all at once, not looked at"
"""The reason of decisions about all candidates that are undecided."""
_APPLIES_TO = {"reject": "candidates that are new", "retire": "scenarios of the parent"}
_QUOTED = re.compile(r"'[^']*'")
_UUID = re.compile(r"[0-9a-f]{32}")


def find_or_add_curator(store: AnnotationStore, name: str | None) -> Annotator:
    """Return the person called `name`, by default the login name; add a new one as a curator."""
    with store.read() as connection:
        person = find_person(connection, name)
    if person is None:
        with store.write(exclusive=True) as connection:
            return people.add_invited(connection, _person_name(name), ("curator",), now=store.now())
    if person.deactivated or not {"curator", "lead"} & set(person.roles):
        raise ArgumentError(
            f"{person.name} is not a curator of this study; run sts annotators role "
            f"{person.name} curator, or name a curator with --user"
        )
    return person


def find_person(connection: Connection, name: str | None) -> Annotator | None:
    """Return the person called `name`, by default the login name; or None."""
    person_name = _person_name(name)
    return next(
        (person for person in people.list_people(connection) if person.name == person_name), None
    )


def _person_name(name: str | None) -> str:
    return (getpass.getuser() if name is None else name).strip()


class Request(NamedTuple):
    """A decision that a curator asks for."""

    candidate: DraftCandidate  # as the curator saw it, unless `follows` states otherwise
    kind: str  # one of `KINDS`
    reason: str = ""
    rating: str = ""  # one of `RATINGS`, or "undo" to withdraw the person's latest rating
    edited: Scenario | None = None  # the result of an edit
    changes: Mapping[str, Any] | None = None  # the changed fields of an edit
    follows: str | None = None  # uuid of the last decision that the curator had seen
    undoes: str | None = None  # uuid of the decision to undo; None for the latest
    uuid: str | None = None  # of the decision; None for a new one


class OpenedDraft(Protocol):
    """A draft with its latest decisions, as `save_decisions` needs it."""

    draft: Draft
    by_uuid: dict[str, Decision]

    def find_candidate(self, id: object) -> DraftCandidate:
        """Return the candidate with this id; raise UnknownName without one."""

    def preview(self, candidate: DraftCandidate, changes: object) -> Edit:
        """Return the candidate after some changes; errors as of `Editor.preview`."""


def decide(
    store: AnnotationStore,
    draft: Draft,
    curator: Annotator | str | None,
    requests: Sequence[Request],
) -> tuple[Annotator, list[Decision]]:
    """Validate decisions on an open draft and record them, all or none; return the new ones.

    Decisions that change nothing are not recorded. `curator` is a person or a name, None for the
    login name; a person with a new name is added as a curator. The curator is returned, too.

    Raises:
      ArgumentError: a decision cannot be made on its candidate; names one that can.
      DecisionConflict: another decision on a candidate came first; says which.
      StsError: the draft was frozen or replaced since it was read.
    """
    for request in requests:
        _check(request)
    person = curator if isinstance(curator, Annotator) else find_or_add_curator(store, curator)
    events = [_make_event(request, person) for request in requests]
    new = [event for event in events if event is not None]
    for request in requests:
        if request.edited is not None:
            draft.save_edit(request.edited)
    with lock_draft(draft), store.write(exclusive=True) as connection:
        decisions.append_decisions(connection, draft.id, new)
    return person, new


def link_candidates(
    store: AnnotationStore,
    draft: Draft,
    every: Sequence[DraftCandidate],
    chosen: Sequence[DraftCandidate],
    kind: str,
    by: str | None,
) -> tuple[list[Scenario], Annotator]:
    """Link candidates by one of `LINKS`, or split what a single one is linked with; return them.

    Turns have the order of `chosen`. One decision on each candidate is recorded, by the person
    called `by`, by default the login name. `every` holds all candidates of the draft.

    Raises:
      ArgumentError: they do not belong together, or one already has such a link.
      DecisionConflict: another decision on one of them came first.
    """
    is_split = len(chosen) == 1
    if is_split:
        name = getattr(current_scenario(draft, chosen[0]), kind)
        if not name:
            id = chosen[0].summary.id
            raise ArgumentError(
                f"{id} is in no {kind} to split; to make one, name the other candidates, too"
            )
        chosen = [c for c in every if getattr(current_scenario(draft, c), kind) == name]
    before = [draft.candidate(c.summary.id, c.state.scenario) for c in chosen]
    if is_split:
        changed = [replace(scenario, **link_fields(kind, "", 0)) for scenario in before]
    else:
        changed = link_scenarios(before, kind)
    requests = [
        Request(candidate, "edit", edited=scenario, changes={kind: getattr(scenario, kind)})
        for candidate, scenario in zip(chosen, changed, strict=True)
    ]
    person, _ = decide(store, draft, by, requests)
    return changed, person


def make_candidate(
    trajectory: Trajectory,
    chosen: Mapping[str, Any],
    author: str,
    last: Counter[str],
    own: Category | None = None,
) -> Edit:
    """Make a candidate at a chosen step; errors as of `add_scenario`.

    Args:
      trajectory: the recording it is cut from.
      chosen: `fields.FIELDS`; the category may be any name.
      author: the curator's pseudonym.
      last: the highest number in an id of each category, which is counted on.
      own: a category of the user, which is not installed.
    """
    domain, name = trajectory.episode.domain, str(chosen["category"])
    known = own or categories.installed_categories([domain]).get(name)
    category = known or make_free_category(domain, name, chosen.get("kind", SCENARIO_KINDS[0]))
    edit = add_scenario(
        trajectory, category, chosen, id=f"{name}-{last[name] + 1:02d}", author=author
    )
    last[name] += 1
    return edit


def save_decisions(
    store: AnnotationStore,
    person: Annotator,
    sent: Iterable[object],
    open_draft: Callable[[object], OpenedDraft],
) -> list[dict[str, str]]:
    """Save decisions that a page sent, in order; return an acknowledgement for each.

    `open_draft` returns the draft with an id. Decisions saved before are not saved twice. Rejected
    decisions change nothing, and their acknowledgement has the reason as `message`.

    Raises:
      StoreError: the store fails; later decisions are not acknowledged and are sent again.
    """
    acks = []
    for submission in sent:
        uuid = submission.get("uuid") if isinstance(submission, Mapping) else None
        if not (
            isinstance(submission, Mapping) and isinstance(uuid, str) and _UUID.fullmatch(uuid)
        ):
            continue  # not from one of our pages, which wait for acknowledgements
        status, message = "saved", ""
        try:
            opened = open_draft(submission.get("draft"))
            if (request := _parse(opened, person, submission)) is not None:
                decide(store, opened.draft, person, [request])
        except StsError as error:
            if isinstance(error, StoreError) and not isinstance(error, DecisionConflict):
                raise
            message = _QUOTED.sub(lambda match: isolate(match[0]), str(error))
            status = "rejected"
        acks.append({"uuid": uuid, "status": status, "message": message})
    return acks


def _parse(opened: OpenedDraft, person: Annotator, sent: Mapping[str, Any]) -> Request | None:
    """Return the decision that a page asks for; None if it is saved already."""
    candidate, kind, uuid = (
        opened.find_candidate(sent.get("candidate")),
        sent.get("kind"),
        sent["uuid"],
    )
    id = candidate.summary.id
    if (saved := opened.by_uuid.get(uuid)) is not None:
        if (saved.person, saved.kind, saved.candidate) != (person.id, kind, id):
            raise ArgumentError(f"{id}: another decision has this uuid")
        return None
    check_open(opened.draft)
    texts = [sent.get(name, "") for name in ("follows", "reason", "rating", "undoes")]
    if kind not in KINDS:
        raise ArgumentError(f"expected a decision of {', '.join(KINDS)}, found {kind!r}")
    if "follows" not in sent or not all(isinstance(text, str) for text in texts):
        raise ArgumentError("expected a decision with the texts follows and reason")
    follows, reason, rating, undoes = texts
    mine = find_rating(candidate.state, person.id)
    if kind == "undo" and mine is not None and mine.uuid == undoes:
        return Request(candidate, "rating", rating="undo", uuid=uuid)
    if kind == "rating" and rating in RATINGS and sent.get("mark") != candidate.row_hash:
        raise ArgumentError(f"{id} was edited since you saw it; look at it again")
    request = Request(candidate, kind, reason, rating, None, None, follows, undoes, uuid)
    if kind != "edit":
        return request
    _check(request)
    edited, changes = opened.preview(candidate, sent.get("changes")), sent["changes"]
    if not edited.changes:
        raise ArgumentError(f"the edit does not change {id}")
    return request._replace(edited=edited.scenario, changes=changes)


def _check(request: Request) -> None:
    """Raise ArgumentError if a decision cannot be made, or DecisionConflict if it is too late."""
    candidate, kind, rating = request.candidate, request.kind, request.rating
    id, standing = candidate.summary.id, candidate.state.standing
    if not is_one_line(request.reason, MAX_REASON_CHARS):
        raise ArgumentError(
            f"expected a reason of one line, at most {MAX_REASON_CHARS} printable characters, "
            f"found {quote(request.reason)}"
        )
    if kind == "rating":
        if rating not in (*RATINGS, "undo"):
            raise ArgumentError(
                f"expected a rating of {' or '.join(RATINGS)}, found {quote(rating)}"
            )
        return
    if kind in _APPLIES_TO and not request.reason.strip():
        raise ArgumentError(f"a reason is required to {kind} {id}")
    if request.follows not in (None, candidate.state.last):
        late = Decision("", id, kind, 0, "", "", {}, 0.0)
        raise DecisionConflict(late, candidate.state)
    if kind in _APPLIES_TO and candidate.inherited != (kind == "retire"):
        other = "retire" if candidate.inherited else "reject"
        raise ArgumentError(f"{kind} is for {_APPLIES_TO[kind]}; {other} {id} instead")
    if kind == "accept" and candidate.inherited and candidate.status == "kept":
        raise ArgumentError(f"{id} is inherited from the parent and is kept unless it is retired")
    if kind == "undo" and not standing:
        raise ArgumentError(f"{id} has no decision to undo")
    if kind == "undo" and request.undoes not in (None, standing[-1].uuid):
        raise ArgumentError(f"{id}: the decision to undo was not found")


def _make_event(request: Request, person: Annotator) -> Decision | None:
    """Return the decision to record; None if it would change nothing."""
    kind, state, id = request.kind, request.candidate.state, request.candidate.summary.id
    reason, detail = request.reason.strip(), dict[str, Any]()
    uuid = request.uuid or secrets.token_hex(16)
    event = Decision(uuid, id, kind, person.id, state.last, "", detail, time.time())
    if kind == "rating":
        mine = find_rating(state, person.id)
        if request.rating != "undo":
            if mine is not None and mine.detail["rating"] == request.rating:
                return None
            detail["rating"] = request.rating
            return event._replace(follows="", scenario=state.meaning)
        if mine is None:
            raise ArgumentError(f"{person.name} has no rating on {id} to withdraw")
        detail["undoes"] = mine.uuid
        return event._replace(kind="undo")
    if (STATUSES.get(kind), reason) == (state.status, state.reason):
        return None
    detail |= {"reason": reason} if reason else {}
    if kind == "undo":
        detail["undoes"] = state.standing[-1].uuid
    if request.edited is not None:
        detail["changes"] = dict(request.changes or {})
        event = event._replace(scenario=request.edited.row_hash)
    return event


def visible_ratings(state: CandidateState, person: Annotator | None) -> dict[str, str]:
    """Return the ratings on a candidate that a person may see, by person.

    They are blind: only a person who has given theirs sees those of others.
    """
    has_rated = person is not None and find_rating(state, person.id) is not None
    return state.ratings if has_rated else {}


def rating_agreement(candidates: Iterable[DraftCandidate]) -> Agreement:
    """Return the agreement of curators' ratings, over candidates as they are."""
    import pandas as pd  # slow to import

    rows = [
        (candidate.summary.id, name, word == "yes")
        for candidate in candidates
        for name, word in candidate.state.ratings.items()
    ]
    return compute_alpha(pd.DataFrame(rows, columns=["thing", "person", "yes"]), seed=0)
