"""Pass rates corrected for the errors of annotators."""

from typing import NamedTuple

import numpy as np
import pandas as pd
from scipy import stats

from sts_analysis.statistics import intervals
from sts_analysis.statistics.label_set import LabelSet
from sts_analysis.statistics.pass_rates import Rates
from sts_analysis.statistics.sampling import scenario_weights
from sts_analysis.statistics.weighed_accuracy import Share, judged_by, weighed_share

FEWEST_TO_CORRECT = 0.3
MOST_BORROWED = 0.5
NEEDS = "needs reference episodes of success and of failure"


class Corrected(NamedTuple):
    """A pass rate corrected for its annotators' errors.

    Attributes:
      value: (p + Sp - 1) / (Se + Sp - 1), clipped to [0, 1].
      interval: Lang and Reiczigel's.
      clipped: whether the value had to be.
      sensitivity: Se of who judged the agent, each weighed by how much.
      specificity: Sp of the same.
      successes: reference episodes that are successes, answered.
      others: reference episodes that are not, answered.
      method: of the interval, in words.
    """

    value: float
    interval: tuple[float, float]
    clipped: bool
    sensitivity: float
    specificity: float
    successes: int
    others: int
    method: str


def correct(
    rate: float, trials: float, df: float, sensitivity: Share, specificity: Share
) -> Corrected | str:
    """The pass rate that faultless annotators would have given, or why it is refused.

    Refused where the interval of J = Se + Sp - 1 reaches below `FEWEST_TO_CORRECT`: what is divided
    by may then be nearly 0.

    Args:
      rate: p, the apparent pass rate.
      trials: p's effective number of independent trials.
      df: degrees of freedom of its error; NaN or infinite where it is as good as known.
      sensitivity: on reference episodes that are successes, of who judged the agent.
      specificity: on the others.

    Source: Rogan and Gladen 1978, Am. J. Epidemiol. 107:71; interval: Lang and Reiczigel 2014,
      Prev. Vet. Med. 113:13, with Satterthwaite's degrees of freedom; of J: Zou and Donner 2008,
      Stat. Med. 27:1693.
    """
    least = youden_interval(sensitivity, specificity)[0]
    youden = sensitivity.value + specificity.value - 1
    if least < FEWEST_TO_CORRECT:
        return (
            f"refused: Se + Sp - 1 is {youden:.2f} and may be {least:.2f}, below "
            f"{FEWEST_TO_CORRECT}, by {sensitivity.episodes} and {specificity.episodes} reference "
            "episodes"
        )
    value = (rate + specificity.value - 1) / youden
    quantile, freedom = _quantile(rate, trials, df, sensitivity, specificity)
    square = quantile**2
    n, n_se, n_sp = trials + square, sensitivity.trials + 2, specificity.trials + 2
    p = (rate * trials + square / 2) / n
    se = (sensitivity.value * sensitivity.trials + 1) / n_se
    sp = (specificity.value * specificity.trials + 1) / n_sp
    adjusted = (p + sp - 1) / (se + sp - 1)
    noise_se, noise_sp = se * (1 - se) / n_se, sp * (1 - sp) / n_sp
    shift = 2 * square * (adjusted * noise_se - (1 - adjusted) * noise_sp)
    spread = np.sqrt(p * (1 - p) / n + adjusted**2 * noise_se + (1 - adjusted) ** 2 * noise_sp)
    half = quantile * spread / (se + sp - 1)
    low, high = np.clip([adjusted + shift - half, adjusted + shift + half], 0.0, 1.0)
    kept = float(np.clip(value, 0.0, 1.0))
    method = "Lang and Reiczigel, reference episodes as clusters" + freedom
    return Corrected(
        kept,
        (float(low), float(high)),
        kept != value,
        sensitivity.value,
        specificity.value,
        sensitivity.episodes,
        specificity.episodes,
        method,
    )


