"""SARSA, alone and with a table that the team shares."""

from __future__ import annotations

from sts.worlds.lambda_star.agents.learner import Tabular
from sts.worlds.lambda_star.agents.table import SAME


class Sarsa(Tabular):
    """Learns from each step towards its reward and the move that was then made.

    Q(s, a) moves by 0.3 of the way to r + 0.3 * Q(s', a'), where a' is the move executed in s', so
    that a step is learned from when the next move is known; the future of the last step is 0. See
    `Tabular` for states, choices and numbers. Each role has a table of its own. Without a rehearsal
    of the episode its moves are uniformly random.

    As its own choice is always a best one, what it rehearses by itself it learns exactly as
    Q-learning does; the two differ where moves are forced, as in the context of a scenario.

    The rule is Rummery and Niranjan 1994; the paper has none. The published program, which has one
    (lambdastar_2016.md section 8), gives the numbers. With bootstrap="published" Q(s', a') is, as
    there, the highest of (new cell, the iteration of s itself), after the last step too.
    """

    name = "sarsa"
    on_policy = True
    published = SAME


class CooperativeSarsa(Sarsa):
    """SARSA with one table for the team: all act, then learn one after the other.

    Learning goes in the team's order. Without a rehearsal of the episode the moves are uniformly
    random.

    The rule and the order are the published program's (lambdastar_2016.md section 8); the paper has
    none.
    """

    name = "cooperative-sarsa"
    shared = True
