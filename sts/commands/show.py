"""`sts show`: a scenario, or continuations side by side, as strips in the terminal."""

import argparse
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any

from sts.cli.command import Result
from sts.commands.study import candidate_states
from sts.commands.terminal import (
    count_fitting_frames,
    describe_legend,
    describe_utterances,
    format_strip,
    join_columns,
    terminal_columns,
    wrap_text,
)
from sts.commands.verdicts import Verdicts, load_verdicts
from sts.continuations import store
from sts.continuations.index import Index
from sts.continuations.types import Continuation
from sts.domains import FilmAnnotations
from sts.engine.rendering import encode_webp, render_film, write_mp4
from sts.episodes import Episode
from sts.errors import ArgumentError, UnknownName
from sts.storage.files import write_atomically
from sts.storage.workspace import Workspace
from sts.suites import store as suites
from sts.suites.drafts import open_draft
from sts.suites.types import Scenario, Summary
from sts.viewer.criteria import find_criterion


def show(args: argparse.Namespace, workspace: Workspace) -> Result:
    """Show one strip after the other."""
    there = store.open_saved_index(workspace)
    shown: list[Continuation] = []
    parts: list[str] = []
    values: list[dict[str, Any]] = []
    recordings: list[Scenario] = []
    for what in args.what:
        if "/" in what:
            linked = _find_linked_scenarios(workspace, what)
            recordings.append(linked[0])
            parts += _scenario_blocks(linked, args.frames)
            for scenario in linked:
                asked = {"instruction": scenario.instruction.text, "roles": list(scenario.players)}
                values.append({"scenario": scenario.id, "hash": scenario.hash} | asked)
            shown += _select_continuations(workspace, there, linked[0], args.agent, args.index)
        else:
            shown.append(_find_continuation(workspace, there, what))
    verdicts = load_verdicts(workspace, shown, there)
    parts += _continuation_blocks(shown, args.frames, verdicts)
    for one in shown:
        own = {"continuation": one.id, "agent": one.agent, "index": one.identity.index}
        asked = {"instruction": one.instruction.text, "roles": list(one.players)}
        values.append(own | asked | verdicts[one.id].record)
    for kind in ("webp", "mp4"):
        if (file := getattr(args, kind)) is not None:
            count = _write_film(kind, file, shown, recordings)
            parts.append(f"{count} pictures written to {file}")
            values.append({kind: file, "pictures": count})
    return Result(values, "\n\n".join(parts))


def _find_continuation(workspace: Workspace, there: Index, what: str) -> Continuation:
    try:
        return store.find_continuation(workspace, what, there)
    except UnknownName as error:
        raise error.with_message(f"{error}; a scenario is named NAME@VERSION/SCENARIO") from None


def _find_linked_scenarios(workspace: Workspace, what: str) -> list[Scenario]:
    """Return a scenario, and behind it what belongs with it, in order of turns and ids."""
    label, _, id = what.partition("/")
    if "@" not in label:
        return _find_candidates(workspace, label, id)
    suite = suites.load(workspace, label)
    found = [s for s in suite.scenarios if s.id == id]
    if not found:
        raise UnknownName(f"scenario of {label}", id, [s.id for s in suite.scenarios])
    others = [s for s in suite.scenarios if _is_linked(found[0], s)]
    return found + sorted(others, key=lambda s: (s.turn, s.id))


def _is_linked(one: Scenario, other: Summary) -> bool:
    """Return True if the other scenario is of the same pair or dialogue."""
    same = (one.pair and one.pair == other.pair) or (
        one.dialogue and one.dialogue == other.dialogue
    )
    return bool(same) and other.id != one.id


def _find_candidates(workspace: Workspace, name: str, id: str) -> list[Scenario]:
    """Return a candidate of a draft as what it was edited to, and what belongs with it."""
    draft = open_draft(workspace, name)
    edited = {one: state.scenario for one, state in candidate_states(draft).items()}
    first, out = draft.candidate(id, edited.get(id, "")), []
    for mined in draft.summaries() if first.pair or first.dialogue else ():
        mark = edited.get(mined.id, "")
        if _is_linked(first, draft.summary(mined.id, mark) if mark else mined):
            out.append(draft.candidate(mined.id, mark))
    return [first, *sorted(out, key=lambda s: (s.turn, s.id))]


def _scenario_blocks(linked: Sequence[Scenario], scenes: int | None) -> list[str]:
    """Return a block for each scenario; the halves of a pair are side by side where they fit."""
    legs = "context ┃ takeover ┃ what followed"
    blocks = []
    for one in linked:
        title = f"{one.id} ({one.difficulty}), as recorded: {legs}"
        blocks.append(partial(_format_block, title, one, _cut_recording(one), scenes))
    if len(linked) == 2 and linked[0].pair:
        return _join_side_by_side(*blocks)
    return [block(terminal_columns()) for block in blocks]


