"""`sts demonstrate`: record a teacher that does what categories ask."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from sts.cli.arguments import collect_retries, format_table, show_progress, to_records
from sts.cli.command import WORKERS, Result, declare, option, repeatable
from sts.cli.settings import WORLD_SETTINGS, WorldSettings, read_values
from sts.errors import ArgumentError, StsError

if TYPE_CHECKING:
    from sts.storage.workspace import Workspace
    from sts_scenarios.mining.demonstrations import Outcome


@declare("demonstrate --teacher {agent} --episodes 100")
def demonstrate(
    workspace: Workspace,
    *,
    teacher: str = option("A", "agent: a name, module:Class or PYTHON:module:Class", required=True),
    episodes: int = option("N", "number of worlds", least=1, required=True),
    domain: str | None = option("D", "environment (default: the teacher's)"),
    category: list[str] = repeatable(
        "C", "ask for this one, a name or module:NAME; repeatable (default: all of the environment)"
    ),
    noise: float = option("P", "probability of a random move in place of the teacher's", 0.0),
    seed: int = option("S", "seed of the worlds, the instructions and the teacher", 0),
    workers: int = WORKERS,
    settings: WorldSettings = WORLD_SETTINGS,
) -> Result:
    """Record a teacher that does what categories ask, on training worlds."""
    from sts.agents.info import require_infos
    from sts.trajectories import trajectory_store as store
    from sts_scenarios.mining import demonstrations
    from sts_scenarios.rules.categories import load_category

    (info,) = require_infos([teacher]).values()
    if not (domain := domain or info.domain):
        raise ArgumentError(f"{info.name} plays in any environment: expected --domain")
    plan = demonstrations.make_plan(teacher, info, domain, category, seed=seed, noise=noise)
    given = read_values(domain, {"steps": plan.steps}) | settings.read(domain)
    outcomes: list[Outcome] = []
    try:
        with collect_retries() as on_recovery, show_progress("demonstrating", "worlds") as show:
            for part in demonstrations.demonstrate(
                plan, episodes, given, workers=workers, on_recovery=on_recovery
            ):
                outcomes += part
                show(len(outcomes), episodes)
    except (StsError, KeyboardInterrupt) as error:
        if finished := [outcome.trajectory for outcome in outcomes if outcome.trajectory]:
            path = store.save(workspace, finished)
            error.add_note(f"{len(finished)} demonstrations are saved in {path}")
        raise
    names = [load_category(name).name for name in plan.categories]
    return _save(workspace, info.name, names, outcomes)


def _save(workspace: Workspace, teacher: str, names: list[str], outcomes: list[Outcome]) -> Result:
    """Save the demonstrations and describe them."""
    from sts.trajectories import trajectory_store as store

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
