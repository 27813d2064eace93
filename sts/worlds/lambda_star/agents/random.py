"""The random agent: the lower bound on performance."""

from __future__ import annotations

from sts.agents.protocol import Memory
from sts.worlds.lambda_star.agents.reactive import Reactive, Teams
from sts.worlds.lambda_star.agents.sets import ALL


class Random(Reactive):
    """Moves uniformly at random, and never speaks.

    Source: Chmait et al. 2016, section 5.2.1, random agent.
    """

    name = "random"

    def _decide(self, teams: Teams, kept: Memory) -> None:
        teams.sets[:] = ALL
