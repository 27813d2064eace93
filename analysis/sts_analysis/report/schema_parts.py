"""What a report holds of parts of a suite: categories, tags, selections, pairs, other versions.

`sts_analysis.report.schema` has the whole, and says what holds of every key.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated

Interval = tuple[float, float]
"""Low and high end, nominal 95%."""


@dataclass(frozen=True)
class Group:
    """An agent's pass rate over the scenarios of one category or kind."""

    pass_rate: Annotated[float | None, "over the scenarios judged"]
    interval: Annotated[Interval | None, "under the report's target"]
    intervals: Annotated[Mapping[str, Interval | None], "by target"]
    method: Annotated[str, "how the interval was made, or why there is none"]
    scenarios: Annotated[int, "judged ones"]
    judged: Annotated[int, "continuations"]


@dataclass(frozen=True)
class Selection:
    """The part of a suite that a report is about; it is no version of its own."""

    suite: Annotated[str, "NAME@VERSION"]
    meaning: Annotated[str, "what selects it, such as `+tag:wrap`"]
    scenarios: Annotated[int, "of the part"]
    of: Annotated[int, "scenarios of the suite"]
    joined: Annotated[
        tuple[str, ...], "not selected themselves, but the rest of a pair or dialogue"
    ]


@dataclass(frozen=True)
class Tagged(Group):
    """An agent's pass rate over the scenarios that have a tag."""

    agent: Annotated[str, "its name"]
    tag: Annotated[str, "of the suite, or given in the workspace"]


@dataclass(frozen=True)
class Credit:
    """How often an agent does all of what belongs together."""

    agent: Annotated[str, "its name"]
    credit: Annotated[float | None, "mean over groups of the product of its scenarios' rates"]
    interval: Annotated[Interval | None, "under the report's target, a group as the unit"]
    intervals: Annotated[Mapping[str, Interval | None], "by target"]
    method: Annotated[str, "how the interval was made, or why there is none"]
    groups: Annotated[int, "whose scenarios are all judged"]


@dataclass(frozen=True)
class Linked:
    """Scenarios that belong together, with credit only for doing all.

    Each of them is an ordinary scenario everywhere else; this stands beside it, and counts nothing
    twice.
    """

    scenarios: Annotated[Mapping[str, tuple[str, ...]], "of each group, by its name"]
    agents: Annotated[tuple[Credit, ...], "in the order of the report"]
    credits: Annotated[Mapping[str, Mapping[str, float | None]], "by group and agent"]


@dataclass(frozen=True)
class Share:
    """An agent's pass rate over some scenarios of two versions."""

    pass_rate: Annotated[float | None, "over the scenarios judged"]
    interval: Annotated[Interval | None, "under the report's target"]
    scenarios: Annotated[int, "judged ones"]


@dataclass(frozen=True)
class Change:
    """What the change of version did to one agent's pass rate."""

    agent: Annotated[str, "its name"]
    old: Annotated[Share, "over the other version"]
    kept: Annotated[Share, "over what both versions hold"]
    added: Annotated[Share, "over what only this one holds"]
    retired: Annotated[Share, "over what only the other one holds"]
    new: Annotated[Share, "over this version"]
    difference: Annotated[float | None, "rate over this version minus rate over the other"]
    interval: Annotated[Interval | None, "of the difference, what both hold measured once"]
    method: Annotated[str, "how the interval was made, or why there is none"]


@dataclass(frozen=True)
class Against:
    """This version of a suite beside another one.

    What both hold has one value, the one of this report.
    """

    suite: Annotated[str, "NAME@VERSION of the other"]
    suite_hash: Annotated[str | None, "of the other"]
    kept: Annotated[tuple[str, ...], "scenarios of the same content, by their ids here"]
    added: Annotated[tuple[str, ...], "scenarios of this one alone"]
    retired: Annotated[tuple[str, ...], "scenarios of the other alone"]
    agents: Annotated[tuple[Change, ...], "in the order of the report"]
    first: Annotated[tuple[str, ...], "who can be first here, of the agents judged on both"]
    first_before: Annotated[tuple[str, ...], "who of them can be first in the other"]


@dataclass(frozen=True)
class Effort:
    """What judging an agent took; a clip of several agents counts for each in equal parts."""

    agent: Annotated[str, "its name"]
    hours: Annotated[float | None, "of active time; null if not known"]
    judgements: Annotated[float, "in these"]
    untimed: Annotated[float, "judgements whose time is not known"]


@dataclass(frozen=True)
class Unable:
    """A scenario that somebody could not judge, for who curates it."""

    scenario: Annotated[str, "its id"]
    category: Annotated[str | None, "of the scenario"]
    clips: Annotated[int, "of it that somebody could not judge"]
    judged: Annotated[int, "clips of it that were looked at"]
    reasons: Annotated[Mapping[str, int], "how many gave each, the most frequent first"]


@dataclass(frozen=True)
class Error:
    """A kind of error, in how many reviewed failures it was found."""

    error: Annotated[str, "its name"]
    source: Annotated[
        str, "who made it: `player`, `annotator`, or `none` where the verdict is fair"
    ]
    people: Annotated[int, "failures of people, of the sample"]
    agents: Annotated[int, "failures of agents, of the sample"]
    meaning: Annotated[str, "of it, in words"]


@dataclass(frozen=True)
class Sampled:
    """What reviewers looked at of one kind of players."""

    failures: Annotated[int, "clips annotated as failures"]
    sample: Annotated[int, "of these, drawn at random to be reviewed"]
    reviewed: Annotated[int, "of the sample, reviewed"]
    outside: Annotated[int, "reviewed beside the sample, and not counted"]


@dataclass(frozen=True)
class Reviews:
    """What reviewers found in failures (Abramson et al. 2022, Table 1)."""

    errors: Annotated[tuple[Error, ...], "every kind, found or not"]
    over: Annotated[Mapping[str, Sampled], "what they are counted over, of `people` and `agents`"]
