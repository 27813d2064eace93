"""`sts lambda-star score`: intelligence test of agents."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from sts.plugin import ArgumentError, command, format_table, print_result, show_progress
from sts_lambda_star.commands.arguments import (
    AGENT_HELP,
    EPISODES,
    PATTERNS,
    SEED,
    complexity_option,
)
from sts_lambda_star.flags import parse_size

if TYPE_CHECKING:
    from pathlib import Path

    from sts.plugin import Workspace
    from sts_lambda_star.intelligence.score import LevelScore, Scores

_MAX_ALL_PAIRS = 5
"""Maximum number of agents for which every pair is printed."""

_HEADINGS = {
    "complexity": "K, complexity",
    "uncertainty": "H, uncertainty",
    "team": "team",
    "steps": "steps",
    "sight": "sight",
}


_COMPLEXITY = complexity_option(" at every level")


@command.declare(
    "score --agent random --agent local-search --episodes 200",
    description="Score agents on the same environments, with standard errors, differences and "
    "a breakdown by the complexity K of the environments. --size, --team, --steps and --sight "
    "may be given more than once: their first values are the base settings, and each further "
    "value adds a level to the breakdown by that setting, with the others as in the base. All "
    "levels then draw K from the range that they have in common, so that K is comparable; the "
    "last line of the output shows this range.",
)
def score(
    workspace: Workspace,
    as_json: bool,
    *,
    agent: list[str] = command.repeatable(
        "A", f"{AGENT_HELP}; all: every published agent", required=True
    ),
    size: list[tuple[int, int]] = command.repeatable(
        "HxW", "rows and columns (default: 10x10)", type=parse_size
    ),
    team: list[int] = command.repeatable("P", "number of players (default: 1)", type=int),
    steps: list[int] = command.repeatable("T", "steps per episode (default: 50)", type=int),
    sight: list[int] = command.repeatable(
        "K", "cells that agents see in each direction (default: 1)", type=int
    ),
    needs: int = command.option(
        "N", "players near Good, or Evil, without whom it has no effect", 1
    ),
    seed: int = SEED,
    patterns: str = PATTERNS,
    complexity: tuple[int, int] | None = _COMPLEXITY,
    episodes: int = EPISODES,
    practice_episodes: int = command.option(
        "N",
        "practice episodes of learning agents before the scored one (default: 100); "
        "0: they learn during the scored episode",
        100,
    ),
    workers: int = command.option("W", "processes", 1),
    save_scores: bool = command.switch("save the scores of the base settings in the workspace"),
    table: str | None = command.option("FILE.csv", "write the breakdown as a table"),
    figure: str | None = command.option("FILE.svg", "draw the breakdown"),
) -> int:
    """Measure mean reward per player and step."""
    from sts.plugin import resolve_target
    from sts_lambda_star.intelligence import factors
    from sts_lambda_star.intelligence.score import score_agents

    rows = resolve_target("--table", table, ".csv")
    image = resolve_target("--figure", figure, ".svg")
    names = _resolve_agents(agent)
    base, further = factors.plan_runs(
        size or [(10, 10)],
        team or [1],
        steps or [50],
        sight or [1],
        complexity=complexity,
        patterns=patterns,
        needs=needs,
    )
    with show_progress("scoring", "episodes") as show:
        scores = score_agents(
            names,
            base,
            further,
            episodes=episodes,
            seed=seed,
            rehearsals=practice_episodes,
            workers=workers,
            progress=show,
        )
    files: dict[str, str] = {}
    try:
        _write_files(scores, rows, image, files)
        if save_scores:
            _save_scores(scores, workspace, files)
    finally:
        value = {
            "agents": [mean._asdict() for mean in scores.agents],
            "differences": [difference._asdict() for difference in scores.differences],
            "breakdown": [part._asdict() for part in scores.breakdown],
            "settings": scores.settings,
            "files": list(files),
        }
        lines = [f"-> {file}{note}" for file, note in files.items()]
        print_result(as_json, value, "\n".join([_format_scores(scores), *lines]))
    return 0


def _resolve_agents(values: Sequence[str]) -> list[str]:
    """Return the agents' names with `all` resolved; reject `all` next to an agent it includes."""
    from sts_lambda_star.intelligence.score import PUBLISHED_AGENTS

    if "all" in values:
        if list(values).count("all") > 1:
            raise ArgumentError("--agent all is given twice; give it once")
        for name in PUBLISHED_AGENTS:
            if name in values:
                raise ArgumentError(f"--agent {name}: all includes it; leave one of the two out")
    return [name for value in values for name in (PUBLISHED_AGENTS if value == "all" else [value])]


