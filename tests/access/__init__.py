"""Attempted attacks: their tests, and the table of them in docs/security.md."""
