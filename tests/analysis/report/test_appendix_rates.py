"""Rates and comparisons of the appendix: the numbers of the model, and what each rests on."""

import numpy as np
import pytest

from sts.errors import ArgumentError, UnknownName
from sts_analysis.report.appendix import comparisons, rates, scenarios
from sts_analysis.report.core import interval
from sts_analysis.report.csv_files import format_tables
from sts_analysis.statistics.estimate import adjust_holm
from tests.analysis.studies import compute_appendix, draw_rows, make_rows, make_study, read_section

RATES = {"good": 0.9, "fair": 0.55, "poor": 0.15, "also": 0.6}


def test_rates_equal_those_of_the_model() -> None:
    study = make_study(draw_rows(RATES))
    result, found = rates.compute(study), study.model.estimate_rates()
    wider = study.model.widen_rates(found)
    assert [row.agent for row in result.rows] == study.names
    for row, agent in zip(result.rows, study.order, strict=True):
        assert row.pass_rate == found.rate[agent] and row.plain_rate == found.plain[agent]
        assert row.interval == interval(found.interval[agent]) and row.units == 24
        assert row.other_annotators_interval == interval(wider[agent])
    inside = study.outcomes.category == 1
    second = [part for part in result.categories if part.part == "c1"]
    expected = study.model.estimate_rates(inside)
    assert [part.pass_rate for part in second] == expected.rate[study.order].tolist()
    assert second[0].interval == interval(expected.interval[study.order[0]])
    assert sum(share.share for share in result.workload) == pytest.approx(len(RATES))


def test_rows_count_what_was_judged_and_what_was_not() -> None:
    rows = make_rows({"A": "1a0b 1a?a 1b_a", "B": "1a 0b"})
    result = rates.compute(make_study(rows))
    a, b = (next(row for row in result.rows if row.agent == name) for name in "AB")
    assert (a.continuations, a.continuations_judged, a.continuations_unjudgeable) == (6, 4, 1)
    assert (a.scenarios, a.scenarios_missing, a.judgements, a.successes) == (3, 0, 4, 3.0)
    assert (b.scenarios, b.scenarios_missing, b.successes) == (2, 1, 1.0)
    assert a.interval is None and a.other_annotators_interval is None  # three units


def test_difficulty_of_a_scenario_is_the_mean_failure_of_ranked_agents() -> None:
    rows = draw_rows(RATES | {"seer": 1.0})
    rows["sees"] = np.where(rows["agent"] == "seer", "world", "observation")
    rows = rows[(rows["agent"] != "fair") | (rows["scenario"] != "s00")]
    study = make_study(rows)
    found = {row.scenario: row.difficulty for row in scenarios.compute(study).rows}
    ranked = [study.outcomes.agents.index(agent) for agent in RATES]
    expected = 1 - np.nanmean(study.outcomes.value[ranked], axis=0)
    assert [found[name] for name in study.outcomes.scenarios] == pytest.approx(expected)


def test_parts_of_few_units_show_counts_instead_of_intervals() -> None:
    words = {"A": "1a0a " * 8, "B": "1a1a1a " * 8, "C": "0a0a " * 8}
    study = make_study(make_rows(words, categories=2))
    report = compute_appendix(study)
    parts = [(part.agent, part.successes, part.continuations) for part in report.rates.categories]
    assert parts == [("B", 12, 12), ("A", 4, 8), ("C", 0, 8)] * 2
    assert {part.interval for part in report.rates.categories} == {None}
    section = read_section(report, "rates")
    assert ">4 of 8<" in section and ">0 of 8<" in section and "50% <small>" not in section


def test_rate_of_0_with_few_units_is_shown_as_a_count() -> None:
    report = compute_appendix(make_study(make_rows({"A": "1a0a 1a1a", "B": "0a0a 0a0a"})))
    assert [row.interval for row in report.rates.rows] == [None, None]
    section = read_section(report, "rates")
    assert ">3 of 4<" in section and ">0 of 4<" in section


