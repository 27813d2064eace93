"""Categories of BabyAI, one for each kind of mission."""

AGENTS = ("babyai-random", "babyai-blind", "babyai-seeker", "babyai-noisy-bot-60", "babyai-bot")
"""By how many continuations each passes, scenarios are told apart; from weak to strong."""
