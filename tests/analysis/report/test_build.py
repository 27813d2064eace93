"""The content of report.json: complete, finite, honest about what is unknown, reproducible."""

from typing import Any

import numpy as np
import pandas as pd
import pytest

from sts.errors import DamagedData, UnknownName
from sts.ratings import SOURCES
from sts_analysis.inputs import tables
from sts_analysis.inputs.scores import check_scores
from sts_analysis.inputs.subject import Subject
from sts_analysis.report import figures
from sts_analysis.report.json_form import to_json
from sts_analysis.report.page import render
from sts_analysis.report.schema import Agent, Report
from sts_analysis.report.values import ends, number
from sts_analysis.report.verdict import remark
from sts_analysis.report.words import percent
from tests.analysis.reports import made_anew, report_of, sure, valid
from tests.analysis.worlds import ratings_table

AGENT_KEYS = {
    "agent", "pass_rate", "interval", "rank", "rank_set", "continuations", "annotations",
    "categories", "kinds", "consistency", "time_to_success", "corrected_pass_rate",
    "guess_penalised",
}  # fmt: skip


def world(**options: Any) -> pd.DataFrame:
    settings: dict[str, Any] = {
        "skills": {"strong": 1.2, "weak": -1.0, "seer": 3.0},
        "categories": ["lift", "go", "stay", "count"],
        "seed": 1,
        "scenarios": 4,
        "continuations": 4,
        "baselines": ("seer",),
    }
    return ratings_table(**(settings | options))


def test_it_holds_at_least_the_keys_that_were_promised() -> None:
    report = report_of(world(references=8), scored({"strong": 1.0, "weak": 2.0}, "m"))
    content = to_json(report)
    assert content["schema"] == "sts-report/2" and content["target"] == "sampled"
    assert set(content) >= {
        "suite", "agents", "comparisons", "correlations", "annotators", "labels",
    }  # fmt: skip
    assert set(content["labels"]) == {"human", "settled", "automatic", "model"} >= set(SOURCES)
    for entry in content["agents"]:
        assert set(entry) >= AGENT_KEYS
        assert set(entry["consistency"]) >= {"icc", "interval", "pass_hat_k"}
        assert set(entry["time_to_success"]) >= {"curve", "mean_area", "interval"}
        assert set(entry["categories"]) == {"lift", "go", "stay", "count"}
        assert set(entry["categories"]["go"]) >= {"pass_rate", "interval"}
        assert set(entry["kinds"]) == {"instruction", "question"}
        assert set(entry["corrected_pass_rate"]) >= {"value", "interval"}
        assert entry["guess_penalised"] is None
    keys = {"a", "b", "difference", "interval", "p", "p_adjusted"}
    assert set(content["comparisons"][0]) >= keys
    keys = {"x", "y", "spearman", "interval", "p", "n", "disattenuated"}
    assert set(content["correlations"][0]) >= keys
    keys = {"annotator", "annotations", "balanced_accuracy", "interval"}
    assert set(content["annotators"][0]) >= keys


def test_baselines_stand_outside_the_ranking() -> None:
    agents = {entry.agent: entry for entry in report_of(world()).agents}
    assert agents["seer"].rank is None and agents["seer"].rank_set is None
    assert sure(agents["seer"].pass_rate) > sure(agents["strong"].pass_rate)
    assert agents["strong"].rank == 1 and agents["strong"].rank_set == (1, 1)
    pairs = report_of(world()).comparisons
    assert [(pair.a, pair.b) for pair in pairs] == [("strong", "weak")]


def test_an_agent_of_a_few_scenarios_is_shown_and_moves_no_rank() -> None:
    table = world()
    alone = report_of(table)
    few = table[table["agent"] == "weak"].groupby("scenario").head(1).head(2)
    names = few["continuation"] + "-turn"
    found = report_of(pd.concat([table, few.assign(agent="human", continuation=names)]))
    entry = next(e for e in found.agents if e.agent == "human")
    assert (entry.rank, entry.rank_set) == (None, None)
    assert sure(entry.unranked).startswith("not ranked: 2 of ")
    assert [e.agent for e in found.agents if e.rank] == [e.agent for e in alone.agents if e.rank]
    assert [c.p_adjusted for c in found.comparisons] == [c.p_adjusted for c in alone.comparisons]


