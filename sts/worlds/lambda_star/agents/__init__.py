"""Behaviours on Λ*, each a team policy of the one protocol."""
