"""What a report holds, `sts-report/2`: the one place where its keys are named.

Each class is an object of `report.json` and each field a key, in this order; those about parts of a
suite stand in `schema_parts`, those about one agent in `schema_agents`, those about scenarios in
`schema_scenarios`, those about who judged in `schema_judges`, those about what is not judged yet in
`schema_stopping` and `schema_powered`. Every share lies in [0, 1] and steps count from takeover.
None is null in the file: not known, or there is none, with a reason beside it where one is known.
No number is NaN or infinite. A key that has a default is left out of the file where it holds that.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated

from sts_analysis.report.schema_agents import APART as APART
from sts_analysis.report.schema_agents import Consistency as Consistency
from sts_analysis.report.schema_agents import Corrected as Corrected
from sts_analysis.report.schema_agents import Curve as Curve
from sts_analysis.report.schema_agents import Estimate as Estimate
from sts_analysis.report.schema_agents import GuessPenalised as GuessPenalised
from sts_analysis.report.schema_agents import TimeToSuccess as TimeToSuccess
from sts_analysis.report.schema_judges import Alarm as Alarm
from sts_analysis.report.schema_judges import Block as Block
from sts_analysis.report.schema_judges import Judges as Judges
from sts_analysis.report.schema_parts import Against as Against
from sts_analysis.report.schema_parts import Change as Change
from sts_analysis.report.schema_parts import Credit as Credit
from sts_analysis.report.schema_parts import Effort as Effort
from sts_analysis.report.schema_parts import Error as Error
from sts_analysis.report.schema_parts import Group as Group
from sts_analysis.report.schema_parts import Interval as Interval
from sts_analysis.report.schema_parts import Linked as Linked
from sts_analysis.report.schema_parts import Reviews as Reviews
from sts_analysis.report.schema_parts import Sampled as Sampled
from sts_analysis.report.schema_parts import Selection as Selection
from sts_analysis.report.schema_parts import Share as Share
from sts_analysis.report.schema_parts import Tagged as Tagged
from sts_analysis.report.schema_parts import Unable as Unable
from sts_analysis.report.schema_powered import Powered as Powered
from sts_analysis.report.schema_questions import Questions as Questions
from sts_analysis.report.schema_scenarios import Scenario as Scenario
from sts_analysis.report.schema_stopping import Stopping as Stopping

SCHEMA = "sts-report/2"


@dataclass(frozen=True)
class Draws:
    """How many random draws stand behind the report."""

    comparisons: Annotated[int, "of the multiplier bootstrap of all pairs"]


@dataclass(frozen=True)
class Labels:
    """Judgements of agents' continuations by where they come from, "cannot judge" left out."""

    human: Annotated[int, "by people"]
    settled: Annotated[int, "by a rule that needs no eyes"]
    automatic: Annotated[int, "by a category's automatic label"]
    model: Annotated[int, "by a model"]


@dataclass(frozen=True)
class Counts:
    """How much of everything there is."""

    agents: Annotated[int, "with a continuation"]
    ranked_agents: Annotated[int, "of these, in a ranking"]
    scenarios: Annotated[int, "of the suite, continued or not"]
    categories: Annotated[int | None, "of the suite's scenarios; null where none is known"]
    continuations: Annotated[int, "of agents"]
    judged: Annotated[int, "continuations with a verdict"]
    unjudgeable: Annotated[int, "continuations that all who looked at them could not judge"]
    unjudged: Annotated[int, "continuations that nobody has judged"]
    annotations: Annotated[int, "verdicts that count"]
    cannot_judge: Annotated[int, "verdicts 'cannot judge'"]
    extra: Annotated[int, "judgements beyond the number asked for; they count"]
    reference_annotations: Annotated[int, "answers on reference episodes"]
    judgements: Annotated[int | None, "verdicts that count, each once for all that it covers"] = (
        None
    )
    clips: Annotated[int | None, "of these continuations, those that differ; null if not known"] = (
        None
    )
    settled: Annotated[int, "continuations that a rule has settled as not done"] = 0
    clips_judged: Annotated[int | None, "of these, with a verdict; null if not known"] = None
    adjudicated: Annotated[int, "clips whose value is what a reviewer decided"] = 0
    hours: Annotated[float | None, "of people's active time; null if not known"] = None
    hours_saved: Annotated[
        float | None, "that copies of a clip did not cost; null if not known"
    ] = None


@dataclass(frozen=True)
class Ranking:
    """Agents that continued nearly the same scenarios."""

    ranking: Annotated[int, "its number, from 1"]
    agents: Annotated[tuple[str, ...], "by falling pass rate"]
    scenarios: Annotated[int, "how many they continued"]
    categories: Annotated[tuple[str, ...], "of these scenarios"]


