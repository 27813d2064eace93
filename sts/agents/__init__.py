"""Agents: the protocol they satisfy, and how they are found and told apart."""

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
