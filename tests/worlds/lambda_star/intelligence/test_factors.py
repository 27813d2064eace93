"""The factors that scores are broken down by."""

from __future__ import annotations

from math import log2

import pytest

from sts.errors import ArgumentError
from sts_lambda_star.generation.patterns import Settings, complexity_range
from sts_lambda_star.intelligence import factors
from sts_lambda_star.intelligence.factors import (
    FACTORS,
    add_base,
    complexity_classes,
    plan_runs,
)


def test_further_values_are_varied_one_at_a_time():
    base, further = plan_runs([(10, 10), (5, 6)], [5, 1, 9], [50, 20], [1, 2], complexity=(2, 9))
    assert base == Settings(10, 10, 5, 50, (2, 9))
    assert [(run.level.factor, run.settings) for run in further] == [
        ("uncertainty", base._replace(height=5, width=6)),
        ("team", base._replace(n_players=1)),
        ("team", base._replace(n_players=9)),
        ("steps", base._replace(horizon=20)),
        ("sight", base._replace(radius=2)),
    ]


def test_single_values_plan_no_further_runs():
    base, further = plan_runs([(10, 10)], [5], [50], patterns="lambdastar-2016")
    assert base.patterns == "lambdastar-2016"
    assert further == () and add_base(base, further) == []


def test_varied_factor_has_the_base_among_its_levels_from_low_to_high():
    base, further = plan_runs([(10, 10), (20, 20), (5, 6)], [5, 9, 1], [50])
    levels = [run.level for run in add_base(base, further)]
    assert [(level.factor, level.label) for level in levels] == [
        *(("uncertainty", size) for size in ("5x6", "10x10", "20x20")),
        *(("team", team) for team in ("1", "5", "9")),
    ]
    assert all(level.factor in FACTORS for level in levels)
    assert levels[0].value == pytest.approx(log2(30 * 29)), "bits"


def test_all_levels_draw_k_from_their_common_range():
    base, further = plan_runs([(10, 10), (5, 5)], [1, 2], [50, 20, 200])
    every = [base, *(run.settings for run in further)]
    alone = [complexity_range(settings._replace(complexity=None)) for settings in every]
    assert len(set(alone)) > 1
    common = (max(low for low, _ in alone), min(high for _, high in alone))
    assert {settings.complexity for settings in every} == {common}
    assert plan_runs([(10, 10)], [1], [500])[0].complexity is None, "one level alone"
    program = plan_runs([(5, 5), (6, 6)], [1], [50], patterns="lambdastar-2016")
    assert program[0].complexity is None


def test_levels_without_a_common_k_are_refused_with_their_ranges(monkeypatch):
    ranges = {50: (8, 23), 500: (2, 7)}
    monkeypatch.setattr(factors, "complexity_range", lambda settings: ranges[settings.horizon])
    with pytest.raises(ArgumentError) as caught:
        plan_runs([(10, 10)], [1], [50, 500])
    assert str(caught.value) == (
        "the levels have no complexity K in common: 10x10 at 50 steps 8 to 23, "
        "10x10 at 500 steps 2 to 7; leave a level out"
    )


@pytest.mark.parametrize(
    ("sizes", "teams", "steps", "said"),
    [
        ([(9, 9), (9, 9)], [1], [50], "a size is given twice"),
        ([(9, 9)], [1, 2, 1], [50], "a team is given twice"),
        ([(9, 9)], [1], [50, 50], "number of steps is given twice"),
    ],
)
def test_duplicate_value_is_refused(sizes, teams, steps, said):
    with pytest.raises(ArgumentError, match=said):
        plan_runs(sizes, teams, steps)


def test_sight_given_twice_is_refused():
    with pytest.raises(ArgumentError, match="a sight is given twice"):
        plan_runs([(9, 9)], [1], [50], [2, 2])


def test_classes_of_k_are_values_or_of_equal_width_over_the_range_drawn():
    found = complexity_classes([4, 2, 3], (2, 5))
    classes = [(level.value, level.label, members) for level, members in found]
    assert classes == [(k, str(k), [k]) for k in (2, 3, 4)]
    found = complexity_classes(range(2, 24), (2, 23))
    labels = ["2-5", "6-9", "10-13", "14-17", "18-20", "21-23"]
    assert [level.label for level, _ in found] == labels
    assert [level.value for level, _ in found] == [3.5, 7.5, 11.5, 15.5, 19, 22]
    met = [level.label for level, _ in complexity_classes([3, 22], (2, 23))]
    assert met == ["2-5", "21-23"]


@pytest.mark.parametrize("count", range(1, 40))
def test_every_k_is_in_exactly_one_class(count):
    met = [7 + k for k in range(count) if k % 3 != 1] or [7]
    members = [k for _, class_ in complexity_classes(met, None) for k in class_]
    assert members == sorted(met)
