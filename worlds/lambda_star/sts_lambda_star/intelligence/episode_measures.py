"""Coverage and landscapes: means over episodes of Λ*, which stay in the workspace.

Source: Chmait et al. 2016, sections 6.1 and 6.2, which name both without a formula.
"""

import functools
from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from sts.plugin import Agent, ArgumentError, Suite, Workspace, check_unchanged, load_planned
from sts_analysis.plugin import (
    Measurement,
    Span,
    Table,
    load_agents,
    make_row,
    measure_runs,
    standard_error,
)
from sts_lambda_star.domain import LambdaStar
from sts_lambda_star.generation.environments import Environments, generate_environments
from sts_lambda_star.generation.patterns import Settings, check_settings
from sts_lambda_star.intelligence import landscapes
from sts_lambda_star.intelligence.factors import complexity_classes
from sts_lambda_star.intelligence.score import DEFAULT_PRACTICE_EPISODES, team_access
from sts_lambda_star.play.teams import make_teams, play_after_practice, play_episodes
from sts_lambda_star.torus import neighbour

EPISODES_PER_SPAN = 100
"""Episodes that are played at once; an agent that is sensitive to its batch depends on it."""
DEFAULTS = {"team": 1, "bumps": 10, "width": 3, "drift": 0}
"""Settings that a metric's name leaves out."""

Values: TypeAlias = NDArray[np.float64]
"""float64[E, C], C values of each of E episodes."""
Progress: TypeAlias = Callable[[int, int], None]


def measure_coverage(
    agents: Sequence[str],
    *,
    suite: Suite | None,
    workspace: Workspace,
    seed: int,
    runs: int = 100,
    team: int = 1,
    workers: int = 1,
    progress: Progress = lambda done, total: None,
) -> Measurement:
    """Coverage of Λ*: share of cells in some member's sight, at a step and over an episode.

    Environments are the first `runs` of the default intelligence test, with `team` players. The
    suite is ignored. Errors are those of `_measure`.
    """
    metrics = {"coverage": "of a step", "coverage of an episode": "of an episode"}
    settings = {"seed": seed, "team": team}
    found, _ = _measure(
        metrics, agents, play_coverage, settings, workspace, runs, workers, progress
    )
    note = f"members on independent, uniform cells have {1 - 0.91**team:.4f} of a step"
    return found._replace(notes=(note,))


def measure_landscape(
    agents: Sequence[str],
    *,
    suite: Suite | None,
    workspace: Workspace,
    seed: int,
    runs: int = 100,
    team: int = 1,
    bumps: int = 10,
    width: int = 3,
    drift: int = 0,
    workers: int = 1,
    progress: Progress = lambda done, total: None,
) -> Measurement:
    """Mean reward on fitness landscapes of 10 x 10, and the share of steps on the global peak.

    A landscape has so many `bumps` of a `width` in cells, and moves one cell in every `drift`
    steps; 0: never. The suite is ignored. Errors are those of `_measure`.
    """
    limits = (("bumps", bumps, 1, 50), ("width", width, 1, 5), ("drift", drift, 0, 1000))
    for name, value, low, high in limits:
        if not low <= value <= high:
            raise ArgumentError(f"expected --{name} from {low} to {high}, found {value}")
    metrics = {"landscape": "reward", "landscape peak": "steps on the peak"}
    settings = {"seed": seed, "team": team, "bumps": bumps, "width": width, "drift": drift}
    found, values = _measure(
        metrics, agents, play_landscape, settings, workspace, runs, workers, progress
    )
    order = [row[0] for row in found.tables[0].rows]
    optima = values[order[0]][:, 2]
    levels, classes = zip(*complexity_classes(set(optima.astype(int).tolist()), None), strict=True)
    rows = [
        (name, *(float(values[name][np.isin(optima, own), 0].mean()) for own in classes))
        for name in order
    ]
    columns = ("local optima", *(level.label for level in levels))
    return found._replace(tables=(*found.tables, Table("reward", columns, rows)))


