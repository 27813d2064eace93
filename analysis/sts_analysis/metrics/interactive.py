"""The score of live evaluation: the share of a person's instructions that an agent carries out.

People give different numbers of instructions and differ in what they ask and how strictly they
mark, so they are the units of the report's estimator, and each instruction weighs the same.

Sources: Abramson et al. 2022, section 2; the slope's error: Liang and Zeger 1986, Biometrika 73:13.
"""

from collections import Counter
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from sts.live.interactions import INTERACTIVE, SETTER, UNMARKED, Interaction
from sts_analysis.statistics.estimate import Estimates, estimate, take_root, weigh

_NO_INTERVAL = (
    "no instruction counts",
    "one person shows no spread between people; an interval needs two or more",
)
"""Why there is no interval with so many people."""


class AgentScore(NamedTuple):
    """The score of one agent."""

    agent: str  # its name
    fingerprint: str  # of its code
    metric: str  # "interactive", or "setter" if a setter or marker of the study was not human
    people: int  # number of people with an instruction that counts
    sessions: int  # number of sessions with an instruction
    instructions: int  # number that count: all but those marked cannot_tell
    successes: int  # number marked as successes
    unmarked: int  # number without a mark, which count as failures
    cannot_tell: int  # number marked cannot_tell, which do not count
    score: float | None  # successes / instructions; None without an instruction that counts
    standard_error: float | None  # of the score, people being the clusters; None for one person
    # 95%; without a spread between people, they are the trials
    interval: tuple[float, float] | None
    reason: str  # why there is no interval, or ""
    # number of instructions that count, by difficulty and kind of their prompt, such as "hard
    # question"; "no prompt" for those without one
    mix: dict[str, int]
    standardised: float | None  # the score for the mix of all agents together
    standardised_error: float | None  # its standard error; None as above
    unmet: tuple[str, ...]  # those of that mix that the agent never met. Its score stands for them
    unmet_share: float  # their share of that mix
    # change of the score from one of a person's sessions to the next; None if all were at one
    # place
    slope: float | None
    # its standard error, people being the clusters; None for fewer than three people
    slope_error: float | None
    late_share: float | None  # share of steps that came late; None without steps


def score_interactions(rows: Sequence[Interaction]) -> list[AgentScore]:
    """Score each agent, the best first.

    Sessions for practice, sessions that broke off, and instructions to anyone but an agent are left
    out. Versions of an agent with different fingerprints are different agents.
    """
    scored = [row for row in rows if row.scored and row.agent_kind == "agent"]
    by_people = all({row.setter_kind, row.marker_kind} <= {"human", ""} for row in scored)
    metric = INTERACTIVE if by_people else SETTER
    pooled = Counter(_name_stratum(row) for row in scored if row.mark != "cannot_tell")
    agents: dict[tuple[str, str], list[Interaction]] = {}
    for row in scored:
        agents.setdefault((row.agent, row.fingerprint), []).append(row)
    scores = [_score_agent(metric, agent, pooled) for agent in agents.values()]
    return sorted(scores, key=lambda score: (-(score.score or 0), score.agent, score.fingerprint))


def _score_agent(metric: str, rows: Sequence[Interaction], pooled: Counter[str]) -> AgentScore:
    counted = [row for row in rows if row.mark != "cannot_tell"]
    success = np.array([row.mark == "success" for row in counted], np.float64)
    names, person = np.unique([row.person for row in counted], return_inverse=True)
    people, mix = len(names), Counter(_name_stratum(row) for row in counted)
    unmet = sorted(stratum for stratum in pooled if stratum not in mix)
    score = error = standardised = standardised_error = interval = None
    if counted:
        found = estimate(success[None], weigh(success >= 0, np.zeros_like(person), person))
        score = float(success.mean())
        standardised, shared = _standardise(counted, success, found, pooled, person)
        if people > 1:
            error, standardised_error = float(found.se[0]), shared
            interval = float(found.interval[0, 0]), float(found.interval[0, 1])
    slope, slope_error = _fit_slope(np.array([row.order for row in counted]), success, person)
    ticks = sum(row.ticks for row in rows)
    total = sum(pooled.values())
    return AgentScore(
        agent=rows[0].agent,
        fingerprint=rows[0].fingerprint,
        metric=metric,
        people=people,
        sessions=len({row.session for row in rows}),
        instructions=len(counted),
        successes=int(success.sum()),
        unmarked=sum(row.mark == UNMARKED for row in rows),
        cannot_tell=len(rows) - len(counted),
        score=score,
        standard_error=error,
        interval=interval,
        reason="" if interval else _NO_INTERVAL[people],
        mix=dict(sorted(mix.items())),
        standardised=standardised,
        standardised_error=standardised_error,
        unmet=tuple(unmet),
        unmet_share=sum(pooled[stratum] for stratum in unmet) / total if total else 0.0,
        slope=slope,
        slope_error=slope_error,
        late_share=sum(row.late_ticks for row in rows) / ticks if ticks else None,
    )


def _name_stratum(row: Interaction) -> str:
    return f"{row.difficulty} {row.kind}" if row.kind else "no prompt"


def _cluster_error(residuals: NDArray[np.float64], person: NDArray[np.intp]) -> float | None:
    """Return the standard error of a sum of residuals that people share; None for one person."""
    sums = np.bincount(person, residuals)
    people = len(sums)
    return float(take_root(people / (people - 1) * (sums**2).sum())) if people > 1 else None


def _standardise(
    rows: Sequence[Interaction],
    success: NDArray[np.float64],
    plain: Estimates,
    pooled: Counter[str],
    person: NDArray[np.intp],
) -> tuple[float, float]:
    """Return the score for the pooled mix, and its standard error.

    Strata that the agent never met have its `plain` score.
    """
    names, stratum = np.unique([_name_stratum(row) for row in rows], return_inverse=True)
    weight = np.array([pooled[name] for name in names.tolist()])
    met = weight.sum() / sum(pooled.values())
    size = (weight / np.bincount(stratum))[stratum]
    found = estimate(success[None], weigh(success >= 0, stratum, person, size))
    errors = met * found.unit_errors + (1 - met) * plain.unit_errors
    value = met * found.value[0] + (1 - met) * plain.value[0]
    return float(value), float(take_root((errors**2).sum()))


def _fit_slope(
    order: NDArray[np.int64], success: NDArray[np.float64], person: NDArray[np.intp]
) -> tuple[float | None, float | None]:
    """Return the least-squares slope of success over the order of sessions, and its error."""
    if not len(order) or np.ptp(order) == 0:
        return None, None
    x = order - order.mean()
    slope = float(x @ success / (x @ x))
    residuals = success - success.mean() - slope * x
    enough = len(np.unique(person)) > 2
    return slope, _cluster_error(x * residuals / (x @ x), person) if enough else None
