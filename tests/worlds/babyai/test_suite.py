"""Recording, the five categories of missions, and the packaged suites of BabyAI."""

from __future__ import annotations

import dataclasses
import re
from collections import Counter
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import cast

import numpy as np
import pytest

from sts import agents
from sts.cli.main import main
from sts.continuations.takeover import continue_all, group_by_shape, is_deterministic
from sts.domains import load_domain
from sts.domains.adapter import EnvironmentDomain
from sts.episodes import Episode
from sts.errors import ReplayMismatch
from sts.storage.workspace import Workspace
from sts.suites import suite_store as store
from sts.suites.lint import lint_scenarios
from sts.suites.suite import DIFFICULTIES, Scenario, Suite, group_pairs
from sts.trajectories.trajectory import Trajectory
from sts_babyai.agents.missions import is_relative
from sts_babyai.categories import missions
from sts_scenarios import mining
from sts_scenarios.draft.freezing import find_category_faults
from sts_scenarios.rules import categories, quality_checks
from sts_scenarios.rules.category import Candidate, Category, Label
from sts_scenarios.rules.environments import iter_environments
from sts_scenarios.rules.profiles import compute_profiles
from sts_scenarios.rules.validity import is_checked
from tests.mined import mine
from tests.recording import record
from tests.reproduction.suites import build_babyai, renew_babyai, reword_babyai
from tests.reproduction.suites.building import build
from tests.reproduction.suites.middle import find_gap
from tests.reproduction.suites.renew_babyai import CATEGORIES, UNSEEN
from tests.reproduction.suites.reword_babyai import WIDE, find_template

RULES = {one.name: one for one in categories.load_categories("babyai")}
OWN = [rule for rule in RULES.values() if not rule.controls]
"""The missions of the package; the other categories are asked in hindsight."""
PARENT, SUITE = (
    store.load(Workspace.open("no-workspace-here"), label) for label in ("babyai@2", "babyai@3")
)
MISSIONS = [s for s in SUITE.scenarios if s.category in {c.name for c in OWN}]
PAIRS = {"babyai-before-or-after", "babyai-stand-or-take", "babyai-this-or-that"}


def recorded(
    level: str, agent: str = "random", count: int = 12, steps: int = 45
) -> list[Trajectory]:
    settings = {"level": level}
    return record(
        agents.load(agent), domain="babyai", count=count, steps=steps, seed=6, settings=settings
    )


@pytest.fixture(scope="module")
def trajectories() -> list[Trajectory]:
    few = ("GoToLocal", "OpenDoorColor", "PickupDist", "PutNextLocal")
    return [*(t for level in few for t in recorded(level, count=6)), *recorded("OpenTwoDoors")]


def episode(rewards: list[int]) -> Episode:
    (state,) = load_domain("babyai").generate(1, seed=0)
    steps = len(rewards)
    nothing = np.zeros((steps, 1), np.int8)
    column = np.array(rewards, np.int8)[:, None]
    return Episode("babyai", state, nothing, nothing, column, np.zeros((steps + 1, 4), np.uint16))


def test_recording_keeps_its_mission_as_an_instruction_and_agents_hear_it(
    trajectories: list[Trajectory],
) -> None:
    world = cast(EnvironmentDomain, load_domain("babyai"))
    for one in trajectories:
        (told,) = one.instructions
        assert (told.source, told.given_at) == ("setter", 0)
        assert told.text == world.instruction(one.episode.state)
    found = recorded("GoToLocal", "babyai-seeker", count=10)
    assert sum(bool((t.episode.rewards > 0).any()) for t in found) >= 8


def test_environments_are_replayed_along_an_episode_or_the_step_is_named() -> None:
    (one,) = recorded("GoToLocal", count=1)
    seen = [world.moves_made for world in iter_environments(one.episode)]  # type: ignore[attr-defined]
    assert [len(actions) for actions in seen] == list(range(46))
    assert seen[-1] == "".join(map(str, one.episode.actions[:, 0]))
    scene = one.episode.scene.copy()
    scene[7] += 1
    with pytest.raises(ReplayMismatch, match="step 6"):
        list(iter_environments(dataclasses.replace(one.episode, scene=scene)))


