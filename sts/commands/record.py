"""`sts record`: agents play new worlds, and the episodes are kept as trajectories."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterable, Sequence

from sts.agents.facts import Facts, gather
from sts.cli.arguments import progress, retries
from sts.cli.command import Result
from sts.cli.settings import read_settings
from sts.errors import ArgumentError, ReplayMismatch, StsError
from sts.jobs.tasks import NotTried
from sts.storage.workspace import Workspace
from sts.trajectories import store
from sts.trajectories.record import Batch, Failure, record_all
from sts.trajectories.types import Trajectory


def record(args: argparse.Namespace, workspace: Workspace) -> Result:
    """Record and save; what there is of a recording that is cut short is kept."""
    found = gather(args.agent)  # an error of the last one is said first
    for one in found.values():
        if isinstance(one, StsError):
            raise one
    known = {name: one for name, one in found.items() if not isinstance(one, StsError)}
    domain = args.domain or _home(known.values())
    batches: list[Batch] = []
    failures: list[Failure] = []
    total = args.episodes * len(known)
    try:
        with retries() as mention, progress("recording", "episodes") as show:
            for outcome in record_all(
                known,
                domain=domain,
                count=args.episodes,
                steps=args.steps,
                seed=args.seed,
                settings=read_settings(args, domain),
                workers=args.workers,
                mention=mention,
            ):
                if isinstance(outcome, Failure):
                    failures.append(outcome)
                else:
                    batches.append(outcome)
                show(sum(len(one.trajectories) for one in batches), total)
    except ReplayMismatch:  # what is recorded in such a world is worth nothing
        raise
    except (StsError, KeyboardInterrupt):
        _keep(workspace, args.agent, batches, total)
        raise
    if failures:
        _keep(workspace, args.agent, batches, total)
        _raise_first(args.agent, failures)
    made = _in_order(args.agent, batches)
    path = store.save(workspace, made)
    test = sum(t.split == "test" for t in made)
    return Result(
        {"file": str(path), "trajectories": [t.id for t in made], "test": test},
        f"{len(made)} trajectories of {args.steps} steps, {test} on the test side -> {path}",
    )


def _in_order(names: Sequence[str], batches: Sequence[Batch]) -> list[Trajectory]:
    """Return the trajectories, in whatever order the processes made them."""
    ordered = sorted(batches, key=lambda one: (names.index(one.agent), one.first))
    return [trajectory for one in ordered for trajectory in one.trajectories]


def _keep(workspace: Workspace, names: Sequence[str], batches: Sequence[Batch], total: int) -> None:
    if made := _in_order(names, batches):
        path = store.save(workspace, made)
        print(f"sts: {len(made)} of {total} episodes are kept -> {path}", file=sys.stderr)


def _raise_first(names: Sequence[str], failures: Sequence[Failure]) -> None:
    """Raise the error of the first episode that failed, and count the others."""
    ordered = sorted(failures, key=lambda one: (names.index(one.agent), one.episode))
    tried = [one for one in ordered if not isinstance(one.error, NotTried)]
    notes = [f"{len(tried) - 1} more failed"] if len(tried) > 1 else []
    left = len(failures) - len(tried)
    notes += [f"{left} more were not tried"] if left else []
    first = tried[0]
    line = f"{first.agent}, episode {first.episode}: {first.error}"
    raise first.error.saying(f"{line} ({', '.join(notes)})" if notes else line)


def _home(every: Iterable[Facts]) -> str:
    """Return the one domain that the agents play."""
    every = list(every)
    homes = {agent.domain: agent.name for agent in every if agent.domain}
    if not homes:
        raise ArgumentError(f"{every[0].name} plays any worlds: expected --domain D")
    if len(homes) > 1:
        texts = ", ".join(f"{name} those of {domain}" for domain, name in homes.items())
        raise ArgumentError(f"expected agents that play the same worlds, found {texts}")
    (home,) = homes
    return home
