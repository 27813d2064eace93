import dataclasses
from collections import deque

import numpy as np
import pytest

from sts import agents
from sts.agents.protocol import Instructions
from sts.continuations.takeover import continue_all, group_by_shape
from sts.domains.adapter import Observation
from sts.domains.random import Random
from sts.errors import ArgumentError, DamagedData, StsError
from sts_overcooked import trials
from sts_overcooked.agents import cloned, network
from sts_overcooked.agents.features import SIZE, extract_features
from sts_overcooked.agents.greedy import Greedy, read_kitchen
from sts_overcooked.agents.routes import find_routes
from sts_overcooked.agents.stay import Stay
from sts_overcooked.constants import INTERACT, SIDES, STAY
from sts_overcooked.environment import LAYOUTS, Overcooked
from sts_scenarios.rules import categories
from tests.mined import mine
from tests.recording import record


def record_episodes(agent, layout="cramped_room", *, count=2, steps=250, seed=1):
    settings = {"layout": layout}
    return record(
        agent, domain="overcooked", count=count, steps=steps, seed=seed, settings=settings
    )


@pytest.mark.parametrize("layout", LAYOUTS)
def test_two_planners_make_soup_in_every_kitchen(layout):
    assert sum(t.episode.rewards.sum() for t in record_episodes(Greedy(), layout)) >= 60


def test_staying_and_random_agents_make_almost_no_soup():
    assert sum(t.episode.rewards.sum() for t in record_episodes(Stay())) == 0
    assert sum(t.episode.rewards.sum() for t in record_episodes(Random())) <= 20


def test_equal_seeds_play_alike_and_others_do_not():
    one, same, other = (
        [t.id for t in record_episodes(Greedy(), steps=60, seed=s)] for s in (1, 1, 2)
    )
    assert one == same != other


def events_beside_who_stands(world, text):
    """Return what a planner, told this, does in 60 steps while the green hat stands still."""
    agent, none, done = Greedy(), np.zeros((1, 1), np.int8), []
    told, memory = Instructions(("", text), np.ones(1, np.int32)), agent.initial_state(1, 1)
    for step in range(60):
        values = {name: np.asarray(value)[None, None] for name, value in world.observe(0).items()}
        seen = Observation(np.array([step]), values, none, none, none)
        choice, memory = agent.act(seen, told, memory, np.zeros((1, 1)))
        world.step((int(choice.actions[0, 0].argmax()), Overcooked.noop))
        done += world.events
    return done


def test_planner_takes_another_way_than_through_a_standing_cook():
    world = Overcooked()
    world.reset(0, layout="cramped_room")
    for move in ("up", "right"):
        world.step((Overcooked.action_names.index(move), Overcooked.noop))
    row, column, *_ = world.observe(0)["me"]
    assert [row, column + 1] == world.observe(0)["partner"][:2].tolist()
    done = events_beside_who_stands(world, "Put an onion into a pot.")
    assert "potting_onion" in [deed for _, deed, _ in done]


def test_planner_leaves_what_it_has_handed_over():
    world = Overcooked()
    world.reset(0, layout="cramped_room")
    text = "Lay an onion on a counter where the cook with the green hat can take it."
    done = events_beside_who_stands(world, text)
    (laid,) = [place for _, deed, place in done if deed == "onion_drop"]
    assert [deed for _, deed, place in done if place == laid] == ["onion_drop"]
    assert "potting_onion" in [deed for _, deed, _ in done]


def any_kitchen(rng):
    """Return a kitchen with counters here and there, in which both have moved about."""
    height, width = rng.integers((5, 5), (8, 9))
    rows = np.full((height, width), "X")
    rows[1:-1, 1:-1] = rng.choice([" ", "X"], (height - 2, width - 2), p=[0.75, 0.25])
    rows[0, 1:5] = list("PODS")
    free = np.argwhere(rows == " ")
    for cook, (row, column) in zip("12", rng.permutation(free), strict=False):
        rows[row, column] = cook
    world = Overcooked()
    world.begin(["".join(row) for row in rows], rules="2019", episode="any", length=400)
    for both in rng.integers(0, 4, (10, 2)).tolist():
        world.step(both)
    return world


