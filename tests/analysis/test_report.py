"""The content of report.json: complete, finite, honest about what is unknown, reproducible."""

import json
from typing import Any

import numpy as np
import pandas as pd
import pytest

from analysis import tables
from analysis.ratings import check_ratings
from analysis.report import build, plain
from analysis.scores import check_scores, empty_scores
from analysis.verdict import layers, percent
from sts.errors import DamagedData, UnknownName
from tests.analysis.worlds import ratings_table

AGENT_KEYS = {
    "agent", "pass_rate", "interval", "rank", "rank_set", "continuations", "annotations",
    "categories", "kinds", "consistency", "time_to_success", "corrected_pass_rate",
    "guess_penalised",
}  # fmt: skip


def report(
    frame: pd.DataFrame, scores: pd.DataFrame | None = None, **options: Any
) -> dict[str, Any]:
    ratings = check_ratings(tables.from_frame("t", frame))
    scores = empty_scores() if scores is None else scores
    found = build(ratings, scores, suite="t@1", **options)
    json.dumps(found, allow_nan=False)
    return found


def world(**options: Any) -> pd.DataFrame:
    settings = {
        "skills": {"strong": 1.2, "weak": -1.0, "seer": 3.0},
        "categories": ["lift", "go", "stay", "count"],
        "seed": 1,
        "scenarios": 4,
        "continuations": 4,
        "baselines": ("seer",),
    }
    return ratings_table(**(settings | options))


def test_it_holds_at_least_what_the_schema_names() -> None:
    found = report(world(references=8))
    assert found["schema"] == "sts-report/1" and found["target"] == "sampled"
    assert set(found) >= {
        "suite", "agents", "comparisons", "correlations", "annotators", "labels",
    }  # fmt: skip
    for entry in found["agents"]:
        assert set(entry) >= AGENT_KEYS
        assert set(entry["consistency"]) >= {"icc", "interval", "pass_hat_k"}
        assert set(entry["time_to_success"]) >= {"curve", "mean_area", "interval"}
        assert set(entry["categories"]) == {"lift", "go", "stay", "count"}
        assert set(entry["kinds"]) == {"instruction", "question"}
        assert entry["guess_penalised"] is None
    assert set(found["comparisons"][0]) >= {"a", "b", "difference", "interval", "p", "p_adjusted"}
    assert set(found["annotators"][0]) >= {
        "annotator", "annotations", "balanced_accuracy", "interval",
    }  # fmt: skip


def test_baselines_stand_outside_the_ranking() -> None:
    agents = {entry["agent"]: entry for entry in report(world())["agents"]}
    assert agents["seer"]["rank"] is None and agents["seer"]["rank_set"] is None
    assert agents["seer"]["pass_rate"] > agents["strong"]["pass_rate"]
    assert agents["strong"]["rank"] == 1 and agents["strong"]["rank_set"] == [1, 1]
    pairs = report(world())["comparisons"]
    assert [(pair["a"], pair["b"]) for pair in pairs] == [("strong", "weak")]


def test_an_agent_of_a_few_scenarios_is_shown_and_moves_no_rank() -> None:
    table = world()
    alone = report(table)
    few = table[table["agent"] == "weak"].groupby("scenario").head(1).head(2)
    names = few["continuation"] + "-turn"
    found = report(pd.concat([table, few.assign(agent="human", continuation=names)]))
    entry = next(e for e in found["agents"] if e["agent"] == "human")
    assert (entry["rank"], entry["rank_set"]) == (None, None)
    assert entry["unranked"].startswith("not ranked: 2 of ")
    assert [e["agent"] for e in found["agents"] if e["rank"]] == [
        e["agent"] for e in alone["agents"] if e["rank"]
    ]
    assert [c["p_adjusted"] for c in found["comparisons"]] == [
        c["p_adjusted"] for c in alone["comparisons"]
    ]


def test_f1_levels_off_at_the_pass_rate() -> None:
    for entry in report(world(each=2, annotators={"p": (0.9, 0.9), "q": (0.8, 0.9)}))["agents"]:
        assert entry["time_to_success"]["curve"][-1] == pytest.approx([60, entry["pass_rate"]])
        assert entry["time_to_success"]["mean_area"] < entry["pass_rate"]


