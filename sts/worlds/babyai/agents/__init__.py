"""Agents that play BabyAI: the package's bot, noisy bots, and some that see what they may."""
