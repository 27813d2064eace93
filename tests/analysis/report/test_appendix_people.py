"""The annotators, label sources and opt-in sections of the appendix."""

from typing import Any

import numpy as np
import pandas as pd
import pytest

from sts.annotations.findings.error_analysis import ErrorAnalysis, ErrorRow, SampleCounts
from sts.errors import UnknownName
from sts_analysis.inputs.scores import check_scores
from sts_analysis.inputs.subject import ComparedVersion, Subject
from sts_analysis.inputs.tables import from_frame
from sts_analysis.report.appendix import (
    annotators,
    consistency,
    corrected,
    correlations,
    guessing,
    label_sources,
    prediction_powered,
    tags,
    time_to_success,
    unjudgeable,
    version,
)
from tests.analysis.studies import compute_appendix, draw_rows, make_rows, make_study, read_section

RATES = {"good": 0.9, "fair": 0.5, "poor": 0.15}


def share_clips(rows: pd.DataFrame, *clips: str) -> pd.DataFrame:
    """Name the clip of each row, whose continuation is that of its place among the clips."""
    number = [clip.rstrip("'") for clip in clips]
    return rows.assign(clip=number, continuation=[clip.replace("'", "-2") for clip in clips])


def test_agreement_and_hours_count_a_verdict_on_a_shared_clip_once() -> None:
    rows = make_rows({"A": "1a1b0c 1a1b 0a 0a"}, seconds="36")
    rows = share_clips(rows, "k0", "k0", "k0", "k1", "k1", "k2", "k2'")
    result = annotators.compute(make_study(rows))
    assert result is not None
    people = {row.annotator: row for row in result.rows}
    assert (people["a"].judgements, people["a"].shared) == (3, 2)
    assert people["a"].agreement == pytest.approx((0.5 + 1) / 2) and people["c"].agreement == 0
    assert people["a"].hours == pytest.approx(0.03)
    assert result.cost.hours == pytest.approx(0.06) and result.cost.judgements == 6
    assert result.cost.hours_saved_by_shared_clips == pytest.approx(0.01)


def test_annotators_are_held_against_references() -> None:
    references = make_rows({"": "1a1a0a 0b?b1b"}, truth="success", truth_step="2")
    rows = pd.concat([draw_rows(RATES, annotators="ab"), references]).fillna("")
    study = make_study(rows)
    result = annotators.compute(study)
    assert result is not None
    a, b = result.rows
    assert (a.references.answered, a.references.right, a.references.cannot_judge) == (3, 2, 0)
    assert (b.references.answered, b.references.right, b.references.cannot_judge) == (2, 1, 1)
    assert a.references.sensitivity == pytest.approx(2 / 3) and a.references.specificity is None
    assert a.references.marker_error == 1 and result.markers[1].share == 1
    model = study.model.annotators
    assert model is not None and [a.effect, b.effect] == model.effects[0].tolist()
    found = corrected.compute(study)
    assert found is not None and {row.corrected_rate for row in found.rows} == {None}
    assert "needs reference episodes of success and of failure" in read_section(
        compute_appendix(study), "corrected"
    )


def test_unjudgeable_scenarios_and_error_types_are_listed() -> None:
    rows = make_rows({"A": "1a?a?b 1a?b " + "1a0b " * 9})
    rows["reason"] = np.where(rows["verdict"] == "cannot_judge", "<dark>", "")
    counts = {"agents": SampleCounts(9, 4, 2, 1), "people": SampleCounts(0, 0, 0, 0)}
    reviews = ErrorAnalysis((ErrorRow("player", "out_of_time", 0, 2, "was on the way"),), counts)
    study = make_study(rows, subject=Subject("table", reviews=reviews))
    result = unjudgeable.compute(study)
    assert result is not None
    assert [(row.scenario, row.clips, row.judged) for row in result.rows] == [
        ("s00", 2, 3),
        ("s01", 1, 2),
    ]
    report = compute_appendix(study)
    assert "&lt;dark&gt; (2)" in read_section(report, "unjudgeable")
    errors = read_section(report, "error_analysis")
    assert "out of time" in errors
    assert "Of 9 clips of agents judged as failures, 4 were drawn at random and 2" in errors


