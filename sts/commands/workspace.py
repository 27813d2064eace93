"""`sts workspace`: copy a workspace to one file and back, move its database, and check it."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import TYPE_CHECKING

from sts.cli.command import Command

if TYPE_CHECKING:
    from sts.storage.archive import Manifest
    from sts.storage.checks import Checked
    from sts.storage.workspace import Workspace

_EXAMPLE = "sts workspace backup study.backup"
_MOVE = "sts workspace move --to postgresql://sts@db.example:5432/sts"
SECRETS = (".annotate-key", "secrets.toml", "annotations.sqlite3", "annotations.dump")


def _configure(parser: argparse.ArgumentParser) -> None:
    actions = parser.add_subparsers(
        dest="action", required=True, metavar="backup | restore | move | check"
    )
    words = "write all that people and agents made to one file; nobody has to stop for it"
    leaf = actions.add_parser("backup", help=words, description=words, example=_EXAMPLE)
    leaf.add_argument("file", metavar="FILE", type=Path, help="to be made, where nothing is")
    words = "make a backup a workspace again: a new one, or in an empty folder"
    leaf = actions.add_parser(
        "restore",
        help=words,
        description=f"{words}; a database of PostgreSQL goes into the empty one that "
        "STS_DATABASE_URL names",
        example="sts workspace restore study.backup --workspace restored",
    )
    leaf.add_argument("file", metavar="FILE", type=Path, help="what `sts workspace backup` made")
    words = (
        "move its database to an empty one, between SQLite and PostgreSQL; stop its server first"
    )
    leaf = actions.add_parser("move", help=words, description=words, example=_MOVE)
    leaf.add_argument(
        "--to",
        metavar="URL",
        required=True,
        help="postgresql://user@host:port/name, or sqlite for the workspace's own file",
    )
    words = (
        "look at everything in it for what is damaged, altered or missing; exit code 1 if any is"
    )
    leaf = actions.add_parser(
        "check", help=words, description=words, example="sts workspace check --against report.json"
    )
    leaf.add_argument(
        "--against",
        metavar="FILE",
        type=Path,
        help="a report.json, or the JSON next to an exported table, whose sources must be there "
        "(default: none)",
    )


def _run(args: argparse.Namespace) -> int:
    from sts.storage.workspace import Workspace

    workspace = Workspace.open(args.workspace)
    if args.action == "backup":
        _backup(workspace, args.file, as_json=args.json)
    elif args.action == "restore":
        _restore(workspace, args.file, as_json=args.json)
    elif args.action == "move":
        _move(workspace, args.to, as_json=args.json)
    else:
        return _check(workspace, args.against, as_json=args.json)
    return 0


def _backup(workspace: Workspace, file: Path, *, as_json: bool) -> None:
    from sts.annotations.backup import take
    from sts.cli.arguments import say

    made = take(workspace, file)
    secrets = [name for name in SECRETS if name in made.files]
    text = f"{file}: {_size(file, made)} of workspace {made.workspace}"
    if secrets:
        text += f"\nkeep it as you keep {', '.join(secrets)}, which it holds"
    say(as_json, _value(file, workspace, made) | {"secrets": secrets}, text)


def _restore(workspace: Workspace, file: Path, *, as_json: bool) -> None:
    from sts.annotations.backup import restore
    from sts.cli.arguments import progress, say

    with progress("restoring", "files") as show:
        made = restore(file, workspace.root, show)
    text = (
        f"{workspace.root}: {_size(file, made)} as they were on {made.made}, each as it was copied"
    )
    say(as_json, _value(file, workspace, made), text)


def _move(workspace: Workspace, to: str, *, as_json: bool) -> None:
    from sts.annotations.move import AWAY, SQLITE, move
    from sts.annotations.store import URL_VARIABLE
    from sts.cli.arguments import say

    found = move(workspace, to)
    counts = {"events": found.events, "people": len(found.authors), "clips": len(found.clips)}
    if to == SQLITE:
        remedy = f"take {URL_VARIABLE} away from now on; the other database stays as it was"
    else:
        remedy = f"set {URL_VARIABLE} to it from now on; {workspace.path(AWAY)} has what was here"
    text = f"{found.events} events moved, and every chain checked; {remedy}"
    say(as_json, counts, text)


def _check(workspace: Workspace, against: Path | None, *, as_json: bool) -> int:
    from sts import registry
    from sts.cli.arguments import progress, say, table
    from sts.errors import StsError
    from sts.storage.checks import GROUP, Check
    from sts.storage.files import without_links

    if not workspace.path("workspace.toml").exists():
        raise StsError(f"no workspace at {workspace.root}, so nothing to check")
    names, every = sorted(registry.named(GROUP)), {"links": _links(workspace.root)}
    with progress("checking", "checks") as show:
        for number, name in enumerate(names, start=1):
            check: Check = registry.load(GROUP, "check", name)
            with (
                registry.blaming(f"check {name!r} failed", passing=OSError),
                without_links(workspace.root),
            ):
                every[name] = check(workspace)
            show(number, len(names))
    if against is not None:
        every[str(against)] = _against(workspace, against)
    rows = [(name, _looked(one), len(one.findings)) for name, one in every.items()]
    findings = [line for one in every.values() for line in one.findings]
    lines = [table(("of", "looked at", "findings"), rows), "", *findings]
    if not findings:
        lines.append("nothing is damaged, altered or missing, as far as files say of each other")
    value = {"checks": {name: one._asdict() for name, one in every.items()}}
    say(as_json, value | {"findings": len(findings)}, "\n".join(lines))
    return 1 if findings else 0


def _links(root: Path) -> Checked:
    """Name the links that lead out of a workspace, which no check follows."""
    import os

    from sts.storage.checks import Checked

    paths = (Path(at, name) for at, folders, files in os.walk(root) for name in (*folders, *files))
    links = sorted(path for path in paths if path.is_symlink())
    inside = os.path.realpath(root)
    out = [one for one in links if not Path(os.path.realpath(one)).is_relative_to(inside)]
    lines = (f"{one} is a link to {os.path.realpath(one)}, which no check follows" for one in out)
    return Checked({"links": len(links)}, tuple(lines))


def _against(workspace: Workspace, file: Path) -> Checked:
    """Hold a workspace to the digests of what a report or a table was made of."""
    from sts.annotations import digests
    from sts.errors import ArgumentError
    from sts.storage.checks import Checked, Findings

    findings = Findings()
    try:
        own = digests.read(file)
    except FileNotFoundError:
        raise ArgumentError(f"--against: no file at {file}; check the path") from None
    with findings.of(file):
        findings += [f"{file}: {line}" for line in digests.differences(workspace, own)]
    return Checked({"authors": len(own.authors)}, tuple(findings))


def _looked(one: Checked) -> str:
    counts = one.counts.items()
    words = (f"{n} {what.removesuffix('s') if n == 1 else what}" for what, n in counts)
    return ", ".join(words) or "none here"


def _size(file: Path, made: Manifest) -> str:
    count = len(made.files)
    return f"{count} file{'' if count == 1 else 's'}, {file.stat().st_size / 1e6:.1f} MB,"


def _value(file: Path, workspace: Workspace, made: Manifest) -> dict[str, object]:
    size = file.stat().st_size
    own = {"file": str(file), "workspace": str(workspace.root), "id": made.workspace}
    return own | {"made": made.made, "sts": made.sts, "files": len(made.files), "bytes": size}


COMMAND = Command(
    summary="back a workspace up while it is in use, restore it, move its database, and check it",
    example=_EXAMPLE,
    arguments=(_configure,),
    run=_run,
)
