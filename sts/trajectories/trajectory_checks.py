"""Integrity checks of trajectories: their hashes, and their replay."""

from collections.abc import Iterator, Sequence

from sts.domains import why_unavailable
from sts.engine.replay import Mismatch, verify
from sts.storage.checks import CheckResult, Findings
from sts.storage.workspace import Workspace
from sts.trajectories import trajectory_store as store
from sts.trajectories.trajectory import Trajectory


def find_mismatches(trajectories: Sequence[Trajectory]) -> Iterator[tuple[Trajectory, Mismatch]]:
    """Yield each trajectory that does not replay exactly, with its first difference."""
    differences = verify([t.episode for t in trajectories])
    yield from ((t, m) for t, m in zip(trajectories, differences, strict=True) if m)


def find_unavailable(trajectories: Sequence[Trajectory]) -> dict[str, list[str]]:
    """Return the ids of trajectories that cannot be replayed here, by reason."""
    by_reason: dict[str, list[str]] = {}
    for t in trajectories:
        if (reason := why_unavailable(t.episode)) is not None:
            by_reason.setdefault(str(reason), []).append(t.id)
    return by_reason


def check(workspace: Workspace) -> CheckResult:
    """Check every file against its hashes, even if verified before, and replay its trajectories."""
    findings, count, files = Findings(), 0, store.list_files(workspace)
    for path in files:
        with findings.collect(path):
            trajectories = store.read(path)
            count += len(trajectories)
            reasons = find_unavailable(trajectories)
            skipped = {id for ids in reasons.values() for id in ids}
            wrong = find_mismatches([t for t in trajectories if t.id not in skipped])
            findings += [f"{path}: trajectory {t.id}: {m.description}" for t, m in wrong]
            findings += [
                f"{path}: {len(ids)} cannot be replayed here, such as {ids[0]}: {reason}"
                for reason, ids in reasons.items()
            ]
    return CheckResult({"files": len(files), "trajectories": count}, tuple(findings))
