"""Validation and storage of the decisions in a curator's outbox."""

import re
from collections.abc import Mapping
from typing import Any

from sts.annotations.decisions import DecisionConflict
from sts.annotations.store import AnnotationStore
from sts.annotations.types import Annotator
from sts.errors import ArgumentError, StoreError, StsError, UnknownName
from sts.suites.decisions import RATINGS, STATUSES, Decision, find_rating
from sts.suites.drafts import check_open
from sts_annotator_app.curation import edits
from sts_annotator_app.curation.drafts import CachedDraft, DraftCache
from sts_scenarios.curation import append_decisions, make_decision, make_rating, validate_reason
from sts_scenarios.freezing import DraftCandidate

MAX_DECISIONS = 500
"""Decisions read from one message; a page sends the rest after their acknowledgement."""
_UUID = re.compile(r"[0-9a-f]{32}")
_KINDS = (*STATUSES, "undo", "edit", "rating")


def save_decisions(
    drafts: DraftCache, store: AnnotationStore, person: Annotator, sent: object
) -> list[dict[str, Any]]:
    """Save decisions in order; return an acknowledgement or the reason of rejection for each.

    Decisions saved before are not saved twice. Rejected decisions change nothing.

    Raises:
      StoreError: the store fails; later decisions are not acknowledged and are sent again.
    """
    acks = []
    for submission in sent[:MAX_DECISIONS] if isinstance(sent, list) else []:
        uuid = submission.get("uuid") if isinstance(submission, Mapping) else None
        if not isinstance(uuid, str) or not _UUID.fullmatch(uuid):
            continue  # not from one of our pages, which wait for acknowledgements
        try:
            _save_decision(drafts, store, person, submission)
        except StsError as error:
            if isinstance(error, StoreError) and not isinstance(error, DecisionConflict):
                raise
            acks.append({"uuid": uuid, "status": "rejected", "message": str(error)})
        else:
            acks.append({"uuid": uuid, "status": "saved", "message": ""})
    return acks


def _save_decision(
    drafts: DraftCache, store: AnnotationStore, person: Annotator, sent: Mapping[str, Any]
) -> None:
    opened = drafts.open_draft(drafts.find_name(sent.get("draft")), store)
    candidate = find_candidate(opened, sent.get("candidate"))
    previous = opened.find_decision(sent["uuid"])
    if previous is not None:
        identity = (person.id, sent.get("kind"), candidate.summary.id)
        if (previous.person, previous.kind, previous.candidate) != identity:
            raise ArgumentError(f"{candidate.summary.id}: another decision has this uuid")
        return
    check_open(opened.draft)
    decision = _parse_decision(candidate, person, sent)
    if decision.kind == "edit":
        decision = edits.complete_edit(opened, candidate, decision, sent.get("changes"))
    append_decisions(store, opened.draft, [decision])


def find_candidate(opened: CachedDraft, id: object) -> DraftCandidate:
    """Return the candidate with this id; raise UnknownName without one."""
    candidate = opened.candidates.get(id) if isinstance(id, str) else None
    if candidate is None:
        raise UnknownName(
            f"candidate of draft {opened.draft.name}", str(id), opened.candidates, most=10
        )
    return candidate


def _parse_decision(
    candidate: DraftCandidate, person: Annotator, sent: Mapping[str, Any]
) -> Decision:
    """Return the decision in `sent`; ArgumentError if invalid, DecisionConflict if late."""
    kind, follows, why = sent.get("kind"), sent.get("follows"), sent.get("reason", "")
    if kind not in _KINDS:
        raise ArgumentError(f"expected a decision of {', '.join(_KINDS)}, found {kind!r}")
    if not isinstance(follows, str) or not isinstance(why, str):
        raise ArgumentError("expected a decision with the texts follows and reason")
    if kind == "rating":
        return _parse_rating(candidate, person, sent)
    mine = find_rating(candidate.state, person.id)
    if kind == "undo" and mine is not None and mine.uuid == sent.get("undoes"):
        return make_rating(candidate, "undo", person)._replace(uuid=sent["uuid"])
    reason = validate_reason(why)
    if kind in ("reject", "retire") and not reason:
        raise ArgumentError(f"a reason is required to {kind} {candidate.summary.id}")
    bare = Decision(sent["uuid"], candidate.summary.id, kind, person.id, follows, "", {}, 0.0)
    if follows != candidate.state.last:
        raise DecisionConflict(bare, candidate.state)
    decision = make_decision(candidate, kind, person, reason=reason)
    if kind == "undo" and sent.get("undoes") != decision.detail["undoes"]:
        raise ArgumentError(f"{candidate.summary.id}: the decision to undo was not found")
    return decision._replace(uuid=sent["uuid"])


def _parse_rating(
    candidate: DraftCandidate, person: Annotator, sent: Mapping[str, Any]
) -> Decision:
    """Return the second rating in `sent`, if the candidate was not edited since."""
    word = sent.get("rating")
    if word not in RATINGS:
        raise ArgumentError(f"expected a rating of {' or '.join(RATINGS)}, found {word!r}")
    if sent.get("mark") != (candidate.state.scenario or candidate.summary.row_hash):
        raise ArgumentError(f"{candidate.summary.id} was edited since you saw it; look at it again")
    return make_rating(candidate, word, person)._replace(uuid=sent["uuid"])
