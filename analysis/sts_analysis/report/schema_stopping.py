"""What a report holds while judging goes on; `sts_analysis.report.schema` has the whole."""

from dataclasses import dataclass
from typing import Annotated

from sts_analysis.report.schema_parts import Interval


@dataclass(frozen=True)
class Final:
    """What an agent's pass rate can still become."""

    agent: Annotated[str, "its name"]
    interval: Annotated[Interval, "of the rate once all is judged"]
    judged: Annotated[int, "clips with a verdict; continuations, where clips are not known"]
    pool: Annotated[int, "of how many; what nobody could judge is left out"]


@dataclass(frozen=True)
class FinalDifference:
    """What the difference of two agents can still become."""

    a: Annotated[str, "the agent of the higher rate"]
    b: Annotated[str, "the other"]
    interval: Annotated[Interval, "of a's rate minus b's once all is judged; all pairs together"]
    apart: Annotated[bool, "whether a stays above b, or b above a"]


@dataclass(frozen=True)
class Stopping:
    """What can be said of these continuations however often one looks while judging goes on."""

    agents: Annotated[tuple[Final, ...], "ranked ones, by falling pass rate"]
    pairs: Annotated[tuple[FinalDifference, ...], "of every two agents of one ranking"]
    method: Annotated[str, "how the intervals were made, and what they ask for"]
