"""What a report says while judging goes on."""

import pandas as pd

from sts_analysis.inputs import tables
from sts_analysis.inputs.ratings import check_ratings
from sts_analysis.inputs.scores import empty_scores
from sts_analysis.inputs.subject import Subject
from sts_analysis.report.build import build
from sts_analysis.report.page import render
from sts_analysis.report.schema import Report


def report(judged: int, *, copies: bool = False) -> Report:
    """Agent "good" always succeeds, "bad" never does; the first `judged` of sixty are judged."""
    rows = [
        {
            "agent": agent,
            "scenario": f"s{s}",
            "continuation": f"{agent}{s}-{n}",
            "annotator": "x" if s * 3 + n < judged else "",
            "verdict": ("success" if agent == "good" else "failure") if s * 3 + n < judged else "",
            "clip": f"{agent}{s}" if copies else f"{agent}{s}-{n}",
        }
        for agent in ("good", "bad")
        for s in range(20)
        for n in range(3)
    ]
    ratings = check_ratings(tables.from_frame("t", pd.DataFrame(rows)))
    return build(ratings, empty_scores(), suite=Subject("t"))


def test_what_rates_can_become_is_said_until_all_is_judged() -> None:
    early, late = report(6), report(40)
    assert early.stopping is not None and late.stopping is not None
    assert [one.judged for one in late.stopping.agents] == [40, 40]
    assert [one.pool for one in late.stopping.agents] == [60, 60]
    assert not early.stopping.pairs[0].apart
    assert late.stopping.pairs[0].apart and late.stopping.pairs[0].a == "good"
    assert "Whatever the rest says" in render(late, {})
    assert "No two agents' order is certain yet" in render(early, {})
    whole = report(60)
    assert whole.stopping is None and "May judging stop" not in render(whole, {})


def test_a_clip_is_judged_once_for_all_its_copies() -> None:
    copied = report(30, copies=True).stopping
    assert copied is not None
    assert [(one.judged, one.pool) for one in copied.agents] == [(10, 20), (10, 20)]
    alone = report(30).stopping
    assert alone is not None
    # Ten clips say less than thirty continuations that are no copies.
    assert copied.agents[0].interval[0] < alone.agents[0].interval[0]
