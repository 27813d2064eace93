"""`sts show`: a scenario, or continuations side by side, as strips in the terminal."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING, Any

from sts.cli.command import Command

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from sts.commands.verdicts import Verdicts
    from sts.continuations.index import Index
    from sts.continuations.types import Continuation
    from sts.domains import Focus
    from sts.episodes import Episode
    from sts.storage.workspace import Workspace
    from sts.suites.types import Scenario, Summary


def configure(parser: argparse.ArgumentParser) -> None:
    """Adds the arguments."""
    parser.add_argument(
        "what",
        nargs="+",
        metavar="SCENARIO|CONTINUATION",
        help="NAME@VERSION/SCENARIO, DRAFT/CANDIDATE, or a continuation's id or its first digits",
    )
    parser.add_argument(
        "--agent",
        action="append",
        default=[],
        metavar="A",
        help="of a scenario; repeatable (default: all)",
    )
    parser.add_argument("--index", type=int, default=0, metavar="I", help="which continuation")
    parser.add_argument(
        "--frames", type=int, metavar="N", help="scenes in a strip (default: what fits)"
    )
    parser.add_argument(
        "--webp",
        metavar="FILE",
        help="write the pictures of the one continuation there, moving (default: none)",
    )
    parser.add_argument(
        "--mp4",
        metavar="FILE",
        help="the same as a film that any browser plays; needs the extra video (default: none)",
    )


def run(args: argparse.Namespace) -> int:
    """Prints one strip after the other."""
    from sts.cli.arguments import at_least, say
    from sts.commands.verdicts import verdicts_of
    from sts.continuations import store
    from sts.storage.workspace import Workspace

    at_least(0, "--index", args.index)
    if args.frames is not None:
        at_least(2, "--frames", args.frames)
    workspace = Workspace.open(args.workspace)
    there = store.opened(workspace)
    shown: list[Continuation] = []
    parts: list[str] = []
    values: list[dict[str, Any]] = []
    recordings: list[Scenario] = []
    for what in args.what:
        if "/" in what:
            linked = _linked(workspace, what)
            recordings.append(linked[0])
            parts += _side_by_side(linked, args.frames)
            for scenario in linked:
                asked = {"instruction": scenario.instruction.text, "roles": list(scenario.roles)}
                values.append({"scenario": scenario.id, "hash": scenario.hash} | asked)
            shown += _played(workspace, there, linked[0], args.agent, args.index)
        else:
            shown.append(_found(workspace, there, what))
    verdicts = verdicts_of(workspace, shown, there)
    parts += _compared(shown, args.frames, verdicts)
    for one in shown:
        own = {"continuation": one.id, "agent": one.agent, "index": one.identity.index}
        asked = {"instruction": one.instruction.text, "roles": list(one.roles)}
        values.append(own | asked | verdicts[one.id].view)
    for kind in ("webp", "mp4"):
        if (file := getattr(args, kind)) is not None:
            count = _write(kind, file, shown, recordings)
            parts.append(f"{count} pictures written to {file}")
            values.append({kind: file, "pictures": count})
    say(args.json, values, "\n\n".join(parts))
    return 0


def _found(workspace: Workspace, there: Index, what: str) -> Continuation:
    from sts.continuations import store
    from sts.errors import UnknownName

    try:
        return store.find(workspace, what, there)
    except UnknownName as error:
        raise error.saying(f"{error}; a scenario is named NAME@VERSION/SCENARIO") from None


def _linked(workspace: Workspace, what: str) -> list[Scenario]:
    """Returns a scenario, and behind it what belongs with it, in order of turns and ids."""
    from sts.errors import UnknownName
    from sts.suites import store

    label, _, id = what.partition("/")
    if "@" not in label:
        return _candidates(workspace, label, id)
    suite = store.load(workspace, label)
    found = [s for s in suite.scenarios if s.id == id]
    if not found:
        raise UnknownName(f"scenario of {label}", id, [s.id for s in suite.scenarios])
    others = [s for s in suite.scenarios if _belongs(found[0], s)]
    return found + sorted(others, key=lambda s: (s.turn, s.id))


def _belongs(one: Scenario, other: Summary) -> bool:
    """Whether another scenario is of its pair or dialogue."""
    same = (one.pair and one.pair == other.pair) or (one.series and one.series == other.series)
    return bool(same) and other.id != one.id


def _candidates(workspace: Workspace, name: str, id: str) -> list[Scenario]:
    """Returns a candidate of a draft as what it was edited to, and what belongs with it."""
    from sts.annotations.decisions import of_draft
    from sts.annotations.store import Store
    from sts.suites.decisions import State, states
    from sts.suites.drafts import open_draft

    draft = open_draft(workspace, name)
    found: dict[str, State] = {}
    with Store.read_existing(workspace) as connection:
        if connection:
            found = states(of_draft(connection, draft.id))
    edited = {one: state.scenario for one, state in found.items()}
    first, out = draft.candidate(id, edited.get(id, "")), []
    for mined in draft.summaries() if first.pair or first.series else ():
        mark = edited.get(mined.id, "")
        if _belongs(first, draft.summary(mined.id, mark) if mark else mined):
            out.append(draft.candidate(mined.id, mark))
    return [first, *sorted(out, key=lambda s: (s.turn, s.id))]


def _side_by_side(linked: Sequence[Scenario], scenes: int | None) -> list[str]:
    """Returns a block for each scenario; the halves of a pair stand side by side where they fit."""
    from sts.commands.terminal import beside, room

    if len(linked) == 2 and linked[0].pair:
        half = (room() - 7) // 2
        joined = beside(*(_of_scenario(one, scenes, half) for one in linked))
        if joined is not None:
            return [joined]
    return [_of_scenario(one, scenes, room()) for one in linked]


def _played(
    workspace: Workspace, there: Index, scenario: Scenario, names: Sequence[str], index: int
) -> list[Continuation]:
    from sts.continuations import store
    from sts.errors import UnknownName

    kept = list(store.entries(workspace, {scenario.hash}, there))
    every = store.ordered([one for one in kept if one.identity.index == index] or kept)
    known = dict.fromkeys(c.agent for c in every)
    for name in names:
        if name not in known:
            raise UnknownName(f"agent with continuations of {scenario.id}", name, known)
    out = []
    for name in names or list(known)[:2]:
        mine = [c for c in every if c.agent == name]
        chosen = min(mine, key=lambda c: abs(c.identity.index - index))
        out.append(store.find(workspace, chosen.id, there))
    return out


def _compared(
    shown: Sequence[Continuation], scenes: int | None, verdicts: Mapping[str, Verdicts]
) -> list[str]:
    """Returns a block for each continuation; two of one scenario that follow stand side by side."""
    from sts.commands.terminal import beside, room

    out: list[str] = []
    rest, half = list(shown), (room() - 7) // 2
    while rest:
        one = rest.pop(0)
        if rest and rest[0].scenario_hash == one.scenario_hash:
            pair = [_of_continuation(c, scenes, half, verdicts[c.id]) for c in (one, rest[0])]
            joined = beside(*pair)
            if joined is not None:
                out.append(joined)
                rest.pop(0)
                continue
        out.append(_of_continuation(one, scenes, room(), verdicts[one.id]))
    return out


def _frames(takeover: int, end: int, count: int) -> list[int]:
    """Returns `count` frames: a third of them context, the takeover, then the continuation."""
    before = min(takeover, max(1, count // 3))
    after = min(end - takeover, max(1, count - before - 1))
    early = [round(i * takeover / before) for i in range(before)]
    late = [takeover + round((i + 1) * (end - takeover) / after) for i in range(after)]
    return sorted({*early, takeover, *late})


def _recorded(scenario: Scenario) -> Episode:
    """Returns the recording up to where a continuation ends."""
    one = scenario.recording
    return one.part(one.state, 0, min(one.steps, scenario.takeover + scenario.horizon))


def _write(
    kind: str, file: str, shown: Sequence[Continuation], recordings: Sequence[Scenario]
) -> int:
    """Writes the one continuation, or recording, as a film; returns how many pictures it has."""
    from pathlib import Path

    from sts.engine.rendering import film, mp4, webp
    from sts.errors import ArgumentError
    from sts.storage.files import write_atomically

    chosen = shown or recordings
    if len(chosen) != 1:
        raise ArgumentError(
            f"--{kind}: expected one continuation, found {len(chosen)}; name its id"
        )
    one = chosen[0]
    of_it = [s for s in recordings if not shown or s.hash == shown[0].scenario_hash]
    every = film(shown[0].episode if shown else _recorded(recordings[0]), _focus(one, of_it))
    if kind == "mp4":
        mp4(Path(file), every)
    else:
        write_atomically(Path(file), webp(*every))
    return len(every)


def _focus(one: Continuation | Scenario, scenarios: Sequence[Scenario]) -> Focus:
    """Returns what a film points at; what is marked is known where the scenario is there."""
    from sts.domains import Focus
    from sts.viewer.criteria import criterion

    found = criterion(scenarios[0]) if scenarios else None
    cells, sight = (tuple(found["cells"]), found["sight"]) if found else ((), False)
    return Focus(tuple(one.roles), one.takeover, one.instruction.text, cells, sight)


def _of_scenario(scenario: Scenario, scenes: int | None, columns: int) -> str:
    from sts.commands.terminal import fitting, legend, paragraph, strip

    recording = _recorded(scenario)
    lines = (
        f"{scenario.id} ({scenario.difficulty}), as recorded: context ┃ takeover ┃ what followed",
        f"“{scenario.instruction.text}”",
        legend(recording, scenario.roles),
    )
    text = strip(
        recording,
        _frames(scenario.takeover, recording.steps, scenes or fitting(recording, columns)),
        judged=scenario.roles,
        takeover=scenario.takeover,
    )
    return "\n".join((*(paragraph(line, columns) for line in lines), text))


def _of_continuation(
    one: Continuation, scenes: int | None, columns: int, verdicts: Verdicts
) -> str:
    from sts.commands.terminal import fitting, legend, paragraph, strip, utterances

    lines = (
        f"{one.agent} #{one.identity.index} on {one.scenario_id} ({one.id})",
        f"“{one.instruction.text}”",
        legend(one.episode, one.roles),
    )
    text = strip(
        one.episode,
        _frames(one.takeover, one.episode.steps, scenes or fitting(one.episode, columns)),
        judged=one.roles,
        takeover=one.takeover,
    )
    after = (utterances(one.episode, one.roles, one.takeover), verdicts.words)
    return "\n".join(
        (
            *(paragraph(line, columns) for line in lines),
            text,
            *(paragraph(line, columns) for line in after if line),
        )
    )


COMMAND = Command(
    summary="show scenarios and continuations as strips, agents side by side",
    example="sts show {suite}/{scenario} --agent {agent} --agent {other}",
    configure=configure,
    run=run,
)
