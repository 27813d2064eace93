"""Categories of Λ*, one module each."""

AGENTS = ("random", "blind", "local-search", "rule", "oracle")
"""By how many continuations each passes, scenarios are told apart; from weak to strong."""

BASELINES = ("local-search", "scenarios.categories.lambda_star.baselines:Remembering")
"""Who reads nothing and goes after reward: where it sees it, and where it saw it last."""
