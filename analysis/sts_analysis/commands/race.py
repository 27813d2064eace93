"""`sts race`: looks at a suite that is judged in rounds, and a lead's decisions about them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from sts.cli.command import Result, declare, option, switch
from sts.commands.study import ANNOTATED, LEAD, get_lead, resolve_study
from sts.errors import ArgumentError
from sts.names import count_noun, isolate

if TYPE_CHECKING:
    from sts.annotations.database.annotation_store import AnnotationStore
    from sts.annotations.races import Look
    from sts.storage.workspace import Workspace


@declare("race {suite}")
def race(
    workspace: Workspace,
    *,
    suite: str = ANNOTATED,
    confirm: bool = switch("let the decision take effect that waits for it"),
    keep: str | None = option(
        "AGENT", "agent to keep in the race, or to bring back (default: none)"
    ),
    reason: str = option("TEXT", "why the agent is kept; every report gives it", ""),
    author: str | None = LEAD,
) -> Result:
    """Decide which agents leave a race, confirm that, or keep an agent in it."""
    from sts.annotations.database.annotation_store import AnnotationStore
    from sts.annotations.log.looks import load_race
    from sts.annotations.study import base_suite
    from sts_analysis.planning.looks import make_due_look

    suite = base_suite(resolve_study(workspace, suite))
    if confirm and keep:
        raise ArgumentError("--confirm and --keep are two decisions; give one at a time")
    if reason and not keep:
        raise ArgumentError("--reason says why an agent is kept; name it with --keep AGENT")
    with AnnotationStore.open(workspace) as store:
        if keep:
            return _keep(store, suite, keep, reason, author)
        if confirm:
            return _confirm(store, suite, author)
        look = make_due_look(store, workspace, suite)
        if look is not None:
            return Result(look._asdict(), describe_look(look))
        with store.read() as connection:
            pending = load_race(connection, suite).pending
        if pending is not None:
            return Result(pending._asdict(), describe_look(pending))
    return Result(
        None, f"no look at {suite} is due; sts annotations rounds {suite} shows the state"
    )


def _confirm(store: AnnotationStore, suite: str, author: str | None) -> Result:
    from sts.annotations.queue.leaving import confirm_look

    with store.write(exclusive=True) as connection:
        lead = get_lead(connection, author)
        look = confirm_look(connection, suite, lead, now=store.now())
    names = ", ".join(map(isolate, look.leaving))
    return Result(look._asdict(), f"confirmed by {isolate(lead.name)}: {names} left the race")


def _keep(
    store: AnnotationStore, suite: str, agent: str, reason: str, author: str | None
) -> Result:
    from sts.annotations.findings.plan import validate_reason
    from sts.annotations.queue.leaving import keep_agent

    reason = validate_reason(reason)
    with store.write(exclusive=True) as connection:
        lead = get_lead(connection, author)
        keep_agent(connection, suite, agent, lead, reason, now=store.now())
    value: dict[str, Any] = {"agent": agent, "by": lead.name, "reason": reason}
    return Result(value, f"{isolate(agent)} stays in the race, as {isolate(lead.name)} decided")


def describe_look(look: Look) -> str:
    """Say in a few lines what a look decided."""
    from sts_analysis.report.text import write_point

    outcomes = [pair.outcome for pair in look.pairs]
    counts = [f"{count_noun(outcomes.count(one), 'pair')} {one}" for one in dict.fromkeys(outcomes)]
    names = ", ".join(map(isolate, look.leaving)) or "no agent"
    verb = "will leave the race once a lead confirms it" if look.needs_confirmation else "left"
    return (
        f"look {look.number}, after {write_point(look.point)}: {', '.join(counts)}\n{names} {verb}"
    )
