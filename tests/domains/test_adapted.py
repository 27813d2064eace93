"""Whatever somebody's environment does is one line, and nothing of the rest is lost."""

from __future__ import annotations

import json
import subprocess
import sys
import threading
from pathlib import Path
from typing import cast

import numpy as np
import pytest

from sts.cli.main import main
from sts.domains import adapted, domain
from sts.domains.adapted import Adapted, EnvironmentWorlds
from sts.errors import ArgumentError, DamagedState, StsError
from sts.jobs.deadlines import guarded
from tests.domains.worlds import Lanterns

ROOT = Path(__file__).resolve().parents[2]
WORLDS = "tests.domains.worlds"


def worlds(name: str, count: int = 2) -> EnvironmentWorlds:
    found = cast(Adapted, domain(f"{WORLDS}:{name}"))
    return found.restore(found.generate(count, seed=1))


def step(batch: EnvironmentWorlds) -> None:
    moves = np.ones(batch.rewards.shape, np.int8)
    batch.step(moves, np.zeros_like(moves))


def test_an_error_names_the_domain_and_the_step() -> None:
    batch = worlds("Falls")
    for _ in range(5):
        step(batch)
    with pytest.raises(StsError, match=r"Falls' failed to step at step 5: RuntimeError: a lant"):
        step(batch)


def test_an_environment_that_leaves_does_not_take_us_along() -> None:
    with pytest.raises(StsError, match="failed to step at step 0: SystemExit: 3"):
        step(worlds("Leaves"))


@pytest.mark.parametrize(
    ("name", "found"),
    [
        ("Halves", r"\["),
        ("RewardsNobody", "None"),
        ("RewardsOne", r"\["),
        ("RewardsTooMuch", "200"),
    ],
)
def test_rewards_that_are_none_are_refused_and_not_cut(name: str, found: str) -> None:
    batch = worlds(name, 30)
    light = np.full(batch.rewards.shape, 3, np.int8)
    with pytest.raises(StsError, match=rf"expected 2 whole rewards from -128 to 127, .*{found}"):
        batch.step(light, np.zeros_like(light))


def test_a_frame_that_is_none_is_refused() -> None:
    with pytest.raises(StsError, match=r"failed to render at step 0.*uint8\[height, width, 3\]"):
        worlds("FloatFrames").frames()


class Peeking(Lanterns):
    """Shows a participant its own row of the picture."""

    guide = "**The lanterns** are white while they burn."

    def sight(self, role):
        return self.render()[7 - role : 8 - role] * (0.5 if role else 1)


def test_a_participant_is_shown_its_own_sight_where_one_is_offered() -> None:
    plain, peeking = Adapted(Lanterns), Adapted(Peeking)
    assert (plain.sees, peeking.sees) == ("world", "observation")
    assert (plain.guide, peeking.guide) == ("", Peeking.guide)
    (plain_batch, batch) = (one.restore(one.generate(2, seed=1)) for one in (plain, peeking))
    assert np.array_equal(plain_batch.frames(1), plain_batch.frames())
    with pytest.raises(StsError, match=r"expected a frame of uint8.*float64"):
        batch.frames(1)
    assert [{frame.shape for frame in batch.frames(role)} for role in (None, 0)] == [
        {(8, 48, 3)},
        {(1, 48, 3)},
    ]


def test_a_state_that_its_environment_refuses_is_a_damaged_one() -> None:
    found = cast(Adapted, domain(f"{WORLDS}:Lanterns"))
    from sts.domains.envelope import wrap

    with pytest.raises(DamagedState, match="a state cannot be restored: JSONDecodeError"):
        found.restore([wrap(found.name, found.version, b"none")])


def test_a_digest_of_eight_bytes_is_the_scene_and_another_is_hashed() -> None:
    batch = worlds("Lanterns")
    (one, two) = (world.digest() for world in batch._worlds)
    assert len(one) == 8
    assert batch.scene.astype("<u2").tobytes() == one + two
    assert worlds("AllTheSame").scene.any()


def test_standard_output_comes_back_whatever_threads_do() -> None:
    before = sys.stdout
    first, second = guarded("one"), guarded("another")
    first.__enter__()
    entered, leave = threading.Event(), threading.Event()

    def other() -> None:
        with second:
            entered.set()
            leave.wait()

    thread = threading.Thread(target=other)
    thread.start()
    entered.wait()
    first.__exit__(None, None, None)
    assert sys.stdout is sys.stderr
    leave.set()
    thread.join()
    assert sys.stdout is before


def sts(*words: str, folder: Path, **env: str) -> subprocess.CompletedProcess[str]:
    """Run `sts` as a program of its own, where fixtures of this process mean nothing."""
    import os

    return subprocess.run(
        [str(Path(sys.executable).parent / "sts"), *words, "--workspace", str(folder)],
        cwd=ROOT,
        env=os.environ | env,
        capture_output=True,
        text=True,
    )


