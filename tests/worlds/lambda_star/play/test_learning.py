"""Rehearsed episodes: two ways to the same ones, what they are worth, and what they need."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from sts import agents
from sts.agents import Agent, Instructions, PolicyOutput
from sts.engine.lockstep import Rollouts, Script, play_episodes
from sts.engine.session import Team
from sts.errors import ArgumentError, StsError
from sts.numerics.streams import stream
from sts_lambda_star.agents import learner
from sts_lambda_star.agents.q_learning import QLearning
from sts_lambda_star.domain import Batch, LambdaStar
from sts_lambda_star.generation.environments import generate_environments
from sts_lambda_star.generation.patterns import Settings
from sts_lambda_star.play import practice, teams
from sts_lambda_star.play.practice import LEARNERS
from sts_lambda_star.play.teams import play_after_practice
from sts_lambda_star.published import importer
from sts_lambda_star.state import decode

STEPS = 12
TRACES = Path(__file__).parents[3] / "data" / "lambdastar_2016_traces.jsonl.xz"
names = pytest.mark.parametrize("name", LEARNERS)
QUICK = {("cooperative-sarsa", 7)}
"""Of the learners and sizes that were recorded, those of the quick tier."""


def generate_worlds(batch: int = 4, *, seed: int = 3, **settings) -> list[bytes]:
    return LambdaStar().generate(batch, seed=seed, horizon=STEPS, **settings)


def streams(count: int, of: int = 0) -> np.ndarray:
    return np.array([stream("learning", of, i) for i in range(count)], np.uint64)


def general(agent, states, rehearsals, *, steps=STEPS) -> tuple:
    """Return what the general path plays and the worlds after it."""
    world, kept = LambdaStar(), []

    def restore_worlds() -> Batch:
        kept.append(world.restore(states))
        return kept[-1]

    players = tuple(range(len(decode(states[0]).cells)))
    team = Team(agent, players, streams(len(states)))
    played = play_after_practice(restore_worlds, [team], steps=steps, rehearsals=rehearsals)
    return played, kept[-1]


def compiled(name, states, rehearsals, *, steps=STEPS, of=0, **options):
    worlds = LambdaStar().restore(states)
    keys = streams(len(states), of)
    out = practice.play_learner(
        name, worlds.arrays, keys, steps=steps, rehearsals=rehearsals, **options
    )
    return out, worlds


def assert_same(name, states, rehearsals, *, steps=STEPS, bootstrap="next") -> None:
    expected, after = general(LEARNERS[name](bootstrap), states, rehearsals, steps=steps)
    found, worlds = compiled(name, states, rehearsals, steps=steps, bootstrap=bootstrap)
    np.testing.assert_array_equal(found.actions, expected.actions)
    np.testing.assert_array_equal(found.rewards, expected.rewards)
    assert worlds.states() == after.states()


def in_the_middle() -> list[bytes]:
    """Return worlds in which three steps were made."""
    worlds = LambdaStar().restore(generate_worlds(height=5, width=4, n_players=2))
    for _ in range(3):
        worlds.step(np.full((4, 2), 1, np.int8), np.zeros((4, 2), np.int8))
    return worlds.states()


CASES = {
    "one": (lambda: generate_worlds(height=3, width=3, n_players=1), 5, "next"),
    "no rehearsal": (lambda: generate_worlds(height=3, width=7, n_players=4), 0, "next"),
    "team": (lambda: generate_worlds(height=6, width=5, n_players=3), 5, "next"),
    "long": (lambda: generate_worlds(height=6, width=5, n_players=3), 30, "next"),
    "published bootstrap": (
        lambda: generate_worlds(height=4, width=4, n_players=5),
        12,
        "published",
    ),
    "published patterns": (
        lambda: generate_worlds(height=4, width=4, n_players=5, patterns="lambdastar-2016"),
        12,
        "published",
    ),
    "from the middle": (in_the_middle, 4, "next"),
    "clash": (lambda: generate_worlds(12, seed=8, height=3, width=3, n_players=2), 3, "next"),
}


@names
@pytest.mark.parametrize(
    "case", [pytest.param(c, marks=pytest.mark.slow) if c == "long" else c for c in CASES]
)
def test_compiled_and_general_path_give_the_same_rehearsed_episodes(name, case):
    states, rehearsals, bootstrap = CASES[case]
    assert_same(name, states(), rehearsals, bootstrap=bootstrap)
    if case == "clash":
        assert (compiled(name, states(), rehearsals)[1].arrays.counter > 0).any()


@names
def test_records_that_are_put_together_in_parts_teach_the_same(name, monkeypatch):
    monkeypatch.setattr(learner, "_RECENT", 5)
    assert_same(name, generate_worlds(height=6, width=5, n_players=3), 3)


@names
def test_moves_are_uniformly_random_without_rehearsal(name):
    states = generate_worlds(600, height=6, width=6, n_players=4)
    actions = compiled(name, states, 0)[0].actions
    found = np.bincount(actions.ravel(), minlength=9)
    expected = actions.size / 9
    assert abs(found - expected).max() < 4.5 * np.sqrt(expected * (1 - 1 / 9))


@names
def test_rehearsal_raises_the_reward(name):
    states = generate_worlds(40, n_players=3)
    means = [
        compiled(name, states, rehearsals, of=k)[0].rewards.mean() / 2
        for k, rehearsals in enumerate((0, 10, 100))
    ]
    assert means[0] + 0.05 < means[1] < means[2] - 0.05


@names
def test_grids_of_different_sizes_share_a_batch_on_both_paths(name):
    states = [
        generate_worlds(3, height=h, width=w, n_players=2)[i]
        for i in range(3)
        for h, w in ((3, 9), (8, 8), (4, 3))
    ]
    assert_same(name, states, 7)
    together = compiled(name, states, 7)[0].actions
    for threads in (2, 9):
        np.testing.assert_array_equal(
            together, compiled(name, states, 7, threads=threads)[0].actions
        )
    for i, state in enumerate(states):
        worlds = LambdaStar().restore([state])
        alone = practice.play_learner(
            name, worlds.arrays, streams(9)[i : i + 1], steps=STEPS, rehearsals=7
        )
        np.testing.assert_array_equal(together[i], alone.actions[0])


def test_learners_agree_where_their_rules_coincide():
    """SARSA's rehearsed choice is always a best one; a team of one has but one table."""
    learners = list(LEARNERS)
    states = generate_worlds(height=4, width=4, n_players=3)
    for pair in (learners[::2], learners[1::2]):
        q, sarsa = (general(LEARNERS[name](), states, 9)[0].actions for name in pair)
        np.testing.assert_array_equal(q, sarsa)
    alone, shared = (
        compiled(name, generate_worlds(n_players=1), 9)[0].actions for name in learners[:2]
    )
    np.testing.assert_array_equal(alone, shared)


