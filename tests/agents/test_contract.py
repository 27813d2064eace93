"""What every installed agent promises, whoever wrote it."""

from __future__ import annotations

import copy
import functools
from typing import Any, NamedTuple

import numpy as np
import pytest

from sts import agents
from sts.domains import domain
from sts.engine.lockstep import Played, Script, play
from sts.engine.session import Team, fit
from sts.numerics.streams import stream
from tests.examples import agents_of, instructed

STEPS = 14
TEXTS = (
    "",
    "Reach Good.",
    "Follow Good for 4 steps.",
    "Keep away from Evil.",
    "Walk 3 cells up and to the left.",
    "Stand still.",
    "Join participant B.",
    "In which direction is Good?",
    "Do you see Evil?",
    "Sing a song.",
)
HAPPENED = Played._fields[:-1]  # what an agent remembers may be padded by its batch
SIZES = ((3, 3), (10, 10), (5, 8), (3, 7))

NAMES = [*agents_of("lambda-star"), "random"]
agent_names = pytest.mark.parametrize("name", NAMES)


class Cases(NamedTuple):
    states: list[bytes]
    streams: np.ndarray
    texts: list[str]
    given_at: list[int]

    def take(self, order: list[int]) -> Cases:
        return Cases(
            [self.states[i] for i in order],
            self.streams[order],
            [self.texts[i] for i in order],
            [self.given_at[i] for i in order],
        )


@functools.cache
def cases(participants: int = 3, sizes: tuple[tuple[int, int], ...] = SIZES) -> Cases:
    """Return one episode of every size and text, told at different steps."""
    world = domain("lambda-star")
    states = [
        state
        for height, width in sizes
        for state in world.generate(
            len(TEXTS), seed=5, height=height, width=width, participants=participants, horizon=30
        )
    ]
    count = len(states)
    streams = np.array([stream("contract", i) for i in range(count)], np.uint64)
    streams.flags.writeable = False
    return Cases(
        states,
        streams,
        [TEXTS[i % len(TEXTS)] for i in range(count)],
        [i % 5 for i in range(count)],
    )


def played(
    agent: agents.Agent, c: Cases, roles: tuple[int, ...] = (0, 2), script: Script | None = None
) -> Played:
    world = domain("lambda-star")
    return play(
        world,
        world.restore(c.states),
        [Team(agent, roles, c.streams)],
        steps=STEPS,
        script=script,
        told=instructed(c.texts, c.given_at),
    )


@functools.cache
def whole(name: str) -> Played:
    """What an agent does in all cases, as one batch."""
    return played(agents.load(name), cases())


@functools.cache
def elsewhere(name: str) -> Played:
    """The same with other streams of its draws."""
    c = cases()
    return played(agents.load(name), c._replace(streams=c.streams + np.uint64(1)))


def assert_same(a: Played, b: Played) -> None:
    for name, x, y in zip(HAPPENED, a, b, strict=False):
        np.testing.assert_array_equal(x, y, err_msg=name)


def rows(p: Played, order: list[int]) -> Played:
    happened: Any = p[: len(HAPPENED)]
    return Played(*(field[order] for field in happened))


def frozen(value: Any) -> Any:
    """Make every array in a tuple, dict or dataclass read-only."""
    named = value._asdict() if hasattr(value, "_asdict") else value
    for array in (named if isinstance(named, dict) else vars(named)).values():
        if isinstance(array, np.ndarray):
            array.flags.writeable = False
    return value


@agent_names
def test_an_agent_is_found_under_its_own_name(name):
    agent = agents.load(name)
    assert agent.name == name
    assert agent.sees in ("observation", "world", "rehearsal")
    assert agent.draws >= 0
    assert type(agent).__doc__


@agent_names
def test_episodes_do_not_depend_on_the_order_of_their_batch(name):
    c = cases()
    order = list(reversed(range(len(c.states))))
    assert_same(rows(whole(name), order), played(agents.load(name), c.take(order)))


