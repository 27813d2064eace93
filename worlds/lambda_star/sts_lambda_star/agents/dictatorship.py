"""Dictatorship agent: the whole team goes to the cell that its first role chooses."""

from sts.plugin import Memory, jit
from sts_lambda_star.agents.reactive import Reactive
from sts_lambda_star.agents.team_sight import TeamSight, draw_target, head_for


@jit
def dictate(team: TeamSight) -> None:
    """Let every role head for a best place in the first role's reach."""
    for b in range(team.sets.shape[1]):
        row, column = draw_target(team, 0, b)
        for r in range(team.sets.shape[0]):
            head_for(team, r, b, row, column)


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
    reads = "best"

    def _decide(self, team: TeamSight, memory: Memory) -> None:
        dictate(team)
