"""SARSA agents, with a table per role or one shared by the team."""

from sts_lambda_star.agents.learner import TabularLearner
from sts_lambda_star.agents.value_table import SAME


class Sarsa(TabularLearner):
    """SARSA with one table per role.

    Q(s, a) moves by 0.3 of the way to r + 0.3 * Q(s', a'), where a' is the move executed in s'; the
    future of the last step is 0. See `TabularLearner` for states, choices and numbers. Without a
    practice episode its moves are uniformly random.

    As its own choices are greedy, practice by itself teaches it exactly what Q-learning learns; the
    two differ only where moves are forced, as in the context of a scenario.

    The rule is that of Rummery and Niranjan 1994; the paper has none. The numbers are the published
    program's (lambdastar_2016.md section 8). With bootstrap="published" Q(s', a') is, as there, the
    highest value of (new cell, the iteration of s itself), after the last step too.
    """

    name = "sarsa"
    on_policy = True
    published = SAME


class CooperativeSarsa(Sarsa):
    """SARSA with one table for the team: all roles act, then learn in the team's order.

    Without a practice episode the moves are uniformly random. The rule and the order are the
    published program's (lambdastar_2016.md section 8); they are not in the paper.
    """

    name = "cooperative-sarsa"
    shared = True
