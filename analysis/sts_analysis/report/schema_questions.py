"""What a report holds to answer what users ask: how sure is the first, who is hardly worse.

`sts_analysis.report.schema` has the whole, and says what holds of every key.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated

from sts_analysis.report.schema_parts import Interval


@dataclass(frozen=True)
class Fragile:
    """The fewest judgements that, flipped, change who is first in a ranking; exact."""

    ranking: Annotated[int, "its number"]
    first: Annotated[str, "the agent with the highest pass rate"]
    rival: Annotated[str, "the one that would pass it"]
    flips: Annotated[int | None, "judgements; 0 if the two are level, null if none would do"]
    judgements: Annotated[int, "of these two agents"]


@dataclass(frozen=True)
class NotWorse:
    """Whether an agent is worse than another by less than the margin."""

    agent: Annotated[str, "who is held against it"]
    reference: Annotated[str, "the other: the first of its ranking, or the one that was named"]
    difference: Annotated[float | None, "rate of agent minus rate of reference"]
    bound: Annotated[float | None, "low end of the difference, one-sided 95%, of this pair alone"]
    margin: Annotated[float, "as a share"]
    shown: Annotated[bool, "the bound is above minus the margin"]
    scenarios: Annotated[int, "that both were judged on"]


@dataclass(frozen=True)
class Improvement:
    """On how many scenarios one agent passes more often than another, as seen; equal ones half."""

    a: Annotated[str, "the agent of the higher rate"]
    b: Annotated[str, "the other"]
    chance: Annotated[float | None, "share of scenarios"]
    interval: Annotated[Interval | None, "scenarios sampled"]
    scenarios: Annotated[int, "that both were judged on"]


@dataclass(frozen=True)
class Profiled:
    """On what share of scenarios an agent passes at least so often, as seen."""

    agent: Annotated[str, "its name"]
    scenarios: Annotated[int, "judged ones"]
    shares: Annotated[Mapping[str, float], "by pass rate"]
    band: Annotated[Mapping[str, Interval], "by pass rate; all hold together, scenarios sampled"]


@dataclass(frozen=True)
class Questions:
    """What users ask of a ranking."""

    fragility: Annotated[tuple[Fragile, ...], "of each ranking"]
    not_worse: Annotated[tuple[NotWorse, ...], "of each agent; none without a margin"]
    improvements: Annotated[tuple[Improvement, ...], "of every two agents of one ranking"]
    profiles: Annotated[tuple[Profiled, ...], "in the order of the report"]
