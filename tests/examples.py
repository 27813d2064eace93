"""Small real things for tests: recorded trajectories and scenarios cut from them."""

from __future__ import annotations

import functools
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from sts import agents, registry
from sts.annotations.log import decisions
from sts.continuations.continuation import Continuation
from sts.domains import load_domain
from sts.engine.lockstep import Script, play_episodes
from sts.episodes import Instruction
from sts.jobs.pool import Pool
from sts.storage.files import content_hash
from sts.storage.workspace import Workspace
from sts.suites import drafts
from sts.suites import suite_store as suites
from sts.suites.decisions import Decision
from sts.suites.drafts import Draft
from sts.suites.suite import Scenario, Suite
from sts.trajectories.trajectory import Trajectory
from tests.recording import record
from tests.stores import add_person, change

if TYPE_CHECKING:
    import pytest

DATA = Path(__file__).parent / "data"
SAMPLE_2016 = DATA / "lambdastar_2016_sample.jsonl"


def recorded(
    agent: str = "local-search",
    *,
    count: int = 12,
    team: int = 2,
    steps: int = 24,
    seed: int = 3,
    **settings: Any,
) -> list[Trajectory]:
    """Return trajectories of one agent on small new worlds."""
    world = {"height": 6, "width": 7, "n_players": team, "horizon": steps} | settings
    asked: dict[str, Any] = {"count": count, "steps": steps, "seed": seed, "settings": world}
    return record(agents.load(agent), domain="lambda-star", **asked)


def instructed(texts: Sequence[str], given_at: Sequence[int]) -> list[tuple[Instruction]]:
    """Return one instruction for each episode of a batch, as `session.open` takes them."""
    each = zip(texts, given_at, strict=True)
    return [(Instruction(text, "example", step, "curator"),) for text, step in each]


def on_test_side(trajectories: Sequence[Trajectory]) -> list[Trajectory]:
    """Return those of the test split."""
    return [t for t in trajectories if t.split == "test"]


def state_after(trajectory: Trajectory, steps: int) -> bytes:
    """Return the serialised state after `steps` replayed steps."""
    episode = trajectory.episode
    world = load_domain(episode.domain)
    worlds = world.restore([episode.state])
    forced = np.ones((steps, episode.n_players), np.bool_)
    script = Script(episode.actions[None, :steps], episode.utterances[None, :steps], forced)
    play_episodes(world, worlds, [], steps=steps, script=script)
    return worlds.states()[0]


CLEAN_TAKE = "Get onto Good's cell without ever being on Evil or next to it."
"""An instruction of the category clean-take."""


def scenario(
    trajectory: Trajectory,
    *,
    id: str = "clean-take-01",
    start: int = 2,
    context: int = 6,
    horizon: int = 8,
    players: tuple[int, ...] = (0,),
    partner: str = "no-op",
    text: str = CLEAN_TAKE,
    category: str = "clean-take",
    **changes: Any,
) -> Scenario:
    """Return a scenario cut from a trajectory."""
    begun = state_after(trajectory, start)
    fields: dict[str, Any] = {
        "id": id,
        "category": category,
        "kind": "instruction",
        "instruction": Instruction(text, category, context, "curator"),
        "parameters": {},
        "trajectory": trajectory.id,
        "world": trajectory.world,
        "context_start": start,
        "context": context,
        "horizon": horizon,
        "players": players,
        "partner": partner,
        "difficulty": "easy",
        "tags": (),
        "takeover_hash": content_hash(state_after(trajectory, start + context)),
        "recording": trajectory.episode.slice_steps(begun, start, start + context + horizon),
        "provenance": {},
    }
    return Scenario(**(fields | changes))


SMALL = (
    *("clean-take", "count-others", "find-good-again", "keep-beside"),
    *("last-move", "shadow-evil", "where-was-evil"),
)


