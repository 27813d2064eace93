"""Scenarios as a data frame, for notebooks."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import pandas as pd

    from sts.suites.types import Summary


def scenario_table(scenarios: Iterable[Summary]) -> pd.DataFrame:
    """Return one row per scenario: what is asked of whom, where, and for how long (in steps)."""
    import pandas as pd

    columns = ("category", "kind", "difficulty", "takeover", "horizon", "text", "trajectory")
    scenarios = list(scenarios)
    rows = {name: [getattr(scenario, name) for scenario in scenarios] for name in columns}
    table = pd.DataFrame({"scenario": [scenario.id for scenario in scenarios]} | rows)
    return table.rename(columns={"text": "instruction"})
