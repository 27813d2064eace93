"""What a BabyAI level promises beyond what every environment does."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable

import numpy as np
import pytest

from sts.agents import load
from sts.domains import load_domain
from sts.domains.conformance import check
from sts.domains.envelope import add_envelope
from sts.errors import ArgumentError, DamagedState, OtherVersion
from sts_babyai import rendering
from sts_babyai.agents.missions import (
    KINDS,
    Clause,
    Thing,
    is_relative,
    mission_kind,
    parse_clauses,
)
from sts_babyai.agents.planning import find_solution
from sts_babyai.environment import DONE, MAP_PIXELS, MOVES, BabyAI
from sts_babyai.minigrid_names import (
    COLOR_TO_IDX,
    OBJECT_TO_IDX,
    STATE_TO_IDX,
    VERSION,
    Grid,
    WorldObj,
)
from sts_babyai.view import Cells
from tests.recording import record
from tests.worlds.babyai.examples import EACH_LEVEL, begun


def draw_moves(count: int, seed: int = 0) -> str:
    return "".join(map(str, np.random.default_rng(seed).integers(0, len(MOVES), count)))


@pytest.mark.parametrize(
    ("steps", "settings"),
    [
        (8, {"level": "PickupDistDebug", "open": True}),
        pytest.param(8, {"level": "PutNextLocal", "open": True}, marks=pytest.mark.slow),
        *(
            pytest.param(steps, {"level": level}, marks=pytest.mark.slow)
            for steps, level in (
                (40, "GoToLocal"),
                (40, "SynthS5R2"),
                (400, "OpenTwoDoors"),
                (400, "BossLevel"),
            )
        ),
    ],
)
def test_environment_passes_every_conformance_test(steps: int, settings) -> None:
    found = list(check("babyai", seeds=2, steps=steps, settings=settings))
    assert [one for one in found if one.ok is False] == []
    assert len(found) > 20


def test_state_is_readable_json_of_level_seed_and_moves() -> None:
    state = json.loads(begun("PutNextLocal", 5, "0122").state())
    assert state.pop("chain")
    assert state == {"level": "PutNextLocal", "seed": 5, "moves": "0122"}


@EACH_LEVEL
def test_restored_level_continues_as_the_one_that_never_stopped(level: str) -> None:
    one, other = begun(level, 8, draw_moves(15)), BabyAI()
    other.restore(one.state())
    for move in draw_moves(15, 1):
        assert one.digest() == other.digest()
        assert one.minigrid_env.hash() == other.minigrid_env.hash()
        assert list(one.step((int(move),))) == list(other.step((int(move),)))
    assert (one.state(), one.instruction()) == (other.state(), other.instruction())
    assert one.render().shape == (288, 256, 3)


@pytest.mark.parametrize("level", ["GoToLocal", "Unlock", "KeyInBox", "OpenTwoDoors", "GoTo"])
def test_observation_equals_that_of_the_package(level: str) -> None:
    world = begun(level, seed=3)
    for move in draw_moves(60, seed=1).replace("6", "2"):
        world.step((int(move),))
        seen = type(world.minigrid_env).gen_obs(world.minigrid_env)
        own = world.observe(0)
        assert own["direction"] == seen["direction"] and world.instruction() == seen["mission"]
        np.testing.assert_array_equal(own["image"], seen["image"])


def test_level_goes_by_its_gymnasium_id_or_is_refused_with_those_there_are() -> None:
    assert begun("BabyAI-GoToLocal-v0").state() == begun("GoToLocal").state()
    with pytest.raises(ArgumentError, match=r"unknown BabyAI level 'GoNowhere'.*GoToLocal"):
        load_domain("babyai").generate(1, seed=0, level="GoNowhere")


DIFFERENT, INVALID = "replays differently from the recording", "expected|unknown BabyAI level"


@pytest.mark.parametrize(
    ("change", "said"),
    [
        *(
            ({"chain": "0" * 32}, DIFFERENT),
            ({"moves": "0121"}, DIFFERENT),
            ({"seed": 4}, DIFFERENT),
        ),
        *(({"level": "PutNextLocal"}, DIFFERENT), ({"level": "GoNowhere"}, INVALID)),
        *(({"seed": -1}, INVALID), ({"seed": "3"}, INVALID), ({"moves": "9"}, INVALID)),
        ({"extra": 1}, INVALID),
    ],
)
def test_altered_state_is_refused(change: dict[str, object], said: str) -> None:
    found = json.loads(begun(actions="0122").state())
    with pytest.raises(ValueError, match=said):
        BabyAI().restore(json.dumps(found | change).encode())


def test_state_of_another_version_is_refused_by_name(monkeypatch: pytest.MonkeyPatch) -> None:
    here = load_domain("babyai")
    (state,) = here.generate(1, seed=0)
    monkeypatch.setattr(here, "version", "minigrid 9.9")
    with pytest.raises(DamagedState, match=r"minigrid 3.*minigrid 9\.9"):
        here.restore([state])
    monkeypatch.undo()
    older = add_envelope(
        "babyai", VERSION, begun().state()
    )  # its digests did not cover the whole world
    with pytest.raises(OtherVersion, match=r"'minigrid 3.*'2 minigrid 3"):
        here.restore([older])


def test_fulfilled_mission_pays_one_once_and_ends_the_episode() -> None:
    world = begun()
    actions = find_solution(world, 50)
    assert actions
    paid = [world.step((int(move),))[0] for move in actions]
    assert paid == [0] * (len(actions) - 1) + [1]
    assert (world.verdict, world.ended) == ("success", True)
    state, digest = world.state(), world.digest()
    assert [world.step((move,))[0] for move in range(len(MOVES))] == [0] * len(MOVES)
    assert (world.state(), world.digest()) == (state, digest)


def test_failed_strict_mission_pays_minus_one_once() -> None:
    world = begun("PickupDistDebug", 1)
    wanted = {id(thing) for thing in world.minigrid_env.instrs.desc.obj_set}
    x, y = next(
        (x, y)
        for x in range(world.minigrid_env.width)
        for y in range(world.minigrid_env.height)
        if (thing := world.minigrid_env.grid.get(x, y))
        and thing.can_pickup()
        and id(thing) not in wanted
    )
    world.minigrid_env.agent_pos, world.minigrid_env.agent_dir = (x - 1, y), 0
    assert world.step((MOVES.index("pickup"),))[0] == -1
    assert world.verdict == "failure"
    assert world.step((MOVES.index("drop"),))[0] == 0


def test_step_limit_is_lifted_and_done_is_remembered_but_does_nothing() -> None:
    world = begun(actions="0" * 700)
    assert not world.ended and len(world.moves_made) == 700
    before, seen = world.minigrid_env.hash(), world.digest()
    world.step((DONE,))
    assert (world.minigrid_env.hash(), world.digest()) == (before, seen)
    assert world.moves_made[-2:] == f"0{DONE}"


def hidden(world: BabyAI, kind: str) -> tuple[int, int]:
    """Return a cell out of view with a thing of this kind; "" for an empty one."""
    grid = world.minigrid_env.grid
    cells = ((x, y) for x in range(grid.width) for y in range(grid.height))
    return next(
        (x, y)
        for x, y in cells
        if not world.minigrid_env.in_view(x, y) and getattr(grid.get(x, y), "type", "") == kind
    )


def thing(kind: str) -> WorldObj | None:
    return WorldObj.decode(OBJECT_TO_IDX[kind], 0, 0)


def move_a_ball(world: BabyAI) -> None:
    old, new = hidden(world, "ball"), hidden(world, "")
    world.minigrid_env.grid.set(*new, world.minigrid_env.grid.get(*old))
    world.minigrid_env.grid.set(*old, None)


@pytest.mark.parametrize(
    "change",
    [
        lambda world: world.minigrid_env.grid.set(*hidden(world, ""), thing("ball")),
        move_a_ball,
        lambda world: setattr(world.minigrid_env.grid.get(*hidden(world, "door")), "is_open", True),
        lambda world: setattr(
            world.minigrid_env.grid.get(*hidden(world, "box")), "contains", thing("key")
        ),
        lambda world: setattr(world.minigrid_env.instrs, "a_done", "success"),
    ],
)
def test_digest_covers_what_is_out_of_view(change: Callable[[BabyAI], None]) -> None:
    world = begun("GoToSeq", 4)
    seen, before = world.observe(0), world.digest()
    world.step((DONE,))
    assert world.digest() == before
    change(world)
    world.cells = Cells(world.minigrid_env.grid)  # the package itself changes only the cell ahead
    world.step((DONE,))
    assert world.digest() != before
    assert all(np.array_equal(world.observe(0)[key], value) for key, value in seen.items())


def test_carried_thing_is_observed_and_drawn() -> None:
    world = begun("PickupDist", 2)
    seen, judged, sight = world.observe(0), world.render()[256:], world.render_player_view(0)[448:]
    assert (seen["image"].shape, seen["image"].dtype) == ((7, 7, 3), np.int8)
    assert seen["carrying"].tolist() == [1, 0]
    world.step((0,))
    turned = world.render_player_view(0)[448:] != sight
    assert turned[:, 224:].any() and not turned[:, :224].any()
    world = begun("PickupDist", 2)
    for move in find_solution(world, 50) or "":
        world.step((int(move),))
    held = world.minigrid_env.carrying
    assert held is not None
    assert world.observe(0)["carrying"].tolist() == list(held.encode())[:2]
    assert world.observe(0)["image"][3, 6].tolist() == list(held.encode())
    assert (world.render()[256:] != judged).any(), "below the map"
    assert (world.render_player_view(0)[448:] != sight)[:, :224].any()


def test_sight_of_a_participant_shows_only_its_observation() -> None:
    world = begun("GoToObj", 3, "0")
    seen, looked = world.observe(0), world.render_player_view(0)
    assert (looked.shape, looked.dtype.name) == ((512, 448, 3), "uint8")
    hidden = [
        (x, y) for x in range(1, 7) for y in range(1, 7) if not world.minigrid_env.in_view(x, y)
    ]
    for x, y in hidden:
        world.minigrid_env.grid.set(x, y, WorldObj.decode(OBJECT_TO_IDX["ball"], 0, 0))
    world.cells = Cells(world.minigrid_env.grid)
    before = world.render()
    world.step((DONE,))
    assert hidden and np.array_equal(world.render_player_view(0), looked)
    assert all(np.array_equal(world.observe(0)[key], value) for key, value in seen.items())
    for x, y in hidden:
        world.minigrid_env.grid.set(x, y, None)
    world.cells = Cells(world.minigrid_env.grid)
    assert (world.render() != before).any(), "a judge sees what was changed"


def test_output_of_the_package_is_suppressed(capfd: pytest.CaptureFixture[str]) -> None:
    for seed in range(12):
        begun("GoTo", seed)
    assert capfd.readouterr() == ("", "")


@pytest.mark.landing
def test_missing_minigrid_names_the_extra_to_install() -> None:
    script = (
        "import sys; sys.modules['minigrid'] = None\n"
        "from sts import agents\n"
        "from sts.domains import load_domain\n"
        "from sts.errors import MissingExtra\n"
        "from sts_scenarios.rules import categories\n"
        "assert 'babyai-go-to' in categories.installed_categories()\n"
        "world = load_domain('lambda-star')\n"
        "world.generate(1, seed=0, height=5, width=5, n_players=1, horizon=5)\n"
        "for ask in (lambda: load_domain('babyai'), lambda: agents.load('babyai-bot'),\n"
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
def test_grey_door_stands_out_from_the_wall(state: str) -> None:
    for y in (1, 6):
        world, tile = begun("GoToObj", 3, "0"), slice(y * 32, (y + 1) * 32)
        wall = world.render()[tile, :32]
        assert len(np.unique(wall)) == 1
        kinds = OBJECT_TO_IDX["door"], COLOR_TO_IDX["grey"], STATE_TO_IDX[state]
        world.minigrid_env.grid.set(0, y, WorldObj.decode(*kinds))
        world.cells = Cells(world.minigrid_env.grid)
        door = world.render()[tile, :32]
        assert door.max() - int(wall.max()) > 30, "lighter than any wall"
        assert int(wall.min()) - door.min() > 30, "darker inside"


@pytest.mark.parametrize("colour", ["green", "purple", "grey"])
def test_door_frame_is_lighter_in_small_cells_than_the_engine_draws_it(colour: str) -> None:
    kinds = OBJECT_TO_IDX["door"], COLOR_TO_IDX[colour], STATE_TO_IDX["closed"]
    drawn = Grid.render_tile(WorldObj.decode(*kinds), tile_size=11)
    lit, codes = np.zeros((1, 2), np.bool_), np.array([[kinds, (1, 0, 0)]], np.int8)
    lighter = rendering.draw_cells(codes, lit, (1, 0), 0, 11)[:, :11]
    assert int(lighter.max()) > 1.5 * int(drawn.max()) or lighter.max() == 255
    assert int(lighter.sum()) > int(drawn.sum())


@pytest.mark.parametrize("level", ["GoToLocal", "Pickup", "KeyInBox", "OpenTwoDoors"])
def test_picture_is_that_of_the_package_but_for_doors(level: str) -> None:
    world = begun(level, 3)
    package = world.minigrid_env
    tile = MAP_PIXELS // max(package.width, package.height)
    for move in map(int, draw_moves(25, 2)):
        world.step((move,))
        cells = [thing is None or thing.type != "door" for thing in package.grid.grid]
        same = np.reshape(cells, (package.height, package.width)).repeat(tile, 0).repeat(tile, 1)
        drawn = package.get_full_render(highlight=True, tile_size=tile)
        (_, left, top), (height, width) = world._map_place(), same.shape
        own = world.render()[top : top + height, left : left + width]
        np.testing.assert_array_equal(own[same], drawn[same])


def test_open_level_is_the_same_place_without_a_mission_or_end() -> None:
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


def test_open_level_is_recorded_without_an_instruction() -> None:
    def count(**settings: object) -> int:
        (made,) = record(
            load("random"), domain="babyai", count=1, steps=9, seed=1, settings=settings
        )
        return len(made.instructions)

    assert (count(), count(open=True)) == (1, 0)
    for value in (1, "yes", None):
        with pytest.raises(ArgumentError, match="expected open=true or open=false"):
            count(open=value)


BALL, KEY, ANY = Thing("red", "ball"), Thing("", "key"), Thing("grey", "")


@pytest.mark.parametrize(
    ("mission", "expected"),
    [
        ("go to the red ball", [Clause("go-to", BALL, None)]),
        ("pick up a grey object", [Clause("pick-up", ANY, None)]),
        ("open the door on your left", [Clause("open", Thing("", "door"), None)]),
        ("put the red ball next to a key", [Clause("put-next", BALL, KEY)]),
        (
            "go to a key, then pick up the red ball",
            [Clause("go-to", KEY, None), Clause("pick-up", BALL, None)],
        ),
        (
            "go to a key after you pick up the red ball and go to a grey object behind you",
            [Clause("pick-up", BALL, None), Clause("go-to", ANY, None), Clause("go-to", KEY, None)],
        ),
        ("sing a song", []),
        ("", []),
    ],
)
def test_mission_clauses_are_read_in_a_feasible_order(mission: str, expected: list[Clause]) -> None:
    assert parse_clauses(mission) == expected


@EACH_LEVEL
def test_mission_kind_is_that_of_its_instruction_on_every_level(level: str) -> None:
    named = {"GoToInstr": "go-to", "OpenInstr": "open", "PickupInstr": "pick-up"}
    for seed in range(3):
        world = begun(level, seed)
        own = type(world.minigrid_env.instrs).__name__
        expected = (named | {"PutNextInstr": "put-next"}).get(own, "sequence")
        assert mission_kind(world.instruction()) == expected in KINDS, world.instruction()


def test_relative_places_are_recognised_by_the_word_you() -> None:
    assert is_relative("pick up the ball in front of you")
    assert is_relative("go to the door on your right")
    assert not is_relative("go to the door after you open the red door")


@pytest.mark.parametrize("level", ["GoToLocal", "GoTo"])
def test_position_is_the_middle_of_the_red_triangle_on_the_map(level: str) -> None:
    world = BabyAI()
    world.reset(3, level)
    for move in (MOVES.index("forward"), MOVES.index("left")) * 4:
        world.step((move,))
        x, y = world.position(0)
        red, green, blue = world.render()[int(y), int(x)].astype(int)
        assert red > 150 and green < 100 and blue < 100
