"""How far a suite spreads agents: gaps, scenarios of one agent, and lists that span nothing."""

import pytest

from sts.errors import ArgumentError
from tests.reproduction.suites.spread import measure_spread

ASKED = ["easy", "easy", "hard", "hard"]


def test_spread_has_gaps_from_low_to_high_and_scenarios_of_one_agent():
    passed = {"weak": [0.2] * 4, "half": [1.0, 1, 0, 0], "strong": [1.0, 1, 0, 1]}
    passed["other"] = [0.0, 0, 1, 1]
    found = measure_spread(passed, ASKED, ["weak", "half", "strong"])
    assert found.rates == {"weak": 0.2, "half": 0.5, "other": 0.5, "strong": 0.75}
    assert found.gaps == pytest.approx([0.1, 0.3, 0.25, 0.15])
    assert found.passed_by == [2, 2, 0, 1] and found.lonely_share == 0.25
    assert found.alone == {"weak": 0, "half": 0, "strong": 1}
    assert found.middle == {"easy": ["weak"], "hard": ["weak", "strong"]}


def test_list_of_agents_that_spans_nothing_is_refused():
    with pytest.raises(ArgumentError, match="the list spans nothing"):
        measure_spread({"weak": [0, 0, 0, 0], "strong": [1, 1, 1, 1]}, ASKED, ["weak", "strong"])
