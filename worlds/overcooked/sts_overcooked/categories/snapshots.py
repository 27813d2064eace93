"""State snapshots of Overcooked episodes, and categories based on what recorded people did.

Nothing here imports the game until an episode is replayed. Things are named as in
`sts_overcooked.kitchen`, events as in `sts_overcooked.environment`.
"""

import functools
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple, cast

from sts.plugin import Episode, Scenario, Trajectory
from sts_overcooked.constants import HATS, SIDES
from sts_scenarios.plugin import (
    NOT_DONE,
    Candidate,
    Category,
    Label,
    Rubric,
    iter_environments,
    make_label,
)

DOMAIN = "overcooked"
CONTEXT = 25
PARTNER = "replay"
Place = tuple[int, int]


class Snapshot(NamedTuple):
    """State before a step, and the events of the step before it."""

    grid: tuple[str, ...]  # rows of letters
    players: list[list[Any]]  # [x, y, dx, dy, held thing] of each cook
    # thing in each place; a soup is ["soup", its ingredients, steps cooked or -1]
    objects: dict[Place, Any]
    events: tuple[tuple[int, str, Place], ...]  # (cook, kind, place) of the last step
    state: bytes = b""  # serialised state of the environment

    def position(self, player: int) -> Place:
        """Return the place where a cook stands."""
        x, y, *_ = self.players[player]
        return x, y

    def held_thing(self, player: int) -> str:
        """Return what a cook holds: "", "onion", "dish", "soup" or "tomato"."""
        thing = self.players[player][4]
        return thing if isinstance(thing, str) else "soup" if thing else ""

    def tile_at(self, place: Place) -> str:
        """Return the letter of a place."""
        return self.grid[place[1]][place[0]]

    def soups_in_pots(self) -> Iterator[Any]:
        """Return the soups in pots: being filled, cooking or done."""
        return (thing for place, thing in self.objects.items() if self.tile_at(place) == "P")

    def has_done(self, player: int, kind: str, tile: str = "") -> bool:
        """Return True if a cook caused this event in the last step, on a tile of this letter."""
        return any(
            cook == player and event_kind == kind and self.tile_at(place) in (tile or "XOTDPS")
            for cook, event_kind, place in self.events
        )


IsDone = Callable[[Snapshot, int], bool]
"""Returns True if a cook completed the task in the step before a snapshot."""
WhyInvalid = Callable[[Snapshot, int], str | None]
"""Returns why a cook cannot be asked at a snapshot; else None."""


@functools.lru_cache(maxsize=16)
def replay_snapshots(episode: Episode) -> tuple[Snapshot, ...]:
    """Return the T + 1 snapshots of an episode, before each step and after the last."""
    out = []
    for world in iter_environments(episode):
        out.append(capture_snapshot(cast(Any, world)))
    return (out[0]._replace(events=()), *out[1:])


def capture_snapshot(world: Any) -> Snapshot:
    """Return a snapshot of a live environment."""
    players, objects = world.visible_state()
    events = tuple((event.player, event.kind, event.place) for event in world.events)
    things = {(x, y): thing for x, y, thing in objects}
    return Snapshot(world.grid, players, things, events, world.state())


def snapshots_until_takeover(scenario: Scenario) -> tuple[Snapshot, ...]:
    """Return the snapshots of a scenario's context, including the takeover."""
    return replay_snapshots(
        scenario.recording.slice_steps(scenario.recording.state, 0, scenario.context)
    )


def build_category(
    name: str,
    templates: tuple[str, ...],
    is_done: IsDone,
    why_invalid: WhyInvalid,
    *,
    horizon: int,
    lead: int,
    rubric: Rubric,
) -> Category:
    """Return a category that asks a cook for something the recorded person later did.

    Any cook that makes soup does it sooner or later, so the category is superseded.
    """

    def candidates(trajectory: Trajectory, context: int, horizon: int) -> Iterator[Candidate]:
        """Yield the earliest valid step before each time that a cook did it.

        It is at most `lead` steps before and not before the previous time, and all steps between
        are valid too.
        """
        snapshots = replay_snapshots(trajectory.episode)
        for player in range(len(HATS)):
            previous = context
            for done_step in range(context + 1, len(snapshots)):
                if not is_done(snapshots[done_step], player):
                    continue
                step, earliest, previous = done_step, max(previous, done_step - lead), done_step
                while step > earliest and not why_invalid(snapshots[step - 1], player):
                    step -= 1
                if step < done_step and step + horizon < len(snapshots):
                    difficulty = grade_difficulty(done_step - step, lead)
                    yield Candidate(step, player, difficulty, fields=hat_names(player))

    def why_scenario_invalid(scenario: Scenario) -> str | None:
        return why_invalid(snapshots_until_takeover(scenario)[-1], scenario.players[0])

    def label(
        episode: Episode, takeover: int, players: tuple[int, ...], parameters: dict[str, Any]
    ) -> Label:
        """Return success when the evaluated cook first does it; else not_done."""
        after = replay_snapshots(episode)[takeover:]
        steps = (n for n in range(1, len(after)) if is_done(after[n], players[0]))
        return next((make_label(step, True) for step in steps), NOT_DONE)

    return Category(
        name=name,
        kind="instruction",
        domain=DOMAIN,
        horizon=horizon,
        templates=templates,
        candidates=candidates,
        label=label,
        why_invalid=why_scenario_invalid,
        context=CONTEXT,
        partner=PARTNER,
        superseded=True,
        rubric=rubric,
    )


def grade_difficulty(steps: int, lead: int) -> str:
    """Return easy up to a third of `lead` steps, medium up to two thirds, else hard."""
    return "easy" if 3 * steps <= lead else "medium" if 3 * steps <= 2 * lead else "hard"


def hat_names(player: int) -> dict[str, str]:
    """Return the names of the two cooks in instruction templates."""
    return {"you": HATS[player], "other": HATS[1 - player]}


def hat_field(player: int) -> dict[str, str]:
    """Return the template field for the other cook."""
    return {"other": hat_names(player)["other"]}


def reachable_places(snapshot: Snapshot, player: int) -> set[Place]:
    """Return the places that a cook can come to face, ignoring the other cook."""
    visited, stack = {snapshot.position(player)}, [snapshot.position(player)]
    faced = set()
    while stack:
        x, y = stack.pop()
        for place in ((x + dx, y + dy) for dx, dy in SIDES):
            if snapshot.tile_at(place) not in " 12":
                faced.add(place)
            elif place not in visited:
                visited.add(place)
                stack.append(place)
    return faced
