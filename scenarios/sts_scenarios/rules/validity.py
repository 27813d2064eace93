"""The category that fits a scenario, and faults of its instruction at the takeover."""

import re
from collections.abc import Mapping
from types import MappingProxyType

from sts.errors import StsError
from sts.registry import translate_errors
from sts.suites.suite import Scenario
from sts_scenarios.rules.category import Category, no_rule

UNCHECKED = "not checked by a rule: have a second person read it"
_FIELD = re.compile(r"\{(\w+)\}")
_TOKEN = re.compile(r"\w+(?:[-'’]\w+)*")


def find_category(scenario: Scenario, by_name: Mapping[str, Category]) -> Category | None:
    """Return the category whose words a scenario has, so that its rule and rubric fit; else None.

    These are its templates with their fields filled in, upper case and punctuation apart. Neither
    rule nor rubric fits other words, or a criterion in the curator's words.
    """
    category = by_name.get(scenario.category)
    if category is None or scenario.criterion or scenario.edge_cases:
        return None
    text = scenario.instruction.text
    known = [t for t in (*category.templates, *category.earlier_templates) if matches(text, t)]
    if not known:
        return None
    try:
        with translate_errors(f"template fields of {scenario.id}"):
            words = category.template_fields(scenario) if category.template_fields else {}
    except StsError:  # its parameters are not those of the category
        return None
    return category if any(matches(text, template, words) for template in known) else None


def is_checked(scenario: Scenario, by_name: Mapping[str, Category]) -> bool:
    """Return True if a rule checks a scenario."""
    category = find_category(scenario, by_name)
    return category is not None and category.label is not no_rule


def find_fault(scenario: Scenario, by_name: Mapping[str, Category]) -> str | None:
    """Return in a few words why a scenario's instruction is not valid; else None."""
    category = find_category(scenario, by_name)
    if category is None:
        return None
    if scenario.kind != category.kind:
        return f"its kind is {scenario.kind}, and that of {category.name} is {category.kind}"
    if scenario.instruction.category != category.name:
        return f"its instruction belongs to category {scenario.instruction.category}"
    return category.why_invalid(scenario)


def matches(text: str, template: str, words: Mapping[str, str] = MappingProxyType({})) -> bool:
    """Return True if a template gives a text, upper case and punctuation apart.

    Fields without words match anything.
    """
    fill = {field: re.escape(_normalise(word)) for field, word in words.items()}
    return re.fullmatch(_compile_pattern(template, fill), _normalise(text)) is not None


def _normalise(text: str) -> str:
    """Return the words of a text without punctuation, in lower case."""
    return " ".join(_TOKEN.findall(text.casefold()))


def _compile_pattern(template: str, fill: Mapping[str, str]) -> str:
    parts = _FIELD.split(template)
    parts[::2] = [re.escape(_normalise(part)) for part in parts[::2]]
    parts[1::2] = [fill.get(field, ".+") for field in parts[1::2]]
    return " ".join(filter(None, parts))
