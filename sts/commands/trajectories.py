"""`sts trajectories`: import, list, show, verify and export recorded episodes."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from sts import registry
from sts.cli.arguments import format_table, show_progress, to_records, warn
from sts.cli.command import Result, argument, declare, group, option
from sts.commands.importing import describe_formats, import_files, load_format
from sts.commands.study import candidate_states
from sts.errors import StsError, Unavailable
from sts.names import count_noun, escape_unprintable

if TYPE_CHECKING:
    from sts.storage.workspace import Workspace
    from sts.trajectories.trajectory import Trajectory


class Filters(NamedTuple):
    """Options that filter trajectories."""

    domain: str | None = option("D", "only trajectories of this environment (default: all)")
    played_by: str | None = option("NAME", "only trajectories with this player (default: all)")
    source: str | None = option(
        "TEXT", "only trajectories whose source contains TEXT (default: all)"
    )
    split: str | None = option(("train", "test"), "only trajectories of this split (default: both)")


_FILTERS = Filters()


@declare("ls --played-by {agent}")
def ls(workspace: Workspace, *, filters: Filters = _FILTERS) -> Result:
    """List trajectories."""
    from sts.trajectories import trajectory_store as store

    trajectories = _filter_trajectories(filters, store.load(workspace))
    ids: dict[tuple[str, str, int, int, str], list[str]] = {}
    for t in trajectories:
        names = ", ".join(dict.fromkeys(p.name for p in t.players))
        origin = t.source.partition(" ")[0]
        key = (origin, names, len(t.players), t.episode.steps, t.split)
        ids.setdefault(key, []).append(t.id)
    header = ("source", "played_by", "players", "steps", "split", "trajectories", "such as")
    rows = [(*key, len(members), members[0]) for key, members in sorted(ids.items())]
    listed = to_records(header[:-1], [row[:-1] for row in rows])
    text = (
        format_table(header, rows) if rows else "no trajectories yet: `sts record` or `import` them"
    )
    value = [record | {"ids": ids[*row[:5]]} for record, row in zip(listed, rows, strict=True)]
    return Result(value, text)


def _load_candidates(workspace: Workspace, name: str, format: str, player: int) -> list[Trajectory]:
    """Return the candidates of a draft as trajectories, those left out that were rejected.

    Of a format that holds one player, those alone that are asked of this one; warns of others.
    """
    from sts.suites import drafts, training
    from sts.suites.decisions import CandidateState

    draft = drafts.open_draft(workspace, name)
    decided = candidate_states(draft)
    states = {id: decided.get(id, CandidateState()) for id in draft.load_ids()}
    edited = {id: state.scenario for id, state in states.items() if state.status != "rejected"}
    trajectories = training.load_training_trajectories(draft, edited)
    if format == "parquet":
        return trajectories
    usable = [t for t in trajectories if t.provenance["asked"]["roles"] == [player]]
    if trajectories and not usable:
        raise StsError(f"draft {name} asks nothing of player {player}")
    if len(usable) < len(trajectories):
        warn(
            f"{len(trajectories) - len(usable)} of {len(trajectories)} are of other players; "
            "use --player"
        )
    return usable


def _filter_trajectories(filters: Filters, trajectories: Sequence[Trajectory]) -> list[Trajectory]:
    """Return the trajectories that the filters leave."""
    matches = [
        t
        for t in trajectories
        if filters.domain in (None, t.episode.domain)
        and (filters.played_by is None or filters.played_by in {p.name for p in t.players})
        and (filters.source is None or filters.source in t.source)
        and filters.split in (None, t.split)
    ]
    if trajectories and not matches:
        values = filters._asdict().items()
        query = " ".join(f"--{name.replace('_', '-')} {value}" for name, value in values if value)
        raise StsError(f"none of {len(trajectories)} trajectories matches {query}")
    return matches


@declare("show 1f0c")
def show(
    workspace: Workspace, *, id: str = argument("ID", "id or its first digits, see `ls --json`")
) -> Result:
    """Show a trajectory and its initial state."""
    from sts.commands.terminal import format_strip
    from sts.domains import load_domain, reward_values, why_unavailable
    from sts.trajectories import trajectory_store as store

    t = store.find_trajectory(workspace, id)
    reason = why_unavailable(t.episode)
    players = escape_unprintable(", ".join(f"{p.name} ({p.kind})" for p in t.players))
    value = {
        "id": t.id,
        "source": t.source,
        "players": [{"kind": p.kind, "name": p.name} for p in t.players],
        "steps": t.episode.steps,
        "split": t.split,
        "world": t.world,
        "provenance": t.provenance,
        "state": None if reason else load_domain(t.episode.domain).describe_state(t.episode.state),
    }
    text = f"{t.id}  {escape_unprintable(t.source)}\n"
    text += f"{players}; {t.episode.steps} steps; split {t.split}\n\n"
    if reason:
        text += f"its world cannot be shown here: {reason}"
    else:
        rewards = reward_values(load_domain(t.episode.domain), t.episode.rewards.sum(0))
        frames = [round(i * t.episode.steps / 5) for i in range(6)]
        text += format_strip(t.episode, frames, judged=())
        text += f"\n\nrewards in all, by player: {rewards.tolist()}"
    return Result(value, text)


@declare("verify")
def verify(
    workspace: Workspace,
    *,
    files: list[str] = argument("FILE", "Parquet files of this project", nargs="*"),
) -> Result:
    """Replay all trajectories, or those of files."""
    from sts.trajectories import trajectory_store as store
    from sts.trajectories.trajectory_checks import find_mismatches, find_unavailable

    if files:
        trajectories = [t for file in files for t in store.read(Path(file))]
    else:
        trajectories = store.load(workspace)
    elsewhere = find_unavailable(trajectories)
    unavailable = {id for ids in elsewhere.values() for id in ids}
    available = [t for t in trajectories if t.id not in unavailable]
    wrong = list(find_mismatches(available))
    steps = sum(t.episode.steps for t in available)
    rewards = sum(t.episode.rewards.size for t in available)
    good = len(available) - len(wrong)
    lines = [f"{t.id} ({t.source}): {m.description}" for t, m in wrong]
    lines += [
        f"{len(ids)} cannot be replayed here, {ids[0]} among them: {text}"
        for text, ids in elsewhere.items()
    ]
    lines.append(
        f"{good} of {len(trajectories)} trajectories replay exactly: "
        f"{steps} steps, {rewards} positions and rewards compared"
    )
    value = {
        "trajectories": len(trajectories),
        "exact": good,
        "steps": steps,
        "rewards": rewards,
        "mismatches": [{"id": t.id, "step": m.step, "what": m.description} for t, m in wrong],
        "elsewhere": [{"ids": ids, "why": text} for text, ids in elsewhere.items()],
    }
    return Result(value, "\n".join(lines), 1 if wrong or elsewhere else 0)


@declare("export theirs.hdf5 --format minari")
def export(
    workspace: Workspace,
    *,
    file: str = argument("OUT", "file or folder to create"),
    format: str = option("F", describe_formats("sts.exporters"), "parquet"),
    player: int | None = option(
        "P", "player to export, if F holds one player (default: 0)", type=int
    ),
    draft: str | None = option(
        "NAME",
        "training episodes of the draft made by `sts mine NAME --split train` "
        "(default: recordings)",
    ),
    filters: Filters = _FILTERS,
) -> Result:
    """Write trajectories in a format that other programs read."""
    from sts.trajectories import trajectory_store as store

    write = load_format("sts.exporters", format)
    out = Path(file)
    if out.exists():
        raise Unavailable(f"{out} exists: remove it, or choose another name")
    candidates = (
        _load_candidates(workspace, draft, format, player or 0) if draft else store.load(workspace)
    )
    trajectories = _filter_trajectories(filters, candidates)
    if not trajectories:
        raise StsError("no trajectories to export: `sts record` or `import` some")
    with show_progress("exporting", "trajectories") as progress:
        with registry.translate_errors(f"{out}: --format {format} failed", passing=OSError):
            write(out, trajectories, player=player, progress=progress)
    whose = "" if format == "parquet" else f", player {player or 0} of each"
    return Result(
        {"file": file, "format": format, "trajectories": len(trajectories)},
        f"{count_noun(len(trajectories), 'trajectory')}{whose} -> {out}",
    )


TRAJECTORIES = group(
    "trajectories export test.parquet --split test", import_files, ls, show, verify, export
)
