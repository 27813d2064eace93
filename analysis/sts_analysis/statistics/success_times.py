"""When each agent succeeds: its curves over the steps, and their mean height."""

from typing import NamedTuple

import numpy as np
import pandas as pd

from sts_analysis.statistics import incidence, sampling
from sts_analysis.statistics.incidence import Curve, cumulative_incidence, reached
from sts_analysis.statistics.label_set import LabelSet
from sts_analysis.statistics.mean_area import mean_areas
from sts_analysis.statistics.outcomes import arrange


class SuccessTimes(NamedTuple):
    """One agent's; None where it cannot be known.

    Attributes:
      curve: cumulative incidence of success F1.
      reached: share of all continuations that have succeeded by each step.
      successes_curve: the same among the successes alone.
      mean_area: mean height of F1 over each scenario's horizon.
      interval: float64[2], of the mean area; NaN where the scenarios show no spread.
      horizon: the longest, in steps.
      reason: why a value is None or NaN.
    """

    curve: Curve | None
    reached: Curve | None
    successes_curve: Curve | None
    mean_area: float | None
    interval: np.ndarray | None
    horizon: int | None
    reason: str | None


def success_times(
    label_set: LabelSet,
    ratings: pd.DataFrame,
    *,
    scenarios: pd.DataFrame,
) -> list[SuccessTimes]:
    """The times of success of each of the A agents, in the order of `label_set.outcomes`.

    Args:
      label_set: whose labels.
      ratings: the table that it was made from.
      scenarios: of the suite, as `Subject` has them.
    """
    outcomes, continuations = label_set.outcomes, label_set.continuations
    marks = _marks(label_set, ratings)
    area = continuations["continuation"].map(marks.groupby("continuation")["area"].mean())
    laid = arrange(continuations.assign(area=area), "area", scenarios=scenarios)
    areas = mean_areas(laid._replace(unit=outcomes.unit))
    horizons = continuations["horizon"]
    longest = None if horizons.isna().any() else int(horizons.max())
    of_agents = dict(list(marks.groupby("agent")))
    times = []
    for row, agent in enumerate(outcomes.agents):
        mine = of_agents.get(agent, marks.iloc[:0])
        reason = _why_unknown(mine, longest)
        if reason:
            times.append(SuccessTimes(None, None, None, None, None, longest, reason))
            continue
        horizon = int(mine["horizon"].max())
        spread = None if areas.error[row] > 0 else "scenarios show no spread"
        curves = _curves(mine, horizon)
        times.append(
            SuccessTimes(*curves, float(areas.area[row]), areas.interval[row], horizon, spread)
        )
    return times


def _why_unknown(mine: pd.DataFrame, longest: int | None) -> str | None:
    timeless = int(((mine["verdict"] == "success") & mine["step"].isna()).sum())
    if timeless:
        return f"{timeless} {'success has' if timeless == 1 else 'successes have'} no step"
    if longest is None:
        return "no horizon is given"
    return "nothing judged" if mine.empty else None


def _curves(mine: pd.DataFrame, horizon: int) -> tuple[Curve, Curve, Curve | None]:
    time, status, weight = (mine[name].to_numpy() for name in ("time", "status", "weight"))
    curve = cumulative_incidence(time, status, weight, horizon=horizon)
    success = (mine["verdict"] == "success").to_numpy()
    step, won = time[success], weight[success]
    every = reached(step, won, total=float(weight.sum()), horizon=horizon)
    if not len(won):
        return curve, every, None
    return curve, every, reached(step, won, total=max(won.sum(), 1e-300), horizon=horizon)


def _marks(label_set: LabelSet, ratings: pd.DataFrame) -> pd.DataFrame:
    # Weights make every scenario count as in the pass rate, so that F1 ends where the rate is.
    verdicts = ("success", "failure", "not_done")
    sources = [label_set.source, *(["settled"] if label_set.source == "human" else [])]
    rows = ratings.loc[
        (ratings["truth"] == "")
        & ratings["source"].isin(sources)
        & ratings["verdict"].isin(verdicts),
        ["agent", "scenario", "continuation", "source", "verdict", "step", "horizon"],
    ]
    outcomes = label_set.outcomes
    weights = sampling.scenario_weights(label_set.whole.number > 0, outcomes.category)
    agent = pd.Index(outcomes.agents).get_indexer(pd.Index(rows["agent"]))
    scenario = pd.Index(outcomes.scenarios).get_indexer(pd.Index(rows["scenario"]))
    by_rule = (rows["source"] == "settled").to_numpy()
    among = label_set.parts.of(agent, scenario, by_rule)
    annotations = rows.groupby("continuation")["verdict"].transform("size")
    step, horizon = rows["step"], rows["horizon"]
    success = rows["verdict"] == "success"
    status = np.select(
        [success, rows["verdict"] == "failure"],
        [incidence.SUCCESS, incidence.FAILURE],
        incidence.CENSORED,
    )
    return rows.assign(
        time=step.fillna(horizon).fillna(0).astype(np.int64),
        status=status,
        weight=weights[agent, scenario] / among / annotations,
        area=np.where(success, (horizon - step) / horizon, 0.0),
    )
