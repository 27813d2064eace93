"""Scenarios that annotators could not judge, with the reasons they gave."""

from collections import Counter

import msgspec
from markupsafe import Markup

from sts_analysis.report.core import Report, Study
from sts_analysis.report.markup import render_table

TITLE = "Unjudgeable scenarios"
NAV = "Unjudgeable"
SHOWN_REASONS = 3


class Row(msgspec.Struct, frozen=True):
    """A scenario that an annotator could not judge.

    Attributes:
      scenario: its id.
      category: "" if unknown.
      clips: that an annotator could not judge.
      judged: clips that annotators answered.
    """

    scenario: str
    category: str
    clips: int
    judged: int


class Reason(msgspec.Struct, frozen=True):
    """Why annotators could not judge a scenario.

    Attributes:
      scenario: its id.
      reason: in an annotator's words.
      answers: that gave this reason.
    """

    scenario: str
    reason: str
    answers: int


class Result(msgspec.Struct, frozen=True):
    """What annotators could not judge.

    Attributes:
      rows: scenarios, those with most clips first.
      reasons: why, by scenario, the most frequent first.
    """

    rows: tuple[Row, ...]
    reasons: tuple[Reason, ...]


def compute(study: Study) -> Result | None:
    """List the scenarios; None if all were judged."""
    rows = study.people_rows
    unable = rows[(rows["verdict"] == "cannot_judge").to_numpy()]
    if unable.empty:
        return None
    names = unable["scenario"].unique()
    whole = rows[rows["scenario"].isin(names)].groupby("scenario", observed=True)
    judged, category = whole["continuation"].nunique(), whole["category"].first()
    clips = unable.groupby("scenario", observed=True)["continuation"].nunique()
    scenarios = [
        Row(str(name), str(category[name]), int(clips[name]), int(judged[name])) for name in names
    ]
    given = unable[(unable["reason"] != "").to_numpy()]
    answers = Counter(zip(given["scenario"], given["reason"], strict=True))
    reasons = [Reason(str(name), str(reason), n) for (name, reason), n in answers.items()]
    return Result(
        rows=tuple(sorted(scenarios, key=lambda row: (-row.clips, row.scenario))),
        reasons=tuple(sorted(reasons, key=lambda row: (row.scenario, -row.answers, row.reason))),
    )


def render(result: Result, report: Report) -> Markup:
    """Show the scenarios with their most frequent reasons."""
    reasons: dict[str, list[str]] = {}
    for row in result.reasons:
        reasons.setdefault(row.scenario, []).append(f"{row.reason} ({row.answers:,})")
    return render_table(
        ["Scenario", "Category", "Reasons", "Clips", "Judged"],
        (
            [
                row.scenario,
                row.category,
                "; ".join(reasons.get(row.scenario, [])[:SHOWN_REASONS]),
                f"{row.clips:,}",
                f"{row.judged:,}",
            ]
            for row in result.rows
        ),
        texts=("Category", "Reasons"),
    )
