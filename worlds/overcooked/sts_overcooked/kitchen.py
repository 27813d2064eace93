"""Rules of the game, the rules of 2019, and states as plain JSON values.

A grid is rows of letters: X counter, O onions, T tomatoes, D dishes, P pot, S serving window, and a
space for the floor. Places are (x, y), x to the right and y down.
"""

import contextlib
import functools
import io
import warnings
from collections.abc import Sequence
from typing import Any, NamedTuple, TypeAlias

from sts.plugin import MissingExtra
from sts_overcooked.constants import COOKED, FULL, SIDES

with warnings.catch_warnings(), contextlib.redirect_stderr(io.StringIO()):
    warnings.simplefilter("ignore")  # its strings have invalid escapes, and its gym is outdated
    try:
        from overcooked_ai_py.mdp.actions import Action
        from overcooked_ai_py.mdp.overcooked_mdp import (
            ObjectState,
            OvercookedGridworld,
            OvercookedState,
            PlayerState,
            SoupState,
        )
    except ImportError:
        raise MissingExtra(
            "Overcooked needs overcooked-ai, which is not installed: "
            "pip install 'standardised-test-suite[overcooked]'"
        ) from None

RULES = ("2019", "package")
ACTIONS = tuple(Action.ALL_ACTIONS)
HEIGHT, WIDTH = 9, 14
"""Size limit of a kitchen, that of the largest one in the package."""

Place: TypeAlias = tuple[int, int]
Thing: TypeAlias = Any
"""None, "onion", "tomato", "dish", or ["soup", its ingredients, steps cooked or -1]."""


class VisibleState(NamedTuple):
    """Everything visible in a kitchen, as JSON values."""

    # [x, y, dx, dy, held thing] of each cook, (dx, dy) the side that it faces
    players: list[list[Any]]
    objects: list[list[Any]]  # [x, y, thing] of everything on counters and in pots, sorted by place


class State(OvercookedState):  # type: ignore[misc]
    """State of the game, whose copies share its orders, which never change."""

    def deepcopy(self) -> Any:
        """Return a copy with players and objects of its own."""
        copy = object.__new__(State)
        copy.__dict__.update(
            self.__dict__,
            players=tuple([player.deepcopy() for player in self.players]),
            objects={place: thing.deepcopy() for place, thing in self.objects.items()},
        )
        return copy


class Game(OvercookedGridworld):  # type: ignore[misc]
    """Game of the package, which checks that a state is possible when it is built, not per step."""

    def get_actions(self, state: Any) -> list[Any]:
        """Return the actions of both players, which are all actions in every state."""
        return [ACTIONS, ACTIONS]


class Game2019(Game):
    """Game of 2019: a pot starts by itself at three ingredients, and never earlier.

    Source: found by replaying the recordings; `sts overcooked check` confirms it.
    """

    def step_environment_effects(self, state: Any) -> None:
        """Start full pots, then let everything cook."""
        for thing in state.objects.values():
            if thing.name == "soup" and thing.is_idle and len(thing.ingredients) == FULL:
                thing.begin_cooking()
        super().step_environment_effects(state)

    def soup_to_be_cooked_at_location(self, state: Any, pos: Place) -> bool:
        """Return False: no soup is started by hand."""
        return False


@functools.cache
def load_game(grid: tuple[str, ...], rules: str) -> Any:
    """Return the game in a kitchen of rows; it has no state.

    Raises:
      ValueError: the rows are not a kitchen for two, it is too large, or `rules` is not in RULES.
    """
    if rules not in RULES:
        raise ValueError(f"expected rules {' or '.join(RULES)}, found {rules!r}")
    orders = {"start_all_orders": [{"ingredients": ("onion",) * FULL}]} if rules == "2019" else {}
    try:
        mdp = OvercookedGridworld.from_grid([list(row) for row in grid], orders)
    except (AssertionError, IndexError) as error:
        raise ValueError(f"invalid kitchen: {error}") from None
    if mdp.num_players != 2 or mdp.height > HEIGHT or mdp.width > WIDTH:
        raise ValueError(f"expected a kitchen for two of at most {HEIGHT} by {WIDTH}")
    mdp.__class__ = Game2019 if rules == "2019" else Game
    return mdp


