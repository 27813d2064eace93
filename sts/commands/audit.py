"""`sts annotations audit`: who judged which agent, and whether the two can be told apart."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING, Any

from sts.cli.arguments import say, table, warn
from sts.commands.suites_judged import add_suite, check_enqueued

if TYPE_CHECKING:
    from sts.annotations.imbalance import Audit
    from sts.storage.workspace import Workspace

_LONGEST = 24
"""Letters of an agent's name that head a column; the lines under the table have them whole."""


def add(actions: argparse._SubParsersAction[Any]) -> None:
    """Adds the verb to those of `sts annotations`."""
    words = "say who judged which agent, and whether agents and annotators can be told apart"
    leaf = actions.add_parser(
        "audit", help=words, description=words, example="sts annotations audit --json"
    )
    add_suite(leaf)
    leaf.add_argument(
        "--names",
        action="store_true",
        help="call people by name, for who leads (default: by pseudonym)",
    )


def show(workspace: Workspace, suite: str | None, *, names: bool, as_json: bool) -> None:
    """Prints the audit of a suite, or of everything.

    Raises:
      UnknownName: nothing of that suite is enqueued.
    """
    from sts.annotations import audit, imbalance, queue
    from sts.annotations.store import Store

    found, enqueued = imbalance.NONE, []
    with Store.read_existing(workspace) as connection:
        if connection:
            enqueued = queue.suites(connection)
            found = audit.audit(connection, suite, names=names)
    check_enqueued(suite, enqueued)
    value = found._asdict() | {
        "suite": suite,
        "judgements": imbalance.by_name(found),
        "sentence": found.sentence,
    }
    say(as_json, value, _text(found))
    if names:
        warn("people are called by name; hand this on only to who may know them")


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
    """Returns what heads each agent's column: its name, or its number where one is long."""
    if sum(map(len, agents)) <= 4 * _LONGEST and max(map(len, agents)) <= _LONGEST:
        return list(agents)
    return [f"[{number}]" for number in range(1, len(agents) + 1)]
