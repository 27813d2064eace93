"""Rehearsed episodes: two ways to the same ones, what they are worth, and what they need."""

from __future__ import annotations

import lzma
from pathlib import Path

import numpy as np
import pytest

from sts import agents
from sts.agents import Agent, Choice, Instructions
from sts.engine.lockstep import Played, Script, play
from sts.engine.session import Team
from sts.errors import ArgumentError, StsError
from sts.numerics.streams import stream
from sts.worlds.lambda_star.agents.learner import Tabular
from sts.worlds.lambda_star.agents.q_learning import QLearning
from sts.worlds.lambda_star.domain import Batch, LambdaStar
from sts.worlds.lambda_star.generation.environments import generate
from sts.worlds.lambda_star.generation.patterns import Settings
from sts.worlds.lambda_star.play import practice, teams
from sts.worlds.lambda_star.play.practice import LEARNERS
from sts.worlds.lambda_star.play.teams import play_after_practice
from sts.worlds.lambda_star.published import importer
from sts.worlds.lambda_star.state import decode

STEPS = 12
TRACES = Path(__file__).parents[3] / "data" / "lambdastar_2016_traces.jsonl.xz"
names = pytest.mark.parametrize("name", LEARNERS)
QUICK = {("q-learning", 7), ("cooperative-sarsa", 7)}
"""Of the learners and sizes that were recorded, those of the quick tier."""


def made(batch: int = 4, *, seed: int = 3, **settings) -> list[bytes]:
    return LambdaStar().generate(batch, seed=seed, horizon=STEPS, **settings)


def streams(count: int, of: int = 0) -> np.ndarray:
    return np.array([stream("learning", of, i) for i in range(count)], np.uint64)


def general(agent, states, rehearsals, *, steps=STEPS) -> tuple:
    """Return what the general path plays and the worlds after it."""
    world, kept = LambdaStar(), []

    def fresh() -> Batch:
        kept.append(world.restore(states))
        return kept[-1]

    roles = tuple(range(len(decode(states[0]).cells)))
    team = Team(agent, roles, streams(len(states)))
    played = play_after_practice(fresh, [team], steps=steps, rehearsals=rehearsals)
    return played, kept[-1]


def compiled(name, states, rehearsals, *, steps=STEPS, of=0, **options):
    worlds = LambdaStar().restore(states)
    keys = streams(len(states), of)
    out = practice.play(name, worlds.arrays, keys, steps=steps, rehearsals=rehearsals, **options)
    return out, worlds


def assert_same(name, states, rehearsals, *, steps=STEPS, bootstrap="next") -> None:
    expected, after = general(LEARNERS[name](bootstrap), states, rehearsals, steps=steps)
    found, worlds = compiled(name, states, rehearsals, steps=steps, bootstrap=bootstrap)
    np.testing.assert_array_equal(found.moves, expected.moves)
    np.testing.assert_array_equal(found.rewards, expected.rewards)
    assert worlds.states() == after.states()


@names
@pytest.mark.parametrize(
    "rehearsals", [0, 5, *(pytest.param(n, marks=pytest.mark.slow) for n in (1, 30))]
)
@pytest.mark.parametrize(("size", "participants"), [((3, 3), 1), ((3, 7), 4), ((6, 5), 3)])
def test_both_paths_give_the_same_rehearsed_episodes(name, rehearsals, size, participants):
    states = made(height=size[0], width=size[1], participants=participants)
    assert_same(name, states, rehearsals)


@names
@pytest.mark.parametrize("patterns", ["paper", "lambdastar-2016"])
def test_both_paths_agree_with_the_published_bootstrap(name, patterns):
    states = made(height=4, width=4, participants=5, patterns=patterns)
    assert_same(name, states, 12, bootstrap="published")


@names
def test_both_paths_agree_where_good_and_evil_clash(name):
    states = made(12, seed=8, height=3, width=3, participants=2)
    assert (LambdaStar().restore(states).arrays.counter == 0).all()
    _, worlds = compiled(name, states, 3)
    assert (worlds.arrays.counter > 0).any()
    assert_same(name, states, 3)


