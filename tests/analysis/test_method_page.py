"""What docs/method.md states is what the code does."""

import re
from pathlib import Path

import pytest

from sts_analysis.report import claim, core
from sts_analysis.statistics import estimate, race, rank_correlations, rates

PAGE = Path(__file__).parents[2] / "docs" / "method.md"
NUMBERS = {"two": 2, "three": 3, "five": 5, "six": 6, "eight": 8, "ten": 10, "a tenth": 0.1}
STATED = [
    (r"fewer than (\w+) units per category", estimate.MIN_UNITS_PER_CATEGORY),
    (r"fewer than (\w+) units differ, there is no p", estimate.MIN_DIFFERING_UNITS),
    (r"Intervals are shown from (\w+) units on", core.MIN_UNITS_OF_INTERVAL),
    (r"and conclusions from (\w+)\.", race.MIN_UNITS),
    (r"fewer than (\w+) units remain", race.MIN_UNITS),
    (r"adjusted p below (\.001)", claim.INTERIM_ALPHA),
    (r"if the adjusted p is below (\.05)", race.ALPHA),
    (r"Φ\((2\.24)/√f\)", race.CLOSED_Z),
    (r"lacks more than (a tenth) of the scenarios", race.MAX_LACKING),
    (r"fewer than (30) judged clips", rates.MIN_CLIPS),
    (r"From (5)% of an agent's clips on", 100 * rates.MAX_UNJUDGEABLE),
    (r"with (\w+) or more annotators, and at least", rates.MIN_ANNOTATORS),
    (r"at least (\w+) effective ones for each agent", rates.MIN_EFFECTIVE_ANNOTATORS),
    (r"Below (\w+) agents a report shows", rank_correlations.MIN_AGENTS_INTERVAL),
    (r"from (\w+) families on", rank_correlations.MIN_FAMILIES),
]


@pytest.mark.parametrize(("pattern", "value"), STATED, ids=[p for p, _ in STATED])
def test_page_states_the_limit_that_the_code_has(pattern, value) -> None:
    found = re.search(pattern, PAGE.read_text())
    assert found is not None
    assert float(NUMBERS.get(found[1], found[1])) == pytest.approx(value)


def test_page_has_at_most_2600_words() -> None:
    assert len(PAGE.read_text().split()) <= 2600
