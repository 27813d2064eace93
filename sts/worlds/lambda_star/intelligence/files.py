"""Files of scores: the workspace's scores table, and the breakdown as CSV."""

from __future__ import annotations

import csv
import io
import json
import math
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from sts.storage import parquet
from sts.storage.files import canonical_json
from sts.storage.scores import SCORES
from sts.storage.workspace import Workspace
from sts.worlds.lambda_star.generation import patterns
from sts.worlds.lambda_star.generation.patterns import Settings
from sts.worlds.lambda_star.intelligence.score import REHEARSALS, Part, Scores

METRIC = "lambda-star"
_VERSION = 1


def metric(settings: Mapping[str, Any]) -> str:
    """Returns what a score is called in a report, where other settings are another metric.

    The test as it is unless something is asked for is `METRIC`; a name says what is different, as
    in "lambda-star team=5". Episodes and seed make the same test more or less precise and are not
    in the name.

    Args:
      settings: of `score.Scores`.
    """
    usual, found = _told({}), _told(settings)
    different = [f"{word}={said}" for word, said in found.items() if said != usual[word]]
    return " ".join([METRIC, *different])


def save(workspace: Workspace, scores: Scores) -> Path:
    """Keeps the scores in the workspace's scores table.

    They take the place of what was kept of the same agents in the same test; what was kept of other
    agents, or in a test of other settings, stays.

    Raises:
      DamagedData: the table cannot be read, and is left as it is.
    """
    path = workspace.ensure().path("scores", f"{METRIC}.parquet")
    used, called = canonical_json(scores.settings).decode(), metric(scores.settings)
    with workspace.locked():
        rows = _kept(path)
        for mean in scores.agents:
            error = math.nan if mean.standard_error is None else mean.standard_error
            row = (mean.agent, called, mean.mean, error, mean.episodes, used)
            rows[mean.agent, called] = row
        found = dict(zip(SCORES, zip(*rows.values(), strict=True), strict=True))
        parquet.write(path, "scores", _VERSION, SCORES, found)
    return path


def csv_table(scores: Scores) -> str:
    """Returns every score as CSV: a row for each factor, level and agent, the best first.

    The factor `all` has the scores over all environments of the base. `complexity_low` and
    `complexity_high` are the range that K was drawn from, empty where it is not drawn.
    """
    drawn = scores.settings["complexity"] or ("", "")
    file = io.StringIO()
    rows = csv.writer(file, lineterminator="\n")
    rows.writerow([*Part._fields, "complexity_low", "complexity_high"])
    for mean in sorted(scores.agents, key=lambda mean: -mean.mean):
        rows.writerow(["all", "", "", *mean, *drawn])
    rows.writerows([*part, *drawn] for part in scores.breakdown)
    return file.getvalue()


def _told(settings: Mapping[str, Any]) -> dict[str, str]:
    """Returns each setting that makes a test another one, in the words of the command line."""
    asked = Settings()._asdict() | {"rehearsals": REHEARSALS} | dict(settings)
    made = Settings(*(asked[name] for name in Settings._fields))
    drawn = patterns.drawn_range(made._replace(complexity=None))
    complexity = made.complexity and tuple(made.complexity)
    return {
        "size": f"{made.height}x{made.width}",
        "team": str(made.participants),
        "steps": str(made.horizon),
        "patterns": made.patterns,
        "complexity": "" if complexity in (None, drawn) else "{}-{}".format(*complexity),
        "radius": str(made.radius),
        "rehearsals": str(asked["rehearsals"]),
    }


def _kept(path: Path) -> dict[tuple[str, str], tuple[Any, ...]]:
    """Returns the rows of a scores table by agent and metric; no row where there is none."""
    if not path.exists():
        return {}
    table = parquet.read(path, "scores", _VERSION, SCORES)
    rows = zip(*(table.column(name).to_pylist() for name in SCORES), strict=True)
    kept = {}
    for agent, _, value, error, n, parameters in rows:
        called = metric(json.loads(parameters))
        kept[agent, called] = (agent, called, value, error, n, parameters)
    return kept