def test_short_scenarios_are_not_taken_to_go_on_in_the_plain_count() -> None:
    frame = world()
    short = frame["category"] == "count"
    frame.loc[short, ["verdict", "step"]] = ["not_done", None]
    frame.loc[short, "horizon"] = 3
    entry = report(frame)["agents"][0]
    assert entry["time_to_success"]["reached"][-1][1] == pytest.approx(entry["pass_rate"])
    assert entry["time_to_success"]["curve"][-1][1] > entry["pass_rate"] + 0.1


def test_human_labels_lead_and_automatic_ones_stand_beside_them() -> None:
    found = report(world(automatic=True, judged=0.2))
    assert found["labels_used"] == "human" and found["labels"]["automatic"] == 192
    assert set(found["label_sets"]) == {"human", "automatic"}
    assert found["human_automatic"]["judgements"] == found["labels"]["human"]
    assert found["counts"]["judged"] + found["counts"]["unjudged"] == 192
    automatic = found["label_sets"]["automatic"]["agents"][0]
    assert automatic["judged"] == 64 > found["agents"][0]["judged"]


def test_automatic_labels_lead_only_where_nobody_has_judged() -> None:
    found = report(world(automatic=True, judged=0))
    assert found["labels_used"] == "automatic" and found["labels"]["human"] == 0
    assert found["human_automatic"] is None and found["annotators"] == []
    assert all(entry["corrected_pass_rate"] is None for entry in found["agents"])


def test_adding_automatic_labels_moves_no_human_number() -> None:
    frame = world(automatic=True)
    alone = report(frame[frame["source"] == "human"])
    assert report(frame)["agents"] == alone["agents"]


def test_reference_episodes_count_for_annotators_and_not_for_agents() -> None:
    frame = world(references=20)
    found = report(frame)
    assert "reference" not in {entry["agent"] for entry in found["agents"]}
    assert found["annotators"][0]["references"] == 20
    assert found["agents"][0]["corrected_pass_rate"]["interval"][0] >= 0
    alone = report(frame[frame["truth"] == ""])
    assert alone["agents"][0]["pass_rate"] == found["agents"][0]["pass_rate"]


def test_the_other_target_stands_beside_the_asked_one() -> None:
    sampled, fixed = report(world()), report(world(), target="fixed")
    for a, b in zip(sampled["agents"], fixed["agents"], strict=True):
        assert a["interval"] == a["intervals"]["sampled"]["interval"]
        assert b["interval"] == b["intervals"]["fixed"]["interval"]
        assert a["intervals"] == b["intervals"]


def test_equal_seeds_give_equal_reports_and_other_seeds_other_draws() -> None:
    skills = {"a": 0.3, "b": 0.1, "c": 0.0}
    first, again, other = (report(world(skills=skills), seed=seed) for seed in (1, 1, 2))
    assert first == again
    assert first["comparisons"] != other["comparisons"]
    assert [a["pass_rate"] for a in first["agents"]] == [a["pass_rate"] for a in other["agents"]]


@pytest.mark.parametrize(
    "options",
    [
        {"skills": {"only": 0.0}},
        {"categories": ["lift"]},
        {"scenarios": 1},
        {"scenarios": 1, "categories": ["lift"], "continuations": 1},
        {"continuations": 1},
        {"judged": 0},
        {"judged": 0.05},
        {"judged": 0, "references": 4},
        {"skills": {"a": 90, "b": 90}, "annotators": {"p": (1, 1)}},
        {"skills": {"a": 90, "b": -90}, "annotators": {"p": (1, 1)}},
        {"baselines": ("strong", "weak", "seer")},
        {"references": 30, "annotators": {"p": (0.5, 0.5), "q": (0.5, 0.6)}, "each": 2},
    ],
)
@pytest.mark.parametrize("target", ["sampled", "fixed"])
def test_thin_and_extreme_tables_give_a_report(options: dict[str, Any], target: str) -> None:
    found = report(world(**options), target=target)
    for entry in found["agents"]:
        assert entry["pass_rate"] is not None or entry["method"] == "nothing judged"
        if entry["interval"] is not None:
            assert 0 <= entry["interval"][0] <= entry["pass_rate"] <= entry["interval"][1] <= 1
        else:
            assert entry["method"]


def test_nothing_judged_is_missing_and_never_zero() -> None:
    found = report(world(judged=0))
    assert {entry["pass_rate"] for entry in found["agents"]} == {None}
    assert found["counts"]["unjudged"] == found["counts"]["continuations"] == 192
    assert found["verdict"].startswith("No agent has a judged continuation")


