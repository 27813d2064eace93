"""Rates that a rule's verdicts on what nobody judged help to find, as a report has them.

One table holds an agent for each thing that may stand in the way.
"""

from __future__ import annotations

import dataclasses
import functools
from typing import Any

import numpy as np
import pandas as pd
import pytest

from sts_analysis.inputs import tables as inputs
from sts_analysis.inputs.ratings import check_ratings
from sts_analysis.inputs.subject import Subject
from sts_analysis.report import powered as made
from sts_analysis.report.page import render
from sts_analysis.report.schema import Report
from sts_analysis.report.schema_powered import Powered, PoweredRate
from sts_analysis.report.tables import tables
from sts_analysis.statistics.label_set import LabelSet, analyse
from tests.analysis.reports import report_of, sure
from tests.analysis.worlds import ratings_table

CATEGORIES = ["go", "lift"]
SCENARIOS = 14
AGENTS = ("a", "all", "partly", "picked", "settled", "silent")


@functools.cache
def study() -> pd.DataFrame:
    """What people have judged of each agent, and why it is odd."""
    rows = ratings_table(
        skills=dict.fromkeys(AGENTS, 0.3),
        categories=CATEGORIES,
        seed=4,
        automatic=True,
        scenarios=SCENARIOS,
        continuations=6,
    )
    human, who = rows["source"] == "human", rows["agent"]
    rule = rows.loc[~human].set_index("continuation")["verdict"]
    draws = np.random.default_rng(1).random(len(rows))
    passes = rows["continuation"].map(rule) == "success"
    share = np.where(who == "picked", np.where(passes, 0.1, 0.6), 0.3)
    open_ = human & (who != "all") & (draws > share)
    silent = ~human & ((who == "silent") | ((who == "partly") & (rows["category"] == "go")))
    rows.loc[open_ | silent, ["verdict", "annotator"]] = ""
    rows.loc[open_ | silent, "step"] = np.nan
    settled = open_ & (who == "settled") & (draws > 0.8)
    rows.loc[settled, ["verdict", "source"]] = ["not_done", "settled"]
    return rows


@functools.cache
def usual() -> Report:
    return report_of(study())


@functools.cache
def analysed() -> tuple[dict[str, LabelSet], pd.DataFrame]:
    ratings = check_ratings(inputs.from_frame("t", study().copy()))
    sets = {
        source: analyse(ratings, source, scenarios=Subject("t").scenarios, target="sampled", seed=0)
        for source in ("human", "automatic")
    }
    return sets, ratings


def of_worlds(number: int) -> Powered:
    """The same, were it of a suite whose scenarios were recorded in so many worlds."""
    sets, ratings = analysed()
    names = sets["human"].outcomes.scenarios
    worlds = {name: f"w{i % number}" for i, name in enumerate(names)}
    return sure(made.powered(sets, ratings, Subject("t", worlds=worlds)))


def rates(found: Powered | None) -> dict[str, PoweredRate]:
    return {one.agent: one for one in sure(found).agents}


def test_a_good_rule_narrows_what_is_known_of_an_agent() -> None:
    found = sure(usual().powered)
    assert found.by == "automatic" and found.folds == 10 and not found.worlds_known
    for entry in usual().agents:
        own = rates(found)[entry.agent]
        unable = entry.unjudgeable
        assert (own.judged, own.continuations) == (entry.judged, entry.continuations - unable)
        assert own.pass_rate == entry.pass_rate
        assert own.pass_rate_interval == pytest.approx(entry.interval)
    one = rates(found)["a"]
    (low, high), (least, most) = sure(one.interval), sure(one.pass_rate_interval)
    assert one.reason is None and 0.5 < sure(one.weight) <= 1 and one.worlds >= 20
    assert high - low < most - least and sure(one.effective) > one.judged


