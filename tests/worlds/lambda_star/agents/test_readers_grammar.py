"""What texts mean to the readers: every wording of a category one thing, and its rewordings too."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sts.worlds.lambda_star.agents.readers.grammar import ACTS, FAR, Intent, parse
from sts.worlds.lambda_star.state import MOVES
from sts_scenarios import categories

UP_LEFT = MOVES.index("up-left")
MATES = ("your team-mate", "participant C")
FIELDS = {"steps": "3", "cells": "4", "direction": "up and to the left"}

# A category's intent, its wordings (those of the existing ones are read where they stand), and ways
# to say it that stand nowhere.
SAYINGS: dict[str, tuple[Intent, tuple[str, ...]]] = {
    "evade-evil": (
        Intent("keep", "evil", 2, FAR),
        (
            "Evade Evil until the end: never let it be on your cell or next to you.",
            "Until the end, keep Evil off your cell and off the eight cells around it.",
            "Do not let Evil come next to you or onto your cell before the end.",
            "evade evil",
            "Never be next to Evil!",
            "do not go near evil",
        ),
    ),
    "shadow-evil": (
        Intent("keep", "evil", 0, 1),
        (
            "Shadow Evil: be on it or next to it for 4 steps in a row.",
            "Stay close to Evil, on it or next to it, for 4 steps in a row.",
            "For 4 steps in a row, keep next to Evil or on it.",
            "shadow evil",
            "Track Evil for four steps.",
            "Stick to Evil, please.",
        ),
    ),
    "keep-beside": (
        Intent("keep", "good", 1, 2),
        (
            "Keep beside Good until the end: never on its cell, and never more than two cells away "
            "from it.",
            "Until the end, stay within two cells of Good, but never be on its cell.",
            "Accompany Good to the end, one or two cells away from it and never on the same cell.",
            "stay at most 2 cells away from good, not on it",
            "Don't ever be on Good, and stay within 2 cells of it.",
        ),
    ),
    "clean-take": (
        Intent("keep", "good", 0, 0, "evil"),
        (
            "Get onto Good's cell without ever being on Evil or next to it.",
            "Reach Good's cell, and on the way never be next to Evil or on it.",
            "Stand on Good, and until then never be on Evil or next to it.",
            "reach good while avoiding evil",
            "Get on Good, but stay away from Evil.",
        ),
    ),
    "hold-until-evil": (
        Intent("hold", "evil", 2, FAR),
        (
            "Do not move until Evil is next to you or on your cell; then be at least two cells "
            "away from it within 4 steps.",
            "Wait without a move until Evil comes next to you or onto your cell. Then get at least "
            "two cells away from it within 4 steps.",
            "Hold still. When Evil is next to you or on your cell, and not before, get at least "
            "two cells away from it within 4 steps.",
            "don't move until evil comes, then get away",
            "Stand still until Evil is beside you, then leave it.",
        ),
    ),
    "return-to-first": (
        Intent("keep", "first", 0, 0),
        (
            "Go to the cell on which Good was when you first saw it.",
            "Return to the cell where Good stood when you first saw it.",
            "Stand on the cell where Good was the first time that you saw it.",
            "walk back to where good was at first",
        ),
    ),
    "find-good-again": (
        Intent("keep", "good", 0, 1),
        (
            "Find Good again: be on it or next to it.",
            "You have lost sight of Good. Get next to it again, or onto it.",
            "Look for Good until you are on it or next to it again.",
            "find good",
            "Search for Good!",
        ),
    ),
    "next-move": (
        Intent("next", "good"),
        (
            "Good repeats its moves. In which direction will it move next? Say stay if it will not "
            "move.",
            "Which move will Good make next? Answer with a direction, or stay.",
            "Where will Good go with its next move? Say a direction, or stay if it will remain.",
            "where does good go next",
        ),
    ),
    "last-move": (
        Intent("last", "good"),
        (
            "In which direction did Good just move? Say stay if it did not move.",
            "What was Good's last move? Answer with a direction, or stay.",
            "Which way did Good go with its last move? If it did not move, say stay.",
            "which way did good move last",
        ),
    ),
    "evil-from-good": (
        Intent("where", "evil", anchor="good"),
        (
            "In which direction is Evil, seen from Good?",
            "Seen from Good's cell, which way is Evil? Answer with a direction.",
            "Say in which direction Evil lies from Good.",
            "where is evil relative to good?",
        ),
    ),
    "when-evil": (
        Intent("when", "evil"),
        (
            "How many steps ago did you last see Evil? Say a number from 0 to 8, or more.",
            "How many steps is it since Evil was last on your cell or next to you? Answer 0 to 8, "
            "or more.",
            "How long ago, in steps, was Evil last in sight? Say 0 to 8, or more.",
            "when did you last see evil?",
        ),
    ),
    "where-was-evil": (
        Intent("was", "evil"),
        (
            "In which direction from you is the cell where Evil was when you last saw it? Say stay "
            "if you are on that cell.",
            "Where did you last see Evil? Answer with the direction of that cell from you, or stay "
            "if you are on it.",
            "Which way is the cell on which Evil was last in your sight? If you stand on it, say "
            "stay.",
            "where was evil last seen",
        ),
    ),
    "count-others": (
        Intent("count", "people"),
        (
            "How many other participants are on your cell or next to you right now? Say a number "
            "from 0 to 8.",
            "How many other participants do you see right now? Answer with a number from 0 to 8.",
            "Count the other participants in sight, on your cell or next to you, and say the "
            "number.",
            "how many people do you see",
        ),
    ),
    "follow-mate": (
        Intent("keep", "people", 0, 1),
        (
            "Follow participant C: be on the same cell or next to it for 5 steps in a row.",
            "Stay close to your team-mate, on the same cell or next to it, for 5 steps in a row.",
            "For 5 steps in a row, keep next to participant C or on the same cell.",
            "follow your partner",
        ),
    ),
    "catch-mate": (
        Intent("keep", "people", 0, 0),
        (
            "Catch participant C, who runs away from you: be on the same cell.",
            "Chase your team-mate until you are both on one cell.",
            "Try to get onto the cell of participant C, who steps away when you come near.",
            "get onto your partner, who does not stay next to you",
        ),
    ),
    "good-apart": (
        Intent("keep", "good", 0, 2, alone=True),
        (
            "For 6 steps in a row, be within two cells of Good and on a cell that no other "
            "participant is on.",
            "Keep within two cells of Good and share your cell with no other participant, for 6 "
            "steps in a row.",
            "Be at most two cells away from Good, and alone on your cell among the participants, "
            "for 6 steps in a row.",
            "keep within 2 cells of good and let nobody share your cell",
        ),
    ),
    "ambush": (
        Intent("ambush", "good", number=3),
        (
            "Ambush Good: stand still for at least 3 steps, and let it come onto your cell while "
            "you stand there.",
            "Let Good come to you: it is to step onto your cell when you have stood still there "
            "for at least 3 steps.",
            "Lie in wait for Good: have stood still for at least 3 steps when it comes onto your "
            "cell, and never step onto it yourself.",
            "Wait 3 steps for Good to step onto you.",
        ),
    ),
    "evade-or-shadow, shadow": (
        Intent("keep", "evil", 0, 1),
        (
            "Here is what to do about Evil: be on it or next to it for 4 steps in a row.",
            "Evil is at hand: be on it or next to it for 4 steps in a row.",
            "This is about Evil: be on it or next to it for 4 steps in a row.",
        ),
    ),
    "evade-or-shadow, evade": (
        Intent("keep", "evil", 2, FAR),
        (
            "Here is what to do about Evil: never be on it or next to it until the end.",
            "Evil is at hand: never be on it or next to it until the end.",
            "This is about Evil: never be on it or next to it until the end.",
        ),
    ),
    "beside-or-leave, beside": (
        Intent("keep", "good", 1, 2),
        (
            "Here is what to do about Good: never be on its cell and never more than two cells "
            "away from it until the end.",
            "Good is next to you: never be on its cell and never more than two cells away from it "
            "until the end.",
            "This is about Good: never be on its cell and never more than two cells "
            "away from it until the end.",
        ),
    ),
    "beside-or-leave, leave": (
        Intent("keep", "good", 4, FAR),
        (
            "Here is what to do about Good: get at least four cells away from it.",
            "Good is next to you: get at least four cells away from it.",
            "This is about Good: get at least four cells away from it.",
        ),
    ),
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
        Intent("walk", number=4, move=UP_LEFT),
        ("go up-left 4", "Walk four cells to the left and up."),
    ),
    "stand-still": (
        Intent("stand"),
        ("freeze", "DON'T MOVE!!", "Remain where you are.", "Do not move, whatever Good does."),
    ),
    "join-teammate": (
        Intent("keep", "people", 0, 0),
        ("go and stand with your mate", "Join your partner."),
    ),
    "where-is-good": (
        Intent("where", "good"),
        ("where's good?", "which direction is good in"),
    ),
    "evil-in-sight": (
        Intent("seen", "evil"),
        ("can you see evil?", "Is Evil near you?"),
    ),
}
MEANT = [(text, intent) for intent, texts in SAYINGS.values() for text in texts]


def alike(one: Intent, other: Intent) -> bool:
    """Return whether two are one intent; how many steps to go on for, a reader need not know."""
    if one.act in ("walk", "ambush"):
        return one == other
    return {**vars(one), "number": 0} == {**vars(other), "number": 0}


@pytest.mark.parametrize(("text", "intent"), MEANT)
def test_a_text_means_what_its_words_say(text, intent):
    assert alike(parse(text), intent)
    assert alike(parse(f"  {text.upper()} "), intent)


PLAIN = [c for c in categories.of("lambda-star") if c.name in SAYINGS]


@pytest.mark.parametrize("category", PLAIN, ids=lambda c: c.name)
def test_all_wordings_of_a_category_mean_one_thing(category):
    texts = [wording.format(**FIELDS, mate=mate) for wording in category.wordings for mate in MATES]
    assert len({parse(text) for text in texts}) == 1
    assert alike(parse(texts[0]), SAYINGS[category.name][0])


def test_every_category_has_its_sayings():
    names = {name.split(",")[0] for name in SAYINGS}
    assert {category.name for category in categories.of("lambda-star")} <= names


@pytest.mark.parametrize(
    "text", ["Sing a song.", "Do good.", "Walk.", "Goodness, an evildoer!", "?", "...", "Ψ"]
)
def test_a_text_without_a_task_is_unknown(text):
    assert parse(text) == Intent("unknown")


WORDS = sorted({word.strip(".,:;!?").lower() for text, _ in MEANT for word in text.split()})


@given(st.lists(st.sampled_from([*WORDS, ".", ",", "?", "9" * 30]), max_size=12), st.booleans())
def test_any_words_in_any_order_mean_something_or_are_unknown(words, qualified):
    intent = parse(" ".join(words), qualified)
    assert intent.act in ACTS and 0 <= intent.low <= intent.high <= FAR


def test_a_number_beyond_any_grid_is_any_large_one():
    assert parse(f"Keep at least {10**40} cells away from Evil.").low < FAR


def test_the_order_and_the_small_words_do_not_matter():
    assert alike(
        parse("Evil: for as long as you can, keep yourself at least two cells away from it."),
        parse("keep at least 2 cells away from evil"),
    )


def understood_by_half(name: str) -> list[bool]:
    """Return for each wording whether it means the same without the qualifying words."""
    intent, texts = SAYINGS[name]
    return [alike(parse(text, False), intent) for text in texts[:3]]


@pytest.mark.parametrize(
    "name",
    [
        *("keep-beside", "clean-take", "return-to-first", "hold-until-evil", "next-move"),
        *("last-move", "when-evil", "where-was-evil", "evil-from-good"),
    ],
)
def test_without_half_of_the_words_a_text_that_needs_them_means_something_else(name):
    assert not any(understood_by_half(name))


@pytest.mark.parametrize(
    "name", ["shadow-evil", "find-good-again", "count-others", "follow-mate", "where-is-good"]
)
def test_without_half_of_the_words_a_text_without_them_means_the_same(name):
    assert all(understood_by_half(name))


def test_a_verb_that_says_no_by_itself_needs_no_other_word():
    assert understood_by_half("evade-evil") == [True, False, False]