def test_each_label_source_has_rates_of_its_own() -> None:
    people = draw_rows(RATES, annotators="ab")
    labels = people.assign(source="automatic", annotator="rule")
    labels["verdict"] = "failure"
    labels["step"] = ""
    study = make_study(pd.concat([people.assign(source="human"), labels]))
    result = label_sources.compute(study)
    assert result.verdicts == {"human": len(people), "automatic": len(people)}
    rates = {(row.agent, row.source): row.pass_rate for row in result.rows}
    assert rates["good", "human"] == study.rates.rate[study.order[0]]
    assert rates["good", "automatic"] == 0
    (agreement,) = result.agreement
    assert agreement.share == pytest.approx((people["verdict"] == "failure").mean())
    alone = label_sources.compute(make_study(people))
    assert alone.rows == () and alone.verdicts == {"human": len(people)}


def test_prediction_powered_rates_are_shown_only_if_asked_for() -> None:
    people = draw_rows(RATES)
    labels = people.assign(source="automatic", annotator="rule")
    people = people[np.arange(len(people)) % 3 > 0].assign(source="human")
    rows = pd.concat([people, labels])
    assert prediction_powered.compute(make_study(rows)) is None
    result = prediction_powered.compute(make_study(rows, prediction_powered=True))
    assert result is not None and result.source == "automatic"
    assert [row.reason for row in result.rows] == [""] * 3
    assert all(row.judged == 48 and row.judgeable == 72 for row in result.rows)


def test_guesses_are_those_of_the_baseline_that_was_named() -> None:
    rows = draw_rows(RATES)
    assert guessing.compute(make_study(rows)) is None
    with pytest.raises(UnknownName):
        guessing.compute(make_study(rows, guessing_baseline="nobody"))
    result = guessing.compute(make_study(rows, guessing_baseline="poor"))
    assert result is not None
    assert {row.agent: row.score for row in result.rows}["poor"] == 0


def test_scores_of_agents_that_saw_more_enter_no_correlation() -> None:
    scores = pd.DataFrame(
        {"agent": [*RATES, "unknown"], "metric": "reward", "value": ["3", "2", "9", "0"]}
    ).assign(sees=["", "", "world", ""])
    result = correlations.compute(make_study(draw_rows(RATES), scores=scores))
    assert result is not None
    (row,) = result.rows
    assert row.agents == 2 and row.rho is None and row.reason
    assert [score.left_out for score in result.scores] == [
        "",
        "",
        "the agent saw more there (world) than here (observation)",
    ]


def test_correlation_rests_on_the_rates_of_the_report() -> None:
    values = {"good": "3", "fair": "2", "poor": "1"}
    scores = pd.DataFrame({"agent": [*values], "metric": "reward", "value": [*values.values()]})
    result = correlations.compute(make_study(draw_rows(RATES), scores=scores))
    assert result is not None and result.rows[0].rho == 1
    assert result.rows[0].interval is None and "8 agents" in result.rows[0].reason


def draw_scores(agents: list[str], **columns: Any) -> pd.DataFrame:
    """Draw two scores of each agent with known errors."""
    rng = np.random.default_rng(4)
    tables = [
        pd.DataFrame({"agent": agents, "metric": name, "value": rng.normal(np.arange(len(agents)))})
        for name in ("log_prob", "probes")
    ]
    return pd.concat(tables).assign(standard_error="0.5", **columns).astype(str)


