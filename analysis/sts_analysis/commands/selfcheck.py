"""`sts selfcheck`: coverage of a report's intervals in the user's study design, by simulation."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sts.cli.arguments import count_cores, format_table, show_progress
from sts.cli.command import Result, declare, option
from sts.errors import ArgumentError
from sts_analysis.commands.source import EITHER, PILOT, SEED, PilotSource, has_source, load_pilot

if TYPE_CHECKING:
    from sts_analysis.planning.selfcheck import Share


_UNITS_UNKNOWN = (
    "The table has no column of trajectories, so scenarios are simulated as independent, and the "
    "check cannot find intervals that are too short because scenarios share a trajectory. "
    "If you know the trajectories, name their column: --column trajectory=COLUMN."
)
_LINES = {
    "rate": "pass rate",
    "difference": "difference of two agents",
    "wrong_order": "a wrong order is significant",
    "rate_others": "pass rate, for other annotators",
    "difference_others": "difference, for other annotators",
    "wrong_order_others": "a wrong order for other annotators",
    "not_compared": "pairs that cannot be compared",
}


@declare("selfcheck {suite} --labels automatic --simulations 100")
def selfcheck(
    workspace_path: str | None,
    *,
    source: PilotSource = PILOT,
    simulations: int = option("N", "simulated studies per case (default: 200)", 200, least=2),
    seed: int = SEED,
    workers: int | None = option("W", "processes (default: one per processor)", least=1),
) -> Result:
    """Simulate the coverage of confidence intervals in your study design."""
    from sts.jobs.pool import create_pool
    from sts_analysis.planning.selfcheck import LIMITS, list_cases, read_design, simulate_studies

    if not has_source(source):
        raise ArgumentError(EITHER)
    pilot = load_pilot(source, workspace_path)
    cases = list_cases(read_design(pilot))
    total = len(cases) * simulations
    pool = create_pool(workers or count_cores(), total)
    with show_progress("simulating", "studies") as show, pool as executor:
        shares = simulate_studies(
            cases,
            studies=simulations,
            seed=seed,
            executor=executor,
            show=lambda done: show(done, total),
        )
    failures = [
        f"{_LINES[name]} ({case.label})"
        for case, found in zip(cases, shares, strict=True)
        for name, share in found.items()
        if share.misses(name)
    ]
    outcomes = pilot.outcomes
    size = {
        "agents": len(pilot.ranked),
        "scenarios": len(outcomes.scenarios),
        "units": len(set(outcomes.unit.tolist())),
        "verdicts": len(cases[0].row),
        "annotators": len(outcomes.judging.annotators) if outcomes.judging else 0,
    }
    assumed = {
        "correlation": cases[0].chances.correlation,
        "trajectory_share": cases[0].chances.trajectory_share if pilot.units_known else None,
        **pilot.accuracy._asdict(),
        "strictness": cases[0].strictness,
        "favouritism": cases[0].favouritism,
    }
    letters = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"[: len(cases)]
    rows = [
        [
            text,
            f"{LIMITS[name][0]:.0%}" if name in LIMITS else "",
            *(_cell(name, x) for x in shares),
        ]
        for name, text in _LINES.items()
        if any(name in found for found in shares)
    ]
    known = {name.replace("_", " "): value for name, value in assumed.items() if value is not None}
    texts = (f"{name} {value:.2f}" for name, value in known.items())
    warnings = [] if pilot.units_known else [_UNITS_UNKNOWN]
    target = "these scenarios only" if source.target == "fixed" else "other scenarios like these"
    lines = [
        f"{pilot.name}: {', '.join(f'{name} {number}' for name, number in size.items())}; "
        f"{simulations} simulated studies in each case, for {target}.",
        f"Estimated, with {pilot.answers} answers to references: {', '.join(texts)}. Strictness "
        "and favouritism are in log odds of calling a clip a success.",
        *warnings,
        "",
        *(f"{letter}  {case.label}" for letter, case in zip(letters, cases, strict=True)),
        "",
        format_table(["%", "nominal", *letters], rows),
        "",
        "±: half of the 95% Monte Carlo interval. !: fails, beyond chance.",
        f"The design fails: {'; '.join(failures)}." if failures else "The design passes.",
    ]
    results = [
        {"case": case.label, "shares": {name: share._asdict() for name, share in found.items()}}
        for case, found in zip(cases, shares, strict=True)
    ]
    value = {"design": size, "target": source.target, "estimated": assumed, "cases": results}
    return Result(value | {"failures": failures, "warnings": warnings}, "\n".join(lines))


def _cell(name: str, found: dict[str, Share]) -> str:
    if name not in found:
        return "–"
    share = found[name]
    half = (share.high - share.low) / 2
    return f"{100 * share.share:.1f} ±{100 * half:.1f}{'!' if share.misses(name) else ''}"
