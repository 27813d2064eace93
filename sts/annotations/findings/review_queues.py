"""Review queues of a suite, for each reviewer."""

import time
from collections.abc import Callable, Collection, Mapping
from typing import NamedTuple

from sqlalchemy import Connection

from sts.annotations.answers import review_events
from sts.annotations.answers.current_events import CurrentEvent
from sts.annotations.answers.verdicts import Verdict
from sts.annotations.database.annotation_store import AnnotationStore
from sts.annotations.findings import error_analysis, judged_clips
from sts.annotations.findings.differences import differs_from_label
from sts.annotations.findings.error_analysis import ErrorAnalysis
from sts.annotations.findings.judged_clips import (
    DISAGREEMENTS,
    JudgedClip,
    classify_disagreement,
    shuffle_clips,
)
from sts.annotations.log.events import NOTE, REVIEW
from sts.storage.workspace import Workspace

QUEUES = DISPUTED, FAILED, DIFFERING = ("disputes", "failures", "differences")
"""Disagreements of annotators; sampled failures; disagreements with the automatic label."""

_SLOW_S = 0.1
"""Seconds of loading from which the queues are reloaded less often."""
_MAX_AGE_S = 60.0
"""Seconds after which the queues are reloaded in any case, since labels may have changed."""

LoadLabels = Callable[[Collection[str]], Mapping[str, Verdict]]
"""Function from continuations' ids to the automatic labels of those that have one."""


class ReviewCase(NamedTuple):
    """A clip that is queued for a reviewer.

    `disagreement` is one of `DISAGREEMENTS` or "", `label` is the automatic label if it is in
    question, and `notes` are other reviewers'.
    """

    clip: JudgedClip
    disagreement: str
    label: Verdict | None
    notes: tuple[str, ...]


class ReviewQueue(NamedTuple):
    """One reviewer's queue: the open cases in order, and counts of clips.

    Of all the clips that belong in it, `done` are decided. Of those still open, `own_clips` were
    judged or played by the reviewer, and `skipped` were skipped by them.
    """

    cases: list[ReviewCase]
    done: int
    all_clips: int
    own_clips: int
    skipped: int


class SuiteReviews(NamedTuple):
    """The judged clips of a suite, and the reviewers' current events by item."""

    clips: list[JudgedClip]
    decided: Mapping[str, CurrentEvent]
    reviews: Mapping[str, list[CurrentEvent]]
    notes: Mapping[str, list[CurrentEvent]]


def load_reviews(connection: Connection, suite: str) -> SuiteReviews:
    """Load the judged clips and reviews of a suite."""
    return SuiteReviews(
        judged_clips.load_judged_clips(connection, suite),
        review_events.load_adjudications(connection, suite),
        review_events.load_by_item(connection, REVIEW, suite),
        review_events.load_by_item(connection, NOTE, suite),
    )


def load_error_analysis(workspace: Workspace, suite: str) -> ErrorAnalysis | None:
    """Load the error table of a suite; return None if no failure was reviewed."""
    store = AnnotationStore.find(workspace)
    if store is None:
        return None
    with store, store.read() as connection:
        reviews_, study = load_reviews(connection, suite), store.study
    errors = error_analysis.count_errors(
        reviews_.clips, reviews_.reviews, study.review_sample, study.seed
    )
    return errors if any(over.reviewed for over in errors.samples.values()) else None


class _QueueContents(NamedTuple):
    """The clips of each queue, before they are ordered and filtered for a reviewer.

    They are current as of the event `last_judgement`, took `load_s` seconds to load and were
    complete at the monotonic time `loaded_at`. `orders` caches each person's order.
    """

    last_judgement: int
    clips: Mapping[str, list[JudgedClip]]
    disagreements: Mapping[str, str]
    labels: Mapping[str, Verdict]
    orders: dict[tuple[str, int], list[JudgedClip]]
    load_s: float
    loaded_at: float


