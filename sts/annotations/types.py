"""Value types of the annotation store."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple


@dataclass(frozen=True, slots=True)
class Item:
    """One continuation to be judged; all that look and sound the same share one clip.

    Attributes:
      continuation: the continuation's identity.
      suite: a suite, `NAME@VERSION`, with its scenario; a continuation may be enqueued for several
        suites and is judged once for all of them.
      scenario: the scenario's identifier.
      scenario_hash: the scenario's content hash.
      agent: the agent that produced it; never shown to annotators.
      category: the scenario's category.
      kind: instruction or question.
      horizon: continuation steps, at least 1; marks are counted 1..horizon from takeover.
      takeover: context steps.
      clip: hash of its appearance; continuations with the same clip share its judgements.
      players: names of annotators who played it themselves and so may not judge it.
      sees: observation, world or rehearsal.
      rubric: version of its rubric, "" if its category has none; None keeps the stored version.
      settled: rule that auto-resolves it, "" if none does; None keeps the stored state.
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
      id: their number in the store.
      name: unique, 1 to 64 printable characters.
      token: the secret of their invitation, available only when it is created.
      pseudonym: unique random name that is used in exports.
      retired: if True, they can no longer sign in; their judgements are kept.
      roles: in the order of `ROLES`.
    """

    id: int
    name: str
    token: str | None = None
    pseudonym: str = ""
    retired: bool = False
    roles: tuple[str, ...] = ("annotator",)

    @property
    def is_annotator(self) -> bool:
        """Return True if clips may be assigned to them."""
        return "annotator" in self.roles and not self.retired


class Claim(NamedTuple):
    """An item that is reserved for one annotator until `lease_until`, UTC seconds.

    Only `item`, an opaque identifier, may be sent to a browser.
    """

    item: str
    continuation: str
    lease_until: float


class Ack(NamedTuple):
    """Result of one submission.

    Attributes:
      uuid: the client's identifier as sent, or "" if it sent none.
      status: saved, duplicate (already stored), extra (stored, though every slot was filled) or
        refused (rejected and kept separately with `message`).
      message: reason for a rejection in one line, else "".
    """

    uuid: str
    status: str
    message: str = ""


class RefusedAnswer(NamedTuple):
    """A rejected submission: author, reason, and its first 4,096 characters as JSON."""

    annotator: str
    message: str
    raw: str
    received: float


class Reference(NamedTuple):
    """A continuation with a known verdict, mixed in with the clips without a mark.

    `step` is the marker's step, 1..horizon, `note` explains the truth, and `judged` is the number
    of annotators who have judged it.
    """

    continuation: str
    truth: str
    step: int | None
    note: str
    judged: int


class Activity(NamedTuple):
    """Number of clips that one person has judged since some time, and their active seconds."""

    today: int
    seconds: float


class Progress(NamedTuple):
    """Progress of a suite's annotation.

    Attributes:
      items: clips enqueued.
      complete: of these, the ones with every required judgement.
      required: number of required judgements.
      judged: number of these that are stored.
      unjudgeable: clips that everyone who saw them marked "cannot judge".
      continuations: number of continuations that the clips show.
      settled: auto-resolved clips without a human judgement; part of `items` and `complete`.
    """

    items: int
    complete: int
    required: int
    judged: int
    unjudgeable: int
    continuations: int
    settled: int = 0


class Mark(NamedTuple):
    """A verdict on a clip as shown to a user.

    Attributes:
      by: a pseudonym, "you" for the user, "a reviewer", "a rule", "a model", or "known" for the
        truth of a reference.
      kind: verdict, correction, adjudication or label; reference for a truth.
      verdict: success, failure, not_done or cannot_judge.
      step: 1..horizon from takeover for success and failure, else None.
      reason: why the clip cannot be judged, else "".
    """

    by: str
    kind: str
    verdict: str
    step: int | None
    reason: str
