"""Agents that play Overcooked; they observe what `Overcooked.observe` returns."""
