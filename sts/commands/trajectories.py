"""`sts trajectories`: import, list, show, verify and export recorded episodes."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING

from sts.command import Command

if TYPE_CHECKING:
    from sts.trajectories.types import Trajectory
    from sts.workspace import Workspace


def configure(parser: argparse.ArgumentParser) -> None:
    """Adds the subcommands."""
    actions = parser.add_subparsers(dest="action", required=True, metavar="ACTION")
    imported = actions.add_parser("import", help="bring in recordings made elsewhere")
    imported.add_argument("files", nargs="+", metavar="FILE")
    imported.add_argument("--format", required=True, metavar="F", help="such as lambdastar-2016")
    actions.add_parser("ls", help="what there is")
    shown = actions.add_parser("show", help="one of them, and the state it began in")
    shown.add_argument("id", metavar="ID")
    verified = actions.add_parser("verify", help="replay all of them, or those of files")
    verified.add_argument("files", nargs="*", metavar="FILE", help="our Parquet files")
    exported = actions.add_parser("export", help="write all to one Parquet file")
    exported.add_argument("file", metavar="FILE")


def run(args: argparse.Namespace) -> int:
    """Does what `args.action` says."""
    from sts.workspace import Workspace

    actions = {
        "import": _import,
        "ls": _ls,
        "show": _show,
        "verify": _verify,
        "export": _export,
    }
    return actions[args.action](args, Workspace.open(args.workspace))


def _import(args: argparse.Namespace, workspace: Workspace) -> int:
    from pathlib import Path

    from sts import registry
    from sts.commands.arguments import progress, say
    from sts.trajectories import store

    read = registry.load("sts.importers", "format", args.format)
    files = []
    with progress("importing", "files") as show:
        for done, file in enumerate(args.files, 1):
            found = read(Path(file))
            _check(found)
            files.append((file, found))
            show(done, len(args.files))
    rows = [(file, len(found), str(store.save(workspace, found))) for file, found in files]
    total = sum(count for _, count, _ in rows)
    say(
        args.json,
        {"files": [{"file": f, "trajectories": n, "path": p} for f, n, p in rows]},
        "\n".join(f"{f}: {n} trajectories, every step replayed exactly -> {p}" for f, n, p in rows)
        + f"\n{total} trajectories in all",
    )
    return 0


def _check(trajectories: list[Trajectory]) -> None:
    """Raises ReplayMismatch at the first trajectory that does not replay exactly."""
    from sts.errors import ReplayMismatch

    for trajectory, mismatch in _mismatches(trajectories):
        raise ReplayMismatch(
            f"{trajectory.source}: {mismatch.what}; nothing was imported", step=mismatch.step
        )


def _mismatches(trajectories: list[Trajectory]):  # type: ignore[no-untyped-def]
    from sts.domains import domain
    from sts.replay import verify

    for name in dict.fromkeys(t.episode.domain for t in trajectories):
        members = [t for t in trajectories if t.episode.domain == name]
        found = verify(domain(name), [t.episode for t in members])
        yield from ((t, m) for t, m in zip(members, found, strict=True) if m)


def _ls(args: argparse.Namespace, workspace: Workspace) -> int:
    from collections import Counter

    from sts.commands.arguments import say, table
    from sts.trajectories import store

    every = store.load(workspace)
    counts: Counter[tuple[str, str, int, int, str]] = Counter()
    for t in every:
        who = ", ".join(dict.fromkeys(p.name for p in t.participants))
        origin = t.source.partition(" ")[0]
        counts[origin, who, len(t.participants), t.episode.steps, t.split] += 1
    header = ("source", "who", "participants", "steps", "split", "trajectories")
    rows = [(*key, n) for key, n in sorted(counts.items())]
    text = table(header, rows) if rows else "no trajectories yet: `sts record` or `import` them"
    say(args.json, [dict(zip(header, row, strict=True)) for row in rows], text)
    return 0


def _show(args: argparse.Namespace, workspace: Workspace) -> int:
    from sts.commands.arguments import say
    from sts.commands.strips import strip
    from sts.domains import domain
    from sts.trajectories import store

    t = store.find(workspace, args.id)
    who = ", ".join(f"{p.name} ({p.kind})" for p in t.participants)
    value = {
        "id": t.id,
        "source": t.source,
        "participants": [{"kind": p.kind, "name": p.name} for p in t.participants],
        "steps": t.episode.steps,
        "split": t.split,
        "world": t.world,
        "provenance": t.provenance,
        "state": domain(t.episode.domain).view(t.episode.state),
    }
    rewards = t.episode.rewards.sum(0) * domain(t.episode.domain).reward_unit
    frames = [round(i * t.episode.steps / 5) for i in range(6)]
    text = (
        f"{t.id}  {t.source}\n{who}; {t.episode.steps} steps; {t.split} side\n\n"
        + strip(t.episode, frames, judged=())
        + f"\n\nrewards in all, by participant: {rewards.tolist()}"
    )
    say(args.json, value, text)
    return 0


def _verify(args: argparse.Namespace, workspace: Workspace) -> int:
    from pathlib import Path

    from sts.commands.arguments import say
    from sts.trajectories import store

    if args.files:
        every = [t for file in args.files for t in store.read(Path(file))]
    else:
        every = store.load(workspace)
    wrong = list(_mismatches(every))
    steps = sum(t.episode.steps for t in every)
    rewards = sum(t.episode.rewards.size for t in every)
    good = len(every) - len(wrong)
    lines = [f"{t.id} ({t.source}): {m.what}" for t, m in wrong]
    lines.append(
        f"{good} of {len(every)} trajectories replay exactly: "
        f"{steps} steps, {rewards} positions and rewards compared"
    )
    value = {
        "trajectories": len(every),
        "exact": good,
        "steps": steps,
        "rewards": rewards,
        "mismatches": [{"id": t.id, "step": m.step, "what": m.what} for t, m in wrong],
    }
    say(args.json, value, "\n".join(lines))
    return 1 if wrong else 0


def _export(args: argparse.Namespace, workspace: Workspace) -> int:
    from pathlib import Path

    from sts.commands.arguments import say
    from sts.trajectories import store

    every = store.load(workspace)
    store.write(Path(args.file), every)
    say(args.json, {"file": args.file, "trajectories": len(every)}, f"{len(every)} -> {args.file}")
    return 0


COMMAND = Command(
    summary="import, list, show, verify and export recorded episodes",
    example="sts trajectories import traces/*.jsonl --format lambdastar-2016",
    configure=configure,
    run=run,
)
