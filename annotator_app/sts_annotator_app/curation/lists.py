"""Filtered lists of candidates, and the progress of each part of a draft."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

from sts.annotations.records import Annotator
from sts.names import MAX_NAME_CHARS
from sts.suites.decisions import UNDECIDED, find_rating
from sts_annotator_app.curation.drafts import CachedDraft
from sts_scenarios.draft.freezing import UNTOUCHED, DraftCandidate

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
        number, latest = sent.get("number"), len(opened.decisions)
        number = number if type(number) is int and 0 <= number <= latest else latest
        if all(isinstance(text, str) and len(text) <= MAX_NAME_CHARS for text in texts):
            category, difficulty, source, status = texts
            return Filter(category, difficulty, source, status, number)
    has_undecided = any(c.status == UNDECIDED for c in opened.candidates.values())
    return Filter(status=UNDECIDED if has_undecided else "", number=len(opened.decisions))


def list_candidates(opened: CachedDraft, choice: Filter, person: Annotator) -> list[str]:
    """Return the ids of the candidates that match a filter, in order."""
    ids = [*opened.candidates]
    if choice.status:
        then = opened.states_at(choice.number)
        if choice.status == SECOND_RATING:
            ids = [id for id in ids if find_rating(then.get(id, UNTOUCHED), person.id) is None]
        else:
            earlier = (
                DraftCandidate(c.summary, then.get(id, UNTOUCHED), c.inherited)
                for id, c in opened.candidates.items()
            )
            ids = [c.summary.id for c in earlier if c.status == choice.status]
    if any(choice[:3]):
        wanted = [(n, value) for n, value in enumerate(choice[:3]) if value]
        values = {id: opened.get_filter_values(opened.candidates[id]) for id in ids}
        ids = [id for id in ids if all(values[id][n] == value for n, value in wanted)]
    return ids


def find_first(opened: CachedDraft, ids: Sequence[str]) -> str | None:
    """Return the first undecided candidate of a list, else the first; None for an empty list."""
    undecided = (id for id in ids if opened.candidates[id].status == UNDECIDED)
    return next(undecided, next(iter(ids), None))


def count_undecided(opened: CachedDraft, ids: Iterable[str] | None = None) -> int:
    """Return how many candidates of a list, by default of the draft, are undecided."""
    listed = opened.candidates if ids is None else ids
    return sum(opened.candidates[id].status == UNDECIDED for id in listed)


def count_coverage(opened: CachedDraft, blind: bool) -> list[list[Any]]:
    """Return rows [category, difficulty, source, status, count] of all candidates.

    If blind is set, the status is hidden.
    """
    counts = Counter(
        (*opened.get_filter_values(candidate), SECOND_RATING if blind else candidate.status)
        for candidate in opened.candidates.values()
    )
    return [[*key, count] for key, count in sorted(counts.items())]
