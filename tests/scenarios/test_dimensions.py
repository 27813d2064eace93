"""By how many things a suite tells agents apart, against what was made with so many."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest

from sts.storage.workspace import Workspace
from sts.suites import store
from sts_scenarios.category import Label
from sts_scenarios.profiles import Profile
from tests.reproduction.suites import dimensions

SUITE = store.load(Workspace.open("no-workspace-here"), "core@2")
AGENTS = tuple("abcdefgh")


def rates(*rows: np.ndarray) -> dimensions.Rates:
    return {str(n): dict(zip(AGENTS, row.tolist(), strict=True)) for n, row in enumerate(rows)}


def test_two_independent_skills_are_two_dimensions() -> None:
    one = np.array([0, 0, 0, 0, 1, 1, 1, 1]) / 2
    other = np.array([0, 1, 0, 1, 0, 1, 0, 1]) / 3
    made = dimensions.dimensions(rates(one, one / 2, other, other + 0.1), AGENTS)
    assert made.shares == pytest.approx([0.5, 0.5, 0, 0])
    assert (made.first(1), made.first(2)) == pytest.approx((0.5, 1.0))


def test_what_nobody_passes_better_than_another_is_left_out() -> None:
    one = np.linspace(0, 1, 8)
    made = dimensions.dimensions(rates(one, np.full(8, 0.5), 1 - one), AGENTS)
    assert (made.agents, made.categories) == (8, 2)
    assert made.first(1) == pytest.approx(1)
    assert dimensions.dimensions(rates(one, np.ones(8)), AGENTS).categories == 1


def test_a_ladder_is_one_dimension_and_what_is_beside_it_is_another() -> None:
    ladder = np.linspace(0, 1, 8)
    skill = np.array([1, -1, -1, 1, 1, -1, -1, 1]) / 10
    assert np.corrcoef(ladder, skill)[0, 1] == pytest.approx(0, abs=1e-9)
    every = rates(ladder, ladder, ladder + skill, ladder - skill)
    alike, beside = dimensions.competence(every, AGENTS)
    assert dimensions.dimensions(every, AGENTS).first(1) > 0.9
    assert alike == pytest.approx(1)
    assert beside.first(1) == pytest.approx(1)


def profile(one: str, *passed: int, of: int = 4) -> Profile:
    labels = {
        agent: tuple(Label("success", 1) if n < k else Label("not_done", None) for n in range(of))
        for agent, k in zip(AGENTS, passed, strict=False)
    }
    return Profile(one, labels)


def test_of_a_pair_done_is_who_does_both(monkeypatch: pytest.MonkeyPatch) -> None:
    two = [dataclasses.replace(one, pair="p") for one in SUITE.scenarios[:2]]
    made = {two[0].hash: profile(two[0].hash, 4, 2, 0), two[1].hash: profile(two[1].hash, 3, 4, 4)}
    assert dimensions.pass_rates(two, made) == {}
    monkeypatch.setattr(dimensions, "LEAST", 1)
    assert dimensions.pass_rates(two, made) == {
        two[0].category: {"a": 0.75, "b": 0.5, "c": 0.0},
    }
    alone = [dataclasses.replace(one, pair="") for one in two]
    assert dimensions.pass_rates(alone, made)[two[0].category]["a"] == pytest.approx(7 / 8)


def test_rankings_that_agree_have_a_tau_of_one() -> None:
    every = [
        dataclasses.replace(
            one, provenance={"chosen_by": {"effect_share": 0.5}} if n % 2 else one.provenance
        )
        for n, one in enumerate(SUITE.scenarios[:8])
    ]
    same = {
        one.hash: profile(one.hash, n // 2, n // 2, n // 2, n // 2) for n, one in enumerate(every)
    }
    assert dimensions.agreements(every, same, ["a", "b"]).scenarios == pytest.approx(1)
    ranked = {
        one.hash: profile(one.hash, 0, 1, 0 if n % 2 else 1, 1 if n % 2 else 0)
        for n, one in enumerate(every)
    }
    found = dimensions.agreements(every, ranked, ["a", "b"])
    assert (found.choosing, found.held_out) == pytest.approx((1, -1))
    plain = [dataclasses.replace(one, provenance={}) for one in every]
    assert np.isnan(dimensions.agreements(plain, ranked, ["a", "b"]).held_out)
