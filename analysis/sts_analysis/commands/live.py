"""`sts live score`: score the agents of a live evaluation."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from sts.cli.arguments import format_table
from sts.cli.command import Result, argument, declare, group, option
from sts.commands.live import ls, new, show
from sts.errors import StsError
from sts.names import count_noun

if TYPE_CHECKING:
    from sts.live.interactions import SessionSummary
    from sts.storage.workspace import Workspace
    from sts_analysis.metrics.interactive import AgentScore


_HEADER = "agent score low high standardised slope n unmarked cannot_tell people late hours".split()


@declare("score pilot")
def score(
    workspace: Workspace,
    *,
    name: str = argument("NAME", "name of the study"),
    csv: Path | None = option(
        "FILE", "also write the interactions as CSV (default: none)", type=Path
    ),
) -> Result:
    """Score the agents of a study by success per instruction."""
    from sts.live.interactions import (
        SETTER,
        SETTER_NOTE,
        Interaction,
        collect_sessions,
        write_interactions,
    )
    from sts.live.plans import load_plan
    from sts.live.prompts import hash_prompts
    from sts.storage.csv_tables import format_csv
    from sts.storage.files import canonical_json, write_atomically
    from sts.storage.scores import save_scores
    from sts_analysis.metrics.interactive import score_interactions

    plan = load_plan(workspace, name)
    sessions = collect_sessions(workspace, plan)
    rows = [row for session in sessions for row in session.interactions]
    scores = score_interactions(rows)
    if not any(agent.instructions for agent in scores):
        raise StsError(
            f"study {plan.name!r}: expected an instruction in a finished session, found none in "
            f"{count_noun(len(sessions), 'session')}; run the sessions first"
        )
    table = workspace.path("live", plan.name, "interactions.parquet")
    write_interactions(table, rows)
    if csv:
        write_atomically(csv, format_csv(Interaction._fields, rows))
    hours = _sum_hours(sessions)
    settings = {"prompts": hash_prompts(plan.prompts), "study": plan.name, "suite": None}
    sees = {agent.name: agent.sees for agent in plan.agents}
    records = [
        {
            "agent": agent.agent,
            "metric": agent.metric,
            "value": agent.score,
            "standard_error": agent.standard_error,
            "n": agent.instructions,
            "hours": hours[agent.agent, agent.fingerprint],
            "parameters": canonical_json(settings).decode(),
            "sees": sees.get(agent.agent, ""),
            "fingerprint": agent.fingerprint,
        }
        for agent in scores
        if agent.score is not None
    ]
    path = save_scores(workspace, scores[0].metric, records)
    broken = [session for session in sessions if not session.practice and not session.scored]
    value = {
        "study": plan.name,
        "metric": scores[0].metric,
        "agents": [
            agent._asdict() | {"person_hours": hours[agent.agent, agent.fingerprint]}
            for agent in scores
        ],
        "sessions": dict(Counter(session.ended or "broke off" for session in sessions)),
        "practice": sum(session.practice for session in sessions),
        "broke_off": [session.id for session in broken],
        "person_hours": sum(session.person_hours for session in sessions),
        "interactions": str(table),
        "path": str(path),
    }
    cells = [_cells(agent, hours[agent.agent, agent.fingerprint]) for agent in scores]
    notes = [SETTER_NOTE] if scores[0].metric == SETTER else []
    notes += [note for agent in scores for note in _describe(agent)]
    counts = (
        f"{scores[0].metric}: {count_noun(sum(s.scored for s in sessions), 'scored session')}, "
        f"{value['practice']} for practice, {len(broken)} broke off; "
        f"{value['person_hours']:.1f} person-hours in all"
    )
    text = "\n\n".join([format_table(_HEADER, cells), "\n".join([counts, *notes]), f"-> {path}"])
    return Result(value, text)


def _sum_hours(sessions: Sequence[SessionSummary]) -> dict[tuple[str, str], float]:
    """Return the person-hours of each agent's scored sessions."""
    hours: dict[tuple[str, str], float] = defaultdict(float)
    for session in sessions:
        if session.scored:
            hours[session.agent, session.fingerprint] += session.person_hours
    return hours


def _cells(agent: AgentScore, hours: float) -> list[Any]:
    low, high = agent.interval or (None, None)
    slope = None if agent.slope is None else f"{agent.slope:+.3f}"
    if agent.slope_error is not None:
        slope = f"{slope} ± {agent.slope_error:.3f}"
    numbers = (agent.score, low, high, agent.standardised, slope)
    counts = agent.instructions, agent.unmarked, agent.cannot_tell, agent.people
    shown = [*numbers, *counts, agent.late_share, hours]
    return [agent.agent, *("none" if cell is None else cell for cell in shown)]


def _describe(agent: AgentScore) -> list[str]:
    """Return sentences on what a reader of an agent's score should know."""
    mix = ", ".join(f"{name} {count}" for name, count in agent.mix.items())
    lines = [f"{agent.agent}: prompts {mix}"] if mix else []
    if agent.reason:
        lines.append(f"{agent.agent}: no interval: {agent.reason}")
    if agent.unmet:
        lines.append(
            f"{agent.agent}: never met {', '.join(agent.unmet)} ({agent.unmet_share:.0%} of all "
            "instructions); its standardised score has its plain score there"
        )
    return lines


LIVE = group("live new pilot --agent {agent} --agent {other} --people 4", new, ls, show, score)
