"""What judging took and what could not be judged, as a report and its page have it."""

from __future__ import annotations

import pandas as pd

from sts.annotations.error_analysis import ERRORS, ErrorAnalysis, ErrorRow, SampleCounts
from sts_analysis.inputs.subject import Subject
from sts_analysis.report.figures import FIGURES
from sts_analysis.report.page import render
from sts_analysis.report.tables import TABLES
from tests.analysis.report.test_build import world
from tests.analysis.reports import report_of, sure, valid

COLUMNS = (
    *("agent", "scenario", "category", "continuation", "annotator", "verdict", "step"),
    *("horizon", "clip", "seconds", "reason"),
)


def a_table(verdict: str = "success", reason: str = "") -> pd.DataFrame:
    """Ana and Bo judge a clip of A and B together, and one of A alone; Bo is not timed."""
    rows = [
        (agent, scenario, "c", "0", name, "success", "5", "9", clip, seconds, "")
        for name, seconds in (("Ana", "3600"), ("Bo", ""))
        for agent, scenario, clip in (("A", "s0", "x"), ("B", "s0", "x"), ("A", "s1", "y"))
    ]
    if verdict == "cannot_judge":
        rows = [
            (*row[:5], verdict, "", *row[7:10], reason) if row[1] == "s0" else row for row in rows
        ]
    return pd.DataFrame(rows, columns=COLUMNS).astype("str")


def test_a_clip_of_two_agents_takes_half_of_its_time_for_each() -> None:
    report = report_of(a_table())
    took = {one.agent: (one.hours, one.judgements, one.untimed) for one in report.efforts}
    assert took == {"A": (1.5, 3.0, 1.5), "B": (0.5, 1.0, 0.5)}
    assert report.counts.hours == 2.0
    assert "What judging took" in render(report, {})


def test_what_could_not_be_judged_is_told_by_scenario_with_its_reasons() -> None:
    report = report_of(a_table("cannot_judge", "<b>too dark</b>"))
    (found,) = report.unable
    assert (found.scenario, found.category, found.clips, found.judged) == ("s0", "c", 1, 1)
    assert found.reasons == {"<b>too dark</b>": 2}
    assert TABLES["unable"](report)[0]["reasons"] == "<b>too dark</b> (2)"
    page = render(report, {})
    assert "&lt;b&gt;too dark&lt;/b&gt; (2)" in page and "<b>too dark" not in page


def test_where_all_is_judged_and_nothing_timed_the_page_says_nothing_of_it() -> None:
    report = report_of(a_table().assign(seconds=""))
    assert report.unable == () and [one.hours for one in report.efforts] == [None, None]
    assert "What could not be judged" not in render(report, {})


def test_what_reviewers_found_is_a_table_of_its_own_where_they_looked() -> None:
    rows = tuple(ErrorRow(of, error, 0, 7, words) for error, (of, words) in ERRORS.items())
    over = {"people": SampleCounts(0, 0, 0, 0), "agents": SampleCounts(80, 60, 56, 1)}
    report = valid(report_of(a_table(), suite=Subject("t@1", reviews=ErrorAnalysis(rows, over))))
    found = sure(report.reviews)
    assert [one.error for one in found.errors] == [*ERRORS]
    assert sum(one["agents"] for one in TABLES["reviews"](report)) == 56
    page = render(report, {})
    assert "What reviewers found in failures" in page and "out of time" in page
    assert "Agents: 56 reviewed of 60, drawn at random from 80 clips" in page
    assert "People: " not in page
    assert "What reviewers found" not in render(report_of(a_table()), {})


def test_the_sweep_of_tolerances_is_drawn_with_its_interval() -> None:
    report = valid(report_of(world(annotators={"Ana": (0.9, 0.9)}, each=2, references=9)))
    marks = report.annotators_together.step_offset
    assert marks.marks and marks.within_intervals is not None
    for steps, (low, high) in marks.within_intervals.items():
        assert low <= marks.within[steps] <= high
    chart = FIGURES["step_offset"](report)
    assert chart is not None and len(chart.to_dict()["layer"]) == 2
    assert FIGURES["step_offset"](report_of(a_table())) is None


def test_accuracy_over_time_is_by_twenties_in_the_order_of_judging() -> None:
    frame = world(annotators={"Ana": (0.9, 0.9), "Bo": (0.8, 0.9)}, each=2, references=50)
    assert report_of(frame).annotators[0].blocks == ()  # no order is given
    assert FIGURES["accuracy_over_time"](report_of(frame)) is None
    served = (frame["truth"] != "").to_numpy()
    frame["order"] = ""
    for name in ("Ana", "Bo"):
        own = served & (frame["annotator"] == name).to_numpy()
        frame.loc[own, "order"] = [str(3 * n) for n in range(int(own.sum()), 0, -1)]  # backwards
    told = frame[served & ~frame["verdict"].isin(["cannot_judge"]).to_numpy()]
    ana = told[told["annotator"] == "Ana"].iloc[::-1]
    right = (ana["verdict"] == "success") == (ana["truth"] == "success")
    report = report_of(frame)
    blocks = report.annotators[0].blocks
    assert [one.answered for one in blocks][:2] == [20, 20] and len(blocks) == 3
    assert [one.right for one in blocks[:2]] == [right[:20].sum(), right[20:40].sum()]
    chart = FIGURES["accuracy_over_time"](report)
    assert chart is not None and len(chart.to_dict()["concat"]) == 2
    rows = TABLES["accuracy_over_time"](report)
    assert {row["annotator"] for row in rows} == {"Ana", "Bo"} and rows[0]["interval_low"] < 1


def test_agreement_on_the_share_judged_twice_stands_beside_that_on_all() -> None:
    frame = world(annotators={"Ana": (0.95, 0.95), "Bo": (0.95, 0.95)}, each=2)
    assert report_of(frame).annotators_together.alpha_twice is None
    number = pd.factorize(frame["agent"] + frame["scenario"] + frame["continuation"])[0]
    frame["twice"] = (number % 5 == 0).astype(int).astype(str)
    report = report_of(frame)
    found = sure(report.annotators_together.alpha_twice)
    both = report.annotators_together.alpha
    assert 0 < found.continuations < both.continuations / 4 and found.alpha is not None
    assert "on the share judged twice by design" in render(report, {})
