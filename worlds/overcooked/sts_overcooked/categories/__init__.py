"""Categories of Overcooked."""

BASELINES = ("sts_overcooked.categories.baselines:UninstructedGreedy",)
"""Agent that ignores instructions and makes soup, the only thing that is rewarded."""
MIXES = (
    "up down right left",
    "up down right left interact interact",
    "right left interact",
    "up down interact",
)
"""Actions of open-loop baselines, covering movement and interaction."""
AGENTS = ("overcooked-stay", "random", "overcooked-greedy")
"""Agents of the response profiles; from weak to strong."""
