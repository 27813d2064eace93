"""`sts lambda-star strip`: one episode of an agent as a strip of scenes."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from sts.episodes import Episode


def configure(actions: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Adds the action and its arguments."""
    strip = actions.add_parser("strip", help="one episode as a strip of scenes", allow_abbrev=False)
    strip.add_argument(
        "--agent", required=True, metavar="A", help="a name, module:Class or several between commas"
    )
    strip.add_argument("--size", default="8x8", metavar="HxW")
    strip.add_argument("--team", type=int, default=3, metavar="P", help="participants")
    strip.add_argument("--steps", type=int, default=16, metavar="T")
    strip.add_argument("--seed", type=int, default=0, metavar="S")
    strip.add_argument("--index", type=int, default=0, metavar="I", help="which environment")
    strip.add_argument("--patterns", choices=("paper", "lambdastar-2016"), default="paper")
    strip.add_argument("--rehearsals", type=int, default=100, metavar="N", help="of learners")
    strip.add_argument("--frames", type=int, metavar="N", help="scenes (default: what fits)")
    strip.add_argument("--svg", metavar="FILE", help="write a picture")
    strip.set_defaults(act=run)


def run(args: argparse.Namespace) -> int:
    """Plays the episode and shows it."""
    from pathlib import Path

    from sts.commands import strips
    from sts.commands.arguments import at_least, say
    from sts.errors import ArgumentError
    from sts.files import write_atomically
    from sts.lambda_star import strip
    from sts.lambda_star.domain import LambdaStar

    at_least(0, "--index", args.index)
    at_least(0, "--rehearsals", args.rehearsals)
    if args.frames is not None:
        at_least(2, "--frames", args.frames)
    if args.svg is not None and not args.svg.endswith(".svg"):
        raise ArgumentError(
            f"--svg writes SVG: expected a file name like a.svg, found {args.svg!r}"
        )
    called, episode = _played(args)
    reward = float(episode.rewards.mean() * LambdaStar.reward_unit)
    title = f"{called}: mean reward {round(reward, 2) + 0.0:.2f}"
    count = args.frames or strips.fitting(episode, strips.room())
    scenes = strips.strip(episode, strip.evenly(episode.steps, count), judged=())
    lines = [title, scenes]
    if args.svg is not None:
        width = int(args.size.partition("x")[2])
        frames = strip.evenly(episode.steps, args.frames or strip.fitting(width))
        write_atomically(Path(args.svg), strip.svg(episode, frames, title=title))
        lines.append(f"-> {args.svg}")
    value = {"agent": called, "mean": reward, "steps": episode.steps, "file": args.svg}
    say(args.json, value, "\n".join(lines))
    return 0


def _played(args: argparse.Namespace) -> tuple[str, Episode]:
    """Returns what the agent is called, and the episode that the intelligence test plays."""
    import numpy as np

    from sts.commands.arguments import size
    from sts.episodes import Episode
    from sts.lambda_star import state
    from sts.lambda_star.domain import LambdaStar
    from sts.lambda_star.play import crews, rollouts
    from sts.lambda_star.worlds import environments, patterns

    called = crews.called(crews.crew(args.agent))
    settings = patterns.Settings(*size(args.size), args.team, args.steps, None, args.patterns)
    seed, index = args.seed, args.index
    world = patterns.generate(settings, seed=seed, index=index)
    played = rollouts.rollout(
        args.agent,
        environments.generate(settings, seed=seed, start=index, stop=index + 1),
        seed=seed,
        rehearsals=args.rehearsals,
    )
    objects = np.stack((played.good[0], played.evil[0]), 1)
    episode = Episode(
        LambdaStar.name,
        state.encode(world),
        played.moves[0],
        played.says[0],
        (played.rewards[0] / LambdaStar.reward_unit).astype(np.int8),
        np.concatenate((objects, played.cells[0]), 1),
    )
    return called, episode
