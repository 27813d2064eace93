"""What the cooks of Overcooked can be asked to do."""

AGENTS = ("overcooked-stay", "overcooked-random", "overcooked-greedy")
"""By how many continuations each passes, scenarios are told apart; from weak to strong."""