def subject(frame: pd.DataFrame) -> Subject:
    """The suite of all the table's scenarios."""
    return Subject("t@1", frame[["scenario", "category", "kind"]].drop_duplicates("scenario"))


def entry_of(found: Report, agent: str) -> Agent:
    (entry,) = (entry for entry in found.agents if entry.agent == agent)
    return entry


def test_a_scenario_that_an_agent_did_not_continue_is_said_of_it() -> None:
    frame = world()
    weak = frame["agent"] == "weak"
    found = report_of(frame[~(weak & (frame["scenario"] == "lift-03"))])
    entry = entry_of(found, "weak")
    assert (entry.rank, entry.scenarios, entry.missing) == (2, 15, ("lift-03",))
    assert remark(entry, 16) == "no continuation of 1 of 16 scenarios: lift-03"
    assert entry_of(found, "strong").missing == () and found.counts.scenarios == 16
    (warning,) = found.warnings
    assert "every scenario: weak lacks 1 of 16. " in warning
    assert report_of(frame).warnings == ()


def test_a_scenario_that_nobody_continued_counts_in_the_suite() -> None:
    frame = world()
    gone = frame["scenario"].isin(("lift-03", "go-00"))
    found = report_of(frame[~gone], suite=subject(frame))
    assert found.counts.scenarios == 16 and found.counts.categories == 4
    for entry in found.agents:
        assert entry.missing == ("go-00", "lift-03") and entry.scenarios_judged == 14
    assert "strong lacks 2 of 16 and weak lacks 2 of 16" in found.warnings[0]
    (nobody,) = (s for s in found.scenarios if s.scenario == "lift-03")
    assert (nobody.difficulty, nobody.agents) == (None, 0)


def test_a_category_weighs_what_it_weighs_in_the_suite_whoever_continued_it() -> None:
    frame = world(categories=["go", "lift"], scenarios=10)
    gone = frame["category"].eq("lift") & frame["scenario"].gt("lift-00")
    found = report_of(frame[~gone], suite=subject(frame))
    for entry in found.agents:
        parts = [sure(cell.pass_rate) for cell in entry.categories.values()]
        assert entry.pass_rate == pytest.approx(sum(parts) / 2)


def test_an_agent_of_too_few_scenarios_has_one_denominator() -> None:
    frame = world()
    few = frame["agent"].eq("weak") & frame["category"].ne("go")
    found = report_of(frame[~few])
    entry = entry_of(found, "weak")
    assert entry.unranked == remark(entry, 16) == "not ranked: 4 of 16 scenarios"
    assert found.warnings == ()
    most = frame["agent"].eq("weak") & frame["scenario"].lt("count-03")
    said = remark(entry_of(report_of(frame[~most]), "weak"), 16)
    assert said == "not ranked: 13 of 16 scenarios, none of count-00, count-01, count-02"


def two_worlds() -> pd.DataFrame:
    first = world(skills={"a": 2.0, "b": -2.0, "seer": 3.0}, categories=["lift", "go"])
    second = world(skills={"c": 2.0, "d": -2.0, "e": 0.0}, categories=["stay", "count"])
    return pd.concat([first, second])


def test_agents_that_share_no_scenario_are_not_ranked_among_each_other() -> None:
    found = report_of(two_worlds())
    assert [(e.agent, e.ranking, e.rank) for e in found.agents] == [
        ("c", 1, 1), ("e", 1, 2), ("d", 1, 3), ("a", 2, 1), ("b", 2, 2), ("seer", None, None),
    ]  # fmt: skip
    assert all(sure(e.rank_set)[1] <= (3 if e.ranking == 1 else 2) for e in found.agents[:5])
    assert [entry.scenarios for entry in found.rankings] == [8, 8]
    assert found.rankings[1].categories == ("go", "lift")
    assert {a + b for a, b in ((c.a, c.b) for c in found.comparisons)} == {
        "ab", "ce", "cd", "ed",
    }  # fmt: skip
    assert found.verdict.startswith("Ranking 1: ") and " Ranking 2: " in found.verdict
    (warning,) = found.warnings
    assert "ranking 2 is on 8 of 16 scenarios (go and lift)" in warning


