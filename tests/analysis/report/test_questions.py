"""What users ask: fragility, who is hardly worse, on how many scenarios, and profiles."""

import numpy as np
import pytest

from sts.errors import UnknownName
from sts_analysis.statistics.fragility import fragility
from sts_analysis.statistics.improvement import improvements
from sts_analysis.statistics.outcomes import summarise
from sts_analysis.statistics.profiles import LEVELS, profile
from tests.analysis.reports import report_of, sure, valid
from tests.analysis.worlds import ratings_table


def test_the_fewest_flips_by_hand() -> None:
    # 8 of 10 against 6 of 10, each judgement worth .1: three flips put the second above.
    success = np.array([True] * 8 + [False] * 2 + [True] * 6 + [False] * 4)
    agent = np.repeat([0, 1], 10)
    found = fragility(np.array([0.8, 0.6]), agent, success, np.full(20, 0.1))
    assert found is not None and (found.first, found.rival) == (0, 1)
    assert (found.flips, found.judgements) == (3, 20)


def test_flips_worth_most_come_first_and_the_nearest_rival_counts() -> None:
    agent = np.array([0, 0, 1, 1, 2, 2])
    success = np.array([True, True, True, False, True, False])
    worth = np.array([0.5, 0.5, 0.9, 0.1, 0.6, 0.4])
    found = fragility(np.array([1.0, 0.9, 0.6]), agent, success, worth)
    assert found is not None and found.rival == 1 and found.flips == 1
    level = fragility(np.array([0.5, 0.5]), agent[:4], success[:4], worth[:4])
    assert level is not None and level.flips == 0
    assert fragility(np.array([0.5, np.nan]), agent, success, worth) is None


@pytest.mark.parametrize("seed", range(5))
def test_no_set_of_flips_that_is_smaller_changes_who_is_first(seed: int) -> None:
    rng = np.random.default_rng(seed)
    agent, worth = np.repeat([0, 1, 2], 4), rng.random(12)
    worth /= np.repeat([worth[agent == one].sum() for one in range(3)], 4)
    success = rng.random(12) < 0.6
    rate = np.bincount(agent, weights=worth * success)
    found = fragility(rate, agent, success, worth)
    assert found is not None
    flipped = (np.arange(2**12)[:, None] >> np.arange(12) & 1).astype(bool)
    moved = np.stack(
        [((success ^ flipped) * worth)[:, agent == one].sum(axis=1) for one in range(3)], axis=1
    )
    passed = np.delete(moved, found.first, axis=1).max(axis=1) > moved[:, found.first] + 1e-9
    assert found.flips == flipped.sum(axis=1)[passed].min()


def test_a_share_of_scenarios_counts_equal_ones_half() -> None:
    values = np.array([[[1.0], [1], [0], [1]], [[0], [1], [0], [0]]])
    found = improvements(summarise(values), np.zeros(4, int), np.array([[0, 1]]))
    assert found.chance[0] == 0.75
    assert found.interval[0][0] < 0.75 < found.interval[0][1]


def test_a_profile_falls_and_its_band_holds_it() -> None:
    values = (np.arange(10)[None, None] < np.arange(11)[None, :, None]).astype(float)
    found = profile(summarise(values), 0, np.zeros(11, int), seed=0)
    assert found.share == pytest.approx((11 - np.arange(1, 11)) / 11) and len(LEVELS) == 10
    assert (found.band[:, 0] <= found.share).all() and (found.share <= found.band[:, 1]).all()


def test_a_report_answers_and_a_margin_asks_who_is_hardly_worse() -> None:
    frame = ratings_table(
        skills={"a": 1.5, "b": 1.4, "c": -2.0}, categories=["go", "lift"], seed=5, scenarios=12
    )
    report = valid(report_of(frame, margin=0.15))
    asked = sure(report.questions)
    assert len(asked.fragility) == 1 and sure(asked.fragility[0].flips) > 0
    assert {(n.agent, n.reference) for n in asked.not_worse} == {
        (entry.agent, report.agents[0].agent) for entry in report.agents[1:]
    }
    for one in asked.not_worse:
        assert one.shown == (sure(one.bound) > -0.15) and sure(one.bound) < sure(one.difference)
    assert not next(n for n in asked.not_worse if n.agent == "c").shown
    assert [p.agent for p in asked.profiles] == [entry.agent for entry in report.agents]
    assert report_of(frame).questions is not None and not sure(report_of(frame).questions).not_worse
    named = sure(report_of(frame, margin=0.15, reference="b").questions)
    assert {n.reference for n in named.not_worse} == {"b"}
    with pytest.raises(UnknownName):
        report_of(frame, margin=0.15, reference="nobody")


def test_a_blind_agent_fills_the_score_that_penalises_guessing() -> None:
    frame = ratings_table(
        skills={"a": 1.5, "blind": -1.0}, categories=["go", "lift"], seed=5, scenarios=6
    )
    first, last = (sure(entry.guess_penalised) for entry in report_of(frame, blind="blind").agents)
    assert sure(first.value) > 0.3 and first.blind == "blind" and first.interval is not None
    assert last.value == 0.0 and last.method == "it is the blind agent"
    assert all(entry.guess_penalised is None for entry in report_of(frame).agents)
    with pytest.raises(UnknownName):
        report_of(frame, blind="nobody")
