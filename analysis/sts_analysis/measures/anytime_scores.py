"""Scores of the anytime test: of many runs, with the level and the curve next to them."""

from __future__ import annotations

import functools
import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from sts.agents.info import AgentInfo
from sts.errors import ArgumentError
from sts.storage.workspace import Workspace
from sts.suites.suite import Suite
from sts_analysis.measures import anytime
from sts_analysis.measures.anytime import Runs, Settings
from sts_analysis.measures.classes import load_agents, load_class, mark_class
from sts_analysis.measures.measurement import (
    Measurement,
    Table,
    draw_curves,
    make_row,
    standard_error,
)
from sts_analysis.measures.spans import Span, measure_runs

HAS_FIGURE = True
RUNS_PER_SPAN = 100
"""Runs that are played at once; an agent that is sensitive to its batch depends on it."""
MAX_RUNS = 100_000
ENVIRONMENTS = 16
MIN_AT_LEVEL = 20
"""Environments of one level, of which a mean is flagged."""


def measure(
    agents: Sequence[str],
    *,
    suite: Suite | None,
    workspace: Workspace,
    seed: int,
    class_: str = "",
    runs: int = 100,
    environments: int | None = None,
    team: int = 1,
    memory: str = "kept",
    seconds: float | None = None,
    seconds_per_action: float | None = None,
    workers: int = 1,
    progress: Callable[[int, int], None] = lambda done, total: None,
) -> Measurement:
    """Anytime intelligence test: mean reward in environments that follow the agent's level.

    It counts interactions, `environments` in a run (16), or with `seconds` physical time. What is
    finished stays in the workspace, so that a test that was stopped goes on. Ctrl-C gives the
    scores of finished runs. The suite is ignored.

    Raises:
      ArgumentError: a setting is invalid, an agent does not fit the class, or the class has too few
        environments.
      StsError: an agent failed.
    """
    if environments is not None and seconds is not None:
        raise ArgumentError("expected the number of environments or the seconds, found both")
    count = ENVIRONMENTS if environments is None else environments
    settings = Settings(class_, count, team, seed, memory == "kept", seconds, seconds_per_action)
    _check(settings, runs, memory)
    infos = load_agents(agents, class_)
    found = measure_runs(
        workspace,
        "anytime",
        settings._asdict() | {"class": mark_class(class_)},
        infos,
        # one at a time if time is measured, as a run then takes as long as it says
        (runs, RUNS_PER_SPAN if seconds is None or seconds_per_action else 1),
        functools.partial(play_span, settings),
        workers=workers,
        progress=progress,
        may_stop=True,
    )
    played = {name: Runs(**own) for name, own in found.items()}
    finished = {name: len(found[name]["reward"]) if name in found else 0 for name in infos}
    notes = [
        f"interrupted: {infos[name].name} has finished {count} of {runs} runs; the same command "
        "continues"
        for name, count in finished.items()
        if count < runs
    ]
    measured = _summarise(settings, played, infos)
    return measured._replace(notes=(*notes, *measured.notes), interrupted=bool(notes))


def play_span(settings: Settings, span: Span) -> dict[str, Any]:
    """Play the runs of a span; return their course as JSON."""
    played = anytime.play_runs(span.agent, span.fingerprint, settings, span.first, span.stop)
    return {name: values.tolist() for name, values in played._asdict().items()}


def name_metric(settings: Settings, metric: str = "anytime") -> str:
    """Return the metric's name in reports: `metric`, and the settings that are not the default.

    Runs and seed only affect the precision and are not in the name.
    """
    default = Settings(settings.class_name, ENVIRONMENTS, 1, 0)
    words = [metric] + (["time"] if settings.seconds is not None else [])
    words += [settings.class_name] + ([] if settings.keeps_memory else ["fresh memory"])
    flags = {"environments": "environments", "n_players": "team", "seconds": "seconds"}
    for name, flag in (flags | {"seconds_per_action": "seconds-per-action"}).items():
        if (value := getattr(settings, name)) != getattr(default, name):
            words.append(f"{flag}={value:g}")
    return " ".join(words)


