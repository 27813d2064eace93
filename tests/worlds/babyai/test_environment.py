"""What a BabyAI level promises beyond what every environment does."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable

import numpy as np
import pytest

from sts.agents import load
from sts.domains import domain
from sts.domains.conformance import check
from sts.domains.envelope import wrap
from sts.errors import ArgumentError, DamagedState, OtherVersion
from sts.trajectories.record import record
from sts.worlds.babyai import rendering
from sts.worlds.babyai.agents.planning import find_solution
from sts.worlds.babyai.environment import DONE, MOVES, BabyAI
from sts.worlds.babyai.library import (
    COLOR_TO_IDX,
    OBJECT_TO_IDX,
    STATE_TO_IDX,
    VERSION,
    WorldObj,
)
from tests.worlds.babyai.examples import EACH_LEVEL, begun


def drawn(count: int, seed: int = 0) -> str:
    return "".join(map(str, np.random.default_rng(seed).integers(0, len(MOVES), count)))


@pytest.mark.parametrize(
    ("level", "steps"),
    [
        ("PickupDistDebug", 8),
        pytest.param("GoToLocal", 40, marks=pytest.mark.landing),
        pytest.param("SynthS5R2", 40, marks=pytest.mark.landing),
        pytest.param("PutNextLocal", 400, marks=pytest.mark.landing),
        pytest.param("OpenTwoDoors", 400, marks=pytest.mark.landing),
        pytest.param("BossLevel", 400, marks=pytest.mark.landing),
    ],
)
def test_it_keeps_every_promise_of_an_environment(level: str, steps: int) -> None:
    found = list(check("babyai", seeds=2, steps=steps, settings={"level": level}))
    assert [one for one in found if one.ok is False] == []
    assert len(found) > 20


def test_its_state_is_readable_json_of_level_seed_and_moves() -> None:
    state = json.loads(begun("PutNextLocal", 5, "0122").state())
    assert state.pop("chain")
    assert state == {"level": "PutNextLocal", "seed": 5, "moves": "0122"}


@pytest.mark.parametrize("level", ["GoToLocal", "UnblockPickup", "PutNextLocal", "OpenTwoDoors"])
def test_a_level_restored_in_the_middle_goes_on_as_the_one_that_never_stopped(level: str) -> None:
    one, other = begun(level, 8, drawn(30)), BabyAI()
    other.restore(one.state())
    for move in drawn(30, 1):
        assert one.digest() == other.digest()
        assert one.live.hash() == other.live.hash()
        assert list(one.step((int(move),))) == list(other.step((int(move),)))
    assert one.state() == other.state()


@EACH_LEVEL
def test_every_registered_level_begins_and_is_restored(level: str) -> None:
    one, other = begun(level, 1, drawn(5)), BabyAI()
    other.restore(one.state())
    assert (other.live.hash(), other.instruction()) == (one.live.hash(), one.instruction())
    assert one.render().shape == (288, 256, 3)


@pytest.mark.parametrize("level", ["GoToLocal", "Unlock", "KeyInBox", "OpenTwoDoors", "GoTo"])
def test_what_is_seen_is_what_the_package_says_is_seen(level: str) -> None:
    world = begun(level, seed=3)
    for move in drawn(60, seed=1).replace("6", "2"):
        world.step((int(move),))
        seen = type(world.live).gen_obs(world.live)
        own = world.live.gen_obs()
        assert own.keys() == seen.keys()
        assert (own["direction"], own["mission"]) == (seen["direction"], seen["mission"])
        np.testing.assert_array_equal(own["image"], seen["image"])


def test_a_level_goes_by_its_gymnasium_id_too() -> None:
    assert begun("BabyAI-GoToLocal-v0").state() == begun("GoToLocal").state()


def test_an_engine_that_plays_otherwise_is_noticed() -> None:
    found = json.loads(begun(moves="0122").state())
    for change in ({"chain": "0" * 32}, {"moves": "0121"}, {"seed": 4}, {"level": "PutNextLocal"}):
        with pytest.raises(ValueError, match="replays differently from the recording"):
            BabyAI().restore(json.dumps(found | change).encode())


@pytest.mark.parametrize(
    "change", [{"seed": -1}, {"seed": "3"}, {"moves": "9"}, {"extra": 1}, {"level": "GoNowhere"}]
)
def test_what_is_no_state_is_refused(change: dict[str, object]) -> None:
    found = json.loads(begun().state())
    with pytest.raises(ValueError, match="expected|unknown BabyAI level"):
        BabyAI().restore(json.dumps(found | change).encode())


def test_an_unknown_level_is_one_line_that_names_those_there_are() -> None:
    with pytest.raises(ArgumentError, match=r"unknown BabyAI level 'GoNowhere'.*GoToLocal"):
        domain("babyai").generate(1, seed=0, level="GoNowhere")


def test_a_state_of_another_version_is_refused_by_name(monkeypatch: pytest.MonkeyPatch) -> None:
    here = domain("babyai")
    (state,) = here.generate(1, seed=0)
    monkeypatch.setattr(here, "version", "minigrid 9.9")
    with pytest.raises(DamagedState, match=r"minigrid 3.*minigrid 9\.9"):
        here.restore([state])


def test_a_state_from_before_digests_covered_the_whole_world_is_refused_by_name() -> None:
    older = wrap("babyai", VERSION, begun().state())
    with pytest.raises(OtherVersion, match=r"'minigrid 3.*'2 minigrid 3"):
        domain("babyai").restore([older])


def test_the_mission_fulfilled_pays_one_once_and_then_nothing_moves() -> None:
    world = begun()
    moves = find_solution(world, 50)
    assert moves
    paid = [world.step((int(move),))[0] for move in moves]
    assert paid == [0] * (len(moves) - 1) + [1]
    assert (world.verdict, world.ended) == ("success", True)
    state, digest = world.state(), world.digest()
    assert [world.step((move,))[0] for move in range(len(MOVES))] == [0] * len(MOVES)
    assert (world.state(), world.digest()) == (state, digest)


def test_a_strict_mission_failed_pays_minus_one_once() -> None:
    world = begun("PickupDistDebug", 1)
    wanted = {id(thing) for thing in world.live.instrs.desc.obj_set}
    x, y = next(
        (x, y)
        for x in range(world.live.width)
        for y in range(world.live.height)
        if (thing := world.live.grid.get(x, y)) and thing.can_pickup() and id(thing) not in wanted
    )
    world.live.agent_pos, world.live.agent_dir = (x - 1, y), 0
    assert world.step((MOVES.index("pickup"),))[0] == -1
    assert world.verdict == "failure"
    assert world.step((MOVES.index("drop"),))[0] == 0


def test_the_step_limit_of_the_package_is_lifted() -> None:
    world = begun(moves="0" * 700)
    assert not world.ended and len(world.moves_made) == 700


def test_done_does_nothing_but_is_remembered() -> None:
    world = begun(moves="01")
    before, seen = world.live.hash(), world.digest()
    world.step((DONE,))
    assert (world.live.hash(), world.digest()) == (before, seen)
    assert world.moves_made == "016"


def hidden(world: BabyAI, kind: str) -> tuple[int, int]:
    """Return a cell out of view with a thing of this kind; "" for an empty one."""
    grid = world.live.grid
    cells = ((x, y) for x in range(grid.width) for y in range(grid.height))
    return next(
        (x, y)
        for x, y in cells
        if not world.live.in_view(x, y) and getattr(grid.get(x, y), "type", "") == kind
    )


def adds_a_ball(world: BabyAI) -> None:
    world.live.grid.set(*hidden(world, ""), WorldObj.decode(OBJECT_TO_IDX["ball"], 0, 0))


def moves_a_ball(world: BabyAI) -> None:
    grid, old, new = world.live.grid, hidden(world, "ball"), hidden(world, "")
    grid.set(*new, grid.get(*old))
    grid.set(*old, None)


def opens_a_door(world: BabyAI) -> None:
    world.live.grid.get(*hidden(world, "door")).is_open = True


def fills_a_box(world: BabyAI) -> None:
    box = world.live.grid.get(*hidden(world, "box"))
    box.contains = WorldObj.decode(OBJECT_TO_IDX["key"], 0, 0)


def does_half_the_mission(world: BabyAI) -> None:
    world.live.instrs.a_done = "success"


@pytest.mark.parametrize(
    "change", [adds_a_ball, moves_a_ball, opens_a_door, fills_a_box, does_half_the_mission]
)
def test_a_digest_covers_what_is_out_of_view(change: Callable[[BabyAI], None]) -> None:
    world = begun("GoToSeq", 4)
    seen, before = world.observe(0), world.digest()
    world.step((DONE,))
    assert world.digest() == before
    change(world)
    world.step((DONE,))
    assert world.digest() != before
    assert all(np.array_equal(world.observe(0)[key], value) for key, value in seen.items())


def test_what_is_seen_is_of_fixed_shapes_and_says_what_is_carried() -> None:
    world = begun("PickupDist", 2)
    seen = world.observe(0)
    assert (seen["image"].shape, seen["image"].dtype) == ((7, 7, 3), np.int8)
    assert seen["carrying"].tolist() == [1, 0]
    for move in find_solution(world, 50) or "":
        world.step((int(move),))
    held = world.live.carrying
    assert held is not None
    assert world.observe(0)["carrying"].tolist() == list(held.encode())[:2]
    assert world.observe(0)["image"][3, 6].tolist() == list(held.encode())


def test_a_judge_sees_what_is_carried_below_the_map() -> None:
    world = begun("PickupDist", 2)
    empty = world.render()[256:]
    for move in find_solution(world, 50) or "":
        world.step((int(move),))
    assert (world.render()[256:] != empty).any()


def test_a_participants_sight_is_its_observation_and_nothing_else() -> None:
    world = begun("GoToObj", 3, "0")
    seen, looked = world.observe(0), world.sight(0)
    assert (looked.shape, looked.dtype.name) == ((512, 448, 3), "uint8")
    hidden = [(x, y) for x in range(1, 7) for y in range(1, 7) if not world.live.in_view(x, y)]
    for x, y in hidden:
        world.live.grid.set(x, y, WorldObj.decode(OBJECT_TO_IDX["ball"], 0, 0))
    before = world.render()
    world.step((DONE,))
    assert hidden and np.array_equal(world.sight(0), looked)
    assert all(np.array_equal(world.observe(0)[key], value) for key, value in seen.items())
    for x, y in hidden:
        world.live.grid.set(x, y, None)
    assert (world.render() != before).any(), "a judge sees what was changed"


def test_turning_and_carrying_are_in_sight() -> None:
    world = begun("PickupDist", 2)
    empty = world.sight(0)[448:]
    world.step((0,))
    turned = world.sight(0)[448:]
    assert (turned != empty)[:, 224:].any() and not (turned != empty)[:, :224].any()
    world = begun("PickupDist", 2)
    for move in find_solution(world, 50) or "":
        world.step((int(move),))
    assert (world.sight(0)[448:] != empty)[:, :224].any()


def test_its_chatter_is_not_heard(capfd: pytest.CaptureFixture[str]) -> None:
    for seed in range(12):
        begun("GoTo", seed)
    assert capfd.readouterr() == ("", "")


@pytest.mark.landing
def test_without_minigrid_one_line_says_what_to_install_and_other_domains_go_on() -> None:
    script = (
        "import sys; sys.modules['minigrid'] = None\n"
        "from sts import agents\n"
        "from sts.domains import domain\n"
        "from sts.errors import MissingExtra\n"
        "from sts_scenarios import categories\n"
        "assert 'babyai-go-to' in categories.installed()\n"
        "domain('lambda-star').generate(1, seed=0, height=5, width=5, participants=1, horizon=5)\n"
        "for ask in (lambda: domain('babyai'), lambda: agents.load('babyai-bot'),\n"
        "            lambda: agents.load('babyai-seeker'), lambda: agents.load('babyai-blind')):\n"
        "    try: ask()\n"
        "    except MissingExtra as error: print(error)\n"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    lines = done.stdout.splitlines()
    assert len(lines) == 4
    assert all("pip install 'standardised-test-suite[babyai]'" in line for line in lines)


@pytest.mark.parametrize("state", ["open", "closed", "locked"])
@pytest.mark.parametrize("y", [1, 6])
def test_a_grey_door_stands_out_from_the_wall_around_it(state: str, y: int) -> None:
    world = begun("GoToObj", 3, "0")
    tile = 32
    kinds = OBJECT_TO_IDX["door"], COLOR_TO_IDX["grey"], STATE_TO_IDX[state]
    wall = world.render()[y * tile : (y + 1) * tile, :tile]
    assert len(np.unique(wall)) == 1
    world.live.grid.set(0, y, WorldObj.decode(*kinds))
    door = world.render()[y * tile : (y + 1) * tile, :tile]
    assert door.max() - int(wall.max()) > 30, "lighter than any wall"
    assert int(wall.min()) - door.min() > 30, "darker inside"


@pytest.mark.parametrize("colour", ["green", "purple", "grey"])
def test_in_small_cells_the_frame_of_a_door_is_lighter_than_the_engine_draws_it(
    colour: str,
) -> None:
    level = begun("OpenDoor", 3, "0").live
    kinds = OBJECT_TO_IDX["door"], COLOR_TO_IDX[colour], STATE_TO_IDX["closed"]
    level.grid.set(0, 1, WorldObj.decode(*kinds))
    drawn = level.grid.render(11, agent_pos=(1, 1))
    here = slice(11, 22), slice(0, 11)
    lighter = rendering.brighten_doors(drawn, level.grid, 11)
    assert int(lighter[here].max()) > 1.5 * int(drawn[here].max()) or lighter[here].max() == 255
    assert int(lighter[here].sum()) > int(drawn[here].sum())


def test_an_open_level_is_the_same_place_without_a_mission_and_goes_on() -> None:
    told, level = begun(seed=7), BabyAI()
    level.reset(7, open=True)
    assert told.instruction() and level.instruction() == ""
    for move in map(int, find_solution(begun(seed=7), 40) or ""):
        rewards, own = told.step((move,)), level.step((move,))
        assert np.array_equal(told.observe(0)["image"], level.observe(0)["image"])
        assert own == (0,)
    assert rewards == (1,) and told.ended and not level.ended
    before = level.digest()
    level.step((MOVES.index("left"),))
    assert level.digest() != before and len(level.moves_made) > len(told.moves_made)
    other = BabyAI()
    other.restore(level.state())
    assert other.open and other.state() == level.state() and other.digest() == level.digest()
    told.reset(8)
    assert told.instruction() and not told.open and b"open" not in told.state()


@pytest.mark.parametrize("open", [1, "yes", None])
def test_a_level_is_open_or_not(open: object) -> None:
    with pytest.raises(ArgumentError, match="expected open=true or open=false"):
        domain("babyai").generate(1, seed=0, open=open)


@pytest.mark.landing
def test_an_open_level_keeps_every_promise_of_an_environment() -> None:
    settings = {"level": "PutNextLocal", "open": True}
    found = list(check("babyai", seeds=2, steps=8, settings=settings))
    assert [one for one in found if one.ok is False] == []


def test_an_open_level_is_recorded_without_an_instruction() -> None:
    asked, free = (
        record(load("random"), domain="babyai", count=1, steps=9, seed=1, settings=settings)
        for settings in ({}, {"open": True})
    )
    assert [len(t.instructions) for t in (*asked, *free)] == [1, 0]
