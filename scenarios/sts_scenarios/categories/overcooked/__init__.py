"""What the cooks of Overcooked can be asked to do."""

BASELINES = ("sts_scenarios.categories.overcooked.baselines:Soup",)
"""Who hears nothing and makes soup, which is all that pays."""
MIXES = (
    "up down right left",
    "up down right left interact interact",
    "right left interact",
    "up down interact",
)
"""What gets about without eyes, and handles what it comes to."""
AGENTS = ("overcooked-stay", "random", "overcooked-greedy")
"""By how many continuations each passes, scenarios are told apart; from weak to strong."""
