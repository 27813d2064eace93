"""What is decided about the candidates of a draft, by whom, and what it comes to.

A decision is an event that is only ever added. It names the one that it follows on the same
candidate, so that nobody overrules what they have not seen; undoing is a decision too. An opinion
is an answer to the question whether two people would agree; it changes nothing, and is about a
candidate as it was then.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

from sts.storage.chains import Link, follow

STATUSES = {"accept": "accepted", "reject": "rejected", "retire": "retired"}
"""What a candidate is after a decision of this kind."""
KINDS = (*STATUSES, "edit", "undo", "opinion")
UNDECIDED = "undecided"
OPINIONS = ("yes", "no")
"""Whether two people would agree on how the continuations of a candidate are to be judged."""
MARKS = frozenset({"tags", "pair", "series"})
"""Changes of an edit that leave what a candidate asks as it is."""
REASON = 500
"""Letters of a reason."""


class Decision(NamedTuple):
    """One event.

    Attributes:
      uuid: made where it was decided, 32 hex digits; sending it again changes nothing.
      candidate: the id of the scenario in the draft.
      kind: one of `KINDS`.
      person: the number of who decided.
      follows: the uuid of the decision on the candidate, opinions apart, that was seen; "" for
        none, and of an opinion.
      scenario: the `row_hash` of the candidate after an edit; of an opinion, the `State.meaning`
        that it is about; "" for other kinds.
      detail: JSON: `reason`; of an edit `changes`; of an undo `undoes`; of an opinion `opinion`,
        one of `OPINIONS`.
      at: UTC seconds.
      number: its place in the draft, from 1.
      digest: SHA-256 of the one before it in the draft and of all of the above.
      by: what that person is called.
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
    """What a candidate has come to.

    Attributes:
      status: "undecided", "accepted", "rejected" or "retired".
      scenario: the `row_hash` of what it is now; "" for as it was mined.
      meaning: the `row_hash` that it got when what it asks was last changed, by more than `MARKS`;
        "" where it never was.
      reason: why, where one was given.
      by: who decided last, of what stands; "" for nobody.
      at: when; 0 for never.
      last: the uuid of its latest decision, opinions apart, also of one that undid another.
      standing: its decisions that are not undone, the latest last.
      given: the opinions that are not taken back, about whatever it was then, the latest last.
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
        """The opinion of each person about what it asks now, by what they are called."""
        about = (one for one in self.given if one.scenario == self.meaning)
        return {one.by: str(one.detail["opinion"]) for one in about}


def states(decisions: Iterable[Decision]) -> dict[str, State]:
    """Return the state of every candidate about which anything was decided, by its id."""
    out: dict[str, State] = {}
    for one in decisions:
        out[one.candidate] = after(out.get(one.candidate, State()), one)
    return out


def after(state: State, decision: Decision) -> State:
    """Return what a candidate has come to by one decision more, which may be made on it."""
    if decision.kind == "opinion":
        return replace(state, given=(*state.given, decision))
    undo, undoes = decision.kind == "undo", decision.detail.get("undoes")
    if undo and any(one.uuid == undoes for one in state.given):
        return replace(state, given=tuple(one for one in state.given if one.uuid != undoes))
    standing = state.standing[:-1] if undo else (*state.standing, decision)
    return replace(_of(standing), last=decision.uuid, given=state.given)


def opinion_of(state: State, person: int) -> Decision | None:
    """Return a person's latest opinion about a candidate as it is now; None where they have none.

    Whoever takes it back has the one before it again.
    """
    own = [d for d in state.given if (d.person, d.scenario) == (person, state.meaning)]
    return own[-1] if own else None


def _of(standing: tuple[Decision, ...]) -> State:
    """Return what decisions that all stand come to.

    An edit leaves a candidate as decided as it was: who edits what they have accepted still wants
    it.
    """
    state = State(standing=standing)
    for one in standing:
        status, reason = STATUSES.get(one.kind), str(one.detail.get("reason", ""))
        marked = MARKS.issuperset(one.detail.get("changes") or ("anything",))
        state = replace(
            state,
            status=status or state.status,
            reason=reason if status else state.reason,
            scenario=one.scenario or state.scenario,
            meaning=state.meaning if marked else one.scenario or state.meaning,
            by=one.by,
            at=one.at,
        )
    return state
