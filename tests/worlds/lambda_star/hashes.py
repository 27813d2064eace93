"""Prints what happens in short episodes as hashes, to compare compiled with uncompiled runs.

Takes serialised states in hex, one a line, on standard input.
"""

from __future__ import annotations

import json
import sys

import numpy as np

from sts import agents
from sts.engine.lockstep import play_episodes
from sts.engine.session import Team
from sts.numerics.streams import stream
from sts.storage.files import content_hash
from sts_lambda_star.agents.imitation import Imitation
from sts_lambda_star.agents.stigmergy import Stigmergy
from sts_lambda_star.domain import LambdaStar
from sts_lambda_star.generation import walks
from sts_lambda_star.play import practice
from tests.examples import agents_of, instructed

STEPS = 6
TEXTS = ("", "Follow Good for 3 steps.", "Avoid Evil.", "Walk 2 cells up.", "Where is Good?")


def hashes(states: list[bytes]) -> dict[str, str]:
    """Return what happens from these states on, by who plays or what is made."""
    world = LambdaStar()
    count = len(states)
    streams = np.array([stream("hashes", i) for i in range(count)], np.uint64)
    told = instructed([TEXTS[i % len(TEXTS)] for i in range(count)], [i % 3 for i in range(count)])
    out = {}
    players = {name: agents.load(name) for name in (*agents_of("lambda-star"), "random")}
    players["lasting marks"] = Stigmergy(marks="lasting")
    players["guide of each role"] = Imitation(guide="each-role")
    for name, agent in players.items():
        worlds = world.restore(states)
        team = Team(agent, (0, 2), streams)
        played = play_episodes(world, worlds, [team], steps=STEPS, instructions=told)
        out[name] = content_hash(*(a.tobytes() for a in played[:4]), *worlds.states())
        assert np.isfinite(played.log_probs[:, :, 0]).all()
    for name in practice.LEARNERS:
        worlds = world.restore(states)
        learned = practice.play_learner(name, worlds.arrays, streams, steps=STEPS, rehearsals=3)
        out[f"rehearsed {name}"] = content_hash(*(a.tobytes() for a in learned), *worlds.states())
    keys = np.array([[stream("hashes", "good"), stream("hashes", "evil")]], np.uint64)
    found = walks.search_segments(keys, np.array([6]), walks.allocate_scratch(5, 4, 12))
    segments = walks.concatenate_segments(keys, *found, 12)
    out["patterns"] = content_hash(*(a.tobytes() for a in (*found, *segments)))
    published = walks.draw_published_paths(keys[0], np.array([3, 0]), 5, 22)
    out["published patterns"] = content_hash(*(a.tobytes() for a in published))
    return out


if __name__ == "__main__":
    print(json.dumps(hashes([bytes.fromhex(line) for line in sys.stdin.read().split()])))
