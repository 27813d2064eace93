"""Results of measures: rows of the scores table, and tables and a figure for people."""

from __future__ import annotations

import math
import statistics
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from sts.agents.info import AgentInfo
from sts.storage.files import canonical_json

if TYPE_CHECKING:
    from sts.plotting import Chart


class Table(NamedTuple):
    """A table under a heading."""

    heading: str
    columns: tuple[str, ...]
    rows: list[tuple[Any, ...]]


class Measurement(NamedTuple):
    """The result of a measure."""

    rows: list[dict[str, Any]]  # of the scores table; see `sts.storage.scores`
    tables: tuple[Table, ...] = ()
    notes: tuple[str, ...] = ()  # a sentence each
    draw: Callable[[], Chart] | None = None  # of the figure; None if there is none
    failed: bool = False  # of a check, whose notes say why
    interrupted: bool = False  # whether only a part was measured, as the notes say


def standard_error(values: Sequence[float]) -> float | None:
    """Return the standard error of a mean; None for a single value."""
    return statistics.stdev(values) / math.sqrt(len(values)) if len(values) > 1 else None


def make_row(
    info: AgentInfo,
    metric: str,
    value: float,
    error: float | None,
    n: int,
    settings: Mapping[str, Any],
) -> dict[str, Any]:
    """Return a row of the scores table; `n` runs or other units have the standard `error`."""
    return {
        **{"agent": info.name, "metric": metric, "value": value, "standard_error": error, "n": n},
        **{"parameters": canonical_json(settings).decode(), "sees": info.sees},
        "fingerprint": info.fingerprint,
    }


def draw_curves(
    points: list[dict[str, Any]],
    order: Sequence[str],
    x: Sequence[Any],
    *ys: Sequence[Any],
    threshold: float | None = None,
) -> Chart:
    """Draw curves of agents, the first of `order` if they are many, a panel for each of `ys`.

    An axis is the name of a number in `points`, its title and its scale, "linear", "log" or
    "symlog", which begins at 0. `threshold` is the height of a line across the panels.
    """
    import altair as alt
    import pandas as pd

    from sts import plotting

    names = order[: plotting.MAX_OVERLAID]
    frame = pd.DataFrame(points)
    marks: Any = alt.Undefined
    if x[2] == "symlog":
        marks = alt.Axis(values=frame[x[0]].unique().tolist(), labelOverlap=True)
    base = (
        alt.Chart(frame[frame["agent"].isin(names)])
        .mark_line(point=True)
        .encode(
            x=alt.X(f"{x[0]}:Q", title=x[1], scale=alt.Scale(type=x[2]), axis=marks),
            color=plotting.agent_channel(alt.Color, names, plotting.COLOURS),
            strokeDash=plotting.agent_channel(alt.StrokeDash, names, plotting.DASHES),
            shape=plotting.agent_channel(alt.Shape, names, plotting.SHAPES),
        )
        .properties(width=320, height=240)
    )
    panels = [base.encode(y=alt.Y(f"{y[0]}:Q", title=y[1], scale=alt.Scale(type=y[2]))) for y in ys]
    if threshold is not None:
        line = alt.Chart(pd.DataFrame({"y": [threshold]})).mark_rule(color=plotting.GREY)
        panels = [alt.layer(panel, line.encode(y="y:Q")) for panel in panels]
    left_out = len(order) - len(names)
    title = f"the {len(names)} highest of {len(order)} agents" if left_out else ""
    return alt.hconcat(*panels, spacing=30, title=title)
