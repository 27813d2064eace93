"""`sts trajectories`: import, list, show, verify and export recorded episodes."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from typing import TYPE_CHECKING

from sts import registry
from sts.cli.command import Command

if TYPE_CHECKING:
    from sts.storage.workspace import Workspace
    from sts.trajectories.types import Trajectory


def configure(parser: argparse.ArgumentParser) -> None:
    """Adds the subcommands."""
    actions = parser.add_subparsers(dest="action", required=True, metavar="ACTION")
    imported = actions.add_parser(
        "import",
        help="bring in recordings made elsewhere",
        example="sts trajectories import recordings.parquet --format minari",
    )
    imported.add_argument("files", nargs="*", metavar="FILE", help="none where F finds its own")
    imported.add_argument("--format", required=True, metavar="F", help=_formats("sts.importers"))
    imported.add_argument(
        "--domain",
        metavar="D",
        help="what replays them, where F asks: a name or module:Class (default: none)",
    )
    _add_filters(
        actions.add_parser("ls", help="what there is", example="sts trajectories ls --who {agent}")
    )
    shown = actions.add_parser(
        "show",
        help="one of them, and the state it began in",
        example="sts trajectories show 1f0c",
    )
    shown.add_argument("id", metavar="ID", help="or its first digits; `ls --json` has them all")
    verified = actions.add_parser(
        "verify", help="replay all of them, or those of files", example="sts trajectories verify"
    )
    verified.add_argument("files", nargs="*", metavar="FILE", help="our Parquet files")
    exported = actions.add_parser(
        "export",
        help="write them for others to read",
        example="sts trajectories export theirs.hdf5 --format minari",
    )
    exported.add_argument("file", metavar="OUT", help="the file or folder to make")
    exported.add_argument(
        "--format", default="parquet", metavar="F", help=_formats("sts.exporters")
    )
    exported.add_argument(
        "--role",
        type=int,
        metavar="P",
        help="whose steps, where F holds one participant's (default: 0)",
    )
    exported.add_argument(
        "--draft",
        metavar="NAME",
        help="what sts mine NAME --split train made, with what it asks (default: recordings)",
    )
    _add_filters(exported)


def _formats(group: str) -> str:
    return f"one of {', '.join(registry.named(group))}"


def _add_filters(parser: argparse.ArgumentParser) -> None:
    """Adds the flags that say which trajectories are meant; `_chosen` heeds them."""
    parser.add_argument("--domain", metavar="D", help="only those of this domain (default: all)")
    parser.add_argument(
        "--who", metavar="NAME", help="only those that NAME took part in (default: all)"
    )
    parser.add_argument(
        "--source", metavar="TEXT", help="only those whose source has TEXT in it (default: all)"
    )
    parser.add_argument(
        "--split", choices=("train", "test"), help="only those of this side (default: both)"
    )


def run(args: argparse.Namespace) -> int:
    """Does what `args.action` says."""
    from sts.commands import importing
    from sts.storage.workspace import Workspace

    actions = {
        "import": importing.bring,
        "ls": _ls,
        "show": _show,
        "verify": _verify,
        "export": _export,
    }
    return actions[args.action](args, Workspace.open(args.workspace))


def _ls(args: argparse.Namespace, workspace: Workspace) -> int:
    from sts.cli.arguments import say, table
    from sts.trajectories import store

    every = _chosen(args, store.load(workspace))
    ids: dict[tuple[str, str, int, int, str], list[str]] = {}
    for t in every:
        who = ", ".join(dict.fromkeys(p.name for p in t.participants))
        origin = t.source.partition(" ")[0]
        ids.setdefault((origin, who, len(t.participants), t.episode.steps, t.split), []).append(
            t.id
        )
    header = ("source", "who", "participants", "steps", "split", "trajectories", "such as")
    rows = [(*key, len(own), own[0]) for key, own in sorted(ids.items())]
    text = table(header, rows) if rows else "no trajectories yet: `sts record` or `import` them"
    value = [
        dict(zip(header[:-1], row[:-1], strict=True)) | {"ids": own}
        for row, (_, own) in zip(rows, sorted(ids.items()), strict=True)
    ]
    say(args.json, value, text)
    return 0


def _instructed(args: argparse.Namespace, workspace: Workspace) -> list[Trajectory]:
    """Return the candidates of --draft as trajectories, those left out that were rejected.

    Of a format that holds one participant, those alone that are asked of this one; warns of others.
    """
    from sts.annotations.decisions import of_draft
    from sts.annotations.store import Store
    from sts.cli.arguments import warn
    from sts.errors import StsError
    from sts.suites import drafts, instructed
    from sts.suites.decisions import State, states

    draft, states_of = drafts.open_draft(workspace, args.draft), {}
    with Store.read_existing(workspace) as connection:
        if connection:
            states_of = states(of_draft(connection, draft.id))
    now = {id: states_of.get(id, State()) for id in draft.ids()}
    kept = {id: one.scenario for id, one in now.items() if one.status != "rejected"}
    every = instructed.trajectories(draft, kept)
    if args.format == "parquet":
        return every
    own = [t for t in every if t.provenance["asked"]["roles"] == [args.role or 0]]
    if every and not own:
        raise StsError(f"draft {args.draft} asks nothing of participant {args.role or 0}")
    if len(own) < len(every):
        warn(f"{len(every) - len(own)} of {len(every)} are asked of others: export them by --role")
    return own


def _chosen(args: argparse.Namespace, every: Sequence[Trajectory]) -> list[Trajectory]:
    """Return the trajectories that the flags of `_add_filters` leave."""
    from sts.errors import StsError

    found = [
        t
        for t in every
        if args.domain in (None, t.episode.domain)
        and (args.who is None or args.who in {p.name for p in t.participants})
        and (args.source is None or args.source in t.source)
        and args.split in (None, t.split)
    ]
    if every and not found:
        flags = ("domain", "who", "source", "split")
        said = " ".join(f"--{f} {getattr(args, f)}" for f in flags if getattr(args, f))
        raise StsError(f"none of {len(every)} trajectories is left by {said}")
    return found


def _show(args: argparse.Namespace, workspace: Workspace) -> int:
    from sts.cli.arguments import say
    from sts.commands.terminal import strip
    from sts.domains import domain, reward_values, why_unavailable
    from sts.names import escaped
    from sts.trajectories import store

    t = store.find(workspace, args.id)
    reason = why_unavailable(t.episode)
    who = escaped(", ".join(f"{p.name} ({p.kind})" for p in t.participants))
    value = {
        "id": t.id,
        "source": t.source,
        "participants": [{"kind": p.kind, "name": p.name} for p in t.participants],
        "steps": t.episode.steps,
        "split": t.split,
        "world": t.world,
        "provenance": t.provenance,
        "state": None if reason else domain(t.episode.domain).view(t.episode.state),
    }
    text = f"{t.id}  {escaped(t.source)}\n{who}; {t.episode.steps} steps; {t.split} side\n\n"
    if reason:
        text += f"its world cannot be shown here: {reason}"
    else:
        rewards = reward_values(domain(t.episode.domain), t.episode.rewards.sum(0))
        frames = [round(i * t.episode.steps / 5) for i in range(6)]
        text += strip(t.episode, frames, judged=())
        text += f"\n\nrewards in all, by participant: {rewards.tolist()}"
    say(args.json, value, text)
    return 0


def _verify(args: argparse.Namespace, workspace: Workspace) -> int:
    from pathlib import Path

    from sts.cli.arguments import say
    from sts.trajectories import store
    from sts.trajectories.check import mismatches, unavailable

    if args.files:
        every = [t for file in args.files for t in store.read(Path(file))]
    else:
        every = store.load(workspace)
    elsewhere = unavailable(every)
    gone = {id for ids in elsewhere.values() for id in ids}
    here = [t for t in every if t.id not in gone]
    wrong = list(mismatches(here))
    steps = sum(t.episode.steps for t in here)
    rewards = sum(t.episode.rewards.size for t in here)
    good = len(here) - len(wrong)
    lines = [f"{t.id} ({t.source}): {m.what}" for t, m in wrong]
    lines += [
        f"{len(ids)} cannot be replayed here, {ids[0]} among them: {text}"
        for text, ids in elsewhere.items()
    ]
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
        "elsewhere": [{"ids": ids, "why": text} for text, ids in elsewhere.items()],
    }
    say(args.json, value, "\n".join(lines))
    return 1 if wrong or elsewhere else 0


def _export(args: argparse.Namespace, workspace: Workspace) -> int:
    from pathlib import Path

    from sts.cli.arguments import progress, say
    from sts.commands.importing import function
    from sts.errors import StsError, Unavailable
    from sts.trajectories import store

    write = function("sts.exporters", args.format)
    out = Path(args.file)
    if out.exists():
        raise Unavailable(f"{out} exists: remove it, or choose another name")
    every = _chosen(args, _instructed(args, workspace) if args.draft else store.load(workspace))
    if not every:
        raise StsError("no trajectories to export: `sts record` or `import` some")
    with progress("exporting", "trajectories") as show:
        with registry.blaming(f"{out}: --format {args.format} failed", passing=OSError):
            write(out, every, role=args.role, progress=show)
    whose = "" if args.format == "parquet" else f", participant {args.role or 0} of each"
    say(
        args.json,
        {"file": args.file, "format": args.format, "trajectories": len(every)},
        f"{len(every)} trajectories{whose} -> {out}",
    )
    return 0


COMMAND = Command(
    summary="import, list, show, verify and export recorded episodes",
    example="sts trajectories export test-side.parquet --split test",
    configure=configure,
    run=run,
)
