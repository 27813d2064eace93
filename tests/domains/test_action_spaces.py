"""Discrete, MultiDiscrete and Box actions and real rewards, from a recording to a ranked report."""

import json
import os
import sys
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
import pytest

from sts import agents
from sts.agents import PolicyOutput
from sts.agents.external import child
from sts.continuations import continuation_store as store
from sts.continuations.takeover import continue_all
from sts.domains import ActionSpace, action_space, load_domain, validate_episodes
from sts.engine import session
from sts.engine.lockstep import play_episodes
from sts.engine.replay import verify
from sts.engine.session import Actions
from sts.episodes import Instruction
from sts.errors import ArgumentError, DamagedData, StsError
from sts.live.openings import open_scenario
from sts.storage.workspace import Workspace
from sts.suites import suite_store as suites
from sts.trajectories import trajectory_store as trajectories
from tests.domains import spaces
from tests.scenarios.curating import candidates, run_commands

OWN = "tests.domains.spaces"


class Course(NamedTuple):
    """A world with its recorded and ranked agents, its category, and the types of its record."""

    domain: str
    agents: tuple[str, str]
    category: str
    actions: str
    shape: tuple[int, ...]
    rewards: str


COURSES = {
    "discrete": Course(spaces.CARTPOLE, ("Pushing", "Leaning"), "STAND", "int8", (), "int8"),
    "box": Course(spaces.PENDULUM, ("Swinging", "Pumping"), "SWING", "float32", (1,), "float64"),
    "several": Course(spaces.CRANE, ("Wandering", "Reaching"), "REACH", "int64", (2,), "float64"),
}


class Ran(NamedTuple):
    """What came of a course."""

    course: Course
    workspace: Workspace
    report: dict[str, Any]
    continuations: Any


