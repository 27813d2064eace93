"""The report in a terminal: its conclusion, what was read, the ranking, and what to do next."""

from sts.cli.arguments import format_table
from sts_analysis.inputs.reading import describe_reading
from sts_analysis.report.core import Report
from sts_analysis.report.sections import conclusion, next_steps, ranking
from sts_analysis.report.text import NONE, percent, percent_range, to_plain


def format_report(report: Report) -> str:
    """Write the conclusion, the ranking, the warnings and the first step to take next."""
    said: conclusion.Result = report.conclusion
    table: ranking.Result = report.ranking
    lines = [f"{said.pill}. {to_plain(said.headline)}"]
    reading = report.provenance.reading
    if reading is not None:
        lines += [f"  {about}: {text}" for about, text in describe_reading(reading).items()]
        lines += [f"  question: {question}" for question in reading.questions]
    lines += [to_plain(said.support), ""]
    header = ["rank", "pass rate", "95% interval", "agent"]
    rows = []
    for row in table.rows:
        low, high = row.rank_set or (None, None)
        place = NONE if low is None else f"{low}" if low == high else f"{low}–{high}"
        note = "baseline" if row.standing == "baseline" else row.reason
        rows.append(
            [
                place,
                percent(row.pass_rate),
                percent_range(row.bounds or row.interval),
                f"{row.agent} ({note})" if note else row.agent,
            ]
        )
    lines += [format_table(header, rows), ""]
    for fact in said.facts:
        lines.append(f"{fact.term}: {', '.join(filter(None, (fact.value, fact.detail)))}.")
    asked = reading.questions if reading is not None else ()
    warnings = [to_plain(warning) for warning in said.warnings]
    lines += [f"Warning: {text}" for text in warnings if text not in asked]
    following: next_steps.Result | None = report.next_steps
    if following is not None:
        step = following.steps[0]
        lines.append(f"Next: {step.verb} {to_plain(step.reason)}")
        lines += [f"  {step.command}"] if step.command else []
    return "\n".join(lines)
