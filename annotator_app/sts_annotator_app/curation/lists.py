"""Filtered lists of candidates, and the progress of each part of a draft."""

from collections import Counter
from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

from sts.annotations.types import Annotator
from sts.names import MAX_NAME_CHARS
from sts.suites.decisions import UNDECIDED, find_rating
from sts_annotator_app.curation.drafts import CachedDraft
from sts_scenarios.freezing import UNTOUCHED

SECOND_RATING = "second"
"""Pseudo-status of the candidates that a person has given no second rating."""


class Filter(NamedTuple):
    """Filter of a curator's list; "" matches everything.

    `status` is compared with the candidates' status at decision `number`, so that a list is stable
    while a curator works through it; or it is SECOND_RATING.
    """

    category: str = ""
    difficulty: str = ""
    source: str = ""
    status: str = ""
    number: int = 0


def parse_filter(sent: object, opened: CachedDraft) -> Filter:
    """Return the filter that a page sent; if it is invalid, the undecided candidates."""
    if isinstance(sent, Mapping):
        texts = [sent.get(name, "") for name in Filter._fields[:-1]]
        number, latest = sent.get("number"), opened.latest_number
        number = number if type(number) is int and 0 <= number <= latest else latest
        if all(isinstance(text, str) and len(text) <= MAX_NAME_CHARS for text in texts):
            category, difficulty, source, status = texts
            return Filter(category, difficulty, source, status, number)
    has_undecided = any(c.status == UNDECIDED for c in opened.candidates.values())
    return Filter(status=UNDECIDED if has_undecided else "", number=opened.latest_number)


def list_candidates(opened: CachedDraft, choice: Filter, person: Annotator) -> list[str]:
    """Return the ids of the candidates that match a filter, in order."""
    candidates = opened.candidates
    if choice.status == SECOND_RATING:
        then = opened.states_at(choice.number)
        ids = [id for id in candidates if find_rating(then.get(id, UNTOUCHED), person.id) is None]
    else:
        statuses = _iterate_statuses(opened, choice)
        ids = [id for id, status in statuses if choice.status in ("", status)]
    if not any(choice[:3]):
        return ids
    return [
        id
        for id in ids
        if all(
            filter_value in ("", value)
            for filter_value, value in zip(
                choice, opened.get_filter_values(candidates[id]), strict=False
            )
        )
    ]


def _iterate_statuses(opened: CachedDraft, choice: Filter) -> Iterator[tuple[str, str]]:
    """Yield the id of each candidate and its status at the filter's decision number."""
    then = opened.states_at(choice.number) if choice.status else {}
    for id, candidate in opened.candidates.items():
        if (state := then.get(id)) is not None:
            yield id, candidate._replace(state=state).status
        else:
            yield id, "kept" if candidate.inherited else UNDECIDED


def count_coverage(opened: CachedDraft, blind: bool) -> list[list[Any]]:
    """Return rows [category, difficulty, source, status, count] of all candidates.

    If blind is set, the status is hidden.
    """
    candidates = list(opened.candidates.values())
    counts = Counter(
        (*opened.get_filter_values(candidate), SECOND_RATING if blind else candidate.status)
        for candidate in candidates
    )
    return [[*key, count] for key, count in sorted(counts.items())]
