"""`sts workspace`: copy a workspace to one file and back, move its database, and check it."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

from sts import registry
from sts.cli.arguments import format_table, show_progress
from sts.cli.command import Result, argument, declare, group, option
from sts.errors import ArgumentError, StsError
from sts.names import count_noun

if TYPE_CHECKING:
    from sts.storage.archive import Manifest
    from sts.storage.checks import Check, CheckResult
    from sts.storage.workspace import Workspace


SECRETS = (".annotate-key", "secrets.toml", "annotations.sqlite3", "annotations.dump")


@declare("backup study.backup")
def backup(workspace: Workspace, *, file: Path = argument("FILE", "new file", type=Path)) -> Result:
    """Write the workspace to one file, also while it is in use."""
    from sts.annotations.vault import backup as backups

    manifest = backups.create_backup(workspace, file)
    secrets = [name for name in SECRETS if name in manifest.files]
    text = f"{file}: {_format_size(file, manifest)} of workspace {manifest.workspace}"
    if secrets:
        text += f"\nkeep it as you keep {', '.join(secrets)}, which it holds"
    return Result(_backup_record(file, workspace, manifest) | {"secrets": secrets}, text)


@declare(
    "restore study.backup --workspace restored",
    description="restore a backup into a new workspace or an empty folder; a PostgreSQL "
    "database is restored into the empty one that STS_DATABASE_URL names",
)
def restore(
    workspace: Workspace, *, file: Path = argument("FILE", "backup file", type=Path)
) -> Result:
    """Restore a backup into a new workspace or an empty folder."""
    from sts.annotations.vault import backup as backups

    with show_progress("restoring", "files") as show:
        manifest = backups.restore_backup(file, workspace.root, show)
    text = f"{workspace.root}: {_format_size(file, manifest)} as copied on {manifest.made}"
    return Result(_backup_record(file, workspace, manifest), text)


@declare("move --to postgresql://sts@db.example:5432/sts")
def move(
    workspace: Workspace,
    *,
    to: str = option(
        "URL",
        "postgresql://user@host:port/name, or sqlite for a file in the workspace",
        required=True,
    ),
) -> Result:
    """Move the database to an empty one, SQLite or PostgreSQL; stop the server first."""
    from sts.annotations.database.presence import URL_VARIABLE
    from sts.annotations.vault import move as moving

    record = moving.move_database(workspace, to)
    counts = {"events": record.events, "people": len(record.authors), "clips": len(record.clips)}
    if to == moving.SQLITE:
        remedy = f"take {URL_VARIABLE} away from now on; the other database stays as it was"
    else:
        old = workspace.path(moving.MOVED_FILE)
        remedy = f"set {URL_VARIABLE} to it from now on; {old} has what was here"
    text = f"{record.events} events moved, and every chain checked; {remedy}"
    return Result(counts, text)


@declare("check --sources-of report.json")
def check(
    workspace: Workspace,
    *,
    sources_of: Path | None = option(
        "FILE",
        "a report.json, or the JSON file of an exported table, whose sources must be present "
        "(default: none)",
        type=Path,
    ),
) -> Result:
    """Find damaged, altered and missing files and records; exit code 1 if there are any."""
    from sts.storage.checks import GROUP
    from sts.storage.files import confine_links

    if not workspace.path("workspace.toml").exists():
        raise StsError(f"no workspace at {workspace.root}, so nothing to check")
    names = sorted(registry.list_entry_points(GROUP))
    results = {"links": _check_links(workspace.root)}
    with show_progress("checking", "checks") as show:
        for number, name in enumerate(names, start=1):
            look: Check = registry.load_entry_point(GROUP, "check", name)
            with (
                registry.translate_errors(f"check {name!r} failed", passing=OSError),
                confine_links(workspace.root),
            ):
                results[name] = look(workspace)
            show(number, len(names))
    if sources_of is not None:
        results[str(sources_of)] = _check_sources(workspace, sources_of)
    rows = [
        (name, _format_counts(result), len(result.findings)) for name, result in results.items()
    ]
    findings = [line for result in results.values() for line in result.findings]
    lines = [format_table(("of", "looked at", "findings"), rows), "", *findings]
    if not findings:
        lines.append("nothing is damaged, altered or missing, as far as files say of each other")
    checks = {name: result._asdict() for name, result in results.items()}
    value = {"checks": checks, "findings": len(findings)}
    return Result(value, "\n".join(lines), 1 if findings else 0)


def _check_links(root: Path) -> CheckResult:
    """Name the links that lead out of a workspace, which no check follows."""
    from sts.storage.checks import CheckResult

    paths = (Path(at, name) for at, folders, files in os.walk(root) for name in (*folders, *files))
    links = sorted(path for path in paths if path.is_symlink())
    inside = os.path.realpath(root)
    leaving = [link for link in links if not Path(os.path.realpath(link)).is_relative_to(inside)]
    lines = (
        f"{link} is a link to {os.path.realpath(link)}, which no check follows" for link in leaving
    )
    return CheckResult({"links": len(links)}, tuple(lines))


def _check_sources(workspace: Workspace, file: Path) -> CheckResult:
    """Hold a workspace to the digests of what a report or a table was made of."""
    from sts.annotations.vault import digests
    from sts.storage.checks import CheckResult, Findings

    findings = Findings()
    try:
        sources = digests.read_digests(file)
    except FileNotFoundError:
        raise ArgumentError(f"--sources-of: no file at {file}; check the path") from None
    with findings.collect(file):
        findings += [f"{file}: {line}" for line in digests.iter_differences(workspace, sources)]
    return CheckResult({"authors": len(sources.authors)}, tuple(findings))


def _format_counts(result: CheckResult) -> str:
    counts = result.counts.items()
    words = (f"{n} {noun.removesuffix('s') if n == 1 else noun}" for noun, n in counts)
    return ", ".join(words) or "none here"


def _format_size(file: Path, manifest: Manifest) -> str:
    return f"{count_noun(len(manifest.files), 'file')}, {file.stat().st_size / 1e6:.1f} MB,"


def _backup_record(file: Path, workspace: Workspace, manifest: Manifest) -> dict[str, object]:
    size = file.stat().st_size
    record = {"file": str(file), "workspace": str(workspace.root), "id": manifest.workspace}
    return record | {
        "made": manifest.made,
        "sts": manifest.sts,
        "files": len(manifest.files),
        "bytes": size,
    }


WORKSPACE = group("workspace backup study.backup", backup, restore, move, check)
