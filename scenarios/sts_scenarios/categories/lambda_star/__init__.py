"""Categories of Λ*, one module each."""

LANDED = (
    *("random", "blind", "local-search", "stigmergy", "wisdom-of-the-crowd", "imitation"),
    *("rule", "oracle"),
)
"""Those that were there before the categories that they cannot read; from weak to strong."""
READERS = (
    *("speaking-maximiser", "reader-noisy-60", "reader-noisy-30", "reader-near", "reader-half"),
    *("reader-without-memory", "reader"),
)
"""The ladder of those that read every category, and the floor beneath it; from weak to strong."""
AGENTS = (*LANDED, *READERS)
"""By how many continuations each passes, scenarios are told apart.

The list is fixed before a suite is mined with its help, so that what it says about the suite is no
choice of the suite's.
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
"""Agents that are made alike; every one of AGENTS is of one family."""
_WITH_A_SAY = ("unseeing", "reward-seeking", "steady-or-shaky")
CURATION = tuple(name for family in _WITH_A_SAY for name in FAMILIES[family])
"""Who has a say where scenarios are chosen by effect. The other families are held out."""

BASELINES = ("local-search", "sts_scenarios.categories.lambda_star.baselines:Remembering")
"""Who reads nothing and goes after reward: where it sees it, and where it saw it last."""
