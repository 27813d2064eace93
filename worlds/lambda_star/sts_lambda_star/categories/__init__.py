"""Categories of Λ*, one module each."""

EARLY_AGENTS = (
    *("random", "blind", "local-search", "stigmergy", "wisdom-of-the-crowd", "imitation"),
    *("rule", "oracle"),
)
"""Agents older than the categories that they cannot follow; from weak to strong."""
READERS = (
    *("speaking-maximiser", "reader-noisy-60", "reader-noisy-30", "reader-near", "reader-half"),
    *("reader-without-memory", "reader"),
)
"""Ablation series of agents that follow every category, and their baseline; from weak to strong."""
AGENTS = (*EARLY_AGENTS, *READERS)
"""Agents of the response profiles.

The list is fixed before a suite is mined with its help, so that the suite cannot influence it.
"""

FAMILIES = {
    "unseeing": ("random", "blind"),
    "reward-seeking": ("local-search", "stigmergy", "wisdom-of-the-crowd"),
    "world-seeing": ("imitation", "oracle"),
    "keywords": ("rule",),
    "maximiser": ("speaking-maximiser",),
    "steady-or-shaky": ("reader-noisy-60", "reader-noisy-30", "reader"),
    "lacking": ("reader-near", "reader-half", "reader-without-memory"),
}
"""Agents of similar design; every agent of AGENTS belongs to one family."""
_CURATING_FAMILIES = ("unseeing", "reward-seeking", "steady-or-shaky")
CURATION = tuple(name for family in _CURATING_FAMILIES for name in FAMILIES[family])
"""Agents used to select scenarios by discrimination; the other families are held out."""

SPREAD = (
    *("random", "blind", "local-search", "stigmergy", "wisdom-of-the-crowd", "bidding"),
    *("dictatorship", "binary-tree", "q-learning", "cooperative-q-learning", "sarsa"),
    *("cooperative-sarsa", "fugitive", "rule", "speaking-maximiser", "reader-half"),
    *("reader-near", "reader-without-evil", "reader-without-memory", "reader-without-answers"),
    *("reader-without-counting", "reader-without-not", "reader"),
)
"""Agents that show how far a suite spreads agents; fixed before `core@3` was mined.

All packaged agents that see observations only, among them readers without one ability. Readers with
more or less noise are left out: noise makes any agent mediocre, and shows nothing of a suite.
"""

BASELINES = ("local-search", "sts_lambda_star.categories.baselines:LocalSearchWithMemory")
"""Agents that ignore instructions and pursue reward, in view or where it was last in view."""
