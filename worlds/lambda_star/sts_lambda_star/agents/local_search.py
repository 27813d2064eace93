"""Local search agent: it steps to the best cell within reach."""

from sts.plugin import Memory
from sts_lambda_star.agents.reactive import Reactive
from sts_lambda_star.agents.team_sight import TeamSight


class LocalSearch(Reactive):
    """Agent that moves to a cell of the highest observed reward, possibly its own.

    Ties are broken uniformly. The paper does so if all actions are equal and is silent on other
    ties; its program does so always (lambdastar_2016.md section 7, LocalSearchAgent.cpp:20). With a
    larger radius, still only the nine cells that a move can reach count.

    Source: Chmait et al. 2016, section 5.2.1, local search agent.
    """

    name = "local-search"
    leaves_choice = True
    reads = "best"

    def _decide(self, team: TeamSight, memory: Memory) -> None:
        team.sets[:] = team.best
