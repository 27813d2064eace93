"""What a report says of each scenario, in `sts-report/2`; see `schema`."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated


@dataclass(frozen=True)
class Scenario:
    """How hard a scenario is, and how far it tells agents apart."""

    scenario: Annotated[str, "its id"]
    category: Annotated[str | None, "of the scenario"]
    kind: Annotated[str | None, "`instruction` or `question`"]
    difficulty: Annotated[float | None, "mean failure of the ranked agents"]
    agents: Annotated[int, "how many of these were judged on it"]
    pass_rates: Annotated[Mapping[str, float | None], "by agent"]
    difficulty_without: Annotated[Mapping[str, float | None], "by agent, of the others"]
    instruction: Annotated[str | None, "what was asked; null where it is not known"] = None
    tags: Annotated[tuple[str, ...], "that it has"] = ()
    spread: Annotated[float | None, "the highest pass rate of a ranked agent minus the lowest"] = (
        None
    )
    discrimination: Annotated[
        float | None,
        "correlation across ranked agents of their rate here with that over all other scenarios",
    ] = None
    judged: Annotated[
        Mapping[str, int] | None, "continuations with a verdict, by agent; null if not known"
    ] = None
