"""The lists of a report as CSV tables, made by walking the types of its results.

Each list of records becomes a table: the field `rows` of a section is SECTION.csv, any other is
SECTION_FIELD.csv. An interval becomes two columns, a record or a mapping a column for each entry,
a missing value an empty cell.
"""

from collections.abc import Callable, Iterable, Iterator
from operator import attrgetter, itemgetter, methodcaller
from typing import Any

import msgspec
from msgspec import inspect

from sts.storage.csv_tables import format_csv
from sts_analysis.report.appendix import comparisons, dialogues, pairs, scenarios
from sts_analysis.report.core import Report, Study
from sts_analysis.report.text import Part, to_plain

_LONG = {
    "comparisons": comparisons,
    "scenarios": scenarios,
    "pairs": pairs,
    "dialogues": dialogues,
}
"""Sections whose result leaves out a part of a long list."""
Find = Callable[[Any], Any]
Column = tuple[str, Find]
"""The title of a column, and what makes its cell from a record."""


def format_tables(report: Report, study: Study | None = None) -> dict[str, bytes]:
    """Return CSV files by name; an empty list has none.

    Args:
      report: with results.
      study: that the report was made from, for lists that the report shortens; None to do without.
    """
    results = {field.name: getattr(report, field.name) for field in msgspec.structs.fields(report)}
    if study is not None:
        for name, module in _LONG.items():
            if results.get(name) is not None:
                results[name] = module.compute(study, unabridged=True)
    return {
        name: format_csv(*_lay_out(rows, kind))
        for section, result in results.items()
        if isinstance(result, msgspec.Struct)
        for name, rows, kind in _iter_lists(section, result)
        if rows
    }


def _iter_lists(
    section: str, result: msgspec.Struct
) -> Iterator[tuple[str, tuple[Any, ...], inspect.StructType]]:
    """Yield the name, the records and their type of each list of records in a result."""
    for field in _describe(type(result)).fields:
        item = _find_item(_unwrap(field.type))
        if isinstance(item, inspect.StructType) and item.cls is not Part:
            name = section if field.name == "rows" else f"{section}_{field.name}"
            yield f"{name}.csv", getattr(result, field.name), item


def _lay_out(
    rows: tuple[Any, ...], kind: inspect.StructType
) -> tuple[list[str], Iterable[Iterable[object]]]:
    """Return the header and the cells of a list of records."""
    columns = list(_iter_struct("", None, kind, rows))
    return [title for title, _ in columns], zip(
        *(map(find, rows) for _, find in columns), strict=True
    )


def _iter_struct(
    prefix: str, find: Find | None, kind: inspect.StructType, rows: tuple[Any, ...]
) -> Iterator[Column]:
    for field in kind.fields:
        get: Find = attrgetter(field.name)
        get = get if find is None else _chain(find, get)
        yield from _iter_columns(f"{prefix}{field.name}", get, field.type, rows)


def _iter_columns(
    title: str, find: Find, kind: inspect.Type, rows: tuple[Any, ...]
) -> Iterator[Column]:
    """Yield the columns that a value of some type takes."""
    kind = _unwrap(kind)
    item = _find_item(kind)
    if isinstance(kind, inspect.StructType):
        yield from _iter_struct(f"{title}_", find, kind, rows)
    elif isinstance(kind, inspect.TupleType) and len(kind.item_types) == 2:
        yield f"{title}_low", _chain(find, itemgetter(0))
        yield f"{title}_high", _chain(find, itemgetter(1))
    elif isinstance(kind, inspect.DictType):
        for key in dict.fromkeys(key for row in rows for key in find(row) or ()):
            get = _chain(find, methodcaller("get", key))
            yield from _iter_columns(f"{title}_{key}", get, kind.value_type, rows)
    elif isinstance(item, inspect.StructType) and item.cls is Part:
        yield title, _chain(find, to_plain)
    elif item is not None:
        yield title, _chain(find, _join)
    else:
        yield title, find


def _chain(find: Find, get: Find) -> Find:
    """Return what finds a part of a value, and None if there is no value."""
    return lambda row: None if (value := find(row)) is None else get(value)


def _join(values: Iterable[object]) -> str:
    return "; ".join("" if value is None else str(value) for value in values)


def _describe(kind: type[msgspec.Struct]) -> inspect.StructType:
    described = inspect.type_info(kind)
    assert isinstance(described, inspect.StructType)
    return described


def _unwrap(kind: inspect.Type) -> inspect.Type:
    """Return the type of an optional value."""
    if isinstance(kind, inspect.UnionType):
        types = [each for each in kind.types if not isinstance(each, inspect.NoneType)]
        return types[0] if len(types) == 1 else kind
    return kind


def _find_item(kind: inspect.Type) -> inspect.Type | None:
    """Return the type of the items of a list, or None."""
    if isinstance(kind, inspect.VarTupleType | inspect.ListType):
        return _unwrap(kind.item_type)
    return None
