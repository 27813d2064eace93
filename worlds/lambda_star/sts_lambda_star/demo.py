"""Demo of Λ*: the packaged suite, and the intelligence test of the same agents."""

from sts.plugin import Demo

AGENTS = ("random", "local-search", "stigmergy", "rule", "reader-near", "reader")
"""Chosen to show an order, and two agents that do not differ significantly."""

DEMO = Demo(
    suite="core@3",
    agents=AGENTS,
    example=("keep-beside-13", "reader", "local-search"),
    measurements=(
        ("lambda-star", "score", *(word for name in AGENTS for word in ("--agent", name)))
        + ("--team", "3", "--episodes", "300", "--save-scores"),
    ),
    requirements="about a minute on two cores, compiling included, and 5 MB",
    is_default=True,
)