def test_successes_without_a_step_have_no_curve_and_say_so() -> None:
    frame = world()
    frame["step"] = None
    entry = report(frame)["agents"][0]["time_to_success"]
    assert entry["curve"] is None and "have no step" in entry["reason"]


def test_only_reference_episodes_are_refused() -> None:
    frame = world(references=4)
    with pytest.raises(DamagedData, match="found only reference episodes"):
        report(frame[frame["truth"] != ""])


def scored(values: dict[str, float], metric: str) -> pd.DataFrame:
    rows = [{"agent": a, "metric": metric, "value": v} for a, v in values.items()]
    return check_scores(tables.from_frame("s", pd.DataFrame(rows)))


def test_correlations_pair_the_pass_rate_with_each_metric() -> None:
    skills = {"a": 2.0, "b": 0.5, "c": -0.5, "d": -2.0}
    both = [scored(skills, "interactive"), scored({k: -v for k, v in skills.items()}, "loss")]
    found = report(world(skills=skills, scenarios=10), pd.concat(both))
    pairs = {(c["x"], c["y"]): c for c in found["correlations"]}
    assert pairs["pass_rate", "interactive"]["spearman"] == 1
    assert pairs["pass_rate", "interactive"]["order_accuracy"] == 1
    assert pairs["pass_rate", "loss"]["spearman"] == -1
    assert pairs["interactive", "loss"]["order_accuracy"] is None
    assert found["correlation_differences"][0]["difference"] == 2


def test_the_pass_rates_noise_is_half_that_of_a_difference() -> None:
    skills = {"a": 1.0, "b": 0.5, "c": -0.5}
    found = report(world(skills=skills), scored(skills, "m"))
    rates = [entry["pass_rate"] for entry in found["agents"]]
    noise = np.mean([pair["standard_error"] ** 2 for pair in found["comparisons"]]) / 2
    reliability = found["correlations"][0]["reliability_x"]
    assert reliability == pytest.approx(1 - noise / np.var(rates, ddof=1))


def test_scores_of_baselines_and_strangers_do_not_enter() -> None:
    values = {"strong": 2.0, "weak": 1.0, "seer": 9.0, "stranger": 5.0}
    found = report(world(), scored(values, "m"))
    assert found["correlations"][0]["n"] == 2
    assert found["correlations"][0]["reason"] == "needs 3 agents with both metrics, found 2"


def test_planned_contrasts_are_adjusted_among_themselves() -> None:
    found = report(world(), contrasts=[("weak", "strong")])
    assert found["contrasts"][0]["p_holm"] == found["contrasts"][0]["p"]
    with pytest.raises(UnknownName, match="unknown ranked agent 'seer'"):
        report(world(), contrasts=[("weak", "seer")])


def test_an_evident_winner_and_a_tie_are_said_in_words() -> None:
    frame = world(skills={"a": 3.0, "b": -0.5, "c": -0.5}, scenarios=10, continuations=10)
    found = report(frame)["verdict"]
    assert found.startswith("a is first, above ") and found.endswith("which cannot be separated.")


def test_layers_are_cut_only_where_everyone_is_separated() -> None:
    above = {("a", "c"), ("a", "d"), ("b", "c"), ("b", "d"), ("a", "e"), ("b", "e"), ("c", "e")}
    assert layers("abcd", above) == [["a", "b"], ["c", "d"]]
    assert layers("abcde", above) == [["a", "b"], ["c", "d", "e"]]
    assert layers("ab", set()) == [["a", "b"]]


@pytest.mark.parametrize(
    ("share", "text"),
    [(0, "0%"), (0.0001, "<0.1%"), (0.005, "0.5%"), (0.05, "5%"), (0.957, "96%")]
    + [(0.9999, ">99.9%"), (0.993, "99.3%"), (1 - 1e-16, "100%"), (1, "100%"), (None, "–")],
)
def test_a_percentage_never_rounds_to_certainty(share: float | None, text: str) -> None:
    assert percent(share) == text


def test_plain_values_are_finite_or_none() -> None:
    values = {
        "a": np.float64("nan"),
        "b": np.array([np.nan, 1.0]),
        "c": (np.int64(3), float("inf")),
    }
    assert plain(values) == {"a": None, "b": None, "c": [3, None]}
