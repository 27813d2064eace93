"""Panels of bars: pass rates of agents, with error bars, in the order of the ranking."""

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import altair as alt
import numpy as np
import pandas as pd

from sts import plotting
from sts.errors import UnknownName
from sts_analysis.report.paper.picture import Chart
from sts_analysis.report.paper.words import sentences
from sts_analysis.report.schema import Agent, Interval, Report
from sts_analysis.report.words import claim

MOST = 24
"""Agents in a figure, unless it is said which."""
ERRORS = ("interval", "paper")
ROLES = {
    "ranked": ("", plotting.SKY),
    "unranked": ("\N{DAGGER}", "#bbbbbb"),
    "baseline": ("\N{DOUBLE DAGGER}", plotting.ORANGE),
}
"""By role: the mark behind a name, and the colour of a bar."""
_LETTERS = 26
_ROW = 10
"""Height of an agent's row, in points."""


class Rate(NamedTuple):
    """A pass rate to be drawn; None where nothing is judged, or no interval is known."""

    rate: float | None
    interval: Interval | None
    judged: int


def check_error(error: str) -> None:
    """Refuses error bars that there are not.

    Raises:
      UnknownName: names those that there are.
    """
    if error not in ERRORS:
        raise UnknownName("error bars", error, ERRORS)


def naive_interval(rate: float, judged: int) -> Interval:
    """A rate and one standard error over all continuations to both sides, as the paper draws it.

    It takes continuations of one scenario for independent of each other, and covers neither
    target: as a 95% interval it would be too short for fresh scenarios and too long for these.

    Args:
      rate: of success.
      judged: continuations, each one trial.

    Source: Abramson et al. 2022, caption of figure 3.
    """
    reach = float(np.sqrt(rate * (1 - rate) / judged))
    return max(0.0, rate - reach), min(1.0, rate + reach)


def chosen(report: Report, names: Sequence[str] | None, most: int = MOST) -> list[Agent]:
    """The agents of a figure, in the order of the report.

    Args:
      report: whose agents.
      names: which; None for the first `most` of those with a pass rate.
      most: how many then.

    Raises:
      UnknownName: there is no such agent.
    """
    if names is None:
        return [entry for entry in report.agents if entry.pass_rate is not None][:most]
    known = {entry.agent for entry in report.agents}
    for name in names:
        if name not in known:
            raise UnknownName("agent", name, known)
    return [entry for entry in report.agents if entry.agent in names]


def rows(panel: str, entries: Sequence[Agent], rates: Sequence[Rate], error: str) -> list[Any]:
    """The rows of one panel: a rate and an error bar for each agent."""
    made = []
    for entry, (rate, interval, judged) in zip(entries, rates, strict=True):
        if error == "paper":
            interval = None if rate is None or not judged else naive_interval(rate, judged)
        made.append(
            {
                "panel": panel,
                "agent": entry.agent,
                "role": role(entry),
                "rate": rate,
                **plotting.interval_columns("bar", interval),
                "judged": judged,
            }
        )
    return made


def role(entry: Agent) -> str:
    """What an agent is in the ranking, one of `ROLES`."""
    if entry.sees != "observation":
        return "baseline"
    return "ranked" if entry.rank is not None else "unranked"


def labels(entries: Sequence[Agent]) -> list[str]:
    """Each agent's name as an axis has it: not too long, marked by its role, no two alike."""
    names: list[str] = []
    for place, entry in enumerate(entries, 1):
        name = entry.agent
        if len(name) > _LETTERS:
            name = f"{name[: _LETTERS // 2]}\u2026{name[-_LETTERS // 2 + 1 :]}"
        name += ROLES[role(entry)][0]
        names.append(f"{place}. {name}" if name in names else name)
    return names


