"""Error analysis: kinds of error in a random sample of the episodes judged as failures.

Source: Abramson et al. 2022, section A.3, Table 1.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

from sts.annotations.events import FAIR
from sts.annotations.opinions import JudgedClip, shuffle_clips
from sts.annotations.remarks import Remark

ERRORS = {
    "imprecise": ("player", "tried it and missed: clumsy, or not attentive"),
    "out_of_time": ("player", "was on the way, and not done when time ended"),
    "empty": ("player", "made no attempt"),
    "control": ("player", "could not control what they played"),
    "annotation_mistake": ("annotator", "it was done, and marked as a failure by mistake"),
    "rigidity": ("annotator", "done well enough; the judge was strict about how"),
    "ambiguity": (
        "annotator",
        "one may well say that it was done, and as well that it was not",
    ),
    FAIR: ("none", "the judgement is right, and none of these fits: something else was done"),
}
"""Who made each error type of `events`, and its meaning for reviewers."""


class ErrorRow(NamedTuple):
    """An error type, its source (player, annotator or none) and its meaning.

    `people` and `agents` count the sampled episodes with this error that each played.
    """

    source: str
    error: str
    people: int
    agents: int
    meaning: str


class SampleCounts(NamedTuple):
    """Counts of the failures of people, or of agents.

    `sample` of them were drawn at random for review and `reviewed` counts the ones done; `outside`
    counts reviewed failures that were sampled before later judgements changed the sample.
    """

    failures: int
    sample: int
    reviewed: int
    outside: int


class Breakdown(NamedTuple):
    """Table 1: the count of each error type, in the order of `ERRORS`, and the sample sizes."""

    rows: tuple[ErrorRow, ...]
    over: Mapping[str, SampleCounts]


def is_failure(clip: JudgedClip) -> bool:
    """Return True if less than half of a clip's annotators who could judge it saw success."""
    return clip.success_share is not None and clip.success_share < 0.5


def sample_failures(
    clips: Iterable[JudgedClip], size: int, seed: int
) -> dict[str, list[JudgedClip]]:
    """Draw simple random samples of the failures of people and of agents, at most `size` of each.

    A larger sample starts with the smaller one; equal seeds give equal samples.
    """
    drawn = shuffle_clips(filter(is_failure, clips), seed, "failures")
    return {
        "people": [one for one in drawn if one.played][:size],
        "agents": [one for one in drawn if not one.played][:size],
    }


def breakdown(
    clips: Sequence[JudgedClip], reviews: Mapping[str, Sequence[Remark]], size: int, seed: int
) -> Breakdown:
    """Count the errors of Table 1, using the latest review of each episode.

    `reviews` are by item, earliest first; size and seed are those of the sample.
    """
    samples = sample_failures(clips, size, seed)
    called = {item: own[-1].label for item, own in reviews.items()}
    counts = {
        who: [called[one.item] for one in drawn if one.item in called]
        for who, drawn in samples.items()
    }
    over = {}
    for who, drawn in samples.items():
        every = [one for one in clips if is_failure(one) and one.played == (who == "people")]
        beside = sum(one.item in called for one in every) - len(counts[who])
        over[who] = SampleCounts(len(every), len(drawn), len(counts[who]), beside)
    rows = (
        ErrorRow(source, error, counts["people"].count(error), counts["agents"].count(error), words)
        for error, (source, words) in ERRORS.items()
    )
    return Breakdown(tuple(rows), over)
