"""Universal scores: by reference machine, with what the weights make of the environments."""

import functools
import math
from collections.abc import Callable, Mapping, Sequence

import numpy as np

from sts.agents.info import AgentInfo
from sts.errors import ArgumentError
from sts.storage.workspace import Workspace
from sts.suites.suite import Suite
from sts_analysis.measures.classes import load_agents, mark_class
from sts_analysis.measures.measurement import (
    Measurement,
    Table,
    draw_curves,
    make_row,
    standard_error,
)
from sts_analysis.measures.spans import measure_runs
from sts_analysis.measures.universal import (
    Environments,
    Floats,
    Settings,
    choose_environments,
    play_span,
)

HAS_FIGURE = True
INTERACTIONS, RUNS_PER_SPAN = 100, 10
MIN_EFFECTIVE = 20  # environments, below which a note warns
LIMITS = {"runs": 1000, "environments": 100_000, "interactions": 100_000}


def measure(
    agents: Sequence[str],
    *,
    suite: Suite | None,
    workspace: Workspace,
    seed: int,
    class_: str = "",
    runs: int = 10,
    environments: int | None = None,
    interactions: int = INTERACTIONS,
    workers: int = 1,
    progress: Callable[[int, int], None] = lambda done, total: None,
) -> Measurement:
    """Universal score: mean reward over a class of environments, which weigh 2^-Kt_max.

    With `environments`, so many are drawn in proportion to their weight. An agent has no memory of
    other environments. What is finished stays in the workspace. The suite is ignored.

    Raises:
      ArgumentError: a setting is invalid, or an agent does not fit the class.
      StsError: an agent failed.
    """
    settings = Settings(class_, environments, interactions, seed)
    for name, number in {**settings._asdict(), "runs": runs}.items():
        if name in LIMITS and number is not None and not 1 <= number <= LIMITS[name]:
            raise ArgumentError(f"expected 1 to {LIMITS[name]} {name}, found {number}")
    infos = load_agents(agents, class_)
    test = choose_environments(settings)
    values = measure_runs(
        workspace,
        "universal",
        settings._asdict() | {"class": mark_class(class_)},
        infos,
        (runs, RUNS_PER_SPAN),
        functools.partial(play_span, settings),
        workers=workers,
        progress=progress,
    )
    return _summarise(settings, test, values, infos)


def _estimate(values: Floats, weights: Floats, drawn: int | None) -> tuple[float, float | None]:
    """Return the score, and its standard error over runs or over the environments drawn."""
    own = values.mean(0)
    score = float(own @ weights)
    if drawn is None:
        return score, standard_error((values @ weights).tolist())
    return score, math.sqrt((own - score) ** 2 @ weights / (drawn - 1)) if drawn > 1 else None


def _summarise(
    settings: Settings,
    test: Environments,
    values: Mapping[str, Mapping[str, Floats]],
    infos: Mapping[str, AgentInfo],
) -> Measurement:
    machine, *others = test.weights
    drawn, weights = settings.environments, test.weights[machine]
    found = {
        name: [_estimate(own[kind], weights, drawn) for kind in ("average", "discounted")]
        for name, own in values.items()
    }
    order = sorted(infos, key=lambda name: -found[name][0][0])
    names = [infos[name].name for name in order]
    means = np.array([values[name]["average"].mean(0) for name in order])
    scores = np.stack([means @ own for own in test.weights.values()], 1)
    compared = scores[:, [name != "uniform" for name in test.weights]]
    ranks = 1 + (compared[None] > compared[:, None] + 1e-9).sum(1)  # shared despite rounding
    metric, steps = f"universal {settings.class_name}", settings.interactions
    metric += f" environments={drawn}" if drawn is not None else ""
    metric += f" interactions={steps}" if steps != INTERACTIONS else ""
    rows, table = [], []
    for name, own, rank in zip(order, scores.tolist(), ranks.tolist(), strict=True):
        info, runs = infos[name], len(values[name]["average"])
        given = settings._asdict() | {"machine": machine, "runs": runs}
        for column, (value, error) in zip((metric, f"{metric} 1/i^2"), found[name], strict=True):
            rows.append(make_row(info, column, value, error, drawn or runs, given))
        (score, error), (discounted, _) = found[name]
        shown = "none" if error is None else error
        cells = info.name, info.sees, score, shown, discounted, *own[1:], min(rank), max(rank)
        table.append(cells)
    columns = ("agent", "sees", machine, "standard error", "1/i^2", *others)
    machines = [
        (name, float(1 / (own**2).sum()), float(own.max())) for name, own in test.weights.items()
    ]
    notes = [
        f"machine {name} has {effective:.1f} effective environments, fewer than {MIN_EFFECTIVE}: "
        "its scores are those of few environments"
        for name, effective, _ in machines
        if effective < MIN_EFFECTIVE
    ]
    complexity, at = np.unique(
        np.floor([one.complexity for one in test.chosen]).astype(int), return_inverse=True
    )
    share = np.bincount(at, weights)
    by_level = [np.bincount(at, own * weights) / share for own in means]
    every = complexity, np.bincount(at), share, *by_level
    levels = list(zip(*(column.tolist() for column in every), strict=True))
    points = [
        {"agent": name, "complexity": level, "score": score}
        for level, _, _, *own in levels
        for name, score in zip(names, own, strict=True)
    ]
    tables = (
        Table("score by reference machine", (*columns, "best rank", "worst rank"), table),
        Table(
            "reference machines", ("machine", "effective environments", "largest weight"), machines
        ),
        Table("score by complexity", ("complexity", "environments", "weight", *names), levels),
    )
    x, y = ("complexity", "complexity", "linear"), ("score", "score", "linear")
    return Measurement(rows, tables, tuple(notes), lambda: draw_curves(points, names, x, y))
