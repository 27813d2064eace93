"""Parser from words to an intent: an act, its thing, distances, durations and conditions.

A text is parsed clause by clause. A goal is a band of distances to a thing; a negation applies to
the rest of its clause. No text is matched as a whole.
"""

import functools
from dataclasses import dataclass
from typing import Literal, get_args

from sts_lambda_star.agents.readers.vocabulary import (
    Concept,
    find_direction,
    parse_concepts,
)
from sts_lambda_star.torus import STAY

Instruction = Literal["nothing", "unknown", "walk", "stand", "keep", "hold", "ambush"]
Question = Literal["where", "was", "seen", "when", "count", "next", "last"]
Act = Instruction | Question
Thing = Literal["nothing", "good", "evil", "people", "first"]
QUESTIONS: tuple[Question, ...] = get_args(Question)
ACTS: tuple[Act, ...] = (*get_args(Instruction), *QUESTIONS)
THINGS: tuple[Thing, ...] = get_args(Thing)
FAR = 1000


@dataclass(frozen=True)
class Intent:
    """Meaning of a text."""

    # "keep" is to come and stay within the band of distances; "hold" to do so only after the thing
    # has come near; "ambush" to stand where it will come; the last seven are questions
    act: Act
    # the object of the act; "first" is the cell on which Good was first seen
    thing: Thing = "nothing"
    low: int = 0  # the smallest allowed distance to it, in cells
    high: int = FAR  # the largest allowed distance; `FAR` for any
    avoided: Thing = "nothing"  # a second thing that may never be within one cell
    alone: bool = False  # whether the role must not share its cell
    number: int = 0  # the cells to walk, or the steps to act for; 0 if the text has no number
    move: int = STAY  # the direction to walk; "stay" if the text has none
    # the origin of a direction that is asked for; "nothing" for the role's own cell
    anchor: Thing = "nothing"


@functools.lru_cache(maxsize=4096)
def parse_intent(text: str, ignored: frozenset[str] = frozenset()) -> Intent:
    """Parse a text into an intent, without the concepts that are `ignored`."""
    if not text.strip():
        return Intent("nothing")
    words = [word for word in parse_concepts(text) if word.concept not in ignored]
    concept_set = {word.concept for word in words}
    starts_with_question = words[:1] and words[0].concept in ("where", "how-many")
    if concept_set & {"question", "say"} or starts_with_question:
        return _parse_question(words, concept_set)
    return (
        _parse_standing(words, concept_set) or _parse_going(words, concept_set) or Intent("unknown")
    )


def _find_things(words: list[Concept]) -> list[Thing]:
    """Return the things in the text, each once, in the order of the words."""
    unique = dict.fromkeys(word.concept for word in words)
    return [thing for name in unique for thing in THINGS if thing == name != "first"]


def _parse_question(words: list[Concept], concept_set: set[str]) -> Intent:
    things = _find_things(words)
    if not things:
        return Intent("unknown")
    thing = things[0]
    asks_number = "how-many" in concept_set
    if words[0].concept == "until" or (asks_number and concept_set & {"ago", "last"}):
        return Intent("when", thing)
    if asks_number:
        return Intent("count", thing)
    if "where" not in concept_set:
        return Intent("seen", thing)
    anchors = [t for t in things if ("from", t) in _pair_concepts(words)]
    if len(things) > 1 and anchors:
        other = next(thing for thing in things if thing != anchors[0])
        return Intent("where", other, anchor=anchors[0])
    if {"last", "see"} <= concept_set:
        return Intent("was", thing)
    if concept_set & {"last", "did"}:
        return Intent("last", thing)
    if concept_set & {"next", "will"}:
        return Intent("next", thing)
    return Intent("where", thing)


def _is_about_you(words: list[Concept]) -> bool:
    """Return True if the words begin with "you" or "your", but not with "your teammate"."""
    order = [word.concept for word in words[:2]]
    return order[:1] == ["you"] and order[1:] != ["people"]


def _pair_concepts(words: list[Concept]) -> list[tuple[str, str]]:
    """Return all pairs of consecutive concepts."""
    return [(a.concept, b.concept) for a, b in zip(words, words[1:], strict=False)]