def test_label_is_the_verdict_of_the_environment_after_takeover() -> None:
    label = categories.load_category("babyai-go-to").label
    assert label(episode([0, 0, 0, 1, 0]), 2, (0,), {}) == Label("success", 2)
    assert label(episode([0, 0, -1]), 2, (0,), {}) == Label("failure", 1)
    assert label(episode([0, 0, 0]), 2, (0,), {}) == Label("not_done", None)
    assert label(episode([0, 1, 0, 0]), 2, (0,), {}) == Label("not_done", None)


@pytest.mark.parametrize("category", OWN, ids=lambda c: c.name)
def test_every_category_finds_open_missions_of_its_kind(
    category: Category, trajectories: list[Trajectory]
) -> None:
    own = [(t, c) for t in trajectories for c in category.find_candidates(t)]
    assert own
    for trajectory, found in own[:: max(1, len(own) // 4)]:
        assert found.step >= category.context
        assert found.step + category.horizon <= trajectory.episode.steps
        assert not trajectory.episode.rewards[: found.step].any()
        asked = found.fields["mission"]
        made = mining.make_scenario(
            category, mining.Pick(trajectory, found), id="x", text=asked, seed=0
        )
        assert category.why_invalid(made) is None
        assert made.instruction.text == trajectory.instructions[0].text
        assert (made.instruction.given_at, made.instruction.source) == (0, "setter")
        assert made.context == category.context


def test_sequence_is_shown_from_its_start_if_the_horizon_has_room(
    trajectories: list[Trajectory],
) -> None:
    sequence = categories.load_category("babyai-sequence")
    found = mine(trajectories, [sequence], per_category=3, seed=0).scenarios
    assert found and {s.context_start for s in found} == {0}
    enough = sequence.context + sequence.horizon
    for steps in (12, enough - 1, enough):
        made = recorded("GoToSeqS5R2", "babyai-noisy-bot-60", count=4, steps=steps)
        asked_at = {c.step for t in made for c in sequence.find_candidates(t)}
        assert asked_at == ({sequence.context} if steps == enough else set())


@pytest.mark.parametrize("horizon", [20, 25, 30])
def test_difficulty_depends_on_the_share_of_steps_that_the_bot_needs(
    horizon: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    (one,) = recorded("GoToObjMazeS4", count=1)
    own = dataclasses.replace(missions.GO_TO, context=1, horizon=horizon)
    for needed in range(2, 3 * horizon // 4 + 1):
        monkeypatch.setattr(missions, "_bot_steps_needed", lambda *_, n=needed: n)
        wanted = "easy" if 4 * needed <= horizon else "medium" if 2 * needed <= horizon else "hard"
        assert own.find_candidates(one)[0].difficulty == wanted, needed


def test_finished_mission_does_not_fit() -> None:
    own = categories.load_category("babyai-go-to")
    made = recorded("GoToLocal", "babyai-bot")
    ended = {t: int(np.flatnonzero(t.episode.rewards)[0]) for t in made}
    one = next(t for t, step in ended.items() if step >= own.context)
    at = {
        step: mining.make_scenario(
            own,
            mining.Pick(one, Candidate(step, 0, "easy", said_at_start=True)),
            id="x",
            text=one.instructions[0].text,
            seed=0,
        )
        for step in (ended[one], ended[one] + 1)
    }
    assert [own.why_invalid(s) for s in at.values()] == [None, "the mission has already ended"]


def test_rule_is_used_for_no_other_mission() -> None:
    scenario = MISSIONS[0]
    category = categories.load_category(scenario.category)
    told = dataclasses.replace(scenario.instruction, text="go to the moon")
    rules = {category.name: category}
    assert is_checked(scenario, rules)
    assert not is_checked(dataclasses.replace(scenario, instruction=told), rules)
    assert "of kind 'open'" in str(categories.load_category("babyai-open").why_invalid(scenario))
    over = next(s for s in MISSIONS if "done-in-recording" in s.tags)
    late = dataclasses.replace(over, context=over.recording.steps)
    assert "already ended" in str(categories.load_category(over.category).why_invalid(late))


@pytest.mark.parametrize("suite", [PARENT, SUITE], ids=lambda suite: suite.label)
def test_suite_holds_ten_of_eighteen_categories_of_every_difficulty(suite: Suite) -> None:
    easy = Counter(one.id.rpartition("-")[0] for one in suite.changes if one.kind == "added")
    added = easy if suite is SUITE else {}
    units = {(s.pair or s.id, s.category) for s in suite.scenarios}
    count = Counter(category for _, category in units)
    assert count == {name: 10 + added.get(name, 0) for name in RULES}
    for name in RULES:
        own = [s for s in suite.scenarios if s.category == name]
        hard = {*DIFFICULTIES[:2]} if name == "babyai-unlock" else {*DIFFICULTIES}
        assert {s.difficulty for s in own} == hard
        assert len({s.world for s in own}) == count[name]
    assert {s.category for halves in group_pairs(suite.scenarios).values() for s in halves} == PAIRS


def test_rewording_changes_only_id_and_words_and_missions_stay() -> None:
    before = {one.id: one for one in PARENT.scenarios}
    assert (SUITE.parent, len(SUITE.scenarios) <= 320) == ("babyai@2", True)
    replaced = {one.replaces: one for one in SUITE.scenarios if one.replaces}
    asked = {one.id for one in PARENT.scenarios if RULES[one.category].earlier_templates}
    assert replaced.keys() == asked
    same = {one.id for one in SUITE.scenarios} & before.keys()
    assert same == before.keys() - asked == {one.id for one in MISSIONS}
    for id, one in replaced.items():
        told = dataclasses.replace(one.instruction, text=before[id].instruction.text)
        old = dataclasses.replace(one, id=id, replaces="", instruction=told)
        assert old.hash == before[id].hash and one.instruction.text != told.text
        rule = RULES[one.category]
        now = dataclasses.replace(rule, earlier_templates=rule.templates)
        assert find_template(one, now) == find_template(before[id], rule)


def test_added_scenarios_are_easy_and_of_the_categories_with_a_gap() -> None:
    new = {one.id for one in SUITE.changes if one.kind == "added"}
    added = [one for one in SUITE.scenarios if one.id in new]
    assert {one.category for one in added} == {*WIDE}
    assert {one.difficulty for one in added} == {"easy"}
    assert all("in the middle" in one.reason for one in SUITE.changes if one.kind == "added")


def test_suite_is_sound_and_every_instruction_fits() -> None:
    assert lint_scenarios(SUITE.scenarios) == [] and find_category_faults(SUITE.scenarios) == []
    assert {
        s.id for s in MISSIONS if categories.load_category(s.category).why_invalid(s) is not None
    } == set()
    assert not any(is_relative(s.instruction.text) for s in MISSIONS)
    for one in SUITE.scenarios:
        criterion = RULES[one.category].criterion(one)
        assert criterion is not None
        for text in (criterion.success_criterion, criterion.edge_cases):
            assert text.endswith(".") and "{" not in text


def test_suite_lists_the_retired_scenarios_of_its_parent_with_a_reason() -> None:
    assert PARENT.parent == "babyai@1"
    retired = {one.id: one.reason for one in PARENT.changes if one.kind == "retired"}
    assert retired.keys() == {f"babyai-{name}" for name in UNSEEN}
    assert all("sees nothing" in why for why in retired.values())
    assert not retired.keys() & {s.id for s in (*PARENT.scenarios, *SUITE.scenarios)}


def test_instruction_templates_and_sides_take_turns() -> None:
    for kind in CATEGORIES:
        rule = RULES[f"babyai-{kind}"]
        used = {find_template(s, rule) for s in PARENT.scenarios if s.category == rule.name}
        assert used == {0, 1, 2}, kind
    said = Counter(s.parameters["side"] for s in SUITE.scenarios if "side" in s.parameters)
    assert said == {"left": 5, "right": 5}


def hash_without_code(scenario: Scenario) -> str:
    """Return the hash of a scenario without the fingerprint of its recording agent."""
    rest = {k: v for k, v in scenario.provenance.items() if k != "fingerprint"}
    return dataclasses.replace(scenario, provenance=rest).row_hash


@pytest.mark.slow  # eight minutes each
@pytest.mark.parametrize(
    ("suite", "rebuild"),
    [(PARENT, renew_babyai.build), (SUITE, reword_babyai.build)],
    ids=("babyai@2", "babyai@3"),
)
def test_rebuilt_suite_has_the_same_scenario_hashes(
    suite: Suite, rebuild: Callable[[Path], Suite], tmp_path: Path
) -> None:
    made = rebuild(tmp_path / "made")
    assert list(map(hash_without_code, made.scenarios)) == list(
        map(hash_without_code, suite.scenarios)
    )
    assert made.changes == suite.changes


@pytest.mark.parametrize(
    ("kinds", "continuations"),
    [(("fetch",), 2), pytest.param(CATEGORIES, 10, marks=pytest.mark.slow)],
    ids=("fetch", "all"),
)
def test_suite_passes_the_quality_checks(kinds: tuple[str, ...], continuations: int) -> None:
    """Ten is what a curator is shown; with fewer, more profiles are alike or flat."""
    names = {f"babyai-{kind}" for kind in kinds}
    asked = [s for s in SUITE.scenarios if s.category in names]
    computed = compute_profiles(asked, continuations=continuations)
    rows = quality_checks.check_suite(asked, RULES, [one.profile for one in computed])
    assert {one.category for one in rows} == names
    assert [one for one in rows if not one.is_passed] == []


def rate(scenarios: Sequence[Scenario], agent: str, count: int) -> float:
    made, hits, asked = agents.load(agent), [], {s.hash: s.parameters for s in scenarios}
    for group in group_by_shape(scenarios):
        for one in continue_all(group, made, seed=0, indices=range(count)):
            label = categories.load_category(one.category).label
            found = label(one.episode, one.takeover, one.players, asked[one.scenario_hash])
            hits.append(found.verdict == "success")
    return float(np.mean(hits))


def test_bot_passes_all_missions_a_seeing_agent_most_and_a_random_one_few() -> None:
    assert rate(MISSIONS, "babyai-bot", 1) == 1.0
    assert rate(MISSIONS, "babyai-noisy-bot-60", 1) > 0.3
    assert 0.5 < rate(MISSIONS, "babyai-seeker", 1) < 0.95
    assert rate(MISSIONS, "random", 2) < 0.15


@pytest.mark.slow
def test_two_builds_agree_in_every_hash(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(build_babyai, "LEVELS", ("GoToLocal",))
    monkeypatch.setattr(build_babyai, "AGENTS", ("babyai-bot", "random"))
    monkeypatch.setattr(build_babyai, "EPISODES", 8)
    monkeypatch.setattr(build_babyai, "PER_CATEGORY", 1)
    commands = build_babyai.commands()
    first, second = (build(tmp_path / n, "babyai", 1, "small", commands) for n in ("a", "b"))
    assert first.hash == second.hash == store.read(tmp_path / "a").hash
    assert {s.category for s in first.scenarios} == {"babyai-go-to"}


def draws(name: str) -> bool:
    """Return True for an agent that continues each scenario ten times, and not once."""
    return not is_deterministic(agents.load(name), "")


def read_table() -> list[tuple[str, str, str]]:
    """Return the agents, rates and intervals of the page's table."""
    page = (Path(__file__).parents[3] / "docs" / "babyai.md").read_text()
    rows = re.findall(r"^\| `([\w-]+)` \| (\d\S*%) \| (\S+–\S+) \| [rb]a", page, re.M)
    assert len(rows) == 7
    return rows


def test_page_shows_the_rate_of_the_reader() -> None:
    (shown,) = (shown for name, shown, _ in read_table() if name == "babyai-reader")
    assert f"{rate(SUITE.scenarios, 'babyai-reader', 1):.0%}" == shown


@pytest.mark.parametrize(
    "is_shown",
    [draws, lambda name: not draws(name)],
    ids=["drawing", "deterministic"],
)
@pytest.mark.slow
def test_table_of_the_page_shows_the_results_of_the_suite(
    is_shown: Callable[[str], bool], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    rows = [row for row in read_table() if is_shown(row[0])]
    players = [word for name, *_ in rows for word in ("--agent", name)]
    for words in (
        ["run", "babyai@3", *players, "--continuations", "10"],
        ["label", "babyai@3"],
        ["report", "babyai@3", "--clips", "none"],
    ):
        capsys.readouterr()
        assert main([*words, "--workspace", str(tmp_path)]) == 0
    said = [" ".join(line.split()) for line in capsys.readouterr().out.splitlines()]
    for name, rate, interval in rows:
        assert any(re.search(rf"{rate} {interval} {name}\b", line) for line in said), name


@pytest.mark.parametrize(
    ("rates", "gap"),
    [
        ([], (0.1, 0.9)),
        ([0.05, 0.3, 0.45, 0.95], (0.45, 0.9)),
        ([0.1, 0.6, 0.9], (0.1, 0.6)),
    ],
)
def test_gap_is_the_widest_range_without_an_agent(
    rates: list[float], gap: tuple[float, float]
) -> None:
    assert find_gap(rates) == gap
