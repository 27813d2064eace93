"""Discrete, MultiDiscrete and Box actions and real rewards, from a recording to a ranked report."""

from __future__ import annotations

import json
import os
import sys
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
import pytest

from sts import agents
from sts.agents.elsewhere import child
from sts.cli.main import main
from sts.continuations import store
from sts.continuations.takeover import continue_all
from sts.domains import ActionSpace, action_space, domain
from sts.engine import session
from sts.engine.lockstep import play
from sts.engine.replay import verify
from sts.engine.session import Actions
from sts.episodes import Instruction
from sts.errors import ArgumentError, DamagedData, StsError
from sts.storage.workspace import Workspace
from sts.suites import store as suites
from sts.suites.drafts import open_draft
from sts.trajectories import store as trajectories
from tests.domains import spaces

OWN = "tests.domains.spaces"


class Course(NamedTuple):
    """A world, who is recorded in it and ranked, its category, and the types of its record."""

    domain: str
    agents: tuple[str, str]
    category: str
    moves: str
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

    @property
    def continuations(self) -> Any:
        """All of its suite, by agent."""
        every = suites.load(self.workspace, "own@1").scenarios
        return store.load(self.workspace, [s.hash for s in every])


@pytest.fixture(
    scope="module",
    params=["discrete", "box", "several"],
)
def ran(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Ran:
    """A course through the whole command line."""
    course = COURSES[request.param]
    folder = tmp_path_factory.mktemp(request.param)
    agents = [word for name in course.agents for word in ("--agent", f"{OWN}:{name}")]
    category = ["--category", f"{OWN}:{course.category}"]
    recording = ["--domain", course.domain, "--episodes", "30", "--steps", "24", *agents[:2]]
    for words in (
        ["record", *recording],
        ["trajectories", "verify"],
        ["mine", "own", "--per-category", "4", *category],
        ["draft", "accept", "own", "--all"],
        ["suite", "freeze", "own", *category],
        ["suite", "verify", "own@1"],
        ["run", "own@1", *agents, "--continuations", "3"],
        ["label", "own@1", *category],
        ["report", "own@1", "--out", str(folder / "report")],
    ):
        assert main([*words, "--workspace", str(folder)]) == 0, words
    report = json.loads((folder / "report" / "report.json").read_text())
    return Ran(course, Workspace.open(str(folder)), report)


def test_whatever_its_actions_are_a_world_comes_to_a_ranked_report(ran: Ran) -> None:
    found = {one["agent"]: one for one in ran.report["agents"]}
    weak, strong = (name.lower() for name in ran.course.agents)
    assert {weak, strong} == found.keys()
    assert found[strong]["rank"] == 1 and found[strong]["pass_rate"] > found[weak]["pass_rate"]


def test_a_record_has_the_types_that_its_world_declares(ran: Ran) -> None:
    recorded = [t.episode for t in trajectories.load(ran.workspace)]
    for one in recorded + [c.episode for c in ran.continuations]:
        assert (one.moves.dtype, one.moves.shape[2:]) == (ran.course.moves, ran.course.shape)
        assert one.rewards.dtype == ran.course.rewards
        assert action_space(domain(one.domain)).contains(one.moves)


def test_continuations_replay_bit_for_bit(ran: Ran) -> None:
    world, episodes = domain(ran.course.domain), [one.episode for one in ran.continuations]
    assert verify(world, episodes) == [None] * len(episodes)
    rewards = episodes[0].rewards.copy()
    raw = rewards.view(np.uint64 if rewards.dtype == np.float64 else np.uint8)
    raw[9, 0] ^= 1
    (found,) = verify(world, [replace(episodes[0], rewards=rewards)])
    assert found is not None and found.step == 9 and "participant 0 receives" in found.what


def test_log_probabilities_are_those_of_what_the_agent_says_it_did(ran: Ran) -> None:
    for one in ran.continuations:
        context, own = one.log_probs[: one.takeover], one.log_probs[one.takeover :]
        if one.agent in ("pumping", "wandering"):  # which return actions and no densities
            assert np.isnan(one.log_probs).all()
            continue
        assert np.isfinite(own).all()
        if one.agent == "swinging":
            assert np.isnan(context).all() and np.allclose(own, -np.log(4))
    notes = {one["agent"]: " ".join(one["notes"]) for one in ran.report["agents"]}
    for name in {"pumping", "wandering"} & notes.keys():
        assert "returns actions only: no log-probabilities" in notes[name]


def test_a_continuation_is_the_same_alone_and_again(ran: Ran) -> None:
    scenario = suites.load(ran.workspace, "own@1").scenarios[0]
    agent = agents.load(f"{OWN}:{ran.course.agents[0]}")
    (alone,) = continue_all([scenario], agent, seed=0, indices=[2])
    (kept,) = [one for one in ran.continuations if one.identity == alone.identity]
    assert alone.content_hash == kept.content_hash and not kept.batch_sensitive


@pytest.fixture(scope="module")
def pendulum(tmp_path_factory: pytest.TempPathFactory) -> Any:
    """A scenario of the pendulum."""
    workspace = str(tmp_path_factory.mktemp("pendulum"))
    words = ["--domain", spaces.PENDULUM, "--agent", f"{OWN}:Swinging", "--workspace", workspace]
    assert main(["record", "--episodes", "20", "--steps", "20", *words]) == 0
    category = ["--category", f"{OWN}:SWING", "--workspace", workspace]
    assert main(["mine", "own", "--per-category", "1", *category]) == 0
    draft = open_draft(Workspace.open(workspace), "own")
    return draft.candidate(draft.ids()[0])


@pytest.mark.parametrize("text", ["nan", "inf", "2.5", "-2.0000003"])
def test_an_action_outside_its_space_is_one_line(pendulum: Any, text: str) -> None:
    asked = replace(pendulum, instruction=Instruction(text, "swing", 6, "curator"))
    with pytest.raises(
        StsError,
        match=r"agent 'astray' at step 6: expected actions float32\[1, 1, 1\] within the bounds of "
        rf"gymnasium:Pendulum-v1; found \[{float(np.float32(text))!r}",
    ):
        continue_all([asked], spaces.Astray(), seed=0, indices=[0])


@pytest.mark.parametrize(
    ("moves", "log_probs", "found"),
    [
        (np.zeros((1, 1)), None, r"float64\[1, 1\]"),
        (np.zeros((1, 1, 1), complex), None, r"complex128\[1, 1, 1\]"),
        (np.zeros((1, 1, 1)), np.full((1, 1), np.nan), r"finite log-probabilities, float\[1, 1\]"),
        (np.zeros((1, 1, 1)), np.zeros(1), r"found float64\[1\]"),
    ],
)
def test_what_is_no_choice_among_real_actions_is_one_line(
    pendulum: Any, moves: Any, log_probs: Any, found: str
) -> None:
    class Wrong(spaces.Astray):
        def act(self, observation: Any, instructions: Any, memory: Any, draws: Any) -> Any:
            from sts.agents import Choice

            return Choice(moves, log_probs=log_probs), memory

    world = domain(spaces.PENDULUM)
    worlds = world.restore([pendulum.recording.state])
    team = session.Team(Wrong(), (0,), np.zeros(1, np.uint64))
    with pytest.raises(StsError, match=f"agent 'astray' at step 0: expected .*{found}"):
        session.open(world, worlds, [team]).step()


@pytest.mark.parametrize("given", [2.5, np.nan, 1j, [0.0, 0.0]])
def test_what_is_done_from_outside_is_an_action_of_the_world(pendulum: Any, given: Any) -> None:
    world = domain(spaces.PENDULUM)
    begun = session.open(world, world.restore([pendulum.recording.state]))
    moves = np.array(given).reshape(1, 1, -1)
    with pytest.raises(DamagedData, match="expected actions and utterances of"):
        begun.step(Actions(moves, np.zeros((1, 1), np.int8)), held=(0,))


@pytest.mark.parametrize(
    ("change", "line"),
    [
        ({"moves": np.full((20, 1, 1), 3, np.float32)}, r"expected actions float32\[1\]"),
        ({"moves": np.zeros((20, 1, 1))}, r"expected actions float32\[1\]"),
        ({"moves": np.zeros((20, 1), np.int8)}, r"expected actions float32\[1\]"),
        ({"rewards": np.zeros((20, 1), np.int8)}, "expected rewards of float64"),
    ],
)
def test_a_record_of_other_types_than_its_world_has_is_refused(
    pendulum: Any, change: dict[str, Any], line: str
) -> None:
    from sts.domains import checked

    recording = pendulum.recording
    steps = recording.steps
    altered = replace(recording, **{name: array[:steps] for name, array in change.items()})
    with pytest.raises(DamagedData, match=f"it: {line}, found others"):
        checked([altered], ["it"])
    assert checked([recording], ["it"]) == [recording]


@pytest.mark.parametrize("value", [np.nan, np.inf])
def test_an_episode_holds_no_reward_and_no_action_that_is_no_number(
    pendulum: Any, value: float
) -> None:
    recording = pendulum.recording
    for name in ("rewards", "moves"):
        array = getattr(recording, name).copy()
        array[3] = value
        with pytest.raises(DamagedData, match=f"expected finite {name}, found NaN or infinity"):
            replace(recording, **{name: array})


def test_a_person_has_no_named_move_to_choose_among_real_ones(pendulum: Any) -> None:
    from sts.continuations.human import Play

    with pytest.raises(ArgumentError, match="has no named moves from which a person could choose"):
        Play(pendulum, person="p", attempt=0)


@pytest.mark.parametrize(
    ("dtype", "low", "high", "line"),
    [
        (np.float32, [1.0], [0.0], "between a lower and an upper bound"),
        (np.float32, [0.0], [0.0, 1.0], "bounds of shapes"),
        (
            np.int64,
            [-(2**60)],
            [2**60],
            "expected integer actions up to 2.53, found unbounded int64",
        ),
        (np.complex64, [0], [1], "integers or real numbers, found complex64"),
        (np.float32, [np.nan], [0.0], "between a lower and an upper bound"),
    ],
)
def test_bounds_that_are_none_are_refused(dtype: Any, low: Any, high: Any, line: str) -> None:
    with pytest.raises(ArgumentError, match=line):
        ActionSpace(np.dtype(dtype), np.array(low), np.array(high))


@pytest.mark.parametrize("dtype", ["int8", "int64", "uint16", "float32", "float64"])
def test_what_is_drawn_lies_within_the_bounds_and_finds_both_ends(dtype: str) -> None:
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
def test_an_agent_in_its_own_interpreter_does_and_says_the_same(name: str, kind: str) -> None:
    world = domain(name)
    states = world.generate(2, seed=1)
    streams = np.arange(2, dtype=np.uint64)
    made = []
    for spelling in (f"{OWN}:{kind}", f"{sys.executable}:{OWN}:{kind}"):
        worlds = world.restore(states)
        roles = tuple(range(worlds.rewards.shape[1]))
        team = session.Team(agents.load(spelling), roles, streams)
        made.append(play(world, worlds, [team], steps=5))
    child.end_all()
    here, there = made
    assert here.moves.tobytes() == there.moves.tobytes()
    assert here.says.tolist() == there.says.tolist()
    assert np.isfinite(here.log_probs).all()
    assert here.log_probs.tobytes() == there.log_probs.tobytes()