def play_coverage(agent: Agent, worlds: Environments, settings: Mapping[str, int]) -> Values:
    """Return float64[E, 2], the coverage of a step (the mean) and of the episode."""
    s = worlds.settings
    cells = play_episodes((agent,), worlds, seed=settings["seed"]).scene[:, 1:, 2:, None]
    side = 2 * s.radius + 1
    around = neighbour(cells.astype(np.int64), np.arange(side**2), side, s.height, s.width)
    seen = np.zeros((*cells.shape[:2], s.height * s.width), np.bool_)
    np.put_along_axis(seen, around.reshape(*cells.shape[:2], -1), True, 2)
    return np.stack((seen.mean((1, 2)), seen.any(1).mean(1)), 1)


def play_landscape(agent: Agent, worlds: Environments, settings: Mapping[str, int]) -> Values:
    """Return float64[E, 3]: mean reward, share of steps on the global peak, local optima."""
    worlds, heights = landscapes.make_landscapes(worlds, settings)
    played = play_after_practice(
        lambda: landscapes.Landscapes(worlds.copy_arrays(), heights),
        make_teams((agent,), worlds, settings["seed"]),
        steps=worlds.settings.horizon,
        rehearsals=DEFAULT_PRACTICE_EPISODES,
    )
    on_peak = (played.scene[:, 1:, 2:] == played.scene[:, 1:, :1]).mean((1, 2))
    optima = landscapes.count_optima(heights, (worlds.settings.height, worlds.settings.width))
    return np.stack((played.rewards.mean((1, 2)) * landscapes.UNIT, on_peak, optima), 1)


def _measure(
    metrics: Mapping[str, str],
    agents: Sequence[str],
    play: Callable[..., Values],
    settings: dict[str, int],
    workspace: Workspace,
    runs: int,
    workers: int,
    progress: Progress,
) -> tuple[Measurement, dict[str, Values]]:
    """Return the means of two `metrics`, given with their headings, and each agent's values.

    Raises:
      ArgumentError: a number is out of range, an agent is given twice or is not of Λ*.
      StsError: an agent failed.
    """
    check_settings(Settings(n_players=settings["team"]))
    if runs < 1:
        raise ArgumentError(f"expected 1 or more runs, found {runs}")
    infos, names = load_agents(agents, LambdaStar.name), list(metrics)
    work, size = functools.partial(_play_span, play, settings), (runs, EPISODES_PER_SPAN)
    found = measure_runs(
        workspace, names[0], settings, infos, size, work, workers=workers, progress=progress
    )
    suffix = "".join(f" {k}={v}" for k, v in settings.items() if v != DEFAULTS.get(k, v))
    rows, shown, values = [], [], {}
    for agent, info in infos.items():
        values[info.name], sees = found[agent]["values"], str(found[agent]["sees"][0])
        mean, other = values[info.name].mean(0)[:2].tolist()
        errors = [standard_error(column) for column in values[info.name].T.tolist()]
        seen = info._replace(sees=sees)
        for metric, value, error in zip(names, (mean, other), errors, strict=False):
            given = {**settings, "runs": runs}
            rows.append(make_row(seen, metric + suffix, value, error, runs, given))
        shown.append((info.name, sees, mean, "none" if runs == 1 else errors[0], other))
    shown.sort(key=lambda row: -row[2])
    heading, further = metrics.values()
    columns = ("agent", "sees", heading, "standard error", further)
    return Measurement(rows, (Table(names[0], columns, shown),)), values


def _play_span(play: Any, settings: dict[str, int], span: Span) -> dict[str, Any]:
    """Return the values of an agent's episodes, and its access in each."""
    agent, used = load_planned(span.agent, span.fingerprint), Settings(n_players=settings["team"])
    worlds = generate_environments(used, seed=settings["seed"], start=span.first, stop=span.stop)
    values = play(agent, worlds, settings).tolist()
    check_unchanged(agent)
    access = team_access([agent], DEFAULT_PRACTICE_EPISODES)
    return {"values": values, "sees": [access] * len(values)}
