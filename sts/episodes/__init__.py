"""Recorded episodes, and their columns in files."""

from sts.episodes.episode import Episode as Episode
from sts.episodes.episode import Instruction as Instruction
from sts.episodes.episode import sort_instructions as sort_instructions
