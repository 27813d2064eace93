"""`sts domain`: which domains there are, and whether one keeps what a domain promises."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sts import registry
from sts.cli.arguments import format_table, to_records
from sts.cli.command import Result, argument, declare, group, option
from sts.cli.settings import WORLD_SETTINGS, WorldSettings
from sts.errors import StsError

if TYPE_CHECKING:
    from sts.domains.conformance import ClaimResult


@declare("ls")
def ls() -> Result:
    """List the installed environments."""
    from sts.domains import action_space, load_domain

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


@declare("check my_worlds:MyWorld --seeds 5")
def check(
    as_json: bool,
    *,
    name: str = argument("NAME|module:Class"),
    seeds: int = option("N", "number of worlds", 3),
    steps: int = option("T", "steps in each world", 40),
    settings: WorldSettings = WORLD_SETTINGS,
) -> Result:
    """Run every conformance test; exit code 1 if one fails."""
    from sts.domains.conformance import check as held_to_claims

    words = {True: "ok", False: "not ok", None: "not checked"}
    results: list[ClaimResult] = []
    given = settings.read(name)
    for result in held_to_claims(name, seeds=seeds, steps=steps, settings=given):
        if not as_json:
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
    value = {"domain": name, "failed": failed, "claims": claims}
    good = sum(result.ok is True for result in results)
    text = f"\n{name}: {good} of {len(results)} claims hold, {failed} do not"
    return Result(value, text, 1 if failed else 0)


DOMAIN = group("domain check my_world:MyWorld --seeds 3 --steps 40", ls, check)
