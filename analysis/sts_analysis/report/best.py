"""Says in plain words which agents can be best."""

from collections.abc import Sequence

from sts_analysis.report.words import listed, percent, percents

GROUPS = 2
"""Of agents below some of those that can be best, each with its own sentence; of more, a count."""


def best(names: Sequence[str], above: set[tuple[str, str]]) -> str:
    """Who can be best, and who is shown not to be.

    All of it holds together where the pairs do.

    Args:
      names: two or more, by falling pass rate.
      above: pairs (better, worse) that are told apart.
    """
    if not above:
        return _nobody(names)
    first = [name for name in names if not any(worse == name for _, worse in above)]
    rest = [name for name in names if name not in first]
    if len(first) == 1:
        said = _one(first[0], rest, above)
    else:
        said = f"Best is one of {listed(first)}. {_below(first, rest, above)}"
    pairs = len(names) * (len(names) - 1) // 2
    if len(names) == 2:
        return said
    told = "All" if len(above) == pairs else f"{len(above)} of"
    return f"{said} {told} {pairs} pairs {'is' if len(above) == 1 else 'are'} told apart."


def _nobody(names: Sequence[str]) -> str:
    if len(names) == 2:
        return f"{listed(names)} cannot be told apart: either can be best."
    return f"No two agents can be told apart: {listed(names)} can each be best."


def _one(first: str, rest: Sequence[str], above: set[tuple[str, str]]) -> str:
    direct = [name for name in rest if (first, name) in above]
    if len(direct) == len(rest):
        every = "" if len(rest) == 1 else f"all {len(rest)} others: "
        return f"{first} is best, above {every}{listed(rest)}."
    farther = [name for name in rest if name not in direct]
    verb = "is" if len(farther) == 1 else "are"
    which = direct[0] if len(direct) == 1 else "one of these"
    return f"{first} is best, above {listed(direct)}; {listed(farther)} {verb} below {which}."


def _below(first: Sequence[str], rest: Sequence[str], above: set[tuple[str, str]]) -> str:
    """Who is below those that can be best: below all of these, below some, or below one such."""
    groups: dict[tuple[str, ...], list[str]] = {}
    for name in rest:
        groups.setdefault(tuple(one for one in first if (one, name) in above), []).append(name)
    common = groups.pop(tuple(first), [])
    parts = []
    if common:
        who = "Both" if len(first) == 2 else f"All {len(first)}"
        parts.append(f"{who} are above {listed(common)}")
    if len(groups) <= GROUPS and () not in groups:
        parts += [
            f"{listed(some)} {'is' if len(some) == 1 else 'are'} above {listed(under)}"
            for some, under in groups.items()
        ]
    else:
        number = sum(map(len, groups.values()))
        other = "other " if common else ""
        few = (
            f"The {other}one is below at least one of them"
            if number == 1
            else f"The {other}{number} are each below at least one of them"
        )
        parts.append(few if not parts else few[0].lower() + few[1:])
    return "; ".join(parts) + "."


def alone(name: str, rate: float | None, interval: Sequence[float] | None, *, several: bool) -> str:
    """What is said of the only agent that could be ranked.

    Args:
      name: its name.
      rate: its pass rate.
      interval: of the rate, or None.
      several: whether others were judged that met too little of the same.
    """
    why = "as no other continued enough of the same" if several else "with one agent"
    return f"{name} passes {percent(rate)}{percents(interval)}; {why} there is no ranking."
