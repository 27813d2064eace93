"""The functions of the core that `import sts` provides; its commands call the same ones."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from sts.agents.identity import declared_version
from sts.agents.info import AgentInfo, require_infos
from sts.cli.arguments import collect_retries, show_progress
from sts.cli.settings import read_values
from sts.continuations.run import run as run_scenarios
from sts.continuations.versions import resolve_agents
from sts.errors import ArgumentError, ReplayMismatch, StsError
from sts.jobs.executors import LOCAL
from sts.jobs.tasks import TaskSkipped
from sts.storage.workspace import Workspace
from sts.suites import selections
from sts.suites import suite_store as suites
from sts.suites.selections import Selection
from sts.trajectories import trajectory_store as trajectories
from sts.trajectories.record import Batch, Failure, record_all
from sts.trajectories.trajectory import Trajectory

if TYPE_CHECKING:
    import pandas as pd

_RUN_COLUMNS = ["agent", "new", "reused", "fingerprint", "stated_version"]
Options = Mapping[str, Any] | Callable[[str], Mapping[str, Any]]
"""Settings of generated environments, or a function of the domain's name that returns them."""


def record(
    agents: str | Sequence[str],
    *,
    episodes: int,
    steps: int = 50,
    seed: int = 0,
    domain: str | None = None,
    options: Options | None = None,
    workers: int = 1,
    workspace: Workspace | str | Path | None = None,
) -> pd.DataFrame:
    """Record agents in newly generated environments and save the trajectories.

    Episodes that finished before an error or an interruption are saved; a note of the exception
    says where. The same arguments give the same trajectories, whatever the number of workers.

    Args:
      agents: names, or `module:Class`.
      episodes: per agent.
      steps: per episode.
      seed: selects the environments and the agents' random streams.
      domain: the environments to play in; None for those that the agents are made for.
      options: see `Options`.
      workers: processes.
      workspace: None for `STS_WORKSPACE`, else `sts-workspace`.

    Returns:
      One row per trajectory: `trajectory` (id), `agent`, `domain`, `steps`, `split`. The file is
      in `attrs["file"]`.

    Raises:
      StsError: an episode failed, an argument is out of range, or no environment fits the agents.

    Examples:
      >>> import sts
      >>> recorded = sts.record("random", episodes=2, steps=3, domain="lambda-star")
      >>> recorded[["agent", "domain", "steps"]].values.tolist()
      [['random', 'lambda-star', 3], ['random', 'lambda-star', 3]]
    """
    names = _list_agents(agents)
    workspace = Workspace.open(workspace)
    infos = require_infos(names)
    domain = domain or _shared_domain(infos.values())
    settings = read_values(domain, {"steps": steps})
    settings |= options(domain) if callable(options) else options or {}
    batches: list[Batch] = []
    failures: list[Failure] = []
    total = episodes * len(infos)
    try:
        with collect_retries() as on_recovery, show_progress("recording", "episodes") as show:
            for outcome in record_all(
                infos,
                domain=domain,
                count=episodes,
                steps=steps,
                seed=seed,
                settings=settings,
                workers=workers,
                on_recovery=on_recovery,
            ):
                if isinstance(outcome, Failure):
                    failures.append(outcome)
                else:
                    batches.append(outcome)
                show(sum(len(batch.trajectories) for batch in batches), total)
        if failures:
            raise _first_error(names, failures)
    except ReplayMismatch:  # recordings of such an environment are worthless
        raise
    except (StsError, KeyboardInterrupt) as error:
        if finished := _order_trajectories(names, batches):
            path = trajectories.save(workspace, finished)
            error.add_note(f"{len(finished)} of {total} episodes are saved in {path}")
        raise
    return _trajectory_table(workspace, _order_trajectories(names, batches))


def _list_agents(agents: Any) -> list[str]:
    """Return names of agents; refuse classes and other objects, which workers could not load."""
    is_one = isinstance(agents, str | type) or not isinstance(agents, Iterable)
    names = [agents] if is_one else [*agents]
    for name in names:
        if not isinstance(name, str):
            what = name.__name__ if isinstance(name, type) else type(name).__name__
            raise ArgumentError(
                f"agents: expected names or module:Class, found {name!r:.60}; save the class in a "
                f"module and give its name, as in 'my_agents:{what}'"
            )
    return names


def _trajectory_table(workspace: Workspace, recorded: Sequence[Trajectory]) -> pd.DataFrame:
    """Save trajectories and return their table."""
    import pandas as pd

    path = trajectories.save(workspace, recorded)
    rows = [(t.id, t.players[0].name, t.episode.domain, t.episode.steps, t.split) for t in recorded]
    table = pd.DataFrame(rows, columns=["trajectory", "agent", "domain", "steps", "split"])
    table.attrs["file"] = str(path)
    return table


def _order_trajectories(names: Sequence[str], batches: Sequence[Batch]) -> list[Trajectory]:
    """Return the trajectories by agent and episode, in whatever order processes finished them."""
    ordered = sorted(batches, key=lambda batch: (names.index(batch.agent), batch.first))
    return [trajectory for batch in ordered for trajectory in batch.trajectories]


