"""`sts lambda-star strip`: one episode of an agent as a strip of scenes."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING

from sts.cli.arguments import at_least, say
from sts.worlds.lambda_star.commands.arguments import add_world, target, write

if TYPE_CHECKING:
    from sts.episodes import Episode


_NAMED = 8
"""Participants beyond whom the legend has only the first and the last."""


def configure(actions: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Adds the action and its arguments."""
    strip = actions.add_parser(
        "strip",
        example="sts lambda-star strip --agent local-search --frames 8",
        help="one episode as a strip of scenes",
        description="Plays the agent through one environment, the one of this index that the "
        "intelligence test of this seed has, and prints scenes of it side by side.",
    )
    strip.add_argument(
        "--agent",
        required=True,
        metavar="A",
        help="a name, module:Class or PYTHON:module:Class; several between commas are dealt to "
        "the participants in turn",
    )
    add_world(strip, size="8x8", team="3", steps="16")
    strip.add_argument(
        "--index", type=int, default=0, metavar="I", help="which of them, from 0 (default: 0)"
    )
    strip.add_argument(
        "--rehearsals",
        type=int,
        default=100,
        metavar="N",
        help="how often learning behaviours practise the episode first (default: 100)",
    )
    strip.add_argument("--frames", type=int, metavar="N", help="scenes (default: what fits)")
    strip.add_argument("--svg", metavar="FILE.svg", help="write a picture (default: none)")
    strip.set_defaults(act=run)


def run(args: argparse.Namespace) -> int:
    """Plays the episode and shows it."""
    from sts.commands import terminal
    from sts.worlds.lambda_star import plotting
    from sts.worlds.lambda_star.domain import LambdaStar

    at_least(0, "--index", args.index)
    at_least(0, "--rehearsals", args.rehearsals)
    if args.frames is not None:
        at_least(2, "--frames", args.frames)
    file = target("--svg", args.svg, ".svg")
    called, episode = _played(args)
    reward = float(episode.rewards.mean() * LambdaStar.reward_unit)
    title = f"{called}: mean reward {round(reward, 2) + 0.0:.2f}"
    count = args.frames or terminal.fitting(episode, terminal.room())
    scenes = terminal.strip(episode, plotting.evenly(episode.steps, count), judged=())
    lines = [title, scenes, _legend(episode, scenes)]
    value = {"agent": called, "mean": reward, "steps": episode.steps, "file": None}
    try:
        if file is not None:
            fit = args.frames or plotting.fitting(args.size[1])
            frames = plotting.evenly(episode.steps, fit)
            write(file, plotting.svg(episode, frames, title=title))
            value["file"] = args.svg
            lines.append(f"-> {file}")
    finally:
        say(args.json, value, "\n".join(lines))
    return 0


def _legend(episode: Episode, scenes: str) -> str:
    """Returns what the letters in printed scenes mean."""
    from sts.worlds.lambda_star.domain import LambdaStar

    glyphs = LambdaStar().picture(episode.state).glyphs[2:]
    one = len(glyphs) == 1
    people = " ".join(glyphs) if len(glyphs) <= _NAMED else f"{glyphs[0]} to {glyphs[-1]}"
    crowd = ", + more than two in that cell" if "+" in scenes else ""
    return f"G Good, E Evil, {people} {'participant' if one else 'participants'}{crowd}"


def _played(args: argparse.Namespace) -> tuple[str, Episode]:
    """Returns what the agent is called, and the episode that the intelligence test plays."""
    from sts.episodes import Episode
    from sts.worlds.lambda_star.domain import Batch, LambdaStar
    from sts.worlds.lambda_star.generation import environments
    from sts.worlds.lambda_star.generation.patterns import Settings
    from sts.worlds.lambda_star.play import teams

    (height, width), seed, index = args.size, args.seed, args.index
    settings = Settings(height, width, args.team, args.steps, None, args.patterns)
    worlds = environments.generate(settings, seed=seed, start=index, stop=index + 1)
    members = teams.team_for(args.agent, settings)
    played = teams.episodes(members, worlds, seed=seed, rehearsals=args.rehearsals)
    (state,) = Batch.of(worlds.arrays, settings.radius).states()
    each = (played.moves, played.says, played.rewards, played.scene)
    return teams.called(members), Episode(LambdaStar.name, state, *(rows[0] for rows in each))
