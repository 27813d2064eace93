"""Whether trajectories are what they were recorded as: their hashes, and their replay."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from sts.domains import domain, why_unavailable
from sts.engine.replay import Mismatch, verify
from sts.storage.checks import Checked, Findings
from sts.storage.workspace import Workspace
from sts.trajectories import store
from sts.trajectories.types import Trajectory


def mismatches(trajectories: Sequence[Trajectory]) -> Iterator[tuple[Trajectory, Mismatch]]:
    """Yield each trajectory that does not replay exactly, with where it first differs."""
    for name in dict.fromkeys(t.episode.domain for t in trajectories):
        members = [t for t in trajectories if t.episode.domain == name]
        found = verify(domain(name), [t.episode for t in members])
        yield from ((t, m) for t, m in zip(members, found, strict=True) if m)


def unavailable(trajectories: Sequence[Trajectory]) -> dict[str, list[str]]:
    """Return the ids of trajectories that cannot be replayed here, by the reason."""
    out: dict[str, list[str]] = {}
    for t in trajectories:
        if (reason := why_unavailable(t.episode)) is not None:
            out.setdefault(str(reason), []).append(t.id)
    return out


def check(workspace: Workspace) -> Checked:
    """Hold every file to its hashes, found sound before or not, and replays all that is in it."""
    findings, count, files = Findings(), 0, store.files(workspace)
    for path in files:
        with findings.of(path):
            every = store.read(path)
            count += len(every)
            why = unavailable(every)
            gone = {id for ids in why.values() for id in ids}
            wrong = mismatches([t for t in every if t.id not in gone])
            findings += [f"{path}: trajectory {t.id}: {m.what}" for t, m in wrong]
            findings += [
                f"{path}: {len(ids)} cannot be replayed here, {ids[0]} among them: {reason}"
                for reason, ids in why.items()
            ]
    return Checked({"files": len(files), "trajectories": count}, tuple(findings))
