"""Agents that declare `sees_frame` get the picture of each player with their observation."""

from typing import ClassVar

import numpy as np
import pytest

from sts.agents import PolicyOutput, load
from sts.domains import load_domain
from sts.engine.session import Team, open_session
from sts.errors import StsError
from tests.trajectories.bell import NAME, Bell, Walker

HERE = "tests.engine.test_sees_frame"


class Pictured(Bell):
    """A bell whose players have pictures of their own, which show where they are."""

    name = "pictured"

    def render_player_view(self, player):
        return np.full((2, 4, 3), 10 * player + self.at[player], np.uint8)


class Painter(Walker):
    name, sees_frame = "painter", True
    seen: ClassVar[list] = []

    def act(self, observation, told, memory, draws):
        Painter.seen.append(observation.frame)
        return PolicyOutput(np.ones(observation.last_move.shape, np.int64)), memory


class Knowing(Painter):
    name, sees = "knowing", "world"


def play(agent: str, domain: str, players: tuple[int, ...] = (0, 1)) -> None:
    world = load_domain(domain)
    worlds = world.restore(world.generate(3, seed=1))
    team = Team(load(f"{HERE}:{agent}"), players, np.arange(3, dtype=np.uint64))
    open_session(world, worlds, [team]).choose()


def test_frame_of_each_player_comes_with_the_observation():
    Painter.seen.clear()
    play("Painter", f"{HERE}:Pictured")
    (frame,) = Painter.seen
    assert (frame.shape, frame.dtype) == ((3, 2, 2, 4, 3), np.uint8)
    assert set(frame[:, 0].ravel()) <= {0, 1, 2} and set(frame[:, 1].ravel()) <= {10, 11}


def test_observation_of_other_agents_has_no_frame():
    world = load_domain(NAME)
    worlds = world.restore(world.generate(1, seed=1))
    assert worlds.observe((0,), team=(0,), world=True).frame is None


def test_frame_that_may_show_more_is_for_agents_outside_the_ranking():
    with pytest.raises(StsError, match=r"give the environment a render_player_view.*or declare"):
        play("Painter", NAME)
    Painter.seen.clear()
    play("Knowing", NAME)
    assert Painter.seen[0].shape == (3, 2, 8, 8, 3)


def test_agent_that_sees_frames_is_refused_where_there_are_none():
    with pytest.raises(StsError, match="'painter' sees frames, which lambda-star has not"):
        play("Painter", "lambda-star", (0,))
