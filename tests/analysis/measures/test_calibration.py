"""Calibrated classes and the check of classes: random agents get 0, and what fails is named."""

from __future__ import annotations

import functools
import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from sts import agents
from sts.agents import fingerprint
from sts.cli.main import main
from sts.domains.random import Random
from sts.engine.lockstep import play_episodes
from sts.engine.session import Team
from sts.errors import ArgumentError
from sts.numerics.streams import streams
from sts_analysis.measures import anytime, calibration
from sts_analysis.measures import class_checks as check
from sts_analysis.measures.anytime import Settings
from sts_analysis.measures.calibration import PATIENCE, CalibratedClass
from sts_analysis.measures.classes import Chosen, load_class


@pytest.fixture(
    scope="module",
    params=[6, pytest.param(calibration.SEEDS, marks=pytest.mark.slow)],
    autouse=True,
)
def seeds(request: pytest.FixtureRequest) -> Iterator[int]:
    """How many environments there are of each level; each takes half a second to calibrate."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(calibration, "SEEDS", request.param)
        for cached in (load_class, corridors_cached):
            cached.cache_clear()
        yield request.param
    load_class.cache_clear()


class Corridor:
    """A corridor with a reward at its right end, and another player's luck in every step."""

    name, version = "corridor", "1"
    action_names, noop, players, reward_unit = ("wait", "left", "right"), 0, ("walker",), 0.5

    def reset(self, seed: int, length: int = 2) -> None:
        self.at, self.length, self.seed = 0, length, seed

    @property
    def ended(self) -> bool:
        return self.at == self.length

    def step(self, actions: Any) -> list[int]:
        self.at = max(self.at + (0, -1, 1)[actions[0]], 0)
        return [int(self.ended)]

    def state(self) -> bytes:
        return json.dumps([self.at, self.length, self.seed]).encode()

    def restore(self, state: bytes) -> None:
        self.at, self.length, self.seed = json.loads(state)

    def digest(self) -> bytes:
        return bytes([self.at, self.length])

    def observe(self, player: int) -> dict[str, Any]:
        return {"at": np.array(self.at)}

    def render(self) -> Any:
        return np.zeros((8, 8, 3), np.uint8)


def begin(environment: Corridor, level: int, seed: int) -> list[int]:
    environment.reset(seed, level + 2)
    return [2] * (level + 2)


def corridors(**changed: Any) -> CalibratedClass:
    given: dict[str, Any] = {"levels": 3, "highest": 4.0, "begin": begin}
    return CalibratedClass("corridor", "corridor", Corridor, **(given | changed))


@functools.cache
def corridors_cached() -> CalibratedClass:
    return corridors()


def play(name: str, classes: str, runs: int, environments: int) -> Any:
    settings = Settings(classes, environments, 1, 0)
    mark = fingerprint(agents.load(name))
    return anytime.play_runs(name, mark, settings, 0, runs).scores[:, -1]


def play_at_random(classes: CalibratedClass, chosen: list[Chosen], steps: int) -> Any:
    worlds = classes.domain.restore([one.state for one in chosen])
    team = Team(Random(), (0,), streams(("other",), [(i,) for i in range(len(chosen))]))
    return play_episodes(classes.domain, worlds, [team], steps=steps)


def choose(classes: Any, count: int, top: float, seed: int = 0) -> list[Chosen]:
    used: set[bytes] = set()
    out = []
    for i in range(count):
        one = classes.choose(top - 1, top, n_players=1, key=(seed, i), used=used)
        assert one is not None and one.state not in used
        used.add(one.state)
        out.append(one)
    return out


