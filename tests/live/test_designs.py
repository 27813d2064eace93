"""Counterbalanced orders of agents, as even as the numbers allow."""

from itertools import combinations

import pytest

from sts.live.designs import make_design, measure_evenness

QUICK = ((2, 5), (3, 1), (5, 7), (8, 12), (9, 3), (12, 4))
SIZES = [
    *QUICK,
    *(
        pytest.param(
            agents,
            people,
            marks=pytest.mark.slow if (agents + 5 * people) % 12 else pytest.mark.landing,
        )
        for agents in range(2, 13)
        for people in range(1, 13)
        if (agents, people) not in QUICK
    ),
]
"""All pairs of up to twelve; before landing, one pair for each number of people and of agents."""


def is_even(ends: tuple[int, int], spread: int = 1) -> bool:
    return ends[1] - ends[0] <= spread


@pytest.mark.parametrize("agents", [2, 3, 4, 5, 6, 7, 8])
def test_whole_rounds_of_at_most_eight_agents_are_perfectly_balanced(agents):
    rounds = agents if agents % 2 == 0 else 2 * agents
    even = measure_evenness(make_design(agents, rounds, agents, 0), agents)
    assert all(low == high for low, high in even)


@pytest.mark.parametrize(("agents", "people"), SIZES)
def test_every_number_of_agents_and_people_gets_an_even_plan(agents, people):
    sessions = min(agents, 8)
    rows = make_design(agents, people, sessions, 3)
    assert [len(set(row)) for row in rows] == [sessions] * people
    even = measure_evenness(rows, agents)
    assert is_even(even.replications) and is_even(even.places) and is_even(even.orders, 2)
    # Two agents that meet one person less each meet fewer people together than others do.
    assert is_even(even.pairs, 3)


@pytest.mark.parametrize(("agents", "people", "sessions"), [(7, 7, 3), (13, 13, 4), (9, 12, 3)])
def test_search_finds_a_balanced_incomplete_block_design_if_there_is_one(agents, people, sessions):
    even = measure_evenness(make_design(agents, people, sessions, 1), agents)
    assert even.replications[0] == even.replications[1] and even.pairs == (1, 1)


def test_search_leaves_less_uneven_than_cyclic_blocks():
    agents, people, sessions = 12, 12, 8
    cyclic = [[(p * sessions + k) % agents for k in range(sessions)] for p in range(people)]
    found = measure_evenness(make_design(agents, people, sessions, 0), agents)
    assert measure_evenness(cyclic, agents).pairs == (4, 8) and found.pairs == (5, 6)


def test_same_seed_gives_the_same_design_and_another_seed_another():
    first, again, other = (make_design(10, 6, 8, seed) for seed in (4, 4, 5))
    assert first == again != other


def test_evenness_counts_what_it_says():
    rows = [[0, 1, 2], [0, 2, 1]]
    even = measure_evenness(rows, 4)
    pairs = [sum(a in row and b in row for row in rows) for a, b in combinations(range(4), 2)]
    assert even == ((0, 2), (min(pairs), max(pairs)), (0, 2), (0, 1))