@dataclass(frozen=True)
class Standing:
    """An agent's place under one set of labels."""

    agent: Annotated[str, "its name"]
    pass_rate: Annotated[float | None, "over the suite, each scenario of equal weight"]
    interval: Annotated[Interval | None, "under the report's target"]
    rank: Annotated[int | None, "in its ranking; equal rates share one"]
    rank_set: Annotated[tuple[int, int] | None, "best and worst rank that comparisons leave open"]
    continuations: Annotated[int, "made"]
    judged: Annotated[int, "of these, with a verdict"]
    annotations: Annotated[int, "verdicts that count"]
    cannot_judge: Annotated[int, "verdicts 'cannot judge'"]
    unjudgeable: Annotated[int, "continuations that all who looked at them could not judge"]
    sees: Annotated[str, "what it is shown; all but `observation` is a baseline and not ranked"]


@dataclass(frozen=True)
class Agent(Standing):
    """One agent under the main set of labels."""

    notes: Annotated[tuple[str, ...], "what a report must say of it"]
    standard_error: Annotated[float | None, "of the pass rate"]
    method: Annotated[str, "how the interval was made, or why there is none"]
    intervals: Annotated[Mapping[str, Estimate], "by target, `sampled` and `fixed`"]
    ranking: Annotated[int | None, "number of its ranking"]
    unranked: Annotated[str | None, "why it has no rank"]
    unjudged: Annotated[int, "continuations that nobody has judged"]
    scenarios: Annotated[int, "continued"]
    missing: Annotated[tuple[str, ...], "scenarios of the suite that it has not continued", APART]
    scenarios_judged: Annotated[int, "scenarios with a judged continuation"]
    categories: Annotated[Mapping[str, Group], "by category", APART]
    kinds: Annotated[Mapping[str, Group], "by kind, `instruction` and `question`", APART]
    consistency: Annotated[Consistency, "across continuations of one scenario"]
    time_to_success: Annotated[TimeToSuccess, "in steps"]
    corrected_pass_rate: Annotated[Corrected | None, "for annotators' errors"]
    corrected_reason: Annotated[str | None, "why it is null"]
    guess_penalised: Annotated[GuessPenalised | None, "null unless a blind agent is named"]


@dataclass(frozen=True)
class Pair:
    """Two agents of one ranking on the scenarios that both were judged on."""

    a: Annotated[str, "the agent of the higher rate"]
    b: Annotated[str, "the other"]
    difference: Annotated[float | None, "rate of a minus rate of b"]
    interval: Annotated[Interval | None, "of this pair alone"]
    p: Annotated[float | None, "two-sided, of this pair alone"]
    scenarios: Annotated[int, "that both were judged on"]
    method: Annotated[str, "how p was found, or why there is none"]


@dataclass(frozen=True)
class Comparison(Pair):
    """A pair, and every other pair beside it."""

    standard_error: Annotated[float | None, "of the difference"]
    joint_interval: Annotated[Interval | None, "all pairs hold together with 95%"]
    p_adjusted: Annotated[float | None, "for all pairs"]
    separated: Annotated[bool, "told apart, all pairs taken together"]


@dataclass(frozen=True)
class Contrast(Pair):
    """A pair whose comparison was planned beforehand."""

    p_holm: Annotated[float | None, "adjusted for the planned contrasts"]


@dataclass(frozen=True)
class Score:
    """A metric of one agent, from the scores table."""

    agent: Annotated[str, "whose"]
    metric: Annotated[str, "what"]
    value: Annotated[float, "how much"]
    standard_error: Annotated[float | None, "of the value"]
    n: Annotated[float | None, "what the value is a mean of, how many"]
    family: Annotated[str, "agents that are variants of one have the same"]
    parameters: Annotated[str, "how it was measured"]
    sees: Annotated[str, "what the agent was shown while it was measured"]
    fingerprint: Annotated[str, "of the agent's code"]


@dataclass(frozen=True)
class LeftOutScore(Score):
    """A score that enters no correlation."""

    reason: Annotated[str, "why"]


@dataclass(frozen=True)
class Correlation:
    """Two metrics across ranked agents."""

    x: Annotated[str, "one metric; `pass_rate` is the suite's own"]
    y: Annotated[str, "the other"]
    spearman: Annotated[float | None, "rank correlation"]
    interval: Annotated[Interval | None, "of spearman, for agents or families like these"]
    p: Annotated[float | None, "two-sided"]
    p_method: Annotated[str | None, "how p was found"]
    n: Annotated[int, "agents with both metrics"]
    kendall: Annotated[float | None, "tau-b"]
    disattenuated: Annotated[float | None, "corrected for measurement error"]
    disattenuated_clipped: Annotated[bool, "whether it had to be clipped"]
    reliability_x: Annotated[float | None, "share of x's variance that is no error"]
    reliability_y: Annotated[float | None, "the same of y"]
    top_half: Annotated[float | None, "rank correlation among the better half of the agents by x"]
    without_family: Annotated[Mapping[str, float | None], "spearman, by family"]
    reason: Annotated[str | None, "why there is none"]
    order_accuracy: Annotated[float | None, "of the separated pairs, the share that y orders alike"]
    order_pairs: Annotated[int, "how many pairs these are; no interval, as pairs share agents"]
    kendall_interval: Annotated[Interval | None, "of kendall"] = None
    disattenuated_interval: Annotated[Interval | None, "of disattenuated"] = None
    interval_method: Annotated[str, "of the intervals, or why there are none"] = ""
    families: Annotated[int | None, "families; an agent of none is one of its own"] = None