def correct_rates(
    label_set: LabelSet, ratings: pd.DataFrame, references: pd.DataFrame
) -> dict[str, Corrected | str]:
    """Each agent's rate corrected for who judged it, or why it is not; none but of human labels.

    Args:
      label_set: the labels, analysed.
      ratings: the checked table that they come from, as `valued` returns it.
      references: rows that have a truth, each answer once.
    """
    if label_set.source != "human":
        return {}
    outcomes = label_set.outcomes
    weights = scenario_weights(label_set.whole.number > 0, outcomes.category)
    rows = ratings.loc[
        (ratings["truth"] == "")
        & ratings["source"].isin(("human", "settled"))
        & ~ratings["verdict"].isin(("", "cannot_judge")),
        ["agent", "scenario", "continuation", "annotator", "source"],
    ]
    column = pd.Index(outcomes.scenarios).get_indexer(pd.Index(rows["scenario"]))
    place = {agent: i for i, agent in enumerate(outcomes.agents)}
    by_rule = (rows["source"] == "settled").to_numpy()
    made: dict[str, Corrected | str] = dict.fromkeys(outcomes.agents, "nothing judged")
    for agent, own in rows.groupby("agent").indices.items():
        row = place[str(agent)]
        among = label_set.parts.of(np.array(row), column[own], by_rule[own])
        part = weights[row, column[own]] / among
        made[str(agent)] = correct_rate(label_set.main, row, rows.iloc[own], part, references)
    return made


def correct_rate(
    rates: Rates, row: int, rows: pd.DataFrame, weights: np.ndarray, references: pd.DataFrame
) -> Corrected | str:
    """The corrected pass rate of one agent, or why there is none.

    Each annotator's accuracy counts by the share of the agent's judgements that are theirs. What a
    rule has settled is taken for right.

    Args:
      rates: of all agents, under the report's target.
      row: which agent.
      rows: its judgements that count, with `continuation`, `annotator` and `source`.
      weights: float64[rows], how much the continuation of each weighs in the agent's rate.
      references: rows of a checked ratings table that have a truth.
    """
    if not np.isfinite(rates.error[row]):
        return rates.method[row]
    shares, settled = judged_by(rows, weights)
    if not shares:
        return "a rule has settled all of it, and nobody judged"
    answered = references[~references["verdict"].isin(("cannot_judge", ""))]
    true = (answered["truth"] == "success").to_numpy()
    right = (answered["verdict"] == "success").to_numpy() == true
    who, what = answered["annotator"].to_numpy(str), answered["continuation"].to_numpy()
    se, sp = (weighed_share(right[own], who[own], what[own], shares) for own in (true, ~true))
    if se is None or sp is None:
        return NEEDS
    borrowed = max(se.borrowed, sp.borrowed)
    if borrowed > MOST_BORROWED:
        return f"{100 * borrowed:.0f}% of it is judged by people who answered no reference episode"
    judged = 1 - settled
    found = correct(
        float(rates.rate[row]) / judged, float(rates.trials[row]), float(rates.df[row]), se, sp
    )
    if isinstance(found, str):
        return found
    method = found.method
    if borrowed > 1e-9:
        method += f"; {100 * borrowed:.0f}% judged by people without references, taken for the rest"
    low, high = found.interval
    return found._replace(
        value=judged * found.value, interval=(judged * low, judged * high), method=method
    )


def youden_interval(sensitivity: Share, specificity: Share) -> tuple[float, float]:
    """95% interval of Se + Sp - 1 from Jeffreys' intervals of both."""
    youden = sensitivity.value + specificity.value - 1
    below, above = 0.0, 0.0
    for share in (sensitivity, specificity):
        low, high = intervals.jeffreys(share.value * share.trials, share.trials)
        below += (share.value - low) ** 2
        above += (high - share.value) ** 2
    return youden - float(np.sqrt(below)), youden + float(np.sqrt(above))


def _quantile(
    rate: float, trials: float, df: float, sensitivity: Share, specificity: Share
) -> tuple[float, str]:
    """Student's quantile by the degrees of freedom of all three parts of the error, and words."""
    if not np.isfinite(df):
        return intervals.Z, ""
    youden = sensitivity.value + specificity.value - 1
    prevalence = float(np.clip((rate + specificity.value - 1) / youden, 0, 1))
    parts = [(rate * (1 - rate) / trials, df)]
    for share, load in ((sensitivity, prevalence), (specificity, 1 - prevalence)):
        noise = load**2 * share.value * (1 - share.value) / share.trials
        parts.append((noise, max(share.episodes - 1, 1)))
    total = sum(noise for noise, _ in parts)
    if total <= 0:
        return intervals.Z, ""
    freedom = total**2 / sum(noise**2 / own for noise, own in parts)
    return float(stats.t.isf((1 - intervals.LEVEL) / 2, freedom)), f", t with {freedom:.1f} df"
