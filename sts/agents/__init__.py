"""Agents: their protocol, loading by name, and fingerprints."""

from sts.agents.identity import check_unchanged as check_unchanged
from sts.agents.identity import fingerprint as fingerprint
from sts.agents.protocol import Agent as Agent
from sts.agents.protocol import Instructions as Instructions
from sts.agents.protocol import PolicyOutput as PolicyOutput
from sts.agents.registry import list_installed as list_installed
from sts.agents.registry import load as load
from sts.agents.registry import load_planned as load_planned
