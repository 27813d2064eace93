import dataclasses

import numpy as np
import pytest

from sts import agents
from sts.continuations.takeover import continue_all, group_by_shape
from sts.errors import ArgumentError, StsError
from sts.trajectories.record import record
from sts_scenarios import categories
from sts_scenarios.mining import mine


@pytest.fixture(scope="module")
def asked(recorded):
    chosen = [categories.named("fetch-dish")]
    return mine(recorded.values(), chosen, per_category=2, seed=0).scenarios


def continued(scenarios):
    """Yield how `recorded` continues each scenario, and the scenario."""
    for group in group_by_shape(scenarios):
        made = continue_all(group, agents.load("recorded"), seed=0, indices=[0])
        yield from zip(made, group, strict=True)


def test_the_recorded_person_goes_on_as_recorded_and_succeeds(asked):
    for one, s in continued(asked):
        np.testing.assert_array_equal(one.episode.moves, s.recording.moves)
        np.testing.assert_array_equal(one.episode.scene, s.recording.scene)
        rule = categories.named(s.category).label
        assert rule(one.episode, s.takeover, s.roles, s.parameters).verdict == "success"
        assert one.sees == "recording" and np.isnan(one.log_probs).all()


def test_without_their_partner_they_go_on_all_the_same(asked):
    alone = [dataclasses.replace(s, partner="no-op") for s in asked]
    for one, s in continued(alone):
        (role,) = s.roles
        np.testing.assert_array_equal(one.episode.moves[:, role], s.recording.moves[:, role])
        assert (one.episode.moves[s.takeover :, 1 - role] == 4).all()


def test_a_recording_that_ends_early_is_refused_by_scenario(asked):
    short = dataclasses.replace(
        asked[0],
        partner="no-op",
        recording=asked[0].recording.part(asked[0].recording.state, 0, asked[0].takeover),
    )
    with pytest.raises(
        ArgumentError,
        match=f"scenario {short.id}: .* needs a recording of 65 steps, .* found 25",
    ):
        continue_all([short], agents.load("recorded"), seed=0, indices=[0])


def test_where_there_is_no_scenario_there_is_nothing_to_repeat():
    with pytest.raises(
        StsError, match="recorded repeats the recording of a scenario, and this episode has none"
    ):
        record(agents.load("recorded"), domain="overcooked", count=1, steps=2, seed=0, settings={})
