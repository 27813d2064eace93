"""An error in a user's environment prints one line and loses nothing else."""

import json
import os
import subprocess
import sys
import threading
from pathlib import Path
from typing import cast

import numpy as np
import pytest

from sts.cli.main import main
from sts.domains import adapter, load_domain
from sts.domains.actions import ActionSpace
from sts.domains.adapter import EnvironmentDomain, EnvironmentWorlds
from sts.domains.envelope import add_envelope
from sts.errors import ArgumentError, DamagedState, StsError
from sts.jobs.deadlines import guard_call
from tests.domains.worlds import Lanterns

ROOT = Path(__file__).resolve().parents[2]
WORLDS = "tests.domains.worlds"
KEEPER = "tests.domains.keepers:Keeper"


def worlds(name: str, count: int = 2) -> EnvironmentWorlds:
    found = cast(EnvironmentDomain, load_domain(f"{WORLDS}:{name}"))
    return found.restore(found.generate(count, seed=1))


def step(batch: EnvironmentWorlds, move: int = 1) -> None:
    actions = np.full(batch.rewards.shape, move, np.int8)
    batch.step(actions, np.zeros_like(actions))


def test_players_of_each_world_are_those_of_all_worlds_row_by_row():
    batch = worlds("Lanterns", 3)
    step(batch)
    mixed = batch.observe([[1, 0], [0, 1], [1, 1]], team=[[1, 0], [0, 1], [1, 1]], world=False)
    both = batch.observe((0, 1), team=(0, 1), world=False)
    for row, players in enumerate([[1, 0], [0, 1], [1, 1]]):
        for name, values in both.values.items():
            np.testing.assert_array_equal(mixed.values[name][row], values[row][players])
        np.testing.assert_array_equal(mixed.last_move[row], both.last_move[row][players])
        np.testing.assert_array_equal(mixed.last_said[row], both.last_said[row][players])
        np.testing.assert_array_equal(mixed.last_reward[row], both.last_reward[row][players])


def test_error_names_the_domain_and_the_step():
    batch = worlds("Falls")
    for _ in range(5):
        step(batch)
    with pytest.raises(StsError, match=r"Falls' failed to step at step 5: RuntimeError: a lant"):
        step(batch)
    with pytest.raises(StsError, match="failed to step at step 0: SystemExit: 3"):
        step(worlds("Leaves"))
    with pytest.raises(StsError, match=r"failed to render at step 0.*uint8\[height, width, 3\]"):
        worlds("FloatFrames").frames()


@pytest.mark.parametrize("digest", ["8 letter", 8, None])
def test_invalid_digest_error_names_the_domain(monkeypatch, digest):
    batch = worlds("Lanterns")
    monkeypatch.setattr(Lanterns, "digest", lambda self: digest)
    with pytest.raises(StsError, match="Lanterns' failed to compute its digest at step 0: TypeErr"):
        batch.scene  # noqa: B018


def test_invalid_no_op_error_names_the_action_space(monkeypatch):
    monkeypatch.setattr(Lanterns, "action_names", (), raising=False)
    monkeypatch.setattr(
        Lanterns,
        "action_space",
        ActionSpace(np.dtype("f4"), np.zeros(1), np.ones(1)),
        raising=False,
    )
    monkeypatch.setattr(Lanterns, "noop", np.array([5.0], np.float32), raising=False)
    with pytest.raises(ArgumentError, match=r"a no-op among its actions, float32.*found \[5.0\]"):
        EnvironmentDomain(Lanterns, "lanterns")


@pytest.mark.parametrize(
    ("name", "found"),
    [
        ("Halves", r"\["),
        ("RewardsNobody", "None"),
        ("RewardsOne", r"\["),
        ("RewardsTooMuch", "200"),
    ],
)
def test_invalid_rewards_are_refused_and_not_cut(name, found):
    with pytest.raises(StsError, match=rf"expected 2 whole rewards from -128 to 127, .*{found}"):
        step(worlds(name, 30), move=3)


class Peeking(Lanterns):
    """Shows a player its own row of the picture."""

    guide = "**The lanterns** are white while they burn."

    def render_player_view(self, player):
        return self.render()[7 - player : 8 - player] * (0.5 if player else 1)


def test_participant_sees_its_own_sight_when_the_environment_has_one():
    plain, peeking = EnvironmentDomain(Lanterns, "lanterns"), EnvironmentDomain(Peeking, "peeking")
    assert (plain.sees, peeking.sees) == ("world", "observation")
    assert (plain.guide, peeking.guide) == ("", Peeking.guide)
    (plain_batch, batch) = (one.restore(one.generate(2, seed=1)) for one in (plain, peeking))
    assert np.array_equal(plain_batch.frames(1), plain_batch.frames())
    with pytest.raises(StsError, match=r"expected a frame of uint8.*float64"):
        batch.frames(1)
    shapes = [{frame.shape for frame in batch.frames(player)} for player in (None, 0)]
    assert shapes == [{(8, 48, 3)}, {(1, 48, 3)}]


