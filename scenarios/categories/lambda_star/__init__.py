"""Categories of Λ*, one module each."""

AGENTS = ("random", "blind", "local-search", "rule", "oracle")
"""By how many continuations each passes, scenarios are told apart; from weak to strong."""
