"""Reports for the tests of what a paper needs."""

import functools
from typing import Any

from sts_analysis.report.schema import Report
from tests.analysis.reports import report_of
from tests.analysis.worlds import ratings_table

USUAL: dict[str, Any] = {
    "skills": {"best": 1.5, "good": 0.5, "poor": -1.0, "seer": 3.0},
    "categories": ["lift", "arrange", "yes/no", "count"],
    "seed": 4,
    "scenarios": 3,
    "continuations": 4,
    "baselines": ("seer",),
}


@functools.cache
def usual() -> Report:
    """Four agents, one of them a baseline, judged twice each; two kinds, four categories."""
    people = {"ann": (0.95, 0.95), "ben": (0.9, 0.9)}
    return made(references=8, annotators=people, each=2)


def made(margin: float | None = None, **options: Any) -> Report:
    """A report of a seeded table, `USUAL` but for the options; `margin` is the report's."""
    return report_of(ratings_table(**(USUAL | options)), margin=margin)
