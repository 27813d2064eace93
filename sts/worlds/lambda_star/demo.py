"""The demo of Λ*: the packaged suite, and the agents' own test beside it."""

from __future__ import annotations

from sts.cli.demo import Demo, players

AGENTS = ("random", "blind", "local-search", "stigmergy", "rule", "oracle")

DEMO = Demo(
    suite="starter@1",
    agents=AGENTS,
    shown=("reach-good-01", "rule", "random"),
    measuring=(
        ("lambda-star", "score", *players(AGENTS), "--team", "3", "--episodes", "1000", "--save"),
    ),
    takes="about a minute on two cores, compiling included, and 3 MB",
    first=True,
)
