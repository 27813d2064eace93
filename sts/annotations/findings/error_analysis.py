"""Error analysis: kinds of error in a random sample of the episodes judged as failures.

Source: Abramson et al. 2022, section A.3, Table 1.
"""

from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

from sts.annotations.answers.current_events import CurrentEvent
from sts.annotations.answers.review_events import ERRORS
from sts.annotations.findings.judged_clips import JudgedClip, shuffle_clips


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


class ErrorAnalysis(NamedTuple):
    """Table 1: the count of each error type, in the order of `ERRORS`, and the sample sizes."""

    rows: tuple[ErrorRow, ...]
    samples: Mapping[str, SampleCounts]


def is_failure(clip: JudgedClip) -> bool:
    """Return True if less than half of a clip's annotators who could judge it saw success."""
    return clip.success_share is not None and clip.success_share < 0.5


def sample_failures(
    clips: Iterable[JudgedClip], size: int, seed: int
) -> dict[str, list[JudgedClip]]:
    """Draw simple random samples of the failures of people and of agents, at most `size` of each.

    A larger sample starts with the smaller one; equal seeds give equal samples.
    """
    failures = shuffle_clips(filter(is_failure, clips), seed, "failures")
    return {
        "people": [clip for clip in failures if clip.has_human_player][:size],
        "agents": [clip for clip in failures if not clip.has_human_player][:size],
    }


def count_errors(
    clips: Sequence[JudgedClip], reviews: Mapping[str, Sequence[CurrentEvent]], size: int, seed: int
) -> ErrorAnalysis:
    """Count the errors of Table 1, using the latest review of each episode.

    `reviews` are by item, earliest first; size and seed are those of the sample.
    """
    error_of = {item: remarks[-1].error_type for item, remarks in reviews.items()}
    counts, over = {}, {}
    for players, sampled in sample_failures(clips, size, seed).items():
        counts[players] = [error_of[clip.item] for clip in sampled if clip.item in error_of]
        failures = [
            clip
            for clip in clips
            if is_failure(clip) and clip.has_human_player == (players == "people")
        ]
        outside = sum(clip.item in error_of for clip in failures) - len(counts[players])
        over[players] = SampleCounts(len(failures), len(sampled), len(counts[players]), outside)
    rows = (
        ErrorRow(
            source, error, counts["people"].count(error), counts["agents"].count(error), meaning
        )
        for error, (source, meaning) in ERRORS.items()
    )
    return ErrorAnalysis(tuple(rows), over)
