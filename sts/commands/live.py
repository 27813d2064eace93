"""`sts live`: plan live evaluations, and show how far they are."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from sts.cli.arguments import format_table, to_records
from sts.cli.command import AGENTS, Result, argument, declare, option, switch
from sts.cli.settings import WORLD_SETTINGS, WorldSettings
from sts.names import count_noun

if TYPE_CHECKING:
    from sts.live.interactions import SessionSummary
    from sts.live.plans import Plan
    from sts.storage.workspace import Workspace


_EVENNESS = {
    "replications": "sessions of an agent",
    "pairs": "people who meet both of two agents",
    "places": "sessions of an agent at one place",
    "orders": "sessions of an agent directly after one other",
}

_COUNTS = ("planned", "finished", "unfinished", "hours")


@declare("ls")
def ls(workspace: Workspace) -> Result:
    """List the studies and how many sessions they have."""
    from sts.live import interactions
    from sts.live.plans import list_studies, load_plan

    plans = {name: load_plan(workspace, name) for name in list_studies(workspace)}
    sessions: dict[str, list[SessionSummary]] = defaultdict(list)
    for path, events in interactions.read_journals(workspace):
        study = events[0].get("study", "")
        session = interactions.summarise_session(path, events, plans.get(study))
        sessions[study].append(session)
    header = ("study", "agents", "people", *_COUNTS)
    rows = [
        (name, len(plan.agents), plan.people, *_count(len(plan.cells), sessions[name]))
        for name, plan in plans.items()
    ]
    others = len(sessions[""])
    text = f"{format_table(header, rows)}\n\n{count_noun(others, 'session')} outside studies"
    return Result({"studies": to_records(header, rows), "outside_studies": others}, text)


@declare("show pilot")
def show(workspace: Workspace, *, name: str = argument("NAME", "name of the study")) -> Result:
    """Show the sessions of a study by person."""
    from sts.live import interactions
    from sts.live.plans import load_plan

    plan = load_plan(workspace, name)
    sessions: dict[int, list[SessionSummary]] = defaultdict(list)
    for session in interactions.collect_sessions(workspace, plan):
        if session.cell < len(plan.cells):
            sessions[plan.cells[session.cell].person].append(session)
    rows = [
        (
            sessions[place][0].person if sessions[place] else f"place {place + 1}, free",
            *_count(1 + len(row), sessions[place]),
        )
        for place, row in enumerate(plan.rows)
    ]
    header = ("person", *_COUNTS)
    people = to_records(header, rows)
    return Result({"study": plan.name, "people": people}, format_table(header, rows))


def _count(planned: int, sessions: Sequence[SessionSummary]) -> tuple[int, int, int, float]:
    """Return the numbers of `_COUNTS`; a session that still runs or broke off is unfinished."""
    from sts.live import interactions

    finished = sum(session.ended in interactions.COMPLETE for session in sessions)
    hours = sum((session.person_hours for session in sessions), 0.0)
    return planned, finished, len(sessions) - finished, hours


@declare("new pilot --agent {agent} --agent {other} --people 4 --minutes 5")
def new(
    workspace: Workspace,
    *,
    name: str = argument("NAME", "name of the study"),
    agent: list[str] = AGENTS,
    people: int = option("P", "people who set tasks", 4, least=1),
    minutes: float = option("M", "length of a session", 5.0),
    sessions_per_person: int | None = option(
        "K", "sessions of each person, next to practice (default: all agents, at most 8)", least=1
    ),
    domain: str | None = option("D", "environment (default: the agents')"),
    tick: float | None = option(
        "S", "seconds from step to step (default: the environment's)", type=float
    ),
    practice_agent: str = option(
        "A", "agent of the practice session, which is not scored", "random"
    ),
    prompts: Path | None = option(
        "FILE", "prompts in TOML (default: the packaged ones)", type=Path
    ),
    rehearsal: bool = switch("a trial run by scripts, which journals and scores name as scripts"),
    split: str = option(
        ("train", "test", "any"),
        "of the worlds: scenarios are made from test worlds, training episodes from train",
        "any",
    ),
    seed: int = option("S", "seed of the random draws (default: 0)", 0, least=0),
    settings: WorldSettings = WORLD_SETTINGS,
) -> Result:
    """Plan a study: which agents each person meets, in which order, under which names."""
    from sts.live.plans import make_plan, save_plan

    plan = make_plan(
        name,
        agent,
        people=people,
        minutes=minutes,
        sessions_per_person=sessions_per_person,
        domain=domain,
        read_settings=settings.read,
        tick=tick,
        practice_agent=practice_agent,
        prompts=prompts,
        seed=seed,
        rehearsal=rehearsal,
        split=split,
    )
    path = save_plan(workspace, plan)
    return Result({"path": str(path), **_summarise(plan)}, f"{_describe(plan)}\n\n-> {path}")


def _summarise(plan: Plan) -> dict[str, Any]:
    """Return the numbers of a plan for a program."""
    from sts.live.prompts import hash_prompts

    return {
        "study": plan.name,
        "domain": plan.domain,
        "agents": {agent.name: agent.fingerprint for agent in plan.agents},
        "people": plan.people,
        "sessions_per_person": len(plan.rows[0]),
        "evenness": {name: list(ends) for name, ends in plan.evenness._asdict().items()},
        "person_hours": plan.person_hours,
        "prompts": hash_prompts(plan.prompts),
    }


def _describe(plan: Plan) -> str:
    from sts.agents.identity import describe_fingerprint
    from sts.live.worlds import ANY

    agents = [(agent.name, describe_fingerprint(agent.fingerprint)) for agent in plan.agents]
    counts = plan.evenness._asdict()
    even = [(_EVENNESS[name], low, high) for name, (low, high) in counts.items()]
    sessions = len(plan.rows[0])
    cost = "a rehearsal by scripts" if plan.rehearsal else f"{plan.person_hours:.1f} person-hours"
    return (
        f"{format_table(('agent', 'fingerprint'), agents)}\n\n"
        f"{format_table(('balance', 'least', 'most'), even)}\n\n"
        f"{plan.people} people x (1 practice + {sessions}) sessions of {plan.minutes:g} minutes in "
        f"{'' if plan.split == ANY else f'{plan.split} worlds of '}{plan.domain}: {cost}"
    )
