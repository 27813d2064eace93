"""Value types of the annotation store."""

from dataclasses import dataclass
from typing import NamedTuple


@dataclass(frozen=True, slots=True)
class Item:
    """One continuation to be judged; all that look and sound the same share one clip."""

    continuation: str  # the continuation's identity
    # a suite, `NAME@VERSION`, with its scenario; a continuation may be enqueued for several suites
    # and is judged once for all of them
    suite: str
    scenario: str  # the scenario's identifier
    scenario_hash: str  # the scenario's content hash
    agent: str  # the agent that produced it; never shown to annotators
    category: str  # the scenario's category
    kind: str  # instruction or question
    horizon: int  # continuation steps, at least 1; marks are counted 1..horizon from takeover
    takeover: int  # context steps
    clip: str  # hash of its appearance; continuations with the same clip share its judgements
    players: tuple[str, ...] = ()  # pseudonyms of those who played it and so may not judge it
    sees: str = "observation"  # observation, world or rehearsal
    place: int = 0  # place of its cell in the order of judging; see `rounds`
    rubric: str | None = None  # version of its rubric, "" for none; None keeps the stored one
    # Rule that auto-resolves it, "" for none; None keeps the stored one.
    auto_resolve_rule: str | None = None


@dataclass(frozen=True, slots=True)
class Annotator:
    """A person of the study."""

    id: int  # their number in the store
    name: str  # unique, 1 to 64 printable characters
    token: str | None = None  # the secret of their invitation, available only when it is created
    pseudonym: str = ""  # unique random name that is used in exports
    deactivated: bool = False  # if True, they can no longer sign in; their judgements are kept
    roles: tuple[str, ...] = ("annotator",)  # in the order of `ROLES`

    @property
    def is_annotator(self) -> bool:
        """Return True if clips may be assigned to them."""
        return "annotator" in self.roles and not self.deactivated

    @property
    def is_lead(self) -> bool:
        """Return True if they may decide about the whole study."""
        return "lead" in self.roles and not self.deactivated


class Claim(NamedTuple):
    """An item that is reserved for one annotator.

    Only `item`, an opaque identifier, may be sent to a browser.
    """

    item: str
    continuation: str
    category: str = ""


class Acknowledgement(NamedTuple):
    """Result of one submission."""

    uuid: str  # the client's identifier as sent, or "" if it sent none
    # saved, duplicate (already stored), extra (stored, though every slot was filled) or rejected
    # (rejected and kept separately with `message`)
    status: str
    message: str = ""  # reason for a rejection in one line, else ""


class RejectedSubmission(NamedTuple):
    """A rejected submission: author, reason, and its first 4,096 characters as JSON."""

    annotator: str
    message: str
    raw: str
    received: float


class Reference(NamedTuple):
    """A continuation with a known verdict, mixed in with the clips without a mark.

    `step` is the marker's step, 1..horizon, `source` is people or rule, `note` explains the
    verdict, and `judged` is the number of annotators who have judged it.
    """

    continuation: str
    verdict: str
    step: int | None
    source: str
    note: str
    judged: int


class DailyActivity(NamedTuple):
    """Number of clips that one person has judged since some time, and their active seconds."""

    today: int
    seconds: float


class Progress(NamedTuple):
    """Progress of a suite's annotation."""

    items: int  # clips enqueued
    complete: int  # of these, the ones with every required judgement
    annotations_required: int  # number of required judgements, without those of skipped clips
    judged: int  # number of these that are stored
    unjudgeable: int  # clips that everyone who saw them marked "cannot judge"
    continuations: int  # number of continuations that the clips show
    auto_resolved: int = 0  # auto-resolved clips without a human judgement, included above
    skipped: int = 0  # unjudged clips, all of whose agents have left the race

    @property
    def remaining(self) -> int:
        """The number of judgements that are still required."""
        return self.annotations_required - self.judged


class ShownVerdict(NamedTuple):
    """A verdict on a clip as shown to a user."""

    # a pseudonym, "you" for the user, "a reviewer", "a rule", "a model", or for the truth of a
    # reference "known" or, if it comes from a rule, "known by a rule"
    by: str
    kind: str  # verdict, correction, adjudication or label; reference for a truth
    verdict: str  # success, failure, not_done or cannot_judge
    step: int | None  # 1..horizon from takeover for success and failure, else None
    reason: str  # why the clip cannot be judged, else ""
