"""Names imported from minigrid, with an error if it is not installed."""

from importlib.metadata import version

from sts.plugin import MissingExtra

try:
    import gymnasium
    import minigrid  # noqa: F401  # makes the levels known to gymnasium
    from minigrid.core.constants import COLOR_TO_IDX, OBJECT_TO_IDX, STATE_TO_IDX
    from minigrid.core.grid import Grid
    from minigrid.core.world_object import WorldObj
    from minigrid.utils.baby_ai_bot import BabyAIBot, DropSubgoal, GoNextToSubgoal
except ImportError:
    raise MissingExtra(
        "BabyAI needs minigrid, which is not installed: "
        "pip install 'standardised-test-suite[babyai]'"
    ) from None

VERSION = f"minigrid {version('minigrid')}"

__all__ = ["COLOR_TO_IDX", "OBJECT_TO_IDX", "STATE_TO_IDX", "VERSION", "BabyAIBot", "DropSubgoal"]
__all__ += ["GoNextToSubgoal", "Grid", "WorldObj", "gymnasium"]
