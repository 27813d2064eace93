"""How likely an agent finds what was recorded: the log-probability of recorded actions.

While a context is replayed, an agent watches and its actions are forced to the recorded ones; its
own distribution then says how likely these were.

Source: Abramson et al. 2022, section 4.1.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np

from sts import agents as registry
from sts.continuations import continuation_store as store
from sts.errors import ArgumentError
from sts.storage.files import canonical_json
from sts.storage.workspace import Workspace
from sts.suites.suite import Suite


def log_prob(
    agents: Sequence[str], *, suite: Suite | None, workspace: Workspace, seed: int
) -> list[dict[str, Any]]:
    """Mean log-probability of a recorded action, over the scenarios that an agent has continued.

    A scenario's value is the mean over its continuations, context steps and roles; the standard
    error is that over scenarios. A scenario without context has none.

    Args:
      agents: whose continuations are read; of each, those of its code as it is now.
      suite: whose scenarios.
      workspace: where the continuations are.
      seed: of the continuations.

    Raises:
      ArgumentError: no suite is named, an agent has continued nothing of it, or gives no
        probabilities.
    """
    if suite is None:
        raise ArgumentError("log_prob: expected --suite NAME@VERSION, found none; name one")
    loaded = {name: registry.load(name) for name in agents}
    versions = {name: (one.name, registry.fingerprint(one)) for name, one in loaded.items()}
    # By version and scenario: index and mean of each continuation, NaN where the agent gives none.
    means: dict[tuple[str, str], dict[str, list[tuple[int, float]]]]
    means = {version: {} for version in versions.values()}
    for part in store.stream(workspace, [scenario.hash for scenario in suite.scenarios]):
        for one in part:
            own = one.identity
            version = own.agent, own.fingerprint
            if version in means and own.seed == seed and one.takeover:
                mean = one.log_probs[: one.takeover].mean(dtype=np.float64)
                means[version].setdefault(own.scenario, []).append((own.index, float(mean)))
    parameters = canonical_json({"suite": suite.label, "seed": seed}).decode()
    rows = []
    for given in agents:
        agent, by_scenario = loaded[given], sorted(means[versions[given]].items())
        values = np.array([np.mean([mean for _, mean in sorted(each)]) for _, each in by_scenario])
        if not len(values):
            raise ArgumentError(
                f"log_prob: expected continuations of {agent.name!r} with seed {seed}, found none; "
                f"run `sts run {suite.label} --agent {given}` first"
            )
        if not np.isfinite(values).all():
            raise ArgumentError(
                f"log_prob: {agent.name!r} returns actions without probabilities; leave it out"
            )
        error = float(values.std(ddof=1) / np.sqrt(len(values))) if len(values) > 1 else None
        rows.append(
            {
                "agent": agent.name,
                "value": float(values.mean()),
                "standard_error": error,
                "n": len(values),
                "parameters": parameters,
            }
        )
    return rows
