"""Skill acquisition: its proxies, what they must give, and learners of any kind."""

from __future__ import annotations

import itertools
import json
import re
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, cast

import numpy as np
import pytest

from sts import agents
from sts.agents import fingerprint
from sts.cli.main import main
from sts.engine.session import Actions
from sts.errors import ArgumentError, StsError
from sts.storage.scores import read_score_rows
from sts.storage.workspace import Workspace
from sts.trajectories.trajectory import get_split
from sts_analysis.measures import skill, skill_scores
from sts_analysis.measures.classes import LearningClass
from sts_analysis.measures.skill import Curriculum, Curve, assess, find_sufficient
from sts_analysis.measures.spans import Span
from sts_lambda_star import rollout
from sts_lambda_star.domain import LambdaStar
from sts_lambda_star.intelligence.environment_class import LambdaStarClass

CLASS = LambdaStarClass()
PAGE = Path(__file__).resolve().parents[3] / "docs" / "measures.md"
GIVEN: dict[str, Any] = {"suite": None, "seed": 0, "class_": "lambda-star"}


def held_out(count: int) -> list[bytes]:
    return list(itertools.islice(CLASS.draw_environments("test", (0,)), count))


def training(count: int, run: int = 0) -> list[bytes]:
    return list(itertools.islice(CLASS.draw_environments("train", (0, run)), count))


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A working folder with the learners of the page and of this test."""
    blocks = re.findall(r"^```python title=(\S+)\n(.*?)^```$", PAGE.read_text(), re.M | re.S)
    files = dict([*blocks, ("test_learners.py", LEARNERS)])
    for name, text in files.items():
        (tmp_path / name).write_text(text)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", list(sys.path))
    yield tmp_path
    for name in files:
        sys.modules.pop(Path(name).stem, None)


LEARNERS = """
import gymnasium
import numpy as np

import sts_lambda_star.gym
from sts.agents import Agent, PolicyOutput
from sts.engine.session import Actions
from sts_lambda_star.features import feature_slices, flatten_observation


