"""Intelligence test as a metric of agents, in the entry-point group `sts.metrics`."""

from collections.abc import Sequence
from typing import Any

from sts.plugin import Suite, Workspace
from sts_lambda_star.generation.patterns import Settings
from sts_lambda_star.intelligence.files import score_rows
from sts_lambda_star.intelligence.score import score_agents

EPISODES = 1000
"""The default of `sts lambda-star score`."""


def measure(
    agents: Sequence[str], *, suite: Suite | None, workspace: Workspace, seed: int
) -> list[dict[str, Any]]:
    """Mean reward per player and step in the default test (see `sts lambda-star score`).

    Suite and workspace are ignored; the seed selects environments and the agents' random streams.
    """
    return score_rows(score_agents(agents, Settings(), episodes=EPISODES, seed=seed))
