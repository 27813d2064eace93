"""The intelligence test as a metric of agents, in the entry-point group `sts.metrics`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from sts.storage.workspace import Workspace
from sts.suites.types import Suite
from sts.worlds.lambda_star.generation.patterns import Settings
from sts.worlds.lambda_star.intelligence.files import rows
from sts.worlds.lambda_star.intelligence.score import score

EPISODES = 1000
"""As many as `sts lambda-star score` plays unless told."""


def measure(
    agents: Sequence[str], *, suite: Suite | None, workspace: Workspace, seed: int
) -> list[dict[str, Any]]:
    """Mean reward per participant and step in the usual test; other settings: the test's command.

    Neither suite nor workspace is asked for; the seed names environments and the agents' streams.
    """
    return rows(score(agents, Settings(), episodes=EPISODES, seed=seed))