def _parse_standing(words: list[Concept], concept_set: set[str]) -> Intent | None:
    """Parse a request to stand still: permanently, until a condition holds, or in ambush."""
    things = [t for t in _find_things(words) if t != "people"]
    pairs, order = _pair_concepts(words), [word.concept for word in words]
    rest = order[order.index("not") :] if "not" in order else []
    frozen = rest[1:2] == ["go"] and not set(rest[2:3]) & {"on", "beside", "good", "evil"}
    still = "still" in concept_set or {"keep", "here"} <= concept_set or frozen
    lured = {("let", "go"), ("let", "good"), ("let", "evil")} & set(pairs)
    lurks = "ambush" in concept_set or (lured and ("not", "let") not in pairs)
    conditional = "until" in concept_set and concept_set & {"flee", "cells"}
    if things and still and not lurks and conditional:
        return Intent("hold", things[0], low=max(_parse_band(words)[0], 2))
    if things and (lurks or (still and ("on", "you") in pairs)):
        steps = [word.number for word in words if word.number]
        return Intent("ambush", things[0], number=steps[0] if steps else 0)
    return Intent("stand") if still else None


def _parse_going(words: list[Concept], concept_set: set[str]) -> Intent | None:
    """Parse a request to go somewhere or to stay within a band of distances."""
    move, things = find_direction(words), _find_things(words)
    numbers = [w.number for w in words if w.number]
    if not things:
        if move != STAY and numbers and "go" in concept_set:
            return Intent("walk", number=numbers[0], move=move)
        return None
    if "first" in concept_set:
        return Intent("keep", "first", 0, 0) if things[0] == "good" else None
    if things[0] == "people" and len(things) > 1:
        things = [t for t in things if t != "people"]
    alone, shun = "alone" in concept_set, _find_shunned(words, things)
    thing = next(t for t in things if t != shun)
    if shun != "nothing":
        return Intent("keep", thing, 0, 0, shun)
    low, high = _parse_band(words)
    goals = {"keep", "find", "go", "flee", "off", "on", "beside", "let", "at-most", "still"}
    if not concept_set & goals:
        return None
    return Intent("keep", thing, low, max(low, high), alone=alone)


def _find_shunned(words: list[Concept], things: list[Thing]) -> Thing:
    """Return the thing to avoid: Good or Evil after a negation, in a text with two things."""
    inside, before = False, ""
    for word in words:
        shy = word.concept == "not" or (word.concept == "flee" and before != "cells")
        inside, before = (inside or shy) and word.concept != "break", word.concept
        if inside and word.concept in ("good", "evil") and len(things) > 1:
            return _find_things([word])[0]
    return "nothing"


def _parse_band(words: list[Concept]) -> tuple[int, int]:
    """Return the smallest and largest distance that a text allows.

    The two concepts of closeness mean distances 0 and 1: upper bounds, or after a negation lower
    bounds. "Next to you" states a fact, and bounds the distance only after a negation. A number of
    cells is a lower or upper bound by the words before it; "one or two" is both.
    """
    concept_set = {word.concept for word in words}
    low, high, is_positive, bound = 0, -1, True, ""
    numbers: list[int] = []
    for i, word in enumerate(words):
        concept = word.concept
        if concept == "break":
            is_positive, numbers, bound = True, [], ""
        elif concept in ("not", "off"):
            is_positive = False
        elif concept in ("at-most", "at-least"):
            bound = concept
        elif concept == "number":
            numbers.append(word.number)
        elif is_positive and concept in ("on", "beside") and _is_about_you(words[i + 1 :]):
            continue
        elif concept in ("on", "beside"):
            near = int(concept == "beside")
            low, high = (low, max(high, near)) if is_positive else (max(low, near + 1), high)
        elif concept == "cells" and numbers and words[i - 1].concept == "number":
            if bound == "at-least":
                low = max(low, numbers[-1])
            elif bound == "at-most":
                high = max(high, numbers[-1])
            elif len(numbers) > 1 and words[i - 2].concept == "or":
                low, high = max(low, min(numbers)), max(high, max(numbers))
        elif concept == "steps":
            numbers = []
    if high >= 0:
        return low, high
    if low == 1 and "keep" in concept_set:
        return 1, 1
    if concept_set & {"flee", "not", "off"} or low > 0:
        return low or 2, FAR
    return 0, int(bool(concept_set & {"keep", "find"}))