def seen_ways(world):
    seen = read_kitchen(dict(world.observe(0)))
    return seen, find_routes(seen.tiles == 0, seen.me.cell, seen.me.side, {seen.partner.cell})


def move_cook(world, state, move):
    world.restore(state)
    world.step((move, STAY))
    return world.state()


def fewest_moves(world):
    """Return after how few moves the blue hat faces each cell, by trying them in the game."""
    found: dict[tuple[int, int], int] = {}
    seen, waiting = set(), deque([(world.state(), 0)])
    while waiting:
        state, steps = waiting.popleft()
        world.restore(state)
        row, column, side, _ = world.observe(0)["me"].tolist()
        if (row, column, side) not in seen:
            seen.add((row, column, side))
            right, down = SIDES[side]
            found.setdefault((row + down, column + right), steps)
            waiting += [(move_cook(world, state, move), steps + 1) for move in range(4)]
    return found


@pytest.mark.parametrize("seed", range(12))
def test_route_is_a_shortest_one_in_the_game(seed):
    world = any_kitchen(np.random.default_rng(seed))
    start = world.state()
    seen, found = seen_ways(world)
    fewest = {cell: n for cell, n in fewest_moves(world).items() if seen.tiles[cell] != 0}
    assert {cell: way.steps for cell, way in found.items()} == fewest and fewest
    for cell in found:
        world.restore(start)
        for left in range(found[cell].steps, 0, -1):
            way = seen_ways(world)[1][cell]
            assert way.steps == left
            world.step((way.move, STAY))
        assert seen_ways(world)[1][cell] == (0, INTERACT)


@pytest.fixture(scope="module")
def two_trials():
    """The beginnings of two trials."""
    found = trials.read_trials(trials.installed_files()[0])
    return [trial._replace(actions=trial.actions[:300]) for trial in found[:2]]


