"""Agents: the protocol they satisfy, and how they are found and told apart."""

from sts.agents.identity import fingerprint, planned
from sts.agents.protocol import Agent, Choice, Instructions
from sts.agents.registry import installed, load

__all__ = ["Agent", "Choice", "Instructions", "fingerprint", "installed", "load", "planned"]