def test_random_agents_get_0_after_any_number_of_steps() -> None:
    """Also after one; in a corridor of two cells they get half a reward in each eight steps."""
    classes = corridors()
    chosen = [own for seed in range(40) for own in choose(classes, 5, 1.5, seed)]
    rewards = play_at_random(classes, chosen, 30).rewards[:, :, 0] * 0.5
    offsets = np.array([one.offset for one in chosen])
    assert offsets.mean() == pytest.approx(1 / 16, rel=0.2)
    for steps in (1, 3, 30):
        mean = rewards[:, :steps].mean(1) - offsets
        assert abs(mean.mean()) < 4 * mean.std(ddof=1) / len(mean) ** 0.5


@pytest.mark.parametrize(
    ("name", "runs"),
    [("frozen-lake", 40), pytest.param("babyai", 12, marks=pytest.mark.slow)],
)
def test_random_agent_scores_0_in_calibrated_classes(name: str, runs: int, seeds: int) -> None:
    score = play("random", name, runs, 6 if seeds > 6 else 4)
    assert abs(score.mean()) < 4 * score.std(ddof=1) / runs**0.5


@pytest.mark.landing
def test_agent_hears_the_mission_of_its_environment(seeds: int) -> None:
    """Without it the seeker does nothing but wander."""
    found = play("babyai-seeker", "babyai", 12, 6 if seeds > 6 else 4)
    assert found.mean() - 5 * found.std(ddof=1) / 12**0.5 > 0


@pytest.mark.parametrize("make", [corridors, lambda: load_class.__wrapped__("frozen-lake")])
def test_calibration_depends_on_the_environment_alone(make: Any) -> None:
    first, second = make(), make()
    assert choose(first, 3, 2.0) == choose(second, 5, 2.0)[:3]
    assert choose(second, 2, 3.0) == choose(first, 2, 3.0)


def test_environment_starts_again_after_its_end_and_after_many_steps() -> None:
    classes = corridors()
    (chosen,) = choose(classes, 1, 1.0)
    world: Any = classes.domain.restore_environment(chosen.state)
    world.live.at, world.steps = 0, 0
    for expected in (0, 1, 0, 1):
        assert list(world.step((2,))) == [expected]
    assert (world.live.at, world.steps) == (0, 0)
    world.step((2,))
    for _ in range(2 * PATIENCE - 1):
        assert world.live.at == 1
        world.step((0,))
    assert (world.live.at, world.steps) == (0, 0)


@pytest.mark.parametrize("name", ["frozen-lake", pytest.param("babyai", marks=pytest.mark.slow)])
def test_found_actions_get_a_reward_from_wherever_an_environment_was_left(
    name: str, seeds: int
) -> None:
    classes: Any = load_class(name)
    for one in choose(classes, 8 if seeds > 6 else 3, 6.0):
        world = classes.domain.restore_environment(one.state)
        assert [world.step((move,))[0] for move in classes.find_actions(one.state)][-1] == 1


@pytest.mark.parametrize("name", ["frozen-lake", "babyai"])
def test_restored_state_continues_as_the_environment_would(name: str) -> None:
    classes: Any = load_class(name)
    chosen = choose(classes, 3, 2.0)
    whole = play_at_random(classes, chosen, 60)
    worlds = classes.domain.restore([one.state for one in chosen])
    team = Team(Random(), (0,), streams(("other",), [(i,) for i in range(3)]))
    play_episodes(classes.domain, worlds, [team], steps=25)
    worlds = classes.domain.restore(worlds.states())
    rest = play_episodes(classes.domain, worlds, [team._replace(since=25)], steps=35)
    np.testing.assert_array_equal(whole.rewards[:, 25:], rest.rewards)
    np.testing.assert_array_equal(whole.scene[:, 25:], rest.scene)


