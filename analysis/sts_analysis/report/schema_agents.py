"""What a report holds of one agent: rates under each target, consistency, time, corrections.

`sts_analysis.report.schema` has the whole, and says what holds of every key.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated

from sts_analysis.report.schema_parts import Interval

APART = "in a table of its own"
"""Marks what stands in no row of its object's table."""
Curve = tuple[tuple[int, float], ...]
"""A step function: each height holds from its step up to the next one."""


@dataclass(frozen=True)
class Estimate:
    """A pass rate's uncertainty under one target."""

    interval: Annotated[Interval | None, "95%"]
    standard_error: Annotated[float | None, "of the rate"]
    method: Annotated[str, "how the interval was made, or why there is none"]


@dataclass(frozen=True)
class Consistency:
    """How alike an agent's continuations of one scenario are."""

    icc: Annotated[float | None, "intraclass correlation, over all scenarios"]
    interval: Annotated[Interval | None, "of the icc"]
    agreement: Annotated[float | None, "chance that two continuations of one scenario end alike"]
    pass_hat_k: Annotated[Mapping[int, float], "by k, chance that all of k succeed", APART]
    pass_at_k: Annotated[Mapping[int, float], "by k, chance that at least one of k does", APART]
    k_scenarios: Annotated[Mapping[int, int], "by k, scenarios with so many judged", APART]
    reason: Annotated[str | None, "why the icc or its interval is null"]
    agreement_interval: Annotated[Interval | None, "of agreement, scenarios sampled"] = None
    pass_hat_k_intervals: Annotated[
        Mapping[int, Interval] | None, "by k, of pass_hat_k, scenarios sampled", APART
    ] = None
    pass_at_k_intervals: Annotated[
        Mapping[int, Interval] | None, "by k, of pass_at_k, scenarios sampled", APART
    ] = None
    scenarios: Annotated[int | None, "judged ones, which icc rests on"] = None
    icc_within_categories: Annotated[
        float | None, "the same with categories taken out, no interval: what a category borrows"
    ] = None


@dataclass(frozen=True)
class TimeToSuccess:
    """When an agent succeeds."""

    curve: Annotated[Curve | None, "cumulative incidence of success, [step, height]", APART]
    reached: Annotated[Curve | None, "share that has succeeded by each step", APART]
    successes_curve: Annotated[Curve | None, "the same among the successes alone", APART]
    mean_area: Annotated[float | None, "mean height of F1 over each scenario's horizon"]
    interval: Annotated[Interval | None, "of the mean area, scenarios sampled"]
    horizon: Annotated[int | None, "the longest, in steps"]
    reason: Annotated[str | None, "why a value is null"]


@dataclass(frozen=True)
class Corrected:
    """A pass rate corrected for its annotators' errors."""

    value: Annotated[float, "what faultless annotators would have given"]
    interval: Annotated[Interval, "Lang and Reiczigel's"]
    clipped: Annotated[bool, "whether the value left [0, 1] and was clipped"] = False
    sensitivity: Annotated[float | None, "of who judged the agent, weighed by how much"] = None
    specificity: Annotated[float | None, "of the same"] = None
    successes: Annotated[int | None, "reference episodes that are successes, answered"] = None
    others: Annotated[int | None, "reference episodes that are not, answered"] = None
    method: Annotated[str, "of the interval"] = ""


@dataclass(frozen=True)
class GuessPenalised:
    """An agent's score in which guessing counts 0, a category at a time."""

    value: Annotated[float | None, "mean of (p - g) / (1 - g); 1 is perfect, 0 as blind"]
    standard_error: Annotated[float | None, "of the value"]
    interval: Annotated[Interval | None, "under the report's target"]
    method: Annotated[str, "how the interval was made, or why there is none"]
    scenarios: Annotated[int, "that both were judged on, in categories that count"]
    blank: Annotated[tuple[str, ...], "categories that the blind agent passes above 80%"]
    blind: Annotated[str, "the agent that guesses"]
