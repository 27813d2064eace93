"""By what a continuation is judged, from whoever knows categories.

The entry-point group `sts.criteria` names functions from a scenario to what a page is told of it,
or None; `scenarios.criteria` has ours. So what shows an episode imports no category.
"""

from __future__ import annotations

from typing import Any

from sts import registry
from sts.suites.types import Scenario

GROUP = "sts.criteria"


def criterion(scenario: Scenario) -> dict[str, Any] | None:
    """Returns by what a scenario's continuations are judged; None where nothing installed says so.

    Raises:
      StsError: what is installed cannot be imported.
    """
    for name in registry.named(GROUP):
        found: dict[str, Any] | None = registry.load(GROUP, "criterion", name)(scenario)
        if found is not None:
            return found
    return None
