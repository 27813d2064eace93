"""The demo of Overcooked: a suite made of the installed recordings of people, and a learner."""

from __future__ import annotations

from sts.cli.demo import Demo

DEMO = Demo(
    suite="overcooked@1",
    agents=(
        *("overcooked-stay", "overcooked-random", "overcooked-greedy", "overcooked-cloned"),
        "recorded",
    ),
    shown=("deliver-soup-01", "overcooked-cloned", "overcooked-random"),
    making=(
        ("trajectories", "import", "--format", "overcooked-2019"),
        ("mine", "overcooked", "--per-category", "5", "--replace"),
        ("draft", "accept", "overcooked", "--all"),
        ("suite", "freeze", "overcooked"),
        ("overcooked", "train"),
    ),
)
