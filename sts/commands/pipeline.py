"""`sts record` and `sts run`: let agents play, and continue a suite's scenarios."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sts.cli.arguments import format_table
from sts.cli.command import AGENTS, SUITE, WORKERS, Result, declare, option, switch
from sts.cli.settings import WORLD_SETTINGS, WorldSettings
from sts.names import count_noun

if TYPE_CHECKING:
    from sts.storage.workspace import Workspace


@declare("record --agent {agent} --episodes 100 --steps 60")
def record(
    workspace: Workspace,
    *,
    agent: list[str] = AGENTS,
    episodes: int = option("N", "number of episodes of each agent", least=1, required=True),
    domain: str | None = option("D", "environment (default: the agent's)"),
    steps: int = option("T", "steps per episode", 50),
    seed: int = option("S", "seed of the worlds and of the agents", 0),
    workers: int = WORKERS,
    settings: WorldSettings = WORLD_SETTINGS,
) -> Result:
    """Record agents on new worlds."""
    from sts import api

    recorded = api.record(
        agent,
        episodes=episodes,
        steps=steps,
        seed=seed,
        domain=domain,
        options=settings.read,
        workers=workers,
        workspace=workspace,
    )
    test, path = int((recorded["split"] == "test").sum()), recorded.attrs["file"]
    return Result(
        {"file": path, "trajectories": recorded["trajectory"].tolist(), "test": test},
        f"{count_noun(len(recorded), 'trajectory')} of {steps} steps, {test} in the test "
        f"split -> {path}",
    )


@declare("run {suite} --agent {agent} --agent {other} --continuations 10")
def run(
    workspace: Workspace,
    *,
    suite: str = SUITE,
    agent: list[str] = AGENTS,
    continuations: int = option("N", "continuations per scenario and agent", 3),
    seed: int = option("S", "seed of the agents", 0),
    workers: int = WORKERS,
    executor: str = option(
        "NAME", "program that runs the work: local, or the name of a plugin", "local"
    ),
    no_replay: bool = switch("do not check that continuations of your agents can be played again"),
) -> Result:
    """Run agents on a suite's scenarios; resumable."""
    from sts import api
    from sts.agents.identity import describe_fingerprint

    selection = api.load_suite(suite, workspace=workspace)
    agents = api.run_selection(
        workspace,
        selection,
        agent,
        count=continuations,
        seed=seed,
        workers=workers,
        executor=executor,
        replay=not no_replay,
    )
    header = ("agent", "new", "reused", "fingerprint")
    rows = [
        (*(agent[key] for key in header[:3]), describe_fingerprint(agent[header[3]]))
        for agent in agents
    ]
    next_step = f"next: sts label {selection.label}, then sts report {selection.label}"
    return Result(agents, f"{format_table(header, rows)}\n\n{next_step}")