def _first_error(names: Sequence[str], failures: Sequence[Failure]) -> StsError:
    """Return the error of the first episode that failed, with the number of others."""
    ordered = sorted(failures, key=lambda failure: (names.index(failure.agent), failure.episode))
    tried = [failure for failure in ordered if not isinstance(failure.error, TaskSkipped)]
    notes = [f"{len(tried) - 1} more failed"] if len(tried) > 1 else []
    untried = len(failures) - len(tried)
    notes += [f"{untried} more were not tried"] if untried else []
    first = tried[0]
    line = f"{first.agent}, episode {first.episode}: {first.error}"
    return first.error.with_message(f"{line} ({', '.join(notes)})" if notes else line)


def _shared_domain(agents: Iterable[AgentInfo]) -> str:
    """Return the one domain that all the agents are made for."""
    agents = list(agents)
    homes = {agent.domain: agent.name for agent in agents if agent.domain}
    if not homes:
        raise ArgumentError(f"{agents[0].name} plays in any environment: expected a domain")
    if len(homes) > 1:
        texts = ", ".join(f"{name} plays in {domain}" for domain, name in homes.items())
        raise ArgumentError(f"expected agents made for the same environments, found: {texts}")
    (home,) = homes
    return home


def load_suite(suite: str, *, workspace: Workspace | str | Path | None = None) -> Selection:
    """Load a suite, packaged or of a workspace, and check its hashes.

    Args:
      suite: NAME@VERSION, or a subset of it such as NAME@VERSION+category:C+difficulty:hard.
      workspace: None for `STS_WORKSPACE`, else `sts-workspace`.

    Returns:
      The scenarios and where they are from; in a notebook it shows itself as a table, and `frame()`
      is that table.

    Raises:
      UnknownName: the suite, its version or a term of the subset does not exist.
      DamagedData: its content does not match its hash.

    Examples:
      >>> import sts
      >>> hard = sts.load_suite("core@2+category:ambush+difficulty:hard")
      >>> [scenario.id for scenario in hard.scenarios]
      ['ambush-08', 'ambush-09', 'ambush-10']
    """
    return selections.load_selection(Workspace.open(workspace), suite, suites.load)


def run(
    suite: str | Selection,
    agents: str | Sequence[str],
    *,
    continuations: int = 3,
    seed: int = 0,
    workers: int = 1,
    executor: str = LOCAL,
    replay: bool = True,
    workspace: Workspace | str | Path | None = None,
) -> pd.DataFrame:
    """Let agents continue the scenarios of a suite, and save what is not saved yet.

    An interrupted run resumes where it stopped. The same arguments give the same continuations,
    whatever the number of workers.

    Args:
      suite: NAME@VERSION, a subset of it, or what `load_suite` returns.
      agents: names, or `module:Class`, with `?PARAMETER=VALUE&label=NAME` if you like.
      continuations: per agent and scenario.
      seed: selects the agents' random streams.
      workers: processes.
      executor: the name of what runs them.
      replay: False to not play a few continuations of your agents again in another process, which
        takes long if they take minutes; the report then says so.
      workspace: None for `STS_WORKSPACE`, else `sts-workspace`.

    Returns:
      One row per agent: `agent`, `new` and `reused` (numbers of continuations), `fingerprint`, and
      `stated_version` ("" unless the agent states one).

    Raises:
      StsError: an agent or scenario failed, or an argument is out of range; finished continuations
        are saved.

    Examples:
      >>> import sts
      >>> done = sts.run("core@2+category:ambush+difficulty:hard", "random", continuations=2)
      >>> done[["agent", "new", "reused"]].values.tolist()
      [['random', 6, 0]]
    """
    import pandas as pd

    names = _list_agents(agents)
    workspace = Workspace.open(workspace)
    selection = load_suite(suite, workspace=workspace) if isinstance(suite, str) else suite
    rows = run_selection(
        workspace,
        selection,
        names,
        count=continuations,
        seed=seed,
        workers=workers,
        executor=executor,
        replay=replay,
    )
    return pd.DataFrame(rows, columns=_RUN_COLUMNS)


def run_selection(
    workspace: Workspace,
    selection: Selection,
    names: Sequence[str],
    *,
    count: int,
    seed: int,
    workers: int,
    executor: str,
    replay: bool,
) -> list[dict[str, Any]]:
    """Do what `run` does, and return its rows; the command line need not import pandas."""
    names = resolve_agents(workspace, names)
    with collect_retries() as on_recovery, show_progress(selection.label, "continuations") as show:
        done = run_scenarios(
            workspace,
            selection.scenarios,
            names,
            count=count,
            seed=seed,
            workers=workers,
            progress=show,
            suite=selection.suite.hash,
            executor=executor,
            replay=replay,
            on_recovery=on_recovery,
        )
    prints = done.fingerprints
    rows = [(a, done.new[a], done.reused[a], prints[a], declared_version(prints[a])) for a in names]
    return [dict(zip(_RUN_COLUMNS, row, strict=True)) for row in rows]
