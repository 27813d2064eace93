"""The agents and rules of this world behave as they did when their versions were stated."""

from __future__ import annotations

import io

import numpy as np
import pytest

from sts import agents
from sts_overcooked.agents import cloned, network
from sts_overcooked.agents.features import SIZE
from sts_overcooked.constants import MOVES
from sts_scenarios.rules import categories
from tests import golden
from tests.examples import agents_of
from tests.mined import mine
from tests.recording import record

JUDGED = ("recorded", "overcooked-greedy", "random")
"""Whose continuations the rules label; the first repeats what people did."""
RULES = sorted(one.name for one in categories.load_categories("overcooked"))


@pytest.fixture(scope="module")
def weights(tmp_path_factory):
    """Untrained weights, so that they stay the same."""
    folder, sink = tmp_path_factory.mktemp("cache"), io.BytesIO()
    made = network.init_network(SIZE, cloned.HIDDEN, len(MOVES), np.random.default_rng(0))
    np.savez(sink, *made, trained_on="nothing")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("XDG_CACHE_HOME", str(folder))
        cloned.weights_path().parent.mkdir(parents=True)
        cloned.weights_path().write_bytes(sink.getvalue())
        yield


@pytest.mark.parametrize("name", agents_of("overcooked"))
def test_packaged_agent_behaves_as_its_version_says(name, weights, scenarios):
    agent = agents.load(name)
    played = [
        trajectory.episode
        for layout in ("cramped_room", "forced_coordination")
        for trajectory in record(
            agent, domain="overcooked", count=2, steps=100, seed=0, settings={"layout": layout}
        )
    ]
    asked = golden.continued(scenarios, agent)
    golden.check(f"agent {name}", agent.version, golden.actions(asked, played))


@pytest.fixture(scope="module")
def scenarios(recorded):
    own = [categories.load_category(name) for name in RULES]
    return mine(recorded.values(), own, per_category=2, seed=0).scenarios


@pytest.fixture(scope="module")
def continued(scenarios):
    each = [golden.continued(scenarios, agents.load(name)) for name in JUDGED]
    return scenarios, [one for own in each for one in own]


@pytest.mark.parametrize("name", RULES)
def test_packaged_rule_labels_as_its_version_says(name, continued):
    category = categories.load_category(name)
    golden.check(f"rule {name}", category.version, golden.labels(category, *continued))
