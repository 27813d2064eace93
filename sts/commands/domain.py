"""`sts domain`: which domains there are, and whether one keeps what a domain promises."""

from __future__ import annotations

import argparse

from sts.cli.command import Command
from sts.cli.settings import add_settings, read_settings


def configure(parser: argparse.ArgumentParser) -> None:
    """Adds the actions."""
    actions = parser.add_subparsers(dest="action", required=True, metavar="ACTION")
    actions.add_parser("ls", help="what is installed", example="sts domain ls")
    check = actions.add_parser(
        "check",
        help="hold a domain to every claim; exit code 1 if one fails",
        example="sts domain check my_worlds:MyWorld --seeds 5",
    )
    check.add_argument("name", metavar="NAME|module:Class")
    check.add_argument("--seeds", type=int, default=3, metavar="N", help="worlds to try")
    check.add_argument("--steps", type=int, default=40, metavar="T", help="in each")
    add_settings(check)


def run(args: argparse.Namespace) -> int:
    """Does what `args.action` says."""
    return {"ls": _ls, "check": _check}[args.action](args)


def _ls(args: argparse.Namespace) -> int:
    from sts import registry
    from sts.cli.arguments import say, table
    from sts.domains import action_space, domain
    from sts.errors import StsError

    rows = []
    for name in registry.named("sts.domains"):
        try:
            found = domain(name)
            rows.append((name, ", ".join(found.moves) or action_space(found).text()))
        except StsError as error:
            rows.append((name, f"not usable: {error}"))
    families = sorted(registry.named("sts.domain_families"))
    header = ("domain", "moves")
    text = table(header, rows) + "".join(f"\n{name}:NAME" for name in families)
    value = [dict(zip(header, row, strict=True)) for row in rows]
    say(args.json, {"domains": value, "families": families}, text)
    return 0


def _check(args: argparse.Namespace) -> int:
    from sts.cli.arguments import say
    from sts.domains.conformance import Verdict, check

    words = {True: "ok", False: "not ok", None: "not checked"}
    found: list[Verdict] = []
    settings = read_settings(args, args.name)
    for one in check(args.name, seeds=args.seeds, steps=args.steps, settings=settings):
        if not args.json:
            line = f"{words[one.ok]:<11}  {one.claim:<14}  {one.text}"
            told = not one.how or (found and found[-1].how == one.how)
            print(line + ("" if told else f"\n{'':13}{' '.join(one.how.split())}"), flush=True)
        found.append(one)
    failed = sum(one.ok is False for one in found)
    value = {
        "domain": args.name,
        "failed": failed,
        "claims": [
            {"claim": one.claim, "text": one.text, "verdict": words[one.ok], "how": one.how}
            for one in found
        ],
    }
    good = sum(one.ok is True for one in found)
    say(args.json, value, f"\n{args.name}: {good} of {len(found)} claims hold, {failed} do not")
    return 1 if failed else 0


COMMAND = Command(
    summary="list domains, and check that one keeps what a domain promises",
    example="sts domain check my_world:MyWorld --seeds 3 --steps 40",
    configure=configure,
    run=run,
)
