"""Spellings of agents on the command line: a path or name, and parameters of the constructor."""

import json
from typing import Any, NamedTuple
from urllib.parse import unquote

from sts.errors import ArgumentError, quote

LABEL = "label"
"""The parameter that sets the name of an agent instead of being passed to its constructor."""


class Spelling(NamedTuple):
    """How a user names an agent, such as `module:Class?weights=v2.npz&label=large`."""

    path: str  # an installed name, module:Class or PYTHON:module:Class
    arguments: dict[str, Any]  # of the constructor, by name
    label: str  # the name in reports; "" for the agent's own


def parse_spelling(text: str) -> Spelling:
    """Parse how an agent is named; a value that is a JSON number, true or false becomes one.

    Raises:
      ArgumentError: the parameters are not NAME=VALUE&NAME=VALUE, or one is given twice.
    """
    path, mark, query = text.partition("?")
    if not mark:
        return Spelling(path, {}, "")
    pairs = [item.partition("=") for item in query.split("&")]
    names = [name for name, sign, _ in pairs if sign and name.isidentifier()]
    if len({*names}) < len(pairs):
        raise ArgumentError(
            f"agent {quote(text)}: expected parameters as NAME=VALUE&NAME=VALUE, each once, found "
            f"{quote(query)}"
        )
    values = {name: unquote(value) for name, _, value in pairs}
    label = values.pop(LABEL, "")
    return Spelling(path, {name: _read_value(value) for name, value in values.items()}, label)


def _read_value(text: str) -> Any:
    try:
        value = json.loads(text)
    except ValueError:
        return text
    return value if isinstance(value, bool | int | float | str) else text
