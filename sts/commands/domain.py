"""`sts domain`: which domains there are, and whether one keeps what a domain promises."""

import argparse

from sts import registry
from sts.cli.arguments import format_table, to_records
from sts.cli.command import Result
from sts.cli.settings import read_settings
from sts.domains import action_space, load_domain
from sts.domains.conformance import ClaimResult
from sts.domains.conformance import check as held_to_claims
from sts.errors import StsError


def ls(args: argparse.Namespace) -> Result:
    """List what is installed."""
    rows = []
    for name in registry.list_entry_points("sts.domains"):
        try:
            found = load_domain(name)
            rows.append((name, ", ".join(found.action_names) or action_space(found).describe()))
        except StsError as error:
            rows.append((name, f"not usable: {error}"))
    families = sorted(registry.list_entry_points("sts.domain_families"))
    header = ("domain", "actions")
    text = format_table(header, rows) + "".join(f"\n{name}:NAME" for name in families)
    return Result({"domains": to_records(header, rows), "families": families}, text)


def check(args: argparse.Namespace) -> Result:
    """Hold a domain to every claim, and print each as it is tried."""
    words = {True: "ok", False: "not ok", None: "not checked"}
    found: list[ClaimResult] = []
    settings = read_settings(args, args.name)
    for one in held_to_claims(args.name, seeds=args.seeds, steps=args.steps, settings=settings):
        if not args.json:
            line = f"{words[one.ok]:<11}  {one.claim:<14}  {one.text}"
            told = not one.how or (found and found[-1].how == one.how)
            print(line + ("" if told else f"\n{'':13}{' '.join(one.how.split())}"), flush=True)
        found.append(one)
    failed = sum(one.ok is False for one in found)
    claims = [
        {"claim": one.claim, "text": one.text, "verdict": words[one.ok], "how": one.how}
        for one in found
    ]
    value = {"domain": args.name, "failed": failed, "claims": claims}
    good = sum(one.ok is True for one in found)
    text = f"\n{args.name}: {good} of {len(found)} claims hold, {failed} do not"
    return Result(value, text, 1 if failed else 0)
