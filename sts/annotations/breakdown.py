"""Where failures come from: a sample of episodes that were annotated as such, by kind of error.

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
"""Who made each kind of error of `events.LABELS`, and what it means to a reviewer."""


class ErrorRow(NamedTuple):
    """A kind of error, who made it (player, annotator or none), and what it means.

    `people` and `agents` count the episodes of the sample with this error that they played.
    """

    source: str
    error: str
    people: int
    agents: int
    meaning: str


class SampleCounts(NamedTuple):
    """Episodes annotated as failures, of one kind of players.

    A sample of them is drawn at random to be reviewed; those reviewed `outside` of it were in it
    before more was judged.
    """

    failures: int
    sample: int
    reviewed: int
    outside: int


class Breakdown(NamedTuple):
    """Table 1: each kind of error in the order of `ERRORS`, and what it is counted over."""

    rows: tuple[ErrorRow, ...]
    over: Mapping[str, SampleCounts]


def is_failure(clip: JudgedClip) -> bool:
    """Whether a clip is annotated as a failure: fewer than half of its judges saw it done."""
    return clip.success_share is not None and clip.success_share < 0.5


def sample_failures(
    clips: Iterable[JudgedClip], size: int, seed: int
) -> dict[str, list[JudgedClip]]:
    """Return a plain random sample of the failures of people and of agents, `size` of each at most.

    One of a larger size begins with those of a smaller one; equal seeds give equal samples.
    """
    drawn = shuffle_clips(filter(is_failure, clips), seed, "failures")
    return {
        "people": [one for one in drawn if one.played][:size],
        "agents": [one for one in drawn if not one.played][:size],
    }


def breakdown(
    clips: Sequence[JudgedClip], reviews: Mapping[str, Sequence[Remark]], size: int, seed: int
) -> Breakdown:
    """Return Table 1. Of several reviews of an episode the latest counts.

    `reviews` are by item, the earlier first; size and seed are those of `sample`.
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