def _write_files(
    scores: Scores, rows: Path | None, image: Path | None, files: dict[str, str]
) -> None:
    """Write the requested table and figure, and add each written path to `files`."""
    from sts.plugin import write_target
    from sts_lambda_star.intelligence.files import to_csv_table

    if rows is not None:
        write_target(rows, to_csv_table(scores))
        files[str(rows)] = ""
    if image is not None:
        from sts_lambda_star.intelligence.figure import draw_figure

        write_target(image, draw_figure(scores.breakdown).encode())
        files[str(image)] = ""


def _save_scores(scores: Scores, workspace: Workspace, files: dict[str, str]) -> None:
    """Save the base scores and add the path to `files`, noting the base settings if not alone."""
    from sts_lambda_star.intelligence.files import METRIC, metric_name, save_scores

    path = save_scores(workspace, scores)
    several = any(part.factor != "complexity" for part in scores.breakdown)
    base = metric_name(scores.settings).removeprefix(METRIC).strip() or "default settings"
    files[str(path)] = f" (base: {base})" if several else ""


def _format_scores(scores: Scores) -> str:
    """Format the scores as tables, the best first."""
    ranked = sorted(scores.agents, key=lambda mean: -mean.mean)
    rows = [(m.agent, m.sees, m.mean, _format_error(m.standard_error)) for m in ranked]
    blocks = [format_table(("agent", "sees", "mean reward", "standard error"), rows)]
    if scores.differences:
        blocks.append(_format_differences(scores, [mean.agent for mean in ranked]))
    for factor, heading in _HEADINGS.items():
        parts = [part for part in scores.breakdown if part.factor == factor]
        if parts:
            blocks.append(_format_factor(heading, parts))
    used = scores.settings
    several = any(part.factor != "complexity" for part in scores.breakdown)
    noun = "environment" if used["episodes"] == 1 else "environments"
    notes = [f"{used['episodes']} {noun} of {used['height']}x{used['width']}"]
    if used["complexity"]:
        notes.append("K {} to {}".format(*used["complexity"]) + " at every level" * several)
    notes += [f"{used['n_players']} in the team", f"{used['horizon']} steps each"]
    notes += [f"sight {used['radius']}"] * (used["radius"] > 1)
    notes += [f"Good and Evil need {used.get('needs')} players near them"] * ("needs" in used)
    blocks.append(", ".join(notes))
    return "\n\n".join(blocks)


def _format_differences(scores: Scores, ranked: Sequence[str]) -> str:
    """Return the table of all pairs; for many agents, only of those adjacent in the ranking."""
    place = {agent: i for i, agent in enumerate(ranked)}
    rows = []
    for a, b, difference, error in scores.differences:
        if place[a] > place[b]:
            a, b, difference = b, a, 0.0 - difference
        if len(ranked) <= _MAX_ALL_PAIRS or place[b] - place[a] == 1:
            rows.append((a, b, difference, _format_error(error)))
    rows.sort(key=lambda row: (place[row[0]], place[row[1]]))
    pairs = format_table(("a", "b", "a - b", "standard error"), rows)
    return pairs if len(ranked) <= _MAX_ALL_PAIRS else f"{pairs}\n(all pairs: --json)"


def _format_factor(heading: str, scores: Sequence[LevelScore]) -> str:
    """Return one factor's table: a row per agent, a column per level, mean and standard error."""
    levels = dict.fromkeys((score.value, score.label) for score in scores)
    agents = dict.fromkeys(score.agent for score in scores)
    cells = {(score.agent, score.value, score.label): _format_cell(score) for score in scores}
    episodes = {(score.value, score.label): score.episodes for score in scores}
    bits = scores[0].factor == "uncertainty"
    header = [f"{label} ({value:.1f} bits)" if bits else label for value, label in levels]
    rows = [(agent, *(cells[agent, *level] for level in levels)) for agent in agents]
    rows.append(("episodes", *(str(episodes[level]) for level in levels)))
    return format_table((heading, *header), rows)


def _format_cell(score: LevelScore) -> str:
    error = "" if score.standard_error is None else f" ±{score.standard_error:.3f}"
    return f"{score.mean:z.3f}{error}"


def _format_error(value: float | None) -> float | str:
    return "none" if value is None else value
