"""Selection by effect: a share of scenarios is chosen because only some agents pass them."""

import pytest

from sts.errors import ArgumentError
from sts.storage.workspace import Workspace
from sts.suites.suite import Scenario, group_pairs
from sts.trajectories import trajectory_store as store
from sts_lambda_star import categories as lambda_star
from sts_scenarios.mining import discrimination
from sts_scenarios.mining.request import MiningRequest, run_request
from sts_scenarios.rules import categories
from sts_scenarios.rules.category import Label
from sts_scenarios.rules.profiles import Profile, compute_profiles
from tests.examples import recorded

Scenarios = tuple[Scenario, ...]


@pytest.fixture(scope="module")
def workspace(tmp_path_factory: pytest.TempPathFactory) -> Workspace:
    there = Workspace.open(tmp_path_factory.mktemp("effect"))
    store.save(there, recorded("random", count=80, seed=1, steps=40, height=10, width=10))
    return there


def mine(workspace: Workspace, share: float | None) -> Scenarios:
    order = MiningRequest(
        ("where-was-evil", "evade-or-shadow"), per_category=5, seed=1, discriminating_share=share
    )
    return run_request(order, workspace, existing=(), last={}).mined.scenarios


@pytest.fixture(scope="module")
def mixed(workspace: Workspace) -> Scenarios:
    return mine(workspace, 0.4)


def by_effect(scenarios: Scenarios) -> list[Scenario]:
    return [one for one in scenarios if "effect_share" in one.provenance.get("chosen_by", {})]


def test_no_family_of_agents_is_split_between_curation_and_evaluation():
    families = [{*family} for family in lambda_star.FAMILIES.values()]
    assert sorted(name for one in families for name in one) == sorted(lambda_star.AGENTS)
    held_out = {*lambda_star.AGENTS} - {*lambda_star.CURATION}
    for side in (held_out, {*lambda_star.CURATION}):
        assert side & {*lambda_star.READERS}
    assert all(family <= held_out or not family & held_out for family in families)


@pytest.mark.parametrize(
    ("random", "reader", "expected"),
    [
        ((0, 10), (5, 10), True),
        ((0, 10), (4, 10), False),
        ((9, 10), (0, 1), False),
        ((10, 10), (1, 1), False),
        ((9, 10), (1, 1), True),
    ],
)
def test_scenario_discriminates_when_a_reader_passes_and_some_agent_fails(random, reader, expected):
    made = {
        name: (Label("success", 1),) * k + (Label("not_done", None),) * (of - k)
        for name, (k, of) in (("random", random), ("reader", reader))
    }
    assert discrimination.is_discriminating(Profile("", made), ["reader"]) == expected


def test_stated_share_is_chosen_by_effect_with_its_rule(mixed):
    chosen = by_effect(mixed)
    alone = [one for one in chosen if not one.pair]
    assert len(alone) == 2
    assert len(group_pairs(chosen)) == 2 and all(
        len(own) == 2 for own in group_pairs(chosen).values()
    )
    rule = discrimination.effect_provenance("lambda-star", 0.4)
    assert [one.provenance["chosen_by"] for one in chosen] == [rule] * len(chosen)
    assert rule["agents"] == [*lambda_star.CURATION]
    readers = [name for name in lambda_star.CURATION if name in lambda_star.READERS]
    for made in compute_profiles(alone, lambda_star.CURATION):
        assert discrimination.is_discriminating(made.profile, readers)


def test_other_scenarios_are_those_chosen_without_selection_by_effect(workspace, mixed):
    plain = {one.hash for one in mine(workspace, None)}
    at_random = {one.hash for one in mixed} - {one.hash for one in by_effect(mixed)}
    assert len(at_random & plain) >= len(at_random) - 1  # a wording depends on the place
    assert [one.row_hash for one in mixed] == [one.row_hash for one in mine(workspace, 0.4)]


def test_invalid_selection_by_effect_is_refused(workspace, monkeypatch):
    for share in (0, 0.6, -1):
        with pytest.raises(ArgumentError, match="at most 0.5"):
            MiningRequest(discriminating_share=share)
    with pytest.raises(ArgumentError, match="--discriminating-share"):
        MiningRequest(discriminating_share=0.4, split="train")
    monkeypatch.setattr(categories, "collect_names", lambda domain, _: ())
    with pytest.raises(ArgumentError, match="list no agents to select"):
        mine(workspace, 0.4)