def test_differences_stand_beside_those_by_people() -> None:
    pairs = sure(usual().powered).pairs
    assert {name for one in pairs for name in (one.a, one.b)} == {"a", "partly"}
    for own in pairs:
        by_people = sure(own.by_people_interval)
        assert by_people[0] < sure(own.by_people) < by_people[1]
        assert sure(own.interval)[0] < sure(own.powered) < sure(own.interval)[1]
        both = rates(usual().powered)[own.a], rates(usual().powered)[own.b]
        first, second = (sure(one.powered) for one in both)
        assert own.powered == pytest.approx(first - second)


def test_what_stands_in_the_way_is_said_of_each_agent() -> None:
    found = rates(usual().powered)
    assert {name: found[name].reason for name in AGENTS} == {
        "a": None,
        "all": made.ALL,
        "partly": None,
        "picked": made.PICKED,
        "settled": made.SETTLED,
        "silent": made.UNSAID,
    }
    assert found["partly"].alone == ("go",) and found["a"].alone == ()
    for own in found.values():
        if own.reason is not None:
            assert own.powered is None and own.interval is None and own.effective is None


def test_the_ranking_is_that_of_people_and_there_is_no_other_set_of_labels() -> None:
    human = analysed()[0]["human"]
    by_people = dict(zip(human.outcomes.agents, human.main.rate.tolist(), strict=True))
    assert {entry.agent: entry.pass_rate for entry in usual().agents} == by_people
    assert set(usual().label_sets) == {"human", "automatic", "unsettled"}


def test_without_a_rule_it_says_what_is_missing() -> None:
    sets, ratings = analysed()
    found = sure(made.powered({"human": sets["human"]}, ratings, Subject("t")))
    assert found.reason == made.NO_HELP and not found.agents
    assert f"None: {made.NO_HELP}." in section(dataclasses.replace(usual(), powered=found))


def test_where_all_is_judged_or_nobody_judged_there_is_none() -> None:
    sets, ratings = analysed()
    table = sets["human"].continuations
    whole = sets["human"]._replace(continuations=table[table["y"].notna()])
    assert made.powered(sets | {"human": whole}, ratings, Subject("t")) is None
    assert made.powered({"automatic": sets["automatic"]}, ratings, Subject("t")) is None


def test_few_worlds_are_refused_and_all_scenarios_of_one_are_one() -> None:
    few = rates(of_worlds(3))["a"]
    assert few.worlds == 3 and "needs judgements in 4 worlds of equal size" in str(few.reason)
    enough = of_worlds(6)
    assert rates(enough)["a"].reason is None and rates(enough)["a"].worlds == 6
    assert enough.folds == 6 and enough.worlds_known
    assert rates(enough)["a"].pass_rate == rates(usual().powered)["a"].pass_rate


def test_a_model_helps_where_there_is_no_rule() -> None:
    sets, ratings = analysed()
    model = {"human": sets["human"], "model": sets["automatic"]}
    found = sure(made.powered(model, ratings, Subject("t")))
    assert found.by == "model" and found.agents == sure(usual().powered).agents
    page = render(dataclasses.replace(usual(), powered=found), {})
    assert "Rates that use the model’s verdict" in page and "With the model" in page


def section(report: Report) -> str:
    page = render(report, {})
    start = page.index('<section id="powered">')
    return page[start : page.index("</section>", start)]


def test_the_page_shows_both_rates_and_says_for_whose_judgement() -> None:
    part = section(usual())
    assert "none is made up, and the ranking does not use this" in part
    assert "This holds for the judgement of ann alone" in part
    assert part.count("<strong>") == 2 and "a random part of each scenario" in part
    assert made.PICKED in part and "by people alone: go" in part
    assert '<a href="#powered">' in render(usual(), {})
    assert {"powered", "powered_pairs"} <= set(tables(usual()))


@pytest.mark.parametrize(
    ("change", "text"),
    [({"clipped": True}, ">clipped<"), ({"effective": None}, "<td>–</td><td>2")],
)
def test_the_page_says_what_was_clipped_and_what_is_not_known(
    change: dict[str, Any], text: str
) -> None:
    own = sure(usual().powered)
    first = dataclasses.replace(rates(own)["a"], **change)
    other = dataclasses.replace(own, agents=(first,))
    assert text in section(dataclasses.replace(usual(), powered=other))
