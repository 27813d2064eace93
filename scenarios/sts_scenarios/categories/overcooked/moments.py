"""Overcooked as its categories see it: an episode moment by moment, and what was done in each.

Nothing here needs the game's package until an episode of it is at hand. Things are called as in
`sts.worlds.overcooked.kitchen`, deeds as in `sts.worlds.overcooked.environment`.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple, cast

from sts.episodes import Episode
from sts.suites.types import Scenario
from sts.trajectories.types import Trajectory
from sts.worlds.overcooked.basics import HATS, SIDES
from sts_scenarios.categories.tried import NOT_DONE, make_label
from sts_scenarios.category import Candidate, Category, Label, Rubric, Word
from sts_scenarios.replayed import environments

DOMAIN = "overcooked"
CONTEXT = 25
PARTNER = "replay"
Place = tuple[int, int]


class Snapshot(NamedTuple):
    """What is so before a step, and what was done in the step before it.

    Attributes:
      grid: rows of letters.
      players: [x, y, dx, dy, what they hold] of each.
      objects: what lies where; a soup is ["soup", its ingredients, steps cooked or -1].
      events: (who, deed, place) of the step that led here.
      state: of the environment, as it tells it.
    """

    grid: tuple[str, ...]
    players: list[list[Any]]
    objects: dict[Place, Any]
    events: tuple[tuple[int, str, Place], ...]
    state: bytes = b""

    def at(self, role: int) -> Place:
        """Where a cook stands."""
        x, y, *_ = self.players[role]
        return x, y

    def holds(self, role: int) -> str:
        """What a cook holds: "", "onion", "dish", "soup" or "tomato"."""
        held = self.players[role][4]
        return held if isinstance(held, str) else "soup" if held else ""

    def tile(self, place: Place) -> str:
        """The letter of a place."""
        return self.grid[place[1]][place[0]]

    def pots(self) -> Iterator[Any]:
        """The soups in pots, begun, cooking or done."""
        return (it for place, it in self.objects.items() if self.tile(place) == "P")

    def has_done(self, role: int, deed: str, tile: str = "") -> bool:
        """Says whether a cook did this in the step that led here, to a place of this letter."""
        return any(
            who == role and what == deed and self.tile(place) in (tile or "XOTDPS")
            for who, what, place in self.events
        )


IsDone = Callable[[Snapshot, Snapshot, int], bool]
"""Says whether a cook did it in the step from one moment to the next."""
WhyInvalid = Callable[[Snapshot, int], str | None]
"""Says in a few words why it makes no sense to ask a cook at this moment; else None."""


@functools.lru_cache(maxsize=16)
def replay_snapshots(episode: Episode) -> tuple[Snapshot, ...]:
    """Return the moment before each of an episode's steps, and the last: T + 1."""
    out = []
    for one in environments(episode):
        out.append(capture_snapshot(cast(Any, one)))
    return (out[0]._replace(events=()), *out[1:])


def capture_snapshot(world: Any) -> Snapshot:
    """Return what is so in a live kitchen."""
    players, objects = world.facts()
    events = tuple((event.who, event.deed, event.place) for event in world.events)
    things = {(x, y): it for x, y, it in objects}
    return Snapshot(world.grid, players, things, events, world.state())


def snapshots_until_takeover(scenario: Scenario) -> tuple[Snapshot, ...]:
    """Return the moments of a scenario's context, the takeover among them."""
    return replay_snapshots(scenario.recording.part(scenario.recording.state, 0, scenario.takeover))


def build_category(
    name: str,
    wordings: tuple[str, ...],
    done: IsDone,
    sensible: WhyInvalid,
    *,
    horizon: int,
    lead: int,
    rubric: Rubric,
) -> Category:
    """Return the category that asks a cook for a deed which the recorded person came to do.

    Whoever makes soup does it sooner or later, so it is superseded.
    """

    def candidates(trajectory: Trajectory, context: int, horizon: int) -> Iterator[Candidate]:
        """Yield before each time that a cook did it the earliest sensible moment.

        That is at most `lead` steps before and no earlier than the time before it, with every
        moment since then sensible too.
        """
        line = replay_snapshots(trajectory.episode)
        for role in range(len(HATS)):
            before = context
            for step in range(context + 1, len(line)):
                if not done(line[step - 1], line[step], role):
                    continue
                moment, earliest, before = step, max(before, step - lead), step
                while moment > earliest and not sensible(line[moment - 1], role):
                    moment -= 1
                if moment < step and moment + horizon < len(line):
                    how = grade_difficulty(step - moment, lead)
                    yield Candidate(moment, role, how, words=hat_names(role))

    def fits(scenario: Scenario) -> str | None:
        """Says why the instruction does not fit the takeover."""
        return sensible(snapshots_until_takeover(scenario)[-1], scenario.roles[0])

    def label(
        episode: Episode, takeover: int, roles: tuple[int, ...], parameters: dict[str, Any]
    ) -> Label:
        """Success when the judged cook first does it, else not done."""
        after = replay_snapshots(episode)[takeover:]
        steps = (n for n in range(1, len(after)) if done(after[n - 1], after[n], roles[0]))
        return next((make_label(step, True) for step in steps), NOT_DONE)

    return Category(
        name=name,
        kind="instruction",
        domain=DOMAIN,
        horizon=horizon,
        wordings=wordings,
        candidates=candidates,
        label=label,
        fits=fits,
        context=CONTEXT,
        partner=PARTNER,
        superseded=True,
        rubric=rubric,
    )


def grade_difficulty(steps: int, lead: int) -> str:
    """Return how hard it is: easy by a third of `lead` steps at most, hard by over two thirds."""
    return "easy" if 3 * steps <= lead else "medium" if 3 * steps <= 2 * lead else "hard"


def hat_names(role: int) -> dict[str, str]:
    """Return what wordings call the two cooks."""
    return {"you": HATS[role], "other": HATS[1 - role]}


def hat_field(role: int) -> dict[str, Word]:
    """Return what the text must say of the other cook; it may speak of the asked one, too."""
    return {"other": Word(hat_names(role)["other"])}


def reachable_places(moment: Snapshot, role: int) -> set[Place]:
    """Return the places that a cook can come to face, whoever stands in the way."""
    seen, waiting = {moment.at(role)}, [moment.at(role)]
    faced = set()
    while waiting:
        x, y = waiting.pop()
        for place in ((x + dx, y + dy) for dx, dy in SIDES):
            if moment.tile(place) not in " 12":
                faced.add(place)
            elif place not in seen:
                seen.add(place)
                waiting.append(place)
    return faced
