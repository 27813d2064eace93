"""Rank interactive agents by human judgement of what they do from the middle of episodes.

    import sts

    sts.record("my_agents:Mine", episodes=100)
    sts.mine("mysuite", per_category=5)
    sts.freeze("mysuite", accept_all_as="me")
    sts.run("mysuite@1", ["my_agents:Mine", "random"])
    sts.build_report("mysuite@1")

The names in `__all__` are the public API; each is imported when it is first used. Agents,
environments, categories, metrics and report sections of other packages may also use `sts.plugin`,
`sts_scenarios.plugin` and `sts_analysis.plugin`. Everything else in these packages and in
`sts_annotator_app` is internal and may change without notice.
"""

from importlib import import_module
from typing import Any

__version__ = "0.1.0"
__all__ = [
    "Agent",
    "Category",
    "Domain",
    "Metric",
    "StsError",
    "Workspace",
    "build_report",
    "freeze",
    "label",
    "load_ratings",
    "load_report",
    "load_suite",
    "mine",
    "record",
    "run",
]
_OWN = {
    "Agent": "sts.agents.protocol",
    "Domain": "sts.domains.protocol",
    "StsError": "sts.errors",
    "Workspace": "sts.storage.workspace",
    "load_suite": "sts.api",
    "record": "sts.api",
    "run": "sts.api",
}
"""The modules of the core's names; the other packages declare theirs in the group `sts.api`."""


def __getattr__(name: str) -> Any:
    if name not in __all__:
        raise AttributeError(f"module 'sts' has no attribute {name!r}")
    if name in _OWN:
        value = getattr(import_module(_OWN[name]), name)
    else:
        value = import_module("sts.registry").load_entry_point("sts.api", "name", name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
