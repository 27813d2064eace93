"""`sts measure`: measures agents otherwise, to correlate with their pass rates."""

from __future__ import annotations

from contextlib import ExitStack
from typing import TYPE_CHECKING, Any, NamedTuple

from sts import registry
from sts.cli.arguments import format_table, show_progress, to_records
from sts.cli.command import Result, argument, declare, option, repeatable
from sts.cli.files import resolve_target, write
from sts.errors import ArgumentError
from sts_analysis.commands.source import SEED

if TYPE_CHECKING:
    from sts.storage.workspace import Workspace


_INTERRUPTED = 130
"""Exit code of a command that was interrupted."""


class Settings(NamedTuple):
    """Settings of metrics, each of which has some of them."""

    class_: str | None = option("C", "class of environments, or module:Name (default: none)")
    runs: int | None = option("N", "runs, episodes or curricula (default: the metric's)", least=1)
    environments: int | None = option(
        "M", "to play, draw or train in (default: the metric's)", least=0
    )
    interactions: int | None = option("N", "universal: steps in each (default: 100)", least=1)
    team: int | None = option("P", "players that an agent plays (default: 1)", least=1)
    memory: str | None = option(
        ("kept", "fresh"), "anytime: whether memory passes to the next environment (default: kept)"
    )
    seconds: float | None = option("S", "anytime: count the time of a run instead", type=float)
    seconds_per_action: float | None = option(
        "S", "anytime: declared time of an action (default: measured)", type=float
    )
    theta: float | None = option("S", "skill: sufficient skill, 0 to 1 (default: 0.15)", type=float)
    bumps: int | None = option("J", "landscape: number of bumps (default: 10)", least=1)
    width: int | None = option(
        "W", "landscape: cells from a bump to its foot (default: 3)", least=1
    )
    drift: int | None = option(
        "T", "landscape: steps per cell of drift (default: 0, none)", least=0
    )
    workers: int | None = option("W", "processes (default: 1)", least=1)


_SETTINGS = Settings()


@declare("measure log_prob --suite {suite} --agent {agent} --agent {other}")
def measure(
    workspace: Workspace,
    *,
    metric: str = argument(
        "METRIC", f"{', '.join(registry.list_entry_points('sts.metrics'))}, or module:function"
    ),
    agent: list[str] = repeatable("A", "name or module:Class; repeatable; a check needs none"),
    suite: str | None = option("NAME@VERSION", "suite, if the metric needs one (default: none)"),
    seed: int = SEED,
    settings: Settings = _SETTINGS,
    figure: str | None = option("FILE.svg", "draw the curves of anytime, universal or skill"),
) -> Result:
    """Compute other metrics of agents, to correlate with their pass rates."""
    import inspect

    from sts.suites import suite_store as store
    from sts_analysis.inputs.scores import empty_scores
    from sts_analysis.metrics.measure import compute, find, keep, to_table

    _, function = find(metric)
    if figure is not None and not getattr(inspect.getmodule(function), "HAS_FIGURE", False):
        raise ArgumentError(f"metric {metric!r} draws no figure: leave out --figure")
    image = resolve_target("--figure", figure, ".svg")
    loaded = None if suite is None else store.load(workspace, suite)
    given: dict[str, Any] = {
        n: value for n, value in settings._asdict().items() if value is not None
    }
    with ExitStack() as stack:
        if "progress" in inspect.signature(function).parameters:
            given["progress"] = stack.enter_context(show_progress("measuring", "parts"))
        found = compute(metric, agent, suite=loaded, workspace=workspace, seed=seed, **given)
    is_check = bool(found.tables) and not found.rows
    scores = empty_scores() if is_check else to_table(metric, agent, found)
    path = None if is_check else str(keep(metric, scores, workspace))
    shown = ["agent", "metric", "value", "standard_error", "n", "sees"]
    known = scores[shown].astype(object).where(scores[shown].notna(), None)
    rows = known.sort_values("value", ascending=False, kind="stable").to_dict("records")
    cells = [["none" if cell is None else cell for cell in row.values()] for row in rows]
    blocks = [format_table(shown, cells)] if not found.tables else []
    blocks += [f"{one.heading}\n{format_table(one.columns, one.rows)}" for one in found.tables]
    blocks += found.notes
    files = [path] if path else []
    if image is not None and found.draw is not None:
        from sts import plotting

        svg = plotting.to_svg(found.draw())
        write(image, plotting.to_svg_file(svg, metric).encode())
        files.append(str(image))
    tables = {one.heading: to_records(one.columns, one.rows) for one in found.tables}
    value = {"scores": rows, "tables": tables, "notes": [*found.notes], "path": path}
    blocks += ["\n".join(f"-> {file}" for file in files)] if files else []
    code = _INTERRUPTED if found.interrupted else int(found.failed)
    return Result(value, "\n\n".join(blocks), code)
