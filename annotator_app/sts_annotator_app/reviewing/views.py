"""What a reviewer's page is sent, in which judges are letters and agents are nothing."""

from __future__ import annotations

from typing import Any

from sts.annotations.breakdown import ERRORS
from sts.annotations.events import REVIEW
from sts.annotations.opinions import lot
from sts.annotations.remarks import Remark
from sts.annotations.reviewed import DIFFERING, DISPUTED, FAILED, Case, Queue

_LETTERS = "PQRSTUVWXYZ"
_VERDICTS = {
    "success": "success",
    "failure": "failure",
    "not_done": "not completed",
    "cannot_judge": "can't judge",
}
_EMPTY = {
    DISPUTED: (
        "No two annotators disagree yet",
        "Where two people have judged a clip and say different things of it, it comes here.",
    ),
    FAILED: (
        "Nothing was judged a failure yet",
        "A sample of what annotators call failures comes here, to be sorted by kind of error.",
    ),
    DIFFERING: (
        "People and rules agree so far",
        "Clips come here of which annotators say something else than the rule of the category. "
        "Where nothing is labelled there is no rule to differ from: “sts label” does it.",
    ),
}


def describe_case(one: Case, episode: dict[str, Any], seed: int) -> dict[str, Any]:
    """Return a clip for the page, with what was said of it by P, Q, R.

    The letters are drawn by the study's seed, for each clip separately.
    """
    clip = one.clip
    said = sorted(clip.opinions, key=lambda by: lot(seed, clip.item, str(by.person)))
    return {
        "episode": episode,
        "said": [_describe_opinion(letter_for(n), opinion) for n, opinion in enumerate(said)],
        "about": one.about,
        "ruled": None if one.rule is None else [one.rule.verdict, one.rule.step],
        "remarks": list(one.remarks),
    }


def letter_for(number: int) -> str:
    """Return what a clip's judge of this number is called: P to Z, then P2 and on.

    Worlds call their participants A, B, C.
    """
    again, place = divmod(number, len(_LETTERS))
    return _LETTERS[place] + (str(again + 1) if again else "")


def count_progress(queue: Queue) -> dict[str, int]:
    """Return how far a queue is."""
    counts = {name: value for name, value in queue._asdict().items() if name != "cases"}
    return {"waiting": len(queue.cases), **counts}


def list_errors() -> list[list[str]]:
    """Return what a failure may be called, who made that error, and what it means."""
    return [[error, *about] for error, about in ERRORS.items()]


def empty_notice(name: str, queue: Queue) -> dict[str, str]:
    """Return what the page says where no clip of a queue waits for this person."""
    if not queue.of:
        title, text = _EMPTY[name]
        return {"title": title, "text": text}
    rest = []
    if queue.own:
        rest.append(
            f"{_format_clips(queue.own)} you judged or played yourself: another reviewer decides."
        )
    if queue.left:
        rest.append(f"{_format_clips(queue.left)} you left open; G shows them again.")
    unseen = " ".join(rest) or "If more comes, it appears here by itself."
    return {"title": f"{queue.done} of {queue.of} are decided", "text": unseen}


def describe_conflict(kind: str, other: Remark) -> str:
    """Return a notice that another reviewer decided the clip before this one."""
    stands = "counts" if kind == REVIEW else "stands"
    return (
        f"Another reviewer had already decided this clip: {_describe_decision(other)}. Both "
        f"decisions are kept; yours is later and {stands}."
    )


def describe_concurrent(other: Remark) -> str:
    """Return a notice that another reviewer has just decided the clip in view."""
    return (
        f"Another reviewer has just decided this clip: {_describe_decision(other)}. If you decide "
        "it too, both decisions are kept and the later one counts."
    )


def _describe_opinion(name: str, one: Remark) -> dict[str, Any]:
    return {"by": name, "verdict": one.verdict, "step": one.step, "reason": one.reason}


def _describe_decision(event: Remark) -> str:
    if event.kind == REVIEW:
        return event.label.replace("_", " ")
    at = f" at step {event.step}" if event.step is not None else ""
    return _VERDICTS[str(event.verdict)] + at


def _format_clips(count: int) -> str:
    return f"{count} clip{'' if count == 1 else 's'}"
