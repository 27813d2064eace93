"""BabyAI's levels as a class of environments, by level and the mission's length in moves.

Source: Chevalier-Boisvert et al. 2019, table 1, whose first levels follow after a smaller one.
"""

from sts_analysis.plugin import CalibratedClass
from sts_babyai.agents.planning import find_solution
from sts_babyai.environment import BabyAI

LEVELS = (
    *("GoToObjS4", "GoToObj", "GoToRedBallGrey", "GoToRedBall", "GoToLocal", "PutNextLocal"),
    *("PickupLoc", "GoToObjMaze", "GoTo", "Pickup"),
)
MAX_MOVES = 64  # of the package's bot, whose moves are the solution


def make_class() -> CalibratedClass:
    """Return the class; the reward is 1 when a mission is completed."""
    return CalibratedClass("babyai", "babyai", BabyAI, len(LEVELS), 12.0, _begin)


def _begin(environment: BabyAI, level: int, seed: int) -> list[int]:
    environment.reset(seed, LEVELS[level])
    return [*map(int, find_solution(environment, MAX_MOVES) or "")]