def _check(settings: Settings, runs: int, memory: str) -> None:
    if runs > MAX_RUNS:
        raise ArgumentError(f"expected at most {MAX_RUNS} runs, found {runs}")
    if runs < 1 or settings.n_players < 1:
        raise ArgumentError(
            f"expected 1 or more runs and players, found {runs}, {settings.n_players}"
        )
    if memory not in ("kept", "fresh"):
        raise ArgumentError(f"expected the memory kept or fresh, found {memory!r}")
    if settings.seconds_per_action is not None and not 0 < settings.seconds_per_action < math.inf:
        raise ArgumentError(
            f"expected more than 0 seconds per action, found {settings.seconds_per_action}"
        )
    if settings.seconds is None and settings.seconds_per_action is not None:
        raise ArgumentError("seconds per action need a time: give the seconds of a run too")
    anytime.plan_timeouts(settings)


def find_losses(runs: Runs) -> list[tuple[int, int, float]]:
    """Return each level with a mean reward below `SANDBAGGING`, its environments and that mean.

    A level is a whole number, of complexities from it to the next. It has `MIN_AT_LEVEL`
    environments or more, and its mean is three standard errors below 0.
    """
    levels, found = np.floor(runs.complexity).astype(int), []
    for level in np.unique(levels).tolist():
        own = runs.reward[levels == level]
        if own.size >= MIN_AT_LEVEL and own.mean() < anytime.SANDBAGGING:
            if own.mean() + 3 * own.std(ddof=1) / math.sqrt(own.size) < 0:
                found.append((level, own.size, float(own.mean())))
    return found


def _summarise(
    settings: Settings, played: dict[str, Runs], infos: dict[str, AgentInfo]
) -> Measurement:
    timeouts, top = anytime.plan_timeouts(settings), load_class(settings.class_name).highest
    rows, scores, flags = [], [], []
    for name, runs in played.items():
        info, last = infos[name], runs.scores[:, -1].tolist()
        level = np.median(runs.level[:, -1])
        mean, error, given = float(np.mean(last)), standard_error(last), settings._asdict()
        given["runs"] = len(last)
        for metric, value, own in (("anytime", mean, error), ("anytime level", float(level), None)):
            name = name_metric(settings, metric)
            rows.append(make_row(info, name, value, own, len(last), given))
        above = 0.0 if top is None else float((runs.level[:, :-1] > top).mean())
        shown = "none" if error is None else error
        scores.append((info.name, info.sees, mean, shown, float(level), f"{above:.0%}"))
        flags += [
            f"{info.name} has a mean reward of {reward:.2f} in the {count} environments of level "
            f"{level}: losing on purpose brings simpler environments, and a higher score"
            for level, count, reward in find_losses(runs)
        ]
    scores.sort(key=lambda row: -row[2])
    order = [row[0] for row in scores]
    by_name = {infos[name].name: runs for name, runs in played.items()}
    unit = "interactions" if settings.seconds is None else "seconds"
    curve = [
        (m + 1, timeout, *(_cell(by_name[name], m) for name in order))
        for m, timeout in enumerate(timeouts)
    ]
    points = [
        {
            "agent": name,
            "spent": spent,
            "score": float(by_name[name].scores[:, m].mean()),
            "level": float(np.median(by_name[name].level[:, m + 1])),
        }
        for name in order
        for m, spent in enumerate(np.cumsum(timeouts).tolist())
    ]
    axes = (
        ("spent", f"{unit} so far (log scale)", "log"),
        ("score", "score", "linear"),
        ("level", "level (median, log scale)", "log"),
    )
    return Measurement(
        rows,
        (
            Table(
                "score and level",
                ("agent", "sees", "score", "standard error", "level", "above the highest"),
                scores,
            ),
            Table(
                "score (level) after so many environments",
                ("environments", unit, *order),
                curve,
            ),
        ),
        tuple(flags),
        functools.partial(draw_curves, points, order, *axes),
    )


def _cell(runs: Runs, m: int) -> str:
    return f"{runs.scores[:, m].mean():z.3f} ({np.median(runs.level[:, m + 1]):.1f})"
