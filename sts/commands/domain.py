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
            domain = load_domain(name)
            rows.append((name, ", ".join(domain.action_names) or action_space(domain).describe()))
        except StsError as error:
            rows.append((name, f"not usable: {error}"))
    families = sorted(registry.list_entry_points("sts.domain_families"))
    header = ("domain", "actions")
    text = format_table(header, rows) + "".join(f"\n{name}:NAME" for name in families)
    return Result({"domains": to_records(header, rows), "families": families}, text)


def check(args: argparse.Namespace) -> Result:
    """Hold a domain to every claim, and print each as it is tried."""
    words = {True: "ok", False: "not ok", None: "not checked"}
    results: list[ClaimResult] = []
    settings = read_settings(args, args.name)
    for result in held_to_claims(args.name, seeds=args.seeds, steps=args.steps, settings=settings):
        if not args.json:
            line = f"{words[result.ok]:<11}  {result.claim:<14}  {result.text}"
            is_repeated = not result.how or (results and results[-1].how == result.how)
            print(
                line + ("" if is_repeated else f"\n{'':13}{' '.join(result.how.split())}"),
                flush=True,
            )
        results.append(result)
    failed = sum(result.ok is False for result in results)
    claims = [
        {"claim": result.claim, "text": result.text, "verdict": words[result.ok], "how": result.how}
        for result in results
    ]
    value = {"domain": args.name, "failed": failed, "claims": claims}
    good = sum(result.ok is True for result in results)
    text = f"\n{args.name}: {good} of {len(results)} claims hold, {failed} do not"
    return Result(value, text, 1 if failed else 0)
