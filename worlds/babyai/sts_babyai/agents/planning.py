"""Next actions of the package's bot, as a function of a level, its seed and the actions so far.

The bot keeps a map and a plan between steps. Here it has watched the episode from the start,
regardless of who acted: it is rebuilt from the actions, and cached only to save that work.

If the bot raises an exception, as it does when its plan was undone, it is restarted with an empty
map, and drops what it carries first. If it raises again it does nothing for one step.
"""

import weakref
from typing import Any

from sts_babyai.environment import DONE, BabyAI
from sts_babyai.minigrid_names import BabyAIBot, DropSubgoal, GoNextToSubgoal

MAX_SEARCHES = 300


class _Bot(BabyAIBot):
    """The package's bot with a limit on its searches per step."""

    def replan(self, action_taken: Any = None) -> Any:
        self._until = self.bfs_counter + MAX_SEARCHES
        return super().replan(action_taken)  # type: ignore[no-untyped-call]

    def _breadth_first_search(self, *args: Any, **named: Any) -> Any:
        if self.bfs_counter >= self._until:
            raise RecursionError("the bot exceeded its search limit")
        path = super()._breadth_first_search(*args, **named)  # type: ignore[no-untyped-call]
        return path


class Planner:
    """Bot that watches its own copy of an environment.

    Attributes:
      world: the copy.
      advice: the action that the bot would take.
    """

    def __init__(self, level: str, seed: int) -> None:
        self.world = BabyAI()
        self.world.reset(seed, level)
        self._bot = self._make_bot()
        self.advice = self._advise(None)

    def replay(self, actions: str) -> None:
        """Replay `actions`, of which the copy has made the first ones."""
        for move in actions[len(self.world.moves_made) :]:
            self.world.step((int(move),))
            self.advice = self._advise(int(move))

    def _advise(self, action: int | None) -> int:
        if self.world.ended:
            return DONE
        for _ in range(2):
            try:
                return int(self._bot.replan(action))
            except Exception:  # the package's bot raises assertions and other errors
                self._bot, action = self._make_bot(), None
        return DONE

    def _make_bot(self) -> Any:
        bot: Any = _Bot(self.world.minigrid_env)  # type: ignore[no-untyped-call]
        if self.world.minigrid_env.carrying is not None:
            bot._until = MAX_SEARCHES
            bot._process_obs()
            place = bot._find_drop_pos()
            if place is not None:
                bot.stack += [DropSubgoal(bot), GoNextToSubgoal(bot, place)]
        return bot


_PLANNERS: weakref.WeakKeyDictionary[BabyAI, Planner] = weakref.WeakKeyDictionary()


def advise(world: BabyAI) -> int:
    """Return the bot's next action in `world`; "done" if it has no mission.

    The environment is not modified.
    """
    if world.open:
        return DONE
    planner = _PLANNERS.get(world)
    if planner is None or not _is_continuation(planner.world, world):
        planner = _PLANNERS[world] = Planner(world.level, world.seed)
    planner.replay(world.moves_made)
    return planner.advice


def _is_continuation(earlier: BabyAI, later: BabyAI) -> bool:
    is_same_world = (earlier.level, earlier.seed) == (later.level, later.seed)
    return is_same_world and later.moves_made.startswith(earlier.moves_made)


def find_solution(world: BabyAI, most: int) -> str | None:
    """Return the bot's actions to complete the mission; None if it needs more than `most`."""
    planner = Planner(world.level, world.seed)
    planner.replay(world.moves_made)
    start = len(world.moves_made)
    for _ in range(most):
        if planner.world.ended:
            break
        planner.replay(planner.world.moves_made + str(planner.advice))
    return planner.world.moves_made[start:] if planner.world.verdict == "success" else None