def small(workspace: Workspace) -> Suite:
    """Freeze `small@1` in a workspace: 32 scenarios of `core@2`, for what needs a whole suite.

    It holds two pairs, and four scenarios of each of seven categories, three of them questions.
    """
    core = suites.load(workspace, "core@2").scenarios
    chosen = [one for one in core if one.pair][:4]
    for name in SMALL:
        chosen += [one for one in core if one.category == name and not one.dialogue][::3]
    return suites.freeze_scenarios(workspace, "small", chosen, description="For tests.")


@functools.cache
def _of_worlds(count: int) -> tuple[Trajectory, ...]:
    """Return so many trajectories of test-side worlds, recorded once in a process."""
    return tuple(on_test_side(recorded(count=16 * count))[:count])


def scenarios(count: int = 4, **changes: Any) -> list[Scenario]:
    """Return scenarios of test-side worlds, one a world."""
    own = enumerate(_of_worlds(count), 1)
    return [scenario(t, id=f"clean-take-{i:02}", **changes) for i, t in own]


def accepted(workspace: Workspace, name: str, candidates: Sequence[Scenario]) -> Draft:
    """Return a draft of which Ana has accepted everything."""
    # Not imported by processes that play a world of the tests.
    from sts.annotations.database.annotation_store import AnnotationStore

    draft = drafts.create_draft(workspace, name, candidates)
    with AnnotationStore.open(workspace) as store:
        ana = add_person(store, "Ana", ("curator",)).id
        each = enumerate(candidates)
        made = [Decision(f"{n:032x}", s.id, "accept", ana, "", "", {}, 0.0) for n, s in each]
        change(store, decisions.append_decisions, draft.id, made)
    return draft


def play_turns(
    scenario: Scenario, turns: Sequence[tuple[int, int | str]], person: str = "annotator-0000aa"
) -> Continuation:
    """Return a person's continuation of a scenario by their turns, in a live session."""
    # Not imported by processes that play a world of the tests.
    from sts.live.game import Game
    from sts.live.openings import open_scenario
    from sts.live.records import make_live_continuation
    from sts.live.types import Turn

    with tempfile.TemporaryDirectory() as folder:
        opening = open_scenario(scenario, person)
        game = Game.start(Path(folder, "journal"), opening, scenario=scenario)
        for _ in range(scenario.context):
            game.step({})
        for turn in turns:
            game.step({scenario.players[0]: Turn(*turn)})
        game.close()
        return make_live_continuation(game)


def agents_of(domain: str) -> list[str]:
    """Return the names of the installed agents that play the worlds of a domain."""
    named = (
        (name, registry.load_entry_point("sts.agents", "agent", name))
        for name in agents.list_installed()
    )
    return [name for name, agent in named if agent.domain == domain]


def in_this_process(monkeypatch: pytest.MonkeyPatch) -> None:
    """Do the tasks of runs and recordings in this process, also those of users' own code."""
    for name in ("sts.continuations.run.create_executor", "sts.trajectories.record.create_pool"):
        monkeypatch.setattr(name, lambda *_, **__: Pool(1, inside=True))
    for module in ("sts.agents.info", "sts.continuations.run", "sts.trajectories.record"):
        monkeypatch.setattr(f"{module}.isolation_key", lambda name: "")


def instead(monkeypatch: pytest.MonkeyPatch, group: str, thing: object) -> None:
    """Replace whatever is looked up in one group of entry points by `thing`."""
    load = registry.load_entry_point
    found = lambda asked, *name: thing if asked == group else load(asked, *name)  # noqa: E731
    monkeypatch.setattr(registry, "load_entry_point", found)


def spy(monkeypatch: pytest.MonkeyPatch, owner: Any, name: str) -> list[tuple[Any, Any]]:
    """Watch a function or method; return a list to which each call adds its arguments."""
    real, calls = getattr(owner, name), []

    def watched(*given: Any, **more: Any) -> Any:
        calls.append((given, more))
        return real(*given, **more)

    monkeypatch.setattr(owner, name, watched)
    return calls