@names
def test_both_paths_agree_from_the_middle_of_an_episode(name):
    worlds = LambdaStar().restore(made(height=5, width=4, participants=2))
    for _ in range(3):
        worlds.step(np.full((4, 2), 1, np.int8), np.zeros((4, 2), np.int8))
    assert_same(name, worlds.states(), 4)


@names
def test_no_rehearsals_is_what_the_general_path_plays(name):
    states, world = made(participants=3), LambdaStar()
    team = Team(agents.load(name), (0, 1, 2), streams(len(states)))
    plain = play(world, world.restore(states), [team], steps=STEPS)
    np.testing.assert_array_equal(compiled(name, states, 0)[0].moves, plain.moves)


@names
def test_without_rehearsal_every_move_is_uniformly_random(name):
    states = made(600, height=6, width=6, participants=4)
    moves = compiled(name, states, 0)[0].moves
    assert_uniform(moves, 9)


def assert_uniform(values: np.ndarray, count: int) -> None:
    found = np.bincount(values.ravel(), minlength=count)
    expected = values.size / count
    assert abs(found - expected).max() < 4.5 * np.sqrt(expected * (1 - 1 / count))


@names
def test_rehearsal_pays(name):
    states = made(40, participants=3)
    means = [
        compiled(name, states, rehearsals, of=k)[0].rewards.mean() / 2
        for k, rehearsals in enumerate((0, 10, 100))
    ]
    assert means[0] + 0.05 < means[1] < means[2] - 0.05


@names
def test_threads_change_nothing(name):
    states = made(7, height=5, width=6, participants=3)
    out, worlds = compiled(name, states, 6)
    for threads in (2, 9):
        again, others = compiled(name, states, 6, threads=threads)
        np.testing.assert_array_equal(out.moves, again.moves)
        np.testing.assert_array_equal(out.rewards, again.rewards)
        assert worlds.states() == others.states()


@names
def test_grids_of_different_sizes_share_a_batch_on_both_paths(name):
    states = [
        made(3, height=h, width=w, participants=2)[i]
        for i in range(3)
        for h, w in ((3, 9), (8, 8), (4, 3))
    ]
    assert_same(name, states, 7)
    together = compiled(name, states, 7)[0].moves
    for i, state in enumerate(states):
        worlds = LambdaStar().restore([state])
        alone = practice.play(name, worlds.arrays, streams(9)[i : i + 1], steps=STEPS, rehearsals=7)
        np.testing.assert_array_equal(together[i], alone.moves[0])


@names
def test_other_streams_give_other_episodes(name):
    states = made(participants=2)
    once, again, other = (compiled(name, states, 5, of=of)[0].moves for of in (1, 1, 2))
    np.testing.assert_array_equal(once, again)
    assert (once != other).any()


@pytest.mark.parametrize("pair", [list(LEARNERS)[::2], list(LEARNERS)[1::2]])
def test_sarsa_rehearses_to_the_values_of_q_learning_as_its_choice_is_always_a_best_one(pair):
    states = made(height=4, width=4, participants=3)
    q, sarsa = (general(LEARNERS[name](), states, 9)[0].moves for name in pair)
    np.testing.assert_array_equal(q, sarsa)


def test_a_team_of_one_learns_alike_with_a_table_of_its_own_and_a_shared_one():
    states = made(participants=1)
    alone, shared = (compiled(name, states, 9)[0].moves for name in list(LEARNERS)[:2])
    np.testing.assert_array_equal(alone, shared)


class Fixed(Agent):
    """Makes the same moves in every episode, whatever it sees."""

    name = "fixed"

    def act(self, observation, instructions, memory, draws):
        return Choice(np.full(observation.cell.shape, 1)), memory


