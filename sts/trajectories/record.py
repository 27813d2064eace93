"""Recording: agents play new worlds, and what happens is kept."""

from __future__ import annotations

from typing import Any

import numpy as np

from sts import agents, columns
from sts.domains import domain as find_domain
from sts.draws import stream
from sts.episodes import Episode, Instruction
from sts.errors import ArgumentError
from sts.lockstep import Team, Told, play
from sts.provenance import provenance
from sts.trajectories.types import Participant, Trajectory, trajectory


def record(
    agent: agents.Agent,
    *,
    domain: str,
    count: int,
    steps: int,
    seed: int,
    settings: dict[str, Any],
) -> list[Trajectory]:
    """Returns `count` trajectories of a team of `agent` on new worlds; the same for the same seed.

    Args:
      agent: plays every participant.
      domain: whose worlds.
      count: E, at least 1.
      steps: T, at least 1.
      seed: names the worlds and the agent's streams.
      settings: passed to the domain's `generate`.

    What a world itself asks for is told from the start, and kept as a setter's instruction.

    Raises:
      ArgumentError: nothing is asked for, or the settings cannot be met.
    """
    if count < 1 or steps < 1:
        raise ArgumentError(f"expected at least 1 episode of 1 step, found {count} of {steps}")
    world = find_domain(domain)
    try:
        (first,) = world.generate(1, seed=seed, **settings)
    except TypeError as error:  # a keyword that it does not take
        raise ArgumentError(f"domain {domain!r} refuses its settings: {error}") from error
    size = count * (steps + 1) * len(world.picture(first).names)
    if size > columns.MOST:
        raise ArgumentError(
            f"{count} episodes of {steps} steps are too many for one recording; record "
            f"{max(1, count * columns.MOST // size)} at a time, with another --seed each"
        )
    states = world.generate(count, seed=seed, **settings)
    worlds = world.restore(states)
    roles = tuple(range(worlds.rewards.shape[1]))
    mark = agents.fingerprint(agent)
    streams = np.array(
        [stream("record", agent.name, mark, seed, index) for index in range(count)], np.uint64
    )
    asks = getattr(world, "instruction", None)
    missions = [asks(state) if asks is not None else "" for state in states]
    played = play(
        world,
        worlds,
        [Team(agent, roles, streams)],
        steps=steps,
        told=Told(missions, [0] * count),
    )
    made = provenance() | {"seed": seed, "fingerprint": mark}
    return [
        trajectory(
            Episode(
                domain,
                states[i],
                played.moves[i],
                played.says[i],
                played.rewards[i],
                played.scene[i],
            ),
            tuple(Participant("agent", agent.name) for _ in roles),
            source=f"sts record {agent.name} seed {seed} episode {i}",
            provenance=made | {"index": i},
            instructions=(
                (Instruction(missions[i], world.name, given_at=0, source="setter"),)
                if missions[i]
                else ()
            ),
        )
        for i in range(count)
    ]
