"""Binary-tree agent: each role follows the best of its own and its two children's targets."""

from sts.plugin import Memory, jit
from sts_lambda_star.agents.reactive import Reactive
from sts_lambda_star.agents.team_sight import TeamSight, draw_target, head_for


@jit
def follow_children(team: TeamSight) -> None:
    """Let each role head for the best of its own and its children's targets."""
    roles = team.sets.shape[0]
    for b in range(team.sets.shape[1]):
        for r in range(roles):
            leader = r
            for child in range(2 * r + 1, min(2 * r + 3, roles)):
                if team.top[child, b] > team.top[leader, b]:
                    leader = child
            row, column = draw_target(team, leader, b)
            head_for(team, r, b, row, column)


class BinaryTree(Reactive):
    """Team in which each role heads for the best of its own and its children's targets.

    The team's order is a heap: role i, from 1, has the children 2i and 2i + 1 if they exist. At
    every step each role's target is a cell of the highest reward among the nine it can reach (ties
    broken uniformly). A role follows a child's target only if the reward there is higher than at
    its own, and the second child's only if it is also higher than at the first's; it takes a
    shortest path there. Targets are not passed further up the tree.

    The rule is this project's, after a method that the published program never calls: it runs plain
    local search instead (lambdastar_2016.md section 7, main.cpp:376). That method takes the first
    of several best cells; here, as everywhere, ties are broken uniformly.
    """

    name = "binary-tree"
    draws = 1
    reads = "best"

    def _decide(self, team: TeamSight, memory: Memory) -> None:
        follow_children(team)
