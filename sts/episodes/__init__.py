"""The record of what happened in one world, and its columns in a file."""

from sts.episodes.types import Episode as Episode
from sts.episodes.types import Instruction as Instruction
from sts.episodes.types import in_order as in_order
