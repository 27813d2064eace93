"""Agents: their protocol, loading by name, and fingerprints."""

from sts.agents.identity import check_unchanged, fingerprint
from sts.agents.protocol import Agent, Choice, Instructions
from sts.agents.registry import installed, load, planned

__all__ = [
    "Agent",
    "Choice",
    "Instructions",
    "check_unchanged",
    "fingerprint",
    "installed",
    "load",
    "planned",
]