def test_a_lack_inside_one_of_two_rankings_is_told() -> None:
    frame = two_worlds()
    frame = pd.concat([frame, *(frame.assign(**changed(frame, n)) for n in (1, 2))])
    found = report_of(frame[~(frame["agent"].eq("b") & frame["scenario"].eq("go-00"))])
    assert "b lacks 1 of 24. " in found.warnings[1]


def changed(frame: pd.DataFrame, copy: int) -> dict[str, pd.Series]:
    """Names of a copy of every scenario."""
    return {name: frame[name] + f"+{copy}" for name in ("scenario", "continuation")}


def test_a_contrast_across_rankings_is_refused() -> None:
    with pytest.raises(UnknownName, match="unknown agent ranked beside a 'c'; known: b"):
        report_of(two_worlds(), contrasts=[("a", "c")])


def test_rates_over_other_scenarios_enter_no_correlation() -> None:
    found = report_of(two_worlds(), scored({"a": 9, "b": 8, "c": 3, "d": 1, "e": 2}, "m"))
    assert (found.correlations[0].n, found.correlations[0].spearman) == (3, 1)
    assert figures.correlations(found) is not None


def test_agents_with_nothing_in_common_are_not_ranked() -> None:
    frame = two_worlds()
    found = report_of(frame[frame["agent"].isin(("a", "c"))])
    assert {entry.rank for entry in found.agents} == {None}
    assert found.verdict.startswith("No two agents can be ranked together")


def test_f1_levels_off_at_the_pass_rate() -> None:
    for entry in report_of(world(each=2, annotators={"p": (0.9, 0.9), "q": (0.8, 0.9)})).agents:
        assert sure(entry.time_to_success.curve)[-1] == pytest.approx([60, entry.pass_rate])
        assert sure(entry.time_to_success.mean_area) < sure(entry.pass_rate)


def test_short_scenarios_are_not_taken_to_go_on_in_the_plain_count() -> None:
    frame = world()
    short = frame["category"] == "count"
    frame.loc[short, ["verdict", "step"]] = ["not_done", None]
    frame.loc[short, "horizon"] = 3
    entry = report_of(frame).agents[0]
    assert sure(entry.time_to_success.reached)[-1][1] == pytest.approx(entry.pass_rate)
    assert sure(entry.time_to_success.curve)[-1][1] > sure(entry.pass_rate) + 0.1


def test_human_labels_lead_and_automatic_ones_stand_beside_them() -> None:
    found = report_of(world(automatic=True, judged=0.2))
    assert found.labels_used == "human" and found.labels.automatic == 192
    assert set(found.label_sets) == {"human", "automatic"}
    assert sure(found.human_automatic).judgements == found.labels.human
    assert found.counts.judged + found.counts.unjudged == 192
    automatic = found.label_sets["automatic"].agents[0]
    assert automatic.judged == 64 > found.agents[0].judged


def test_automatic_labels_lead_only_where_nobody_has_judged() -> None:
    found = report_of(world(automatic=True, judged=0))
    assert found.labels_used == "automatic" and found.labels.human == 0
    assert found.human_automatic is None and found.annotators == ()
    assert all(entry.corrected_pass_rate is None for entry in found.agents)


def test_adding_automatic_labels_moves_no_human_number() -> None:
    frame = world(automatic=True)
    alone = report_of(frame[frame["source"] == "human"])
    assert report_of(frame).agents == alone.agents


