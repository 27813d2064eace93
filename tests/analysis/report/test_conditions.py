"""Verdicts by the success criterion and by the instruction alone, as reports compare them."""

import numpy as np
import pandas as pd
import pytest

from sts_analysis.report.appendix import conditions
from sts_analysis.report.sections import judging
from sts_analysis.statistics.agreement import measure_across, measure_alpha
from tests.analysis.studies import compute_appendix, draw_rows, make_rows, make_study, read_section


def make_dealt(categories: int = 3) -> pd.DataFrame:
    """Two agents of which each clip has verdicts of a, b and c; c sees no texts but in c0."""
    words = {"A": "1a " * 18, "B": "0a " * 18}
    rows = make_rows(words, categories=categories)
    each = [rows.assign(annotator=who) for who in "abc"]
    joined = pd.concat(each, ignore_index=True)
    alone = (joined["annotator"] == "c") & (joined["category"] != "c0")
    joined["rubric_shown"] = (~alone).astype(int)
    flipped = alone & (joined["category"] == "c1")
    verdict = np.where(joined["verdict"] == "success", "failure", "success")
    joined.loc[flipped, "verdict"] = verdict[flipped]
    joined.loc[flipped, "step"] = "3"
    return joined


def test_rates_under_each_condition_are_shown_where_both_exist() -> None:
    study = make_study(make_dealt())
    result = conditions.compute(study)
    assert result is not None
    found = {(row.part, row.agent): row for row in result.rows}
    assert {part for part, _ in found} == {conditions.ALL, "c1", "c2"}
    flipped, same, both = (found[part, "A"] for part in ("c1", "c2", conditions.ALL))
    assert (flipped.shown_rate, flipped.alone_rate) == (1.0, 0.0)
    assert (same.shown_rate, same.alone_rate) == (1.0, 1.0)
    assert both.alone_rate == 0.5 and both.shown_rate == 1.0
    assert both.alone_interval is not None and both.alone_interval[0] > 0
    assert both.pass_rate == pytest.approx(5 / 6, abs=1e-9)
    page = read_section(compute_appendix(study), "conditions")
    assert "Instruction alone" in page and "c1, c2" in page and "&lt;" not in page


def test_adjudication_does_not_change_the_rate_of_a_condition() -> None:
    rows = make_dealt()
    clip = (rows["agent"] == "A") & (rows["category"] == "c1")
    rows["adjudicated"] = np.where(clip, "success", "")
    result = conditions.compute(make_study(rows))
    assert result is not None
    (row,) = (row for row in result.rows if (row.part, row.agent) == ("c1", "A"))
    assert (row.pass_rate, row.alone_rate) == (1.0, 0.0)


def test_alpha_takes_pairs_of_one_condition_and_the_others_stand_next_to_it() -> None:
    study = make_study(make_dealt())
    rows = {row.question: row for row in judging.compute(study).rows}
    questions = list(rows)
    within, across = rows["Annotators agree"], rows["Agree without the criterion"]
    assert questions.index(within.question) + 1 == questions.index(across.question)
    assert within.value == 1.0 and "pairs of one condition" in within.reading
    expected = measure_across(study.people_rows, study.outcomes)
    assert across.value == expected.value < 0.1 and across.state == "look"
    assert expected.share == pytest.approx(0.5) and expected.items == 24
    assert "50% agree, on 24 clips in 12 units" in across.reading
    pooled = study.people_rows.drop(columns="rubric_shown")
    assert measure_alpha(pooled, study.outcomes).value < 1


def test_table_without_the_column_has_one_condition() -> None:
    rows = draw_rows({"A": 0.7, "B": 0.4})
    study = make_study(rows)
    assert study.people_rows["rubric_shown"].all() and conditions.compute(study) is None
    questions = [row.question for row in judging.compute(study).rows]
    assert "Agree without the criterion" not in questions


def test_answer_without_texts_measures_no_one_by_the_truth_of_a_rule() -> None:
    agents = make_rows({"A": "1a1b " * 6})
    references = make_rows({"": "1a1a1a1a"}, truth="failure", truth_step="2")
    references["rubric_shown"] = ["1", "0", "1", "0"]
    references["truth_source"] = ["rule", "rule", "people", "people"]
    study = make_study(pd.concat([agents, references], ignore_index=True).fillna(""))
    assert list(study.reference_rows["truth_source"]) == ["rule", "people", "people"]
    rows = {row.question: row for row in judging.compute(study).rows}
    assert "1 on truths from a rule" not in rows["Right on references"].reading
    both = [references, references.assign(verdict="failure", truth="success", scenario="s9")]
    both[1]["continuation"] = ["9-0", "9-1", "9-2", "9-3"]
    study = make_study(pd.concat([agents, *both], ignore_index=True).fillna(""))
    rows = {row.question: row for row in judging.compute(study).rows}
    assert "6 answers; 2 on truths from a rule." in rows["Right on references"].reading
