"""Demo of Λ*: the packaged suite, and the intelligence test of the same agents."""

from sts.cli.demo import Demo, agent_arguments

AGENTS = ("random", "local-search", "rule", "reader-half", "reader", "oracle")

DEMO = Demo(
    suite="core@2",
    agents=AGENTS,
    example=("keep-beside-01", "reader", "local-search"),
    measurements=(
        ("lambda-star", "score", *agent_arguments(AGENTS))
        + ("--team", "3", "--episodes", "300", "--save-scores"),
    ),
    requirements="about a minute on two cores, compiling included, and 5 MB",
    is_default=True,
)
