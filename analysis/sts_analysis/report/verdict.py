"""Says in plain words which agents can be told apart, and what to beware of."""

from sts_analysis.report.best import alone, best
from sts_analysis.report.schema import Agent, Counts, Report, Selection, Standing
from sts_analysis.report.words import listed, percent

FEW_SCENARIOS = 3


def verdict(report: Report) -> str:
    """One or two sentences on each ranking.

    Args:
      report: the report's content; reads its agents, rankings and comparisons.
    """
    rankings = report.rankings
    if not rankings:
        judged = [entry for entry in report.agents if entry.pass_rate is not None]
        if any(entry.sees == "observation" for entry in judged):
            why = "No two agents can be ranked together: they continued different scenarios"
        elif report.counts.unjudged == 0:
            why = "No continuation could be judged, so there is nothing to rank"
        else:
            why = "No agent has a judged continuation yet, so there is nothing to rank"
        return f"{why}."
    if len(rankings) == 1 and len(rankings[0].agents) == 1:
        (only,) = (entry for entry in report.agents if entry.rank is not None)
        seen = [entry for entry in report.agents if entry.pass_rate is not None]
        several = sum(entry.sees == "observation" for entry in seen) > 1
        return alone(only.agent, only.pass_rate, only.interval, several=several)
    above = {(c.a, c.b) for c in report.comparisons if c.separated and (c.difference or 0) > 0}
    above |= {(c.b, c.a) for c in report.comparisons if c.separated and (c.difference or 0) < 0}
    if len(rankings) == 1:
        return best(rankings[0].agents, above)
    parts = []
    for entry in rankings:
        own = {(a, b) for a, b in above if a in entry.agents and b in entry.agents}
        said = best(entry.agents, own) if len(entry.agents) > 1 else f"{entry.agents[0]} is alone."
        parts.append(f"Ranking {entry.ranking}: {said}")
    return " ".join(parts)


def warnings(report: Report) -> list[str]:
    """What the ranking hides: rankings on different scenarios, and scenarios not continued.

    And whether another version separates the best, where this one does not.

    Args:
      report: the report's content; reads its agents, rankings, counts and against.
    """
    total, rankings = report.counts.scenarios, report.rankings
    lines = []
    if len(rankings) > 1:
        parts = (
            f"ranking {entry.ranking} is on {entry.scenarios} of {total} scenarios"
            + (f" ({listed(entry.categories)})" if entry.categories else "")
            for entry in rankings
        )
        lines.append(
            f"There are {len(rankings)} rankings, because not all agents met the same scenarios: "
            f"{', '.join(parts)}. Ranks and rates of different rankings do not compare."
        )
    lacking = _lacking(report)
    if lacking:
        lines.append(
            f"Not every ranked agent has continued every scenario: {listed(lacking)}. A rate is "
            "over the scenarios that were continued, so an agent that breaks off where it is hard "
            "looks better than it is."
        )
    return lines + list(filter(None, [_settled(report), saturation(report)]))


def _settled(report: Report) -> str:
    """Says what share a rule has settled, and who stands where without it; else ""."""
    counts, rest = report.counts, report.label_sets.get("unsettled")
    if not counts.settled:
        return ""
    line = (
        f"{counts.settled} of {counts.continuations} continuations "
        f"({percent(counts.settled / counts.continuations)}) are settled by rule as not done: who "
        "was asked said nothing. Nobody has looked at them."
    )
    if counts.unjudged:
        line += (
            f" They count as the share that they are while {counts.unjudged} others wait; only "
            "consistency counts them in full already, and is too sure of failure until then."
        )
    if rest is None:
        return line
    rates = [
        f"{entry.agent} {percent(entry.pass_rate)}"
        for entry in rest.agents
        if entry.pass_rate is not None
    ]
    return f"{line} Without them: {listed(rates)}." if rates else line


def saturation(report: Report) -> str:
    """Says that a suite no longer separates its best, where the version beside it does; else "".

    Args:
      report: the report's content; reads its suite and against.
    """
    beside = report.against
    if beside is None or not 0 < len(beside.first_before) < len(beside.first):
        return ""
    return (
        f"{report.suite} no longer separates its best: {listed(beside.first)} can each be first, "
        f"in {beside.suite} only {listed(beside.first_before)}."
    )


def _lacking(report: Report) -> list[str]:
    """Says of each ranked agent how many scenarios of its ranking it has not continued."""
    several = len(report.rankings) > 1
    lines = []
    for ranking in report.rankings:
        asked = ranking.scenarios if several else report.counts.scenarios
        lines += [
            f"{entry.agent} lacks {asked - entry.scenarios} of {asked}"
            for entry in report.agents
            if entry.ranking == ranking.ranking and entry.scenarios < asked
        ]
    return lines


def about(part: Selection) -> str:
    """Says what part of a suite a report is about."""
    joined = ""
    if part.joined:
        joined = f", {len(part.joined)} of them as they belong with another"
    return (
        f"This is about a part of {part.suite}, {part.meaning}: {part.scenarios} of its {part.of} "
        f"scenarios{joined}"
    )


def completeness(counts: Counts) -> str:
    """Says how many continuations are judged, and what became of the others.

    Args:
      counts: continuations, judged, unjudgeable and unjudged, of all agents or of one.
    """
    parts = [f"{counts.judged} of {counts.continuations} continuations have been judged"]
    if counts.unjudgeable:
        parts.append(f"{counts.unjudgeable} could not be judged by anyone who looked")
    if counts.unjudged:
        parts.append(f"{counts.unjudged} nobody has judged yet")
    return "; ".join(parts)


def unable(entry: Standing) -> str:
    """Says how many continuations of an agent could not be judged; else ""."""
    count = entry.unjudgeable
    return f"{count} continuation{'s' * (count > 1)} could not be judged" if count else ""


def remark(entry: Agent, total: int) -> str:
    """Says why an agent is not ranked, or how many scenarios it has not continued; else "".

    Args:
      entry: the agent's, of the report.
      total: scenarios of the suite.
    """
    lacks = entry.missing
    named = ", ".join(lacks) if len(lacks) <= FEW_SCENARIOS else ""
    if entry.unranked and entry.sees == "observation":
        return f"{entry.unranked}, none of {named}" if named else str(entry.unranked)
    if not lacks:
        return ""
    return f"no continuation of {len(lacks)} of {total} scenarios" + (f": {named}" if named else "")
