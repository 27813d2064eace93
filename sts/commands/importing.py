"""`sts trajectories import`: recordings of others, each file replayed or refused."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

from sts import registry
from sts.cli.arguments import show_progress
from sts.cli.command import Result, argument, declare, option
from sts.errors import ArgumentError, DamagedData, ReplayMismatch, StsError
from sts.names import count_noun, escape_unprintable

if TYPE_CHECKING:
    from sts.storage.workspace import Workspace
    from sts.trajectories.trajectory import Trajectory


def describe_formats(group: str) -> str:
    """Return what help says of the formats that are installed."""
    return f"one of {', '.join(registry.list_entry_points(group))}"


def load_format(group: str, name: str) -> Callable[..., Any]:
    """Return the importer or exporter of a format."""
    function: Callable[..., Any] = registry.load_entry_point(group, "format", name)
    if not callable(function):
        raise StsError(f"entry point {group}:{name} is no function")
    return function


@declare("import recordings.parquet --format minari")
def import_files(
    workspace: Workspace,
    *,
    files: list[str] = argument(
        "FILE", "files to import; none if the format finds them", nargs="*"
    ),
    format: str = option("F", describe_formats("sts.importers"), required=True),
    domain: str | None = option(
        "D", "environment that replays them, if F needs it: name or module:Class"
    ),
) -> Result:
    """Import recordings of other programs."""
    from sts.storage.memory import limit_memory
    from sts.trajectories import trajectory_store as store

    read = load_format("sts.importers", format)
    calls, more = _list_calls(format, read, files), _domain_argument(format, domain, read)
    rows, failed = [], []
    with show_progress("importing", "files") as show:
        for count, paths in enumerate(calls, 1):
            file = str(paths[0]) if paths else format
            try:
                for path in paths:  # an importer would wait for a pipe, a socket or a device
                    if path.exists() and not (path.is_file() or path.is_dir()):
                        raise DamagedData(
                            f"{path}: expected a file or a folder, found a pipe or a device"
                        )
                with registry.translate_errors(
                    f"{file}: --format {format} failed", passing=OSError
                ):
                    with limit_memory(file):
                        trajectories = list(read(*paths, **more))
                _check_replay(trajectories)
            except (StsError, OSError) as error:
                if len(calls) == 1:
                    raise
                if not isinstance(error, StsError):
                    error = StsError(f"{error.filename or file}: {error.strerror or error}")
                failed.append((file, error.with_prefix(file)))
            else:
                path = store.save(workspace, trajectories)
                rows.append((file, len(trajectories), str(path)))
            show(count, len(calls))
    for _, why in failed:
        print(f"sts: {escape_unprintable(' '.join(str(why).split()))}", file=sys.stderr)
    lines = [
        f"{file}: {count_noun(number, 'trajectory')}, every step replayed exactly -> {path}"
        for file, number, path in rows
    ]
    total = sum(count for _, count, _ in rows)
    lines.append(f"{count_noun(total, 'trajectory')} in all")
    value = {
        "files": [{"file": f, "trajectories": n, "path": p} for f, n, p in rows],
        "failed": [{"file": f, "why": str(why)} for f, why in failed],
    }
    return Result(value, "\n".join(lines), failed[0][1].exit_code if failed else 0)


def _list_calls(format: str, read: Callable[..., Any], files: list[str]) -> list[tuple[Path, ...]]:
    """Return what an importer is called with, once for each file.

    An importer takes a path, or nothing where it finds its recordings itself, or either.
    """
    import inspect

    parameters = inspect.signature(read).parameters.values()
    positional = [
        parameter for parameter in parameters if parameter.kind is not parameter.KEYWORD_ONLY
    ]
    if files and not positional:
        raise ArgumentError(f"--format {format} finds its recordings itself: expected no FILE")
    if not files and any(parameter.default is parameter.empty for parameter in positional):
        raise ArgumentError(f"--format {format} reads files: expected FILE")
    return [(Path(file),) for file in files] or [()]


def _domain_argument(format: str, domain: str | None, read: Callable[..., Any]) -> dict[str, str]:
    """Return --domain for an importer that takes `domain`."""
    import inspect

    from sts.domains import load_domain

    if domain is None:
        return {}
    if "domain" not in inspect.signature(read).parameters:
        raise ArgumentError(f"--format {format} knows its domain: expected no --domain")
    load_domain(domain)
    return {"domain": domain}


def _check_replay(trajectories: list[Trajectory]) -> None:
    """Raise ReplayMismatch at the first trajectory that does not replay exactly."""
    from sts.domains import require_domain
    from sts.trajectories.trajectory_checks import find_mismatches

    for t in trajectories:
        require_domain(t.episode, t.source)
    for trajectory, mismatch in find_mismatches(trajectories):
        raise ReplayMismatch(
            f"{trajectory.source}: {mismatch.description}; nothing of its file was imported",
            step=mismatch.step,
        )
