"""`sts annotations balance`: the balance of annotators over agents."""

from __future__ import annotations

import argparse

from sts.annotations import audit as audits
from sts.annotations import imbalance
from sts.annotations.imbalance import Audit
from sts.annotations.store import Connection
from sts.cli.arguments import table, warn
from sts.cli.command import Result
from sts.commands.study import check_enqueued, read_study
from sts.storage.workspace import Workspace

_LONGEST = 24
"""Letters of an agent's name that head a column; the lines under the table have them whole."""


def balance(args: argparse.Namespace, workspace: Workspace) -> Result:
    """Show who judged which agent of a suite, or of everything."""

    def read(connection: Connection) -> Audit:
        return audits.audit(connection, args.suite, names=args.real_names)

    check_enqueued(workspace, args.suite)
    found = read_study(workspace, read) or imbalance.NONE
    if args.real_names:
        warn("this shows real names: share it only with people who may know them")
    value = found._asdict() | {
        "suite": args.suite,
        "judgements": imbalance.by_name(found),
        "sentence": found.sentence,
    }
    return Result(value, _text(found))


def _text(found: Audit) -> str:
    if not found.clips:
        return found.sentence
    names = _columns(found.agents)
    rows = [(name, *row) for name, row in zip(found.annotators, _rows(found), strict=True)]
    total = ("in all", *(sum(row) for row in found.judgements))
    lines = [table(("judgements", *names), [*rows, total]), ""]
    named = zip(names, found.agents, strict=True)
    lines += [f"{short} is {agent}" for short, agent in named if short != agent]
    lines.append(
        f"{found.clips} clips, {found.twice} of them judged by two people or more; "
        f"{found.anchors_judged} of {found.anchors} anchors judged"
    )
    several = len(found.annotators) > 1
    if several and found.between is not None and found.imbalance is not None:
        lines.append(
            f"imbalance {found.imbalance:.2f} ({' and '.join(found.between)})"
            + (
                f"; Cramer's V {found.cramers_v:.2f}, p {found.p:.3f}"
                if found.cramers_v is not None and found.p is not None
                else ""
            )
        )
    return "\n".join([*lines, found.sentence])


def _rows(found: Audit) -> list[tuple[int, ...]]:
    return list(zip(*found.judgements, strict=True))


def _columns(agents: tuple[str, ...]) -> list[str]:
    """Return what heads each agent's column: its name, or its number where one is long."""
    if sum(map(len, agents)) <= 4 * _LONGEST and max(map(len, agents)) <= _LONGEST:
        return list(agents)
    return [f"[{number}]" for number in range(1, len(agents) + 1)]