class Fixed(Agent):
    """Makes the same moves in every episode, whatever it sees."""

    name = "fixed"

    def act(self, observation, instructions, memory, draws):
        return PolicyOutput(np.full(observation.cell.shape, 1)), memory


def test_no_episode_is_rehearsed_without_a_learner():
    passes: list[Batch] = []
    world, states = LambdaStar(), generate_worlds(n_players=1)
    team = Team(agents.load("random"), (0,), streams(4))

    def restore_worlds() -> Batch:
        passes.append(world.restore(states))
        return passes[-1]

    played = play_after_practice(restore_worlds, [team], steps=STEPS, rehearsals=50)
    plain = play_episodes(world, world.restore(states), [team], steps=STEPS)
    np.testing.assert_array_equal(played.actions, plain.actions)
    assert len(passes) == 1


def test_learner_that_fails_to_finish_is_named():
    class Hasty(Fixed):
        name = "hasty"

        def finish(self, observation, memory):
            raise KeyError("table")

    with pytest.raises(StsError, match=r"'hasty' failed in finish\(\): KeyError: 'table'"):
        general(Hasty(), generate_worlds(), 1)


def values_of(played: Rollouts, cell: int, step: int, cells: int) -> np.ndarray:
    """Return float64[9]: what the first episode's first role learned of a state."""
    kept = played.memories[0]
    rows = np.flatnonzero(kept["marks"][0] >> 9 == step * cells + cell)
    return kept["values"][0, rows[0]] if rows.size else np.full(9, 0.2)


