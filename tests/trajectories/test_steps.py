"""The table of steps: what is so before each step of a trajectory, in any world."""

from __future__ import annotations

import re
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from sts.domains import domain
from sts.episodes import Instruction
from sts.errors import StsError
from sts.trajectories import steps
from sts.trajectories.record import record
from sts.trajectories.types import Trajectory
from tests.domains import keepers, spaces
from tests.domains.worlds import SPENT, Lanterns
from tests.examples import recorded

STANDARD = Path(__file__).resolve().parents[2] / "docs" / "data_standard.md"


@pytest.fixture(scope="module")
def trajectories() -> list[Trajectory]:
    return recorded("random", count=10, team=2, steps=40, height=8, width=9, seed=5)


def row(trajectory: Trajectory, role: int, step: int) -> dict[str, Any]:
    names = steps.column_names(trajectory).names
    at = role * trajectory.episode.steps + step
    return {name: one[at] for name, one in steps.table(trajectory, names).items()}


def test_a_row_says_what_is_so_before_a_step_and_done_in_it(
    trajectories: list[Trajectory],
) -> None:
    t = trajectories[0]
    episode, world = t.episode, domain("lambda-star")
    for role, step in ((0, 0), (1, 17), (0, 39)):
        one = row(t, role, step)
        cells = episode.scene[step].astype(int)
        assert (one["row"], one["column"]) == divmod(cells[2 + role], 9)
        assert one["action"] == world.moves[episode.moves[step, role]]
        assert one["reward"] == episode.rewards[step, role] * 0.5
        assert one["total_reward"] == episode.rewards[:step, role].sum() * 0.5
        assert (one["step"], one["role"], one["recorder"]) == (step, role, "random")
        away = abs(np.array(divmod(cells[0], 9)) - (one["row"], one["column"]))
        assert one["good_distance"] == np.minimum(away, (8, 9) - away).max()
        assert one["good_in_sight"] == (one["good_distance"] <= 1)
        assert not one["terminated"] and one["instruction"] == "" == one["said"]


def test_how_long_ago_something_was_seen_counts_from_its_last_sight(
    trajectories: list[Trajectory],
) -> None:
    for t in trajectories[:10]:
        made = steps.table(t, ("good_in_sight", "good_seen_ago", "role"))
        ago = np.nan
        for seen, stated in zip(
            made["good_in_sight"][:40].tolist(), made["good_seen_ago"][:40].tolist(), strict=True
        ):
            ago = 0 if seen else ago + 1
            assert stated == ago or (np.isnan(ago) and np.isnan(stated))


def test_the_standard_lists_every_column_and_no_other(trajectories: list[Trajectory]) -> None:
    part = STANDARD.read_text().partition("\n## steps/1\n")[2].partition("\n## ")[0]
    listed = [
        name
        for line in re.findall(r"^\| (`.*?) \|", part, re.M)
        for name in re.findall(r"`(\w+)`", line)
    ]
    assert tuple(listed) == steps.column_names(trajectories[0]).names


def test_a_domain_that_fails_at_its_columns_is_one_line(
    trajectories: list[Trajectory], monkeypatch: pytest.MonkeyPatch
) -> None:
    def of(columns: Any) -> None:
        own = SimpleNamespace(name="lambda-star", step_columns=columns, moves=("up",))
        monkeypatch.setattr(steps, "domain", lambda name: own)

    of(lambda episode, role: {"height": np.zeros(episode.steps)})
    assert steps.column_names(trajectories[0]).names[-1] == "height"
    assert steps.column_names(trajectories[0]).versions == {"steps": 1, "lambda-star": 0}
    for columns, said in (
        (lambda episode, role: {}[role], "failed to make columns of steps: KeyError"),
        (lambda episode, role: {"reward": np.zeros(episode.steps)}, "found 'reward' of"),
        (lambda episode, role: {"height": np.zeros(3)}, "found 'height' of"),
    ):
        of(columns)
        with pytest.raises(StsError, match=said):
            steps.column_names(trajectories[0])


class Counted(Lanterns):
    """Says of each step what its reward is worth, twice."""

    step_columns_version = 3

    def step_columns(self, episode: Any, role: int) -> dict[str, Any]:
        return {"worth": episode.rewards[:, role] * 2}


def test_an_environment_may_add_columns() -> None:
    name = "tests.trajectories.test_steps:Counted"
    (one,) = record(keepers.Keeper(), domain=name, count=1, steps=20, seed=2, settings={})
    names, versions = steps.column_names(one)
    assert names[-1] == "worth" and versions == {"steps": 1, name: 3}
    made = steps.table(one, ("worth", "reward"))
    assert (made["worth"] == made["reward"] * 4).all() and made["worth"].any()


def test_what_is_said_and_asked_is_text() -> None:
    (one,) = record(spaces.Talker(), domain=spaces.HALL, count=1, steps=6, seed=0, settings={})
    asked = Instruction("Now rest.", "talk", 3, "setter")
    told = Trajectory(
        one.episode, one.participants, (*one.instructions, asked), one.world, "here", {}
    )
    made = steps.table(told, ("said", "last_said", "instruction", "action"))
    said = one.episode.says.T.ravel().tolist()
    assert made["said"].tolist() == said
    assert made["last_said"].tolist() == ["", *said[:5], "", *said[6:11]]
    first = one.instructions[0].text
    assert made["instruction"].tolist() == ([first] * 3 + ["Now rest."] * 3) * 2
    assert set(made["action"]) <= set(Lanterns.moves)


def test_a_world_that_has_ended_says_so_by_a_replay() -> None:
    name = "tests.domains.worlds:Mortal"
    (one,) = record(keepers.Keeper(), domain=name, count=1, steps=20, seed=2, settings={})
    (made,) = steps.table(one, ("terminated",)).values()
    assert made.reshape(2, 20).tolist() == [[t >= SPENT for t in range(20)]] * 2


def test_moves_without_names_are_unknown() -> None:
    (one,) = record(
        spaces.Swinging(), domain="gymnasium:Pendulum-v1", count=1, steps=5, seed=0, settings={}
    )
    made = steps.table(one, ("action", "last_action", "reward", "total_reward"))
    assert set(made["action"]) | set(made["last_action"]) == {None}
    assert made["total_reward"].tolist() == [0.0, *np.cumsum(made["reward"])[:-1].tolist()]
