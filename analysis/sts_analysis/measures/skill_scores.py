"""Skill-acquisition efficiency of agents, with its parts and skill curves next to it."""

import functools
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from sts.agents import fingerprint, load
from sts.errors import ArgumentError
from sts.storage.workspace import Workspace
from sts.suites.suite import Suite
from sts_analysis.measures import skill
from sts_analysis.measures.classes import load_agents, mark_class
from sts_analysis.measures.measurement import (
    Measurement,
    Table,
    draw_curves,
    make_row,
    standard_error,
)
from sts_analysis.measures.skill import Curve
from sts_analysis.measures.spans import measure_runs

HAS_FIGURE = True
EPISODES, THETA = 2048, 0.15
COLUMNS = (
    *("agent", "sees", "efficiency", "standard error", "skill at the end", "P_C", "episodes", "E"),
    *("P", "GD", "aware GD", "trained on (declared)"),
)


def measure(
    agents: Sequence[str],
    *,
    suite: Suite | None,
    workspace: Workspace,
    seed: int,
    class_: str = "",
    runs: int = 8,
    environments: int = EPISODES,
    theta: float = THETA,
    workers: int = 1,
    progress: Callable[[int, int], None] = lambda done, total: None,
) -> Measurement:
    """Skill-acquisition efficiency: skill for what an agent knew before and what it experienced.

    Agents are trained in `runs` curricula of so many `environments`; `theta` is sufficient skill.
    Finished curricula stay in the workspace, so that a test that was stopped goes on.

    Raises:
      ArgumentError: a setting is invalid, an agent or the class does not fit, or P + E is 0.
      StsError: an agent failed.
    """
    classes = skill.load_learning_class(class_)
    expert = load(classes.expert)
    for what, value, most in (("runs", runs, 1000), ("environments", environments, 16_384)):
        if not 1 <= value <= most:
            raise ArgumentError(f"expected 1 to {most} {what}, found {value}")
    if not 0 < theta <= 1:
        raise ArgumentError(f"expected a theta above 0, at most 1, found {theta:g}")
    infos = load_agents(agents, class_)
    settings = {"class_name": class_, "episodes": environments, "seed": seed}
    found = measure_runs(
        workspace,
        "skill",
        settings | {"class": mark_class(class_), "expert": fingerprint(expert)},
        infos,
        (runs, 1),
        functools.partial(skill.train, class_, environments, seed),
        workers=workers,
        progress=progress,
    )
    difficulty = functools.partial(skill.measure_difficulty, class_, seed)
    parameters = settings | {"runs": runs, "theta": theta}
    words = class_ + (f" environments={environments}" if environments != EPISODES else "")
    metric = f"skill-acquisition {words}" + (f" theta={theta:g}" if theta != THETA else "")
    rows: list[dict[str, Any]] = []
    scores: list[tuple[Any, ...]] = []
    means, notes = {}, []
    for agent, info in infos.items():
        columns = (found[agent][kind].tolist() for kind in Curve._fields)
        curves = [Curve(*own) for own in zip(*columns, strict=True)]
        parts = skill.assess(info.name, curves, theta, difficulty)
        ends = [curve.skill[-1] for curve in curves]
        for name, values in ((metric, parts.terms), (f"skill {words}", ends)):
            mean, error = float(np.mean(values)), standard_error(values)
            rows.append(make_row(info, name, mean, error, runs, parameters))
        cells = (np.mean(parts.terms), standard_error(parts.terms), np.mean(ends), *parts[1:])
        known = ("none" if x is None or np.isnan(x) else float(x) for x in cells)
        scores.append((info.name, info.sees, *known, curves[0].trained_on or "not declared"))
        means[info.name] = np.mean([curve.skill for curve in curves], 0).tolist()
        if not curves[0].environments[-1]:
            notes.append(f"{info.name} was not trained: it started no training episode")
    scores.sort(key=lambda row: (-row[2], -row[4]))
    means, marks = {row[0]: means[row[0]] for row in scores}, skill.list_marks(environments)
    course = list(zip(marks, *means.values(), strict=True))
    tables = (
        Table(f"efficiency and its parts, theta = {theta:g}", COLUMNS, scores),
        Table("proxies", ("term", "in the source", "here"), [*skill.PROXIES]),
        Table("skill after so many training episodes", ("episodes", *means), course),
    )
    points = [
        {"agent": name, "episodes": mark, "skill": value}
        for name, own in means.items()
        for mark, value in zip(marks, own, strict=True)
    ]
    x = ("episodes", "training episodes (log)", "symlog")
    y = ("skill", "skill (line: theta)", "linear")
    draw = functools.partial(draw_curves, points, [*means], x, y, threshold=theta)
    return Measurement(rows, tables, tuple(notes), draw)
