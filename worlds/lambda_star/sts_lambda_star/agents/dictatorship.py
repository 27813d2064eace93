"""Dictatorship agent: the whole team goes to the cell that its first role chooses."""

from sts.plugin import Memory
from sts_lambda_star.agents.reactive import Reactive, TeamObservation
from sts_lambda_star.kernels import Ints


class Dictatorship(Reactive):
    """Team that heads for the cell that its first role chooses.

    At every step the first role chooses a cell of the highest reward among the nine it can reach
    (ties broken uniformly), and every role, including the first, takes a shortest path there. So
    the first role is a local search agent.

    The rule is the published program's (lambdastar_2016.md section 7,
    DictatorshipLocalSearchAgent.cpp:15); it is not in the paper.
    """

    name = "dictatorship"
    draws = 1

    def _decide(self, teams: TeamObservation, memory: Memory) -> Ints:
        leader = teams._replace(
            around=teams.around[:, :1], cell=teams.cell[:, :1], draws=teams.draws[:, :1]
        )
        return teams.head_for(leader.draw_targets()[0])