def test_reference_episodes_count_for_annotators_and_not_for_agents() -> None:
    frame = world(references=20)
    found = report_of(frame)
    assert "reference" not in {entry.agent for entry in found.agents}
    assert found.annotators[0].references == 20
    assert sure(found.agents[0].corrected_pass_rate).interval[0] >= 0
    alone = report_of(frame[frame["truth"] == ""])
    assert alone.agents[0].pass_rate == found.agents[0].pass_rate


def test_the_other_target_stands_beside_the_asked_one() -> None:
    sampled, fixed = report_of(world()), report_of(world(), target="fixed")
    for a, b in zip(sampled.agents, fixed.agents, strict=True):
        assert a.interval == a.intervals["sampled"].interval
        assert b.interval == b.intervals["fixed"].interval
        assert a.intervals == b.intervals


def test_equal_seeds_give_equal_reports_and_other_seeds_other_draws() -> None:
    skills = {"a": 0.3, "b": 0.1, "c": 0.0}
    first, other = (report_of(world(skills=skills), seed=seed) for seed in (1, 2))
    assert first == made_anew(world(skills=skills), seed=1)
    assert first.comparisons != other.comparisons
    assert [a.pass_rate for a in first.agents] == [a.pass_rate for a in other.agents]


FEW: list[dict[str, Any]] = [
    {"skills": {"only": 0.0}},
    {"scenarios": 1, "categories": ["lift"], "continuations": 1},
    {"judged": 0, "references": 4},
    {"skills": {"a": 90, "b": -90}, "annotators": {"p": (1, 1)}},
    {"baselines": ("strong", "weak", "seer")},
]
MORE: list[dict[str, Any]] = [
    {"categories": ["lift"]},
    {"scenarios": 1},
    {"continuations": 1},
    {"judged": 0},
    {"judged": 0.05},
    {"skills": {"a": 90, "b": 90}, "annotators": {"p": (1, 1)}},
    {"references": 30, "annotators": {"p": (0.5, 0.5), "q": (0.5, 0.6)}, "each": 2},
]


@pytest.mark.parametrize(
    "options", [*FEW, *(pytest.param(one, marks=pytest.mark.slow) for one in MORE)]
)
@pytest.mark.parametrize("target", ["sampled", pytest.param("fixed", marks=pytest.mark.slow)])
def test_thin_and_extreme_tables_give_a_report(options: dict[str, Any], target: str) -> None:
    found = valid(report_of(world(**options), target=target))
    for entry in found.agents:
        assert entry.pass_rate is not None or entry.method == "nothing judged"
        if entry.interval is not None:
            assert 0 <= entry.interval[0] <= sure(entry.pass_rate) <= entry.interval[1] <= 1
        else:
            assert entry.method


def test_nothing_judged_is_missing_and_never_zero() -> None:
    found = report_of(world(judged=0))
    assert {entry.pass_rate for entry in found.agents} == {None}
    assert found.counts.unjudged == found.counts.continuations == 192
    assert found.verdict.startswith("No agent has a judged continuation")


def test_successes_without_a_step_have_no_curve_and_say_so() -> None:
    frame = world()
    frame["step"] = None
    entry = report_of(frame).agents[0].time_to_success
    assert entry.curve is None and "have no step" in sure(entry.reason)


def test_one_success_without_a_step_is_one() -> None:
    frame = world(skills={"a": 0.0, "b": 0.0}, baselines=())
    rows = frame.index[frame["verdict"].eq("success") & frame["agent"].eq("a")]
    frame.loc[rows[:1], "step"] = None
    entry = entry_of(report_of(frame), "a").time_to_success
    assert entry.reason == "1 success has no step"


def test_only_reference_episodes_are_refused() -> None:
    frame = world(references=4)
    with pytest.raises(DamagedData, match="found only reference episodes"):
        report_of(frame[frame["truth"] != ""])


def scored(values: dict[str, float], metric: str) -> pd.DataFrame:
    rows = [{"agent": a, "metric": metric, "value": v} for a, v in values.items()]
    return check_scores(tables.from_frame("s", pd.DataFrame(rows)))