@pytest.fixture
def cache(monkeypatch, tmp_path, two_trials):
    """A cache of its own, and two short trials to learn from."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    monkeypatch.setattr(trials, "read_trials", lambda path: two_trials)
    cloned._load_examples.cache_clear()
    yield tmp_path
    cloned._load_examples.cache_clear()


def test_cloning_beats_chance_and_names_its_training_data(cache):
    path, loss = cloned.train(epochs=4)
    assert path.is_relative_to(cache) and loss < 0.8 * np.log(6)
    agent = agents.load("overcooked-cloned")
    assert agent.trained_on.startswith("the train side of overcooked-2019: 2 trials, 1200 moves")
    assert "16 of the 17 workers" in agent.trained_on
    assert len(record_episodes(agent, steps=20)) == 2


def test_cloning_with_another_seed_makes_another_agent(cache):
    marks = []
    for seed in (1, 1, 2):
        cloned.train(epochs=1, seed=seed)
        marks.append(agents.fingerprint(agents.load("overcooked-cloned")))
    assert marks[0] == marks[1] != marks[2]


def test_clone_does_not_depend_on_its_batch(cache):
    rng, count = np.random.default_rng(0), 3000
    shape = (count, 1, 9, 14)
    places = np.stack([rng.integers(0, top, (count, 1)) for top in (9, 14, 4, 5)], -1)
    values = {
        "tiles": rng.integers(-1, 7, shape),
        "things": rng.integers(0, 5, shape),
        "filled": rng.integers(0, 4, shape),
        "cooking": rng.integers(-1, 21, shape),
        "me": places,
        "partner": places[::-1],
    }
    cloned.train(epochs=1)
    agent = agents.load("overcooked-cloned")

    def weights(part):
        none = np.zeros((count, 1), np.int8)[part]
        own = {name: column[part] for name, column in values.items()}
        told = Instructions(("",), none[:, 0].astype(np.int32))
        seen = Observation(none[:, 0].astype(np.int64), own, none, none, none)
        return agent.act(seen, told, {}, np.zeros(none.shape))[0].actions

    some = range(0, count, 7)
    alone = np.concatenate([weights(slice(i, i + 1)) for i in some])
    np.testing.assert_array_equal(weights(slice(None))[some], alone)


def test_untrained_clone_names_the_command_that_trains_it(monkeypatch, tmp_path):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    with pytest.raises(ArgumentError, match="sts overcooked train"):
        agents.load("overcooked-cloned")
    with pytest.raises(ArgumentError, match="at least 1 epoch"):
        cloned.train(epochs=0)


def test_damaged_weights_or_those_of_another_size_are_refused(tmp_path):
    file = tmp_path / "weights.npz"
    for content in (b"", b"no weights", b"PK\x03\x04"):
        file.write_bytes(content)
        with pytest.raises(DamagedData, match="invalid weights"):
            cloned.load_weights(file)
    small = network.init_network(3, 2, 6, np.random.default_rng(0))
    np.savez(file, *small, trained_on="nothing")
    with pytest.raises(DamagedData, match="another network size"):
        cloned.load_weights(file)


def test_gradient_is_that_of_the_loss():
    rng = np.random.default_rng(0)
    net = network.Network(*(w.astype(np.float64) for w in network.init_network(5, 4, 3, rng)))
    inputs, wanted = rng.normal(size=(7, 5)), rng.integers(0, 3, 7)
    _, slope = net.gradient(inputs, wanted)
    for part, own in enumerate(slope):
        where = tuple(rng.integers(0, n) for n in own.shape)
        ends = []
        for sign in (1, -1):
            moved = [w.copy() for w in net]
            moved[part][where] += sign * 1e-5
            ends.append(network.Network(*moved).gradient(inputs, wanted)[0])
        assert np.isclose((ends[0] - ends[1]) / 2e-5, own[where], rtol=1e-2, atol=1e-6)


def test_features_are_the_kitchen_as_seen_by_the_cook():
    world = Overcooked()
    world.reset(0, layout="cramped_room")
    seen = [world.observe(player) for player in (0, 1)]
    found = extract_features({name: np.stack([one[name] for one in seen]) for name in seen[0]})
    assert found.shape == (2, SIZE) and np.isfinite(found).all()
    assert (found[0] != found[1]).any()
    partner = found[:, 11 * 77 : 12 * 77].reshape(2, 7, 11)
    assert partner.sum() == 2 and partner[0, 3 - 1, 5 + 2] == partner[1, 3 + 1, 5 - 2] == 1


@pytest.fixture(scope="module")
def dish_scenarios(recorded):
    chosen = [categories.load_category("fetch-dish")]
    return mine(recorded.values(), chosen, per_category=2, seed=0).scenarios


def continued(scenarios):
    """Yield how `recorded` continues each scenario, and the scenario."""
    for group in group_by_shape(scenarios):
        made = continue_all(group, agents.load("recorded"), seed=0, indices=[0])
        yield from zip(made, group, strict=True)


def test_recorded_agent_repeats_the_recording_and_succeeds(dish_scenarios):
    for one, s in continued(dish_scenarios):
        np.testing.assert_array_equal(one.episode.actions, s.recording.actions)
        np.testing.assert_array_equal(one.episode.scene, s.recording.scene)
        rule = categories.load_category(s.category).label
        assert rule(one.episode, s.context, s.players, s.parameters).verdict == "success"
        assert one.sees == "recording" and np.isnan(one.log_probs).all()


def test_recorded_agent_repeats_the_recording_without_a_partner_too(dish_scenarios):
    alone = [dataclasses.replace(s, partner="no-op") for s in dish_scenarios]
    for one, s in continued(alone):
        (player,) = s.players
        np.testing.assert_array_equal(
            one.episode.actions[:, player], s.recording.actions[:, player]
        )
        assert (one.episode.actions[s.context :, 1 - player] == 4).all()


def test_recording_that_ends_early_is_refused_by_scenario(dish_scenarios):
    part = dish_scenarios[0].recording.slice_steps(
        dish_scenarios[0].recording.state, 0, dish_scenarios[0].context
    )
    short = dataclasses.replace(dish_scenarios[0], partner="no-op", recording=part)
    said = f"scenario {short.id}: .* needs a recording of 65 steps, .* found 25"
    with pytest.raises(ArgumentError, match=said):
        continue_all([short], agents.load("recorded"), seed=0, indices=[0])


def test_recorded_agent_needs_the_recording_of_a_scenario():
    said = "recorded repeats the recording of a scenario, and this episode has none"
    with pytest.raises(StsError, match=said):
        record(agents.load("recorded"), domain="overcooked", count=1, steps=2, seed=0, settings={})
