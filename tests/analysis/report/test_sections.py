"""Sections of the main page: what they advise, mark and leave out, and a user's own section."""

import re
import types
from typing import Any

import msgspec
import numpy as np
import pytest
from markupsafe import Markup

from sts.entry_points import EntryPoint
from sts.errors import StsError
from sts_analysis.inputs.gather import gather_table
from sts_analysis.report import document, results
from sts_analysis.report.core import Options, Study
from sts_analysis.report.sections import categories, judging, next_steps, ranking, score
from sts_analysis.report.text import to_plain
from tests.analysis.variants import (
    CATEGORIES,
    FOUR,
    PEOPLE,
    PROVENANCE,
    VARIANTS,
    draw_study,
    make_study,
)

FIRST_STEPS = {
    "rule": "Have people judge.",
    "interim": "Finish judging.",
    "confounded": "Let annotators judge both.",
    "one agent": "Run and judge a second agent.",
    "few units": "Add scenarios.",
}


@pytest.mark.parametrize("name", FIRST_STEPS)
def test_first_step_removes_what_is_in_the_way_of_a_conclusion(name) -> None:
    result = next_steps.compute(make_study(name))
    assert result is not None and result.steps[0].verb == FIRST_STEPS[name]


def test_closed_study_with_few_units_judged_is_to_go_on_with_its_scenarios() -> None:
    frame = draw_study({"a": 0.5, "b": 0.0}, judged=0.01)
    study = Study(gather_table(frame), Options(closed="no funds"), PROVENANCE)
    result = next_steps.compute(study)
    assert study.claim.reason == "units" and result is not None
    assert result.steps[0].verb == "Judge more scenarios."


@pytest.mark.parametrize("name", VARIANTS)
def test_steps_are_at_most_three_and_rank_no_agent_before_the_end(name) -> None:
    study = make_study(name)
    result = next_steps.compute(study)
    steps = result.steps if result else ()
    assert len(steps) <= 3
    if study.claim.state == "interim":
        text = " ".join(to_plain(step.reason) for step in steps)
        assert not any(agent in text for agent in study.outcomes.agents)


def test_tie_is_advised_with_the_scenarios_that_it_takes_or_left_alone() -> None:
    frame = draw_study({"a": 0.5, "b": 0.0, "c": -2.0}, scenarios=40, seed=2)
    study = Study(gather_table(frame.assign(seconds=30)), Options(), PROVENANCE)
    result = next_steps.compute(study)
    assert result is not None
    (step,) = [s for s in result.steps if s.verb.startswith(("Add scenarios", "Let the tie"))]
    assert "a and b" in to_plain(step.reason) or "b and a" in to_plain(step.reason)
    text = to_plain(step.reason)
    low, high = map(
        int, re.findall(r"takes (\d+) to (\d+) scenarios like these, instead of 40", text)[0]
    )
    mine = study.people_rows[study.people_rows["agent"].isin(["a", "b"])]
    hours = [len(mine) * 30 / 3600 * (number / 40 - 1) for number in (low, high)]
    assert f"That is about {hours[0]:.0f} to {hours[1]:.0f} hours more of judging." in text


@pytest.mark.parametrize("leaning", [0.0, 0.9])
def test_more_annotators_are_advised_only_if_they_favour_agents(leaning) -> None:
    abilities = {"a": 0.0, "b": 0.0, "c": -4.0}
    frame = draw_study(abilities, scenarios=40, continuations=6, people="x", seed=3)
    rng = np.random.default_rng(7)
    frame["annotator"] = rng.choice(PEOPLE, len(frame))  # by lot
    favoured = (frame["agent"] == "a") & (frame["annotator"] == PEOPLE[0])
    favoured &= rng.random(len(frame)) < leaning
    frame.loc[favoured, ["verdict", "step"]] = "success", 5
    study = Study(gather_table(frame), Options(), PROVENANCE)
    model, result = study.model.annotators, next_steps.compute(study)
    assert model is not None and result is not None
    advised = [step for step in result.steps if step.verb.startswith("More annotators")]
    assert bool(advised) == bool(leaning) == model.favours_agents
    assert (ranking.compute(study).favouritism is not None) == bool(leaning)


def test_ranks_and_brackets_are_those_of_the_comparisons() -> None:
    study = make_study("tied")
    result = ranking.compute(study)
    better = study.claim.better
    for i, row in enumerate(result.rows):
        assert row.rank_set == (1 + better[:, i].sum(), len(better) - better[i].sum())
    for start, stop in result.level_runs:
        assert not better[start:stop, start:stop].any() and stop - start > 1
    joined = {(i, j) for a, b in result.level_runs for i in range(a, b) for j in range(i, b)}
    for i in range(len(better) - 1):
        assert ((i, i + 1) in joined) == (not better[i, i + 1] and not better[i + 1, i])


def test_interim_and_withheld_rankings_are_hollow_and_without_ranks() -> None:
    for name in ("interim", "confounded", "few units"):
        result = ranking.compute(make_study(name))
        assert result.is_hollow and not result.has_ranks
        assert all(row.rank is None and row.rank_set is None for row in result.rows)