class Diligent(Tabular):
    """A user's learner: values a move by its reward alone."""

    name = "diligent"

    def _ahead(self, seen, cells, step):
        return np.full(cells.shape, -1)


def test_a_users_learner_rehearses_and_one_that_cannot_plays_along():
    states = made(30, height=5, width=5, participants=3)
    world, keys = LambdaStar(), streams(30)
    teams = [Team(Diligent(), (0, 2), keys), Team(Fixed(), (1,), keys)]

    def mean(rehearsals: int) -> float:
        played = play_after_practice(
            lambda: world.restore(states), teams, steps=STEPS, rehearsals=rehearsals
        )
        assert (played.moves[:, :, 1] == 1).all()
        return float(played.rewards[:, :, [0, 2]].mean()) / 2

    assert mean(20) > mean(0) + 0.1


def test_where_nobody_learns_nothing_is_rehearsed():
    passes = []
    world, states = LambdaStar(), made(participants=1)

    def fresh():
        passes.append(1)
        return world.restore(states)

    team = Team(agents.load("random"), (0,), streams(4))
    played = play_after_practice(fresh, [team], steps=STEPS, rehearsals=50)
    np.testing.assert_array_equal(
        played.moves, play(world, world.restore(states), [team], steps=STEPS).moves
    )
    assert len(passes) == 1


def test_a_learner_that_fails_to_finish_is_named():
    class Hasty(Fixed):
        name = "hasty"

        def finish(self, observation, memory):
            raise KeyError("table")

    with pytest.raises(StsError, match=r"'hasty' failed in finish\(\): KeyError: 'table'"):
        general(Hasty(), made(), 1)


def values_of(played: Played, cell: int, step: int, cells: int) -> np.ndarray:
    """Return float64[9]: what the first episode's first role learned of a state."""
    kept = played.memories[0]
    rows = np.flatnonzero(kept["marks"][0] >> 18 == step * cells + cell)
    tried = kept["marks"][0, rows] >> 9 >> np.arange(9) & 1
    return np.where(tried, kept["values"][0, rows[0]], 0.2) if rows.size else np.full(9, 0.2)


@pytest.mark.parametrize("name", ["q-learning", "sarsa"])
def test_a_value_moves_by_hand_reckoned_steps(name):
    """One role, two steps: 0.2 + 0.3 (r + 0.3 * 0.2 - 0.2), and no future after the last."""
    agent, states, world = LEARNERS[name](), made(1, height=3, width=3), LambdaStar()
    worlds = world.restore(states)
    played = play(world, worlds, [Team(agent, (0,), streams(1))], steps=2)
    kept = agent.finish(worlds.observe((0,), team=(0,), world=False), played.memories[0])
    played = played._replace(memories=(kept,))
    for t, future in ((0, 0.2), (1, 0.0)):
        move, reward = int(played.moves[0, t, 0]), float(played.rewards[0, t, 0]) / 2
        found = values_of(played, int(played.scene[0, t, 2]), t, 9)
        expected = np.full(9, 0.2)
        expected[move] = 0.2 + 0.3 * (reward + 0.3 * future - 0.2)
        np.testing.assert_allclose(found, expected, rtol=0, atol=1e-15)
    assert (kept["marks"] >= 0).sum() == 2 and not kept["cells"].size


@pytest.mark.parametrize(("name", "future"), [("q-learning", 0.2), ("sarsa", 0.14)])
def test_where_moves_are_forced_only_sarsa_values_what_was_then_done(name, future):
    """Twice the same two moves without reward: the second is worth 0.2 - 0.3 * 0.2 by then."""
    world, states = LambdaStar(), made(1, height=50, width=50)
    agent, memory_ = LEARNERS[name](), None
    moves, says = np.full((1, 2, 1), 1, np.int8), np.zeros((1, 2, 1), np.int8)
    script = Script(moves, says, np.ones((2, 1), np.bool_))
    for _ in range(2):
        worlds = world.restore(states)
        team = Team(agent, (0,), streams(1), memory_)
        played = play(world, worlds, [team], steps=2, script=script)
        assert not played.rewards.any()
        memory_ = agent.finish(worlds.observe((0,), team=(0,), world=False), played.memories[0])
    assert memory_ is not None
    found = values_of(played._replace(memories=(memory_,)), int(played.scene[0, 0, 2]), 0, 2500)
    before = 0.2 + 0.3 * (0.3 * 0.2 - 0.2)
    assert found[1] == pytest.approx(before + 0.3 * (0.3 * future - before), abs=1e-12)


