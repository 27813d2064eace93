"""The tables of a paper: the ranking, comparisons, categories, and correlations."""

from typing import NamedTuple

from sts.storage.csv_tables import format_csv
from sts_analysis.inputs.scores import PASS_RATE
from sts_analysis.report.core import Interval, Report
from sts_analysis.report.paper import latex
from sts_analysis.report.text import NONE, decimal, decimal_range, p_value, point_range, points

MAX_PAIRS = 200


class Table(NamedTuple):
    """A table.

    Attributes:
      name: of its files, and of its label.
      caption: what it shows, in words.
      header: names of the columns.
      align: a letter for each column: "l" left, "r" right.
      rows: cells.
    """

    name: str
    caption: str
    header: tuple[str, ...]
    align: str
    rows: tuple[tuple[str, ...], ...]

    def latex(self) -> str:
        """Return the table as LaTeX, by booktabs."""
        parts = latex.split_columns(self.header, self.align, self.rows)
        texts = [
            latex.format_table(
                self.name if len(parts) == 1 else f"{self.name}_{part}", self.caption, *columns
            )
            for part, columns in enumerate(parts, 1)
        ]
        return latex.add_preamble("\n".join(texts))

    def csv(self) -> bytes:
        """Return the table as CSV."""
        return format_csv(self.header, self.rows)


def list_tables(report: Report) -> dict[str, Table]:
    """Return every table for which there is something to show, by name."""
    tables = [make(report) for make in (_rank, _compare, _list_categories, _correlate)]
    return {table.name: table for table in tables if table is not None and table.rows}


def describe_scope(report: Report) -> str:
    """Say for a caption what intervals are about, and whose labels they rest on."""
    conclusion = report.conclusion
    about = (
        "other scenarios like these"
        if conclusion.target == "sampled"
        else "exactly these scenarios"
    )
    labels = {"human": "", "automatic": " Labels by a rule.", "model": " Labels by a model."}
    state = "" if conclusion.state == "final" else f" State: {conclusion.state}."
    return f"95% intervals are about {about}.{labels[conclusion.source]}{state}"


def _share(value: float | None) -> str:
    return NONE if value is None else f"{100 * value:.1f}"


def _share_range(ends: Interval | None) -> str:
    return NONE if ends is None else f"{100 * ends[0]:.1f} to {100 * ends[1]:.1f}"


def _rank(report: Report) -> Table:
    rows = []
    for row in report.ranking.rows:
        low, high = row.rank_set or (None, None)
        ranks = NONE if low is None else f"{low}" if low == high else f"{low} to {high}"
        if row.standing == "baseline":
            ranks = "baseline"
        rows.append((row.agent, ranks, _share(row.pass_rate), _share_range(row.interval)))
    caption = (
        "Pass rates in percent, adjusted for the annotators who judged, and the ranks that each "
        f"agent could have (all sets hold together with 95% confidence). {describe_scope(report)}"
    )
    header = ("Agent", "Rank (95% set)", "Pass rate", "95% interval")
    return Table("ranking", caption, header, "lrrr", tuple(rows))


def _compare(report: Report) -> Table | None:
    pairs = report.comparisons
    if pairs is None:
        return None
    rows = tuple(
        (
            pair.first,
            pair.second,
            points(pair.difference),
            point_range(pair.interval),
            p_value(pair.p_adjusted),
            "yes" if pair.significant else "no",
        )
        for pair in pairs.rows[:MAX_PAIRS]
    )
    caption = (
        "Differences of adjusted pass rates, first minus second, in percentage points, on the "
        f"scenarios that both have; p for all pairs together (Holm). {describe_scope(report)}"
    )
    header = ("First", "Second", "Difference", "95% interval", "p (Holm)", "Significant")
    return Table("comparisons", caption, header, "llrrrl", rows)


def _list_categories(report: Report) -> Table | None:
    found = report.categories
    if found is None:
        return None
    rows = tuple(
        (row.category, str(row.scenarios), *map(_share, row.pass_rates)) for row in found.rows
    )
    caption = f"Pass rates in percent by category. {describe_scope(report)}"
    header = ("Category", "Scenarios", *found.agents)
    return Table("categories", caption, header, "lr" + "r" * len(found.agents), rows)


def _correlate(report: Report) -> Table | None:
    found = report.correlations
    if found is None:
        return None
    rows = tuple(
        (
            row.second,
            str(row.agents),
            decimal(row.rho),
            decimal_range(row.interval),
        )
        for row in found.rows
        if row.first == PASS_RATE
    )
    caption = (
        "Spearman's rank correlation of the pass rate with other scores across agents; from eight "
        "agents on with a 95% interval of the scores as measured."
    )
    return Table("correlations", caption, ("Score", "Agents", "ρ", "95% interval"), "lrrr", rows)
