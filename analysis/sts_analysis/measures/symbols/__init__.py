"""Environments with small alphabets: the player observes one symbol and a reward at each step."""