def test_rate_rests_on_k_of_n_below_five_units() -> None:
    frame = draw_study(FOUR, per_trajectory=24)  # four units
    result = ranking.compute(Study(gather_table(frame), Options(), PROVENANCE))
    assert result.k_of_n and all(row.interval is None for row in result.rows)


def test_category_rates_average_to_the_rate() -> None:
    study = make_study("tied")
    result = categories.compute(study)
    assert result is not None
    sizes = np.array([row.scenarios for row in result.rows])
    rates = np.array([row.pass_rates for row in result.rows])
    assert sizes @ rates / sizes.sum() == pytest.approx(
        study.rates.rate[study.order],
        abs=2e-3,  # each is adjusted on the scale of odds
    )
    assert categories.compute(make_study("table only")) is not None
    one = draw_study(FOUR, categories=("only",))
    assert categories.compute(Study(gather_table(one), Options(), PROVENANCE)) is None


@pytest.mark.parametrize(("judged", "is_said"), [(1.0, True), (0.01, False)])
def test_category_that_no_agent_passes_is_named_only_if_enough_is_judged(judged, is_said) -> None:
    frame = draw_study({"a": 0.5, "b": 0.0}, people=("ana",), twice=0, judged=judged)
    failed = (frame["category"] == CATEGORIES[0]) & (frame["annotator"].fillna("") != "")
    frame["verdict"] = frame["verdict"].mask(failed, "failure")
    result = categories.compute(Study(gather_table(frame), Options(), PROVENANCE))
    assert result is not None
    notes = [to_plain(note) for note in result.notes]
    assert (f"No agent passes {CATEGORIES[0]}." in notes) == is_said
    assert is_said or not any(note.startswith("No agent") for note in notes)


@pytest.mark.parametrize(
    ("rate", "heat"), [(None, 0), (0.049, 0), (0.05, 1), (0.5, 3), (0.95, 6), (1.0, 6)]
)
def test_heat_has_seven_steps(rate, heat) -> None:
    assert categories.find_heat(rate) == heat


def test_judging_says_who_judged_and_stops_if_agents_are_confounded() -> None:
    rows = {row.question: row for row in judging.compute(make_study("confounded")).rows}
    assert rows["Same annotators for all agents"].state == "stop"
    assert rows["Annotators agree"].finding == "not known"
    fine = {row.question: row for row in judging.compute(make_study("best")).rows}
    assert fine["Same annotators for all agents"].state == "fine"
    agreement = fine["Annotators agree"]
    assert agreement.value is not None and agreement.interval is not None
    assert agreement.interval[0] < agreement.value < agreement.interval[1]
    assert [row.finding for row in judging.compute(make_study("rule")).rows] == [
        "a rule",
        "not known",
    ]


def test_score_shows_points_and_no_interval_below_eight_agents() -> None:
    study = make_study("tied")
    result = score.compute(study)
    assert result is not None and result.metric == "interactive"
    assert [point.agent for point in result.points] == study.names
    assert result.spearman is not None and result.interval is None and result.p is None
    assert score.compute(make_study("best")) is None


class Own(msgspec.Struct, frozen=True):
    """A result of a user's section.

    Attributes:
      agents: number of agents.
    """

    agents: int


@pytest.fixture
def clear_caches() -> Any:
    caches = (document.load_appendix, document.define_report)
    for cache in caches:
        cache.cache_clear()
    yield
    for cache in caches:
        cache.cache_clear()


def install(monkeypatch: pytest.MonkeyPatch, name: str, section: Any) -> None:
    point = EntryPoint(name, "user:section", document.GROUP, "")
    monkeypatch.setattr(EntryPoint, "load", lambda self: section)
    monkeypatch.setattr(document, "list_group", lambda group: [point])


def make_section() -> Any:
    section: Any = types.SimpleNamespace(TITLE="Own section", NAV="Own", Result=Own)
    section.compute = lambda study: Own(len(study.names))
    section.render = lambda result, report: Markup("<p>{} agents</p>").format(result.agents)
    return section


@pytest.mark.usefixtures("clear_caches")
def test_section_of_a_user_stands_in_the_appendix_and_in_json(monkeypatch) -> None:
    install(monkeypatch, "own", make_section())
    report = document.compute_report(make_study("one agent"))
    assert "<p>1 agents</p>" in document.render_appendix(report)
    assert results.decode(results.encode(report)).own == Own(1)


@pytest.mark.usefixtures("clear_caches")
def test_section_whose_name_is_taken_is_refused(monkeypatch) -> None:
    install(monkeypatch, "rates", make_section())
    with pytest.raises(StsError, match="rates of user:section: the name is taken"):
        document.load_appendix()


def test_rate_adjusted_to_a_little_below_zero_is_shown_as_zero():
    cells = [categories._render_cell(rate, 5, "") for rate in (-0.003, 0.0, 0.004, 0.506)]
    assert [cell.striptags() for cell in cells] == ["0", "0", "0", "51"]
