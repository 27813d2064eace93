"""Data of clips for the review page: annotators are letters, agents are left out."""

from typing import Any

from sts.annotations.answers.current_events import CurrentEvent
from sts.annotations.findings.judged_clips import random_key
from sts.annotations.findings.review_queues import (
    DIFFERING,
    DISPUTED,
    FAILED,
    ReviewCase,
    ReviewQueue,
)
from sts.annotations.log.events import REVIEW
from sts.names import count_noun

_LETTERS = "PQRSTUVWXYZ"
_VERDICTS = {
    "success": "success",
    "failure": "failure",
    "not_done": "not completed",
    "cannot_judge": "can't judge",
}
_EMPTY = {
    DISPUTED: (
        "No disagreements yet",
        "Clips with different verdicts by two annotators appear here.",
    ),
    FAILED: (
        "No failures yet",
        "A sample of the clips that annotators marked as failures appears here for error analysis.",
    ),
    DIFFERING: (
        "No differences from automatic labels yet",
        "Clips whose verdicts differ from the automatic label appear here. "
        "Run “sts label” first if the suite is not labelled.",
    ),
}


def describe_case(case: ReviewCase, episode: dict[str, Any], seed: int) -> dict[str, Any]:
    """Return a clip for the page, with its verdicts by annotators P, Q, R.

    Letters are assigned at random for each clip, from the study's seed.
    """
    clip = case.clip
    verdicts = sorted(clip.verdicts, key=lambda by: random_key(seed, clip.item, str(by.author_id)))
    return {
        "episode": episode,
        "said": [
            {"by": format_letter(n), "verdict": by.verdict, "step": by.step, "reason": by.reason}
            for n, by in enumerate(verdicts)
        ],
        "about": case.disagreement,
        "ruled": None if case.label is None else [case.label.verdict, case.label.step],
        "remarks": list(case.notes),
    }


def format_letter(number: int) -> str:
    """Return the letter of a clip's annotator by number: P to Z, then P2 and so on.

    Environments name their players A, B, C.
    """
    again, place = divmod(number, len(_LETTERS))
    return _LETTERS[place] + (str(again + 1) if again else "")


def count_progress(queue: ReviewQueue) -> dict[str, int]:
    """Return the progress of a queue."""
    counts = {"of": queue.all_clips, "own": queue.own_clips, "left": queue.skipped}
    return {"waiting": len(queue.cases), "done": queue.done, **counts}


def describe_empty_queue(name: str, queue: ReviewQueue) -> dict[str, str]:
    """Return the notice for a queue without clips for this person."""
    if not queue.all_clips:
        return dict(zip(("title", "text"), _EMPTY[name], strict=True))
    rest = []
    if queue.own_clips:
        own_clips = count_noun(queue.own_clips, "clip")
        rest.append(f"{own_clips} left to another reviewer: you annotated or played them.")
    if queue.skipped:
        rest.append(f"You skipped {count_noun(queue.skipped, 'clip')}.")
    unseen = " ".join(rest) or "New clips appear here automatically."
    return {"title": f"{queue.done} of {queue.all_clips} decided", "text": unseen}


def describe_conflict(kind: str, earlier: CurrentEvent) -> str:
    """Return a notice that another reviewer decided the clip before this one."""
    stands = "counts" if kind == REVIEW else "stands"
    return (
        f"Another reviewer had already decided this clip: {_describe_decision(earlier)}. Both "
        f"decisions are kept; yours is later and {stands}."
    )


def describe_concurrent(decision: CurrentEvent) -> str:
    """Return a notice that another reviewer has just decided the clip in view."""
    return (
        f"Another reviewer has just decided this clip: {_describe_decision(decision)}. If you "
        "decide it too, both decisions are kept and the later one counts."
    )


def _describe_decision(event: CurrentEvent) -> str:
    if event.kind == REVIEW:
        return event.error_type.replace("_", " ")
    at = f" at step {event.step}" if event.step is not None else ""
    return _VERDICTS[str(event.verdict)] + at
