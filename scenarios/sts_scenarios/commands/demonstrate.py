"""`sts demonstrate`: record a teacher that does what categories ask."""

import argparse
from collections import Counter

from sts.agents.info import require_infos
from sts.cli.arguments import collect_retries, format_table, show_progress, to_records
from sts.cli.command import Result
from sts.cli.settings import read_settings, read_values
from sts.errors import ArgumentError, StsError
from sts.storage.workspace import Workspace
from sts.trajectories import trajectory_store as store
from sts_scenarios.mining import demonstrations
from sts_scenarios.mining.demonstrations import Outcome
from sts_scenarios.rules.categories import load_category


def demonstrate(args: argparse.Namespace, workspace: Workspace) -> Result:
    """Record, save, and count what was asked and kept by category."""
    (info,) = require_infos([args.teacher]).values()
    if not (domain := args.domain or info.domain):
        raise ArgumentError(f"{info.name} plays in any environment: expected --domain")
    plan = demonstrations.make_plan(
        args.teacher, info, domain, args.category, seed=args.seed, noise=args.noise
    )
    settings = read_values(domain, {"steps": plan.steps}) | read_settings(args, domain)
    outcomes: list[Outcome] = []
    try:
        with collect_retries() as on_recovery, show_progress("demonstrating", "worlds") as show:
            for part in demonstrations.demonstrate(
                plan, args.episodes, settings, workers=args.workers, on_recovery=on_recovery
            ):
                outcomes += part
                show(len(outcomes), args.episodes)
    except (StsError, KeyboardInterrupt) as error:
        if finished := [outcome.trajectory for outcome in outcomes if outcome.trajectory]:
            path = store.save(workspace, finished)
            error.add_note(f"{len(finished)} demonstrations are saved in {path}")
        raise
    names = [load_category(name).name for name in plan.categories]
    return _save(workspace, info.name, names, outcomes)


def _save(workspace: Workspace, teacher: str, names: list[str], outcomes: list[Outcome]) -> Result:
    """Save the demonstrations and describe them."""
    demonstrated = [outcome.trajectory for outcome in outcomes if outcome.trajectory]
    asked = Counter(outcome.category for outcome in outcomes if outcome.category)
    kept = Counter(outcome.category for outcome in outcomes if outcome.trajectory)
    unproposed = [name for name in names if not asked[name]]
    undone = [name for name in names if asked[name] and not kept[name]]
    notes = [f"never proposed in these worlds: {', '.join(unproposed)}"] if unproposed else []
    notes += [f"never done by {teacher}: {', '.join(undone)}"] if undone else []
    if not demonstrated:
        raise StsError(
            f"{asked.total()} instructions in {len(outcomes)} training worlds, and no "
            f"demonstration of them ({'; '.join(notes)})"
        )
    path = store.save(workspace, demonstrated)
    header = ("category", "asked", "kept")
    rows = [(name, asked[name], kept[name]) for name in names]
    counts = {"worlds": len(outcomes), "asked": asked.total(), "kept": len(demonstrated)}
    value = counts | {
        "file": str(path),
        "trajectories": [trajectory.id for trajectory in demonstrated],
        "categories": to_records(header, rows),
        "unproposed": unproposed,
        "undone": undone,
    }
    line = (
        f"{len(demonstrated)} demonstrations of {asked.total()} instructions in {len(outcomes)} "
        f"training worlds -> {path}"
    )
    return Result(value, "\n\n".join([line, format_table(header, rows), *notes]))