class ReviewQueues:
    """The review queues of a suite.

    They are reloaded when there are new judgements. If that is slow, at most about a tenth of the
    time is spent on it, and new judgements appear with a delay.
    """

    def __init__(self, store: AnnotationStore, suite: str, load_labels: LoadLabels) -> None:
        """Load nothing yet."""
        self._store, self._suite, self._load_labels = store, suite, load_labels
        self._contents: _QueueContents | None = None

    def for_reviewer(self, reviewer_id: int, *, again: bool = False) -> dict[str, ReviewQueue]:
        """Return the queues for one reviewer, by name.

        Clips that the reviewer has judged or played are left out, and so are those that they
        skipped, unless `again`. The order is random and differs between people; disagreements about
        the outcome come first, those about the marker last.
        """
        with self._store.read() as connection:
            contents = self._load_contents(connection)
            judged_items = judged_clips.items_by_person(connection, reviewer_id, self._suite)
            decided = review_events.load_adjudications(connection, self._suite)
            reviewed = review_events.load_by_item(connection, REVIEW, self._suite)
            notes = review_events.load_by_item(connection, NOTE, self._suite)
        skipped_items = {
            item
            for item, of_item in notes.items()
            if any(n.author_id == reviewer_id for n in of_item)
        }
        out = {}
        for name, clips in contents.clips.items():
            closed: Collection[str] = reviewed if name == FAILED else decided
            ordered = self._order_clips(contents, name, reviewer_id)
            waiting = [clip for clip in ordered if clip.item not in closed]
            reviewable = [clip for clip in waiting if clip.item not in judged_items]
            cases = [
                ReviewCase(
                    clip,
                    contents.disagreements[clip.item],
                    contents.labels.get(clip.continuation) if name == DIFFERING else None,
                    tuple(note.text for note in notes.get(clip.item, ())),
                )
                for clip in reviewable
                if again or clip.item not in skipped_items
            ]
            out[name] = ReviewQueue(
                cases,
                len(clips) - len(waiting),
                len(clips),
                len(waiting) - len(reviewable),
                sum(clip.item in skipped_items for clip in reviewable),
            )
        return out

    def _load_contents(self, connection: Connection) -> _QueueContents:
        contents, now = self._contents, time.monotonic()
        last_judgement = judged_clips.last_judgement_id(connection)
        if contents is not None and (age := now - contents.loaded_at) < _MAX_AGE_S:
            is_slow = contents.load_s > _SLOW_S and age < contents.load_s * 10
            if contents.last_judgement == last_judgement or is_slow:
                return contents
        study, clips = self._store.study, judged_clips.load_judged_clips(connection, self._suite)
        labels = self._load_labels([clip.continuation for clip in clips])
        disagreements = {
            clip.item: classify_disagreement(clip.verdicts, study.marker_tolerance)
            for clip in clips
        }
        samples = error_analysis.sample_failures(clips, study.review_sample, study.seed).values()
        by_queue = {
            DISPUTED: [clip for clip in clips if disagreements[clip.item]],
            FAILED: [clip for sampled in samples for clip in sampled],
            DIFFERING: [
                clip for clip in clips if differs_from_label(clip, labels.get(clip.continuation))
            ],
        }
        loaded_at = time.monotonic()
        self._contents = _QueueContents(
            last_judgement, by_queue, disagreements, labels, {}, loaded_at - now, loaded_at
        )
        return self._contents

    def _order_clips(
        self, contents: _QueueContents, name: str, reviewer_id: int
    ) -> list[JudgedClip]:
        if (name, reviewer_id) not in contents.orders:
            order = shuffle_clips(
                contents.clips[name], self._store.study.seed, f"{name} {reviewer_id}"
            )
            if name == DISPUTED:
                order.sort(key=lambda clip: DISAGREEMENTS.index(contents.disagreements[clip.item]))
            contents.orders[name, reviewer_id] = order
        return contents.orders[name, reviewer_id]
