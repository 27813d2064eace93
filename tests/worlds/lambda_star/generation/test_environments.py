"""Environments as arrays: the same worlds, ready to be played many times."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from sts.errors import ArgumentError, DamagedState
from sts_lambda_star.domain import Batch
from sts_lambda_star.generation.environments import (
    environments_from_states,
    generate_environments,
    measure_uncertainty,
)
from sts_lambda_star.generation.patterns import Settings
from sts_lambda_star.state import encode
from tests.worlds.lambda_star.examples import batch_of, complexity_of
from tests.worlds.lambda_star.examples import generate_world as one

SETTINGS = (
    Settings(),
    Settings(3, 3, 9, 4),
    Settings(4, 12, 2, 30, (3, 6), radius=1),
    Settings(7, 7, 3, 21, None, "lambdastar-2016", 2),
)


@pytest.mark.parametrize("settings", SETTINGS)
def test_environments_are_the_worlds_of_their_indices(settings):
    found = generate_environments(settings, seed=5, start=3, stop=15)
    worlds = [one(settings, seed=5, index=i) for i in range(3, 15)]
    assert Batch(found.copy_arrays(), settings.radius).states() == [encode(s) for s in worlds]
    assert found.complexity.tolist() == [complexity_of(s)[0] for s in worlds]
    assert found.index.tolist() == list(range(3, 15)) and found.settings == settings


@pytest.mark.parametrize("settings", SETTINGS)
def test_states_and_arrays_make_the_same_batch_and_a_copy_is_played(settings):
    worlds = [one(settings, seed=1, index=i) for i in range(6)]
    of_worlds, made = batch_of(worlds), generate_environments(settings, seed=1, start=0, stop=6)
    of_arrays = Batch(made.copy_arrays(), settings.radius)
    before = of_arrays.states()
    rng = np.random.default_rng(0)
    for _ in range(settings.horizon):
        actions = rng.integers(0, 9, (6, settings.n_players)).astype(np.int8)
        utterances = rng.integers(0, 22, actions.shape).astype(np.int8)
        of_worlds.step(actions, utterances)
        of_arrays.step(actions, utterances)
    assert of_worlds.states() == of_arrays.states() != before
    assert Batch(made.copy_arrays(), settings.radius).states() == before


@pytest.mark.parametrize("settings", SETTINGS)
def test_serialised_states_are_read_as_environments(settings):
    made = generate_environments(settings, seed=2, start=0, stop=5)
    states = Batch(made.copy_arrays(), settings.radius).states()
    found = environments_from_states(states)
    assert Batch(found.copy_arrays(), found.settings.radius).states() == states
    assert found.complexity.tolist() == made.complexity.tolist()
    k = found.complexity
    assert found.settings == settings._replace(complexity=(int(k.min()), int(k.max())))


def test_invalid_states_of_environments_are_refused():
    short, wide = (encode(one(s, seed=0, index=0)) for s in (Settings(), Settings(width=11)))
    begun = Batch(generate_environments(Settings(), seed=0, start=0, stop=1).copy_arrays(), 1)
    begun.step(np.zeros((1, 1), np.int8), np.zeros((1, 1), np.int8))
    endless = encode(replace(one(Settings(), seed=0, index=0), horizon=0))
    for states, said in (
        ([], "found 0 kinds"),
        ([short, wide], "found 2 kinds"),
        ([endless], "a horizon of 1 step or more"),
        (begun.states(), "expected states at step 0, found one at step 1"),
    ):
        with pytest.raises(ArgumentError, match=said) as caught:
            environments_from_states(states)
        assert "\n" not in str(caught.value)
    with pytest.raises(DamagedState):
        environments_from_states([short[:-1]])


@pytest.mark.parametrize(
    ("height", "width", "states"), [(3, 3, 72), (5, 5, 600), (10, 10, 9900), (4, 12, 2256)]
)
def test_uncertainty_is_the_entropy_of_two_objects_placed_anywhere(height, width, states):
    assert 2 ** measure_uncertainty(height, width) == pytest.approx(states)
