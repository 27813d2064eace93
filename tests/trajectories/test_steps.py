"""The table of steps: what is so before each step of a trajectory, in any world."""

import dataclasses
import re
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from sts.domains import load_domain
from sts.episodes import Instruction
from sts.errors import StsError
from sts.trajectories import steps
from tests.domains import keepers, spaces
from tests.domains.worlds import SPENT, Lanterns
from tests.examples import recorded
from tests.recording import record

STANDARD = Path(__file__).resolve().parents[2] / "docs" / "data_standard.md"


@pytest.fixture(scope="module")
def trajectories():
    return recorded("random", count=10, team=2, steps=40, height=8, width=9, seed=5)


def test_step_row_holds_the_state_before_the_step_and_its_action(trajectories):
    t = trajectories[0]
    episode, world = t.episode, load_domain("lambda-star")
    names, _ = steps.list_columns(t)
    table = steps.make_step_table(t, names)
    for player, step in ((0, 0), (1, 17), (0, 39)):
        one = {name: column[player * 40 + step] for name, column in table.items()}
        cells = episode.scene[step].astype(int)
        assert (one["row"], one["column"]) == divmod(cells[2 + player], 9)
        assert one["action"] == world.action_names[episode.actions[step, player]]
        assert one["reward"] == episode.rewards[step, player] * 0.5
        assert one["total_reward"] == episode.rewards[:step, player].sum() * 0.5
        assert (one["step"], one["player"], one["recorder"]) == (step, player, "random")
        away = abs(np.array(divmod(cells[0], 9)) - (one["row"], one["column"]))
        assert one["good_distance"] == np.minimum(away, (8, 9) - away).max()
        assert one["good_in_sight"] == (one["good_distance"] <= 1)
        assert not one["terminated"] and one["instruction"] == "" == one["said"]
    ago = np.nan
    for seen, found in zip(table["good_in_sight"][:40], table["good_seen_ago"][:40], strict=True):
        ago = 0 if seen else ago + 1
        assert found == ago or (np.isnan(ago) and np.isnan(found))
    assert table["good_in_sight"][:40].any() and not table["good_in_sight"][:40].all()


def test_data_standard_lists_every_step_column(trajectories):
    part = STANDARD.read_text().partition("\n## steps/2\n")[2].partition("\n## ")[0]
    listed = re.findall(r"`(\w+)`", " ".join(re.findall(r"^\| (`.*?) \|", part, re.M)))
    names, _ = steps.list_columns(trajectories[0])
    assert tuple(listed) == names


def test_failing_step_columns_of_a_domain_raise_one_line_error(trajectories, monkeypatch):
    def set_columns(columns):
        own = SimpleNamespace(name="lambda-star", step_columns=columns, actions=("up",))
        monkeypatch.setattr(steps, "load_domain", lambda name: own)

    set_columns(lambda episode, player: {"height": np.zeros(episode.steps)})
    names, versions = steps.list_columns(trajectories[0])
    assert names[-1] == "height" and versions == {"steps": 2, "lambda-star": 0}
    for columns, said in (
        (lambda episode, player: {}[player], "failed to make columns of steps: KeyError"),
        (lambda episode, player: {"reward": np.zeros(episode.steps)}, "found 'reward' of"),
        (lambda episode, player: {"height": np.zeros(3)}, "found 'height' of"),
    ):
        set_columns(columns)
        with pytest.raises(StsError, match=said):
            steps.list_columns(trajectories[0])


class Counted(Lanterns):
    """Says of each step what its reward is worth, twice."""

    step_columns_version = 3

    def step_columns(self, episode: Any, player: int) -> dict[str, Any]:
        return {"worth": episode.rewards[:, player] * 2}


def test_environment_may_add_step_columns():
    name = "tests.trajectories.test_steps:Counted"
    (one,) = record(keepers.Keeper(), domain=name, count=1, steps=20, seed=2, settings={})
    names, versions = steps.list_columns(one)
    assert names[-1] == "worth" and versions == {"steps": 2, name: 3}
    made = steps.make_step_table(one, ("worth", "reward"))
    assert (made["worth"] == made["reward"] * 4).all() and made["worth"].any()


def test_utterances_and_instructions_are_text_columns():
    (one,) = record(spaces.Talker(), domain=spaces.HALL, count=1, steps=6, seed=0, settings={})
    asked = Instruction("Now rest.", "talk", 3, "setter")
    told = dataclasses.replace(one, instructions=(*one.instructions, asked))
    made = steps.make_step_table(told, ("said", "last_said", "instruction", "action"))
    said = one.episode.utterances.T.ravel().tolist()
    assert made["said"].tolist() == said
    assert made["last_said"].tolist() == ["", *said[:5], "", *said[6:11]]
    first = one.instructions[0].text
    assert made["instruction"].tolist() == ([first] * 3 + ["Now rest."] * 3) * 2
    assert set(made["action"]) <= set(Lanterns.action_names)


def test_terminated_column_comes_from_a_replay():
    name = "tests.domains.worlds:Mortal"
    (one,) = record(keepers.Keeper(), domain=name, count=1, steps=20, seed=2, settings={})
    (made,) = steps.make_step_table(one, ("terminated",)).values()
    assert made.reshape(2, 20).tolist() == [[t >= SPENT for t in range(20)]] * 2


def test_actions_without_names_are_missing_values():
    (one,) = record(
        spaces.Swinging(), domain="gymnasium:Pendulum-v1", count=1, steps=5, seed=0, settings={}
    )
    made = steps.make_step_table(one, ("action", "last_action", "reward", "total_reward"))
    assert set(made["action"]) | set(made["last_action"]) == {None}
    assert made["total_reward"].tolist() == [0.0, *np.cumsum(made["reward"])[:-1].tolist()]
