"""The meaning that readers find in texts: every wording of a category, and rewordings of it."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sts_lambda_star.agents.readers.grammar import ACTS, FAR, Intent, parse_intent
from sts_lambda_star.agents.readers.vocabulary import QUALIFIERS
from sts_lambda_star.state import MOVES
from sts_scenarios.rules import categories

FIELDS = {"steps": "3", "cells": "4", "direction": "up and to the left", "mate": "your team-mate"}
CATEGORIES = {one.name: one for one in categories.load_categories("lambda-star")}

# The intent of a category and rewordings that no category has.
SAYINGS: dict[str, tuple[Intent, tuple[str, ...]]] = {
    "evade-evil": (
        Intent("keep", "evil", 2, FAR),
        ("evade evil", "Never be next to Evil!", "do not go near evil"),
    ),
    "shadow-evil": (
        Intent("keep", "evil", 0, 1),
        ("shadow evil", "Track Evil for four steps.", "Stick to Evil, please."),
    ),
    "keep-beside": (
        Intent("keep", "good", 1, 2),
        (
            "stay at most 2 cells away from good, not on it",
            "Don't ever be on Good, and stay within 2 cells of it.",
        ),
    ),
    "clean-take": (
        Intent("keep", "good", 0, 0, "evil"),
        ("reach good while avoiding evil", "Get on Good, but stay away from Evil."),
    ),
    "hold-until-evil": (
        Intent("hold", "evil", 2, FAR),
        (
            "don't move until evil comes, then get away",
            "Stand still until Evil is beside you, then leave it.",
        ),
    ),
    "return-to-first": (Intent("keep", "first", 0, 0), ("walk back to where good was at first",)),
    "find-good-again": (Intent("keep", "good", 0, 1), ("find good", "Search for Good!")),
    "next-move": (Intent("next", "good"), ("where does good go next",)),
    "last-move": (Intent("last", "good"), ("which way did good move last",)),
    "evil-from-good": (
        Intent("where", "evil", anchor="good"),
        ("where is evil relative to good?",),
    ),
    "when-evil": (Intent("when", "evil"), ("when did you last see evil?",)),
    "where-was-evil": (Intent("was", "evil"), ("where was evil last seen",)),
    "count-others": (Intent("count", "people"), ("how many people do you see",)),
    "follow-mate": (
        Intent("keep", "people", 0, 1),
        ("follow your partner", "Follow participant C for 5 steps."),
    ),
    "catch-mate": (
        Intent("keep", "people", 0, 0),
        (
            "get onto your partner, who does not stay next to you",
            "Catch participant C, who runs away from you: be on the same cell.",
        ),
    ),
    "good-apart": (
        Intent("keep", "good", 0, 2, alone=True),
        ("keep within 2 cells of good and let nobody share your cell",),
    ),
    "ambush": (Intent("ambush", "good", number=3), ("Wait 3 steps for Good to step onto you.",)),
    "reach-good": (
        Intent("keep", "good", 0, 0),
        ("catch good", "Please go and stand on Good's cell."),
    ),
    "follow-good": (
        Intent("keep", "good", 0, 1),
        ("chase good", "Keep close to Good for four steps."),
    ),
    "avoid-evil": (
        Intent("keep", "evil", 2, FAR),
        ("avoid evil", "Get away from Evil!", "Stay 2 cells away from Evil."),
    ),
    "walk": (
        Intent("walk", number=4, move=MOVES.index("up-left")),
        ("go up-left 4", "Walk four cells to the left and up."),
    ),
    "stand-still": (
        Intent("stand"),
        ("freeze", "DON'T MOVE!!", "Remain where you are.", "Do not move, whatever Good does."),
    ),
    "join-mate": (
        Intent("keep", "people", 0, 0),
        ("go and stand with your mate", "Join your partner."),
    ),
    "where-is-good": (Intent("where", "good"), ("where's good?", "which direction is good in")),
    "evil-in-sight": (Intent("seen", "evil"), ("can you see evil?", "Is Evil near you?")),
}
PAIRS = {
    "evade-or-shadow": {
        "be on it or next to it for 4 steps in a row": Intent("keep", "evil", 0, 1),
        "never be on it or next to it until the end": Intent("keep", "evil", 2, FAR),
    },
    "beside-or-leave": {
        "never be on its cell and never more than two cells away from it until the end": Intent(
            "keep", "good", 1, 2
        ),
        "get at least four cells away from it": Intent("keep", "good", 4, FAR),
    },
}


def templates(name: str, deed: str = "") -> list[str]:
    """Return the filled wordings of a category, those of earlier suites included."""
    category = CATEGORIES[name]
    texts = (*category.templates, *category.earlier_templates)
    return [text.format(**FIELDS, deed=deed) for text in texts]


MEANT = [
    *((text, intent) for intent, texts in SAYINGS.values() for text in texts),
    *((text, SAYINGS[n][0]) for n in SAYINGS if n in CATEGORIES for text in templates(n)),
    *(
        (text, intent)
        for name, deeds in PAIRS.items()
        for deed, intent in deeds.items()
        for text in templates(name, deed)
    ),
]


def is_same_intent(one: Intent, other: Intent) -> bool:
    """Return True if two are one intent; how many steps to go on for, a reader need not know."""
    if one.act in ("walk", "ambush"):
        return one == other
    return {**vars(one), "number": 0} == {**vars(other), "number": 0}


@pytest.mark.parametrize(("text", "intent"), MEANT)
def test_text_means_what_its_words_say(text, intent):
    assert is_same_intent(parse_intent(text), intent)
    assert is_same_intent(parse_intent(f"  {text.upper()} "), intent)


def test_every_category_has_its_sayings_and_its_wordings_mean_one_thing():
    assert CATEGORIES.keys() <= {*SAYINGS, *PAIRS}
    for name in CATEGORIES.keys() & SAYINGS.keys():
        assert len({parse_intent(text) for text in templates(name)}) == 1


@pytest.mark.parametrize(
    "text", ["Sing a song.", "Do good.", "Walk.", "Goodness, an evildoer!", "?", "...", "Ψ"]
)
def test_text_without_a_task_is_unknown(text):
    assert parse_intent(text) == Intent("unknown")


WORDS = sorted({word.strip(".,:;!?").lower() for text, _ in MEANT for word in text.split()})


@given(st.lists(st.sampled_from([*WORDS, ".", ",", "?", "9" * 30]), max_size=12), st.booleans())
def test_any_words_in_any_order_mean_something_or_are_unknown(words, is_half):
    intent = parse_intent(" ".join(words), QUALIFIERS if is_half else frozenset())
    assert intent.act in ACTS and 0 <= intent.low <= intent.high <= FAR


def test_large_numbers_order_and_small_words_do_not_matter():
    assert parse_intent(f"Keep at least {10**40} cells away from Evil.").low < FAR
    assert is_same_intent(
        parse_intent(
            "Evil: for as long as you can, keep yourself at least two cells away from it."
        ),
        parse_intent("keep at least 2 cells away from evil"),
    )


@pytest.mark.parametrize(
    ("names", "understood"),
    [
        (
            "keep-beside clean-take return-to-first hold-until-evil next-move last-move when-evil "
            "where-was-evil evil-from-good",
            [False] * 3,
        ),
        ("shadow-evil find-good-again count-others follow-mate where-is-good", [True] * 3),
        ("evade-evil", [True, False, False]),  # a verb that says no by itself needs no other word
    ],
)
def test_half_of_the_words_suffice_only_where_no_text_needs_the_others(names, understood):
    for name in names.split():
        intent, _ = SAYINGS[name]
        found = [is_same_intent(parse_intent(text, QUALIFIERS), intent) for text in templates(name)]
        assert found[:3] == understood, name
        assert {*found[3:]} <= {*understood}, name
