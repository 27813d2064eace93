"""Recording, the five categories, and the missions of the packaged suite babyai@2."""

from __future__ import annotations

import dataclasses
import json
import re
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import cast

import numpy as np
import pytest

from sts import agents
from sts.cli.main import main
from sts.continuations.takeover import continue_all, group_by_shape
from sts.domains import domain
from sts.domains.adapted import Adapted
from sts.episodes import Episode
from sts.errors import ReplayMismatch
from sts.storage.workspace import Workspace
from sts.suites import store
from sts.suites.lint import lint
from sts.suites.types import DIFFICULTIES, Scenario
from sts.trajectories.record import record
from sts.trajectories.types import Trajectory
from sts.worlds.babyai.agents.missions import is_relative
from sts_scenarios import categories, mining
from sts_scenarios.categories.babyai import missions
from sts_scenarios.category import Candidate, Category, Label
from sts_scenarios.replayed import environments
from tests.reproduction.suites import build_babyai
from tests.reproduction.suites.building import build

OWN = [c for c in categories.of("babyai") if not c.controls]
_WHOLE = store.load(Workspace.open("no-workspace-here"), "babyai@2")
SUITE = dataclasses.replace(
    _WHOLE, scenarios=tuple(s for s in _WHOLE.scenarios if s.category in {c.name for c in OWN})
)
"""The missions of the packaged suite; its other categories have tests of their own."""
EACH = pytest.mark.parametrize("scenario", SUITE.scenarios, ids=lambda s: s.id)


def recorded(
    level: str, agent: str = "random", count: int = 12, steps: int = 45
) -> list[Trajectory]:
    return record(
        agents.load(agent),
        domain="babyai",
        count=count,
        steps=steps,
        seed=6,
        settings={"level": level},
    )


@pytest.fixture(scope="module")
def trajectories() -> list[Trajectory]:
    few = ("GoToLocal", "OpenDoorColor", "PickupDist", "PutNextLocal")
    return [*(t for level in few for t in recorded(level, count=6)), *recorded("OpenTwoDoors")]


def episode(rewards: list[int]) -> Episode:
    (state,) = domain("babyai").generate(1, seed=0)
    steps = len(rewards)
    nothing = np.zeros((steps, 1), np.int8)
    column = np.array(rewards, np.int8)[:, None]
    return Episode("babyai", state, nothing, nothing, column, np.zeros((steps + 1, 4), np.uint16))


def test_a_recording_keeps_its_mission_as_a_setter_s_instruction(
    trajectories: list[Trajectory],
) -> None:
    world = cast(Adapted, domain("babyai"))
    for one in trajectories:
        (told,) = one.instructions
        assert (told.source, told.given_at) == ("setter", 0)
        assert told.text == world.instruction(one.episode.state)


def test_whoever_records_is_told_the_mission() -> None:
    found = recorded("GoToLocal", "babyai-seeker", count=10)
    assert sum(bool((t.episode.rewards > 0).any()) for t in found) >= 8


def test_the_environment_along_an_episode_is_the_one_that_was_played() -> None:
    (one,) = recorded("GoToLocal", count=1)
    seen = [(world.moves_made, world.digest()) for world in environments(one.episode)]  # type: ignore[attr-defined]
    assert [len(moves) for moves, _ in seen] == list(range(46))
    assert seen[-1][0] == "".join(map(str, one.episode.moves[:, 0]))


def test_an_episode_that_does_not_replay_says_at_which_step() -> None:
    (one,) = recorded("GoToLocal", count=1)
    scene = one.episode.scene.copy()
    scene[7] += 1
    with pytest.raises(ReplayMismatch, match="step 6"):
        list(environments(dataclasses.replace(one.episode, scene=scene)))


def test_the_label_is_the_verifier_s_word_after_takeover() -> None:
    label = categories.named("babyai-go-to").label
    assert label(episode([0, 0, 0, 1, 0]), 2, (0,), {}) == Label("success", 2)
    assert label(episode([0, 0, -1]), 2, (0,), {}) == Label("failure", 1)
    assert label(episode([0, 0, 0]), 2, (0,), {}) == Label("not_done", None)
    assert label(episode([0, 1, 0, 0]), 2, (0,), {}) == Label("not_done", None)


