"""Chosen by effect: most as they come, the rest by whom they tell apart, and who has a say."""

from __future__ import annotations

import pytest

from sts.errors import ArgumentError
from sts.storage.workspace import Workspace
from sts.suites.types import Scenario, pairs
from sts.trajectories import store as trajectories
from sts_scenarios import categories
from sts_scenarios.categories import lambda_star
from sts_scenarios.category import Label
from sts_scenarios.mining import effect
from sts_scenarios.mining.order import Order, carried_out
from sts_scenarios.profiles import Profile, compute_profiles
from tests.examples import recorded

CATEGORIES = ("where-was-evil", "evade-or-shadow")


@pytest.fixture(scope="module")
def workspace(tmp_path_factory: pytest.TempPathFactory) -> Workspace:
    there = Workspace.open(tmp_path_factory.mktemp("effect"))
    size = {"team": 2, "steps": 40, "height": 10, "width": 10}
    trajectories.save(there, recorded("random", count=80, seed=1, **size))
    return there


def mined(workspace: Workspace, share: float | None, seed: int = 1) -> tuple[Scenario, ...]:
    order = Order(CATEGORIES, per_category=5, seed=seed, effect=share)
    return carried_out(order, workspace, there=(), last={}).mined.scenarios


@pytest.fixture(scope="module")
def mixed(workspace: Workspace) -> tuple[Scenario, ...]:
    return mined(workspace, 0.4)


def by_effect(scenarios: tuple[Scenario, ...]) -> list[Scenario]:
    return [one for one in scenarios if "effect_share" in one.provenance.get("chosen_by", {})]


def test_every_agent_is_of_one_family_and_readers_are_on_both_sides() -> None:
    every = [name for family in lambda_star.FAMILIES.values() for name in family]
    assert sorted(every) == sorted(lambda_star.AGENTS)
    held_out = {*lambda_star.AGENTS} - {*lambda_star.CURATION}
    for side in (held_out, {*lambda_star.CURATION}):
        assert side & {*lambda_star.READERS}
    assert all(
        {*family} <= held_out or not {*family} & held_out
        for family in lambda_star.FAMILIES.values()
    )


def profile(**passed: tuple[int, int]) -> Profile:
    made = {
        name: tuple(Label("success", 1) if n < k else Label("not_done", None) for n in range(of))
        for name, (k, of) in passed.items()
    }
    return Profile("", made)


@pytest.mark.parametrize(
    ("passed", "expected"),
    [
        ({"random": (0, 10), "reader": (5, 10)}, True),
        ({"random": (0, 10), "reader": (4, 10)}, False),
        ({"random": (9, 10), "reader": (0, 1)}, False),
        ({"random": (10, 10), "reader": (1, 1)}, False),
        ({"random": (9, 10), "reader": (1, 1)}, True),
    ],
)
def test_it_tells_where_not_all_pass_and_some_reader_does(
    passed: dict[str, tuple[int, int]], expected: bool
) -> None:
    assert effect.is_discriminating(profile(**passed), ["reader"]) == expected


def test_the_share_is_chosen_by_effect_and_says_so(mixed: tuple[Scenario, ...]) -> None:
    chosen = by_effect(mixed)
    assert len([one for one in chosen if not one.pair]) == 2
    assert len(pairs(chosen)) == 2 and all(len(own) == 2 for own in pairs(chosen).values())
    rule = effect.effect_provenance("lambda-star", 0.4)
    assert [one.provenance["chosen_by"] for one in chosen] == [rule] * len(chosen)
    assert rule["agents"] == [*lambda_star.CURATION]
    made = compute_profiles([one for one in chosen if not one.pair], lambda_star.CURATION)
    readers = [name for name in lambda_star.CURATION if name in lambda_star.READERS]
    assert all(effect.is_discriminating(one.profile, readers) for one in made)


def test_the_rest_is_what_would_have_been_chosen_first_without_it(
    workspace: Workspace, mixed: tuple[Scenario, ...]
) -> None:
    plain = {one.hash for one in mined(workspace, None)}
    at_random = {one.hash for one in mixed} - {one.hash for one in by_effect(mixed)}
    assert len(at_random & plain) >= len(at_random) - 1  # a wording is by the place
    assert [one.row_hash for one in mixed] == [one.row_hash for one in mined(workspace, 0.4)]


@pytest.mark.parametrize("share", [0, 0.6, -1])
def test_more_than_half_by_effect_is_refused(share: float) -> None:
    with pytest.raises(ArgumentError, match="at most 0.5"):
        Order(effect=share)


def test_nobody_chooses_by_effect_where_nobody_is_named(
    workspace: Workspace, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(categories, "curation", lambda domain: ())
    with pytest.raises(ArgumentError, match="list no agents to select"):
        mined(workspace, 0.4)
    with pytest.raises(ArgumentError, match="--by-effect"):
        Order(effect=0.4, side="train")
