"""Scenarios and suites: their types, their files, and what makes them sound."""
