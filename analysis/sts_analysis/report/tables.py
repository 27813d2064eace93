"""The report's numbers as flat tables, one row an entry."""

import dataclasses
import functools
from collections.abc import Callable, Iterable, Mapping, Sequence
from operator import attrgetter
from typing import Any, get_type_hints

from sts_analysis.report.schema import APART, Agent, Linked, Report

Row = dict[str, Any]
Rows = list[Row]


def tables(report: Report) -> dict[str, Rows]:
    """Every table with a row: name -> rows."""
    made = {name: make(report) for name, make in TABLES.items()}
    return {name: rows for name, rows in made.items() if rows}


def columns(rows: Iterable[Mapping[str, Any]]) -> list[str]:
    """The columns of a table, in the order in which its rows first have them."""
    every: dict[str, None] = {}
    for row in rows:
        if not row.keys() <= every.keys():
            every |= dict.fromkeys(row)
    return list(every)


def _missing(report: Report) -> Rows:
    return [
        {"agent": entry.agent, "scenario": scenario}
        for entry in report.agents
        for scenario in entry.missing
    ]


def _groups(report: Report) -> Rows:
    return [
        {"agent": entry.agent, "group": group, "name": name, **_row(cell)}
        for entry in report.agents
        for group, cells in (("kinds", entry.kinds), ("categories", entry.categories))
        for name, cell in cells.items()
    ]


def _consistency(report: Report) -> Rows:
    return [
        {
            "agent": entry.agent,
            "k": k,
            "pass_hat_k": value,
            "pass_at_k": entry.consistency.pass_at_k[k],
            **_ends("pass_hat_k", (entry.consistency.pass_hat_k_intervals or {}).get(k)),
            **_ends("pass_at_k", (entry.consistency.pass_at_k_intervals or {}).get(k)),
            "scenarios": entry.consistency.k_scenarios[k],
        }
        for entry in report.agents
        for k, value in entry.consistency.pass_hat_k.items()
    ]


def _time_to_success(report: Report) -> Rows:
    def curves(entry: Agent) -> Row:
        times = entry.time_to_success
        return {
            "curve": times.curve,
            "reached": times.reached,
            "successes_curve": times.successes_curve,
        }

    return [
        {"agent": entry.agent, "curve": curve, "step": step, "share": share}
        for entry in report.agents
        for curve, points in curves(entry).items()
        for step, share in points or ()
    ]


def _judged_by(report: Report) -> Rows:
    audit = None if report.judges is None else report.judges.audit
    if audit is None:
        return []
    return [
        {"agent": agent, "annotator": annotator, "judgements": count}
        for agent, counts in zip(audit.agents, audit.judgements, strict=True)
        for annotator, count in zip(audit.annotators, counts, strict=True)
    ]


def _accuracy_by_group(report: Report) -> Rows:
    return [
        {
            "measure": test.measure,
            "by": test.by,
            "group": group,
            "share": share,
            "episodes": test.episodes[group],
            "p": test.p,
            "method": test.method,
        }
        for test in (report.judges.by_group if report.judges else ())
        for group, share in test.shares.items()
    ]


def _label_sets(report: Report) -> Rows:
    return [
        {"labels": source, **_row(entry)}
        for source, labelled in report.label_sets.items()
        for entry in labelled.agents
    ]


def _linked(groups: Linked | None) -> Rows:
    if groups is None:
        return []
    every = [{"group": "", "scenarios": [], **_row(entry)} for entry in groups.agents]
    return every + [
        {"group": name, "scenarios": list(ids), "agent": agent, "credit": credit}
        for name, ids in groups.scenarios.items()
        for agent, credit in groups.credits[name].items()
    ]


def _ends(name: str, interval: tuple[float, float] | None) -> Row:
    low, high = interval or (None, None)
    return {f"{name}_low": low, f"{name}_high": high}


_CELLS = frozenset((str, float, int, bool, type(None)))


def _rows(entries: Sequence[Any]) -> Rows:
    """Objects of one kind as rows; made column by column where all hold the same sorts of cells."""
    if not entries:
        return []
    kind: Any = type(entries[0])
    columns: dict[str, Sequence[Any]] = {}
    for key in vars(entries[0]):
        if key in _apart(kind):
            continue
        cells = list(map(attrgetter(key), entries))
        kinds = set(map(type, cells))
        if kinds <= _CELLS:
            columns[key] = cells
        elif kinds == {tuple} and all(map(_two, cells)):
            columns[f"{key}_low"], columns[f"{key}_high"] = zip(*cells, strict=True)
        else:
            return list(map(_row, entries))
    return [dict(zip(columns, row, strict=True)) for row in zip(*columns.values(), strict=True)]


