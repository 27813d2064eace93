"""`sts lambda-star filmstrip`: filmstrip of one episode of an agent."""

import argparse

from sts.plugin import Episode, print_result, resolve_target, terminal, write_target
from sts_lambda_star import filmstrips
from sts_lambda_star.domain import Batch, LambdaStar
from sts_lambda_star.generation import environments
from sts_lambda_star.generation.patterns import Settings
from sts_lambda_star.play import teams

_MAX_LISTED = 8
"""Maximum number of players that the legend lists one by one."""


def run(args: argparse.Namespace) -> int:
    """Play the episode and print frames of it."""
    file = resolve_target("--svg", args.svg, ".svg")
    name, episode = _play_episode(args)
    reward = float(episode.rewards.mean() * LambdaStar.reward_unit)
    title = f"{name}: mean reward {round(reward, 2) + 0.0:.2f}"
    count = args.frames or terminal.count_fitting_frames(episode, terminal.terminal_columns())
    scenes = terminal.format_strip(
        episode, filmstrips.space_frames(episode.steps, count), judged=()
    )
    lines = [title, scenes, _format_legend(episode, scenes)]
    value = {"agent": name, "mean": reward, "steps": episode.steps, "file": None}
    try:
        if file is not None:
            fit = args.frames or filmstrips.boards_per_row(args.size[1])
            frames = filmstrips.space_frames(episode.steps, fit)
            write_target(file, filmstrips.draw_filmstrip(episode, frames, title=title))
            value["file"] = args.svg
            lines.append(f"-> {file}")
    finally:
        print_result(args.json, value, "\n".join(lines))
    return 0


def _format_legend(episode: Episode, scenes: str) -> str:
    """Return the meaning of the letters in printed scenes."""
    glyphs = LambdaStar().scene_layout(episode.state).glyphs[2:]
    noun = "player" if len(glyphs) == 1 else "players"
    people = " ".join(glyphs) if len(glyphs) <= _MAX_LISTED else f"{glyphs[0]} to {glyphs[-1]}"
    crowd = ", + more than two in that cell" if "+" in scenes else ""
    return f"G Good, E Evil, {people} {noun}{crowd}"


def _play_episode(args: argparse.Namespace) -> tuple[str, Episode]:
    """Play an episode of the intelligence test; return the team's name and the episode."""
    (height, width), seed, index = args.size, args.seed, args.index
    settings = Settings(height, width, args.team, args.steps, None, args.patterns)
    worlds = environments.generate_environments(settings, seed=seed, start=index, stop=index + 1)
    members = teams.load_team_for(args.agent, settings)
    played = teams.play_episodes(members, worlds, seed=seed, rehearsals=args.practice_episodes)
    (state,) = Batch(worlds.arrays, settings.radius).states()
    batches = (played.actions, played.utterances, played.rewards, played.scene)
    return teams.team_name(members), Episode(LambdaStar.name, state, *(rows[0] for rows in batches))
