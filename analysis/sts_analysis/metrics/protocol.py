"""What a metric is: a function that measures agents, found in the entry-point group `sts.metrics`.

A world or anybody's package adds one by declaring it, and needs nothing of ours for that.
"""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Protocol

from sts.storage.workspace import Workspace
from sts.suites.suite import Suite
from sts_analysis.measures.measurement import Measurement

GROUP = "sts.metrics"


class Metric(Protocol):
    """Measures agents; the same arguments and the same workspace give the same scores.

    If its measurements can have a figure, its module says so: `HAS_FIGURE = True`. The figure of
    another one is refused before it measures.

    Examples:
      >>> import sts
      >>> def measure_name_length(agents, *, suite, workspace, seed):
      ...     return [{"agent": name, "value": len(name)} for name in agents]
      >>> metric: sts.Metric = measure_name_length
      >>> metric(["random"], suite=None, workspace=sts.Workspace.open(), seed=0)
      [{'agent': 'random', 'value': 6}]
    """

    def __call__(
        self,
        agents: Sequence[str],
        *,
        suite: Suite | None,
        workspace: Workspace,
        seed: int,
        **settings: Any,
    ) -> Iterable[Mapping[str, Any]] | Measurement:
        """Return rows of the scores table, one an agent, or a `Measurement` that has them.

        A row needs `agent` and `value`. `metric` is the metric's name where it says none; `sees`
        and `fingerprint` are those of the installed agent where it says none.

        Args:
          agents: names, or `module:Class`.
          suite: what the user named; None where nothing was.
          workspace: what has been recorded, continued and measured so far.
          seed: of every random draw.
          **settings: by name, those that it takes; each is a field of `commands.measure.Settings`.

        Raises:
          StsError: it cannot be measured; says why and what to do.
        """
        ...