@pytest.mark.parametrize("category", OWN, ids=lambda c: c.name)
def test_every_category_finds_open_missions_of_its_kind(
    category: Category, trajectories: list[Trajectory]
) -> None:
    own = [(t, c) for t in trajectories for c in category.moments(t)]
    assert own
    for trajectory, found in own[:: max(1, len(own) // 4)]:
        assert found.moment >= category.context
        assert found.moment + category.horizon <= trajectory.episode.steps
        assert not trajectory.episode.rewards[: found.moment].any()
        asked = found.words["mission"]
        made = mining.make_scenario(
            category, mining.Pick(trajectory, found), id="x", text=asked, seed=0
        )
        assert category.fits(made) is None
        assert made.instruction.text == trajectory.instructions[0].text
        assert (made.instruction.given_at, made.instruction.source) == (0, "setter")
        assert made.takeover == category.context


def test_a_sequence_is_shown_from_its_start(trajectories: list[Trajectory]) -> None:
    found = mining.mine(
        trajectories, [categories.named("babyai-sequence")], per_category=3, seed=0
    ).scenarios
    assert found and {s.context_start for s in found} == {0}


def test_a_sequence_is_asked_only_where_the_horizon_has_room() -> None:
    sequence = categories.named("babyai-sequence")
    enough = sequence.context + sequence.horizon
    for steps in (12, enough - 1, enough):
        made = recorded("GoToSeqS5R2", "babyai-noisy-bot-60", count=4, steps=steps)
        moments = {c.moment for t in made for c in sequence.moments(t)}
        assert moments == ({sequence.context} if steps == enough else set())


@pytest.mark.parametrize("horizon", [20, 25, 30])
def test_within_a_quarter_of_the_steps_is_easy_and_within_a_half_medium(
    horizon: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    (one,) = recorded("GoToObjMazeS4", count=1)
    own = dataclasses.replace(missions.GO_TO, context=1, horizon=horizon)
    for needed in range(2, 3 * horizon // 4 + 1):
        monkeypatch.setattr(missions, "_bot_steps_needed", lambda *_, n=needed: n)
        wanted = "easy" if 4 * needed <= horizon else "medium" if 2 * needed <= horizon else "hard"
        assert own.moments(one)[0].difficulty == wanted, needed


def test_a_mission_fits_that_the_next_move_fulfils_and_not_one_that_is_over() -> None:
    own = categories.named("babyai-go-to")
    made = recorded("GoToLocal", "babyai-bot")
    ended = {t: int(np.flatnonzero(t.episode.rewards)[0]) for t in made}
    one = next(t for t, step in ended.items() if step >= own.context)
    at = {
        moment: mining.make_scenario(
            own,
            mining.Pick(one, Candidate(moment, 0, "easy", said_at_start=True)),
            id="x",
            text=one.instructions[0].text,
            seed=0,
        )
        for moment in (ended[one], ended[one] + 1)
    }
    assert [own.fits(s) for s in at.values()] == [None, "the mission has already ended"]


def test_a_scenario_does_not_fit_another_mission_or_one_that_is_over() -> None:
    scenario = SUITE.scenarios[0]
    category = categories.named(scenario.category)
    told = dataclasses.replace(scenario.instruction, text="go to the moon")
    assert "another" in str(category.fits(dataclasses.replace(scenario, instruction=told)))
    assert "of kind 'open'" in str(categories.named("babyai-open").fits(scenario))
    over = next(s for s in SUITE.scenarios if "done-in-recording" in s.tags)
    late = dataclasses.replace(over, takeover=over.recording.steps)
    assert "already ended" in str(categories.named(over.category).fits(late))


# The missions of babyai@2


def test_it_holds_ten_scenarios_of_each_of_the_five_kinds_at_every_difficulty() -> None:
    assert Counter(s.category for s in SUITE.scenarios) == {c.name: 10 for c in OWN}
    for category in OWN:
        own = [s for s in SUITE.scenarios if s.category == category.name]
        assert {s.difficulty for s in own} == set(DIFFICULTIES)
        assert len({s.world for s in own}) == 10


def test_it_is_unique_replayable_and_on_the_test_side() -> None:
    assert lint(SUITE.scenarios) == []


@EACH
def test_its_instruction_is_the_open_mission(scenario: Scenario) -> None:
    assert categories.named(scenario.category).fits(scenario) is None
    assert not is_relative(scenario.instruction.text)


def rate(scenarios: Sequence[Scenario], agent: str, count: int) -> float:
    made, hits = agents.load(agent), []
    for group in group_by_shape(scenarios):
        for one in continue_all(group, made, seed=0, indices=range(count)):
            label = categories.named(one.category).label
            hits.append(label(one.episode, one.takeover, one.roles, {}).verdict == "success")
    return float(np.mean(hits))


@pytest.mark.parametrize("every", [3, 1])
def test_the_bot_does_all_of_it_a_seeing_agent_most_and_a_random_one_little(every: int) -> None:
    some = SUITE.scenarios[::every]
    assert rate(some, "babyai-bot", 1) == 1.0
    assert rate(some, "babyai-noisy-bot-60", 1) > 0.3
    assert 0.5 < rate(some, "babyai-seeker", 1) < 0.95
    assert rate(some, "random", 2) < 0.15


def test_two_builds_agree_in_every_hash(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(build_babyai, "LEVELS", ("GoToLocal", "PickupDist"))
    monkeypatch.setattr(build_babyai, "AGENTS", ("babyai-bot", "random"))
    monkeypatch.setattr(build_babyai, "EPISODES", 12)
    monkeypatch.setattr(build_babyai, "PER_CATEGORY", 1)
    first, second = (
        build(tmp_path / n, "babyai", 1, "small", build_babyai.commands()) for n in ("a", "b")
    )
    assert first.hash == second.hash == store.read(tmp_path / "a").hash
    assert {s.category for s in first.scenarios} == {"babyai-go-to", "babyai-pick-up"}


def test_from_recording_to_labels_by_the_public_commands(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    def sts(*words: str) -> str:
        capsys.readouterr()
        assert main([*words, "--workspace", str(tmp_path)]) == 0
        return capsys.readouterr().out

    level = ("--domain", "babyai", "--set", "level=PickupDist")
    sts("record", *level, "--agent", "random", "--episodes", "20", "--steps", "30")
    sts("trajectories", "verify")
    sts("mine", "own", "--per-category", "2")
    sts("draft", "accept", "own", "--all")
    sts("suite", "freeze", "own")
    few = ("--agent", "babyai-bot", "--agent", "random", "--continuations", "2")
    sts("run", "own@1", *few)
    rates = {
        a["agent"]: a["pass_rate"] for a in json.loads(sts("label", "own@1", "--json"))["agents"]
    }
    assert rates["babyai-bot"] == 1.0 > rates["random"]


def test_the_table_of_the_page_is_what_the_suite_gives(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    page = (Path(__file__).parents[3] / "docs" / "babyai.md").read_text()
    rows = re.findall(r"^\| `([\w-]+)` \| (\d\S*%) \| (\S+ to \S+) \|", page, re.M)
    assert len(rows) == 7
    players = [word for name, *_ in rows for word in ("--agent", name)]
    for words in (
        ["run", "babyai@2", *players],
        ["label", "babyai@2"],
        ["report", "babyai@2", "--evidence", "none"],
    ):
        capsys.readouterr()
        assert main([*words, "--workspace", str(tmp_path)]) == 0
    said = [" ".join(line.split()) for line in capsys.readouterr().out.splitlines()]
    for name, rate, interval in rows:
        assert any(re.search(rf"{rate} {interval} .* {name}\b", line) for line in said), name
