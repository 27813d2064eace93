"""Success criterion of a scenario, for the pages that show its continuations.

Functions from a scenario to its criterion or None are registered in the entry-point group
`sts.criteria`, so that the viewer does not import the categories.
"""

import logging
from typing import Any

from sts import registry
from sts.errors import StsError
from sts.suites.suite import Scenario

GROUP = "sts.criteria"
_LOG = logging.getLogger(__name__)


def find_criterion(scenario: Scenario) -> dict[str, Any] | None:
    """Return a scenario's success criterion, edge cases, markings and language for a page.

    None if its category is not installed, has no rubric or fails; failures are logged.
    """
    try:
        sources = [
            registry.load_entry_point(GROUP, "criterion", name)
            for name in registry.list_entry_points(GROUP)
        ]
        rubric = next((r for source in sources if (r := source(scenario)) is not None), None)
    except StsError as error:
        _LOG.error("%s", error)
        return None
    if rubric is None:
        return None
    overlay = {"cells": list(rubric.overlay.cells), "sight": rubric.overlay.player_view}
    texts = {"done": rubric.success_criterion, "guideline": rubric.edge_cases}
    return texts | overlay | {"language": rubric.language}