def bars(
    data: pd.DataFrame, entries: Sequence[Agent], across: int, title: str
) -> Callable[[float], Chart]:
    """A panel for each that the data name, agents from top to bottom, rates from left to right.

    Args:
      data: of `rows`.
      entries: the agents, in their order.
      across: panels side by side.
      title: above all; may be empty.
    """
    names = labels(entries)
    data = data.assign(
        label=data["agent"].map({e.agent: n for e, n in zip(entries, names, strict=True)})
    )
    panels = list(dict.fromkeys(data["panel"]))

    def draw(width: float) -> Chart:
        charts = [
            _panel(
                data[data["panel"] == name],
                names,
                width,
                first=place % across == 0,
                last=place >= len(panels) - across,
            ).properties(title=heading(name, width) if len(panels) > 1 else "")
            for place, name in enumerate(panels)
        ]
        whole = alt.concat(*charts, columns=across, spacing=12)
        return whole.properties(title=title) if title else whole

    return draw


def _panel(
    data: pd.DataFrame, names: Sequence[str], width: float, *, first: bool, last: bool
) -> Any:
    axis = plotting.name_axis() if first else None
    scale = alt.Scale(domain=list(names))
    base = alt.Chart(data).encode(y=alt.Y("label:N", title=None, axis=axis, scale=scale))
    ticks = [0, 0.25, 0.5, 0.75, 1] if width > 120 else [0, 0.5, 1]
    name = "pass rate" if last else None
    share = alt.Axis(format=".0%", title=name, values=ticks, labelOverlap=False)
    x = alt.X("rate:Q", scale=plotting.unit_scale(), axis=share)
    hue = plotting.fixed_hue("role:N", {name: colour for name, (_, colour) in ROLES.items()})
    bar = base.mark_bar(height=_ROW * 0.7).encode(x=x, color=hue)
    low = alt.X("bar_low:Q", scale=plotting.unit_scale(), axis=share)
    line = base.mark_rule(strokeWidth=0.9).encode(x=low, x2="bar_high:Q")
    dot = base.mark_point(shape="circle", size=7, filled=True, opacity=1, color="#000000")
    nothing = (
        alt.Chart(data[data["rate"].isna()])
        .mark_text(align="left", dx=2, fontSize=6, color=plotting.INK)
        .encode(y=alt.Y("label:N", scale=scale), x=alt.datum(0), text=alt.value("not judged"))
    )
    layers: list[alt.Chart] = [bar, line, dot.encode(x=x)]
    layers += [nothing] if data["rate"].isna().any() else []
    return alt.layer(*layers).properties(width=width, height=_ROW * len(names))


def heading(name: str, width: float) -> alt.TitleParams:
    """The title of a panel, which stands above its axis and is cut where it would not fit."""
    letters = max(6, int(width / 4.2))
    short = name if len(name) <= letters else f"{name[: letters - 1]}\u2026"
    return alt.TitleParams(short, frame="group")


def error_words(report: Report, data: pd.DataFrame, error: str, about: str = "") -> str:
    """Says in a caption what the error bars are, and that some are missing.

    Args:
      report: whose target the intervals have.
      data: of `rows`.
      error: one of `ERRORS`.
      about: what the intervals speak of, where that is not the report's target.
    """
    if error == "paper":
        return (
            "Error bars: one standard error over all continuations to both sides, as in Abramson "
            "et al. (2022); they take continuations of one scenario for independent, and are no "
            "95% intervals."
        )
    known = data["bar_low"].notna()
    if not known.any():
        return "There are no error bars, as no interval is known."
    missing = int((data["rate"].notna() & ~known).sum())
    some = "Where no interval is known there is no error bar." if missing else ""
    return sentences(f"Error bars: 95% intervals {about or claim(report)}.", some)


def agent_words(report: Report, entries: Sequence[Agent]) -> str:
    """Says in a caption which agents are shown, and what the marks behind names mean."""
    roles = {role(entry) for entry in entries}
    left = len(report.agents) - len(entries)
    several = len(report.rankings) > 1
    return sentences(
        f"{len(entries)} of {len(report.agents)} agents are shown." if left else "",
        "Agents of different rankings, which met different scenarios, do not compare."
        if several
        else "",
        f"{ROLES['unranked'][0]}: not ranked." if "unranked" in roles else "",
        f"{ROLES['baseline'][0]}: sees more than an agent may: a bound, outside the ranking."
        if "baseline" in roles
        else "",
    )
