"""The demo of the pond."""

from sts.plugin import Demo

AGENTS = ("drifter", "ferryman")
AMOUNT = ("--episodes", "40", "--steps", "30", "--team", "2")

DEMO = Demo(
    suite="pond@1",
    agents=AGENTS,
    example=("fetch-a-passenger-01", "ferryman", "drifter"),
    setup=(
        ("record", *(word for name in AGENTS for word in ("--agent", name)), *AMOUNT),
        ("mine", "pond", "--per-category", "4", "--overwrite"),
        ("draft", "accept", "pond", "--all"),
        ("suite", "freeze", "pond"),
    ),
)
