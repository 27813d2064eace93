"""Writes a report's folder: the page, its JSON, its figures and every number as CSV."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import pandas as pd

from analysis.figures import figures
from analysis.page import render
from sts.storage.files import write_atomically


def write(folder: Path, report: Mapping[str, Any]) -> Path:
    """Writes report.html, report.json, tables/*.csv and figures/*.svg, each atomically.

    Args:
      folder: made if it is missing; what an earlier report left there is written over.
      report: the content of report.json.

    Returns:
      The path of the page.

    Raises:
      OSError: the disk is full or read-only.
    """
    drawn = figures(report)
    for name, rows in tables(report).items():
        text = pd.DataFrame(rows).to_csv(index=False, lineterminator="\n")
        write_atomically(folder / "tables" / f"{name}.csv", text.encode())
    for name, svg in drawn.items():
        write_atomically(folder / "figures" / f"{name}.svg", svg.encode())
    text = json.dumps(report, indent=1, ensure_ascii=False, allow_nan=False)
    write_atomically(folder / "report.json", f"{text}\n".encode())
    page = folder / "report.html"
    write_atomically(page, render(report, drawn).encode())
    return page


def tables(report: Mapping[str, Any]) -> dict[str, list[dict[str, Any]]]:
    """The report's numbers as flat tables: name -> rows; tables without a row are left out."""
    agents = report["agents"]
    found = {
        "agents": [_agent(entry) for entry in agents],
        "missing": [
            {"agent": entry["agent"], "scenario": scenario}
            for entry in agents
            for scenario in entry["missing"]
        ],
        "groups": [
            {"agent": entry["agent"], "group": group, "name": name, **_flat(cell)}
            for entry in agents
            for group in ("kinds", "categories")
            for name, cell in entry[group].items()
        ],
        "consistency": [
            {"agent": entry["agent"], "k": int(k), "pass_hat_k": value}
            | {"pass_at_k": entry["consistency"]["pass_at_k"][k]}
            | {"scenarios": entry["consistency"]["k_scenarios"][k]}
            for entry in agents
            for k, value in entry["consistency"]["pass_hat_k"].items()
        ],
        "time_to_success": [
            {"agent": entry["agent"], "curve": curve, "step": step, "share": share}
            for entry in agents
            for curve in ("curve", "reached", "successes_curve")
            for step, share in entry["time_to_success"][curve] or ()
        ],
        "comparisons": [_flat(entry) for entry in report["comparisons"]],
        "contrasts": [_flat(entry) for entry in report["contrasts"]],
        "metrics": [_flat(entry) for entry in report["metrics"]],
        "correlations": [_flat(entry) for entry in report["correlations"]],
        "correlation_differences": [_flat(e) for e in report["correlation_differences"]],
        "annotators": [_flat(entry) for entry in report["annotators"]],
        "label_sets": [
            {"labels": source, **_flat(entry)}
            for source, entries in report["label_sets"].items()
            for entry in entries["agents"]
        ],
        "scenarios": [_flat(entry) for entry in report["scenarios"]],
    }
    return {name: rows for name, rows in found.items() if rows}


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
