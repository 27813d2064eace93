"""The fields of a candidate that curators edit, and the validation of their changes."""

import re
from collections.abc import Mapping
from typing import Any

from sts.errors import ArgumentError
from sts.names import MAX_NAME_CHARS, is_one_line, quote
from sts.suites.folders import NAME
from sts.suites.lint import MAX_INSTRUCTION_CHARS
from sts.suites.suite import DIFFICULTIES, KINDS

FIELDS = {
    "takeover": int,
    "context": int,
    "horizon": int,
    "player": int,
    "template": int,
    "instruction": str,
    "criterion": str,
    "edge_cases": str,
    "category": str,
    "kind": str,
    "difficulty": str,
    "partner": str,
    "tags": list,
    "pair": str,
    "dialogue": str,
    "turn": int,
}
"""Editable fields and their JSON types. `takeover` is a step of the trajectory, and the halves of a
pair, as the turns of a dialogue, have the same name in that field; "" for none."""
TEXTS = {
    "instruction": "an instruction",
    "criterion": "a success criterion",
    "edge_cases": "edge cases",
}
"""Fields with a text of the curator's own, and their names in messages."""
MAX_TAGS = 20
_MARKUP = re.compile(r"</?[A-Za-z!][^<>]*>|&#?\w+;")
"""HTML tags and entities, which the page would show literally."""


def validate_changes(changes: object) -> dict[str, Any]:
    """Validate changes of `FIELDS` and their types; return them."""
    if not isinstance(changes, Mapping) or not all(isinstance(name, str) for name in changes):
        raise ArgumentError("expected changes by name")
    for name, value in changes.items():
        if name not in FIELDS:
            raise ArgumentError(f"expected a change of {', '.join(FIELDS)}, found {quote(name)}")
        if type(value) is not FIELDS[name]:
            raise ArgumentError(
                f"{name}: expected {FIELDS[name].__name__}, found {quote(str(value))}"
            )
    for name, what in TEXTS.items():
        text = changes.get(name, "")
        is_empty = name == "instruction" and name in changes and not text.strip()
        if is_empty or not is_one_line(text, MAX_INSTRUCTION_CHARS):
            raise ArgumentError(
                f"expected {what} of one line, at most {MAX_INSTRUCTION_CHARS} printable "
                f"characters, found {quote(text)}"
            )
        if markup := _MARKUP.search(text):
            raise ArgumentError(f"expected {what} without markup, found {quote(markup[0])} in it")
    for name, known in (("kind", KINDS), ("difficulty", DIFFICULTIES)):
        if name in changes and changes[name] not in known:
            raise ArgumentError(f"{name}: expected {', '.join(known)}, found {changes[name]!r}")
    if "category" in changes and not NAME.fullmatch(changes["category"]):
        raise ArgumentError(
            "expected a category of lower-case letters, digits and dashes, at most 48, found "
            f"{quote(changes['category'])}"
        )
    if len(changes.get("tags", ())) > MAX_TAGS:
        raise ArgumentError(f"expected at most {MAX_TAGS} tags, found {len(changes['tags'])}")
    for tag in changes.get("tags", ()):
        if not (isinstance(tag, str) and tag.strip() and is_one_line(tag, MAX_NAME_CHARS)):
            raise ArgumentError(
                f"expected tags of at most {MAX_NAME_CHARS} printable characters, found "
                f"{quote(str(tag))}"
            )
    for name in ("pair", "dialogue"):
        if not is_one_line(changes.get(name, ""), MAX_NAME_CHARS):
            raise ArgumentError(
                f"{name}: expected a name of at most {MAX_NAME_CHARS} printable characters, found "
                f"{quote(changes[name])}"
            )
    if "instruction" in changes and "template" in changes:
        raise ArgumentError("expected an instruction or a template, found both")
    return dict(changes)
