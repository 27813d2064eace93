"""`sts live new`: plan a live evaluation."""

import argparse
import functools
from typing import Any

from sts.agents.identity import describe_fingerprint
from sts.cli.arguments import format_table
from sts.cli.command import Result
from sts.cli.settings import read_settings
from sts.live.plans import Plan, make_plan, save_plan
from sts.live.prompts import hash_prompts
from sts.storage.workspace import Workspace

_EVENNESS = {
    "replications": "sessions of an agent",
    "pairs": "people who meet both of two agents",
    "places": "sessions of an agent at one place",
    "orders": "sessions of an agent directly after one other",
}


def new(args: argparse.Namespace, workspace: Workspace) -> Result:
    """Plan a study, save the plan, and show how even it is."""
    plan = make_plan(
        args.name,
        args.agent,
        people=args.people,
        minutes=args.minutes,
        sessions_per_person=args.sessions_per_person,
        domain=args.domain,
        settings=functools.partial(read_settings, args),
        tick=args.tick,
        practice_agent=args.practice_agent,
        prompts=args.prompts,
        seed=args.seed,
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
    return (
        f"{format_table(('agent', 'fingerprint'), agents)}\n\n"
        f"{format_table(('balance', 'least', 'most'), even)}\n\n"
        f"{plan.people} people x (1 practice + {sessions}) sessions of {plan.minutes:g} minutes in "
        f"{plan.domain}: {plan.person_hours:.1f} person-hours"
    )
