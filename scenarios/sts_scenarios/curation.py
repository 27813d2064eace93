"""Curators' decisions and ratings on candidates."""

import getpass
import secrets
import time
from collections.abc import Iterable, Mapping, Sequence

from sts.agreement import Agreement, compute_alpha
from sts.annotations import decisions, people
from sts.annotations.store import AnnotationStore, Connection
from sts.annotations.types import Annotator
from sts.errors import ArgumentError
from sts.names import is_one_line, quote
from sts.storage.workspace import Workspace
from sts.suites.decisions import MAX_REASON_CHARS, RATINGS, CandidateState, Decision, find_rating
from sts.suites.drafts import Draft, lock_draft
from sts_scenarios.freezing import DraftCandidate

UNSEEN = "all at once, not looked at"
"""The reason of decisions about all candidates that are undecided."""
_APPLIES_TO = {"reject": "candidates that are new", "retire": "scenarios of the parent"}


def find_or_add_curator(store: AnnotationStore, name: str | None) -> Annotator:
    """Return the person called `name`, by default the login name; add a new one as a curator."""
    with store.read() as connection:
        person = find_person(connection, name)
    if person is None:
        with store.write(alone=True) as connection:
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


def validate_reason(text: str) -> str:
    """Validate a reason and return it without surrounding spaces."""
    if not is_one_line(text, MAX_REASON_CHARS):
        raise ArgumentError(
            f"expected a reason of one line, at most {MAX_REASON_CHARS} printable characters, "
            f"found {quote(text)}"
        )
    return text.strip()


def validate_decision(candidate: DraftCandidate, kind: str) -> None:
    """Raise ArgumentError if a decision cannot be made on a candidate; names one that can."""
    id = candidate.summary.id
    if kind in _APPLIES_TO and candidate.inherited != (kind == "retire"):
        other = "retire" if candidate.inherited else "reject"
        raise ArgumentError(f"{kind} is for {_APPLIES_TO[kind]}; {other} {id} instead")
    if kind == "accept" and candidate.inherited and candidate.status == "kept":
        raise ArgumentError(f"{id} is inherited from the parent and is kept unless it is retired")
    if kind == "undo" and not candidate.state.standing:
        raise ArgumentError(f"{id} has no decision to undo")


def make_decision(
    candidate: DraftCandidate, kind: str, person: Annotator, *, reason: str
) -> Decision:
    """Return the decision `kind`, one of `decisions.KINDS`; errors as of `validate_decision`."""
    validate_decision(candidate, kind)
    detail = {"reason": reason} if reason else {}
    if kind == "undo":
        detail = {"undoes": candidate.state.standing[-1].uuid}
    return _make_event(candidate, kind, person, detail)._replace(follows=candidate.state.last)


def make_rating(candidate: DraftCandidate, word: str, person: Annotator) -> Decision:
    """Return a person's rating, "yes" or "no", on whether two people would agree.

    "undo" withdraws their latest one on the candidate as it is now.
    """
    if word in RATINGS:
        event = _make_event(candidate, "rating", person, {"rating": word})
        return event._replace(scenario=candidate.state.meaning)
    if word != "undo":
        raise ArgumentError(f"expected a rating of {' or '.join(RATINGS)}, found {quote(word)}")
    if (latest := find_rating(candidate.state, person.id)) is None:
        raise ArgumentError(f"{person.name} has no rating on {candidate.summary.id} to withdraw")
    return _make_event(candidate, "undo", person, {"undoes": latest.uuid})._replace(
        follows=candidate.state.last
    )


def append_decisions(store: AnnotationStore, draft: Draft, events: Sequence[Decision]) -> None:
    """Append decisions on a draft, all or none, while it is locked against freezing.

    Raises:
      DecisionConflict: another decision on a candidate came first; says which.
      StsError: the draft was frozen or replaced since it was read.
    """
    with lock_draft(draft), store.write(alone=True) as connection:
        decisions.append_decisions(connection, draft.id, events)


def decide_as(
    workspace: Workspace,
    draft: Draft,
    candidates: Sequence[DraftCandidate],
    kind: str,
    *,
    name: str | None,
    reason: str = "",
) -> Annotator:
    """Record one decision about each candidate in the name of a curator, who is returned.

    A new curator is added; None for `name` stands for the login name. The draft must be open.
    """
    for candidate in candidates:
        validate_decision(candidate, kind)
    with AnnotationStore.open(workspace) as store:
        person = find_or_add_curator(store, name)
        events = [make_decision(candidate, kind, person, reason=reason) for candidate in candidates]
        append_decisions(store, draft, events)
    return person


def _make_event(
    candidate: DraftCandidate, kind: str, person: Annotator, detail: Mapping[str, str]
) -> Decision:
    id, uuid = candidate.summary.id, secrets.token_hex(16)
    return Decision(uuid, id, kind, person.id, "", "", detail, time.time())


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
