"""Which candidates a curator goes through, and how far each part of a draft has come."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

from sts.annotations.types import Annotator
from sts.names import LIMIT
from sts.suites.decisions import UNDECIDED, opinion_of
from sts_annotator_app.curation.drafts import OpenDraft
from sts_scenarios.freezing import UNTOUCHED

SECOND_RATING = "second"
"""In the place of a status: that about which a person has given no second opinion, blind."""


class Filter(NamedTuple):
    """What a curator has chosen to go through; "" stands for every category, and so on.

    The status is what candidates had come to at the decision `number`, so that a list stays as it
    is while one goes through it; or it is SECOND.
    """

    category: str = ""
    difficulty: str = ""
    source: str = ""
    status: str = ""
    number: int = 0


def parse_filter(sent: object, opened: OpenDraft) -> Filter:
    """Return what a page has chosen; where it says nothing of sense, all that is undecided."""
    if isinstance(sent, Mapping):
        texts = [sent.get(name, "") for name in Filter._fields[:-1]]
        number = sent.get("number")
        number = (
            number
            if type(number) is int and 0 <= number <= opened.latest_number
            else opened.latest_number
        )
        if all(isinstance(one, str) and len(one) <= LIMIT for one in texts):
            category, difficulty, source, status = texts
            return Filter(category, difficulty, source, status, number)
    waiting = any(one.status == UNDECIDED for one in opened.candidates.values())
    return Filter(status=UNDECIDED if waiting else "", number=opened.latest_number)


def list_candidates(opened: OpenDraft, choice: Filter, person: Annotator) -> list[str]:
    """Return the ids of the candidates of a person's choice, in their order."""
    every = opened.candidates
    if choice.status == SECOND_RATING:
        then = opened.states_at(choice.number)
        ids = [id for id in every if opinion_of(then.get(id, UNTOUCHED), person.id) is None]
    else:
        ids = [
            id for id, status in _iterate_statuses(opened, choice) if choice.status in ("", status)
        ]
    if not any(choice[:3]):
        return ids
    return [
        id
        for id in ids
        if all(
            own in ("", is_)
            for own, is_ in zip(choice, opened.filter_values(every[id]), strict=False)
        )
    ]


def _iterate_statuses(opened: OpenDraft, choice: Filter) -> Iterator[tuple[str, str]]:
    """Yield the ids of all candidates, and what each had come to when the choice was made."""
    then = opened.states_at(choice.number) if choice.status else {}
    for id, one in opened.candidates.items():
        if (state := then.get(id)) is not None:
            yield id, one._replace(state=state).status
        else:
            yield id, "kept" if one.inherited else UNDECIDED


def count_coverage(opened: OpenDraft, blind: bool) -> list[list[Any]]:
    """Return [category, difficulty, source, status, count] of all there are.

    Whoever gives opinions blind is told no status.
    """
    every = list(opened.candidates.values())
    counts = Counter(
        (*opened.filter_values(one), SECOND_RATING if blind else one.status) for one in every
    )
    return [[*key, count] for key, count in sorted(counts.items())]
