"""`sts workspace`: copy a workspace to one file and back, move its database, and check it."""

import argparse
import os
from pathlib import Path

from sts import registry
from sts.annotations import backup as backups
from sts.annotations import digests
from sts.annotations import move as moving
from sts.annotations.store import URL_VARIABLE
from sts.cli.arguments import format_table, show_progress
from sts.cli.command import Result
from sts.errors import ArgumentError, StsError
from sts.names import count_noun
from sts.storage.archive import Manifest
from sts.storage.checks import GROUP, Check, CheckResult, Findings
from sts.storage.files import confine_links
from sts.storage.workspace import Workspace

SECRETS = (".annotate-key", "secrets.toml", "annotations.sqlite3", "annotations.dump")


def backup(args: argparse.Namespace, workspace: Workspace) -> Result:
    """Write all that people and agents made to one file."""
    file, made = args.file, backups.create_backup(workspace, args.file)
    secrets = [name for name in SECRETS if name in made.files]
    text = f"{file}: {_format_size(file, made)} of workspace {made.workspace}"
    if secrets:
        text += f"\nkeep it as you keep {', '.join(secrets)}, which it holds"
    return Result(_backup_record(file, workspace, made) | {"secrets": secrets}, text)


def restore(args: argparse.Namespace, workspace: Workspace) -> Result:
    """Make a backup a workspace again."""
    file = args.file
    with show_progress("restoring", "files") as show:
        made = backups.restore_backup(file, workspace.root, show)
    text = f"{workspace.root}: {_format_size(file, made)} as copied on {made.made}"
    return Result(_backup_record(file, workspace, made), text)


def move(args: argparse.Namespace, workspace: Workspace) -> Result:
    """Move the database of a workspace to another place."""
    found = moving.move_database(workspace, args.to)
    counts = {"events": found.events, "people": len(found.authors), "clips": len(found.clips)}
    if args.to == moving.SQLITE:
        remedy = f"take {URL_VARIABLE} away from now on; the other database stays as it was"
    else:
        old = workspace.path(moving.MOVED_FILE)
        remedy = f"set {URL_VARIABLE} to it from now on; {old} has what was here"
    text = f"{found.events} events moved, and every chain checked; {remedy}"
    return Result(counts, text)


def check(args: argparse.Namespace, workspace: Workspace) -> Result:
    """Look at everything in a workspace for what is damaged, altered or missing."""
    if not workspace.path("workspace.toml").exists():
        raise StsError(f"no workspace at {workspace.root}, so nothing to check")
    names, every = (
        sorted(registry.list_entry_points(GROUP)),
        {"links": _check_links(workspace.root)},
    )
    with show_progress("checking", "checks") as show:
        for number, name in enumerate(names, start=1):
            look: Check = registry.load_entry_point(GROUP, "check", name)
            with (
                registry.translate_errors(f"check {name!r} failed", passing=OSError),
                confine_links(workspace.root),
            ):
                every[name] = look(workspace)
            show(number, len(names))
    if args.sources_of is not None:
        every[str(args.sources_of)] = _check_sources(workspace, args.sources_of)
    rows = [(name, _format_counts(one), len(one.findings)) for name, one in every.items()]
    findings = [line for one in every.values() for line in one.findings]
    lines = [format_table(("of", "looked at", "findings"), rows), "", *findings]
    if not findings:
        lines.append("nothing is damaged, altered or missing, as far as files say of each other")
    checks = {name: one._asdict() for name, one in every.items()}
    value = {"checks": checks, "findings": len(findings)}
    return Result(value, "\n".join(lines), 1 if findings else 0)


def _check_links(root: Path) -> CheckResult:
    """Name the links that lead out of a workspace, which no check follows."""
    paths = (Path(at, name) for at, folders, files in os.walk(root) for name in (*folders, *files))
    links = sorted(path for path in paths if path.is_symlink())
    inside = os.path.realpath(root)
    out = [one for one in links if not Path(os.path.realpath(one)).is_relative_to(inside)]
    lines = (f"{one} is a link to {os.path.realpath(one)}, which no check follows" for one in out)
    return CheckResult({"links": len(links)}, tuple(lines))


def _check_sources(workspace: Workspace, file: Path) -> CheckResult:
    """Hold a workspace to the digests of what a report or a table was made of."""
    findings = Findings()
    try:
        own = digests.read_digests(file)
    except FileNotFoundError:
        raise ArgumentError(f"--sources-of: no file at {file}; check the path") from None
    with findings.collect(file):
        findings += [f"{file}: {line}" for line in digests.iter_differences(workspace, own)]
    return CheckResult({"authors": len(own.authors)}, tuple(findings))


def _format_counts(one: CheckResult) -> str:
    counts = one.counts.items()
    words = (f"{n} {what.removesuffix('s') if n == 1 else what}" for what, n in counts)
    return ", ".join(words) or "none here"


def _format_size(file: Path, made: Manifest) -> str:
    return f"{count_noun(len(made.files), 'file')}, {file.stat().st_size / 1e6:.1f} MB,"


def _backup_record(file: Path, workspace: Workspace, made: Manifest) -> dict[str, object]:
    size = file.stat().st_size
    own = {"file": str(file), "workspace": str(workspace.root), "id": made.workspace}
    return own | {"made": made.made, "sts": made.sts, "files": len(made.files), "bytes": size}