@agent_names
def test_episodes_do_not_depend_on_the_split_of_their_batch(name):
    c = cases()
    agent = agents.load(name)
    for part in ([0], [17], list(range(3, 9)), list(range(10, len(c.states)))):
        assert_same(rows(whole(name), part), played(agent, c.take(part)))


@agent_names
@pytest.mark.parametrize(
    "roles", [1, 3, 6, *(pytest.param(n, marks=pytest.mark.landing) for n in (2, 4, 5))]
)
def test_a_team_of_any_size_plays_even_the_smallest_grid(name, roles):
    c = cases(participants=6, sizes=((3, 3),))
    out = played(agents.load(name), c, roles=tuple(range(roles)))
    assert out.moves.min() >= 0 and out.moves.max() <= 8
    assert (out.says[:, :, roles:] == 0).all()


@agent_names
def test_an_agent_gives_weights_and_writes_to_nothing_that_it_is_passed(name):
    world, c = domain("lambda-star"), cases()
    agent = fit(agents.load(name), world)
    worlds = world.restore(c.states)
    roles, batch = (0, 2), len(c.states)
    told = agents.Instructions(TEXTS, np.array([TEXTS.index(t) for t in c.texts], np.int32))
    memory = agent.begin(batch, len(roles))
    for t in range(4):
        seen = frozen(worlds.observe(roles, team=roles, world=agent.sees != "observation"))
        draws = np.random.default_rng(t).random((batch, len(roles), agent.draws))
        draws.flags.writeable = False
        frozen(memory)
        before = copy.deepcopy(memory)
        choice, after = agent.act(seen, frozen(told), memory, draws)
        again, _ = agent.act(seen, told, memory, draws)
        for key, value in before.items():
            np.testing.assert_array_equal(value, memory[key])
        assert all(value.shape[0] == batch for value in after.values())
        for weights, repeated, count in (
            (choice.moves, again.moves, len(world.moves)),
            (choice.says, again.says, len(world.tokens)),
        ):
            if weights is None:
                assert repeated is None
                continue
            np.testing.assert_array_equal(weights, repeated)
            assert weights.shape == (batch, len(roles), count)
            assert np.isfinite(weights).all() and (weights >= 0).all()
            assert (weights.sum(-1) > 0).all()
            assert not agent.deterministic or ((weights > 0).sum(-1) == 1).all()
        memory = after
        moves = np.full((batch, 3), 4, np.int8)
        moves[:, roles] = choice.moves.argmax(-1)
        worlds.step(moves, np.zeros((batch, 3), np.int8))


@agent_names
def test_forced_steps_warm_the_memory_as_own_steps_do(name):
    c, takeover = cases(), STEPS // 2
    free = whole(name)
    forced = np.zeros((STEPS, 3), np.bool_)
    forced[:takeover] = True
    blank = free.moves.copy()
    blank[:, takeover:] = 0
    script = Script(blank, free.says, forced)
    assert_same(free, played(agents.load(name), c, script=script))


@agent_names
def test_equal_streams_agree_and_other_streams_differ_unless_it_is_deterministic(name):
    assert_same(whole(name), played(agents.load(name), cases()))
    same = np.array_equal(whole(name).moves, elsewhere(name).moves)
    assert agents.load(name).deterministic == same


@agent_names
def test_what_an_agent_draws_never_moves_good_or_evil(name):
    np.testing.assert_array_equal(whole(name).scene[:, :, :2], elsewhere(name).scene[:, :, :2])


@functools.cache
def marks() -> dict[str, str]:
    """Return the fingerprints of all of them."""
    return {name: agents.fingerprint(agents.load(name)) for name in NAMES}


@agent_names
def test_two_agents_of_one_name_share_a_fingerprint_and_nobody_else_has_it(name):
    mine = agents.fingerprint(agents.load(name))
    assert mine == agents.fingerprint(agents.load(name))
    others = {mark for other, mark in marks().items() if other != name}
    assert mine not in others and len(mine) == 16
