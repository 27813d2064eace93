"""What a report says of other metrics of the agents, and of how they follow the pass rate."""

from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from sts.ratings import ACCESS_LEVELS
from sts_analysis.inputs.scores import PASS_RATE
from sts_analysis.report.schema import (
    Agent,
    Correlation,
    CorrelationDifference,
    LeftOutScore,
    Score,
)
from sts_analysis.report.values import number
from sts_analysis.statistics.label_set import LabelSet
from sts_analysis.statistics.validity import Column, gold_differences, metric_pairs

GOLD = "interactive"
SEEN = {
    "observation": "its observations alone",
    "world": "the whole world",
    "rehearsal": "a rehearsal of the episode",
    "recording": "the recording",
}
"""What an agent was shown, in words."""


class Validity(NamedTuple):
    """The part of a report that the scores table gives."""

    metrics: tuple[Score, ...]
    metrics_left_out: tuple[LeftOutScore, ...]
    metrics_of_unknown_agents: tuple[str, ...]
    correlations: tuple[Correlation, ...]
    correlation_differences: tuple[CorrelationDifference, ...]


def validity(
    label_set: LabelSet, agents: tuple[Agent, ...], scores: pd.DataFrame, *, seed: int
) -> Validity:
    """Correlates the pass rate and every metric across the ranked agents.

    Args:
      label_set: the main one.
      agents: the report's.
      scores: a checked scores table, possibly empty.
      seed: of the random permutations.
    """
    names = [label_set.outcomes.agents[row] for row in label_set.ranked]
    reasons = _left_out(agents, scores)
    used = scores["agent"].isin(names) & (reasons == "")
    columns = _columns(label_set, names, scores[used])
    families = dict(zip(scores["agent"][used], scores["family"][used], strict=True))
    family = np.array([families.get(name, "") for name in names], dtype=object)
    pairs = metric_pairs(columns, label_set.comparisons, family=family, seed=seed)
    left_out = zip(_rows(scores[reasons != ""]), reasons[reasons != ""], strict=True)
    return Validity(
        tuple(Score(**row) for row in _rows(scores[used])),
        tuple(LeftOutScore(**row, reason=reason) for row, reason in left_out),
        tuple(sorted(set(scores["agent"]) - set(label_set.outcomes.agents))),
        tuple(
            Correlation(
                x=pair.x,
                y=pair.y,
                **pair.correlation._asdict(),
                order_accuracy=pair.order_accuracy,
                order_pairs=pair.order_pairs,
            )
            for pair in pairs
        ),
        tuple(
            CorrelationDifference(**difference._asdict())
            for difference in gold_differences(columns, gold=GOLD, own=PASS_RATE, family=family)
        ),
    )


def _left_out(agents: tuple[Agent, ...], scores: pd.DataFrame) -> pd.Series:
    """Why a score enters no correlation, "" where nothing is against it.

    An agent that saw more when it was measured than in the suite was another one there.
    """
    entries = {entry.agent: entry for entry in agents}
    reasons = []
    for agent, sees in zip(scores["agent"], scores["sees"], strict=True):
        entry = entries.get(agent)
        reason = entry.unranked or "" if entry else ""
        if entry and not reason and sees not in (entry.sees, ACCESS_LEVELS[0]):
            reason = f"it saw {SEEN[sees]} there, and {SEEN[entry.sees]} here"
        reasons.append(reason)
    return pd.Series(reasons, index=scores.index, dtype=object)


def _columns(label_set: LabelSet, names: list[str], scores: pd.DataFrame) -> dict[str, Column]:
    # Rates in another ranking are over other scenarios, and on no common scale.
    first = label_set.rankings.number[label_set.ranked] == 1
    rate = np.where(first, label_set.main.rate[label_set.ranked], np.nan)
    values = scores.pivot(index="agent", columns="metric", values="value").reindex(names)
    errors = scores.pivot(index="agent", columns="metric", values="standard_error").reindex(names)
    return {PASS_RATE: Column(rate, None)} | {
        str(metric): Column(
            values[metric].to_numpy(dtype=np.float64), errors[metric].to_numpy(dtype=np.float64)
        )
        for metric in values.columns
    }


def _rows(scores: pd.DataFrame) -> list[dict[str, Any]]:
    rows = ({str(name): cell for name, cell in row.items()} for row in scores.to_dict("records"))
    return [{k: number(v) if isinstance(v, float) else v for k, v in row.items()} for row in rows]