def extract_visible_state(state: Any) -> VisibleState:
    """Return the visible facts of a state of the game."""
    return VisibleState(
        [[*p.position, *p.orientation, _encode_thing(p.held_object)] for p in state.players],
        [[*place, _encode_thing(state.objects[place])] for place in sorted(state.objects)],
    )


def build_state(mdp: Any, facts: VisibleState) -> Any:
    """Return the state of the game `mdp` with these facts.

    Raises:
      ValueError: they are not possible in it.
    """
    players = [
        PlayerState((x, y), (dx, dy), _build_object(held, (x, y)))
        for x, y, dx, dy, held in facts.players
    ]
    objects = {(x, y): _build_object(thing, (x, y)) for x, y, thing in facts.objects}
    state = State(players, objects, all_orders=mdp.start_all_orders)
    try:
        mdp._check_valid_state(state)
    except AssertionError as error:
        raise ValueError(f"not a state of a kitchen: {error!r}") from None
    return state


def faced_place(player: Any) -> Place:
    """Return the place in front of a player."""
    (x, y), (dx, dy) = player.position, player.orientation
    return x + dx, y + dy


def find_pushes(
    before: Sequence[Place], after: Sequence[Place], moves: Sequence[int]
) -> tuple[int, ...]:
    """Return the cooks who tried to step onto the other's cell and stayed.

    `before` and `after` are the places of both cooks, and `moves` indices in MOVES.
    """
    pushes = []
    for cook, move in enumerate(moves):
        if move < len(SIDES) and before[cook] == after[cook]:
            (x, y), (dx, dy) = after[cook], SIDES[move]
            if (x + dx, y + dy) in (before[1 - cook], after[1 - cook]):
                pushes.append(cook)
    return tuple(pushes)


def validate_visible_state(facts: VisibleState, grid: Sequence[str]) -> VisibleState:
    """Return facts that are possible in a kitchen; raise ValueError for others."""
    numbers = [player[:4] for player in facts.players] + [thing[:2] for thing in facts.objects]
    if any(type(number) is not int for values in numbers for number in values):
        raise ValueError("expected places and sides to be integers")
    places = [(x, y) for x, y, *_ in facts.players]
    if len(places) != 2 or len(set(places)) != 2:
        raise ValueError("expected two players in different places")
    if any(_tile(grid, place) not in " 12" for place in places):
        raise ValueError("a player does not stand on the floor")
    if any((dx, dy) not in SIDES for _, _, dx, dy, _ in facts.players):
        raise ValueError("a player's direction is not one of the four sides")
    for x, y, thing in facts.objects:
        tile = _tile(grid, (x, y))
        if tile not in ("P", "X") or thing is None:
            raise ValueError(f"expected things on counters or in pots only, found one at {x}, {y}")
        if tile == "P" and not isinstance(thing, list):
            raise ValueError("a pot holds something other than soup")
        _check_thing(thing, done=tile == "X")
    for *_, held in facts.players:
        _check_thing(held, done=True)
    return facts


def _check_thing(thing: Thing, *, done: bool) -> None:
    if thing is None or (isinstance(thing, str) and thing in ("onion", "tomato", "dish")):
        return
    name, ingredients, cooked = thing
    has_valid_ingredients = all(ingredient in ("onion", "tomato") for ingredient in ingredients)
    if name != "soup" or not has_valid_ingredients or not 1 <= len(ingredients) <= FULL:
        raise ValueError(f"expected an onion, a tomato, a dish or a soup, found {thing!r:.60}")
    least = COOKED if done else -1
    if type(cooked) is not int or not least <= cooked <= COOKED:
        raise ValueError(
            f"expected a soup cooked for {least} to {COOKED} steps, found {cooked!r:.20}"
        )


def _tile(grid: Sequence[str], place: Place) -> str:
    x, y = place
    if not (0 <= y < len(grid) and 0 <= x < len(grid[0])):
        raise ValueError(f"the place {x}, {y} is outside the kitchen")
    return grid[y][x]


def _encode_thing(thing: Any) -> Thing:
    if thing is None:
        return None
    if thing.name != "soup":
        return thing.name
    return ["soup", thing.ingredients, min(thing._cooking_tick, COOKED)]


def _build_object(thing: Thing, place: Place) -> Any:
    if thing is None:
        return None
    if isinstance(thing, str):
        return ObjectState(thing, place)
    _, ingredients, cooked = thing
    return SoupState(place, [ObjectState(name, place) for name in ingredients], cooked)
