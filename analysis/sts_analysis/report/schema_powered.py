"""Prediction-powered pass rates in a report; `sts_analysis.report.schema` has the whole.

The ranking does not use them, and they are no set of labels.
"""

from dataclasses import dataclass
from typing import Annotated

from sts_analysis.report.schema_parts import Interval


@dataclass(frozen=True)
class PoweredRate:
    """An agent's pass rate by people, with and without the rule's verdicts on all."""

    agent: Annotated[str, "its name"]
    judged: Annotated[int, "continuations that people judged"]
    continuations: Annotated[int, "of how many; what nobody could judge is left out"]
    pass_rate: Annotated[float | None, "by people alone, as in the ranking"]
    pass_rate_interval: Annotated[
        Interval | None,
        "of it, scenarios sampled, worlds as units; scenarios, where a rule has settled some",
    ]
    powered: Annotated[float | None, "the same with the rule's help; null with a reason"]
    interval: Annotated[Interval | None, "of powered, likewise"]
    clipped: Annotated[bool, "whether powered had to be clipped to [0, 1]"]
    weight: Annotated[float | None, "of the rule's verdicts, 0 to 1, the mean over folds"]
    effective: Annotated[
        float | None,
        "judged continuations, in as many more scenarios, with which people alone err as little",
    ]
    worlds: Annotated[int, "of which something is judged"]
    alone: Annotated[tuple[str, ...], "categories by people alone: the rule says nothing of some"]
    method: Annotated[str, "how both intervals were made"]
    reason: Annotated[str | None, "why powered is null"]


@dataclass(frozen=True)
class PoweredPair:
    """A difference of two powered rates, each of its own scenarios, worlds paired; a pair alone."""

    a: Annotated[str, "the agent that the ranking has first"]
    b: Annotated[str, "the other"]
    by_people: Annotated[float | None, "pass_rate of a minus that of b"]
    by_people_interval: Annotated[Interval | None, "of it, worlds as units"]
    powered: Annotated[float | None, "the same of the powered rates"]
    interval: Annotated[Interval | None, "of powered"]


@dataclass(frozen=True)
class Powered:
    """Prediction-powered rates; each rests on people's judgements, and no judgement is made up."""

    by: Annotated[str | None, "whose verdicts help: `automatic` or `model`; null for none"]
    folds: Annotated[int, "of worlds; a world's weight is fitted on the other folds"]
    worlds_known: Annotated[bool, "or else each scenario is taken for a world of its own"]
    agents: Annotated[tuple[PoweredRate, ...], "in the order of the report"]
    pairs: Annotated[tuple[PoweredPair, ...], "of every two agents of one ranking that have one"]
    assumes: Annotated[str, "what must hold of which continuations were judged"]
    reason: Annotated[str | None, "why there is none"]