def record(
    name: str, folder: Path, *words: str, agent: str = "Keeper", count: int = 20
) -> subprocess.CompletedProcess[str]:
    return sts(
        *("record", "--domain", f"{WORLDS}:{name}", "--agent", f"tests.domains.keepers:{agent}"),
        *("--episodes", str(count), "--steps", "20", "--seed", "2", *words),
        folder=folder,
    )


def test_what_is_printed_is_not_mixed_with_what_sts_prints(tmp_path: Path) -> None:
    done = record("Chatters", tmp_path, "--json", count=3)
    assert done.returncode == 0, done.stderr
    assert len(json.loads(done.stdout)["trajectories"]) == 3
    assert "python chatter" in done.stderr and "shell chatter" in done.stderr
    done = record("Chatters", tmp_path, count=3)
    assert done.stdout.startswith("3 trajectories of 20 steps") and "chatter" not in done.stdout
    assert "python chatter" in done.stderr and "shell chatter" in done.stderr


def test_a_world_that_forks_goes_on_once_and_is_told_of(tmp_path: Path) -> None:
    done = record("Forks", tmp_path, "--json", count=3)
    assert done.returncode == 0, done.stderr
    assert len(json.loads(done.stdout)["trajectories"]) == 3
    assert set(done.stderr.splitlines()) == {
        "an environment forked this process; its copy was ended"
    }


def test_a_worker_that_hangs_where_nothing_interrupts_it_ends_and_says_so(
    tmp_path: Path, monkeypatch
) -> None:
    monkeypatch.setenv("STS_PATIENCE", "1")
    done = record("Stuck", tmp_path, "--agent", "tests.domains.keepers:Restless", "--workers", "2")
    assert done.returncode == 1
    (line,) = done.stderr.splitlines()
    assert "episode 0: its process made no progress for 1 seconds and was killed" in line


def test_settings_reach_the_environment(tmp_path: Path, capsys) -> None:
    common = ["record", "--domain", f"{WORLDS}:Lanterns", "--agent", "tests.domains.keepers:Keeper"]
    common += ["--episodes", "2", "--steps", "5", "--workspace", str(tmp_path)]
    assert main([*common, "--set", "length=9"]) == 0
    assert main([*common, "--set", "lenght=9"]) == 2
    assert "has no setting 'lenght'; it has length" in capsys.readouterr().err
    assert main([*common, "--size", "5x5"]) == 2
    error = capsys.readouterr().err
    assert error.startswith("sts: --size is for lambda-star;") and error.count("\n") == 1


def test_of_several_unknown_settings_the_first_by_name_is_named() -> None:
    unknown = {f"wind{number}": 1 for number in range(100, 300)}
    with pytest.raises(ArgumentError, match="has no setting 'wind100'"):
        Adapted(Lanterns).generate(1, seed=0, **unknown)


def test_of_many_worlds_the_shapes_of_the_last_are_remembered(monkeypatch) -> None:
    looks = []

    class Looked(Lanterns):
        def observe(self, role):
            looks.append(role)
            return super().observe(role)

    def looked(state: bytes) -> bool:
        looks.clear()
        assert found.shapes(state) == shapes
        return bool(looks)

    monkeypatch.setattr(adapted, "MAX_CACHED_SHAPES", 2)
    found = Adapted(Looked)
    first, second, third = found.generate(3, seed=0)
    shapes = found.shapes(first)
    assert [looked(one) for one in (first, second, third)] == [False, True, True]
    assert [looked(one) for one in (third, second, first)] == [False, False, True]


def test_a_setting_that_lambda_star_has_not_is_one_line(tmp_path: Path, capsys) -> None:
    words = ["record", "--domain", "lambda-star", "--agent", "random"]
    words += ["--episodes", "1", "--steps", "5"]
    assert main([*words, "--workspace", str(tmp_path), "--set", "wind=1"]) == 2
    error = capsys.readouterr().err
    assert "has no setting 'wind'; it has height, width" in error and error.count("\n") == 1


def test_an_agent_refuses_the_worlds_of_another_domain(tmp_path: Path, capsys) -> None:
    words = ["record", "--domain", "lambda-star", "--episodes", "1", "--steps", "5", "--agent"]
    common = ["--workspace", str(tmp_path)]
    assert main([*words, "tests.domains.keepers:Keeper", *common]) == 0
    assert main([*words, "tests.domains.keepers:LanternKeeper", *common]) == 2
    assert capsys.readouterr().err == (
        "sts: agent 'lantern-keeper' plays only in tests.domains.worlds:Lanterns, not in "
        "lambda-star; choose another agent\n"
    )
