"""Agents that play BabyAI: the package's bot, noisy bots, and agents limited to observations."""
