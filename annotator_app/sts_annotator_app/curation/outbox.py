"""Validation and storage of the decisions in a curator's outbox."""

import re
from collections.abc import Mapping
from typing import Any

from sts.annotations.decisions import DecisionConflict
from sts.annotations.store import AnnotationStore
from sts.annotations.types import Annotator
from sts.errors import ArgumentError, StoreError, StsError
from sts.suites.decisions import KINDS, RATINGS, Decision, find_rating
from sts.suites.drafts import check_open
from sts_annotator_app.curation import edits
from sts_annotator_app.curation.drafts import DraftCache, current_hash
from sts_scenarios.curation import append_decisions, make_decision, make_rating, validate_reason
from sts_scenarios.freezing import DraftCandidate

_UUID = re.compile(r"[0-9a-f]{32}")


def save_decisions(
    drafts: DraftCache, store: AnnotationStore, person: Annotator, sent: list[Any]
) -> list[dict[str, Any]]:
    """Save decisions in order; return an acknowledgement or the reason of rejection for each.

    Decisions saved before are not saved twice. Rejected decisions change nothing.

    Raises:
      StoreError: the store fails; later decisions are not acknowledged and are sent again.
    """
    acks = []
    for submission in sent:
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
    candidate = opened.find_candidate(sent.get("candidate"))
    previous = opened.by_uuid.get(sent["uuid"])
    if previous is not None:
        identity = (person.id, sent.get("kind"), candidate.summary.id)
        if (previous.person, previous.kind, previous.candidate) != identity:
            raise ArgumentError(f"{candidate.summary.id}: another decision has this uuid")
        return
    check_open(opened.draft)
    decision = _parse_decision(candidate, person, sent)._replace(uuid=sent["uuid"])
    if decision.kind == "edit":
        decision = edits.complete_edit(opened, candidate, decision, sent.get("changes"))
    append_decisions(store, opened.draft, [decision])


def _parse_decision(
    candidate: DraftCandidate, person: Annotator, sent: Mapping[str, Any]
) -> Decision:
    """Return the decision in `sent`; ArgumentError if invalid, DecisionConflict if late."""
    kind, follows, why = sent.get("kind"), sent.get("follows"), sent.get("reason", "")
    if kind not in KINDS:
        raise ArgumentError(f"expected a decision of {', '.join(KINDS)}, found {kind!r}")
    if not isinstance(follows, str) or not isinstance(why, str):
        raise ArgumentError("expected a decision with the texts follows and reason")
    if kind == "rating":
        return _parse_rating(candidate, person, sent)
    mine = find_rating(candidate.state, person.id)
    if kind == "undo" and mine is not None and mine.uuid == sent.get("undoes"):
        return make_rating(candidate, "undo", person)
    reason = validate_reason(why)
    if kind in ("reject", "retire") and not reason:
        raise ArgumentError(f"a reason is required to {kind} {candidate.summary.id}")
    bare = Decision(sent["uuid"], candidate.summary.id, kind, person.id, follows, "", {}, 0.0)
    if follows != candidate.state.last:
        raise DecisionConflict(bare, candidate.state)
    decision = make_decision(candidate, kind, person, reason=reason)
    if kind == "undo" and sent.get("undoes") != decision.detail["undoes"]:
        raise ArgumentError(f"{candidate.summary.id}: the decision to undo was not found")
    return decision


def _parse_rating(
    candidate: DraftCandidate, person: Annotator, sent: Mapping[str, Any]
) -> Decision:
    """Return the second rating in `sent`, if the candidate was not edited since."""
    word = sent.get("rating")
    if word not in RATINGS:
        raise ArgumentError(f"expected a rating of {' or '.join(RATINGS)}, found {word!r}")
    if sent.get("mark") != current_hash(candidate):
        raise ArgumentError(f"{candidate.summary.id} was edited since you saw it; look at it again")
    return make_rating(candidate, word, person)
