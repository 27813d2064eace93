"""By what a continuation is judged, for the page on which it is seen."""

from __future__ import annotations

import logging
from typing import Any

from scenarios import categories
from sts.errors import StsError
from sts.suites.types import Scenario

_LOG = logging.getLogger(__name__)


def criterion(scenario: Scenario) -> dict[str, Any] | None:
    """Returns by what a scenario's continuations are judged, for a page.

    None where its category is not installed here, has no rubric or fails, which the log says.
    """
    try:
        found = categories.criterion(scenario)
    except StsError as error:
        _LOG.error("%s", error)
        return None
    if found is None:
        return None
    overlay = {"cells": list(found.overlay.cells), "sight": found.overlay.sight}
    return {"done": found.done, "guideline": found.guideline, **overlay}