def test_correlations_pair_the_pass_rate_with_each_metric() -> None:
    skills = {"a": 2.0, "b": 0.5, "c": -0.5, "d": -2.0}
    both = [scored(skills, "interactive"), scored({k: -v for k, v in skills.items()}, "loss")]
    found = report_of(world(skills=skills, scenarios=10), pd.concat(both))
    pairs = {(c.x, c.y): c for c in found.correlations}
    assert pairs["pass_rate", "interactive"].spearman == 1
    assert pairs["pass_rate", "interactive"].order_accuracy == 1
    assert pairs["pass_rate", "loss"].spearman == -1
    assert pairs["interactive", "loss"].order_accuracy is None
    assert found.correlation_differences[0].difference == 2


def test_the_pass_rates_noise_is_half_that_of_a_difference() -> None:
    skills = {"a": 1.0, "b": 0.5, "c": -0.5}
    found = report_of(world(skills=skills), scored(skills, "m"))
    rates = [sure(entry.pass_rate) for entry in found.agents]
    noise = np.mean([sure(pair.standard_error) ** 2 for pair in found.comparisons]) / 2
    reliability = found.correlations[0].reliability_x
    assert reliability == pytest.approx(1 - noise / np.var(rates, ddof=1))


def test_scores_of_baselines_and_strangers_do_not_enter() -> None:
    values = {"strong": 2.0, "weak": 1.0, "seer": 9.0, "stranger": 5.0}
    found = report_of(world(), scored(values, "m"))
    assert found.correlations[0].n == 2
    assert found.correlations[0].reason == "needs 3 agents with both metrics, found 2"


def test_a_score_of_an_agent_that_saw_more_there_enters_no_correlation_and_is_named() -> None:
    skills = {"a": 1.0, "b": 0.5, "c": -0.5, "d": -2.0}
    scores = scored(skills | {"d": 9.0}, "lambda-star")
    frame = world(skills=skills, scenarios=10)
    assert report_of(frame, scores).correlations[0].n == 4
    scores.loc[scores["agent"] == "d", "sees"] = "rehearsal"
    found = report_of(frame, scores)
    assert (found.correlations[0].n, found.correlations[0].spearman) == (3, 1)
    (left,) = found.metrics_left_out
    reason = "it saw a rehearsal of the episode there, and its observations alone here"
    assert (left.agent, left.metric, left.value) == ("d", "lambda-star", 9.0)
    assert left.reason == reason and left.sees == "rehearsal"
    assert "d" not in {row.agent for row in found.metrics}
    page = render(found, {})
    assert f"d (lambda-star): {reason}" in page


def test_a_metric_of_which_every_score_is_left_out_correlates_with_nothing() -> None:
    scores = scored({"strong": 1.0, "weak": 2.0, "seer": 3.0}, "m").assign(sees="world")
    found = report_of(world(), scores)
    assert found.correlations == () and len(found.metrics_left_out) == 3
    page = render(found, {})
    assert "seer (m): baseline: it sees more" in page and "No scores table" not in page


def test_what_all_could_not_judge_is_counted_apart_from_what_nobody_judged() -> None:
    frame = world(annotators={"ann": (1.0, 1.0)}, judged=1.0, baselines=())
    frame["verdict"] = frame["verdict"].replace("cannot_judge", "not_done")
    mine = frame.index[frame["agent"] == "strong"]
    frame.loc[mine[:4], ["verdict", "step"]] = ["cannot_judge", None]
    found = report_of(frame)
    counts, entry = found.counts, entry_of(found, "strong")
    total = counts.continuations
    assert (counts.judged, counts.unjudgeable, counts.unjudged) == (total - 4, 4, 0)
    assert (entry.judged, entry.unjudgeable, entry.unjudged) == (60, 4, 0)
    assert found.label_sets["human"].unjudgeable == 4
    said = f"{total - 4} of {total} continuations have been judged; 4 could not be judged by anyone"
    page = render(found, {})
    assert said in page and "4 continuations could not be judged" in page
    assert "nobody has judged yet" not in page
    frame.loc[mine[4:7], ["verdict", "step", "annotator"]] = ["", None, ""]
    counts = report_of(frame).counts
    assert (counts.unjudgeable, counts.unjudged) == (4, 3)


