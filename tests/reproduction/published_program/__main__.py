"""Compare behaviours with episodes that the published program recorded, move by move.

    python -m tests.reproduction.published_program FILE... [--agent A] [--no-quirks] [--json]

Lead each behaviour that does not learn through the episodes; ask of every recorded move whether our
agent could have made it, and of all together whether chance decided as our agent has it. Exit with
1 when a move is impossible.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path

from sts.cli.arguments import format_table, print_result, show_progress
from sts.cli.main import describe_os_error
from sts.errors import ArgumentError, StsError, UnknownName
from sts_lambda_star.published.importer import TEAMS
from tests.reproduction.published_program.moves import BEHAVIOURS, Checked, check, read

KNOWN = {behaviour.name: behaviour for behaviour in BEHAVIOURS}


def main(argv: Sequence[str]) -> int:
    """Check from the command line; return the exit code."""
    parser = argparse.ArgumentParser(prog="published_program", description=__doc__)
    about = {
        "files": "in the format lambdastar-2016; may end in .xz",
        "--agent": "a behaviour that does not learn; may be repeated (default: all)",
        "--no-quirks": "ask our behaviours as they are, without what the program does otherwise",
        "--json": "print JSON for a program to read",
    }
    parser.add_argument("files", nargs="+", metavar="FILE", help=about["files"])
    parser.add_argument("--agent", action="append", metavar="A", help=about["--agent"])
    for flag in ("--no-quirks", "--json"):
        parser.add_argument(flag, action="store_true", help=about[flag])
    try:
        return run(parser.parse_args(argv))
    except (StsError, OSError) as error:
        text = describe_os_error(error) if isinstance(error, OSError) else error
        print(f"published_program: {text}", file=sys.stderr)
        return error.exit_code if isinstance(error, StsError) else 1


def run(args: argparse.Namespace) -> int:
    """Print a table; return 1 if a move is impossible."""
    for name in args.agent or ():
        if name not in KNOWN and name in TEAMS.values():
            raise ArgumentError(f"{name} learns, and is checked by its score instead")
        if name not in KNOWN and name != "all":
            raise UnknownName("behaviour that does not learn", name, [*KNOWN, "all"])
    everyone = "all" in (args.agent or ["all"])
    wanted = [KNOWN[name] for name in dict.fromkeys(KNOWN if everyone else args.agent)]
    with show_progress("reading", "files") as show:
        recordings = read([Path(file) for file in args.files], progress=show)
    rows = []
    with show_progress("checking", "behaviours") as show:
        for done, behaviour in enumerate(wanted, 1):
            rows.append(check(behaviour, recordings[behaviour.team], quirks=not args.no_quirks))
            show(done, len(wanted))
    episodes = sum(len(r.places) for r in recordings[wanted[0].team])
    first = [row._asdict() | {"first": row.first and row.first._asdict()} for row in rows]
    value = {"files": args.files, "episodes": episodes, "quirks": not args.no_quirks}
    print_result(
        args.json, value | {"behaviours": first}, _text(rows, episodes, not args.no_quirks)
    )
    return 1 if any(row.possible < row.actions for row in rows) else 0


def _text(rows: list[Checked], episodes: int, quirks: bool) -> str:
    notes = list(dict.fromkeys(cite for row in rows for cite in row.explained))
    header = ("behaviour", "our agent", "moves", "possible", "choices", "p", "notes")
    shown = []
    for row in rows:
        p = "none" if row.p is None else f"{row.p:.3f}" if row.p >= 0.001 else "<0.001"
        cited = ", ".join(str(notes.index(cite) + 1) for cite in row.explained) or "-"
        shown.append((row.behaviour, row.agent, row.actions, row.possible, row.choices, p, cited))
    lines = [
        format_table(header, shown),
        "",
        *(_describe_first(row) for row in rows if row.first),
        "possible: moves to which our agent gives a chance",
        "choices: moves, or a team's common targets, that chance decided",
        "p: that they came with the chances our agent gives them; none: too few choices to test",
    ]
    if (several := sum(row.p is not None for row in rows)) > 1:
        lines.append(
            f"   of {several} p values one or more fall below .05 by chance alone in "
            f"{1 - 0.95**several:.0%} of such checks"
        )
    if notes:
        does = "does so too" if quirks else "does not"
        lines.append(f"notes: what the program does otherwise; here our agent {does}")
        lines += [f"  {number}  section {note}" for number, note in enumerate(notes, 1)]
        lines.append("  (sections of docs/lambdastar_2016.md, and the program's files and lines)")
    actions, impossible = (
        sum(row.actions for row in rows),
        sum(r.actions - r.possible for r in rows),
    )
    return "\n".join(
        [*lines, "", f"{actions} actions of {episodes} episodes: {impossible} impossible"]
    )


def _describe_first(row: Checked) -> str:
    first = row.first
    assert first is not None
    return (
        f"{row.behaviour}: {row.actions - row.possible} impossible; the first is "
        f"{first.file}:{first.line}, episode {first.episode}, step {first.step}: participant "
        f"{first.participant} moved {first.move}, expected {' or '.join(first.expected)}\n"
    )


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
