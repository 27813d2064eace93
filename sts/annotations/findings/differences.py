"""Clips on which annotators and automatic labels disagree, and the reviewers' decisions."""

from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import NamedTuple

from sts.annotations.answers.current_events import CurrentEvent
from sts.annotations.answers.verdicts import Verdict
from sts.annotations.findings.judged_clips import JudgedClip
from sts.continuations import label_table
from sts.ratings import UNABLE
from sts.storage.store import KeyValueStore


class ScenarioDisagreement(NamedTuple):
    """A scenario on which annotators disagree with its automatic label."""

    scenario: str  # its identifier
    differing: int  # number of its clips on which annotators disagree with the label
    against_rule: int  # of these, the ones that a reviewer decided against the label
    for_rule: int  # of these, the ones that a reviewer decided in favour of the label
    remarks: tuple[str, ...]  # reviewers' comments on them


def load_label_verdicts(
    store: KeyValueStore, suite: str, continuations: Collection[str]
) -> dict[str, Verdict]:
    """Load the automatic labels of these continuations, as `sts label` stored them.

    It is empty if nothing of the suite is labelled.
    """
    name = label_table.table_name(suite)
    try:
        raw = store.get(name)
    except FileNotFoundError:
        return {}
    labels = label_table.read_verdicts(name, raw, continuations)
    return {
        continuation: Verdict(verdict, step)
        for continuation, (verdict, step) in labels.items()
        if verdict
    }


def differs_from_label(clip: JudgedClip, label: Verdict | None) -> bool:
    """Return True if the majority of a clip's annotators disagrees with the automatic label.

    A tie counts as a disagreement between annotators, and returns False.
    """
    if label is None or clip.success_share is None or clip.success_share == 0.5:
        return False
    return (clip.success_share > 0.5) != (label.verdict == "success")


def list_disagreements(
    clips: Iterable[JudgedClip],
    labels: Mapping[str, Verdict],
    decided: Mapping[str, CurrentEvent],
    notes: Mapping[str, Sequence[CurrentEvent]],
) -> list[ScenarioDisagreement]:
    """List the scenarios on which annotators and labels disagree, most reviewer overrulings first.

    `labels` are by continuation; the adjudications and the notes are by item.
    """
    disagreements: dict[str, ScenarioDisagreement] = {}
    for clip in clips:
        label = labels.get(clip.continuation)
        if label is None or not differs_from_label(clip, label):
            continue
        before = disagreements.get(clip.scenario, ScenarioDisagreement(clip.scenario, 0, 0, 0, ()))
        adjudication = decided.get(clip.item)
        outcome = adjudication.verdict if adjudication else None
        outcome = None if outcome == UNABLE else outcome
        agrees = outcome is not None and (outcome == "success") == (label.verdict == "success")
        events = [*([adjudication] if adjudication else []), *notes.get(clip.item, ())]
        disagreements[clip.scenario] = ScenarioDisagreement(
            clip.scenario,
            before.differing + 1,
            before.against_rule + (outcome is not None and not agrees),
            before.for_rule + agrees,
            (*before.remarks, *(remark.text for remark in events if remark.text)),
        )
    return sorted(
        disagreements.values(),
        key=lambda scenario: (-scenario.against_rule, -scenario.differing, scenario.scenario),
    )