def test_all_pairs_of_scores_are_correlated_over_the_agents_that_have_both() -> None:
    rates = {f"agent{i}": 0.1 * i for i in range(1, 10)}
    scores = draw_scores([*rates]).iloc[1:]
    study = make_study(draw_rows(rates), scores=scores)
    result = correlations.compute(study)
    assert result is not None
    pairs = {(row.first, row.second): row for row in result.rows}
    assert [*pairs] == [("pass_rate", "log_prob"), ("pass_rate", "probes"), ("log_prob", "probes")]
    assert [row.agents for row in result.rows] == [8, 9, 8]
    last = pairs["log_prob", "probes"]
    assert last.reliability_first is not None and last.reliability_first < 1
    assert last.corrected is not None and last.rho is not None and last.corrected > last.rho
    page = read_section(compute_appendix(study), "correlations")
    assert "of the scores as measured" in page and page.count("<svg") == 3
    assert "log_prob against pass rate, 8 agents" in page


def test_checkpoints_of_a_family_are_one_in_every_pair() -> None:
    rates = {f"agent{i}": 0.08 * i for i in range(1, 11)}
    scores = draw_scores([*rates], family=[f"run{i // 2}" for i in range(10)] * 2)
    scores.loc[scores["metric"] == "log_prob", "family"] = ""  # of a table without families
    result = correlations.compute(make_study(draw_rows(rates), scores=scores.iloc[10:]))
    assert result is not None and {row.families for row in result.rows} == {5}
    study = make_study(draw_rows(rates))
    study.scores = pd.concat([check_table(scores.iloc[:10]), check_table(scores.iloc[10:])])
    result = correlations.compute(study)
    assert result is not None and [row.families for row in result.rows] == [5, 5, 5]


def check_table(scores: pd.DataFrame) -> pd.DataFrame:
    """Read a table of scores, all of judged versions."""
    return check_scores(from_frame("scores", scores)).assign(outdated=False)


def test_above_twelve_scores_only_pairs_with_the_pass_rate_are_shown() -> None:
    scores = pd.concat(
        [draw_scores([*RATES]).iloc[:3].assign(metric=f"m{i:02}") for i in range(12)]
    )
    result = correlations.compute(make_study(draw_rows(RATES), scores=scores))
    assert result is not None and {row.first for row in result.rows} == {"pass_rate"}
    assert len(result.rows) == correlations.MAX_METRICS


def test_person_hours_of_a_score_are_shown_next_to_those_of_judging() -> None:
    hours = {"good": "5", "fair": "2.5", "poor": ""}
    scores = pd.DataFrame({"agent": [*hours], "metric": "interactive", "hours": [*hours.values()]})
    rows = draw_rows(RATES).assign(seconds="18")
    study = make_study(rows, scores=scores.assign(value=["3", "2", "1"]))
    result = correlations.compute(study)
    assert result is not None
    judged = study.people_rows["agent"].isin(["good", "fair"]).sum() * 18 / 3600
    (effort,) = result.efforts
    assert (effort.metric, effort.agents, effort.hours) == ("interactive", 2, 7.5)
    assert effort.judging_hours == pytest.approx(judged)
    page = correlations.render(result, compute_appendix(study))
    assert "Person-hours of judging them" in page and judged > 0
    silent = correlations.compute(make_study(rows, scores=scores.assign(value="1", hours="")))
    assert silent is not None and silent.efforts == ()


def test_time_curve_ends_at_the_plain_rate() -> None:
    rows = draw_rows(RATES)
    late = (rows["verdict"] == "success") & (rows["agent"] == "fair")
    rows.loc[late, "step"] = [str(3 + i % 6) for i in range(late.sum())]
    study = make_study(rows)
    result = time_to_success.compute(study)
    assert result is not None
    for row, agent in zip(result.rows, study.order, strict=True):
        curve = [point for point in result.points if point.agent == row.agent]
        assert curve[-1].reached == pytest.approx(study.rates.plain[agent])
        assert curve[0].step == 0 and curve[0].reached == 0
    assert [row.median_step for row in result.rows] == [3, 5, 3]
    rows.loc[late, "step"] = ""
    without = time_to_success.compute(make_study(rows))
    assert without is not None and without.rows[1].reason.endswith("have no step")
    assert {point.agent for point in without.points} == {"good", "poor"}
    assert without.rows[1].mean_time is None and without.rows[0].mean_time is not None


