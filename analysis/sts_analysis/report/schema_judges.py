"""What a report holds of who judged whom; `sts_analysis.report.schema` has the whole."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated

from sts_analysis.report.schema_parts import Interval


@dataclass(frozen=True)
class Alarm:
    """What a reader must know before they read a number."""

    kind: Annotated[
        str,
        "`annotators_confounded`: some agents cannot be told from their annotators; "
        "`annotators_decide`: who is separated depends on whether annotators are adjusted for",
    ]
    pairs: Annotated[tuple[tuple[str, str], ...], "of agents that it is about"]
    text: Annotated[str, "in words"]


@dataclass(frozen=True)
class Block:
    """An annotator's answers to twenty references in a row, "cannot judge" left out."""

    answered: Annotated[int, "references; the last block may have fewer"]
    right: Annotated[int, "of these, called what they are"]
    share: Annotated[float | None, "right of answered"]
    interval: Annotated[Interval | None, "Jeffreys'"]


@dataclass(frozen=True)
class Audit:
    """Who judged which agent; each judgement counts once a clip and agent."""

    agents: Annotated[tuple[str, ...], "rows of the table"]
    annotators: Annotated[tuple[str, ...], "columns of the table"]
    judgements: Annotated[tuple[tuple[int, ...], ...], "of each agent by each annotator"]
    imbalance: Annotated[
        float | None,
        "share of an agent's judgements that would have to be others', for it to be judged as "
        "another; of the two where it is largest",
    ]
    between: Annotated[tuple[str, str] | None, "these two agents"]
    cramers_v: Annotated[float | None, "of the table, 0 to 1"]
    p: Annotated[float | None, "of as much of it by chance: clips of a scenario change places"]
    clips: Annotated[int, "that somebody judged"]
    twice: Annotated[int, "of these, judged by two people or more"]
    sentence: Annotated[str, "whether agents and annotators can be told apart, in words"]


@dataclass(frozen=True)
class AnnotatorEffect:
    """How much more lenient an annotator is than the mean one of this table."""

    annotator: Annotated[str, "who"]
    share: Annotated[float, "of all judgements, agents and scenarios weighing alike"]
    effect: Annotated[float | None, "added to a rate; null where it cannot be told"]


@dataclass(frozen=True)
class AdjustedPair:
    """A pair of `comparisons` with annotators adjusted for."""

    a: Annotated[str, "one agent"]
    b: Annotated[str, "the other"]
    told: Annotated[bool, "whether it can be told from a difference between annotators"]
    apart: Annotated[float, "share of one's judgements not by whom the other's are"]
    difference: Annotated[float | None, "rate of a minus rate of b"]
    interval: Annotated[Interval | None, "of this pair alone, under the report's target"]
    p: Annotated[float | None, "two-sided, of this pair alone"]
    p_adjusted: Annotated[float | None, "for all pairs"]
    separated: Annotated[bool, "told apart, all pairs taken together"]
    plain_separated: Annotated[bool, "the same, annotators not adjusted for"]


@dataclass(frozen=True)
class OtherRate:
    """An agent's pass rate for other annotators of the same kind."""

    agent: Annotated[str, "its name"]
    annotators: Annotated[int, "who judged it"]
    rank_set: Annotated[tuple[int, int] | None, "best and worst rank that others could give it"]
    interval: Annotated[Interval | None, "under the report's target of scenarios"]
    intervals: Annotated[Mapping[str, Interval | None], "by target of scenarios"]
    method: Annotated[str, "how the interval was made, or why there is none"]


@dataclass(frozen=True)
class OtherPair:
    """A difference between two agents for other annotators of the same kind."""

    a: Annotated[str, "one agent"]
    b: Annotated[str, "the other"]
    difference: Annotated[float | None, "annotators adjusted for"]
    interval: Annotated[Interval | None, "of this pair alone, under the report's target"]
    p: Annotated[float | None, "two-sided, of this pair alone"]
    p_adjusted: Annotated[float | None, "for all pairs, Holm's"]
    separated: Annotated[bool, "told apart, all pairs taken together"]


@dataclass(frozen=True)
class LikelyAccuracy:
    """How well an annotator judges, from all that was said; see `Likely`."""

    annotator: Annotated[str, "who"]
    judgements: Annotated[int, "verdicts, on clips and references"]
    sensitivity: Annotated[float, "mean of the draws"]
    sensitivity_interval: Annotated[Interval, "of the draws"]
    specificity: Annotated[float, "mean of the draws"]
    specificity_interval: Annotated[Interval, "of the draws"]


@dataclass(frozen=True)
class LikelyClip:
    """What a clip is likely to be; see `Likely`."""

    agent: Annotated[str, "whose, of several the first"]
    scenario: Annotated[str, "of the clip"]
    clip: Annotated[str | None, "of the ratings table; null if not known"]
    judgements: Annotated[int, "verdicts"]
    mean: Annotated[float, "of the verdicts, which is what counts"]
    chance: Annotated[float, "that it is a success"]


@dataclass(frozen=True)
class Likely:
    """The model of Dawid and Skene, references clamped; beside the means, and never instead."""

    annotators: Annotated[tuple[LikelyAccuracy, ...], "each on their own"]
    clips: Annotated[tuple[LikelyClip, ...], "those on which people differ first"]
    clips_left_out: Annotated[int, "clips that are not listed, for there are too many"]
    references: Annotated[int, "reference episodes whose truth is held fast"]
    method: Annotated[str, "what was done"]


@dataclass(frozen=True)
class ByGroup:
    """Whether annotators judge some agents or categories better than others."""

    measure: Annotated[str, "`sensitivity`, `specificity`, or `disagreement` of two"]
    by: Annotated[str, "`agent` or `category`"]
    shares: Annotated[Mapping[str, float], "by group"]
    episodes: Annotated[Mapping[str, int], "by group"]
    p: Annotated[float, "that as much of a difference comes about by chance"]
    method: Annotated[str, "what was done, and on what"]


@dataclass(frozen=True)
class Judges:
    """For whose judgement the numbers hold, and what they would be for others'."""

    whose: Annotated[str, "for whose judgement the ranking holds, in words"]
    audit: Annotated[Audit | None, "who judged which agent; null where that is not given"]
    effects: Annotated[tuple[AnnotatorEffect, ...], "of each annotator"]
    adjusted: Annotated[tuple[AdjustedPair, ...], "every compared pair, annotators adjusted for"]
    other_rates: Annotated[tuple[OtherRate, ...], "for other annotators of the same kind"]
    other_pairs: Annotated[tuple[OtherPair, ...], "for other annotators of the same kind"]
    other_reason: Annotated[str | None, "why nothing is said of other annotators"]
    likely: Annotated[Likely | None, "null without a reference and a clip judged twice"] = None
    by_group: Annotated[tuple[ByGroup, ...], "tests of who is judged how well"] = ()
