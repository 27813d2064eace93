"""The agents and rules of this world behave as they did when their versions were stated."""

from __future__ import annotations

import functools

import pytest

from sts import agents
from sts.continuations.continuation import Continuation
from sts.suites.suite import Scenario
from sts_scenarios.rules import categories
from tests import golden
from tests.examples import agents_of, recorded

JUDGED = ("random", "rule", "reader", "oracle")
"""Whose continuations the rules label."""


@functools.cache
def scenarios() -> list[Scenario]:
    return golden.choose_scenarios("core@2")


@functools.cache
def continued(name: str) -> list[Continuation]:
    return golden.continued(scenarios(), agents.load(name))


@pytest.mark.parametrize("name", agents_of("lambda-star"))
def test_packaged_agent_behaves_as_its_version_says(name: str) -> None:
    agent = agents.load(name)
    team = recorded(name, count=4, team=3)
    digest = golden.actions(continued(name), [one.episode for one in team])
    golden.check(f"agent {name}", agent.version, digest)


@pytest.mark.parametrize(
    "name", sorted({one.category for one in golden.choose_scenarios("core@2")})
)
def test_packaged_rule_labels_as_its_version_says(name: str) -> None:
    category = categories.load_category(name)
    made = [one for agent in JUDGED for one in continued(agent)]
    golden.check(f"rule {name}", category.version, golden.labels(category, scenarios(), made))
