"""Simulated studies: judged where a user's were, by the like, and as true as they say."""

import numpy as np
import pandas as pd
import pytest

from sts_analysis.planning.people import ANSWERS, ASSUMED, People, people_of
from sts_analysis.planning.world import Design, simulate
from tests.analysis.planning.designs import copied, design, plain, with_references


def studies(own: Design, number: int) -> list[pd.DataFrame]:
    return [simulate(own, np.random.default_rng(i)).ratings for i in range(number)]


def test_a_simulated_study_is_judged_where_its_design_was_and_by_the_same() -> None:
    frame = plain().drop(index=[0, 5, 17])
    own = design(frame)
    (study,) = studies(own, 1)
    kept = ["agent", "scenario", "category", "continuation", "annotator"]
    pd.testing.assert_frame_equal(study[kept], own.layout.table[kept])
    assert own.layout.annotators == ("p0", "p1") and own.layout.number.sum() == len(frame)
    assert (study["verdict"] != own.layout.table["verdict"]).any()


def test_it_shows_the_rates_and_the_correlation_that_it_was_made_with() -> None:
    own = design(plain(scenarios=400))
    shape = own.rate.shape
    own = own._replace(
        rate=np.full(shape, 0.3),
        icc=np.full(shape, 0.5),
        correlation=0.6,
        people=People(1.0, 1.0, 0.0),
    )
    several = [simulate(own, np.random.default_rng(i)) for i in range(40)]
    chance = np.stack([study.chance for study in several])
    assert chance.mean() == pytest.approx(0.3, abs=0.01)
    assert chance.var() == pytest.approx(0.5 * 0.3 * 0.7, rel=0.05)
    flat = chance.transpose(1, 0, 2).reshape(3, -1)
    assert np.corrcoef(flat)[0, 1] == pytest.approx(0.6, abs=0.08)
    success = np.stack([study.ratings["verdict"] == "success" for study in several])
    assert success.mean() == pytest.approx(0.3, abs=0.01)


def test_as_estimated_it_shows_what_was_seen() -> None:
    frame = plain(scenarios=300)
    own = design(with_references(frame, {"p0": 0.9, "p1": 0.8}, 50))
    assert own.people.sensitivity < 0.9
    own = own._replace(people=own.people._replace(alike=0.0))
    seen = frame["verdict"].eq("success").groupby(frame["agent"]).mean()
    every = pd.concat(studies(own, 20))
    every = every[every["truth"] == ""]
    again = every["verdict"].eq("success").groupby(every["agent"]).mean()
    assert again.to_numpy() == pytest.approx(seen.to_numpy(), abs=0.02)
    same = frame.groupby(["agent", "scenario"])["verdict"].nunique().eq(1).mean()
    (one,) = studies(own, 1)
    one = one[one["truth"] == ""]
    alike = one.groupby(["agent", "scenario"])["verdict"].nunique().eq(1).mean()
    assert alike == pytest.approx(same, abs=0.06)


def test_copies_end_by_themselves_and_are_judged_alike_where_they_end_alike() -> None:
    own = design(copied())._replace(people=People(0.7, 0.7, 0.0))
    before = own.layout.table
    (study,) = studies(own, 1)
    assert (study.groupby(["clip", "annotator"])["verdict"].nunique() == 1).all()
    assert (before.groupby("clip")["continuation"].nunique() > 1).mean() > 0.5
    assert (study.groupby("clip")["continuation"].nunique() > 1).mean() > 0.5
    apart = study["clip"].groupby(before["clip"]).nunique()
    assert apart.max() == 2 and (apart == 2).mean() > 0.2


def test_the_rate_that_judges_would_give_is_the_mean_of_many_studies() -> None:
    frame = plain(agents="ab", scenarios=6).assign(source="human", adjudicated="")
    frame.loc[:1, ["source", "annotator", "verdict"]] = ["settled", "", "not_done"]
    frame.loc[4:5, "adjudicated"] = "success"
    own = design(frame)._replace(people=People(0.8, 0.7, 0.1), correlation=0.0)
    own = own._replace(rate=own.rate * 0 + 0.4)
    several = [simulate(own, np.random.default_rng(i)) for i in range(600)]
    table = own.layout.table
    place = [table["agent"], table["scenario"]]
    success = np.mean([s.ratings["verdict"].eq("success") for s in several], 0)
    seen = pd.Series(success, table.index).groupby(place).mean().to_numpy()
    known = np.mean([s.judged(own.layout, s.chance) for s in several], 0)
    assert seen.reshape(2, 6) == pytest.approx(known, abs=0.06)
    assert np.mean(seen) == pytest.approx(known.mean(), abs=0.012)
    assert known[0, 0] == pytest.approx(0.4 * 0.8, abs=0.03)  # a rule sees no failure as success


def test_what_a_rule_settled_stays_settled_where_it_fails_and_else_somebody_judges_it() -> None:
    frame = plain(agents="ab", scenarios=6).assign(source="human")
    frame.loc[:7, ["source", "annotator", "verdict"]] = ["settled", "", "not_done"]
    own = design(frame)
    rows = pd.concat(
        [study.iloc[:8] for study in studies(own._replace(rate=own.rate * 0 + 0.5), 40)]
    )
    settled = rows["source"] == "settled"
    assert 0.1 < settled.mean() < 0.9
    assert (rows["verdict"][settled] == "not_done").all()
    assert set(rows["annotator"][~settled]) == {"p0", "p1"}


def test_people_are_as_good_as_their_answers_and_differ_as_these_do() -> None:
    assert people_of(pd.DataFrame(columns=["truth", "verdict", "annotator"])) == (0.95, 0.95, 0.0)
    table = with_references(plain(), {"p0": 1.0, "p1": 0.6}, 20)
    found = people_of(table[table["truth"] != ""])
    assert found.sensitivity == pytest.approx((32 + ANSWERS * ASSUMED) / (40 + ANSWERS))
    # Of twenty answers of a kind each: off by four from the mean of 16 of 20.
    above = 2 * ((16 / 20 + 16 / 20) / 0.16 - 1)
    assert found.alike == pytest.approx(above / (2 * (40 - 20 - 1)))
    drawn = found.draw(20_000, np.random.default_rng(0))
    mean = found.sensitivity
    assert drawn[0].mean() == pytest.approx(mean, abs=0.005)
    assert drawn[0].var() == pytest.approx(found.alike * mean * (1 - mean), rel=0.05)


def test_nobody_is_taken_to_err_more_often_than_the_rates_let_them() -> None:
    frame = plain(agents="ab", scenarios=200)
    frame.loc[frame["agent"] == "a", "verdict"] = "failure"
    own = design(frame)
    assert own.people.specificity > 0.97 and own.people.sensitivity == 0.95
