"""How many passengers an agent brings over while it is recorded."""

import numpy as np

from sts.plugin import load_trajectories


def passengers(agents, *, suite, workspace, seed):
    """Mean reward of a step of what an agent was recorded in, from its trajectories."""
    rows = []
    recorded = load_trajectories(workspace)
    for agent in agents:
        mine = [
            float(np.mean(one.episode.rewards))
            for one in recorded
            if any(participant.name == agent for participant in one.players)
        ]
        rows.append({"agent": agent, "value": np.mean(mine), "n": len(mine)})
    return rows
