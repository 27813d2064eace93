"""`sts live`: plan live evaluations, and show how far they are."""

import argparse
import functools
from collections import defaultdict
from collections.abc import Sequence
from typing import Any

from sts.agents.identity import describe_fingerprint
from sts.cli.arguments import format_table, to_records
from sts.cli.command import Result
from sts.cli.settings import read_settings
from sts.live import interactions
from sts.live.interactions import SessionSummary
from sts.live.plans import Plan, list_studies, load_plan, make_plan, save_plan
from sts.live.prompts import hash_prompts
from sts.live.worlds import ANY
from sts.names import count_noun
from sts.storage.workspace import Workspace

_EVENNESS = {
    "replications": "sessions of an agent",
    "pairs": "people who meet both of two agents",
    "places": "sessions of an agent at one place",
    "orders": "sessions of an agent directly after one other",
}

_COUNTS = ("planned", "finished", "unfinished", "hours")


def ls(args: argparse.Namespace, workspace: Workspace) -> Result:
    """List the studies with the numbers of their sessions, and count the other sessions."""
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


def show(args: argparse.Namespace, workspace: Workspace) -> Result:
    """Show the sessions of a study by person."""
    plan = load_plan(workspace, args.name)
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
    finished = sum(session.ended in interactions.COMPLETE for session in sessions)
    hours = sum((session.person_hours for session in sessions), 0.0)
    return planned, finished, len(sessions) - finished, hours


def new(args: argparse.Namespace, workspace: Workspace) -> Result:
    """Plan a study, save the plan, and show how even it is."""
    plan = make_plan(
        args.name,
        args.agent,
        people=args.people,
        minutes=args.minutes,
        sessions_per_person=args.sessions_per_person,
        domain=args.domain,
        read_settings=functools.partial(read_settings, args),
        tick=args.tick,
        practice_agent=args.practice_agent,
        prompts=args.prompts,
        seed=args.seed,
        rehearsal=args.rehearsal,
        split=args.split,
    )
    path = save_plan(workspace, plan)
    return Result({"path": str(path), **_summarise(plan)}, f"{_describe(plan)}\n\n-> {path}")


def _summarise(plan: Plan) -> dict[str, Any]:
    """Return the numbers of a plan for a program."""
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
