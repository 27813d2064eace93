"""Demo of Overcooked: a suite made from the installed recordings, and a trained agent."""

from sts.plugin import Demo

SKILLS = "deliver-soup fetch-dish fill-pot hand-over make-way plate-soup pot-onion".split()
"""Categories that the planner knows; those alongside a recorded person take minutes to mine."""
DEMO = Demo(
    suite="overcooked@1",
    agents=("overcooked-stay", "random", "overcooked-greedy", "overcooked-cloned", "recorded"),
    example=("deliver-soup-01", "overcooked-cloned", "random"),
    setup=(
        ("trajectories", "import", "--format", "overcooked-2019"),
        ("mine", "overcooked", "--per-category", "5", "--overwrite")
        + tuple(word for name in SKILLS for word in ("--category", name)),
        ("draft", "accept", "overcooked", "--all"),
        ("suite", "freeze", "overcooked"),
        ("overcooked", "train"),
    ),
)