@pytest.mark.parametrize("name", ["q-learning", "sarsa"])
def test_learned_values_equal_those_by_hand(name):
    """One role, two steps: 0.2 + 0.3 (r + 0.3 * 0.2 - 0.2), and no future after the last."""
    agent, states, world = LEARNERS[name](), generate_worlds(1, height=3, width=3), LambdaStar()
    worlds = world.restore(states)
    played = play_episodes(world, worlds, [Team(agent, (0,), streams(1))], steps=2)
    kept = agent.finish(worlds.observe((0,), team=(0,), world=False), played.memories[0])
    played = played._replace(memories=(kept,))
    for t, future in ((0, 0.2), (1, 0.0)):
        move, reward = int(played.actions[0, t, 0]), float(played.rewards[0, t, 0]) / 2
        found = values_of(played, int(played.scene[0, t, 2]), t, 9)
        expected = np.full(9, 0.2)
        expected[move] = 0.2 + 0.3 * (reward + 0.3 * future - 0.2)
        np.testing.assert_allclose(found, expected, rtol=0, atol=1e-15)
    assert (kept["marks"] >= 0).sum() == 2 and not kept["recent_cells"].size


@pytest.mark.parametrize(("name", "future"), [("q-learning", 0.2), ("sarsa", 0.14)])
def test_only_sarsa_values_the_forced_next_move(name, future):
    """Twice the same two moves without reward: the second is worth 0.2 - 0.3 * 0.2 by then."""
    world, states = LambdaStar(), generate_worlds(1, height=50, width=50)
    agent, memory_ = LEARNERS[name](), None
    actions, utterances = np.full((1, 2, 1), 1, np.int8), np.zeros((1, 2, 1), np.int8)
    script = Script(actions, utterances, np.ones((2, 1), np.bool_))
    for _ in range(2):
        worlds = world.restore(states)
        team = Team(agent, (0,), streams(1), memory_)
        played = play_episodes(world, worlds, [team], steps=2, script=script)
        assert not played.rewards.any()
        memory_ = agent.finish(worlds.observe((0,), team=(0,), world=False), played.memories[0])
    assert memory_ is not None
    found = values_of(played._replace(memories=(memory_,)), int(played.scene[0, 0, 2]), 0, 2500)
    before = 0.2 + 0.3 * (0.3 * 0.2 - 0.2)
    assert found[1] == pytest.approx(before + 0.3 * (0.3 * future - before), abs=1e-12)


def test_memory_grows_with_the_states_met_and_is_not_copied_at_every_step():
    """What was learned before stays the very arrays; a hundred passes else take a hundred times."""
    agent, states, world = QLearning(), generate_worlds(2, height=200, width=200), LambdaStar()
    worlds = world.restore(states)
    kept = play_episodes(world, worlds, [Team(agent, (0,), streams(2))], steps=STEPS).memories[0]
    assert kept["recent_cells"].shape == (2, STEPS, 1) and (kept["marks"] == -1).all()
    seen = worlds.observe((0,), team=(0,), world=False)
    kept = agent.finish(seen, kept)
    assert ((kept["marks"] >= 0).sum(1) == STEPS).all() and not kept["recent_cells"].size
    assert kept["marks"].shape[1] < 8 * STEPS
    told = Instructions(("",), np.zeros(2, np.int32))
    _, after = agent.act(seen, told, kept, np.empty((2, 1, 0)))
    assert all(after[name] is kept[name] for name in ("marks", "tops", "values"))


def test_unknown_bootstrap_is_refused():
    with pytest.raises(
        ArgumentError, match="expected bootstrap 'next' or 'published', found 'last'"
    ):
        QLearning("last")


@pytest.fixture(scope="module")
def recorded() -> dict[tuple[str, int], list]:
    """Recorded trajectories of the published program by team and grid size."""
    out: dict[tuple[str, int], list] = {}
    for one in importer.read(TRACES):
        team = one.players[0].name
        if team in LEARNERS:
            out.setdefault((team, decode(one.episode.state).height), []).append(one.episode)
    return out


@pytest.mark.parametrize(
    ("name", "size"),
    [
        pytest.param(name, size, marks=[] if (name, size) in QUICK else [pytest.mark.slow])
        for size in (5, 6, 7)
        for name in LEARNERS
    ],
)
def test_published_bootstrap_earns_what_the_published_program_recorded(recorded, name, size):
    """Paired by episode; what "next" learns is worth more (docs/lambdastar_2016.md, section 8)."""
    episodes = recorded[name, size]
    theirs = np.array([e.rewards.mean() / 2 for e in episodes])
    ours = {}
    for bootstrap in ("published", "next"):
        states, steps = [e.state for e in episodes] * 50, len(episodes[0].actions)
        out, _ = compiled(name, states, 100, steps=steps, bootstrap=bootstrap)
        ours[bootstrap] = out.rewards.mean((1, 2)).reshape(50, -1).mean(0) / 2
    assert abs(z(ours["published"] - theirs)) < 4
    assert z(ours["next"] - ours["published"]) > 2
    assert size < 7 or z(ours["next"] - theirs) > 2.5


