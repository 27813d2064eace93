"""Decisions on the candidates of a draft, and the state that they lead to.

A decision is an event that is never changed or removed; undoing one is a decision too. It names the
one before it on the same candidate, so that a curator cannot overrule a decision they have not
seen. An opinion answers whether two people would agree on a candidate as it is at that time; it
does not change the candidate.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

from sts.storage.chains import Link, follow

STATUSES = {"accept": "accepted", "reject": "rejected", "retire": "retired"}
"""Status of a candidate after a decision of this kind."""
KINDS = (*STATUSES, "edit", "undo", "opinion")
UNDECIDED = "undecided"
OPINIONS = ("yes", "no")
"""Answers to: would two people agree when they judge continuations of this candidate?"""
MARKS = frozenset({"tags", "pair", "series"})
"""Fields that an edit can change without changing what a candidate asks."""
MAX_REASON_CHARS = 500
"""Maximum length of a reason, in characters."""


class Decision(NamedTuple):
    """One event.

    Attributes:
      uuid: made by the sender, 32 hex digits; sending it again changes nothing.
      candidate: the id of the scenario in the draft.
      kind: one of `KINDS`.
      person: the number of the curator.
      follows: the uuid of the last decision on the candidate, opinions apart, that the curator had
        seen; "" for none, and of an opinion.
      scenario: the `row_hash` of the candidate after an edit; of an opinion, the `State.meaning`
        that it is about; "" for other kinds.
      detail: JSON: `reason`; of an edit `changes`; of an undo `undoes`; of an opinion `opinion`,
        one of `OPINIONS`.
      at: UTC seconds.
      number: its position in the draft, new, --from 1.
      digest: SHA-256 of the one before it in the draft and of all of the above.
      by: the curator's name.
    """

    uuid: str
    candidate: str
    kind: str
    person: int
    follows: str
    scenario: str
    detail: Mapping[str, Any]
    at: float
    number: int = 0
    digest: str = ""
    by: str = ""

    def chained(self, before: Link) -> Decision:
        """Return it as the one after `before`, which is `START` for the first."""
        link = follow(before, self[: self._fields.index("number")])
        return self._replace(**link._asdict())


@dataclass(frozen=True)
class State:
    """The state of a candidate after all decisions on it.

    Attributes:
      status: "undecided", "accepted", "rejected" or "retired".
      scenario: the `row_hash` of its latest edit; "" if it is as it was mined.
      meaning: the `row_hash` after the last edit of more than `MARKS`, that is, of what it asks; ""
        if there is none.
      reason: of the last decision in force, if one was given.
      by: the name of the curator who made that decision; "" if there is none.
      at: its time; 0 if there is none.
      last: the uuid of its latest decision, opinions apart, also of an undo.
      standing: the decisions that are in force, not undone, the latest last.
      given: the opinions that are not withdrawn, on any of its versions, the latest last.
    """

    status: str = UNDECIDED
    scenario: str = ""
    meaning: str = ""
    reason: str = ""
    by: str = ""
    at: float = 0.0
    last: str = ""
    standing: tuple[Decision, ...] = ()
    given: tuple[Decision, ...] = ()

    @property
    def opinions(self) -> dict[str, str]:
        """The opinion of each person, by name, on what the candidate asks now."""
        current = (opinion for opinion in self.given if opinion.scenario == self.meaning)
        return {opinion.by: str(opinion.detail["opinion"]) for opinion in current}


def states(decisions: Iterable[Decision]) -> dict[str, State]:
    """Return the state of every candidate with at least one decision, by its id."""
    by_candidate: dict[str, State] = {}
    for decision in decisions:
        by_candidate[decision.candidate] = after(
            by_candidate.get(decision.candidate, State()), decision
        )
    return by_candidate


def after(state: State, decision: Decision) -> State:
    """Return the state of a candidate after one more decision, which must be valid for it."""
    if decision.kind == "opinion":
        return replace(state, given=(*state.given, decision))
    undo, undoes = decision.kind == "undo", decision.detail.get("undoes")
    if undo and any(opinion.uuid == undoes for opinion in state.given):
        return replace(state, given=tuple(o for o in state.given if o.uuid != undoes))
    standing = state.standing[:-1] if undo else (*state.standing, decision)
    return replace(_fold_decisions(standing), last=decision.uuid, given=state.given)


def opinion_of(state: State, person: int) -> Decision | None:
    """Return a person's latest opinion on a candidate as it is now, or None.

    Withdrawing an opinion restores the person's previous one.
    """
    opinions = [d for d in state.given if (d.person, d.scenario) == (person, state.meaning)]
    return opinions[-1] if opinions else None


def _fold_decisions(standing: tuple[Decision, ...]) -> State:
    """Return the state that decisions in force lead to.

    An edit keeps the status: an accepted candidate that is edited stays accepted.
    """
    state = State(standing=standing)
    for decision in standing:
        status, reason = STATUSES.get(decision.kind), str(decision.detail.get("reason", ""))
        only_marks = MARKS.issuperset(decision.detail.get("changes") or ("anything",))
        state = replace(
            state,
            status=status or state.status,
            reason=reason if status else state.reason,
            scenario=decision.scenario or state.scenario,
            meaning=state.meaning if only_marks else decision.scenario or state.meaning,
            by=decision.by,
            at=decision.at,
        )
    return state