def test_environments_without_influence_are_left_out(seeds: int) -> None:
    """Here those of even seeds, whose claimed solution gets nothing."""
    classes = corridors(
        begin=lambda live, level, seed: begin(live, level, seed)[: -1 if seed % 2 == 0 else None]
    )
    found = choose(classes, seeds // 2, 1.0)
    states = [classes.domain.restore_environment(one.state) for one in found]
    assert {world.seed % 2 for world in states} == {1}
    assert classes.choose(0, 1, n_players=1, key=(0,), used={w.state() for w in states}) is not None


def test_calibrated_class_runs_out_of_environments_with_one_line(seeds: int) -> None:
    message = f"class corridor has no further environment after {seeds}"
    with pytest.raises(ArgumentError, match=message):
        used: set[bytes] = set()
        for i in range(seeds + 1):
            level, one = anytime.choose_next(
                corridors_cached(), 9.0, n_players=1, key=(i,), used=used
            )
            used.add(one.state)


class Changed:
    """A class whose choices are changed by a function."""

    highest: float | None = 4.0

    def __init__(self, change: Any) -> None:
        self.whole, self.change, self.calls = corridors_cached(), change, 0
        self.name, self.domain = "corridor", self.whole.domain
        self.find_actions = self.whole.find_actions

    def choose(self, low: float, high: float, **given: Any) -> Chosen | None:
        self.calls += 1
        one = self.whole.choose(low, high, **given)
        return None if one is None else self.change(self, one, given)


FIRST: dict[float, Chosen] = {}
FAILURES = {
    "not balanced, random agents get 0.": lambda own, one, _: one._replace(offset=0.0),
    "rewards from -1.": lambda own, one, _: one._replace(offset=1.2),
    "one of another complexity is chosen": lambda own, one, _: one._replace(complexity=9.0),
    "the same arguments choose different": lambda own, one, _: one._replace(
        complexity=one.complexity - own.calls * 1e-9
    ),
    "a used environment is chosen": lambda own, one, _: FIRST.setdefault(one.complexity, one),
    "no environment follows 3, but good agents": lambda own, one, given: (
        one if given["key"][1] < 3 or one.complexity < 3 else None
    ),
}


@pytest.mark.parametrize("message", FAILURES)
def test_check_names_what_fails(
    message: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: Any
) -> None:
    FIRST.clear()
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(check, "load_class", lambda name: Changed(FAILURES[message]))
    assert main("measure check --class corridor --environments 6".split()) == 1
    out = capsys.readouterr().out
    assert any(line.startswith("class corridor, complexity") for line in out.splitlines())
    assert message in out and "all checks hold" not in out
    assert not Path("sts-workspace/scores").exists()


def test_check_names_environments_whose_actions_do_not_matter(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: Any
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(check, "load_class", lambda name: Changed(lambda own, one, _: one))
    monkeypatch.setattr(Corridor, "step", lambda self, actions: [0])
    assert main("measure check --class corridor --environments 4".split()) == 1
    assert "actions do not matter in 4 of 4" in capsys.readouterr().out


@pytest.mark.parametrize(
    "name",
    [
        *("automata", "cups", "lambda-star"),
        *(pytest.param(one, marks=pytest.mark.slow) for one in ("frozen-lake", "playground")),
    ],
)
def test_packaged_class_passes_its_check(
    name: str, seeds: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: Any
) -> None:
    monkeypatch.chdir(tmp_path)
    count = 6 if seeds > 6 else 3
    assert main(f"measure check --class {name} --environments {count} --json".split()) == 0
    found = json.loads(capsys.readouterr().out)
    assert found["notes"] == ["all checks hold"] and found["path"] is None


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ("check --class frozen-lake --environments 1", "expected 2 environments or more"),
        ("check --class nope", "unknown class"),
        ("check --class frozen-lake --team 2", "takes no --team"),
        ("anytime --class frozen-lake", "needs agents: give --agent"),
        ("anytime --class frozen-lake --agent random --team 2", "is for 1 player, found 2"),
        ("anytime --class frozen-lake --agent babyai-bot", "plays only in babyai"),
        ("anytime --class babyai --agent local-search", "plays only in lambda-star"),
    ],
)
def test_bad_setting_gets_one_line(words: str, message: str, refuse: Callable[[str], str]) -> None:
    assert message in refuse(words)
