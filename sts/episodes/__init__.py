"""Recorded episodes, and their columns in files."""

from sts.episodes.types import Episode as Episode
from sts.episodes.types import Instruction as Instruction
from sts.episodes.types import sort_instructions as sort_instructions
