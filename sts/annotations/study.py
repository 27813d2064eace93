"""What the study asks of its judging: the table `annotation` of `workspace.toml`, checked."""

from __future__ import annotations

from typing import NamedTuple

from sts.errors import DamagedData
from sts.storage.workspace import Workspace

SECTION = "annotation"


class Study(NamedTuple):
    """How continuations are judged; what `workspace.toml` leaves out is as here.

    Attributes:
      seed: selects the campaign's orders; equal seeds give equal ones.
      required: judgements of each clip, 1 or more.
      reference_rate: share of references among what annotators meet, 0 to 1.
      queue: continuations that wait to be judged at a time.
      mark_tolerance: steps that marks of one clip may lie apart and still agree.
      review_sample: failures of people, and as many of agents, that reviewers look at.
    """

    seed: int = 0
    required: int = 1
    reference_rate: float = 0.1
    queue: int = 100_000
    mark_tolerance: int = 5
    review_sample: int = 100


USUAL = Study()


def study(workspace: Workspace) -> Study:
    """Returns what the workspace says.

    Raises:
      DamagedData: a setting is unknown, or is not what it should be.
    """
    every = USUAL._asdict()
    asked = workspace.settings.get(SECTION, {})
    unknown = sorted(asked.keys() - every.keys()) if isinstance(asked, dict) else []
    if unknown:
        raise DamagedData(
            f"{workspace.path('workspace.toml')}: unknown setting {SECTION}.{unknown[0]}; there "
            f"are: {', '.join(sorted(every))}"
        )
    values = {name: workspace.setting(SECTION, name, usual) for name, usual in every.items()}
    found = Study(**values)
    if not 0 <= found.reference_rate <= 1:
        raise DamagedData(
            f"{workspace.path('workspace.toml')}: expected {SECTION}.reference_rate between 0 and "
            f"1, found {found.reference_rate}"
        )
    return found
