"""Categories of BabyAI: five kinds of missions, and hindsight instructions for open levels."""

EARLY_AGENTS = ("random", "babyai-blind", "babyai-seeker", "babyai-noisy-bot-60", "babyai-bot")
"""Agents older than the hindsight categories, which they cannot follow; from weak to strong."""
READERS = (
    *("babyai-reader-noisy-60", "babyai-reader-noisy-30", "babyai-reader-near"),
    *("babyai-reader-half", "babyai-reader-without-memory", "babyai-reader"),
)
"""Ablation series of agents that follow every category; from weak to strong."""
AGENTS = (*EARLY_AGENTS, *READERS)
"""Agents of the response profiles.

The list is fixed before a suite is mined with its help, so that the suite cannot influence it.
"""

BASELINES = ("sts_babyai.categories.policies:RewardSeeker",)
"""Agents that ignore instructions and pick up or open the nearest thing."""

MIXES = (
    "left right forward",
    "forward forward pickup",
    "left right forward forward pickup",
    "left right forward forward toggle",
    "left right forward forward pickup drop",
    "left right forward forward pickup drop toggle",
)
"""Actions of open-loop baselines, covering what a mission may need."""
