"""What every installed agent promises, whoever wrote it."""

import copy
import functools
from typing import Any, NamedTuple

import numpy as np
import pytest

from sts import agents
from sts.domains import load_domain
from sts.engine.lockstep import Rollouts, Script, play_episodes
from sts.engine.session import Team, bind_agent
from sts.numerics.streams import stream
from tests.examples import agents_of, instructed

STEPS = 10
TEXTS = (
    *("", "Reach Good.", "Follow Good for 4 steps.", "Keep away from Evil.", "Stand still."),
    *("Walk 3 cells up and to the left.", "Join participant B.", "In which direction is Good?"),
    *("Do you see Evil?", "Sing a song."),
)
HAPPENED = Rollouts._fields[:-1]  # what an agent remembers may be padded by its batch
SIZES = ((3, 3), (10, 10), (5, 8))

NAMES = [*agents_of("lambda-star"), "random"]
agent_names = pytest.mark.parametrize("name", NAMES)


class Cases(NamedTuple):
    states: list[bytes]
    streams: np.ndarray
    texts: list[str]
    given_at: list[int]

    def take(self, order):
        states, texts, given_at = (
            [own[i] for i in order] for own in (self.states, self.texts, self.given_at)
        )
        return Cases(states, self.streams[order], texts, given_at)


@functools.cache
def cases(n_players: int = 3, sizes: tuple[tuple[int, int], ...] = SIZES) -> Cases:
    """Return one episode of every size and text, told at different steps."""
    world = load_domain("lambda-star")
    more: dict[str, int] = {"n_players": n_players, "horizon": 30}
    states = [
        state
        for height, width in sizes
        for state in world.generate(len(TEXTS), seed=5, height=height, width=width, **more)
    ]
    count = len(states)
    streams = np.array([stream("contract", i) for i in range(count)], np.uint64)
    streams.flags.writeable = False
    texts = [TEXTS[i % len(TEXTS)] for i in range(count)]
    return Cases(states, streams, texts, [i % 5 for i in range(count)])


def play_cases(
    agent: agents.Agent, c: Cases, players: tuple[int, ...] = (0, 2), script: Script | None = None
) -> Rollouts:
    world = load_domain("lambda-star")
    teams, told = [Team(agent, players, c.streams)], instructed(c.texts, c.given_at)
    return play_episodes(
        world, world.restore(c.states), teams, steps=STEPS, script=script, instructions=told
    )


@functools.cache
def play_all_cases(name: str) -> Rollouts:
    """Return what an agent does in all cases, as one batch."""
    return play_cases(agents.load(name), cases())


@functools.cache
def elsewhere(name: str) -> Rollouts:
    """The same with other streams of its draws."""
    c = cases()
    return play_cases(agents.load(name), c._replace(streams=c.streams + np.uint64(1)))


def assert_same(a: Rollouts, b: Rollouts) -> None:
    for name, x, y in zip(HAPPENED, a, b, strict=False):
        np.testing.assert_array_equal(x, y, err_msg=name)


def rows(p: Rollouts, order: list[int]) -> Rollouts:
    happened: Any = p[: len(HAPPENED)]
    return Rollouts(*(field[order] for field in happened))


def frozen(value: Any) -> Any:
    """Make every array in a tuple, dict or dataclass read-only."""
    named = value._asdict() if hasattr(value, "_asdict") else value
    for array in (named if isinstance(named, dict) else vars(named)).values():
        if isinstance(array, np.ndarray):
            array.flags.writeable = False
    return value


@functools.cache
def marks() -> dict[str, str]:
    return {name: agents.fingerprint(agents.load(name)) for name in NAMES}


@agent_names
def test_agent_is_found_under_its_own_name(name):
    agent = agents.load(name)
    assert agent.name == name and type(agent).__doc__ and agent.draws >= 0
    assert agent.sees in ("observation", "world", "rehearsal")
    mark = agents.fingerprint(agent)
    assert mark == agents.fingerprint(agents.load(name)) and len(mark) == 16
    assert [one for one in marks() if marks()[one] == mark] == [name]


@agent_names
def test_episodes_do_not_depend_on_the_split_or_order_of_their_batch(name):
    c = cases()
    agent = agents.load(name)
    count = len(c.states)
    for part in ([17], [*range(3, 9)], [*reversed(range(count))]):
        assert_same(rows(play_all_cases(name), part), play_cases(agent, c.take(part)))


@agent_names
@pytest.mark.parametrize(
    "players", [1, 3, 6, *(pytest.param(n, marks=pytest.mark.landing) for n in (2, 4, 5))]
)
def test_a_team_of_any_size_plays_even_the_smallest_grid(name, players):
    c = cases(n_players=6, sizes=((3, 3),))
    out = play_cases(agents.load(name), c, players=tuple(range(players)))
    assert out.actions.min() >= 0 and out.actions.max() <= 8
    assert (out.utterances[:, :, players:] == 0).all()


@agent_names
def test_agent_returns_weights_and_changes_no_argument(name):
    world, c = load_domain("lambda-star"), cases()
    agent = bind_agent(agents.load(name), world)
    worlds = world.restore(c.states)
    players, batch = (0, 2), len(c.states)
    told = agents.Instructions(TEXTS, np.array([TEXTS.index(t) for t in c.texts], np.int32))
    memory = agent.initial_state(batch, len(players))
    for t in range(4):
        seen = frozen(worlds.observe(players, team=players, world=agent.sees != "observation"))
        draws = np.random.default_rng(t).random((batch, len(players), agent.draws))
        draws.flags.writeable = False
        frozen(memory)
        before = copy.deepcopy(memory)
        choice, after = agent.act(seen, frozen(told), memory, draws)
        again, _ = agent.act(seen, told, memory, draws)
        for key, value in before.items():
            np.testing.assert_array_equal(value, memory[key])
        assert all(value.shape[0] == batch for value in after.values())
        for weights, repeated, count in (
            (choice.actions, again.actions, len(world.action_names)),
            (choice.utterances, again.utterances, len(world.tokens)),
        ):
            if weights is None:
                assert repeated is None
                continue
            np.testing.assert_array_equal(weights, repeated)
            assert weights.shape == (batch, len(players), count)
            assert np.isfinite(weights).all() and (weights >= 0).all()
            assert (weights.sum(-1) > 0).all()
            assert not agent.deterministic or ((weights > 0).sum(-1) == 1).all()
        memory = after
        actions = np.full((batch, 3), 4, np.int8)
        actions[:, players] = choice.actions.argmax(-1)
        worlds.step(actions, np.zeros((batch, 3), np.int8))


@agent_names
def test_forced_steps_update_the_memory_as_own_steps_do(name):
    c, takeover = cases(), STEPS // 2
    free = play_all_cases(name)
    forced = np.zeros((STEPS, 3), np.bool_)
    forced[:takeover] = True
    blank = free.actions.copy()
    blank[:, takeover:] = 0
    script = Script(blank, free.utterances, forced)
    assert_same(free, play_cases(agents.load(name), c, script=script))


@agent_names
def test_actions_depend_on_the_random_stream_unless_deterministic(name):
    assert_same(play_all_cases(name), play_cases(agents.load(name), cases()))
    same = np.array_equal(play_all_cases(name).actions, elsewhere(name).actions)
    assert agents.load(name).deterministic == same
    np.testing.assert_array_equal(
        play_all_cases(name).scene[:, :, :2], elsewhere(name).scene[:, :, :2]
    )
