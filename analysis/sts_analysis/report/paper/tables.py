"""The tables of a paper: Table 1 of errors, the ranking, comparisons, categories, and others."""

from collections.abc import Callable, Sequence

from sts.errors import UnknownName
from sts_analysis.report.paper.rates import ROLES, labels, role
from sts_analysis.report.paper.table import Table
from sts_analysis.report.paper.words import labelled, plural, sentences, thousands
from sts_analysis.report.schema import Agent, Group, Interval, Report
from sts_analysis.report.words import claim, points

NONE = "\N{EN DASH}"
_PEOPLE = {"player": "Human players", "annotator": "Human annotators", "none": "None"}
_PLAYERS = {"people": "people's episodes", "agents": "agents' continuations"}


def tables(report: Report) -> dict[str, Table]:
    """Every table that there is something for: name -> table."""
    made = [make(report) for make in MAKERS.values()]
    return {table.name: table for table in made if table is not None and table.rows}


def table(report: Report, name: str) -> Table:
    """One of `tables`.

    Raises:
      UnknownName: there is none of this name; names those that there are.
    """
    made = tables(report)
    if name not in made:
        raise UnknownName("table", name, made)
    return made[name]


def share(value: float | None) -> str:
    """A share in percent with one digit, as a column of a table has it."""
    return NONE if value is None else f"{100 * value:.1f}"


def between(ends: Interval | None, show: Callable[[float], str]) -> str:
    """An interval: "61.2 to 70.9"."""
    return NONE if ends is None else f"{show(ends[0])} to {show(ends[1])}"


def marked(entry: Agent) -> str:
    """An agent's name, with the mark of its role."""
    return entry.agent + ROLES[role(entry)][0]


def _roles(entries: Sequence[Agent]) -> str:
    roles = {role(entry) for entry in entries}
    return sentences(
        f"{ROLES['unranked'][0]}: not ranked." if "unranked" in roles else "",
        f"{ROLES['baseline'][0]}: sees more than an agent may: a bound, outside the ranking."
        if "baseline" in roles
        else "",
    )


def _ranking(report: Report) -> Table:
    several = len(report.rankings) > 1
    rows = []
    for entry in report.agents:
        best, worst = entry.rank_set or (None, None)
        ranks = NONE if best is None else str(best) if best == worst else f"{best} to {worst}"
        cells = (
            marked(entry),
            ranks,
            share(entry.pass_rate),
            between(entry.interval, share),
            thousands(entry.scenarios_judged),
            thousands(entry.judged),
        )
        rows.append((NONE if entry.ranking is None else str(entry.ranking), *cells)[not several :])
    caption = sentences(
        f"Pass rates in percent with 95% intervals {claim(report)}, and the ranks that "
        "the comparisons of all pairs leave open, which hold all together with 95%."
        if report.comparisons
        else f"Pass rates in percent with 95% intervals {claim(report)}.",
        "Agents of different rankings met different scenarios, and do not compare."
        if several
        else "",
        _roles(report.agents),
        labelled(report),
    )
    header = ("Ranking", "Agent", "Ranks", "Pass rate", "95% interval", "Scenarios", "Judged")
    return Table("ranking", caption, header[not several :], "rlrrrrr"[not several :], tuple(rows))


def _comparisons(report: Report) -> Table:
    names = dict(zip((e.agent for e in report.agents), labels(report.agents), strict=True))
    rows = tuple(
        (
            names[pair.a],
            names[pair.b],
            points(pair.difference),
            between(pair.interval, points),
            between(pair.joint_interval, points),
            _p(pair.p_adjusted),
            "yes" if pair.separated else "no",
        )
        for pair in report.comparisons
        if pair.difference is not None
    )
    unknown = len(report.comparisons) - len(rows)
    caption = sentences(
        f"Differences of pass rates, A minus B, in points, paired by scenario, {_claim(report)}. "
        "The joint intervals and p values hold for all pairs together.",
        f"Without a scenario in common: {plural(unknown, 'pair')}." if unknown else "",
        labelled(report),
    )
    header = ("A", "B", "Difference", "95% interval", "joint 95% interval", "p", "Separated")
    return Table("comparisons", caption, header, "llrrrrl", rows)