def test_agent_that_fails_more_is_not_the_faster_one() -> None:
    quick, thorough = "1a0a0a0a " * 12, "1a1a1a1a " * 12
    rows = make_rows({"quick": quick, "thorough": thorough})
    won = rows["verdict"] == "success"
    rows["step"] = np.where(won, np.where(rows["agent"] == "quick", "2", "4"), "")
    rows["horizon"] = "20"
    result = time_to_success.compute(make_study(rows))
    assert result is not None
    slow, fast = sorted(result.rows, key=lambda row: row.agent)
    assert slow.mean_time == pytest.approx(0.25 * 2 / 20 + 0.75) and slow.median_step == 2
    assert fast.mean_time == pytest.approx(4 / 20) and fast.median_step == 4
    assert slow.behind == pytest.approx(0.775 - 0.2) and fast.behind is None


def test_consistency_counts_pairs_of_continuations_that_end_alike() -> None:
    result = consistency.compute(make_study(make_rows({"A": "1a1a0a " * 6, "B": "1a1a1a " * 6})))
    assert result is not None
    assert [row.agent for row in result.rows] == ["B", "A"]
    assert [row.alike for row in result.rows] == pytest.approx([1, 1 / 3])
    chances = {(row.agent, row.k): row for row in result.depths}
    assert chances["A", 2].all_succeed == pytest.approx(1 / 3)
    assert chances["A", 2].any_succeeds == pytest.approx(1)
    assert consistency.compute(make_study(make_rows({"A": "1a " * 6}))) is None


def test_tags_need_two_of_five_scenarios() -> None:
    rows = draw_rows(RATES)
    names = [f"s{s:02}" for s in range(24)]
    few = Subject("table", tags={"a": tuple(names[:8]), "b": tuple(names[20:])})
    assert tags.compute(make_study(rows, subject=few)) is None
    many = Subject("table", tags={"a": tuple(names[:8]), "b": tuple(names[19:])})
    study = make_study(rows, subject=many)
    result = tags.compute(study)
    assert result is not None
    inside = np.isin(study.outcomes.scenarios, names[:8])
    expected = study.model.estimate_rates(inside).rate[study.order]
    assert [part.pass_rate for part in result.rows if part.part == "a"] == expected.tolist()


def test_version_compares_kept_added_and_retired_scenarios() -> None:
    def list_scenarios(names: list[str]) -> pd.DataFrame:
        return pd.DataFrame({"scenario": names, "category": "c0", "kind": "instruction"})

    here, there = ([f"s{s:02}" for s in span] for span in (range(24), range(4, 24)))
    rows = draw_rows(RATES).assign(category="c0", kind="instruction")
    old = make_study(rows[rows["scenario"].isin(there)].assign(verdict="failure", step=""))
    # Four scenarios kept their content and their id, the others have an id with another content.
    same = {name: name for name in there[:4]}
    other = ComparedVersion(Subject("core@1", list_scenarios(there)), old.ratings, same)
    study = make_study(rows, subject=Subject("core@2", list_scenarios(here)), other=other)
    result = version.compute(study)
    assert result is not None and (result.kept, len(result.added), len(result.retired)) == (
        4,
        20,
        16,
    )
    assert "core@1/s10" in result.retired
    best, place = result.rows[0], study.order[0]
    assert best.agent == "good"
    assert best.new.pass_rate == pytest.approx(study.rates.plain[place])
    assert best.retired.pass_rate == 0 and best.old.scenarios == 20
    kept = study.outcomes.value[place, 4:8].mean()
    assert best.old.pass_rate == pytest.approx(kept * 4 / 20)
    assert best.difference == pytest.approx(study.rates.plain[place] - kept * 4 / 20)
    section = read_section(compute_appendix(study), "version")
    assert "Changes since core@1" in section and "4 scenarios kept, 20 added, 16 retired" in section
