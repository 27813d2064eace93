"""External agents: `PYTHON:module:Class`, run in another Python interpreter."""

from sts.agents.external.agent import ExternalAgent as ExternalAgent
from sts.agents.external.agent import is_external_path as is_external_path
