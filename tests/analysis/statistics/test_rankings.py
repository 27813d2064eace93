"""Who is ranked among whom: agents that continued nearly the same scenarios."""

import numpy as np
import pytest

from sts_analysis.statistics.rankings import Rankings, find_rankings

APART = "too few scenarios in common with others"


def found(*rows: str, possible: tuple[bool, ...] = ()) -> Rankings:
    """Rankings of agents given as rows of x, continued, and other letters."""
    continued = np.array([[letter == "x" for letter in row] for row in rows])
    return find_rankings(continued, np.array(possible or (True,) * len(rows)))


@pytest.mark.parametrize(("lacks", "ranked"), [(0, True), (1, True), (2, False), (5, False)])
def test_nine_tenths_of_the_scenarios_make_an_agent_ranked(lacks: int, ranked: bool) -> None:
    number, reason = found("xxxxxxxxxx", "." * lacks + "x" * (10 - lacks))
    assert number.tolist() == [1, int(ranked)]
    assert reason[1] == ("" if ranked else f"{10 - lacks} of 10 scenarios")


def test_agents_of_two_worlds_have_two_rankings_the_larger_first() -> None:
    assert found("xxx...", "...xxx", "...xxx", "xxx...", "...xxx").number.tolist() == [
        2,
        1,
        1,
        2,
        1,
    ]


def test_turns_that_somebody_took_in_both_worlds_join_no_rankings() -> None:
    number, reason = found("xxx...", "x..x..", "xxx...", "...xxx", "...xxx")
    assert number.tolist() == [1, 0, 1, 2, 2]
    assert reason[1] == "2 of 6 scenarios"


def test_who_plays_both_worlds_is_ranked_above_none_that_plays_one() -> None:
    number, reason = found("xxx...", "xxxxxx", "...xxx")
    assert number.tolist() == [0, 1, 0]
    assert reason == ("3 of 6 scenarios", "", "3 of 6 scenarios")


def test_nobody_is_ranked_alone_beside_others() -> None:
    number, reason = found("xxxx..", "....xx", "....xx")
    assert number.tolist() == [0, 1, 1] and reason[0] == APART
    assert found("xxx...", "...xxx").number.tolist() == [0, 0]
    assert found("xxx...").number.tolist() == [1]


def test_as_many_but_other_scenarios_are_no_common_ground() -> None:
    number, reason = found("xxxxxx....", "....xxxxxx")
    assert number.tolist() == [1, 0] and reason == ("", APART)


def test_what_stands_outside_opens_no_ranking() -> None:
    number, reason = found("xxxxxx", "xxx...", "xxx...", possible=(False, True, True))
    assert number.tolist() == [0, 1, 1] and reason == ("", "", "")
    assert found("xx", possible=(False,)).number.tolist() == [0]
