"""Measures of agents that need no annotators: the anytime test, and what it is made of."""
