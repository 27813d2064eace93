"""Decisions on the candidates of a draft, and the state that they lead to.

A decision is an event that is never changed or removed; undoing one is a decision too. It names the
one before it on the same candidate, so that a curator cannot overrule a decision they have not
seen. A rating answers whether two people would agree on a candidate as it is at that time; it
does not change the candidate.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

from sts.storage.chains import Link, next_link

STATUSES = {"accept": "accepted", "reject": "rejected", "retire": "retired"}
"""Status of a candidate after a decision of this kind."""
KINDS = (*STATUSES, "edit", "undo", "rating")
UNDECIDED = "undecided"
RATINGS = ("yes", "no")
"""Answers to: would two people agree when they judge continuations of this candidate?"""
MARKS = frozenset({"tags", "difficulty", "pair", "dialogue", "turn"})
"""Fields that an edit can change without changing what a candidate asks."""
MAX_REASON_CHARS = 500
"""Maximum length of a reason, in characters."""


class Decision(NamedTuple):
    """One event."""

    uuid: str  # made by the sender, 32 hex digits; sending it again changes nothing
    candidate: str  # the id of the scenario in the draft
    kind: str  # one of `KINDS`
    person: int  # the number of the curator
    follows: str  # uuid of the last decision the curator had seen; "" for none or a rating
    scenario: str  # `row_hash` after an edit; `CandidateState.meaning` of a rating; else ""
    detail: Mapping[str, Any]  # `reason`, `changes`, `undoes` or `rating`, in JSON values
    at: float  # UTC seconds
    number: int = 0  # its position in the draft, from 1
    digest: str = ""  # SHA-256 of the one before it in the draft and of all of the above
    by: str = ""  # the curator's name

    def chained(self, before: Link) -> Decision:
        """Return it as the one after `before`, which is `START` for the first."""
        link = next_link(before, self[: self._fields.index("number")])
        return self._replace(**link._asdict())


@dataclass(frozen=True)
class CandidateState:
    """The state of a candidate after all decisions on it."""

    status: str = UNDECIDED  # "undecided", "accepted", "rejected" or "retired"
    scenario: str = ""  # the `row_hash` of its latest edit; "" if it is as it was mined
    meaning: str = ""  # `row_hash` after the last edit of more than `MARKS`; "" for none
    reason: str = ""  # of the last decision in force, if one was given
    by: str = ""  # the curator who made that decision; "" for none
    at: float = 0.0  # its time; 0 if there is none
    last: str = ""  # uuid of its latest decision, ratings apart, also of an undo
    standing: tuple[Decision, ...] = ()  # the decisions that are in force, the latest last
    all_ratings: tuple[Decision, ...] = ()  # the ratings in force, on any version, the latest last

    @property
    def ratings(self) -> dict[str, str]:
        """The rating of each person, by name, on what the candidate asks now."""
        current = (rating for rating in self.all_ratings if rating.scenario == self.meaning)
        return {rating.by: str(rating.detail["rating"]) for rating in current}


def fold_decisions(decisions: Iterable[Decision]) -> dict[str, CandidateState]:
    """Return the state of every candidate with at least one decision, by its id."""
    by_candidate: dict[str, CandidateState] = {}
    for decision in decisions:
        before = by_candidate.get(decision.candidate, CandidateState())
        by_candidate[decision.candidate] = apply_decision(before, decision)
    return by_candidate


def apply_decision(state: CandidateState, decision: Decision) -> CandidateState:
    """Return the state of a candidate after one more decision, which must be valid for it."""
    if decision.kind == "rating":
        return replace(state, all_ratings=(*state.all_ratings, decision))
    undo, undoes = decision.kind == "undo", decision.detail.get("undoes")
    if undo and any(rating.uuid == undoes for rating in state.all_ratings):
        return replace(state, all_ratings=tuple(o for o in state.all_ratings if o.uuid != undoes))
    standing = state.standing[:-1] if undo else (*state.standing, decision)
    return replace(_fold_decisions(standing), last=decision.uuid, all_ratings=state.all_ratings)


def find_rating(state: CandidateState, person: int) -> Decision | None:
    """Return a person's latest rating on a candidate as it is now, or None.

    Withdrawing a rating restores the person's previous one.
    """
    ratings = [d for d in state.all_ratings if (d.person, d.scenario) == (person, state.meaning)]
    return ratings[-1] if ratings else None


def is_mark(decision: Decision) -> bool:
    """Return True for an edit that does not change what a candidate asks."""
    return MARKS.issuperset(decision.detail.get("changes") or ("anything",))


def _fold_decisions(standing: tuple[Decision, ...]) -> CandidateState:
    """Return the state that decisions in force lead to.

    An edit keeps the status: an accepted candidate that is edited stays accepted.
    """
    state = CandidateState(standing=standing)
    for decision in standing:
        status, reason = STATUSES.get(decision.kind), str(decision.detail.get("reason", ""))
        state = replace(
            state,
            status=status or state.status,
            reason=reason if status else state.reason,
            scenario=decision.scenario or state.scenario,
            meaning=state.meaning if is_mark(decision) else decision.scenario or state.meaning,
            by=decision.by,
            at=decision.at,
        )
    return state
