"""Candidates of Λ*'s categories in fixed episodes, held to a record of how many and which they are.

python -m tests.scenarios.test_found_candidates   # writes the record again
"""

from __future__ import annotations

import hashlib
import json
from dataclasses import asdict
from functools import cache
from pathlib import Path

import pytest

from sts.trajectories.trajectory import Trajectory
from sts_scenarios.rules import categories
from tests.examples import recorded

RECORD = Path(__file__).parents[1] / "data" / "candidates_lambda_star.json"
RULES = {c.name: c for c in categories.load_categories("lambda-star") if c.prefilter}
RECORDED_NAMES = {"step": "moment", "player": "role", "fields": "words"}
"""Names of a candidate's fields in the record, where they differ."""
SIZES = ((10, 10), (5, 12), (8, 9), (4, 5), (12, 46), (46, 46))


@cache
def episodes() -> list[Trajectory]:
    """Return 72 episodes: six sizes, four agents and teams of one to four."""
    return [
        trajectory
        for n, (height, width) in enumerate(SIZES)
        for m, agent in enumerate(("random", "local-search", "stigmergy", "rule"))
        for trajectory in recorded(
            agent, count=3, team=1 + (n + m) % 4, steps=34, seed=m, height=height, width=width
        )
    ]


def summarise(name: str) -> list[object]:
    """Return how many candidates a category finds, and a digest of all of them in order."""
    found = [
        [n, {RECORDED_NAMES.get(name, name): value for name, value in asdict(candidate).items()}]
        for n, trajectory in enumerate(episodes())
        for candidate in RULES[name].find_candidates(trajectory)
    ]
    text = json.dumps(found, sort_keys=True)
    return [len(found), hashlib.sha256(text.encode()).hexdigest()[:16]]


@pytest.mark.parametrize("name", sorted(RULES))
def test_candidates_are_the_recorded_ones(name: str) -> None:
    assert summarise(name) == json.loads(RECORD.read_text())[name]


if __name__ == "__main__":
    RECORD.write_text(json.dumps({name: summarise(name) for name in sorted(RULES)}, indent=0))
