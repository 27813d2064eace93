"""Categories of BabyAI: five of missions, and those that ask of an open level in hindsight."""

LANDED = ("random", "babyai-blind", "babyai-seeker", "babyai-noisy-bot-60", "babyai-bot")
"""Those that were there before categories that they cannot read; from weak to strong."""
READERS = (
    *("babyai-reader-noisy-60", "babyai-reader-noisy-30", "babyai-reader-near"),
    *("babyai-reader-half", "babyai-reader-without-memory", "babyai-reader"),
)
"""The ladder of those that read every category; from weak to strong."""
AGENTS = (*LANDED, *READERS)
"""By how many continuations each passes, scenarios are told apart.

The list is fixed before a suite is mined with its help, so that what it says about the suite is no
choice of the suite's.
"""

BASELINES = ("sts_scenarios.categories.babyai.playing:Heedless",)
"""Who reads nothing and takes or opens what is nearest."""

MIXES = (
    "left right forward",
    "forward forward pickup",
    "left right forward forward pickup",
    "left right forward forward toggle",
    "left right forward forward pickup drop",
    "left right forward forward pickup drop toggle",
)
"""What gets about without eyes and tries what a mission may need."""