def _row(entry: Any) -> Row:
    """An object of the report as one row; what it nests has names with a dot."""
    row: Row = {}
    _fill(row, "", entry)
    return row


def _fill(row: Row, prefix: str, entry: Any) -> None:
    """Adds the cells of an object or a mapping to a row."""
    kind: Any = type(entry)
    apart = frozenset() if isinstance(entry, Mapping) else _apart(kind)
    for key, value in (entry if isinstance(entry, Mapping) else vars(entry)).items():
        if key in apart:
            continue
        name = f"{prefix}{key}"
        if type(value) in _CELLS:  # nearly all, so asked first
            row[name] = value
        elif dataclasses.is_dataclass(value) or isinstance(value, Mapping):
            _fill(row, f"{name}.", value)
        elif isinstance(value, tuple) and _two(value):
            row[f"{name}_low"], row[f"{name}_high"] = value
        else:
            row[name] = list(value) if isinstance(value, tuple) else value


def _two(value: tuple[Any, ...]) -> bool:
    """Whether it has two ends, as an interval has."""
    return len(value) == 2 and not isinstance(value[0], str)


@functools.cache
def _apart(kind: type) -> frozenset[str]:
    hints = get_type_hints(kind, include_extras=True)
    return frozenset(key for key, hint in hints.items() if APART in hint.__metadata__)


def _said(reasons: Mapping[str, int]) -> list[str]:
    return [f"{words} ({number})" for words, number in reasons.items()]


TABLES: dict[str, Callable[[Report], Rows]] = {
    "agents": lambda report: _rows(report.agents),
    "missing": _missing,
    "groups": _groups,
    "consistency": _consistency,
    "time_to_success": _time_to_success,
    "label_sets": _label_sets,
    "comparisons": lambda report: _rows(report.comparisons),
    "stopping": lambda report: _rows(report.stopping.pairs if report.stopping else ()),
    "powered": lambda report: _rows(report.powered.agents if report.powered else ()),
    "powered_pairs": lambda report: _rows(report.powered.pairs if report.powered else ()),
    "contrasts": lambda report: _rows(report.contrasts),
    "metrics": lambda report: _rows(report.metrics),
    "metrics_left_out": lambda report: _rows(report.metrics_left_out),
    "correlations": lambda report: _rows(report.correlations),
    "correlation_differences": lambda report: _rows(report.correlation_differences),
    "annotators": lambda report: _rows(report.annotators),
    "accuracy_over_time": lambda report: [
        {"annotator": entry.annotator, "block": n, **_row(block)}
        for entry in report.annotators
        for n, block in enumerate(entry.blocks, 1)
    ],
    "judged_by": _judged_by,
    "annotator_effects": lambda report: _rows(report.judges.effects if report.judges else ()),
    "adjusted": lambda report: _rows(report.judges.adjusted if report.judges else ()),
    "other_annotators": lambda report: _rows(report.judges.other_rates if report.judges else ()),
    "other_annotators_pairs": lambda report: _rows(
        report.judges.other_pairs if report.judges else ()
    ),
    "likely_accuracy": lambda report: _rows(
        report.judges.likely.annotators if report.judges and report.judges.likely else ()
    ),
    "likely_clips": lambda report: _rows(
        report.judges.likely.clips if report.judges and report.judges.likely else ()
    ),
    "accuracy_by_group": _accuracy_by_group,
    "efforts": lambda report: _rows(report.efforts),
    "unable": lambda report: [
        {**_row(dataclasses.replace(entry, reasons={})), "reasons": "; ".join(_said(entry.reasons))}
        for entry in report.unable
    ],
    "reviews": lambda report: _rows(report.reviews.errors if report.reviews else ()),
    "scenarios": lambda report: _rows(report.scenarios),
    "tags": lambda report: [
        {"agent": entry.agent, "tag": entry.tag, **_row(entry)} for entry in report.tags
    ],
    "fragility": lambda report: _rows(report.questions.fragility if report.questions else ()),
    "not_worse": lambda report: _rows(report.questions.not_worse if report.questions else ()),
    "improvements": lambda report: _rows(report.questions.improvements if report.questions else ()),
    "profiles": lambda report: (
        [
            {
                "agent": entry.agent,
                "pass_rate": level,
                "share": share,
                **_ends("share", entry.band[level]),
                "scenarios": entry.scenarios,
            }
            for entry in report.questions.profiles
            for level, share in entry.shares.items()
        ]
        if report.questions
        else []
    ),
    "pairs": lambda report: _linked(report.pairs),
    "series": lambda report: _linked(report.series),
    "against": lambda report: _rows(report.against.agents if report.against else ()),
}
"""Every table that a report can have."""
