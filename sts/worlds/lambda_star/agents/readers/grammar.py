"""From words to an intent: what to do, about what, how near, for how long, on what condition.

A text is read clause by clause. What is wanted of a thing is a band of distances to it; a word that
says "no" turns what follows in its clause into what is not wanted. Nothing is matched as a whole.
"""

from __future__ import annotations

import functools
from dataclasses import dataclass
from typing import Literal, get_args

from sts.worlds.lambda_star.agents.readers.words import QUALIFIERS, Word, concepts, direction
from sts.worlds.lambda_star.torus import STAY

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
    """What a text asks for.

    Attributes:
      act: "keep" is to come and stay within the band of distances; "hold" to do so only after the
        thing has come near; "ambush" to stand where it will come; the last seven are questions.
      thing: what it is about; "first" is the cell on which Good was seen first.
      low: the smallest distance to it that is allowed, in cells.
      high: the largest; `FAR` for any.
      shun: a second thing that may never be within one cell.
      alone: whether the own cell may be shared with nobody.
      number: how many cells to walk, or steps to do it for; 0 where no number is said.
      move: the direction to walk; "stay" where none is said.
      anchor: from where a direction is asked; "nothing" for the own cell.
    """

    act: Act
    thing: Thing = "nothing"
    low: int = 0
    high: int = FAR
    shun: Thing = "nothing"
    alone: bool = False
    number: int = 0
    move: int = STAY
    anchor: Thing = "nothing"


@functools.lru_cache(maxsize=4096)
def parse(text: str, qualified: bool = True) -> Intent:
    """Return what `text` asks for; not `qualified` passes over what says how and when."""
    if not text.strip():
        return Intent("nothing")
    words = concepts(text)
    if not qualified:
        words = [word for word in words if word.concept not in QUALIFIERS]
    said = {word.concept for word in words}
    if said & {"question", "say"} or words[:1] and words[0].concept in ("where", "how-many"):
        return _question(words, said)
    return _standing(words, said) or _going(words, said) or Intent("unknown")


def _things(words: list[Word]) -> list[Thing]:
    """Return what is named, each once, in the order of the words."""
    named = dict.fromkeys(word.concept for word in words)
    return [thing for name in named for thing in THINGS if thing == name != "first"]


def _question(words: list[Word], said: set[str]) -> Intent:
    things = _things(words)
    if not things:
        return Intent("unknown")
    thing = things[0]
    if words[0].concept == "until" or ("how-many" in said and said & {"ago", "last"}):
        return Intent("when", thing)
    if "how-many" in said:
        return Intent("count", thing)
    if "where" not in said:
        return Intent("seen", thing)
    anchors = [t for t in things if ("from", t) in _pairs(words)]
    if len(things) > 1 and anchors:
        other = next(thing for thing in things if thing != anchors[0])
        return Intent("where", other, anchor=anchors[0])
    if {"last", "see"} <= said:
        return Intent("was", thing)
    if "last" in said or "did" in said:
        return Intent("last", thing)
    if "next" in said or "will" in said:
        return Intent("next", thing)
    return Intent("where", thing)


def _about_you(words: list[Word]) -> bool:
    """Return whether words begin with "you" or "your", but not with "your team-mate"."""
    order = [word.concept for word in words[:2]]
    return order[:1] == ["you"] and order[1:] != ["people"]


def _pairs(words: list[Word]) -> list[tuple[str, str]]:
    """Return every two concepts that follow one another."""
    return [(a.concept, b.concept) for a, b in zip(words, words[1:], strict=False)]


def _standing(words: list[Word], said: set[str]) -> Intent | None:
    """Return what a text asks for that asks to stand: for good, until something, or in wait."""
    things = [t for t in _things(words) if t != "people"]
    pairs, order = _pairs(words), [word.concept for word in words]
    rest = order[order.index("not") :] if "not" in order else []
    frozen = rest[1:2] == ["go"] and not set(rest[2:3]) & {"on", "beside", "good", "evil"}
    still = "still" in said or {"keep", "here"} <= said or frozen
    lured = {("let", "go"), ("let", "good"), ("let", "evil")} & set(pairs)
    lurks = "ambush" in said or (lured and ("not", "let") not in pairs)
    if things and still and not lurks and "until" in said and said & {"flee", "cells"}:
        return Intent("hold", things[0], low=max(_band(words)[0], 2))
    if things and (lurks or (still and ("on", "you") in pairs)):
        steps = [word.number for word in words if word.number]
        return Intent("ambush", things[0], number=steps[0] if steps else 0)
    return Intent("stand") if still else None


def _going(words: list[Word], said: set[str]) -> Intent | None:
    """Return what a text asks for that asks to go somewhere or to keep somewhere."""
    move, things = direction(words), _things(words)
    numbers = [w.number for w in words if w.number]
    if not things:
        if move != STAY and numbers and "go" in said:
            return Intent("walk", number=numbers[0], move=move)
        return None
    if "first" in said:
        return Intent("keep", "first", 0, 0) if things[0] == "good" else None
    if things[0] == "people" and len(things) > 1:
        things = [t for t in things if t != "people"]
    alone, shun = "alone" in said, _shunned(words, things)
    thing = next(t for t in things if t != shun)
    if shun != "nothing":
        return Intent("keep", thing, 0, 0, shun)
    low, high = _band(words)
    if not said & {"keep", "find", "go", "flee", "off", "on", "beside", "let", "at-most", "still"}:
        return None
    return Intent("keep", thing, low, max(low, high), alone=alone)


def _shunned(words: list[Word], things: list[Thing]) -> Thing:
    """Return the second thing, where a "no" stands before it and one to go to is named too."""
    inside, before = False, ""
    for word in words:
        shy = word.concept == "not" or (word.concept == "flee" and before != "cells")
        inside, before = (inside or shy) and word.concept != "break", word.concept
        if inside and word.concept in ("good", "evil") and len(things) > 1:
            return _things([word])[0]
    return "nothing"


def _band(words: list[Word]) -> tuple[int, int]:
    """Return the smallest and largest distance that a text allows.

    "on" and "beside" are 0 and 1: wanted, they bound from above, and after a "no" from below; what
    is "next to you" is where it is, and only after a "no" a wish. A number of cells bounds from the
    side that the words before it say; "one or two" from both.
    """
    said = {word.concept for word in words}
    low, high, wanted, bound = 0, -1, True, ""
    numbers: list[int] = []
    for i, word in enumerate(words):
        concept = word.concept
        if concept == "break":
            wanted, numbers, bound = True, [], ""
        elif concept in ("not", "off"):
            wanted = False
        elif concept in ("at-most", "at-least"):
            bound = concept
        elif concept == "number":
            numbers.append(word.number)
        elif wanted and concept in ("on", "beside") and _about_you(words[i + 1 :]):
            continue
        elif concept in ("on", "beside"):
            near = int(concept == "beside")
            low, high = (low, max(high, near)) if wanted else (max(low, near + 1), high)
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
    if low == 1 and "keep" in said:
        return 1, 1
    if said & {"flee", "not", "off"} or low > 0:
        return low or 2, FAR
    return 0, int(bool(said & {"keep", "find"}))
