"""`sts lambda-star filmstrip`: filmstrip of one episode of an agent."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sts.plugin import command, print_result
from sts_lambda_star.commands.arguments import AGENT_HELP, PATTERNS, SEED, size_option

if TYPE_CHECKING:
    from sts.plugin import Episode
    from sts_lambda_star.generation.patterns import Settings

_MAX_LISTED = 8
"""Maximum number of players that the legend lists one by one."""


_SIZE = size_option("8x8")


@command.declare(
    "filmstrip --agent local-search --frames 8",
    description="Play the agent through the environment with this index in the intelligence "
    "test with this seed, and print frames of the episode side by side.",
)
def filmstrip(
    as_json: bool,
    *,
    agent: str = command.option("A", AGENT_HELP, required=True),
    size: tuple[int, int] = _SIZE,
    team: int = command.option("P", "number of players", 3),
    steps: int = command.option("T", "steps per episode", 16),
    seed: int = SEED,
    patterns: str = PATTERNS,
    index: int = command.option("I", "index of the environment, from 0", 0, least=0),
    practice_episodes: int = command.option(
        "N", "practice episodes of learning agents before this one", 100, least=0
    ),
    frames: int | None = command.option("N", "number of frames (default: as many as fit)", least=2),
    svg: str | None = command.option("FILE.svg", "write the filmstrip as an SVG image"),
) -> int:
    """Show one episode as a filmstrip."""
    from sts.plugin import resolve_target, terminal, write_target
    from sts_lambda_star import filmstrips
    from sts_lambda_star.domain import LambdaStar
    from sts_lambda_star.generation.patterns import Settings

    file = resolve_target("--svg", svg, ".svg")
    settings = Settings(*size, team, steps, None, patterns)
    name, episode = _play_episode(agent, settings, seed, index, practice_episodes)
    reward = float(episode.rewards.mean() * LambdaStar.reward_unit)
    title = f"{name}: mean reward {round(reward, 2) + 0.0:.2f}"
    count = frames or terminal.count_fitting_frames(episode, terminal.terminal_columns())
    scenes = terminal.format_strip(
        episode, filmstrips.space_frames(episode.steps, count), judged=()
    )
    lines = [title, scenes, _format_legend(episode, scenes)]
    value = {"agent": name, "mean": reward, "steps": episode.steps, "file": None}
    try:
        if file is not None:
            fit = frames or filmstrips.boards_per_row(size[1])
            chosen = filmstrips.space_frames(episode.steps, fit)
            write_target(file, filmstrips.draw_filmstrip(episode, chosen, title=title))
            value["file"] = svg
            lines.append(f"-> {file}")
    finally:
        print_result(as_json, value, "\n".join(lines))
    return 0


def _format_legend(episode: Episode, scenes: str) -> str:
    """Return the meaning of the letters in printed scenes."""
    from sts_lambda_star.domain import LambdaStar

    glyphs = LambdaStar().scene_layout(episode.state).glyphs[2:]
    noun = "player" if len(glyphs) == 1 else "players"
    people = " ".join(glyphs) if len(glyphs) <= _MAX_LISTED else f"{glyphs[0]} to {glyphs[-1]}"
    crowd = ", + more than two in that cell" if "+" in scenes else ""
    return f"G Good, E Evil, {people} {noun}{crowd}"


def _play_episode(
    agent: str, settings: Settings, seed: int, index: int, rehearsals: int
) -> tuple[str, Episode]:
    """Play an episode of the intelligence test; return the team's name and the episode."""
    from sts.plugin import Episode
    from sts_lambda_star.domain import Batch, LambdaStar
    from sts_lambda_star.generation import environments
    from sts_lambda_star.play import teams

    worlds = environments.generate_environments(settings, seed=seed, start=index, stop=index + 1)
    members = teams.load_team_for(agent, settings)
    played = teams.play_episodes(members, worlds, seed=seed, rehearsals=rehearsals)
    (state,) = Batch(worlds.arrays, settings.radius).states()
    batches = (played.actions, played.utterances, played.rewards, played.scene)
    return teams.team_name(members), Episode(LambdaStar.name, state, *(rows[0] for rows in batches))
