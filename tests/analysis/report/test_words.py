"""Numbers as they stand in a sentence."""

import pytest

from sts_analysis.report.words import claim, duration
from tests.analysis.report.test_build import world
from tests.analysis.reports import report_of


@pytest.mark.parametrize(
    ("hours", "words"),
    [(0.0, "<1 min"), (0.005, "<1 min"), (0.58, "35 min"), (0.999, "1.0 h"), (3.42, "3.4 h")],
)
def test_a_time_is_told_in_the_unit_that_suits_it(hours: float, words: str) -> None:
    assert duration(hours) == words


def test_a_table_without_categories_claims_nothing_of_categories() -> None:
    named, unnamed = world(), world().assign(category="")
    assert claim(report_of(named)) == "for fresh scenarios of the same categories"
    assert claim(report_of(unnamed)) == "for fresh scenarios like these"
