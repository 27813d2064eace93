"""The report in a terminal: its ranking as a table, and its verdict."""

from collections.abc import Sequence

from sts_analysis.report.schema import Against, Report
from sts_analysis.report.verdict import about, completeness, remark
from sts_analysis.report.words import percent, points


def table(report: Report) -> str:
    """The ranking as a table, the verdict, and what to beware of."""
    lines = _ranking(report)
    if report.labels_used != "human":
        lines.insert(0, f"{report.labels_used.capitalize()} labels, not an STS result.\n")
    if report.metrics_of_unknown_agents:
        strangers = ", ".join(report.metrics_of_unknown_agents)
        lines += ["", f"scores left out, for there is no such agent here: {strangers}"]
    if report.metrics_left_out:
        left = (f"{m.agent} ({m.metric}): {m.reason}" for m in report.metrics_left_out)
        lines += ["", f"left out of correlations: {'; '.join(left)}"]
    if report.selection is not None:
        lines.insert(0, f"{about(report.selection)}.\n")
    target = {"sampled": "scenarios sampled", "fixed": "these scenarios only"}[report.target]
    more = f"Intervals: {target}, {report.labels_used} labels."
    alarms = [f"ALARM: {alarm.text}" for alarm in report.alarms]
    whose = [] if report.judges is None else [report.judges.whose]
    warnings = [f"Warning: {warning}" for warning in report.warnings]
    notes = [f"Note: {note}" for note in report.unknown.values()]
    notes += [f"Note: {note}." for note in report.provenance.notes]
    count = report.counts
    if count.judged < count.continuations:
        notes.insert(0, f"Note: {completeness(count)}.")
    beside = [] if report.against is None else ["", *_against(report.against)]
    return "\n".join(
        [*lines, "", *alarms, report.verdict, *whose, *warnings, more, *notes, *beside]
    )


def _against(beside: Against) -> list[str]:
    """What the change of version did to each agent's score."""
    kinds = {"same": beside.kept, "added": beside.added, "retired": beside.retired}
    header = (beside.suite, *(f"{n} ({len(ids)})" for n, ids in kinds.items()), "now", "change")
    rows = [(*header, "95% interval", "agent")]
    for entry in beside.agents:
        parts = (entry.old, entry.kept, entry.added, entry.retired, entry.new)
        rates = (percent(part.pass_rate) for part in parts)
        low, high = entry.interval or (None, None)
        change = (points(entry.difference), f"{points(low)} to {points(high)}")
        rows.append((*rates, change[0], change[1] if entry.interval else "–", entry.agent))
    return [f"Against {beside.suite}, the change in points:", *_columns(rows)]


def _ranking(report: Report) -> list[str]:
    total = report.counts.scenarios
    several = len(report.rankings) > 1
    rows = [("rank", "could be", "pass rate", "95% interval", "scenarios", "judged", "agent")]
    for entry in report.agents:
        best, worst = entry.rank_set or ("–", "–")
        low, high = entry.interval or (None, None)
        place = f"{entry.ranking}: {entry.rank}" if several else str(entry.rank)
        baseline = "baseline" if entry.sees != "observation" else ""
        said = "; ".join(filter(None, (baseline, remark(entry, total))))
        rows.append(
            (
                place if entry.rank else "–",
                str(best) if best == worst else f"{best}–{worst}",
                percent(entry.pass_rate),
                "–" if low is None else f"{percent(low)} to {percent(high)}",
                f"{entry.scenarios_judged} of {total}",
                f"{entry.judged} of {entry.continuations}",
                entry.agent + (f" ({said})" if said else ""),
            )
        )
    return _columns(rows)


def _columns(rows: Sequence[tuple[str, ...]]) -> list[str]:
    """Lines of columns that are flush right, but for the last."""
    widths = [max(map(len, column)) for column in list(zip(*rows, strict=True))[:-1]]
    return [
        "  ".join([*(cell.rjust(w) for cell, w in zip(row[:-1], widths, strict=True)), row[-1]])
        for row in rows
    ]