@dataclass(frozen=True)
class CorrelationDifference:
    """Which of two metrics follows a third more closely."""

    gold: Annotated[str, "the third metric"]
    a: Annotated[str, "one metric"]
    b: Annotated[str, "the other"]
    difference: Annotated[float, "correlation of a with gold minus that of b"]
    interval: Annotated[Interval | None, "Zou's, or a jackknife over families"]
    n: Annotated[int, "agents with all three"]


@dataclass(frozen=True)
class StepOffset:
    """How far markers lie from the known step, where the verdict is right."""

    marks: Annotated[int, "how many there are"]
    median: Annotated[float | None, "steps, positive for late"]
    mean_absolute: Annotated[float | None, "steps"]
    within: Annotated[Mapping[int, float], "by steps, share no further off"]
    within_intervals: Annotated[
        Mapping[int, Interval] | None, "by steps, of these, an episode's marks as a cluster"
    ] = None


@dataclass(frozen=True)
class Alpha:
    """Krippendorff's alpha of success against not."""

    alpha: Annotated[float | None, "1 is full agreement, 0 what chance gives"]
    interval: Annotated[Interval | None, "by bootstrap"]
    continuations: Annotated[int, "judged by two or more annotators"]
    annotators: Annotated[int, "who judged one of these"]
    reason: Annotated[str | None, "why alpha is null"]


@dataclass(frozen=True)
class Accuracy:
    """Answers on reference episodes, whose outcome is known."""

    references: Annotated[int, "answers"]
    successes: Annotated[int, "reference episodes that are successes, answered"]
    sensitivity: Annotated[float | None, "share of these called success"]
    sensitivity_interval: Annotated[Interval | None, "Jeffreys'"]
    others: Annotated[int, "reference episodes that are no successes, answered"]
    specificity: Annotated[float | None, "share of these not called success"]
    specificity_interval: Annotated[Interval | None, "Jeffreys'"]
    balanced_accuracy: Annotated[float | None, "mean of sensitivity and specificity"]
    interval: Annotated[Interval | None, "of the balanced accuracy"]
    method: Annotated[str, "of that interval"]
    references_cannot_judge: Annotated[int, "reference episodes answered 'cannot judge'"]
    step_offset: Annotated[StepOffset, "of the markers"]


@dataclass(frozen=True)
class Annotator(Accuracy):
    """One annotator."""

    annotator: Annotated[str, "the name or pseudonym"]
    annotations: Annotated[int, "verdicts on agents' continuations"]
    cannot_judge: Annotated[int, "verdicts 'cannot judge'"]
    median_seconds: Annotated[float | None, "of active time, a judgement"]
    blocks: Annotated[tuple[Block, ...], "by twenties in the order of judging", APART] = ()


@dataclass(frozen=True)
class Together(Accuracy):
    """All annotators together."""

    alpha: Annotated[Alpha, "on agents' continuations"]
    alpha_references: Annotated[Alpha, "on reference episodes"]
    alpha_twice: Annotated[
        Alpha | None, "on the share that was judged twice by design; null if that is not given"
    ] = None


@dataclass(frozen=True)
class LabelSet:
    """What one set of labels says; sets are never mixed."""

    agents: Annotated[tuple[Standing, ...], "in the set's own order"]
    annotations: Annotated[int, "verdicts that count"]
    judged: Annotated[int, "continuations"]
    unjudgeable: Annotated[int, "continuations that all who looked at them could not judge"]
    separated_pairs: Annotated[int, "pairs of agents told apart"]
    pairs: Annotated[int, "pairs of agents compared"]


@dataclass(frozen=True)
class LabelAgreement:
    """Human judgements beside the automatic label of the same continuation."""

    continuations: Annotated[int, "with both labels"]
    judgements: Annotated[int, "human ones of these"]
    both_success: Annotated[int, "human and automatic say success"]
    human_only: Annotated[int, "only the human does"]
    automatic_only: Annotated[int, "only the automatic label does"]
    neither: Annotated[int, "neither does"]
    share: Annotated[float | None, "judgements that agree"]
    interval: Annotated[Interval | None, "of the share, scenarios as clusters"]
    kappa: Annotated[float | None, "Cohen's"]
    balanced_accuracy: Annotated[float | None, "of the automatic label"]