def test_memory_grows_with_the_states_met_and_not_with_the_grid():
    agent, states, world = QLearning(), made(2, height=200, width=200), LambdaStar()
    worlds = world.restore(states)
    kept = play(world, worlds, [Team(agent, (0,), streams(2))], steps=STEPS).memories[0]
    assert kept["cells"].shape == (2, STEPS, 1) and (kept["marks"] == -1).all()
    kept = agent.finish(worlds.observe((0,), team=(0,), world=False), kept)
    assert ((kept["marks"] >= 0).sum(1) == STEPS).all() and not kept["cells"].size
    assert kept["marks"].shape[1] < 8 * STEPS


def test_a_step_copies_what_the_pass_noted_and_not_all_that_was_ever_learned():
    """What was learned before stays the very arrays; a hundred passes else take a hundred times."""
    states, world = made(2, participants=3), LambdaStar()
    kept = general(QLearning(), states, 3)[0].memories[0]
    assert (kept["marks"] >= 0).any() and kept["cells"].shape == (2, STEPS, 3)
    worlds, roles = world.restore(states), (0, 1, 2)
    seen = worlds.observe(roles, team=roles, world=False)
    told = Instructions(("",), np.zeros(2, np.int32))
    _, after = QLearning().act(seen, told, kept, np.empty((2, 3, 0)))
    assert all(after[name] is kept[name] for name in ("marks", "tops", "values"))


def test_unknown_bootstrap_is_refused():
    with pytest.raises(
        ArgumentError, match="expected bootstrap 'next' or 'published', found 'last'"
    ):
        QLearning("last")


@pytest.fixture(scope="module")
def recorded(tmp_path_factory) -> dict[tuple[str, int], list]:
    """Recorded trajectories of the published program by team and grid size."""
    path = tmp_path_factory.mktemp("traces") / "traces.jsonl"
    path.write_bytes(lzma.decompress(TRACES.read_bytes()))
    out: dict[tuple[str, int], list] = {}
    for one in importer.read(path):
        team = one.participants[0].name
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
def test_the_published_bootstrap_earns_what_the_published_program_recorded(recorded, name, size):
    """Paired by episode; what "next" learns is worth more (docs/lambdastar_2016.md, section 8)."""
    episodes = recorded[name, size]
    theirs = np.array([e.rewards.mean() / 2 for e in episodes])
    ours = {b: rehearsed(name, episodes, b) for b in ("published", "next")}
    assert abs(z(ours["published"] - theirs)) < 4
    assert z(ours["next"] - ours["published"]) > 2
    assert size < 7 or z(ours["next"] - theirs) > 2.5


def rehearsed(name, episodes, bootstrap, seeds=50) -> np.ndarray:
    """Return float64[episodes]: the mean reward of each, over several streams of draws."""
    states, steps = [e.state for e in episodes] * seeds, len(episodes[0].moves)
    out, _ = compiled(name, states, 100, steps=steps, bootstrap=bootstrap)
    return out.rewards.mean((1, 2)).reshape(seeds, -1).mean(0) / 2


