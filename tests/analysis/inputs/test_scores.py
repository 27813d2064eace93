"""Scores of the agents whose continuations are judged."""

import pandas as pd
import pytest

from sts.errors import DamagedData
from sts_analysis.inputs import scores
from sts_analysis.inputs.tables import from_frame
from sts_analysis.report.appendix import correlations
from sts_analysis.report.sections import score as section
from tests.analysis.studies import draw_rows, make_study

VERSIONS = {"a": ("a", "f1"), "b#22222222": ("b", "22222222ff")}


def match(*rows: tuple[str, str, float, str]) -> dict[tuple[str, str], list[float]]:
    """Match scores of one metric; return the values by agent and metric, without outdated ones."""
    frame = pd.DataFrame(rows, columns=["agent", "fingerprint", "value", "parameters"])
    checked = scores.check_scores(from_frame("scores", frame.assign(metric="m")))
    found = scores.match_scores(checked, VERSIONS)
    values: dict[tuple[str, str], list[float]] = {}
    for row in found[~found["outdated"].astype(bool)].to_dict("records"):
        values.setdefault((row["agent"], row["metric"]), []).append(row["value"])
    return values


def test_score_of_the_judged_version_counts_and_others_do_not():
    assert match(("a", "f1", 1, ""), ("a", "f0", 2, "")) == {("a", "m"): [1]}
    assert match(("b", "22222222ff", 1, ""), ("b", "33", 2, "")) == {
        ("b", "m"): [2],  # of an agent without a judgement
        ("b#22222222", "m"): [1],
    }


def test_score_without_fingerprint_belongs_to_the_agent_of_its_name():
    assert match(("a", "", 1, ""), ("c", "", 2, "")) == {("a", "m"): [1], ("c", "m"): [2]}


def test_several_scores_of_a_metric_are_named_by_the_parameters_that_differ():
    one, two = '{"seed":1,"suite":"x@1"}', '{"seed":2,"suite":"x@1"}'
    assert match(("a", "f1", 1, one), ("a", "f1", 2, two), ("c", "", 3, two)) == {
        ("a", "m seed=1"): [1],
        ("a", "m seed=2"): [2],
        ("c", "m seed=2"): [3],
    }


def test_parameters_stay_out_of_the_name_if_each_agent_has_one_score():
    assert match(("a", "f1", 1, '{"n":1}'), ("c", "", 2, '{"n":2}')) == {
        ("a", "m"): [1],
        ("c", "m"): [2],
    }


def test_scores_that_nothing_distinguishes_are_rejected_with_both_values():
    with pytest.raises(
        DamagedData, match=r"'a' has several values of 'm': 1 \(no parameters\) and"
    ):
        match(("a", "", 1, ""), ("a", "f1", 2, ""))


def test_report_lists_a_score_of_another_version_and_leaves_it_out():
    rates = {"a": 0.2, "c": 0.5, "d": 0.9}
    table = pd.DataFrame({"agent": list(rates), "metric": "m", "value": [1.0, 2.0, 3.0]})
    study = make_study(draw_rows(rates), scores=table.assign(fingerprint=["f0", "", ""]))
    study.scores = scores.match_scores(study.gathered.scores, {"a": ("a", "f1")})
    result = correlations.compute(study)
    assert result is not None and [row.agents for row in result.rows] == [2]
    reasons = {row.agent: row.left_out for row in result.scores}
    assert reasons["a"].startswith("another version of the agent") and reasons["c"] == ""
    assert {*section.find_scores(study)["agent"]} == {"c", "d"}
