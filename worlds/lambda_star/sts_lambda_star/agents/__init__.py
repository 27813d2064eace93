"""Agents for Λ*, each a policy for a whole team."""
