"""The values that pass through the annotation store."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple


@dataclass(frozen=True, slots=True)
class Item:
    """One continuation to be judged, together with all that look and sound the same.

    Attributes:
      continuation: the continuation's identity.
      suite: a suite, `NAME@VERSION`, that keeps its scenario; a continuation may be enqueued once
        for each such suite and is judged once for all of them.
      scenario: the scenario's identifier.
      scenario_hash: the scenario's content hash.
      agent: who played it; never shown to an annotator.
      category: the scenario's category.
      kind: instruction or question.
      horizon: continuation steps, at least 1; marks are counted 1..horizon from takeover.
      takeover: context steps.
      clip: what there is to be seen and heard of it; continuations of one clip share what is
        said of it.
      players: names of annotators who played it themselves and so may not judge it.
      sees: observation, world or rehearsal.
      rubric: the version of what it is judged by, "" where its category has none; None says
        nothing of it, and leaves what is there.
      settled: by which rule it needs no eyes, "" where it does; None leaves what is there.
    """

    continuation: str
    suite: str
    scenario: str
    scenario_hash: str
    agent: str
    category: str
    kind: str
    horizon: int
    takeover: int
    clip: str
    players: tuple[str, ...] = ()
    sees: str = "observation"
    rubric: str | None = None
    settled: str | None = None


@dataclass(frozen=True, slots=True)
class Annotator:
    """A person of the study.

    Attributes:
      id: the store's number for them.
      name: unique, 1 to 64 printable characters.
      token: the secret of their invitation, known only at the moment it is made.
      pseudonym: unique, drawn; what exports call them.
      retired: no longer let in; what they judged stays.
      roles: what they do, in the order of `ROLES`.
    """

    id: int
    name: str
    token: str | None = None
    pseudonym: str = ""
    retired: bool = False
    roles: tuple[str, ...] = ("annotator",)

    @property
    def is_annotator(self) -> bool:
        """Whether they are given anything to judge."""
        return "annotator" in self.roles and not self.retired


class Claim(NamedTuple):
    """An item that is kept for one annotator until `lease_until`, UTC seconds.

    `item`, an opaque identifier, is the only one that may reach a browser.
    """

    item: str
    continuation: str
    lease_until: float


class Ack(NamedTuple):
    """What became of one submission.

    Attributes:
      uuid: the client's identifier as sent, or "" when it sent none.
      status: saved, duplicate (already there), extra (kept, though every slot was filled) or
        refused (kept aside with `message`).
      message: one line for a refused one, else "".
    """

    uuid: str
    status: str
    message: str = ""


class RefusedAnswer(NamedTuple):
    """What somebody's page sent and could not be kept: why, and its first 4,096 letters as JSON."""

    annotator: str
    message: str
    raw: str
    received: float


class Reference(NamedTuple):
    """A continuation whose verdict is known and which is served silently.

    It has the step where the mark belongs, 1..horizon, a note why the truth is so, and the number
    of annotators who have judged it.
    """

    continuation: str
    truth: str
    step: int | None
    note: str
    judged: int


class Activity(NamedTuple):
    """Clips that one person has judged since some moment, and the seconds that their pages saw."""

    today: int
    seconds: float


class Progress(NamedTuple):
    """How far a suite has been judged.

    Attributes:
      items: clips enqueued.
      complete: of these, the ones with every required judgement.
      required: judgements wanted in all.
      judged: of these, the ones that are in.
      unjudgeable: clips that everyone who looked could not judge.
      continuations: what the clips stand for.
      settled: clips that a rule has settled, and nobody has judged; of `items` and `complete`.
    """

    items: int
    complete: int
    required: int
    judged: int
    unjudgeable: int
    continuations: int
    settled: int = 0


class Mark(NamedTuple):
    """What somebody, or a rule, has said of a clip.

    Attributes:
      by: a person's pseudonym, "you" for who looks at it, "a reviewer", "a rule", "a model", or
        "known" for the truth of a reference.
      kind: verdict, correction, adjudication or label; reference for a truth.
      verdict: success, failure, not_done or cannot_judge.
      step: 1..horizon from takeover for success and failure, else None.
      reason: why it cannot be judged, else "".
    """

    by: str
    kind: str
    verdict: str
    step: int | None
    reason: str