def test_state_that_its_environment_refuses_is_damaged():
    found = cast(EnvironmentDomain, load_domain(f"{WORLDS}:Lanterns"))
    with pytest.raises(DamagedState, match="a state cannot be restored: JSONDecodeError"):
        found.restore([add_envelope(found.name, found.version, b"none")])
    with pytest.raises(DamagedState, match="found one of elsewhere"):
        found.restore([add_envelope("elsewhere", found.version, b"none")])


def test_digest_of_eight_bytes_is_the_scene_and_any_other_is_hashed():
    batch = worlds("Lanterns")
    (one, two) = (world.digest() for world in batch._worlds)
    assert len(one) == 8
    assert batch.scene.astype("<u2").tobytes() == one + two
    assert worlds("AllTheSame").scene.any()


def test_standard_output_is_restored_after_overlapping_threads():
    before = sys.stdout
    first, second = guard_call("one"), guard_call("another")
    first.__enter__()
    entered, leave = threading.Event(), threading.Event()

    def enter_second() -> None:
        with second:
            entered.set()
            leave.wait()

    thread = threading.Thread(target=enter_second)
    thread.start()
    entered.wait()
    first.__exit__(None, None, None)
    assert sys.stdout is sys.stderr
    leave.set()
    thread.join()
    assert sys.stdout is before


def record(name: str, folder: Path, words: str, **env: str) -> subprocess.CompletedProcess[str]:
    """Record in a program of its own, in which the fixtures of this process have no effect."""
    sts, common = Path(sys.executable).parent / "sts", f"--steps 20 --seed 2 --workspace {folder}"
    line = f"record --domain {WORLDS}:{name} {common} {words}"
    given = os.environ | env
    return subprocess.run([sts, *line.split()], cwd=ROOT, env=given, capture_output=True, text=True)


def test_environments_output_never_mixes_with_that_of_sts(tmp_path):
    done = record("Chatters", tmp_path, f"--agent {KEEPER} --episodes 3 --json")
    assert done.returncode == 0, done.stderr
    assert len(json.loads(done.stdout)["trajectories"]) == 3
    assert "python chatter" in done.stderr and "shell chatter" in done.stderr
    done = record("Chatters", tmp_path, f"--agent {KEEPER} --episodes 3")
    assert done.stdout.startswith("3 trajectories of 20 steps") and "chatter" not in done.stdout
    assert "python chatter" in done.stderr and "shell chatter" in done.stderr


def test_copy_of_a_forking_environment_is_ended_with_a_message(tmp_path):
    done = record("Forks", tmp_path, f"--agent {KEEPER} --episodes 3 --json")
    assert done.returncode == 0, done.stderr
    assert len(json.loads(done.stdout)["trajectories"]) == 3
    message = "an environment forked this process; its copy was ended"
    assert set(done.stderr.splitlines()) == {message}


def test_worker_that_hangs_beyond_interruption_is_killed(tmp_path):
    agents = f"--agent {KEEPER} --agent tests.domains.keepers:Restless"
    done = record("Stuck", tmp_path, f"{agents} --episodes 20 --workers 2", STS_PATIENCE="1")
    assert done.returncode == 1
    (line,) = done.stderr.splitlines()
    assert "episode 0: its process made no progress for 1 seconds and was killed" in line


OURS = f"--domain {WORLDS}:Lanterns --agent {KEEPER}"


@pytest.mark.parametrize(
    ("words", "line"),
    [
        (f"{OURS} --env-option length=9", None),
        (f"{OURS} --env-option lenght=9", "has no setting 'lenght'; it has length"),
        (f"{OURS} --size 5x5", "sts: --size is for lambda-star;"),
        (
            "--domain lambda-star --agent random --env-option wind=1",
            "has no setting 'wind'; it has height, width",
        ),
        (f"--domain lambda-star --agent {KEEPER}", None),
        (
            "--domain lambda-star --agent tests.domains.keepers:LanternKeeper",
            "sts: agent 'lantern-keeper' plays only in tests.domains.worlds:Lanterns, not in "
            "lambda-star; choose another agent\n",
        ),
    ],
)
def test_setting_or_agent_of_another_domain_is_refused(tmp_path, capsys, words, line):
    given = f"record {words} --episodes 1 --steps 5 --workspace {tmp_path}"
    assert main(given.split()) == (2 if line else 0)
    error = capsys.readouterr().err
    assert line is None or (line in error and error.count("\n") == 1)


def test_first_of_several_unknown_settings_is_named():
    unknown = {f"wind{number}": 1 for number in range(100, 300)}
    with pytest.raises(ArgumentError, match="has no setting 'wind100'"):
        EnvironmentDomain(Lanterns, "lanterns").generate(1, seed=0, **unknown)


def test_shapes_of_the_latest_worlds_are_cached(monkeypatch):
    looks = []

    class Looked(Lanterns):
        def observe(self, player):
            looks.append(player)
            return super().observe(player)

    def look(state: bytes) -> bool:
        looks.clear()
        assert found.observation_shapes(state) == shapes
        return bool(looks)

    monkeypatch.setattr(adapter, "MAX_CACHED_SHAPES", 2)
    found = EnvironmentDomain(Looked, "looked")
    first, second, third = found.generate(3, seed=0)
    shapes = found.observation_shapes(first)
    assert [look(one) for one in (first, second, third)] == [False, True, True]
    assert [look(one) for one in (third, second, first)] == [False, False, True]
