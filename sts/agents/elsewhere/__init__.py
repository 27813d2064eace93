"""Agents that another interpreter plays, as `PYTHON:module:Class`."""

from sts.agents.elsewhere.agent import Elsewhere as Elsewhere
from sts.agents.elsewhere.agent import is_spelling as is_spelling
