"""Local search agent: it steps to the best cell within reach."""

from sts.plugin import Memory
from sts_lambda_star.agents.move_sets import best_moves, crop_reachable
from sts_lambda_star.agents.reactive import Reactive, TeamObservation
from sts_lambda_star.kernels import Ints


class LocalSearch(Reactive):
    """Agent that moves to a cell of the highest observed reward, possibly its own.

    Ties are broken uniformly. The paper does so if all actions are equal and is silent on other
    ties; its program does so always (lambdastar_2016.md section 7, LocalSearchAgent.cpp:20). With a
    larger radius, still only the nine cells that a move can reach count.

    Source: Chmait et al. 2016, section 5.2.1, local search agent.
    """

    name = "local-search"

    def _decide(self, teams: TeamObservation, memory: Memory) -> Ints:
        return best_moves(crop_reachable(teams.around))
