"""Files of scores: the workspace's scores table, and the breakdown as CSV."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from sts.storage import scores as table
from sts.storage.csv_tables import to_csv
from sts.storage.files import canonical_json
from sts.storage.workspace import Workspace
from sts.worlds.lambda_star.generation import patterns
from sts.worlds.lambda_star.generation.patterns import Settings
from sts.worlds.lambda_star.intelligence.score import REHEARSALS, Part, Scores

METRIC = "lambda-star"


def metric(settings: Mapping[str, Any]) -> str:
    """Return what a score under `settings`, those of `Scores`, is called in a report.

    The test as it is unless something is asked for is `METRIC`; a name says what is different, as
    in "lambda-star team=5". Episodes and seed make the same test more or less precise and are not
    in the name.
    """
    usual, own = _in_words({}), _in_words(settings)
    different = [f"{word}={value}" for word, value in own.items() if value != usual[word]]
    return " ".join([METRIC, *different])


def save(workspace: Workspace, scores: Scores) -> Path:
    """Keep the scores in the workspace's scores table.

    They take the place of what was kept of the same agents in the same test; what was kept of other
    agents, or in a test of other settings, stays. A row says what its agent saw in the test, which
    may be more than it sees in a suite: a rehearsal. A table that cannot be read is left as it is.
    """
    path = workspace.ensure().path("scores", f"{METRIC}.parquet")
    with workspace.locked():
        kept = {(row["agent"], row["metric"]): row for row in (*_kept(path), *rows(scores))}
        table.write(path, list(kept.values()))
    return path


def rows(scores: Scores) -> list[dict[str, Any]]:
    """Return the scores as rows of the scores table."""
    return [
        {
            "agent": mean.agent,
            "metric": metric(scores.settings),
            "value": mean.mean,
            "standard_error": mean.standard_error,
            "n": mean.episodes,
            "parameters": canonical_json(scores.settings).decode(),
            "sees": mean.sees,
            "fingerprint": mark,
        }
        for mean, mark in zip(scores.agents, scores.fingerprints, strict=True)
    ]


def csv_table(scores: Scores) -> bytes:
    """Return every score as CSV: a row for each factor, level and agent, the best first.

    The factor `all` has the scores over all environments of the base. `complexity_low` and
    `complexity_high` are the range that K was drawn from, empty where it is not drawn.
    """
    drawn = scores.settings["complexity"] or ("", "")
    best_first = sorted(scores.agents, key=lambda mean: -mean.mean)
    cells = [["all", "", "", *mean, *drawn] for mean in best_first]
    cells += [[*part, *drawn] for part in scores.breakdown]
    return to_csv([*Part._fields, "complexity_low", "complexity_high"], cells)


def _in_words(settings: Mapping[str, Any]) -> dict[str, str]:
    """Return each setting that makes a test another one, in the words of the command line."""
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


def _kept(path: Path) -> list[dict[str, Any]]:
    """Return the rows of a scores table under the names that their tests have now."""
    kept = table.read(path) if path.exists() else []
    return [row | {"metric": metric(json.loads(row["parameters"]))} for row in kept]
