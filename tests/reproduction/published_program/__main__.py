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

from sts.cli.arguments import progress, say, table
from sts.cli.main import explain
from sts.errors import ArgumentError, StsError, UnknownName
from sts.worlds.lambda_star.published.importer import TEAMS
from tests.reproduction.published_program.moves import BEHAVIOURS, Behaviour, Checked, check, read


def main(argv: Sequence[str]) -> int:
    """Check from the command line; return the exit code."""
    parser = argparse.ArgumentParser(prog="published_program", description=__doc__)
    parser.add_argument(
        "files", nargs="+", metavar="FILE", help="in the format lambdastar-2016; may end in .xz"
    )
    parser.add_argument(
        "--agent",
        action="append",
        metavar="A",
        help="a behaviour that does not learn; may be repeated (default: all)",
    )
    parser.add_argument(
        "--no-quirks",
        action="store_true",
        help="ask our behaviours as they are, without what the program does otherwise",
    )
    parser.add_argument("--json", action="store_true", help="print JSON for a program to read")
    try:
        return run(parser.parse_args(argv))
    except StsError as error:
        print(f"published_program: {error}", file=sys.stderr)
        return error.exit_code
    except OSError as error:
        print(f"published_program: {explain(error)}", file=sys.stderr)
        return 1


def run(args: argparse.Namespace) -> int:
    """Print a table; return 1 if a move is impossible."""
    wanted = _wanted(args.agent)
    with progress("reading", "files") as show:
        recordings = read([Path(file) for file in args.files], progress=show)
    rows = []
    with progress("checking", "behaviours") as show:
        for done, behaviour in enumerate(wanted, 1):
            recorded = recordings[behaviour.team]
            rows.append(check(behaviour, recorded, quirks=not args.no_quirks))
            show(done, len(wanted))
    episodes = sum(len(r.places) for r in recordings[wanted[0].team])
    value = {
        "files": args.files,
        "episodes": episodes,
        "quirks": not args.no_quirks,
        "behaviours": [
            row._asdict() | {"first": row.first._asdict() if row.first else None} for row in rows
        ],
    }
    say(args.json, value, _text(rows, episodes, not args.no_quirks))
    return 1 if any(row.possible < row.moves for row in rows) else 0


def _wanted(names: list[str] | None) -> list[Behaviour]:
    """Return the behaviours of these names, or all.

    Raises:
      ArgumentError: one learns.
      UnknownName: one is none of the program's.
    """
    known = {behaviour.name: behaviour for behaviour in BEHAVIOURS}
    wanted: list[str] = []
    for name in names or ["all"]:
        if name not in known and name in TEAMS.values():
            raise ArgumentError(f"{name} learns, and is checked by its score instead")
        if name not in known and name != "all":
            raise UnknownName("behaviour that does not learn", name, [*known, "all"])
        wanted += known if name == "all" else [name]
    return [known[name] for name in dict.fromkeys(wanted)]


def _text(rows: list[Checked], episodes: int, quirks: bool) -> str:
    notes = list(dict.fromkeys(cite for row in rows for cite in row.explained))
    header = ("behaviour", "our agent", "moves", "possible", "choices", "p", "notes")
    shown = [
        (
            row.behaviour,
            row.agent,
            row.moves,
            row.possible,
            row.choices,
            _p(row.p),
            ", ".join(str(notes.index(cite) + 1) for cite in row.explained) or "-",
        )
        for row in rows
    ]
    impossible = sum(row.moves - row.possible for row in rows)
    lines = [
        table(header, shown),
        "",
        *(_first(row) for row in rows if row.first),
        "possible: moves to which our agent gives a chance",
        "choices: moves, or a team's common targets, that chance decided",
        "p: that they came with the chances our agent gives them; none: too few choices to test",
        *_together([row.p for row in rows if row.p is not None]),
    ]
    if notes:
        lines += [
            "notes: what the program does otherwise; here our agent "
            + ("does so too" if quirks else "does not"),
            *(f"  {number}  section {note}" for number, note in enumerate(notes, 1)),
            "  (sections of docs/lambdastar_2016.md, and the program's files and lines)",
        ]
    moves = sum(row.moves for row in rows)
    return "\n".join([*lines, "", f"{moves} moves of {episodes} episodes: {impossible} impossible"])


def _together(values: list[float]) -> list[str]:
    """Return what several p values say together, which is less than each alone."""
    if len(values) < 2:
        return []
    chance = 1 - 0.95 ** len(values)
    return [
        f"   of {len(values)} p values one or more fall below .05 by chance alone in {chance:.0%} "
        "of such checks"
    ]


def _p(p: float | None) -> str:
    if p is None:
        return "none"
    return f"{p:.3f}" if p >= 0.001 else "<0.001"


def _first(row: Checked) -> str:
    first = row.first
    assert first is not None
    return (
        f"{row.behaviour}: {row.moves - row.possible} impossible; the first is "
        f"{first.file}:{first.line}, episode {first.episode}, step {first.step}: participant "
        f"{first.participant} moved {first.move}, expected {' or '.join(first.expected)}\n"
    )


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
