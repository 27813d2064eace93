"""`sts lambda-star moves`: our behaviours beside the published program's recorded episodes."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import TYPE_CHECKING

from sts.cli.arguments import progress, say, table
from sts.errors import ArgumentError, UnknownName

if TYPE_CHECKING:
    from sts.worlds.lambda_star.published.moves import Behaviour, Checked


def configure(actions: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Adds the action and its arguments."""
    moves = actions.add_parser(
        "moves",
        example="sts lambda-star moves traces/*.jsonl",
        help="check behaviours move by move against episodes of the published program",
        description="Leads each behaviour that does not learn through episodes that the published "
        "program recorded, and asks of every recorded move whether our agent could have made it, "
        "and of all together whether chance decided as our agent has it. Exits with 1 when a move "
        "is impossible.",
    )
    moves.add_argument(
        "files", nargs="+", metavar="FILE", help="in the format lambdastar-2016; may end in .xz"
    )
    moves.add_argument(
        "--agent",
        action="append",
        metavar="A",
        help="a behaviour that does not learn; may be repeated (default: all)",
    )
    moves.add_argument(
        "--no-quirks",
        action="store_true",
        help="ask our behaviours as they are, without what the program does otherwise",
    )
    moves.set_defaults(act=run)


def run(args: argparse.Namespace) -> int:
    """Prints a table; the exit code is 1 if a move is impossible."""
    from sts.worlds.lambda_star.published.moves import check, read

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
    """Returns the behaviours of these names, or all.

    Raises:
      ArgumentError: one learns.
      UnknownName: one is none of the program's.
    """
    from sts.worlds.lambda_star.published.importer import TEAMS
    from sts.worlds.lambda_star.published.moves import BEHAVIOURS

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
    """Returns what several p values say together, which is less than each alone."""
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
