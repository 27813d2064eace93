"""Whether a scenario's instruction fits its takeover, its category and the words it is put in."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping

from sts.suites.types import Scenario
from sts_scenarios.category import Category

_FIELD = re.compile(r"\{(\w+)\}")
_TOKEN = re.compile(r"\w+(?:[-'’]\w+)*")


def fault(scenario: Scenario, rules: Mapping[str, Category]) -> str | None:
    """Return in a few words why a scenario's instruction does not fit; None where it does."""
    rule = rules[scenario.category]
    if scenario.kind != rule.kind:
        return f"{rule.name} asks an {rule.kind}, and this is a {scenario.kind}"
    if scenario.instruction.category != rule.name:
        return f"its instruction is one of {scenario.instruction.category}"
    others = [one for one in rules.values() if one.domain == rule.domain and one is not rule]
    return rule.fits(scenario) or contradiction(scenario, rule, others)


def contradiction(scenario: Scenario, rule: Category, others: Iterable[Category]) -> str | None:
    """Return what of a scenario's text is not what its category asks for; None where nothing is.

    One of the category's own wordings, filled with its words, is as it should be. Any other text
    says each of these words, or another word for the same, and none that would say something else;
    and it is no wording of another category. Of a category that does not tell its words, only what
    is a wording of another one is found.
    """
    text = _plain(scenario.instruction.text)
    words = rule.words(scenario) if rule.words else {}
    fill = {field: re.escape(_plain(word.text)) for field, word in words.items()}
    if any(re.fullmatch(_pattern(wording, fill), text) for wording in rule.wordings):
        return None
    for one in others:
        if any(re.fullmatch(_pattern(w), text) for w in filter(_says_anything, one.wordings)):
            return f"its text is a wording of {one.name}"
    asked = {field for wording in rule.wordings for field in _FIELD.findall(wording)}
    rest = text
    for field, word in words.items():
        said = _any_of((word.text, *word.also))
        if field in asked and not said.search(text):
            return f"its text does not say {word.text!r}, which is what is asked for"
        rest = said.sub("|", rest)
    for word in words.values():
        if word.others and (other := _any_of(word.others).search(rest)):
            return f"its text says {other[0]!r}, and what is asked for is {word.text!r}"
    return None


def _plain(text: str) -> str:
    """Return the words of a text, without what stands between them."""
    return " ".join(_TOKEN.findall(text.casefold()))


def _says_anything(wording: str) -> bool:
    """Whether a wording has words of its own."""
    return bool(_plain(_FIELD.sub("", wording)))


def _pattern(wording: str, fill: Mapping[str, str] | None = None) -> str:
    """Return what a wording looks like, its fields filled, or with anything in what is not."""
    parts = _FIELD.split(wording)
    parts[::2] = [re.escape(_plain(part)) for part in parts[::2]]
    parts[1::2] = [(fill or {}).get(field, ".+") for field in parts[1::2]]
    return " ".join(filter(None, parts))


def _any_of(phrases: Iterable[str]) -> re.Pattern[str]:
    ranked = sorted(map(_plain, phrases), key=len, reverse=True)
    return re.compile(rf"(?<!\S)(?:{'|'.join(map(re.escape, ranked))})(?!\S)")
