"""What reviewers found in clips that were judged as failures.

Source: Abramson et al. 2022, section A.3, table 1.
"""

import msgspec
from markupsafe import Markup

from sts_analysis.report.core import Report, Study, html
from sts_analysis.report.markup import render_records

TITLE = "Error analysis"
NAV = "Errors"


class Row(msgspec.Struct, frozen=True):
    """A type of error that reviewers found in clips judged as failures.

    Attributes:
      error: its name.
      source: who made the error: "player", "annotator" or "none".
      people: clips that people played.
      agents: clips of agents.
      meaning: for reviewers.
    """

    error: str
    source: str
    people: int
    agents: int
    meaning: str


class Sample(msgspec.Struct, frozen=True):
    """Failures that reviewers look at.

    Attributes:
      players: "people" or "agents".
      failures: clips judged as failures.
      sample: of these drawn at random.
      reviewed: of the sample.
      outside: reviewed failures that later judgements took out of the sample.
    """

    players: str
    failures: int
    sample: int
    reviewed: int
    outside: int


class Result(msgspec.Struct, frozen=True):
    """Reviews of failures.

    Attributes:
      rows: types of error.
      samples: of failures, for review.
    """

    rows: tuple[Row, ...]
    samples: tuple[Sample, ...]


def compute(study: Study) -> Result | None:
    """Count the types of error; None without a review."""
    reviews = study.subject.reviews
    if reviews is None or not any(sample.reviewed for sample in reviews.samples.values()):
        return None
    return Result(
        rows=tuple(
            Row(row.error, row.source, row.people, row.agents, row.meaning) for row in reviews.rows
        ),
        samples=tuple(Sample(players, *counts) for players, counts in reviews.samples.items()),
    )


def render(result: Result, report: Report) -> Markup:
    """Show the types of error, and how failures were sampled."""
    table = render_records(
        result.rows,
        {
            "Error": lambda row: row.error.replace("_", " "),
            "Made by": "source",
            "Meaning": "meaning",
            "People": "people",
            "Agents": "agents",
        },
    )
    notes = " ".join(
        f"Of {row.failures:,} clips of {row.players} judged as failures, {row.sample:,} were drawn "
        f"at random and {row.reviewed:,} of these reviewed."
        for row in result.samples
        if row.failures
    )
    return html("{}<p class=cap>{}</p>", table, notes)
