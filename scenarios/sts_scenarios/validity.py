"""Validity of a scenario's instruction at its takeover, and of its text against its category."""

import re
from collections.abc import Iterable, Mapping

from sts.suites.types import Scenario
from sts_scenarios.category import Category

_FIELD = re.compile(r"\{(\w+)\}")
_TOKEN = re.compile(r"\w+(?:[-'’]\w+)*")


def find_fault(scenario: Scenario, rules: Mapping[str, Category]) -> str | None:
    """Return in a few words why a scenario's instruction is not valid, or None."""
    rule = rules[scenario.category]
    if scenario.kind != rule.kind:
        return f"its kind is {scenario.kind}, and that of {rule.name} is {rule.kind}"
    if scenario.instruction.category != rule.name:
        return f"its instruction belongs to category {scenario.instruction.category}"
    other_rules = [r for r in rules.values() if r.domain == rule.domain and r is not rule]
    return rule.why_invalid(scenario) or find_text_fault(scenario, rule, other_rules)


def find_text_fault(scenario: Scenario, rule: Category, others: Iterable[Category]) -> str | None:
    """Return how a scenario's text differs from what its category asks for, or None.

    A template of the category, filled in with its words, is always valid. Any other text must
    contain each of these words or a synonym, none of the words that would ask for something else,
    and must not be a template of another category. If a category returns no words, only the last is
    checked.
    """
    text = _normalise(scenario.instruction.text)
    words = rule.template_fields(scenario) if rule.template_fields else {}
    fill = {field: re.escape(_normalise(word.text)) for field, word in words.items()}
    if any(re.fullmatch(_compile_pattern(wording, fill), text) for wording in rule.templates):
        return None
    for other_rule in others:
        templates = filter(_has_text, other_rule.templates)
        if any(re.fullmatch(_compile_pattern(template), text) for template in templates):
            return f"its text is an instruction template of {other_rule.name}"
    fields = {field for wording in rule.templates for field in _FIELD.findall(wording)}
    rest = text
    for field, word in words.items():
        synonyms = _match_any((word.text, *word.synonyms))
        if field in fields and not synonyms.search(text):
            return f"its text does not contain {word.text!r}"
        rest = synonyms.sub("|", rest)
    for word in words.values():
        if word.alternatives and (other := _match_any(word.alternatives).search(rest)):
            return f"its text contains {other[0]!r} instead of {word.text!r}"
    return None


def _normalise(text: str) -> str:
    """Return the words of a text without punctuation, in lower case."""
    return " ".join(_TOKEN.findall(text.casefold()))


def _has_text(wording: str) -> bool:
    """Return True if a template has text besides its fields."""
    return bool(_normalise(_FIELD.sub("", wording)))


def _compile_pattern(wording: str, fill: Mapping[str, str] | None = None) -> str:
    """Return a pattern of a template; fields without a value in `fill` match anything."""
    parts = _FIELD.split(wording)
    parts[::2] = [re.escape(_normalise(part)) for part in parts[::2]]
    parts[1::2] = [(fill or {}).get(field, ".+") for field in parts[1::2]]
    return " ".join(filter(None, parts))


def _match_any(phrases: Iterable[str]) -> re.Pattern[str]:
    ranked = sorted(map(_normalise, phrases), key=len, reverse=True)
    return re.compile(rf"(?<!\S)(?:{'|'.join(map(re.escape, ranked))})(?!\S)")
