"""Continuations: agents replay a scenario's context, take over, and what they do is kept."""
