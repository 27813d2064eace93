"""`sts show`: a scenario, or continuations side by side, as strips in the terminal."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING, Any

from sts.cli.command import Command

if TYPE_CHECKING:
    from collections.abc import Sequence

    from sts.continuations.types import Continuation
    from sts.episodes import Episode
    from sts.storage.workspace import Workspace
    from sts.suites.types import Scenario


def configure(parser: argparse.ArgumentParser) -> None:
    """Adds the arguments."""
    parser.add_argument(
        "what",
        nargs="+",
        metavar="SCENARIO|CONTINUATION",
        help="NAME@VERSION/SCENARIO, or a continuation's id or its first digits",
    )
    parser.add_argument("--agent", action="append", default=[], metavar="A", help="of a scenario")
    parser.add_argument("--index", type=int, default=0, metavar="I", help="which continuation")
    parser.add_argument(
        "--frames", type=int, metavar="N", help="scenes in a strip (default: what fits)"
    )
    parser.add_argument(
        "--webp", metavar="FILE", help="write the pictures of the one continuation there, moving"
    )


def run(args: argparse.Namespace) -> int:
    """Prints one strip after the other."""
    from sts.cli.arguments import at_least, say
    from sts.continuations import store
    from sts.storage.workspace import Workspace

    if args.frames is not None:
        at_least(2, "--frames", args.frames)
    workspace = Workspace.open(args.workspace)
    shown: list[Continuation] = []
    parts: list[str] = []
    values: list[dict[str, Any]] = []
    recordings: list[Episode] = []
    for what in args.what:
        if "@" in what:
            scenario = _scenario(workspace, what)
            recordings.append(_recorded(scenario))
            parts.append(_of_scenario(scenario, args.frames))
            values.append({"scenario": scenario.id, "hash": scenario.hash})
            shown += _played(workspace, scenario, args.agent, args.index)
        else:
            shown.append(store.find(workspace, what))
    parts += _compared(shown, args.frames)
    for one in shown:
        values.append({"continuation": one.id, "agent": one.agent, "index": one.identity.index})
    if args.webp is not None:
        count = _write(args.webp, [one.episode for one in shown] or recordings)
        parts.append(f"{count} pictures written to {args.webp}")
        values.append({"webp": args.webp, "pictures": count})
    say(args.json, values, "\n\n".join(parts))
    return 0


def _scenario(workspace: Workspace, what: str) -> Scenario:
    from sts.errors import UnknownName
    from sts.suites import store

    label, _, id = what.partition("/")
    suite = store.load(workspace, label)
    found = [s for s in suite.scenarios if s.id == id]
    if not found:
        raise UnknownName(f"scenario of {label}", id, [s.id for s in suite.scenarios])
    return found[0]


def _played(
    workspace: Workspace, scenario: Scenario, names: Sequence[str], index: int
) -> list[Continuation]:
    from sts.continuations import store
    from sts.errors import UnknownName

    every = [
        c for c in store.load(workspace, [scenario.hash]) if c.identity.index == index
    ] or store.load(workspace, [scenario.hash])
    known = dict.fromkeys(c.agent for c in every)
    for name in names:
        if name not in known:
            raise UnknownName(f"agent with continuations of {scenario.id}", name, known)
    out = []
    for name in names or list(known)[:2]:
        mine = [c for c in every if c.agent == name]
        out.append(min(mine, key=lambda c: abs(c.identity.index - index)))
    return out


def _compared(shown: Sequence[Continuation], wanted: int | None) -> list[str]:
    """Returns a block for each continuation; two of one scenario that follow stand side by side."""
    from sts.commands.terminal import beside, room

    out: list[str] = []
    rest = list(shown)
    while rest:
        one = rest.pop(0)
        if rest and rest[0].scenario_hash == one.scenario_hash:
            half = (room() - 7) // 2
            pair = [_of_continuation(c, wanted, half) for c in (one, rest.pop(0))]
            out.append(beside(*pair))
        else:
            out.append(_of_continuation(one, wanted, room()))
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


def _write(file: str, episodes: Sequence[Episode]) -> int:
    """Writes the frames of the one episode as an animation; returns how many there are."""
    from pathlib import Path

    from sts.engine.rendering import frames, webp
    from sts.errors import ArgumentError
    from sts.storage.files import write_atomically

    if len(episodes) != 1:
        raise ArgumentError(
            f"--webp: expected one continuation, found {len(episodes)}; name its id"
        )
    every = frames(episodes[0])
    write_atomically(Path(file), webp(*every))
    return len(every)


def _of_scenario(scenario: Scenario, wanted: int | None) -> str:
    from sts.commands.terminal import fitting, room, strip

    shown = _recorded(scenario)
    text = strip(
        shown,
        _frames(scenario.takeover, shown.steps, wanted or fitting(shown, room())),
        judged=scenario.roles,
        takeover=scenario.takeover,
    )
    return (
        f"{scenario.id} ({scenario.difficulty}), as recorded: context ┃ takeover ┃ what followed\n"
        f"“{scenario.instruction.text}”\n{text}"
    )


def _of_continuation(one: Continuation, wanted: int | None, columns: int) -> str:
    from sts.commands.terminal import fitting, strip, utterances

    text = strip(
        one.episode,
        _frames(one.takeover, one.episode.steps, wanted or fitting(one.episode, columns)),
        judged=one.roles,
        takeover=one.takeover,
    )
    spoken = utterances(one.episode, one.roles, one.takeover)
    return (
        f"{one.agent} #{one.identity.index} on {one.scenario_id} ({one.id})\n"
        f"“{one.instruction.text}”\n{text}" + (f"\n{spoken}" if spoken else "")
    )


COMMAND = Command(
    summary="show scenarios and continuations as strips, agents side by side",
    example="sts show {suite}/{scenario} --agent {agent} --agent {other}",
    configure=configure,
    run=run,
)
