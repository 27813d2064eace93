"""Writes a report's folder: the page, its JSON, its figures and every number as CSV."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from analysis.report.build import SCHEMA
from analysis.report.figures import FIGURES, figures
from analysis.report.page import render
from sts.errors import ArgumentError, StsError
from sts.names import shown
from sts.storage.csv_tables import to_csv
from sts.storage.files import parsed_json, regular_bytes
from sts.storage.folders import replace_folder

Report = Mapping[str, Any]
Rows = list[dict[str, Any]]


def write(folder: Path, report: Report) -> Path:
    """Writes report.html, report.json, tables/*.csv and figures/*.svg, all of them at once.

    Args:
      folder: new, empty, or one that holds a report, which is replaced as a whole. What else lies
        in that stays.
      report: the content of report.json.

    Returns:
      The path of the page.

    Raises:
      ArgumentError: the folder holds other things and no report.
      OSError: the disk is full or read-only; an earlier report is then as it was.
    """
    check_folder(folder)
    drawn = figures(report)
    files = {f"tables/{name}.csv": _csv(rows) for name, rows in tables(report).items()}
    files |= {f"figures/{name}.svg": svg.encode() for name, svg in drawn.items()}
    text = json.dumps(report, indent=1, ensure_ascii=False, allow_nan=False)
    files["report.json"] = f"{text}\n".encode()
    files["report.html"] = render(report, drawn).encode()
    own = {f"tables/{name}.csv" for name in TABLES} | {f"figures/{name}.svg" for name in FIGURES}
    replace_folder(folder, files, own | {"report.json", "report.html"})
    return folder / "report.html"


def check_folder(folder: Path) -> None:
    """Refuses a folder that a report must not take the place of.

    Raises:
      ArgumentError: it holds other things and no report.
    """
    if not folder.is_dir():
        return
    try:
        content = parsed_json(regular_bytes(folder / "report.json").decode(), dict)
        ours = str(content.get("schema")).startswith(f"{SCHEMA.partition('/')[0]}/")
    except (OSError, ValueError, StsError):
        ours = False
    other = min((path.name for path in folder.iterdir()), default=None)
    if not ours and other is not None:
        raise ArgumentError(
            f"expected a new or empty folder for the report, or one that holds a report; found "
            f"{shown(other)} in {folder}: name another, such as {folder / 'report'}"
        )


def tables(report: Report) -> dict[str, Rows]:
    """The report's numbers as flat tables: name -> rows; tables without a row are left out."""
    made = {name: make(report) for name, make in TABLES.items()}
    return {name: rows for name, rows in made.items() if rows}


def _csv(rows: Sequence[Mapping[str, Any]]) -> bytes:
    columns = list(dict.fromkeys(column for row in rows for column in row))
    return to_csv(columns, ([row.get(column) for column in columns] for row in rows))


def _missing(report: Report) -> Rows:
    return [
        {"agent": entry["agent"], "scenario": scenario}
        for entry in report["agents"]
        for scenario in entry["missing"]
    ]


def _groups(report: Report) -> Rows:
    return [
        {"agent": entry["agent"], "group": group, "name": name, **_flat(cell)}
        for entry in report["agents"]
        for group in ("kinds", "categories")
        for name, cell in entry[group].items()
    ]


def _consistency(report: Report) -> Rows:
    return [
        {"agent": entry["agent"], "k": int(k), "pass_hat_k": value}
        | {"pass_at_k": entry["consistency"]["pass_at_k"][k]}
        | {"scenarios": entry["consistency"]["k_scenarios"][k]}
        for entry in report["agents"]
        for k, value in entry["consistency"]["pass_hat_k"].items()
    ]


def _time_to_success(report: Report) -> Rows:
    return [
        {"agent": entry["agent"], "curve": curve, "step": step, "share": share}
        for entry in report["agents"]
        for curve in ("curve", "reached", "successes_curve")
        for step, share in entry["time_to_success"][curve] or ()
    ]


def _label_sets(report: Report) -> Rows:
    return [
        {"labels": source, **_flat(entry)}
        for source, entries in report["label_sets"].items()
        for entry in entries["agents"]
    ]


def _entries(key: str) -> Callable[[Report], Rows]:
    """The table of what stands in the report as a list of entries."""
    return lambda report: [_flat(entry) for entry in report[key]]


def _agent(entry: Mapping[str, Any]) -> dict[str, Any]:
    nested = ("categories", "kinds", "missing")
    kept = {key: value for key, value in entry.items() if key not in nested}
    kept["consistency"] = {
        key: entry["consistency"][key] for key in ("icc", "interval", "agreement", "reason")
    }
    kept["time_to_success"] = {
        key: entry["time_to_success"][key] for key in ("mean_area", "interval", "reason")
    }
    return _flat(kept)


def _flat(entry: Mapping[str, Any]) -> dict[str, Any]:
    return dict(_cells(entry, ""))


def _cells(entry: Mapping[str, Any], prefix: str) -> Iterable[tuple[str, Any]]:
    for key, value in entry.items():
        name = f"{prefix}{key}"
        if isinstance(value, Mapping):
            yield from _cells(value, f"{name}.")
        elif isinstance(value, list) and len(value) == 2 and not isinstance(value[0], str):
            yield from ((f"{name}_low", value[0]), (f"{name}_high", value[1]))
        else:
            yield name, value


TABLES: dict[str, Callable[[Report], Rows]] = {
    "agents": lambda report: [_agent(entry) for entry in report["agents"]],
    "missing": _missing,
    "groups": _groups,
    "consistency": _consistency,
    "time_to_success": _time_to_success,
    "label_sets": _label_sets,
    **{
        key: _entries(key)
        for key in (
            "comparisons",
            "contrasts",
            "metrics",
            "metrics_left_out",
            "correlations",
            "correlation_differences",
            "annotators",
            "scenarios",
        )
    },
}
"""Every table that a report can have."""
