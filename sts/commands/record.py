"""`sts record`: agents play new worlds, and the episodes are kept as trajectories."""

from __future__ import annotations

import argparse
import sys
from typing import TYPE_CHECKING

from sts.cli.command import Command
from sts.cli.settings import add_settings, read_settings

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from sts.agents.facts import Facts
    from sts.storage.workspace import Workspace
    from sts.trajectories.record import Batch, Failure
    from sts.trajectories.types import Trajectory


def configure(parser: argparse.ArgumentParser) -> None:
    """Adds the arguments."""
    parser.add_argument(
        "--agent",
        action="append",
        required=True,
        metavar="A",
        help="a name, module:Class or PYTHON:module:Class",
    )
    parser.add_argument("--episodes", type=int, required=True, metavar="N", help="of each agent")
    parser.add_argument("--domain", metavar="D", help="whose worlds (default: the agent's)")
    parser.add_argument("--steps", type=int, default=50, metavar="T", help="of an episode")
    parser.add_argument(
        "--seed", type=int, default=0, metavar="S", help="names the worlds and the draws"
    )
    parser.add_argument("--workers", type=int, default=1, metavar="W", help="processes")
    parser.add_argument("--split", choices=("auto",), default="auto", help="by hash of the world")
    add_settings(parser)


def run(args: argparse.Namespace) -> int:
    """Records and saves."""
    from sts.agents.facts import gather
    from sts.cli.arguments import at_least, progress, retries, say
    from sts.errors import ReplayMismatch, StsError
    from sts.storage.workspace import Workspace
    from sts.trajectories import store
    from sts.trajectories.record import Failure, record_all

    at_least(1, "--episodes", args.episodes)
    workspace = Workspace.open(args.workspace)
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
                workers=at_least(1, "--workers", args.workers),
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
    say(
        args.json,
        {"file": str(path), "trajectories": [t.id for t in made], "test": test},
        f"{len(made)} trajectories of {args.steps} steps, {test} on the test side -> {path}",
    )
    return 0


def _in_order(names: Sequence[str], batches: Sequence[Batch]) -> list[Trajectory]:
    """Returns the trajectories, whichever process made which of them first."""
    ordered = sorted(batches, key=lambda one: (names.index(one.agent), one.first))
    return [trajectory for one in ordered for trajectory in one.trajectories]


def _keep(workspace: Workspace, names: Sequence[str], batches: Sequence[Batch], total: int) -> None:
    """Keeps what there is of a recording that does not come to its end, and says so."""
    from sts.trajectories import store

    if made := _in_order(names, batches):
        path = store.save(workspace, made)
        print(f"sts: {len(made)} of {total} episodes are kept -> {path}", file=sys.stderr)


def _raise_first(names: Sequence[str], failures: Sequence[Failure]) -> None:
    """Raises the error of the first episode that failed, and counts the others."""
    from sts.jobs.tasks import NotTried

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
    from sts.errors import ArgumentError

    every = list(every)
    homes = {agent.domain: agent.name for agent in every if agent.domain}
    if not homes:
        raise ArgumentError(f"{every[0].name} plays any worlds: expected --domain D")
    if len(homes) > 1:
        texts = ", ".join(f"{name} those of {domain}" for domain, name in homes.items())
        raise ArgumentError(f"expected agents that play the same worlds, found {texts}")
    (home,) = homes
    return home


COMMAND = Command(
    summary="record agents on new worlds",
    example="sts record --agent {agent} --episodes 100 --steps 60",
    configure=configure,
    run=run,
)
