"""What a rule settles is scored as not done, and is nobody's judgement."""

from __future__ import annotations

import pandas as pd
import pytest

from sts.errors import DamagedData
from tests.analysis.report.test_build import world
from tests.analysis.reports import report_of, sure


def tables() -> tuple[pd.DataFrame, pd.DataFrame]:
    """What people judged, and the same where a rule settles two further ones of each scenario."""
    people = {"Ana": (1.0, 1.0), "Bo": (1.0, 1.0)}
    judged = world(annotators=people, each=2, references=4, baselines=()).assign(
        seconds="36", source="human"
    )
    settled = judged[judged["truth"] == ""].drop_duplicates(["agent", "scenario"])
    more = [
        settled.assign(
            continuation=f"silent-{n}", annotator="", verdict="not_done", step="", seconds="",
            source="settled",
        )
        for n in range(2)
    ]  # fmt: skip
    return judged, pd.concat([judged, *more], ignore_index=True)


NOBODYS = ["annotator", "verdict", "step", "seconds"]


def test_settled_continuations_lower_the_rate_and_are_in_no_count_of_judgements() -> None:
    judged, both = map(report_of, tables())
    settled = both.counts.settled
    assert both.labels.settled == settled == both.counts.continuations - judged.counts.continuations
    assert both.labels.human == judged.labels.human
    assert both.annotators == judged.annotators
    assert sure(both.annotators_together).alpha == sure(judged.annotators_together).alpha
    for name in ("annotations", "judgements", "hours", "cannot_judge", "reference_annotations"):
        assert getattr(both.counts, name) == getattr(judged.counts, name)
    before = {one.agent: sure(one.pass_rate) for one in judged.agents}
    for one in both.agents:
        assert sure(one.pass_rate) == pytest.approx(before[one.agent] * 4 / 6)


def test_the_share_and_the_ranking_without_it_are_on_the_first_screen() -> None:
    judged, both = map(report_of, tables())
    rates = {one.agent: one.pass_rate for one in both.label_sets["unsettled"].agents}
    assert rates == {one.agent: one.pass_rate for one in judged.agents}
    (line,) = [line for line in both.warnings if "settled by rule" in line]
    assert f"{both.counts.settled} of {both.counts.continuations} continuations" in line
    assert f"Without them: {both.label_sets['unsettled'].agents[0].agent} " in line
    assert "unsettled" not in judged.label_sets


def test_while_others_wait_what_is_settled_counts_as_the_share_that_it_is() -> None:
    judged, both = tables()
    waits = (
        (both["truth"] == "") & (both["source"] == "human") & both["scenario"].str.startswith("go-")
    )
    both.loc[waits, NOBODYS] = ""
    alone = judged.assign(**{c: judged[c].mask(waits.loc[judged.index], "") for c in NOBODYS})
    report, open_ = report_of(both), {one.agent: one for one in report_of(alone).agents}
    (said,) = [line for line in report.warnings if "share that they are" in line]
    number = both.loc[waits, "continuation"].nunique()
    assert number and f"while {number} others wait" in said
    assert not any("share that they are" in line for line in report_of(tables()[1]).warnings)
    for one in report.agents:
        rate, curve = sure(one.pass_rate), sure(one.time_to_success.reached)
        assert rate == pytest.approx(sure(open_[one.agent].pass_rate) * 4 / 6)
        assert curve[-1][1] == pytest.approx(rate)


def test_what_somebody_judged_stands_over_the_rule() -> None:
    judged, _ = tables()
    first = judged[judged["truth"] == ""].iloc[[0]]
    rule = first.assign(annotator="", verdict="not_done", step="", source="settled", seconds="")
    report = report_of(pd.concat([judged, rule], ignore_index=True))
    assert report.counts == report_of(judged).counts
    assert report.agents == report_of(judged).agents


def test_a_rule_settles_nothing_but_what_is_not_done() -> None:
    _, both = tables()
    both.loc[both.index[-1], "verdict"] = "success"
    with pytest.raises(DamagedData, match="not_done where a rule has settled it"):
        report_of(both)
