"""By what a continuation is judged, for the page on which it is seen.

The entry-point group `sts.criteria` names functions from a scenario to by what people judge it, or
None; `sts_scenarios.categories` has ours. So what shows an episode imports no category.
"""

from __future__ import annotations

import logging
from typing import Any

from sts import registry
from sts.errors import StsError
from sts.suites.types import Scenario

GROUP = "sts.criteria"
_LOG = logging.getLogger(__name__)


def criterion(scenario: Scenario) -> dict[str, Any] | None:
    """Return by what a scenario's continuations are judged, for a page.

    None where its category is not installed here, has no rubric or fails, which the log says.
    """
    try:
        rules = [registry.load(GROUP, "criterion", name) for name in registry.named(GROUP)]
        found = next((one for rule in rules if (one := rule(scenario)) is not None), None)
    except StsError as error:
        _LOG.error("%s", error)
        return None
    if found is None:
        return None
    overlay = {"cells": list(found.overlay.cells), "sight": found.overlay.sight}
    return {"done": found.done, "guideline": found.guideline, **overlay}
