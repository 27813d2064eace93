"""Vocabulary of instructions about Λ*: words mapped to concepts.

Idioms, in which a word has another meaning than usual, are replaced first. Unlisted words are
ignored.
"""

import re
from typing import NamedTuple

from sts_lambda_star.state import MOVES

_IDIOMS = (
    (r"team[- ]?mates?\b", "teammate"),
    (r"\bdon['’]?t\b", "not"),
    (r"\b(\w+)['’]s\b", r"\1"),
    (r"\bfrom (now|here|then) on\b|\bright now\b|\bnow\b", " "),
    (r"\bon (the|your|its) way\b|\bso on\b", " "),
    (r"\bin a row\b|\bat all times\b", " "),
    (r"\b(until|to|till|before) the (very )?end\b", " "),
    (r"\buntil then\b", " "),
    (r"\bnext to\b", "beside"),
    (r"\bnext door to\b|\badjacent to\b|\bclose (to|by)\b", "beside"),
    (r"\bwhere you (are|stand)\b", "here"),
    (r"\b(no|not|never) (more|farther|further) than\b|\bup to\b", "at-most"),
    (r"\b(at most|within)\b", "at-most"),
    (r"\b(at least|or more)\b", "at-least"),
    (r"\b(by yourself|on your own)\b", "alone"),
    (r"\bno (other|one else|body else)\b|\bnobody( else)?\b", "alone"),
    (r"\bas soon as\b", "when"),
    (r"\bwho\b[^.,:;!?]*", " "),
    (r"\blie in wait\b|\blying in wait\b", "ambush"),
    (r"\bhow (many|long)\b", "how-many"),
    (r"\blost sight\b", " "),
)
_LISTS = {
    "good": "good",
    "evil": "evil",
    "people": "player players teammate mate partner participant participants others people anyone "
    "anybody someone",
    "you": "you your yourself",
    "flee": "avoid avoiding evade evading escape flee away clear dodge leave far",
    "go": "go get reach return move walk head join step take catch come comes",
    "keep": "follow chase keep stay shadow remain accompany stick track trail",
    "find": "find look search seek",
    "still": "still hold wait freeze motionless",
    "here": "here put position",
    "let": "let",
    "ambush": "ambush",
    "on": "on onto upon same touching",
    "beside": "beside near around",
    "not": "not never without no",
    "off": "off",
    "first": "first",
    "until": "until till when once before",
    "alone": "alone unshared",
    "at-most": "at-most",
    "at-least": "at-least",
    "or": "or",
    "cells": "cell cells",
    "steps": "step steps",
    "last": "last previous latest just",
    "next": "next",
    "will": "will",
    "did": "did",
    "ago": "ago since",
    "from": "from relative",
    "see": "see saw seen sight",
    "lie": "lies is was",
    "say": "say answer tell name count",
    "how-many": "how-many number",
    "where": "where direction way which what",
    "down": "down downward downwards",
    "up": "up upward upwards",
    "left": "left leftward leftwards",
    "right": "right rightward rightwards",
}
_CONCEPTS: dict[str, tuple[str, ...]] = {}
for _concept, _words in _LISTS.items():
    for _word in _words.split():
        _CONCEPTS[_word] = (*_CONCEPTS.get(_word, ()), _concept)
_NUMBERS = ("zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten")
_MAX_NUMBER = 999
QUALIFIERS = frozenset(
    "not off first until alone at-most at-least last next ago from will did number "
    "down up left right".split()
)
"""Concepts that qualify an act, such as directions and numbers; `HalfReader` ignores them."""


class Concept(NamedTuple):
    """One concept of a text, or a break between clauses."""

    concept: str  # a key of the vocabulary, or "number", "break" or "question" for its punctuation
    number: int = 0  # the value of a number, else 0


def parse_concepts(text: str) -> list[Concept]:
    """Split a text into its concepts."""
    plain = " ".join(text.lower().split())
    for idiom, meaning in _IDIOMS:
        plain = re.sub(idiom, meaning, plain)
    out: list[Concept] = []
    for token in re.findall(r"\d+|at-most|at-least|how-many|[a-z]+|[.,:;!?]", plain):
        if token.isdigit() or token in _NUMBERS:
            number = int(token[:9]) if token.isdigit() else _NUMBERS.index(token)
            number = min(number, _MAX_NUMBER)
            out.append(Concept("number", number))
        elif not token.isalpha() and token not in _CONCEPTS:
            out.append(Concept("question" if token == "?" else "break"))
        else:
            out += [Concept(concept) for concept in _CONCEPTS.get(token, ())]
    return out


def find_direction(words: list[Concept]) -> int:
    """Return the move in the direction that the words name; "stay" without one."""
    concept_set = {word.concept for word in words}
    down = ("down" in concept_set) - ("up" in concept_set)
    right = ("right" in concept_set) - ("left" in concept_set)
    return MOVES.index("stay") + 3 * down + right
