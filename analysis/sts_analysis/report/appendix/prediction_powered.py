"""Pass rates by people's verdicts on a part of the continuations and labels of all of them."""

import msgspec
from markupsafe import Markup

from sts_analysis.report.core import Interval, Report, Study, find_interval, html, interval, number
from sts_analysis.report.markup import render_records
from sts_analysis.report.text import decimal, explain_labels
from sts_analysis.statistics.powered_rates import fit_labels
from sts_analysis.statistics.rates import RateModel

TITLE = "Prediction-powered pass rates"
NAV = "Prediction-powered"


class Row(msgspec.Struct, frozen=True):
    """One agent.

    Attributes:
      agent: its name.
      people_rate: by people's verdicts alone.
      people_interval: of that rate; null below five units.
      pass_rate: prediction-powered; null if it cannot be known.
      interval: of the prediction-powered rate.
      weight: of the labels, from 0 (not used) to 1.
      judged: continuations that people judged.
      judgeable: continuations without the unjudgeable ones.
      reason: why there is no prediction-powered rate, or "".
    """

    agent: str
    people_rate: float | None
    people_interval: Interval | None
    pass_rate: float | None
    interval: Interval | None
    weight: float | None
    judged: int
    judgeable: int
    reason: str


class Result(msgspec.Struct, frozen=True):
    """Prediction-powered rates of all agents.

    Attributes:
      source: of the labels: "automatic" or "model".
      rows: agents in the order of the ranking.
    """

    source: str
    rows: tuple[Row, ...]


def compute(study: Study) -> Result | None:
    """Estimate the rates; None unless asked for, and people and a rule or model have judged."""
    asked = study.options.prediction_powered or study.labels
    if not asked or study.source != "human" or not study.sources[1:]:
        return None
    outcomes, source = study.outcomes, study.sources[1]
    control = fit_labels(outcomes, study.outcomes_of(source))
    # For other scenarios like these, whatever the report's target: labels say nothing of these.
    people = RateModel(outcomes).estimate_rates()
    powered = RateModel(outcomes, control=control).estimate_rates()
    known = [not reason for reason in control.reasons]
    return Result(
        source=source,
        rows=tuple(
            Row(
                agent=outcomes.agents[a],
                people_rate=number(people.rate[a]),
                people_interval=find_interval(people, a),
                pass_rate=number(powered.rate[a]) if known[a] else None,
                interval=interval(powered.interval[a]) if known[a] else None,
                weight=number(control.weight[a]),
                judged=int(control.judged[a]),
                judgeable=int(control.judgeable[a]),
                reason=control.reasons[a],
            )
            for a in study.order
        ),
    )


def render(result: Result, report: Report) -> Markup:
    """Show prediction-powered rates next to those by people alone."""
    table = render_records(
        result.rows,
        {
            "Agent": "agent",
            "People alone": "people_rate",
            "95% interval, people": "people_interval",
            "With labels": "pass_rate",
            "95% interval": "interval",
            "Weight": lambda row: decimal(row.weight),
            "Judged": lambda row: f"{row.judged:,} of {row.judgeable:,}",
            "Reason": "reason",
        },
    )
    return html(
        "{}<p class=cap>People judged a part of the continuations. {} This holds if people judged "
        "a random part. Both rates are adjusted for annotators, and are about other scenarios like "
        "these.</p>",
        table,
        explain_labels(result.source),
    )
