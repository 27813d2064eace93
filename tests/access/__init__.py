"""Attempts at what nobody may do, as a table: each is a test, and what it must come to."""
