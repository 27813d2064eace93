"""What a reviewer decided is what a continuation is worth, and changes nobody's own verdict."""

from __future__ import annotations

from dataclasses import replace

import pandas as pd
import pytest

from sts.errors import DamagedData
from sts_analysis.report.page import render
from tests.analysis.report.test_build import world
from tests.analysis.reports import report_of, sure


def judged() -> pd.DataFrame:
    """Two agents judged by two people, of whom one says success of all and one of none."""
    people = {"Ana": (1.0, 1.0), "Bo": (1.0, 1.0)}
    frame = world(annotators=people, each=2, references=4, baselines=())
    said = frame["annotator"].map({"Ana": "success", "Bo": "failure"})
    own = frame["truth"] == ""
    return frame.assign(
        verdict=said.where(own, frame["verdict"]), step=own.map({True: "3", False: ""})
    )


def test_the_adjudicated_verdict_is_the_value_and_agreement_is_of_what_was_said() -> None:
    frame = judged()
    own = frame["truth"] == ""
    before = report_of(frame)
    after = report_of(
        frame.assign(
            adjudicated=own.map({True: "success", False: ""}),
            adjudicated_step=own.map({True: "1", False: ""}),
        )
    )
    assert {one.pass_rate for one in before.agents} == {0.5}
    assert {one.pass_rate for one in after.agents} == {1.0}
    assert sure(before.annotators_together).alpha == sure(after.annotators_together).alpha
    assert before.annotators == after.annotators
    clips = frame[own]["continuation"].nunique()
    assert (before.counts.adjudicated, after.counts.adjudicated) == (0, clips)
    assert replace(before.counts, adjudicated=clips) == after.counts
    words = f"decided ({clips} clips)"
    assert words in render(after, {}) and words not in render(before, {})
    times = [sure(report.agents[0].time_to_success).mean_area for report in (before, after)]
    assert sure(times[1]) > sure(times[0])


def test_what_a_reviewer_could_not_judge_is_unjudgeable() -> None:
    frame = judged().assign(adjudicated="")
    agent = (frame["agent"] == frame["agent"].iloc[0]) & (frame["truth"] == "")
    frame.loc[agent, "adjudicated"] = "cannot_judge"
    report = report_of(frame)
    assert report.counts.unjudgeable == frame[agent]["continuation"].nunique() > 0


@pytest.mark.parametrize(
    ("column", "value", "words"),
    [
        ("adjudicated", "yes", "adjudicated"),
        ("adjudicated_step", "3", "a step beside success and failure alone"),
    ],
)
def test_an_adjudication_that_is_none_is_refused(column: str, value: str, words: str) -> None:
    with pytest.raises(DamagedData, match=words):
        report_of(judged().assign(**{column: value}))


def test_a_continuation_has_one_adjudication() -> None:
    frame = judged().assign(adjudicated="success", adjudicated_step="1")
    frame.loc[1, ["adjudicated", "adjudicated_step"]] = "", ""
    with pytest.raises(DamagedData, match="adjudicated .* here and .* above"):
        report_of(frame)
