"""The scripts that are recorded for the packaged suites do what is said of them."""

from __future__ import annotations

import numpy as np

from sts import agents
from sts.episodes import Episode
from sts.trajectories.record import record
from sts.worlds.lambda_star.agents.readers.grammar import parse
from sts.worlds.lambda_star.state import MOVES
from sts_scenarios.categories.lambda_star.tracks import Track, frames_since_sight, make_track
from tests.reproduction.suites.recorders import ERRANDS, Instructed, PersonLike

STEPS = 50


def episodes(agent: agents.Agent) -> list[Episode]:
    settings = {"height": 10, "width": 10, "participants": 2, "horizon": STEPS}
    made = record(agent, domain="lambda-star", count=60, steps=STEPS, seed=9, settings=settings)
    return [one.episode for one in made]


def tracks(agent: agents.Agent) -> list[Track]:
    return [make_track(one, role) for one in episodes(agent) for role in range(2)]


def lost(every: list[Track]) -> float:
    """Return at what share of steps Good is far and was in sight two to five steps ago."""
    hits = [
        ((since := frames_since_sight(one.to_good)[10:]) >= 2)
        & (since <= 5)
        & (one.to_good[10:] > 2)
        for one in every
    ]
    return float(np.mean(hits))


def test_the_person_like_script_loses_good_often_and_who_seeks_reward_seldom() -> None:
    person = lost(tracks(PersonLike()))
    assert 0.04 < person < 0.1
    assert lost(tracks(agents.load("local-search"))) < 0.02


def test_it_hesitates_keeps_its_direction_and_leaves_good() -> None:
    moves = np.stack([one.moves for one in episodes(PersonLike())])
    assert 0.15 < (moves == MOVES.index("stay")).mean() < 0.5
    assert (moves[:, 1:] == moves[:, :-1]).mean() > 2 / 9
    every = tracks(PersonLike())
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