def _join_side_by_side(left: Callable[[int], str], right: Callable[[int], str]) -> list[str]:
    """Return two blocks, of functions of their width, side by side where they fit."""
    half = (terminal_columns() - 7) // 2
    joined = join_columns(left(half), right(half))
    return [joined] if joined is not None else [left(terminal_columns()), right(terminal_columns())]


def _select_continuations(
    workspace: Workspace, there: Index, scenario: Scenario, names: Sequence[str], index: int
) -> list[Continuation]:
    kept = list(store.iter_entries(workspace, {scenario.hash}, there))
    every = store.sort_continuations([one for one in kept if one.identity.index == index] or kept)
    known = dict.fromkeys(c.agent for c in every)
    for name in names:
        if name not in known:
            raise UnknownName(f"agent with continuations of {scenario.id}", name, known)
    out = []
    for name in names or list(known)[:2]:
        mine = [c for c in every if c.agent == name]
        chosen = min(mine, key=lambda c: abs(c.identity.index - index))
        out.append(store.find_continuation(workspace, chosen.id, there))
    return out


def _continuation_blocks(
    shown: Sequence[Continuation], scenes: int | None, verdicts: Mapping[str, Verdicts]
) -> list[str]:
    """Return a block for each continuation; two of one scenario that follow are side by side."""
    out: list[str] = []
    rest = list(shown)
    while rest:
        one = rest.pop(0)
        block = partial(_format_continuation, one, scenes, verdicts[one.id])
        if rest and rest[0].scenario_hash == one.scenario_hash:
            other = rest.pop(0)
            right = partial(_format_continuation, other, scenes, verdicts[other.id])
            out += _join_side_by_side(block, right)
        else:
            out.append(block(terminal_columns()))
    return out


def _choose_frames(takeover: int, end: int, count: int) -> list[int]:
    """Return `count` frames: a third of them context, the takeover, then the continuation."""
    before = min(takeover, max(1, count // 3))
    after = min(end - takeover, max(1, count - before - 1))
    early = [round(i * takeover / before) for i in range(before)]
    late = [takeover + round((i + 1) * (end - takeover) / after) for i in range(after)]
    return sorted({*early, takeover, *late})


def _cut_recording(scenario: Scenario) -> Episode:
    """Return the recording up to where a continuation ends."""
    one = scenario.recording
    return one.slice_steps(one.state, 0, min(one.steps, scenario.takeover + scenario.horizon))


def _write_film(
    kind: str, file: str, shown: Sequence[Continuation], recordings: Sequence[Scenario]
) -> int:
    """Write the one continuation, or recording, as a film; return how many pictures it has."""
    chosen = shown or recordings
    if len(chosen) != 1:
        raise ArgumentError(
            f"--{kind}: expected one continuation, found {len(chosen)}; name its id"
        )
    one = chosen[0]
    of_it = [s for s in recordings if not shown or s.hash == shown[0].scenario_hash]
    every = render_film(
        shown[0].episode if shown else _cut_recording(recordings[0]), _make_focus(one, of_it)
    )
    if kind == "mp4":
        write_mp4(Path(file), every)
    else:
        write_atomically(Path(file), encode_webp(*every))
    return len(every)


def _make_focus(one: Continuation | Scenario, scenarios: Sequence[Scenario]) -> FilmAnnotations:
    """Return what a film points at; what is marked is known where the scenario is there."""
    found = find_criterion(scenarios[0]) if scenarios else None
    cells, sight = (tuple(found["cells"]), found["sight"]) if found else ((), False)
    return FilmAnnotations(tuple(one.players), one.takeover, one.instruction.text, cells, sight)


def _format_continuation(
    one: Continuation, scenes: int | None, verdicts: Verdicts, columns: int
) -> str:
    title = f"{one.agent} #{one.identity.index} on {one.scenario_id} ({one.id})"
    after = (describe_utterances(one.episode, one.players, one.takeover), verdicts.summary)
    return _format_block(title, one, one.episode, scenes, columns, after)


def _format_block(
    title: str,
    one: Scenario | Continuation,
    episode: Episode,
    scenes: int | None,
    columns: int,
    after: Sequence[str] = (),
) -> str:
    """Return the strip of an episode between what is to be read before it and after it."""
    before = (title, f"“{one.instruction.text}”", describe_legend(episode, one.players))
    frames = _choose_frames(
        one.takeover, episode.steps, scenes or count_fitting_frames(episode, columns)
    )
    text = format_strip(episode, frames, judged=one.players, takeover=one.takeover)
    said = [wrap_text(line, columns) for line in after if line]
    return "\n".join((*(wrap_text(line, columns) for line in before), text, *said))