@dataclass(frozen=True)
class Provenance:
    """What the report was made of, and with."""

    suite_hash: Annotated[str | None, "of the frozen suite"]
    annotations_hash: Annotated[str | None, "of what people had judged"]
    notes: Annotated[tuple[str, ...], "what the sources of the scenarios ask every report to say"]
    versions: Annotated[Mapping[str, str], "of Python and the packages at work"]
    commit: Annotated[str | None, "of the checkout at work"]
    dirty: Annotated[bool | None, "whether it had been edited"]


@dataclass(frozen=True)
class Link:
    """The end of a chain, or of what has an order of its own."""

    number: Annotated[int, "how many there were"]
    digest: Annotated[str, "of the last, which covers those before it"]


@dataclass(frozen=True)
class Digests:
    """The inputs of a report; `sts workspace check --sources-of` compares a workspace with them."""

    suite: Annotated[str | None, "NAME@VERSION"]
    suite_hash: Annotated[str | None, "the content hash of the suite"]
    continuations: Annotated[Link, "of the suite's scenarios, in any order"]
    authors: Annotated[Mapping[str, Link], "everyone's last event, by pseudonym"]
    references: Annotated[Link, "the last reference episode"]
    labels: Annotated[str | None, "of the table of automatic labels"]
    scores: Annotated[str | None, "of the tables of scores"]


@dataclass(frozen=True)
class Report:
    """All that is in `report.json`."""

    schema: Annotated[str, "`sts-report/2`"]
    suite: Annotated[str, "NAME@VERSION, or the name of a table"]
    target: Annotated[str, "what intervals speak of: `sampled` scenarios, or these `fixed` ones"]
    level: Annotated[float, "of every interval"]
    seed: Annotated[int, "of every random draw; equal seeds give equal reports"]
    draws: Annotated[Draws, "how many"]
    labels: Annotated[Labels, "how many, by source"]
    labels_used: Annotated[str, "the source that the main numbers rest on"]
    counts: Annotated[Counts, "of everything"]
    unknown: Annotated[Mapping[str, str], "what is not known, by missing column"]
    rankings: Annotated[tuple[Ranking, ...], "the one of the most agents first"]
    agents: Annotated[tuple[Agent, ...], "ranked, not ranked, baselines"]
    comparisons: Annotated[tuple[Comparison, ...], "of every two agents of one ranking"]
    contrasts: Annotated[tuple[Contrast, ...], "comparisons that were planned beforehand"]
    metrics: Annotated[tuple[Score, ...], "scores that enter correlations"]
    metrics_left_out: Annotated[tuple[LeftOutScore, ...], "scores that do not"]
    metrics_of_unknown_agents: Annotated[tuple[str, ...], "agents that only the scores table knows"]
    correlations: Annotated[tuple[Correlation, ...], "of every two metrics"]
    correlation_differences: Annotated[tuple[CorrelationDifference, ...], "with `interactive`"]
    annotators: Annotated[tuple[Annotator, ...], "each on their own"]
    annotators_together: Annotated[Together, "all of them"]
    label_sets: Annotated[Mapping[str, LabelSet], "by source, side by side"]
    human_automatic: Annotated[LabelAgreement | None, "null without both"]
    scenarios: Annotated[tuple[Scenario, ...], "each with its difficulty"]
    provenance: Annotated[Provenance, "what the report was made of, and with"]
    verdict: Annotated[str, "who is first, in words"]
    warnings: Annotated[tuple[str, ...], "what the ranking hides, in words"]
    selection: Annotated[Selection | None, "the part of the suite that it is about"] = None
    tags: Annotated[tuple[Tagged, ...], "rates by tag; scenarios may have several"] = ()
    pairs: Annotated[Linked | None, "two instructions at one takeover"] = None
    series: Annotated[Linked | None, "turns of one dialogue"] = None
    against: Annotated[Against | None, "another version beside this one"] = None
    efforts: Annotated[tuple[Effort, ...], "what judging each agent took"] = ()
    unable: Annotated[tuple[Unable, ...], "scenarios that somebody could not judge"] = ()
    reviews: Annotated[Reviews | None, "what reviewers found in failures"] = None
    judges: Annotated[Judges | None, "who judged whom, and for whose judgement it holds"] = None
    alarms: Annotated[tuple[Alarm, ...], "what must be known before any number is read"] = ()
    stopping: Annotated[Stopping | None, "what rates can still become; null if all is judged"] = (
        None
    )
    questions: Annotated[Questions | None, "what users ask of a ranking"] = None
    powered: Annotated[
        Powered | None, "rates by people with a rule's help; null if people judged nothing or all"
    ] = None
    digests: Annotated[Digests | None, "of what it was made of; null of a bare table"] = None
