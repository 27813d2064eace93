"""`sts annotations quality`: accuracy, agreement and time of annotators, scenarios to fix."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from sts.cli.arguments import format_table
from sts.cli.command import Result, declare
from sts.commands.study import ANY_SUITE, PSEUDONYMS, resolve_study
from sts.names import count_noun, format_time

if TYPE_CHECKING:
    from sts.agreement import Agreement
    from sts.annotations.answers.attention import Attention
    from sts.annotations.answers.quality import Accuracy, AnnotatorQuality
    from sts.annotations.findings.active_time import ActiveTime
    from sts.annotations.findings.conditions import DifferingScenario
    from sts.annotations.findings.unjudgeable import UnjudgeableScenario
    from sts.annotations.people.exclusions import Exclusion
    from sts.annotations.study import StudySettings
    from sts.storage.workspace import Workspace


_MAX_SCENARIOS = 20
"""Scenarios of a table outside of --json."""
_MAX_REASON_CHARS = 60


@declare("quality --json")
def quality(
    workspace: Workspace, *, suite: str | None = ANY_SUITE, pseudonyms: bool = PSEUDONYMS
) -> Result:
    """Show annotators' accuracy and attention, annotation time and unjudgeable scenarios."""
    import pandas as pd

    from sts import agreement
    from sts.annotations.answers import attention
    from sts.annotations.answers import quality as qualities
    from sts.annotations.database.annotation_store import AnnotationStore
    from sts.annotations.findings import active_time as effort
    from sts.annotations.findings import conditions, unjudgeable
    from sts.annotations.people import exclusions, people
    from sts.annotations.study import DEFAULT_STUDY

    queued = resolve_study(workspace, suite)
    measured: list[AnnotatorQuality] = []
    watching: list[Attention] = []
    excluded: list[Exclusion] = []
    hours: list[ActiveTime] = []
    unable: list[UnjudgeableScenario] = []
    outcomes: list[tuple[str, str, bool]] = []
    differing: list[DifferingScenario] = []
    study = DEFAULT_STUDY
    store = AnnotationStore.find(workspace)
    if store is not None:
        study = store.study
        with store, store.read() as connection:
            measured = qualities.list_qualities(connection, study)
            watching = attention.list_attention(connection, study)
            excluded = [*exclusions.load_exclusions(connection).values()]
            if pseudonyms:
                names = people.load_pseudonyms(connection)
                measured = [m._replace(annotator=names[m.annotator]) for m in measured]
                watching = [w._replace(annotator=names[w.annotator]) for w in watching]
                excluded = [e._replace(name=e.pseudonym, by=names[e.by]) for e in excluded]
            hours = [
                entry
                for entry in effort.load_active_time(connection)
                if queued in (None, entry.suite)
            ]
            unable = unjudgeable.list_unjudgeable(connection, queued)
            outcomes = qualities.load_outcomes(connection, queued)
            differing = conditions.list_differing(connection, queued)
    judged = pd.DataFrame(outcomes, columns=["thing", "person", "yes"])
    alpha = agreement.compute_alpha(judged, seed=study.seed)
    value = {
        "suite": suite,
        "min_accuracy": study.min_accuracy,
        "annotators": [
            measurement._asdict()
            | {"right": measurement.right._asdict(), "latest": measurement.latest._asdict()}
            | {"blocks": [block._asdict() for block in measurement.blocks]}
            for measurement in measured
        ],
        "min_watched": study.min_watched,
        "attention": [person._asdict() for person in watching],
        "exclusions": [decision._asdict() for decision in excluded],
        "overlap": alpha._asdict(),
        "active_time": [entry._asdict() for entry in hours],
        "unjudgeable": [
            scenario._asdict() | {"reasons": dict(scenario.reasons)} for scenario in unable
        ],
        "differing": [scenario._asdict() for scenario in differing],
    }
    # A clip of several agents counts for each in equal parts, which a tenth is enough to show.
    rows = [(*entry[:3], f"{entry.judgements:.1f}", f"{entry.untimed:.1f}") for entry in hours]
    times = format_table(("suite", "agent", "hours", "judgements", "untimed"), rows) if rows else ""
    parts = (
        _accuracy_table(measured, study),
        _attention_table(watching, study),
        "\n".join(
            f"{one.name} is excluded since {format_time(one.decided)} UTC by {one.by}: "
            f"{one.reason} ({count_noun(one.judgements, 'judgement')})"
            for one in excluded
        ),
        *(_agreement_line(alpha), times),
    )
    tables = _unjudgeable_table(unable), _differing_table(differing)
    return Result(value, "\n\n".join(filter(None, (*parts, *tables))))


def _accuracy_table(people: list[AnnotatorQuality], study: StudySettings) -> str:
    if not people:
        return "no reference has been judged yet: add some with sts references add"
    rows = [
        (
            person.annotator,
            person.right.answered,
            _format_share(person.right),
            _format_share(person.latest),
            " ".join("-" if b.share is None else f"{b.share:.2f}" for b in person.blocks),
            f"below {study.min_accuracy:.0%}" if person.flagged else "",
        )
        for person in people
    ]
    head = ("annotator", "references", "right", "of the latest", "by twenties, in order", "")
    return format_table(head, rows)


def _attention_table(people: list[Attention], study: StudySettings) -> str:
    rows = [
        (
            person.annotator,
            person.measured,
            f"{person.watched:.2f}",
            f"below {study.min_watched:.2f}" if person.flagged else "",
        )
        for person in people
    ]
    return format_table(("annotator", "latest", "watched", ""), rows) if rows else ""


def _format_share(right: Accuracy) -> str:
    if right.share is None or right.interval is None:
        return "-"
    return f"{right.share:.2f} [{right.interval[0]:.2f}, {right.interval[1]:.2f}]"


def _agreement_line(overlap: Agreement) -> str:
    lead = "Agreement on clips with two annotators or more who saw the same texts "
    lead += f"({overlap.shared} so far): "
    if overlap.alpha is None or overlap.interval is None:
        return f"{lead}unknown, {overlap.reason}"
    low, high = overlap.interval
    return f"{lead}alpha {overlap.alpha:.2f} [{low:.2f}, {high:.2f}]"


def _unjudgeable_table(unable: list[UnjudgeableScenario]) -> str:
    rows = [
        (
            scenario.scenario,
            scenario.category,
            f"{scenario.clips} of {scenario.judged}",
            "; ".join(f"{_truncate(words)} ({n})" for words, n in scenario.reasons[:3]),
        )
        for scenario in unable[:_MAX_SCENARIOS]
    ]
    if not rows:
        return ""
    table = format_table(("scenario", "category", "could not be judged", "why"), rows)
    return table + _count_more(unable)


def _differing_table(differing: list[DifferingScenario]) -> str:
    rows = [
        (
            scenario.scenario,
            scenario.category,
            "{} of {}".format(*scenario.shown),
            "{} of {}".format(*scenario.alone),
            f"{scenario.differing} of {scenario.clips}",
        )
        for scenario in differing[:_MAX_SCENARIOS]
    ]
    if not rows:
        return ""
    head = ("scenario", "category", "success by criterion", "by instruction alone", "clips differ")
    return format_table(head, rows) + _count_more(differing)


def _count_more(scenarios: Sequence[object]) -> str:
    more = len(scenarios) - _MAX_SCENARIOS
    return f"\nand {more} scenarios more; --json has them all" if more > 0 else ""


def _truncate(text: str) -> str:
    return text if len(text) <= _MAX_REASON_CHARS else f"{text[:_MAX_REASON_CHARS]}..."
