"""Scenarios of a judged suite that its curators should look at again."""

from collections import defaultdict

from sqlalchemy import Connection

from sts.annotations.findings.conditions import list_differing
from sts.annotations.findings.judged_clips import (
    JudgedClip,
    classify_disagreement,
    load_judged_clips,
)
from sts.names import count_noun
from sts.ratings import UNABLE

MIN_SHARE = 1 / 3
"""Share of a scenario's clips from which on disagreements or "cannot judge" are named."""


def list_doubtful(connection: Connection, suite: str, tolerance: int) -> dict[str, str]:
    """Return why scenarios of a suite are doubtful, by id, in one line each.

    These are scenarios on which annotators often disagree, which they often cannot judge, or on
    which those who know the success criterion judge differently from those who do not. Markers may
    differ by `tolerance` steps.
    """
    by_scenario: dict[str, list[JudgedClip]] = defaultdict(list)
    for clip in load_judged_clips(connection, suite):
        by_scenario[clip.scenario].append(clip)
    reasons: dict[str, list[str]] = defaultdict(list)
    for scenario, clips in sorted(by_scenario.items()):
        twice = [clip for clip in clips if len(clip.verdicts) > 1]
        differ = sum(bool(classify_disagreement(clip.verdicts, tolerance)) for clip in twice)
        unable = sum(any(event.verdict == UNABLE for event in c.verdicts) for c in clips)
        if differ and differ >= MIN_SHARE * len(twice):
            what = count_noun(len(twice), "clip")
            reasons[scenario].append(f"annotators disagree on {differ} of {what}")
        if unable and unable >= MIN_SHARE * len(clips):
            reasons[scenario].append(
                f"{unable} of {count_noun(len(clips), 'clip')} cannot be judged"
            )
    for row in list_differing(connection, suite):
        reasons[row.scenario].append("verdicts by the instruction alone differ")
    return {scenario: "; ".join(texts) for scenario, texts in reasons.items()}
