"""The written standard of a report: its JSON Schema and its page of the documentation.

    python -m sts_analysis.report.standard docs/report_json.md

Both are made from `sts_analysis.report.schema`; run this after every change there.
"""

import dataclasses
import inspect
import json
import sys
import types
from collections.abc import Iterator, Mapping
from importlib.resources import files
from pathlib import Path
from typing import Annotated, Any, Union, get_args, get_origin

from sts_analysis.report.json_form import keys, optional
from sts_analysis.report.schema import SCHEMA, Curve, Interval, Report

SHIPPED = "report.schema.json"
PREFACE = f"""# `report.json`, {SCHEMA}

Made from `analysis/sts_analysis/report/schema.py`, which names every key. The same as a JSON
Schema lies in the package, `analysis/sts_analysis/report/{SHIPPED}`. Every key is always there, but
for those that say "or absent". Null is what is not known, or what there is none of, with a reason
beside it where one is known. No number is NaN or infinite. Shares lie in [0, 1], intervals are
95%, steps count from takeover.

A reader passes over keys that it does not know, and refuses a file that lacks one. It refuses every
other version and says which it met.

What differs from sts-report/1: `labels` counts `settled` too, 0 as long as no ratings table has
that source; the versions of Python and of packages, which stood in `provenance` itself, are in
`provenance.versions`; the other keys of `provenance` are always there. Nothing else was renamed.
"""
_SCALARS = {str: "string", bool: "boolean", int: "integer", float: "number", types.NoneType: "null"}
_WORDS = {str: "text", bool: "true or false", int: "whole number", float: "number"}


def shipped() -> str:
    """The JSON Schema that the package carries."""
    return (files("sts_analysis.report") / SHIPPED).read_text("utf-8")


def json_schema() -> str:
    """The JSON Schema of `report.json`, draft 2020-12, which allows keys that it does not name."""
    objects = {kind.__name__: _object(kind) for kind in _objects(Report)}
    whole = objects.pop(Report.__name__)
    whole["properties"]["schema"]["const"] = SCHEMA
    head = {"$schema": "https://json-schema.org/draft/2020-12/schema", "title": SCHEMA}
    return json.dumps(head | whole | {"$defs": objects}, indent=1) + "\n"


def page() -> str:
    """The page of the documentation, in Markdown."""
    objects = "\n".join(_section(kind) for kind in _objects(Report))
    return f"{PREFACE}\n{objects}"


def _section(kind: type) -> str:
    rows = "\n".join(
        f"| `{key}` | {_words(hint)}{' or absent' if key in optional(kind) else ''} "
        f"| {_said(hint)} |"
        for key, hint in _own(kind)
    )
    return f"## {kind.__name__}\n\n{inspect.getdoc(kind)}\n\n| key | | |\n|---|---|---|\n{rows}\n"


def _own(kind: type) -> list[tuple[str, Any]]:
    return list(keys(kind).items())


def _said(hint: Any) -> str:
    """What the schema says of a key."""
    return str(hint.__metadata__[0])


def _objects(kind: type) -> list[type]:
    """`kind` and every object that it holds, each once, the outer before the inner."""
    order = [kind]
    for one in order:
        inner = (part for _, hint in _own(one) for part in _parts(hint))
        order += [part for part in dict.fromkeys(inner) if part not in order]
    return order


def _parts(hint: Any) -> Iterator[type]:
    if dataclasses.is_dataclass(hint) and isinstance(hint, type):
        yield hint
    for argument in get_args(hint):
        yield from _parts(argument)


def _object(kind: type) -> dict[str, Any]:
    named = {key: _typed(hint) | {"description": _said(hint)} for key, hint in _own(kind)}
    return {
        "description": inspect.getdoc(kind),
        "type": "object",
        "required": [key for key in named if key not in optional(kind)],
        "properties": named,
    }


def _typed(hint: Any) -> dict[str, Any]:
    origin, arguments = get_origin(hint), get_args(hint)
    if origin is Annotated:
        return _typed(arguments[0])
    if origin in (Union, types.UnionType):
        return {"anyOf": [_typed(one) for one in arguments]}
    if dataclasses.is_dataclass(hint) and isinstance(hint, type):
        return {"$ref": f"#/$defs/{hint.__name__}"}
    if origin is tuple and arguments[-1] is Ellipsis:
        return {"type": "array", "items": _typed(arguments[0])}
    if origin is tuple:
        parts, size = [_typed(one) for one in arguments], len(arguments)
        return {"type": "array", "prefixItems": parts, "minItems": size, "maxItems": size}
    if origin is Mapping:
        whole = {"propertyNames": {"pattern": "^[0-9]+$"}} if arguments[0] is int else {}
        return {"type": "object", "additionalProperties": _typed(arguments[1]), **whole}
    return {"type": _SCALARS[hint]}


def _words(hint: Any) -> str:
    origin, arguments = get_origin(hint), get_args(hint)
    if origin is Annotated:
        return _words(arguments[0])
    if origin in (Union, types.UnionType):
        return " or ".join(_words(one) for one in arguments)
    if hint is types.NoneType:
        return "null"
    if hint == Interval:
        return "[low, high]"
    if hint == Curve:
        return "list of [step, height]"
    if dataclasses.is_dataclass(hint) and isinstance(hint, type):
        return f"[{hint.__name__}](#{hint.__name__.lower()})"
    if origin is tuple and arguments[-1] is Ellipsis:
        return f"list of {_words(arguments[0])}"
    if origin is tuple:
        return f"[{', '.join(_words(one) for one in arguments)}]"
    if origin is Mapping:
        by = "number" if arguments[0] is int else "name"
        return f"object: {_words(arguments[1])} by {by}"
    return _WORDS[hint]


def main() -> int:
    """Writes the schema into the package and the page to where the argument says."""
    Path(__file__).with_name(SHIPPED).write_text(json_schema(), "utf-8")
    Path(sys.argv[1]).write_text(page(), "utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
