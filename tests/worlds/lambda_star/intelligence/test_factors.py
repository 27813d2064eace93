"""The factors that scores are broken down by."""

from __future__ import annotations

from math import log2

import pytest

from sts.errors import ArgumentError
from sts.worlds.lambda_star.generation.patterns import Settings, complexity_range
from sts.worlds.lambda_star.intelligence import factors
from sts.worlds.lambda_star.intelligence.factors import (
    FACTORS,
    add_base,
    complexity_classes,
    plan_runs,
)


def test_each_further_value_is_varied_alone_and_the_rest_stays_as_in_the_base():
    base, further = plan_runs([(10, 10), (5, 6)], [5, 1, 9], [50, 20], complexity=(2, 9))
    assert base == Settings(10, 10, 5, 50, (2, 9))
    assert [(run.level.factor, run.settings) for run in further] == [
        ("uncertainty", base._replace(height=5, width=6)),
        ("team", base._replace(participants=1)),
        ("team", base._replace(participants=9)),
        ("steps", base._replace(horizon=20)),
    ]


def test_one_value_of_everything_leaves_complexity_alone_to_be_broken_down():
    base, further = plan_runs([(10, 10)], [5], [50], patterns="lambdastar-2016")
    assert base.patterns == "lambdastar-2016"
    assert further == () and add_base(base, further) == []


def test_a_varied_factor_has_the_base_among_its_levels_from_low_to_high():
    base, further = plan_runs([(10, 10), (20, 20), (5, 5)], [5, 9, 1], [50])
    found = [(run.level.factor, run.level.label) for run in add_base(base, further)]
    sizes = [("uncertainty", f"{side}x{side}") for side in (5, 10, 20)]
    assert found == sizes + [("team", team) for team in ("1", "5", "9")]
    assert all(run.level.factor in FACTORS for run in further)


def test_uncertainty_is_shown_in_bits_beside_the_size():
    base, further = plan_runs([(10, 10), (3, 5)], [1], [50])
    (small, usual) = (run.level for run in add_base(base, further))
    assert small.value == pytest.approx(log2(15 * 14)) and small.label == "3x5"
    assert usual.value == pytest.approx(log2(100 * 99)) and usual.label == "10x10"


def test_all_levels_draw_k_from_the_range_that_they_have_in_common():
    base, further = plan_runs([(10, 10), (5, 5)], [1, 2], [50, 20, 200])
    every = [base, *(run.settings for run in further)]
    alone = [complexity_range(settings._replace(complexity=None)) for settings in every]
    assert len(set(alone)) > 1
    common = (max(low for low, _ in alone), min(high for _, high in alone))
    assert {settings.complexity for settings in every} == {common}


def test_one_level_alone_keeps_the_range_of_its_own():
    base, _ = plan_runs([(10, 10)], [1], [500])
    assert base.complexity is None
    base, _ = plan_runs([(5, 5), (6, 6)], [1], [50], patterns="lambdastar-2016")
    assert base.complexity is None


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
def test_a_value_given_twice_is_refused(sizes, teams, steps, said):
    with pytest.raises(ArgumentError, match=said):
        plan_runs(sizes, teams, steps)


def test_few_values_of_k_are_a_class_each():
    found = complexity_classes([4, 2, 3], (2, 5))
    assert [(level.value, level.label, members) for level, members in found] == [
        (2, "2", [2]),
        (3, "3", [3]),
        (4, "4", [4]),
    ]


def test_many_values_of_k_share_classes_of_equal_width_over_the_range_drawn():
    found = complexity_classes(range(2, 24), (2, 23))
    assert [level.label for level, _ in found] == [
        "2-5", "6-9", "10-13", "14-17", "18-20", "21-23",
    ]  # fmt: skip
    assert [level.value for level, _ in found] == [3.5, 7.5, 11.5, 15.5, 19, 22]


def test_classes_do_not_depend_on_what_was_met_where_k_is_drawn():
    assert [level.label for level, _ in complexity_classes([3, 22], (2, 23))] == ["2-5", "21-23"]


@pytest.mark.parametrize("count", range(1, 40))
def test_every_k_met_is_in_exactly_one_class(count):
    met = [7 + k for k in range(count) if k % 3 != 1] or [7]
    members = [k for _, class_ in complexity_classes(met, None) for k in class_]
    assert members == sorted(met)