class Passive(Agent):
    name, trained_on = "passive", "nothing at all"

    def act(self, observation, instructions, memory, draws):
        return PolicyOutput(np.ones((*draws.shape[:2], 9))), memory

    def train(self, curriculum, interactions):
        game = curriculum.start(interactions // curriculum.steps)
        for _ in range(curriculum.steps):
            game.step()


class Gymnast(Passive):
    "Averages the reward of each move by Good's place, in Gymnasium's vector of environments."

    name = "gymnast"

    def __init__(self):
        self._sums, self._counts = np.zeros((10, 9)), np.ones((10, 9))

    def number(self, seen):
        good = seen[..., feature_slices()["good"]]
        return np.where(good.any(-1), good.argmax(-1), 9)

    def act(self, observation, instructions, memory, draws):
        values = (self._sums / self._counts)[self.number(flatten_observation(observation, 50))]
        return PolicyOutput((values == values.max(-1, keepdims=True)).astype(float)), memory

    def train(self, curriculum, interactions):
        count = max(1, interactions // curriculum.steps)
        envs = gymnasium.make_vec(
            "LambdaStar-v0", num_envs=count, curriculum=curriculum, autoreset_mode="Disabled"
        )
        seen, _ = envs.reset()
        draws = np.random.default_rng(curriculum.seed)
        over = np.zeros(count, bool)
        while not over.any():
            here, moves = self.number(seen), draws.integers(9, size=count)
            seen, rewards, _, over, _ = envs.step(moves)
            np.add.at(self._sums, (here, moves), rewards)
            np.add.at(self._counts, (here, moves), 1)


class Restless(Passive):
    name = "restless"

    def __init__(self):
        self._plays = 0

    def act(self, observation, instructions, memory, draws):
        self._plays += 1
        moves = np.full(draws.shape[:2], self._plays % 9, np.int8)
        return PolicyOutput(moves), memory


class Gifted(Passive):
    name = "gifted"
    _knows = False

    def act(self, observation, instructions, memory, draws):
        best = observation.reward == observation.reward.max(-1, keepdims=True)
        return PolicyOutput(best.astype(float) if self._knows else np.ones(best.shape)), memory

    def train(self, curriculum, interactions):
        self._knows = True


class Broken(Passive):
    name = "broken"

    def train(self, curriculum, interactions):
        raise ValueError("out of memory")
"""


def train(name: str, run: int, episodes: int) -> Curve:
    span = Span(name, fingerprint(agents.load(name)), run, run + 1)
    trained = skill.train("lambda-star", episodes, 0, span)
    return Curve(**{name: own for name, (own,) in trained.items()})


def course(skills: list[float], experience: list[float]) -> Curve:
    return Curve(skills, experience, [int(2048 * e) for e in experience], "")


def test_no_environment_of_the_test_is_in_training() -> None:
    splits = {
        split: {get_split(LambdaStar().world_id(state)) for state in states}
        for split, states in (("train", training(300)), ("test", held_out(300)))
    }
    assert splits == {"train": {"train"}, "test": {"test"}}


def test_curricula_have_other_environments_but_one_test() -> None:
    assert not set(training(100)) & set(training(100, run=1))
    assert training(100)[:40] == training(40)


def test_difficulty_is_that_of_the_specification() -> None:
    """About .08 for the same environment, .84 for a fresh one, .49 after a hundred."""
    tests, fresh = held_out(64), training(64)
    same = np.mean([CLASS.difficulty([test], [test]) for test in tests])
    other = np.mean(
        [CLASS.difficulty([one], [test]) for one, test in zip(fresh, tests, strict=True)]
    )
    assert same == pytest.approx(0.08, abs=0.02) and same < 0.15
    assert other == pytest.approx(0.84, abs=0.04) and other > 0.7
    assert CLASS.difficulty(training(100), tests) == pytest.approx(0.49, abs=0.06)


def test_rehearsal_of_the_very_episode_is_no_skill_elsewhere() -> None:
    """The published Q-learner: .385 after a hundred rehearsals, nothing without them."""
    low, high = skill._baselines("lambda-star", 0)
    played = rollout("q-learning", held_out(skill.TESTS), rehearsals=100).rewards.mean()
    assert (played - low) / (high - low) == pytest.approx(0.385, abs=0.05)
    assert train("q-learning", 0, 4).skill == pytest.approx([0] * 4, abs=0.03)


@pytest.mark.parametrize("name", ["oracle", "local-search"])
def test_agent_whose_rule_was_written_in_has_no_efficiency(name: str) -> None:
    parts = assess(name, [train(name, run, 4) for run in range(2)], 0.15, lambda *_: 0.5)
    assert (parts.priors, parts.share, parts.aware_difficulty, sum(parts.terms)) == (1, 1, 0, 0)


def test_local_search_has_the_skill_of_the_specification() -> None:
    assert train("local-search", 0, 1).skill[0] == pytest.approx(0.46, abs=0.03)


def test_twice_as_fast_is_twice_as_efficient_without_priors() -> None:
    slow, fast = (course([0, 0.1, 0.2, 0.2], [0, 0.1, e, 1]) for e in (0.5, 0.25))
    one, two = (sum(assess("a", [c], 0.15, lambda *_: 0.5).terms) for c in (slow, fast))
    assert one == pytest.approx(0.15 * 0.5 / 0.5) and two == pytest.approx(2 * one)


def test_priors_are_charged_twice() -> None:
    """They count next to experience, and make generalisation easier."""
    parts = assess("a", [course([0.06, 0.2, 0.2], [0, 0.1, 0.2])], 0.15, lambda *_: 0.5)
    assert parts.priors == pytest.approx(0.4)
    assert parts.aware_difficulty == pytest.approx(0.3)
    assert parts.terms == pytest.approx([0.15 * 0.3 / 0.5])


def test_curriculum_that_does_not_reach_theta_counts_as_0() -> None:
    good, bad = course([0, 0.2, 0.2], [0, 0.1, 0.2]), course([0, 0.2, 0.1], [0, 0.1, 0.2])
    parts = assess("a", [good, bad], 0.15, lambda *_: 0.5)
    assert parts.share == 0.5 and parts.terms[1] == 0 < parts.terms[0]


@pytest.mark.parametrize(
    ("skills", "expected"),
    [([0.2, 0.2], 0), ([0, 0.2, 0.1, 0.2, 0.3], 3), ([0, 0.1, 0.2], 2), ([0, 0.2, 0.1], None)],
)
def test_skill_is_sufficient_at_two_marks_in_a_row(
    skills: list[float], expected: int | None
) -> None:
    assert find_sufficient(skills, 0.15) == expected


def test_marks_double() -> None:
    assert skill.list_marks(20) == [0, 1, 2, 4, 8, 16, 20]
    assert skill.list_marks(1) == [0, 1]


def test_interactions_of_all_episodes_are_counted() -> None:
    curriculum = Curriculum(cast(LearningClass, CLASS), (0, 0))
    first, second = curriculum.start(3), curriculum.start(2)
    still = Actions(np.full((2, 1), 4, np.int8), np.zeros((2, 1), np.int8))
    first.step()
    for _ in range(4):
        second.step(still, held=(0,))
    first.step()
    assert (curriculum.interactions, curriculum.environments) == (3 * 2 + 2 * 4, 5)
    assert LambdaStar().restore(training(5)[3:]).states() != second.worlds.states()


def test_learner_that_learns_nothing_is_not_reached(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    words = "measure skill --class lambda-star --agent test_learners:Passive --runs 2"
    assert main([*words.split(), "--environments", "8", "--figure", "curves.svg", "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    (parts,) = found["tables"]["efficiency and its parts, theta = 0.15"]
    assert parts["efficiency"] == 0 and parts["P_C"] == 0 and parts["GD"] == "none"
    assert parts["trained on (declared)"] == "nothing at all"
    assert {row["term"] for row in found["tables"]["proxies"]} >= {"GD", "P", "E", "P_C"}
    assert len(found["tables"]["skill after so many training episodes"]) == 5
    assert Path("curves.svg").read_text().startswith("<svg")
    rows = read_score_rows(Path("sts-workspace/scores/skill.parquet"))
    assert [(row["metric"], row["n"]) for row in rows] == [
        ("skill-acquisition lambda-star environments=8", 2),
        ("skill lambda-star environments=8", 2),
    ]


def test_learner_of_gymnasium_is_measured(folder: Path) -> None:
    curve = train("test_learners:Gymnast", 0, 64)
    assert curve.environments == [0, 1, 2, 4, 8, 16, 32, 64]
    assert curve.experience[-1] == 64 / skill.EXPERIENCE
    assert curve.skill[0] == pytest.approx(0, abs=0.03)
    assert curve.skill[-1] > 0.1


def test_learner_that_learns_in_the_test_is_refused(folder: Path) -> None:
    with pytest.raises(StsError, match="agent 'restless' plays a test differently again"):
        train("test_learners:Restless", 0, 1)


@pytest.mark.slow
def test_q_tables_of_the_page_are_those_of_the_specification(folder: Path) -> None:
    """It has theta after 256 and 1,536 episodes, efficiencies of .52 and .10."""
    given = GIVEN | {"workspace": Workspace.open(folder / "w")}
    found = skill_scores.measure(["q_table:QTable", "q_table:SlowQTable"], workers=2, **given)
    fast, slow = (dict(zip(skill_scores.COLUMNS, row, strict=True)) for row in found.tables[0].rows)
    assert (fast["agent"], slow["agent"]) == ("q-table", "slow-q-table")
    assert 128 <= fast["episodes"] <= 512 and 1024 <= slow["episodes"] <= 2048
    assert fast["efficiency"] == pytest.approx(0.52, abs=4 * fast["standard error"])
    assert slow["efficiency"] == pytest.approx(0.10, abs=4 * slow["standard error"])
    assert fast["efficiency"] > 3 * slow["efficiency"]


def test_failure_in_training_names_the_agent(folder: Path) -> None:
    with pytest.raises(StsError, match=r"agent 'broken' failed in training: ValueError: out"):
        train("test_learners:Broken", 0, 1)


@pytest.mark.slow
def test_workers_and_an_interrupted_run_do_not_change_the_scores(folder: Path) -> None:
    given = GIVEN | {"runs": 2, "environments": 2, "theta": 0.02}
    names = ["test_learners:Gymnast", "local-search"]
    one = skill_scores.measure(names, workspace=Workspace.open(folder / "1"), **given)
    two = skill_scores.measure(names, workspace=Workspace.open(folder / "2"), workers=2, **given)
    assert one[:3] == two[:3]
    spans = sorted((folder / "2/measures").rglob("*.json"))
    assert len(spans) == 4
    for span in spans[::2]:
        span.unlink()
    again = skill_scores.measure(names, workspace=Workspace.open(folder / "2"), **given)
    assert one[:3] == again[:3]


def test_skill_without_experience_is_refused(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """A learner that was trained on anything but its curriculum has no experience to count."""
    words = "measure skill --class lambda-star --agent test_learners:Gifted --runs 1 --seed"
    codes = [main([*words.split(), str(seed), "--environments", "2"]) for seed in range(2)]
    errors = capsys.readouterr().err.strip().splitlines()
    assert codes == [2] * 2 and len(errors) == 2  # whatever its first skill is by chance
    assert "agent 'gifted' is skilled in training without an interaction (E = 0)" in errors[0]


def test_skill_before_training_is_not_acquired() -> None:
    parts = assess("a", [course([0.2, 0.2], [0, 0.1]), course([0, 0.2], [0, 0.1])], 0.15, half)
    assert parts.terms[0] == 0 < parts.terms[1]


def half(run: int, environments: int) -> float:
    return 0.5


def test_agent_that_was_not_trained_is_named(folder: Path) -> None:
    given = GIVEN | {"runs": 1, "environments": 1}
    found = skill_scores.measure(["random"], workspace=Workspace.open(folder / "w"), **given)
    assert found.notes == ("random was not trained: it started no training episode",)


def test_missing_class_is_named() -> None:
    with pytest.raises(ArgumentError, match="give --class, one of"):
        skill.load_learning_class("")


def test_class_without_training_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(skill, "load_class", lambda name: object())
    with pytest.raises(ArgumentError, match="class cups has no environments for training"):
        skill.load_learning_class("cups")


@pytest.mark.parametrize(
    ("flags", "message"),
    [
        ("--theta 0", "expected a theta above 0"),
        ("--environments 0", "expected 1 to 16384 environments, found 0"),
        ("--runs 5000", "expected 1 to 1000 runs"),
        ("--agent random", "agent 'random' is given twice"),
        ("--agent babyai-seeker", "plays only in babyai"),
        ("--seconds 3", "takes no --seconds"),
    ],
)
def test_bad_setting_gets_one_line(flags: str, message: str, refuse: Callable[[str], str]) -> None:
    assert message in refuse(f"skill --class lambda-star --agent random {flags}")
