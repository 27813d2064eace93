"""`sts lambda-star strip`: one episode of an agent as a strip of scenes."""

from __future__ import annotations

import argparse

from sts.cli.arguments import say
from sts.commands import terminal
from sts.episodes import Episode
from sts.worlds.lambda_star import plotting
from sts.worlds.lambda_star.commands.files import target, write
from sts.worlds.lambda_star.domain import Batch, LambdaStar
from sts.worlds.lambda_star.generation import environments
from sts.worlds.lambda_star.generation.patterns import Settings
from sts.worlds.lambda_star.play import teams

_NAMED = 8
"""Participants beyond whom the legend has only the first and the last."""


def run(args: argparse.Namespace) -> int:
    """Plays the episode and shows it."""
    file = target("--svg", args.svg, ".svg")
    called, episode = _played(args)
    reward = float(episode.rewards.mean() * LambdaStar.reward_unit)
    title = f"{called}: mean reward {round(reward, 2) + 0.0:.2f}"
    count = args.frames or terminal.count_fitting_frames(episode, terminal.terminal_columns())
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
    """Return what the letters in printed scenes mean."""
    glyphs = LambdaStar().picture(episode.state).glyphs[2:]
    one = len(glyphs) == 1
    people = " ".join(glyphs) if len(glyphs) <= _NAMED else f"{glyphs[0]} to {glyphs[-1]}"
    crowd = ", + more than two in that cell" if "+" in scenes else ""
    return f"G Good, E Evil, {people} {'participant' if one else 'participants'}{crowd}"


def _played(args: argparse.Namespace) -> tuple[str, Episode]:
    """Return what the agent is called, and the episode that the intelligence test plays."""
    (height, width), seed, index = args.size, args.seed, args.index
    settings = Settings(height, width, args.team, args.steps, None, args.patterns)
    worlds = environments.generate(settings, seed=seed, start=index, stop=index + 1)
    members = teams.team_for(args.agent, settings)
    played = teams.episodes(members, worlds, seed=seed, rehearsals=args.rehearsals)
    (state,) = Batch.of(worlds.arrays, settings.radius).states()
    each = (played.moves, played.says, played.rewards, played.scene)
    return teams.called(members), Episode(LambdaStar.name, state, *(rows[0] for rows in each))
