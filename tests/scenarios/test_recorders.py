"""The scripts that are recorded for the packaged suites do what is said of them."""

from __future__ import annotations

import numpy as np

from scenarios.categories.lambda_star.tracks import Track, ago
from sts import agents
from sts.trajectories.record import record
from sts.worlds.lambda_star.agents.readers.grammar import parse
from sts.worlds.lambda_star.state import MOVES
from tests.reproduction.suites.recorders import ERRANDS, Instructed, PersonLike

STEPS = 50


def tracks(agent: agents.Agent) -> list[Track]:
    settings = {"height": 10, "width": 10, "participants": 2, "horizon": STEPS}
    made = record(agent, domain="lambda-star", count=60, steps=STEPS, seed=9, settings=settings)
    return [Track(one.episode, role) for one in made for role in range(2)]


def lost(every: list[Track]) -> float:
    """Returns at what share of steps Good is far and was in sight two to five steps ago."""
    hits = [
        (since := ago(one.to_good, step, 10)) is not None
        and 2 <= since <= 5
        and one.to_good[step] > 2
        for one in every
        for step in range(10, STEPS + 1)
    ]
    return float(np.mean(hits))


def test_the_person_like_script_loses_good_often_and_who_seeks_reward_seldom() -> None:
    person = lost(tracks(PersonLike()))
    assert 0.04 < person < 0.1
    assert lost(tracks(agents.load("local-search"))) < 0.02


def test_it_hesitates_keeps_its_direction_and_leaves_good() -> None:
    every = tracks(PersonLike())
    still = np.concatenate([one.moves == MOVES.index("stay") for one in every])
    assert 0.15 < still.mean() < 0.5
    same = np.concatenate([one.moves[1:] == one.moves[:-1] for one in every])
    assert same.mean() > 2 / 9
    near = np.concatenate([one.to_good <= 1 for one in every])
    assert 0.1 < near.mean() < 0.5
    ends = [(one.to_good[:-3] == 0) & (one.to_good[3:] > 1) for one in every]
    assert np.concatenate(ends).any()


def test_what_it_sees_it_acts_on_a_step_later() -> None:
    quick, slow = [], []
    for one in tracks(PersonLike()):
        shifts = np.diff(one.to_good)
        came = np.flatnonzero((one.to_good[1:-2] == 1) & (one.to_good[:-3] > 1)) + 1
        quick += [shifts[step] < 0 for step in came]
        slow += [shifts[step + 1] < 0 for step in came]
    assert np.mean(slow) > np.mean(quick)


def test_every_errand_is_understood_and_the_instructed_go_on_several() -> None:
    acts = {parse(text).act for text in ERRANDS}
    assert "unknown" not in acts and {"keep", "walk", "ambush"} <= acts
    near = np.concatenate([one.to_good <= 1 for one in tracks(Instructed())])
    assert near.mean() < 0.5


def test_they_are_called_scripts_and_what_they_are() -> None:
    assert PersonLike.name == "person-like-script" and Instructed.name == "instructed-reader"
    assert not {"person-like-script", "instructed-reader"} & {*agents.installed()}