def _claim(report: Report) -> str:
    return f"with 95% intervals {claim(report)}"


def _p(value: float | None) -> str:
    if value is None:
        return NONE
    return "<.001" if value < 0.001 else f"{value:.3f}".removeprefix("0")


def _categories(report: Report) -> Table | None:
    """Kinds and categories down, agents across."""
    entries = [entry for entry in report.agents if entry.pass_rate is not None]
    if not entries or len(entries[0].categories) < 2:
        return None
    groups = [("kinds", name) for name in entries[0].kinds]
    groups += [("categories", name) for name in entries[0].categories]
    rows = [("All", *(_cell(entry.pass_rate, entry.interval) for entry in entries))]
    for where, name in groups:
        cells: list[Group] = [getattr(entry, where)[name] for entry in entries]
        label = f"All {name}s" if where == "kinds" else name
        rows.append((label, *(_cell(cell.pass_rate, cell.interval) for cell in cells)))
    caption = sentences(
        f"Pass rates in percent by category, {_claim(report)}.", _roles(entries), labelled(report)
    )
    header = ("Category", *labels(entries))
    return Table("categories", caption, header, "l" + "r" * len(entries), tuple(rows))


def _cell(rate: float | None, interval: Interval | None) -> str:
    if rate is None:
        return NONE
    if interval is None:
        return f"{100 * rate:.0f}"
    low, high = (f"{100 * end:.0f}" for end in interval)
    return f"{100 * rate:.0f} ({low}\N{EN DASH}{high})"


def _correlations(report: Report) -> Table:
    rows = tuple(
        (
            one.x.replace("pass_rate", "pass rate"),
            one.y,
            str(one.n),
            _number(one.spearman),
            between(one.interval, _number),
            _p(one.p),
        )
        for one in report.correlations
        if one.spearman is not None
    )
    caption = sentences(
        "Spearman's rank correlation of metrics across ranked agents, with 95% intervals "
        "(Bonett and Wright) and two-sided permutation p values.",
        labelled(report),
    )
    header = ("Metric", "Metric", "Agents", "Spearman", "95% interval", "p")
    return Table("correlations", caption, header, "llrrrr", rows)


def _number(value: float | None) -> str:
    return NONE if value is None else f"{value:.2f}".replace("-", "\N{MINUS SIGN}")


def _annotators(report: Report) -> Table:
    rows = tuple(
        (
            one.annotator,
            thousands(one.annotations),
            str(one.references),
            share(one.balanced_accuracy),
            between(one.interval, share),
        )
        for one in report.annotators
    )
    caption = (
        "Annotators: verdicts on agents' continuations, answers on reference episodes, and "
        "balanced accuracy on these in percent with 95% intervals."
    )
    header = ("Annotator", "Verdicts", "References", "Balanced accuracy", "95% interval")
    return Table("annotators", caption, header, "lrrrr", rows)


def _errors(report: Report) -> Table | None:
    """Table 1 of the paper: error source, error type, number of episodes, description."""
    if report.reviews is None:
        return None
    over = {who: one for who, one in report.reviews.over.items() if one.reviewed}
    rows, source = [], ""
    for one in report.reviews.errors:
        counts = [str(getattr(one, who)) for who in over]
        told = "" if one.source == source else _PEOPLE[one.source]
        rows.append((told, one.error.replace("_", " "), *counts, one.meaning))
        source = one.source
    drawn = "; ".join(
        f"{thousands(one.reviewed)} reviewed of {thousands(one.sample)} drawn at random from "
        f"{thousands(one.failures)} {_PLAYERS[who]} annotated as failures"
        for who, one in over.items()
    )
    numbers = ("Number of episodes",) if len(over) == 1 else tuple(who.capitalize() for who in over)
    caption = f"Breakdown of errors in failures, number of episodes: {drawn}."
    header = ("Error source", "Error type", *numbers, "Description")
    return Table("table_1", caption, header, f"ll{'r' * len(over)}w", tuple(rows if over else ()))


MAKERS: dict[str, Callable[[Report], Table | None]] = {
    "ranking": _ranking,
    "comparisons": _comparisons,
    "categories": _categories,
    "correlations": _correlations,
    "annotators": _annotators,
    "table_1": _errors,
}
"""Every table that a paper can have."""