@pytest.fixture(
    scope="module",
    params=["several", *(pytest.param(one, marks=pytest.mark.slow) for one in ("box", "discrete"))],
)
def ran(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Ran:
    """Run a course through the whole command line."""
    course = COURSES[request.param]
    folder = tmp_path_factory.mktemp(request.param)
    first, second = (f"--agent {OWN}:{name}" for name in course.agents)
    category = f"--category {OWN}:{course.category}"
    run_commands(
        folder,
        f"record --domain {course.domain} --episodes 30 --steps 24 {first}",
        "trajectories verify",
        f"mine own --per-category 4 {category}",
        "draft accept own --all",
        f"suite freeze own {category}",
        "suite verify own@1",
        f"run own@1 {first} {second} --continuations 3",
        f"label own@1 {category}",
        f"report own@1 --out {folder / 'report'}",
    )
    report = json.loads((folder / "report" / "report.json").read_text())
    workspace = Workspace.open(str(folder))
    every = suites.load(workspace, "own@1").scenarios
    return Ran(course, workspace, report, store.load(workspace, [s.hash for s in every]))


def test_agents_are_ranked_for_any_type_of_action(ran):
    found = {one["agent"]: one for one in ran.report["ranking"]["rows"]}
    weak, strong = (name.lower() for name in ran.course.agents)
    assert {weak, strong} == found.keys()
    assert found[strong]["pass_rate"] > found[weak]["pass_rate"]


def test_records_have_the_declared_types(ran):
    recorded = [t.episode for t in trajectories.load(ran.workspace)]
    for one in recorded + [c.episode for c in ran.continuations]:
        assert (one.actions.dtype, one.actions.shape[2:]) == (ran.course.actions, ran.course.shape)
        assert one.rewards.dtype == ran.course.rewards
        assert action_space(load_domain(one.domain)).contains(one.actions)


def test_continuations_replay_bit_for_bit(ran):
    episodes = [one.episode for one in ran.continuations]
    assert verify(episodes) == [None] * len(episodes)
    rewards = episodes[0].rewards.copy()
    raw = rewards.view(np.uint64 if rewards.dtype == np.float64 else np.uint8)
    raw[9, 0] ^= 1
    (found,) = verify([replace(episodes[0], rewards=rewards)])
    assert found is not None and found.step == 9 and "player 0 receives" in found.description


def test_log_probabilities_are_those_that_the_agent_reports(ran):
    for one in ran.continuations:
        context, own = one.log_probs[: one.takeover], one.log_probs[one.takeover :]
        if one.agent in ("pumping", "wandering"):  # which return actions and no densities
            assert np.isnan(one.log_probs).all()
            continue
        assert np.isfinite(own).all()
        if one.agent == "swinging":
            assert np.isnan(context).all() and np.allclose(own, -np.log(4))
    warnings = [
        "".join(part["text"] for part in one) for one in ran.report["conclusion"]["warnings"]
    ]
    for name in {"pumping", "wandering"} & {name.lower() for name in ran.course.agents}:
        assert any(
            name in one and "returns actions only: no log-probabilities" in one for one in warnings
        )


def test_continuation_is_the_same_alone_and_in_a_batch(ran):
    scenario = suites.load(ran.workspace, "own@1").scenarios[0]
    agent = agents.load(f"{OWN}:{ran.course.agents[0]}")
    (alone,) = continue_all([scenario], agent, seed=0, indices=[2])
    (kept,) = [one for one in ran.continuations if one.identity == alone.identity]
    assert alone.content_hash == kept.content_hash and not kept.together


@pytest.fixture(scope="module")
def pendulum(tmp_path_factory: pytest.TempPathFactory) -> Any:
    """A scenario of the pendulum."""
    root = tmp_path_factory.mktemp("pendulum")
    run_commands(
        root,
        f"record --episodes 20 --steps 20 --domain {spaces.PENDULUM} --agent {OWN}:Swinging",
        f"mine own --per-category 1 --category {OWN}:SWING",
    )
    return candidates(Workspace.open(str(root)), "own")[0]


@pytest.mark.parametrize("text", ["nan", "inf", "2.5", "-2.0000003"])
def test_action_outside_its_space_is_refused(pendulum, text):
    asked = replace(pendulum, instruction=Instruction(text, "swing", 6, "curator"))
    expected = (
        r"agent 'astray' at step 6: expected actions float32\[1, 1, 1\] within the bounds of "
    )
    expected += rf"gymnasium:Pendulum-v1; found \[{float(np.float32(text))!r}"
    with pytest.raises(StsError, match=expected):
        continue_all([asked], spaces.Astray(), seed=0, indices=[0])


@pytest.mark.parametrize(
    ("actions", "log_probs", "found"),
    [
        (np.zeros((1, 1)), None, r"float64\[1, 1\]"),
        (np.zeros((1, 1, 1), complex), None, r"complex128\[1, 1, 1\]"),
        (np.zeros((1, 1, 1)), np.full((1, 1), np.nan), r"finite log-probabilities, float\[1, 1\]"),
        (np.zeros((1, 1, 1)), np.zeros(1), r"found float64\[1\]"),
    ],
)
def test_invalid_choice_of_an_agent_is_refused(pendulum, actions, log_probs, found):
    class Wrong(spaces.Astray):
        def act(self, observation: Any, instructions: Any, memory: Any, draws: Any) -> Any:
            return PolicyOutput(actions, log_probs=log_probs), memory

    world = load_domain(spaces.PENDULUM)
    worlds = world.restore([pendulum.recording.state])
    team = session.Team(Wrong(), (0,), np.zeros(1, np.uint64))
    with pytest.raises(StsError, match=f"agent 'astray' at step 0: expected .*{found}"):
        session.open_session(world, worlds, [team]).step()


@pytest.mark.parametrize("given", [2.5, np.nan, 1j, [0.0, 0.0]])
def test_invalid_action_from_outside_is_refused(pendulum, given):
    world = load_domain(spaces.PENDULUM)
    begun = session.open_session(world, world.restore([pendulum.recording.state]))
    actions = np.array(given).reshape(1, 1, -1)
    with pytest.raises(DamagedData, match="expected actions and utterances of"):
        begun.step(Actions(actions, np.zeros((1, 1), np.int8)), held=(0,))


@pytest.mark.parametrize(
    ("name", "array", "line"),
    [
        ("actions", np.full((20, 1, 1), 3, np.float32), r"expected actions float32\[1\]"),
        ("actions", np.zeros((20, 1, 1)), r"expected actions float32\[1\]"),
        ("actions", np.zeros((20, 1), np.int8), r"expected actions float32\[1\]"),
        ("rewards", np.zeros((20, 1), np.int8), "expected rewards of float64"),
    ],
)
def test_record_of_other_types_than_its_world_is_refused(pendulum, name, array, line):
    recording = pendulum.recording
    altered = replace(recording, **{name: array[: recording.steps]})
    with pytest.raises(DamagedData, match=f"it: {line}, found others"):
        validate_episodes([altered], ["it"])
    assert validate_episodes([recording], ["it"]) == [recording]


@pytest.mark.parametrize("value", [np.nan, np.inf])
@pytest.mark.parametrize("name", ["rewards", "actions"])
def test_episode_refuses_infinite_and_missing_numbers(pendulum, name, value):
    array = getattr(pendulum.recording, name).copy()
    array[3] = value
    with pytest.raises(DamagedData, match=f"expected finite {name}, found NaN or infinity"):
        replace(pendulum.recording, **{name: array})


def test_person_cannot_play_a_world_without_named_actions(pendulum):
    with pytest.raises(
        ArgumentError, match="has no named actions from which a person could choose"
    ):
        open_scenario(pendulum, "p")


@pytest.mark.parametrize(
    ("dtype", "low", "high", "line"),
    [
        (np.float32, [1.0], [0.0], "between a lower and an upper bound"),
        (np.float32, [0.0], [0.0, 1.0], "bounds of shapes"),
        (np.int64, [-(2**60)], [2**60], "integer actions up to 2.53, found unbounded int64"),
        (np.complex64, [0], [1], "integers or real numbers, found complex64"),
        (np.float32, [np.nan], [0.0], "between a lower and an upper bound"),
    ],
)
def test_invalid_bounds_are_refused(dtype, low, high, line):
    with pytest.raises(ArgumentError, match=line):
        ActionSpace(np.dtype(dtype), np.array(low), np.array(high))


@pytest.mark.parametrize("dtype", ["int8", "int64", "uint16", "float32", "float64"])
def test_samples_lie_within_the_bounds_and_reach_both(dtype):
    space = ActionSpace(np.dtype(dtype), np.array([0, 3]), np.array([1, 3]))
    drawn = space.sample(np.random.default_rng(0), (200, 2))
    assert space.contains(drawn) and drawn.shape == (200, 2, 2)
    assert (drawn[..., 1] == 3).all() and np.ptp(drawn[..., 0]) > 0.9
    endless = ActionSpace(np.dtype("float64"), np.array([-np.inf]), np.array([np.inf]))
    assert endless.contains(endless.sample(np.random.default_rng(0), (9,)))


@pytest.mark.skipif(os.name != "posix", reason="environments are laid out otherwise")
@pytest.mark.parametrize(
    ("name", "kind"),
    [(spaces.PENDULUM, "Swinging"), (spaces.CRANE, "Reaching"), (spaces.HALL, "Talker")],
)
def test_agent_in_another_interpreter_acts_and_speaks_the_same(name, kind):
    world = load_domain(name)
    states, made = world.generate(2, seed=1), []
    for spelling in (f"{OWN}:{kind}", f"{sys.executable}:{OWN}:{kind}"):
        worlds = world.restore(states)
        players = tuple(range(worlds.rewards.shape[1]))
        team = session.Team(agents.load(spelling), players, np.arange(2, dtype=np.uint64))
        made.append(play_episodes(world, worlds, [team], steps=5))
    child.end_all_processes()
    here, there = made
    assert here.actions.tobytes() == there.actions.tobytes()
    assert here.utterances.tolist() == there.utterances.tolist()
    assert np.isfinite(here.log_probs).all()
    assert here.log_probs.tobytes() == there.log_probs.tobytes()