def test_where_nothing_could_be_judged_nothing_is_called_missing() -> None:
    frame = world(baselines=()).assign(verdict="cannot_judge", step=None)
    found = report_of(frame)
    assert found.verdict == "No continuation could be judged, so there is nothing to rank."
    assert entry_of(found, "weak").unranked == "not ranked: nobody could judge what it did"


def test_three_columns_give_rates_comparisons_and_ranks_and_say_what_is_not_known() -> None:
    frame = world(baselines=(), annotators={"ann": (1.0, 1.0)})
    frame = frame[frame["verdict"] != "cannot_judge"]
    whole, found = report_of(frame), report_of(frame[["agent", "scenario", "verdict"]])
    for mine, theirs in zip(found.agents, whole.agents, strict=True):
        assert (mine.agent, mine.rank) == (theirs.agent, theirs.rank)
        assert mine.pass_rate == pytest.approx(theirs.pass_rate)
        assert mine.interval is not None and mine.categories == {} and mine.kinds == {}
        assert mine.time_to_success.mean_area is None
        assert sure(mine.time_to_success.reason).endswith("successes have no step")
        assert mine.corrected_pass_rate is None
    assert found.comparisons[0].p is not None
    assert set(found.unknown) == {"category", "annotator", "horizon", "step"}
    assert whole.unknown == {}
    assert found.counts.categories is None and found.annotators == ()
    assert found.annotators_together.alpha.alpha is None
    assert found.scenarios[0].category is None
    page = render(found, figures.figures(found))
    assert found.unknown["category"] in page and found.unknown["annotator"] in page.replace(
        "&#39;", "'"
    )


def test_steps_without_a_horizon_give_no_time_to_success() -> None:
    found = report_of(world(baselines=()).drop(columns="horizon"))
    time = found.agents[0].time_to_success
    assert (time.mean_area, time.horizon, time.curve) == (None, None, None)
    assert time.reason == "no horizon is given"


def test_the_longest_horizon_is_no_burden() -> None:
    frame = world(baselines=()).assign(horizon=2**31 - 1)
    times = [entry.time_to_success for entry in report_of(frame).agents]
    assert {entry.horizon for entry in times} == {2**31 - 1}
    assert all(sure(entry.mean_area) > 0 for entry in times)


def test_planned_contrasts_are_adjusted_among_themselves() -> None:
    found = report_of(world(), contrasts=[("weak", "strong")])
    assert found.contrasts[0].p_holm == found.contrasts[0].p
    with pytest.raises(UnknownName, match="unknown ranked agent 'seer'"):
        report_of(world(), contrasts=[("weak", "seer")])


def test_an_evident_winner_and_a_tie_are_said_in_words() -> None:
    frame = world(skills={"a": 3.0, "b": -0.5, "c": -0.5}, scenarios=10, continuations=10)
    found = report_of(frame).verdict
    assert found.startswith("a is best, above all 2 others: ")
    assert found.endswith(" 2 of 3 pairs are told apart.")


@pytest.mark.parametrize(
    ("share", "text"),
    [(0, "0%"), (0.0001, "<0.1%"), (0.005, "0.5%"), (0.05, "5%"), (0.957, "96%")]
    + [(0.9999, ">99.9%"), (0.993, "99.3%"), (1 - 1e-16, "100%"), (1, "100%"), (None, "–")],
)
def test_a_percentage_never_rounds_to_certainty(share: float | None, text: str) -> None:
    assert percent(share) == text


def test_values_are_finite_or_none() -> None:
    values = (float("nan"), float("inf"), None, np.float64(2))
    assert [number(value) for value in values] == [None, None, None, 2.0]
    assert type(number(np.float64(2))) is float
    assert ends(np.array([np.nan, 1.0])) is None and ends(None) is None
    assert ends((0, np.float64(1))) == (0.0, 1.0)
