"""Missing planned continuations, as reports state them."""

import numpy as np
import pandas as pd
import pytest

import sts
from sts_analysis.report.text import to_plain


def draw_table(*, dropped: int = 0, rates: tuple[float, float] = (0.9, 0.1)) -> pd.DataFrame:
    """Draw 30 scenarios x 4 continuations of agents a and b; a lacks its first failures."""
    rng = np.random.default_rng(1)
    rows = [
        (agent, f"s{s:02}", int(rng.random() < rate))
        for agent, rate in zip("ab", rates, strict=True)
        for s in range(30)
        for _ in range(4)
    ]
    table = pd.DataFrame(rows, columns=["agent", "scenario", "verdict"])
    failures = table[(table["agent"] == "a") & (table["verdict"] == 0)]
    return table.drop(index=failures.index[:dropped])


def list_warnings(report):
    return [to_plain(warning) for warning in report.conclusion.warnings]


def test_complete_table_has_no_warning_and_is_judged_in_full():
    report = sts.build_report(draw_table())
    assert list_warnings(report) == [] and report.conclusion.missing == {}
    assert report.conclusion.planned_clips == report.conclusion.judged_clips == 240


def test_first_missing_continuation_is_stated_and_counts_as_planned():
    report = sts.build_report(draw_table(dropped=1))
    (warning,) = list_warnings(report)
    assert warning.startswith("Planned continuations are missing: a 1 of 120.")
    assert report.conclusion.missing == {"a": 1}
    assert (report.conclusion.planned_clips, report.conclusion.judged_clips) == (240, 239)
    assert report.conclusion.state == "final" and report.conclusion.best == ("a",)
    assert ">99%" in str(report) and warning in str(report)
    assert [row.continuations_missing for row in report.rates.rows] == [1, 0]


def test_missing_scenario_is_stated_and_costs_a_narrow_lead():
    table = draw_table(rates=(0.62, 0.4))
    full = sts.build_report(table)
    assert full.conclusion.best == ("a",)
    report = sts.build_report(table[(table["agent"] != "a") | (table["scenario"] > "s02")])
    assert any("a 12 of 120 (3 whole scenarios)" in each for each in list_warnings(report))
    assert report.conclusion.best != ("a",)


def test_agent_with_fewer_everywhere_brings_the_question_how_many_were_planned():
    table = draw_table()
    number = table.groupby(["agent", "scenario"]).cumcount()
    report = sts.build_report(table[(table["agent"] == "a") | (number < 2)].iloc[:-1])
    (warning,) = list_warnings(report)
    assert warning == (
        "Planned continuations are missing: b 1 of 60. Planned are as many as an agent has in one "
        "scenario at most, here 2, but 4 of another; if more were planned, state --planned 4."
    )


def test_pair_that_missing_continuations_could_change_is_undecided():
    table = draw_table(dropped=60, rates=(0.5, 0.5))
    report = sts.build_report(table, planned=4)
    said = list_warnings(report)
    number = report.conclusion.missing["a"]
    assert (
        f"a and b would differ significantly, but {number} missing continuations could change it: "
        "undecided." in said
    )
    (pair,) = report.comparisons.rows
    assert pair.undecided == "missing" and not pair.significant and pair.p_adjusted < 0.05
    assert report.conclusion.significant_pairs == 0


def test_fewer_planned_continuations_may_be_stated():
    table = draw_table(dropped=9)
    assert sts.build_report(table, planned=1).conclusion.missing == {}
    assert sts.build_report(table, planned=5).conclusion.missing == {"a": 39, "b": 30}
    with pytest.raises(sts.StsError, match="planned: expected 1 or more, found 0"):
        sts.build_report(table, planned=0)