@pytest.mark.parametrize(
    ("name", "effect", "error"),
    [
        ("q-learning", 0.0736, 0.0063),
        pytest.param("cooperative-q-learning", 0.0612, 0.0046, marks=pytest.mark.slow),
        pytest.param("sarsa", 0.0559, 0.0062, marks=pytest.mark.slow),
        ("cooperative-sarsa", 0.0367, 0.0045),
    ],
)
def test_the_published_bootstrap_costs_what_it_was_measured_to_cost(name, effect, error):
    """docs/lambdastar_2016.md, section 9, on other worlds of the same patterns."""
    states = LambdaStar().generate(
        300, seed=10, participants=5, horizon=50, patterns="lambdastar-2016"
    )
    means = [
        compiled(name, states, 100, steps=50, bootstrap=b)[0].rewards.mean((1, 2)) / 2
        for b in ("next", "published")
    ]
    gain = means[0] - means[1]
    own = gain.std(ddof=1) / np.sqrt(gain.size)
    assert abs(gain.mean() - effect) < 4 * np.hypot(own, error)


def z(differences: np.ndarray) -> float:
    return float(differences.mean() / (differences.std(ddof=1) / np.sqrt(differences.size)))


def test_tables_that_do_not_fit_are_refused_before_any_work(monkeypatch):
    """A table of 100 cells and 50 steps for each thread, and what 2 episodes record."""
    members, settings = teams.load_team("q-learning"), Settings()
    case = {"episodes": 2, "rehearsals": 9}
    table, recorded = 100 * (50 * 89 + 36), 2 * 51 * (9 + 4)
    monkeypatch.setattr(teams, "allowance", lambda: 6 * (table + recorded))
    teams.check_memory(members, settings, **case, at_once=6)
    with pytest.raises(ArgumentError) as caught:
        teams.check_memory(members, settings, **case, at_once=7)
    assert str(caught.value) == (
        "q-learning needs 4 MiB of memory for 7 times 2 episodes of 1 participants and 50 steps on "
        "10x10 cells, but only 2 MiB, half of this machine's memory, are allowed; lower the "
        "episodes, the size, the team, the steps, the rehearsals or the workers"
    )
    monkeypatch.setattr(teams, "allowance", lambda: 3 * table + recorded)
    teams.check_memory(members, settings, **case, threads=3)
    worlds = generate(settings, seed=0, start=0, stop=2)
    monkeypatch.setattr(teams, "allowance", lambda: 10)
    for way in (teams.total_rewards, teams.play_episodes):
        with pytest.raises(ArgumentError, match="needs 1 MiB of memory"):
            way(members, worlds, seed=0)


def test_what_a_mixed_team_keeps_is_refused_before_any_work(monkeypatch):
    """Twice as many rows of 88 bytes as states, notes of 10, and twice that while they grow."""
    settings, members = Settings(participants=4), teams.load_team("q-learning,cooperative-sarsa")
    case = {"episodes": 10, "rehearsals": 9}
    learner, recorded = 2 * (2047 * 88 + 50 * 2 * 10), 51 * (4 * 9 + 4)
    needed = 3 * 10 * (2 * learner + recorded)
    monkeypatch.setattr(teams, "allowance", lambda: needed)
    teams.check_memory(members, settings, **case, at_once=3)
    monkeypatch.setattr(teams, "allowance", lambda: needed - 1)
    with pytest.raises(ArgumentError, match=r"^q-learning,cooperative-sarsa needs 21 MiB .* lower"):
        teams.check_memory(members, settings, **case, at_once=3)
    monkeypatch.setattr(teams, "allowance", lambda: 10)
    with pytest.raises(ArgumentError, match="q-learning,cooperative-sarsa needs 9 MiB"):
        teams.total_rewards(members, generate(settings, seed=0, start=0, stop=1), seed=0)


@names
def test_tables_take_no_more_than_was_reckoned(name):
    states, agent = made(3, participants=3), LEARNERS[name]()
    kept = general(agent, states, 20)[0].memories[0]
    assert 2 * kept["values"][0].nbytes <= agent.memory_bytes(3, 100, STEPS, 20)
    assert 6 * kept["values"][0].nbytes > agent.memory_bytes(3, 100, STEPS, 20)
