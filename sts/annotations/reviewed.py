"""What reviewers go through of a suite: each queue for one person, and how far it is."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from typing import NamedTuple

from sts.annotations import breakdown, opinions, reviews
from sts.annotations.breakdown import Breakdown
from sts.annotations.differences import differs
from sts.annotations.disputes import DISPUTES, dispute
from sts.annotations.events import Event
from sts.annotations.opinions import Clip, by_lot
from sts.annotations.reviews import Remark
from sts.annotations.store import Store
from sts.annotations.verdicts import Verdict
from sts.storage.workspace import Workspace

QUEUES = DISPUTED, FAILED, DIFFERING = ("disputes", "failures", "differences")
"""Judges disagree; a sample of what was annotated as failures; people and rule differ."""

Rules = Callable[[Collection[str]], Mapping[str, Verdict]]
"""Identities of continuations -> what the rules say of them, as far as they say something."""


class Case(NamedTuple):
    """A clip that waits for a reviewer.

    Attributes:
      clip: with what is said of it.
      about: what judges disagree about, one of `DISPUTES`, or "".
      rule: what the rule says, where that is in question, else None.
      remarks: what other reviewers have left in words.
    """

    clip: Clip
    about: str
    rule: Verdict | None
    remarks: tuple[str, ...]


class Queue(NamedTuple):
    """One queue, for one person.

    Attributes:
      cases: that wait, in the order in which they are shown.
      done: of all that belong in it, those that somebody has decided.
      of: how many belong in it.
      own: of those that wait, the ones that the person has judged or played.
      left: those that the person has left open.
    """

    cases: list[Case]
    done: int
    of: int
    own: int
    left: int


class Reviewed(NamedTuple):
    """What people, and then reviewers, have said of the clips of a suite.

    Attributes:
      clips: judged.
      decided: the adjudication of each item that has one.
      reviews: by item.
      notes: by item.
    """

    clips: list[Clip]
    decided: Mapping[str, Remark]
    reviews: Mapping[str, list[Remark]]
    notes: Mapping[str, list[Remark]]


def reviewed(store: Store, suite: str) -> Reviewed:
    """Returns what is said of the clips of a suite by now."""
    with store.database.read() as connection:
        return Reviewed(
            opinions.clips(connection, suite),
            reviews.adjudications(connection, suite),
            reviews.reviews(connection, suite),
            reviews.notes(connection, suite),
        )


def table_1(workspace: Workspace, suite: str) -> Breakdown | None:
    """Returns what reviewers found in failures of a suite; None where they looked at none."""
    store = Store.find(workspace)
    if store is None:
        return None
    with store:
        found, study = reviewed(store, suite), store.study
    errors = breakdown.breakdown(found.clips, found.reviews, study.review_sample, study.seed)
    return errors if any(over.reviewed for over in errors.over.values()) else None


def others(store: Store, person: int, kind: str, about: Collection[str]) -> dict[str, Event]:
    """Returns of these items the latest event of a kind that somebody else has sent."""
    with store.database.read() as connection:
        return opinions.of_others(connection, person, kind, about)


def queues(
    store: Store, suite: str, person: int, rules: Rules, *, again: bool = False
) -> dict[str, Queue]:
    """Returns the queues of a suite for one reviewer, by name.

    Nobody is given what they have judged or played. The order is by lot and another for each
    person; disputes about the outcome come first, those about the mark last.

    Args:
      store: of the workspace.
      suite: `NAME@VERSION`.
      person: the reviewer's number.
      rules: what the rules say.
      again: whether what the person has left open waits for them once more.
    """
    found, study = reviewed(store, suite), store.study
    with store.database.read() as connection:
        own = opinions.own(connection, person, suite)
        left = opinions.noted(connection, person, suite)
    said = rules([one.continuation for one in found.clips])
    about = {one.item: dispute(one.opinions, study.mark_tolerance) for one in found.clips}
    samples = breakdown.sample(found.clips, study.review_sample, study.seed).values()
    every = {
        DISPUTED: [one for one in found.clips if about[one.item]],
        FAILED: [one for drawn in samples for one in drawn],
        DIFFERING: [one for one in found.clips if differs(one, said.get(one.continuation))],
    }
    out = {}
    for name, members in every.items():
        closed = found.reviews if name == FAILED else found.decided
        waiting = [one for one in members if one.item not in closed]
        mine = [one for one in waiting if one.item not in own]
        open_to = [one for one in mine if again or one.item not in left]
        cases = [
            Case(
                one,
                about[one.item],
                said.get(one.continuation) if name == DIFFERING else None,
                tuple(remark.text for remark in found.notes.get(one.item, ())),
            )
            for one in by_lot(open_to, study.seed, f"{name} {person}")
        ]
        if name == DISPUTED:
            cases.sort(key=lambda case: DISPUTES.index(case.about))
        out[name] = Queue(
            cases,
            len(members) - len(waiting),
            len(members),
            len(waiting) - len(mine),
            sum(one.item in left for one in mine),
        )
    return out