def z(differences: np.ndarray) -> float:
    return float(differences.mean() / (differences.std(ddof=1) / np.sqrt(differences.size)))


COSTS = {
    "q-learning": (0.0736, 0.0063),
    "cooperative-q-learning": (0.0612, 0.0046),
    "sarsa": (0.0559, 0.0062),
    "cooperative-sarsa": (0.0367, 0.0045),
}


@pytest.mark.parametrize(
    "name", [n if n == "sarsa" else pytest.param(n, marks=pytest.mark.slow) for n in COSTS]
)
def test_published_bootstrap_costs_what_the_page_says(name):
    """docs/lambdastar_2016.md, section 9, on other worlds of the same patterns."""
    effect, error = COSTS[name]
    settings = {"n_players": 5, "horizon": 50, "patterns": "lambdastar-2016"}
    states = LambdaStar().generate(300, seed=10, **settings)
    means = [
        compiled(name, states, 100, steps=50, bootstrap=b)[0].rewards.mean((1, 2)) / 2
        for b in ("next", "published")
    ]
    gain = means[0] - means[1]
    own = gain.std(ddof=1) / np.sqrt(gain.size)
    assert abs(gain.mean() - effect) < 4 * np.hypot(own, error)


def test_learners_that_do_not_fit_in_memory_are_refused_before_they_play(monkeypatch):
    """A table and the walks of 64 worlds for each thread, and what 2 episodes record."""
    members, settings = teams.load_team("q-learning"), Settings()
    case = {"episodes": 2, "rehearsals": 9}
    table, recorded = 100 * (50 * 89 + 36) + 50 * 2 * 64 * 4, 2 * 51 * (9 + 4)
    monkeypatch.setattr(teams, "memory_limit", lambda: 6 * (table + recorded))
    teams.check_memory(members, settings, **case, at_once=6)
    with pytest.raises(ArgumentError) as caught:
        teams.check_memory(members, settings, **case, at_once=7)
    assert str(caught.value) == (
        "q-learning needs 4 MiB of memory for 7 times 2 episodes of 1 players and 50 steps on "
        "10x10 cells, but only 2 MiB, half of this machine's memory, are allowed; lower the "
        "episodes, the size, the team, the steps, the rehearsals or the workers"
    )
    monkeypatch.setattr(teams, "memory_limit", lambda: 3 * table + recorded)
    teams.check_memory(members, settings, **case, threads=3)
    # A mixed team keeps twice as many rows of 88 bytes as states, notes of 4, and twice that
    # while they grow.
    settings, mixed = Settings(n_players=4), teams.load_team("q-learning,cooperative-sarsa")
    case = {"episodes": 10, "rehearsals": 9, "at_once": 3}
    needed = 3 * 10 * (2 * 2 * (2047 * 88 + 50 * 2 * 4) + 51 * (4 * 9 + 4))
    monkeypatch.setattr(teams, "memory_limit", lambda: needed)
    teams.check_memory(mixed, settings, **case)
    monkeypatch.setattr(teams, "memory_limit", lambda: needed - 1)
    with pytest.raises(ArgumentError, match=r"^q-learning,cooperative-sarsa needs 21 MiB .* lower"):
        teams.check_memory(mixed, settings, **case)
    monkeypatch.setattr(teams, "memory_limit", lambda: 10)
    worlds = generate_environments(settings, seed=0, start=0, stop=2)
    for way in (teams.total_rewards, teams.play_episodes):
        with pytest.raises(ArgumentError, match=r"needs \d+ MiB of memory"):
            way(mixed, worlds, seed=0)


@names
def test_tables_take_no_more_memory_than_estimated(name):
    states, agent = generate_worlds(3, n_players=3), LEARNERS[name]()
    kept = general(agent, states, 20)[0].memories[0]
    assert 2 * kept["values"][0].nbytes <= agent.memory_bytes(3, 100, STEPS, 20)
    assert 6 * kept["values"][0].nbytes > agent.memory_bytes(3, 100, STEPS, 20)
