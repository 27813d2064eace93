"""Which candidates a curator goes through, and how far each part of a draft has come."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

from sts.annotations.types import Annotator
from sts.names import LIMIT
from sts.suites.decisions import UNDECIDED, opinion_of
from sts_annotator_app.curation.drafts import Opened
from sts_scenarios.freezing import UNTOUCHED

SECOND = "second"
"""In the place of a status: that about which a person has given no second opinion, blind."""


class Choice(NamedTuple):
    """What a curator has chosen to go through; "" stands for every category, and so on.

    The status is what candidates had come to at the decision `number`, so that a list stays as it
    is while one goes through it; or it is SECOND.
    """

    category: str = ""
    difficulty: str = ""
    source: str = ""
    status: str = ""
    number: int = 0


def chosen(sent: object, opened: Opened) -> Choice:
    """Return what a page has chosen; where it says nothing of sense, all that is undecided."""
    if isinstance(sent, Mapping):
        texts = [sent.get(name, "") for name in Choice._fields[:-1]]
        number = sent.get("number")
        number = number if type(number) is int and 0 <= number <= opened.head else opened.head
        if all(isinstance(one, str) and len(one) <= LIMIT for one in texts):
            category, difficulty, source, status = texts
            return Choice(category, difficulty, source, status, number)
    waiting = any(one.status == UNDECIDED for one in opened.every.values())
    return Choice(status=UNDECIDED if waiting else "", number=opened.head)


def listed(opened: Opened, choice: Choice, person: Annotator) -> list[str]:
    """Return the ids of the candidates of a person's choice, in their order."""
    every = opened.every
    if choice.status == SECOND:
        then = opened.states_at(choice.number)
        ids = [id for id in every if opinion_of(then.get(id, UNTOUCHED), person.id) is None]
    else:
        ids = [id for id, status in _statuses(opened, choice) if choice.status in ("", status)]
    if not any(choice[:3]):
        return ids
    return [
        id
        for id in ids
        if all(own in ("", is_) for own, is_ in zip(choice, opened.facts(every[id]), strict=False))
    ]


def _statuses(opened: Opened, choice: Choice) -> Iterator[tuple[str, str]]:
    """Yield the ids of all candidates, and what each had come to when the choice was made."""
    then = opened.states_at(choice.number) if choice.status else {}
    for id, one in opened.every.items():
        if (state := then.get(id)) is not None:
            yield id, one._replace(state=state).status
        else:
            yield id, "kept" if one.inherited else UNDECIDED


def coverage(opened: Opened, blind: bool) -> list[list[Any]]:
    """Return [category, difficulty, source, status, count] of all there are.

    Whoever gives opinions blind is told no status.
    """
    every = list(opened.every.values())
    counts = Counter((*opened.facts(one), SECOND if blind else one.status) for one in every)
    return [[*key, count] for key, count in sorted(counts.items())]