def test_pairs_stand_in_the_order_of_the_ranking_with_the_models_numbers() -> None:
    study = make_study(draw_rows(RATES))
    result, found, names = comparisons.compute(study), study.claim.comparisons, study.names
    assert result is not None and result.pairs == len(result.rows) == 6
    agents = study.outcomes.agents
    by_pair = {frozenset((agents[a], agents[b])): i for i, (a, b) in enumerate(
        zip(found.first, found.second, strict=True))}  # fmt: skip
    for row in result.rows:
        at = by_pair[frozenset((row.first, row.second))]
        sign = 1 if agents[found.first[at]] == row.first else -1
        assert names.index(row.first) < names.index(row.second)
        assert row.difference == sign * found.value[at] and row.p_adjusted == found.p_holm[at]
        assert row.interval == interval(np.sort(sign * found.interval[at]))
        assert row.significant == study.claim.significant[at]
        assert row.adjustment == sign * found.adjustment[at] and row.scenarios == 24


def test_planned_contrasts_are_adjusted_among_themselves() -> None:
    study = make_study(draw_rows(RATES), contrasts=[("poor", "good"), ("fair", "also")])
    result = comparisons.compute(study)
    assert result is not None
    planned = result.contrasts
    pairs = {(row.first, row.second): row.difference for row in result.rows}
    assert len(planned) == 2 < len(pairs)
    assert all(row.difference == pairs[row.first, row.second] for row in planned)
    assert (planned[0].first, planned[0].second) == ("good", "poor")
    alone = np.array([row.p for row in planned])
    assert [row.p_adjusted for row in planned] == adjust_holm(alone).tolist()
    assert planned[0].significant and not planned[1].significant


@pytest.mark.parametrize(
    ("options", "error"),
    [
        ({"contrasts": [("good", "nobody")]}, UnknownName),
        ({"contrasts": [("good", "seer")]}, UnknownName),
        ({"contrasts": [("good", "good")]}, ArgumentError),
        ({"reference_agent": "seer", "margin": 0.1}, UnknownName),
    ],
)
def test_agents_without_a_rank_cannot_be_compared(options, error) -> None:
    rows = draw_rows({"good": 0.9, "poor": 0.2, "seer": 1.0})
    rows["sees"] = np.where(rows["agent"] == "seer", "world", "observation")
    with pytest.raises(error):
        comparisons.compute(make_study(rows, **options))


def test_an_agent_is_not_worse_if_its_interval_lies_above_the_margin() -> None:
    study = make_study(draw_rows(RATES), margin=0.25, reference_agent="fair")
    result = comparisons.compute(study)
    assert result is not None and len(result.non_inferiority) == 3
    answers = {row.agent: row for row in result.non_inferiority}
    assert answers["good"].not_worse and not answers["poor"].not_worse
    for row in answers.values():
        assert row.interval is not None and row.not_worse == (row.interval[0] > -0.25)
        assert row.equivalent == (row.not_worse and row.interval[1] < 0.25)
    assert "Not worse than fair by 25 points" in read_section(
        compute_appendix(study), "comparisons"
    )


def test_no_pair_is_marked_if_the_conclusion_is_withheld() -> None:
    study = make_study(make_rows({"A": "1a1a " * 9, "B": "0a0a " * 9}))
    result = comparisons.compute(study)
    assert study.claim.state == "withheld" and study.claim.significant.all()
    assert result is not None and not result.rows[0].significant


def test_csv_holds_all_pairs_where_the_page_shows_those_with_the_best(monkeypatch) -> None:
    monkeypatch.setattr(comparisons, "MAX_AGENTS", 3)
    study = make_study(draw_rows(RATES))
    report = compute_appendix(study)
    assert len(report.comparisons.rows) == 3 and report.comparisons.pairs == 6
    assert {row.first for row in report.comparisons.rows} == {"good"}
    assert "all 6 are in the CSV file" in read_section(report, "comparisons")
    assert len(format_tables(report, study)["comparisons.csv"].splitlines()) == 7
    assert len(format_tables(report)["comparisons.csv"].splitlines()) == 4
