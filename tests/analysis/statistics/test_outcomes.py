"""The value of a continuation, and its place in the agents x scenarios table."""

from typing import Any

import numpy as np
import pandas as pd

from sts_analysis.inputs.ratings import check_ratings
from sts_analysis.inputs.tables import from_frame
from sts_analysis.statistics.outcomes import arrange, continuation_values, summarise


def table(*rows: tuple[str, ...]) -> pd.DataFrame:
    columns = ["agent", "scenario", "category", "continuation", "annotator", "verdict", "source"]
    frame = pd.DataFrame(rows, columns=columns).assign(step="", horizon="10")
    return check_ratings(from_frame("t", frame))


ROWS = (
    ("a", "s1", "c", "k1", "p", "success", "human"),
    ("a", "s1", "c", "k1", "q", "not_done", "human"),
    ("a", "s1", "c", "k1", "rule", "success", "automatic"),
    ("a", "s1", "c", "k2", "p", "cannot_judge", "human"),
    ("a", "s1", "c", "k2", "rule", "failure", "automatic"),
    ("b", "s2", "d", "k3", "", "", "human"),
    ("b", "s2", "d", "k3", "rule", "success", "automatic"),
)


def test_a_value_is_the_mean_of_its_annotators_verdicts() -> None:
    values = continuation_values(table(*ROWS), "human").set_index("continuation")
    assert values.loc[0, "y"] == 0.5
    assert values.loc[0, "annotations"] == 2


def test_cannot_judge_and_unjudged_are_missing_and_never_failures() -> None:
    values: Any = continuation_values(table(*ROWS), "human").set_index("continuation")
    assert np.isnan(values.loc[1, "y"]) and values.loc[1, "cannot_judge"] == 1
    assert np.isnan(values.loc[2, "y"]) and values.loc[2, "annotations"] == 0


def test_only_what_all_who_looked_could_not_judge_is_unjudgeable() -> None:
    more = ("a", "s1", "c", "k1", "r", "cannot_judge", "human")
    values = continuation_values(table(*ROWS, more), "human").set_index("continuation")
    assert values["unjudgeable"].to_dict() == {0: False, 1: True, 2: False}


def test_human_and_automatic_labels_are_never_mixed() -> None:
    values = continuation_values(table(*ROWS), "automatic").set_index("continuation")
    assert values["y"].to_dict() == {0: 1.0, 1: 0.0, 2: 1.0}


def test_every_continuation_of_the_table_is_listed_whatever_its_source() -> None:
    assert len(continuation_values(table(*ROWS), "model")) == 3


def test_the_table_has_a_gap_where_an_agent_has_no_value() -> None:
    outcomes = arrange(continuation_values(table(*ROWS), "automatic"))
    summary = summarise(outcomes.values)
    assert outcomes.agents == ("a", "b") and outcomes.scenarios == ("s1", "s2")
    assert summary.number.tolist() == [[2, 0], [0, 1]]
    assert summary.mean[0, 0] == 0.5 and np.isnan(summary.mean[0, 1])
    assert summary.spread[0, 0] == 0.5 and np.isnan(summary.spread[1, 1])


def test_dropping_scenarios_renumbers_their_categories() -> None:
    outcomes = arrange(continuation_values(table(*ROWS), "automatic"))
    part = outcomes.of_scenarios(np.array([False, True]))
    assert part.categories == ("d",) and part.category.tolist() == [0]
