"""Worlds at work: playing in lock-step, replaying recordings, and their pictures."""
