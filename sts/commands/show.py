"""`sts show`: a scenario, or continuations side by side, as strips in the terminal."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from sts.cli.command import Result, argument, declare, option, repeatable
from sts.commands.study import candidate_states
from sts.errors import ArgumentError, UnknownName

if TYPE_CHECKING:
    from sts.commands.verdicts import Verdicts
    from sts.continuations.continuation import Continuation
    from sts.continuations.index import Entry, Index
    from sts.continuations.versions import Version
    from sts.domains import FilmAnnotations
    from sts.episodes import Episode
    from sts.storage.workspace import Workspace
    from sts.suites.suite import Scenario, Summary


@declare("show {suite}/{scenario} --agent {agent} --agent {other}")
def show(
    workspace: Workspace,
    *,
    what: list[str] = argument(
        "SCENARIO|CONTINUATION",
        "NAME@VERSION/SCENARIO, DRAFT/CANDIDATE, or a continuation's id or its first digits",
        nargs="+",
    ),
    agent: list[str] = repeatable(
        "A", "agent to show, named as in reports or as for sts run; repeatable (default: two)"
    ),
    index: int = option("I", "number of the continuation, from 0", 0, least=0),
    frames: int | None = option("N", "frames in a filmstrip (default: as many as fit)", least=2),
    webp: str | None = option("FILE", "write one continuation as an animation"),
    mp4: str | None = option("FILE", "write one continuation as a video; needs the extra video"),
) -> Result:
    """Show scenarios and continuations as filmstrips, agents side by side."""
    from sts.commands.verdicts import load_verdicts
    from sts.continuations import continuation_store as store
    from sts.continuations.index import LOOK_UP, SCHEMA, open_index
    from sts.continuations.label_table import agent_names

    columns = SCHEMA if any("/" in name for name in what) else LOOK_UP
    saved_index = open_index(workspace.store, columns=tuple(columns))
    continuations: list[Continuation] = []
    blocks: list[str] = []
    records: list[dict[str, Any]] = []
    recordings: list[Scenario] = []
    versions: set[Version] = set()
    for name in what:
        if "/" in name:
            linked = _find_linked_scenarios(workspace, name)
            recordings.append(linked[0])
            blocks += _scenario_blocks(linked, frames)
            for scenario in linked:
                task = {"instruction": scenario.instruction.text, "players": list(scenario.players)}
                records.append({"scenario": scenario.id, "hash": scenario.hash} | task)
            entries = list(store.iter_entries(workspace, {linked[0].hash}, saved_index))
            versions |= {(entry.agent, entry.fingerprint) for entry in entries}
            for id in _select_continuations(entries, linked[0].id, agent, index):
                continuations.append(store.find_continuation(workspace, id, saved_index))
        else:
            continuations.append(_find_continuation(workspace, saved_index, name))
    verdicts = load_verdicts(workspace, continuations, saved_index)
    names = agent_names(versions | {(c.agent, c.fingerprint) for c in continuations})
    blocks += _continuation_blocks(continuations, frames, verdicts, names)
    for continuation in continuations:
        identity = {
            "continuation": continuation.id,
            "agent": names[continuation.agent, continuation.fingerprint],
            "index": continuation.identity.index,
        }
        task = {"instruction": continuation.instruction.text, "players": list(continuation.players)}
        records.append(identity | task | verdicts[continuation.id].record)
    for kind, file in {"webp": webp, "mp4": mp4}.items():
        if file is not None:
            count = _write_film(kind, file, continuations, recordings)
            blocks.append(f"{count} pictures written to {file}")
            records.append({kind: file, "pictures": count})
    return Result(records, "\n\n".join(blocks))


def _find_continuation(workspace: Workspace, saved_index: Index, name: str) -> Continuation:
    from sts.continuations import continuation_store as store

    try:
        return store.find_continuation(workspace, name, saved_index)
    except UnknownName as error:
        raise error.with_message(f"{error}; a scenario is named NAME@VERSION/SCENARIO") from None


def _find_linked_scenarios(workspace: Workspace, name: str) -> list[Scenario]:
    """Return a scenario, and behind it what belongs with it, in order of turns and ids."""
    from sts.suites import suite_store as suites

    label, _, id = name.partition("/")
    if "@" not in label:
        return _find_candidates(workspace, label, id)
    suite = suites.load(workspace, label)
    matches = [s for s in suite.scenarios if s.id == id]
    if not matches:
        raise UnknownName(f"scenario of {label}", id, [s.id for s in suite.scenarios])
    linked = [s for s in suite.scenarios if _is_linked(matches[0], s)]
    return matches + sorted(linked, key=lambda s: (s.turn, s.id))


def _is_linked(scenario: Scenario, other: Summary) -> bool:
    """Return True if the other scenario is of the same pair or dialogue."""
    shares_group = (scenario.pair and scenario.pair == other.pair) or (
        scenario.dialogue and scenario.dialogue == other.dialogue
    )
    return bool(shares_group) and other.id != scenario.id


def _find_candidates(workspace: Workspace, name: str, id: str) -> list[Scenario]:
    """Return a candidate of a draft as what it was edited to, and what belongs with it."""
    from sts.suites.drafts import open_draft

    draft = open_draft(workspace, name)
    edited = {
        candidate_id: state.scenario for candidate_id, state in candidate_states(draft).items()
    }
    first, linked = draft.candidate(id, edited.get(id, "")), []
    for mined in draft.summaries() if first.pair or first.dialogue else ():
        mark = edited.get(mined.id, "")
        if _is_linked(first, draft.summary(mined.id, mark) if mark else mined):
            linked.append(draft.candidate(mined.id, mark))
    return [first, *sorted(linked, key=lambda s: (s.turn, s.id))]


def _scenario_blocks(linked: Sequence[Scenario], scenes: int | None) -> list[str]:
    """Return a block for each scenario; the halves of a pair are side by side where they fit."""
    from sts.commands.terminal import terminal_columns

    legs = "context ┃ takeover ┃ what followed"
    blocks = []
    for scenario in linked:
        title = f"{scenario.id} ({scenario.difficulty}), as recorded: {legs}"
        blocks.append(partial(_format_block, title, scenario, _cut_recording(scenario), scenes))
    if len(linked) == 2 and linked[0].pair:
        return _join_side_by_side(*blocks)
    return [block(terminal_columns()) for block in blocks]


def _join_side_by_side(left: Callable[[int], str], right: Callable[[int], str]) -> list[str]:
    """Return two blocks, of functions of their width, side by side where they fit."""
    from sts.commands.terminal import join_columns, terminal_columns

    half = (terminal_columns() - 7) // 2
    joined = join_columns(left(half), right(half))
    return [joined] if joined is not None else [left(terminal_columns()), right(terminal_columns())]


def _select_continuations(
    entries: Sequence[Entry], scenario: str, names: Sequence[str], index: int
) -> list[str]:
    """Return the ids of a continuation of each agent: number `index`, or the nearest to it.

    Raises:
      UnknownName: an agent has none.
      ArgumentError: an agent has several versions, and no name says which.
    """
    from sts.continuations import continuation_store as store
    from sts.continuations.label_table import agent_names
    from sts.continuations.versions import find_shown_name

    ordered = store.sort_continuations(entries)
    shown = agent_names((entry.agent, entry.fingerprint) for entry in ordered)
    versions = {name: version for version, name in shown.items()}
    chosen = []
    for name in names or list(dict.fromkeys(entry.agent for entry in ordered))[:2]:
        wanted = find_shown_name(name, versions, f"agent with continuations of {scenario}")
        candidates = [e for e in ordered if shown[e.agent, e.fingerprint] == wanted]
        chosen.append(min(candidates, key=lambda e: abs(e.identity.index - index)).id)
    return chosen


def _continuation_blocks(
    continuations: Sequence[Continuation],
    scenes: int | None,
    verdicts: Mapping[str, Verdicts],
    names: Mapping[Version, str],
) -> list[str]:
    """Return a block for each continuation; two of one scenario that follow are side by side."""
    from sts.commands.terminal import terminal_columns

    blocks: list[str] = []
    rest = list(continuations)
    while rest:
        continuation = rest.pop(0)
        block = partial(
            _format_continuation, continuation, scenes, verdicts[continuation.id], names
        )
        if rest and rest[0].scenario_hash == continuation.scenario_hash:
            other = rest.pop(0)
            right = partial(_format_continuation, other, scenes, verdicts[other.id], names)
            blocks += _join_side_by_side(block, right)
        else:
            blocks.append(block(terminal_columns()))
    return blocks


def _choose_frames(takeover: int, end: int, count: int) -> list[int]:
    """Return `count` frames: a third of them context, the takeover, then the continuation."""
    before = min(takeover, max(1, count // 3))
    after = min(end - takeover, max(1, count - before - 1))
    early = [round(i * takeover / before) for i in range(before)]
    late = [takeover + round((i + 1) * (end - takeover) / after) for i in range(after)]
    return sorted({*early, takeover, *late})


def _cut_recording(scenario: Scenario) -> Episode:
    """Return the recording up to where a continuation ends."""
    recording = scenario.recording
    return recording.slice_steps(
        recording.state, 0, min(recording.steps, scenario.context + scenario.horizon)
    )


def _write_film(
    kind: str, file: str, continuations: Sequence[Continuation], recordings: Sequence[Scenario]
) -> int:
    """Write the one continuation, or recording, as a film; return how many pictures it has."""
    from sts.engine.rendering import encode_webp, render_film, write_mp4
    from sts.storage.files import write_atomically

    items = continuations or recordings
    if len(items) != 1:
        raise ArgumentError(f"--{kind}: expected one continuation, found {len(items)}; name its id")
    item = items[0]
    scenarios = [
        s for s in recordings if not continuations or s.hash == continuations[0].scenario_hash
    ]
    frames = render_film(
        continuations[0].episode if continuations else _cut_recording(recordings[0]),
        _make_focus(item, scenarios),
    )
    if kind == "mp4":
        write_mp4(Path(file), frames)
    else:
        write_atomically(Path(file), encode_webp(*frames))
    return len(frames)


def _make_focus(item: Continuation | Scenario, scenarios: Sequence[Scenario]) -> FilmAnnotations:
    """Return what a film points at; what is marked is known where the scenario is there."""
    from sts.domains import FilmAnnotations
    from sts.viewer.criteria import find_criterion

    criterion = find_criterion(scenarios[0]) if scenarios else None
    cells, sight = (tuple(criterion["cells"]), criterion["sight"]) if criterion else ((), False)
    players, text = tuple(item.players), item.instruction.text
    return FilmAnnotations(players, _find_takeover(item), text, cells, sight)


def _find_takeover(item: Continuation | Scenario) -> int:
    """Return the frame at which the agent takes over."""
    from sts.suites.suite import Scenario

    return item.context if isinstance(item, Scenario) else item.takeover


def _format_continuation(
    continuation: Continuation,
    scenes: int | None,
    verdicts: Verdicts,
    names: Mapping[Version, str],
    columns: int,
) -> str:
    from sts.commands.terminal import describe_utterances

    agent = names[continuation.agent, continuation.fingerprint]
    title = (
        f"{agent} #{continuation.identity.index} on {continuation.scenario_id} ({continuation.id})"
    )
    after = (
        describe_utterances(continuation.episode, continuation.players, continuation.takeover),
        verdicts.summary,
    )
    return _format_block(title, continuation, continuation.episode, scenes, columns, after)


def _format_block(
    title: str,
    item: Scenario | Continuation,
    episode: Episode,
    scenes: int | None,
    columns: int,
    after: Sequence[str] = (),
) -> str:
    """Return the strip of an episode between what is to be read before it and after it."""
    from sts.commands.terminal import count_fitting_frames, describe_legend, format_strip, wrap_text

    before = (title, f"“{item.instruction.text}”", describe_legend(episode, item.players))
    takeover = _find_takeover(item)
    frames = _choose_frames(
        takeover, episode.steps, scenes or count_fitting_frames(episode, columns)
    )
    text = format_strip(episode, frames, judged=item.players, takeover=takeover)
    footer = [wrap_text(line, columns) for line in after if line]
    return "\n".join((*(wrap_text(line, columns) for line in before), text, *footer))
