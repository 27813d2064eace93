"""Verdicts by the success criterion compared with verdicts by the instruction alone.

Where both agree, a verdict does not depend on the rule: such clips are proposed as references.
Where they differ, the scenario or its rule needs a correction.
"""

from collections import defaultdict
from collections.abc import Iterable, Sequence
from statistics import fmean, median_low
from typing import NamedTuple

import numpy as np
from sqlalchemy import Connection

from sts.annotations.answers.current_events import CurrentEvent, load_current_events
from sts.annotations.database.schema import events
from sts.annotations.findings.judged_clips import (
    JudgedClip,
    classify_disagreement,
    load_judged_clips,
)
from sts.annotations.queue.queue import list_suites
from sts.ratings import MARKED_VERDICTS, UNABLE

MIN_ANNOTATORS = 3
"""Annotators who must agree on a clip that becomes a reference."""
MAX_P = 0.05
"""p of Fisher's exact test below which the success rates of a scenario differ."""


class DifferingScenario(NamedTuple):
    """A scenario on which the conditions differ, with its successes and verdicts under each.

    Of `clips` judged under both conditions, `differing` have success shares more than half apart.
    `p` is of Fisher's exact test, with all verdicts.
    """

    scenario: str
    category: str
    clips: int
    differing: int
    shown: tuple[int, int]
    alone: tuple[int, int]
    p: float


class ProposedReference(NamedTuple):
    """A clip on which all annotators agree, under both conditions."""

    continuation: str
    scenario: str
    category: str
    verdict: str
    step: int | None  # median of their markers
    annotators: int


class Proposals(NamedTuple):
    """Proposed references, and the fewest judgements that a first one still needs."""

    references: list[ProposedReference]
    missing: int


def list_differing(connection: Connection, suite: str | None = None) -> list[DifferingScenario]:
    """List the scenarios on which the conditions differ, those that differ most first.

    These have a clip on which they differ, or differ significantly in all verdicts.
    """
    by_scenario: dict[tuple[str, str], list[CurrentEvent]] = defaultdict(list)
    for event in load_current_events(connection, events.c.verdict != UNABLE, suite=suite):
        by_scenario[event.scenario, event.category].append(event)
    compared = [_compare(*key, verdicts) for key, verdicts in by_scenario.items()]
    differing = [s for s in compared if s.differing or s.p < MAX_P]
    return sorted(differing, key=lambda s: (-s.differing, s.p, s.scenario))


def propose_references(connection: Connection, suite: str | None, tolerance: int) -> Proposals:
    """Propose clips on which all of at least three annotators agree, under both conditions.

    Args:
      connection: to the database.
      suite: an enqueued suite, or part of one; None for all.
      tolerance: steps by which the markers may differ.
    """
    suites = [suite] if suite else list_suites(connection)
    clips = {clip.item: clip for name in suites for clip in load_judged_clips(connection, name)}
    lacking = {item: _count_missing(clip, tolerance) for item, clip in clips.items()}
    agreed = [clip for item, clip in clips.items() if lacking[item] == 0]
    return Proposals(
        [_propose(clip) for clip in sorted(agreed, key=lambda clip: clip.scenario)],
        min([MIN_ANNOTATORS, *(n for n in lacking.values() if n is not None)]),
    )


def _propose(clip: JudgedClip) -> ProposedReference:
    steps = [event.step for event in clip.verdicts if event.step is not None]
    first = clip.verdicts[0]
    step, verdict = median_low(steps) if steps else None, str(first.verdict)
    about = clip.continuation, clip.scenario, first.category
    return ProposedReference(*about, verdict, step, len(clip.verdicts))


def _count_missing(clip: JudgedClip, tolerance: int) -> int | None:
    """Count the judgements that a clip needs to become a reference; None if annotators differ."""
    unable = any(event.verdict == UNABLE for event in clip.verdicts)
    if unable or classify_disagreement(clip.verdicts, tolerance):
        return None
    conditions = {event.rubric_shown for event in clip.verdicts}
    return max(0, MIN_ANNOTATORS - len(clip.verdicts), 2 - len(conditions))


def _compare(scenario: str, category: str, verdicts: Sequence[CurrentEvent]) -> DifferingScenario:
    from scipy.stats import fisher_exact

    by_clip: dict[str, list[CurrentEvent]] = defaultdict(list)
    for event in verdicts:
        by_clip[event.item].append(event)
    shares = [[_list_successes(own, seen) for seen in (1, 0)] for own in by_clip.values()]
    both = [(fmean(shown), fmean(alone)) for shown, alone in shares if shown and alone]
    differing = sum(abs(shown - alone) > 0.5 for shown, alone in both)
    shown, alone = (_list_successes(verdicts, seen) for seen in (1, 0))
    table = np.array([[sum(successes), len(successes)] for successes in (shown, alone)])
    table[:, 1] -= table[:, 0]
    p = float(fisher_exact(table)[1]) if shown and alone else 1.0
    counts = (sum(shown), len(shown)), (sum(alone), len(alone))
    return DifferingScenario(scenario, category, len(both), differing, *counts, p)


def _list_successes(verdicts: Iterable[CurrentEvent], rubric_shown: int) -> list[bool]:
    success = MARKED_VERDICTS[0]
    return [event.verdict == success for event in verdicts if event.rubric_shown == rubric_shown]
