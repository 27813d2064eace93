"""Scores as tables for a terminal."""

from __future__ import annotations

from collections.abc import Sequence

from sts.cli.arguments import table
from sts.worlds.lambda_star.intelligence.score import Part, Scores

_MANY = 5
"""Agents beyond which not every pair is printed."""

_HEADINGS = {
    "complexity": "K, complexity",
    "uncertainty": "H, uncertainty",
    "team": "team",
    "steps": "steps",
}


def text(scores: Scores) -> str:
    """Returns the scores as tables, the best first."""
    ranked = sorted(scores.agents, key=lambda mean: -mean.mean)
    rows = [(m.agent, m.sees, m.mean, _or_none(m.standard_error)) for m in ranked]
    blocks = [table(("agent", "sees", "mean reward", "standard error"), rows)]
    if scores.differences:
        blocks.append(_differences(scores, [mean.agent for mean in ranked]))
    for factor, heading in _HEADINGS.items():
        parts = [part for part in scores.breakdown if part.factor == factor]
        if parts:
            blocks.append(_factor(heading, parts))
    used = scores.settings
    several = any(part.factor != "complexity" for part in scores.breakdown)
    words = [f"{_counted(used['episodes'], 'environment')} of {used['height']}x{used['width']}"]
    if used["complexity"]:
        words.append("K {} to {}".format(*used["complexity"]) + " at every level" * several)
    words += [f"{used['participants']} in the team", f"{used['horizon']} steps each"]
    blocks.append(", ".join(words))
    return "\n\n".join(blocks)


def _counted(number: int, thing: str) -> str:
    return f"{number} {thing}" if number == 1 else f"{number} {thing}s"


def _differences(scores: Scores, ranked: Sequence[str]) -> str:
    """Returns the table of every pair; of many agents, of those next to each other by score."""
    place = {agent: i for i, agent in enumerate(ranked)}
    rows = []
    for a, b, difference, error in scores.differences:
        if place[a] > place[b]:
            a, b, difference = b, a, 0.0 - difference
        if len(ranked) <= _MANY or place[b] - place[a] == 1:
            rows.append((a, b, difference, _or_none(error)))
    rows.sort(key=lambda row: (place[row[0]], place[row[1]]))
    pairs = table(("a", "b", "a - b", "standard error"), rows)
    return pairs if len(ranked) <= _MANY else f"{pairs}\n(every pair: --json)"


def _factor(heading: str, parts: Sequence[Part]) -> str:
    """Returns one factor's table: agents down, its levels across, mean and standard error."""
    levels = dict.fromkeys((part.value, part.label) for part in parts)
    agents = dict.fromkeys(part.agent for part in parts)
    cells = {(part.agent, part.value, part.label): _cell(part) for part in parts}
    episodes = {(part.value, part.label): part.episodes for part in parts}
    bits = parts[0].factor == "uncertainty"
    header = [f"{label} ({value:.1f} bits)" if bits else label for value, label in levels]
    rows = [(agent, *(cells[agent, *level] for level in levels)) for agent in agents]
    rows.append(("episodes", *(str(episodes[level]) for level in levels)))
    return table((heading, *header), rows)


def _cell(score: Part) -> str:
    error = "" if score.standard_error is None else f" ±{score.standard_error:.3f}"
    return f"{score.mean:z.3f}{error}"


def _or_none(value: float | None) -> float | str:
    return "none" if value is None else value
