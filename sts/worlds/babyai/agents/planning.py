"""What the package's bot would do next, as a function of a level, its seed and the moves since.

The bot keeps a map and a plan from step to step. Here it is one that has watched the episode from
its very beginning, whoever moved: it is rebuilt from the moves, and kept only to save that work.

Where the bot breaks off, as it does when what it had planned was undone, it plans anew from where
things stand, with a new map; whatever is carried is dropped first. Where it breaks off again it
does nothing for one step.
"""

from __future__ import annotations

import weakref
from typing import Any

from sts.worlds.babyai.environment import DONE, BabyAI
from sts.worlds.babyai.library import BabyAIBot, DropSubgoal, GoNextToSubgoal

MAX_SEARCHES = 300


class _Bot(BabyAIBot):
    """The package's bot, that cannot search for ever."""

    def replan(self, action_taken: Any = None) -> Any:
        self._until = self.bfs_counter + MAX_SEARCHES
        return super().replan(action_taken)  # type: ignore[no-untyped-call]

    def _breadth_first_search(self, *args: Any, **named: Any) -> Any:
        if self.bfs_counter >= self._until:
            raise RecursionError("the bot goes round in circles")
        found = super()._breadth_first_search(*args, **named)  # type: ignore[no-untyped-call]
        return found


class Planner:
    """A bot that watches a world of its own, which is played as another one is.

    Attributes:
      world: as the other stands.
      advice: the move that the bot would make.
    """

    def __init__(self, level: str, seed: int) -> None:
        """Begins to watch."""
        self.world = BabyAI()
        self.world.reset(seed, level)
        self._bot = self._new()
        self.advice = self._advise(None)

    def follow(self, moves: str) -> None:
        """Watches on, until the world has made `moves`, which begin with those it has made."""
        for move in moves[len(self.world.moves_made) :]:
            self.world.step((int(move),))
            self.advice = self._advise(int(move))

    def _advise(self, taken: int | None) -> int:
        if self.world.ended:
            return DONE
        for _ in range(2):
            try:
                return int(self._bot.replan(taken))
            except Exception:  # the package's bot asserts, and breaks in other ways
                self._bot, taken = self._new(), None
        return DONE

    def _new(self) -> Any:
        bot: Any = _Bot(self.world.live)  # type: ignore[no-untyped-call]
        if self.world.live.carrying is not None:
            bot._until = MAX_SEARCHES
            bot._process_obs()
            place = bot._find_drop_pos()
            if place is not None:
                bot.stack += [DropSubgoal(bot), GoNextToSubgoal(bot, place)]
        return bot


_PLANNERS: weakref.WeakKeyDictionary[BabyAI, Planner] = weakref.WeakKeyDictionary()


def advise(world: BabyAI) -> int:
    """Return what the bot would do next in `world`, nothing where it has no mission.

    It leaves the world alone.
    """
    if world.open:
        return DONE
    planner = _PLANNERS.get(world)
    if planner is None or not _leads_to(planner.world, world):
        planner = _PLANNERS[world] = Planner(world.level, world.seed)
    planner.follow(world.moves_made)
    return planner.advice


def _leads_to(earlier: BabyAI, later: BabyAI) -> bool:
    same = (earlier.level, earlier.seed) == (later.level, later.seed)
    return same and later.moves_made.startswith(earlier.moves_made)


def find_solution(world: BabyAI, most: int) -> str | None:
    """Return the moves by which the bot fulfils the mission from here; None if not in `most`."""
    planner = Planner(world.level, world.seed)
    planner.follow(world.moves_made)
    begun = len(world.moves_made)
    for _ in range(most):
        if planner.world.ended:
            break
        planner.follow(planner.world.moves_made + str(planner.advice))
    return planner.world.moves_made[begun:] if planner.world.verdict == "success" else None
