"""Output files of the intelligence test: the workspace's scores table, and a CSV breakdown."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from sts.plugin import Workspace, canonical_json, format_csv
from sts.plugin import save_scores as save_rows
from sts_lambda_star.generation import patterns
from sts_lambda_star.generation.patterns import Settings
from sts_lambda_star.intelligence.score import DEFAULT_PRACTICE_EPISODES, LevelScore, Scores

METRIC = "lambda-star"


def metric_name(settings: Mapping[str, Any]) -> str:
    """Return the metric name in reports of a score under `settings`, those of `Scores`.

    It is `METRIC` for the default settings, followed by those that differ, as in
    "lambda-star team=5". Episodes and seed only affect the precision and are not in the name.
    """
    defaults, values = _settings_by_flag({}), _settings_by_flag(settings)
    different = [f"{word}={value}" for word, value in values.items() if value != defaults[word]]
    return " ".join([METRIC, *different])


def save_scores(workspace: Workspace, scores: Scores) -> Path:
    """Save the scores in the workspace's scores table; return its path.

    They replace the rows of the same agents, measured in the same way; other rows stay. Column
    `sees` is the agent's access in the test, which may exceed that in a suite: a rehearsal. A table
    that cannot be read is left unchanged.
    """
    return save_rows(workspace, METRIC, score_rows(scores))


def score_rows(scores: Scores) -> list[dict[str, Any]]:
    """Return the scores as rows of the scores table."""
    return [
        {
            "agent": mean.agent,
            "metric": metric_name(scores.settings),
            "value": mean.mean,
            "standard_error": mean.standard_error,
            "n": mean.episodes,
            "parameters": canonical_json(scores.settings).decode(),
            "sees": mean.sees,
            "fingerprint": fingerprint,
        }
        for mean, fingerprint in zip(scores.agents, scores.fingerprints, strict=True)
    ]


def to_csv_table(scores: Scores) -> bytes:
    """Return every score as CSV: a row for each factor, level and agent, the best first.

    The factor `all` has the scores over all environments of the base. `complexity_low` and
    `complexity_high` are the range that K was drawn from, empty if it was not drawn.
    """
    complexity_range = scores.settings["complexity"] or ("", "")
    best_first = sorted(scores.agents, key=lambda mean: -mean.mean)
    cells = [["all", "", "", *mean, *complexity_range] for mean in best_first]
    cells += [[*part, *complexity_range] for part in scores.breakdown]
    return format_csv([*LevelScore._fields, "complexity_low", "complexity_high"], cells)


def _settings_by_flag(settings: Mapping[str, Any]) -> dict[str, str]:
    """Return the settings that distinguish tests, by their command-line names."""
    merged = Settings()._asdict() | {"rehearsals": DEFAULT_PRACTICE_EPISODES} | dict(settings)
    s = Settings(*(merged[name] for name in Settings._fields))
    default_range = patterns.complexity_range(s._replace(complexity=None))
    complexity = s.complexity and tuple(s.complexity)
    return {
        "size": f"{s.height}x{s.width}",
        "team": str(s.n_players),
        "steps": str(s.horizon),
        "patterns": s.patterns,
        "complexity": "" if complexity in (None, default_range) else "{}-{}".format(*complexity),
        "radius": str(s.radius),
        "needs": str(s.needs),
        "rehearsals": str(merged["rehearsals"]),
    }
