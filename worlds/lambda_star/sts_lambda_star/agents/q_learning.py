"""Q-learning agents, with a table per role or one shared by the team."""

from sts_lambda_star.agents.learner import TabularLearner


class QLearning(TabularLearner):
    """Q-learning with one table per role.

    Q(s, a) moves by 0.3 of the way to r + 0.3 * max Q(s'), with 0 for the future of the last step;
    see `TabularLearner` for states, choices and numbers. Without a practice episode its moves are
    uniformly random.

    The rule is Chmait et al. 2016, section 5.2.1, algorithm 1 (Watkins 1989). With
    bootstrap="published" max Q(s') is that of (new cell, first iteration), after the last step too,
    as in the published program (lambdastar_2016.md section 8).
    """

    name = "q-learning"


class CooperativeQLearning(QLearning):
    """Q-learning with one table for the team: all roles act, then learn in the team's order.

    Without a practice episode the moves are uniformly random.

    Source: Chmait et al. 2016, section 5.2.2; the order is the published program's
    (lambdastar_2016.md section 8).
    """

    name = "cooperative-q-learning"
    shared = True
