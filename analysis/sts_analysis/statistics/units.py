"""Units: the scenarios that were drawn together."""

from collections.abc import Iterable, Sequence

import numpy as np
from scipy.sparse import coo_array
from scipy.sparse.csgraph import connected_components


def join_units(scenarios: Sequence[str], groups: Iterable[Iterable[str]]) -> np.ndarray:
    """Join scenarios into units: the connected components of groups that share a scenario.

    Args:
      scenarios: S names.
      groups: names of scenarios that belong together, such as those of one trajectory, one world,
        one pair or one dialogue; names that are not among `scenarios` are ignored.

    Returns:
      int64[S], from 0, in the order of each unit's first scenario.
    """
    place = {name: i for i, name in enumerate(scenarios)}
    # Joining the first with each other connects a group as all its pairs would.
    edges = [
        (at[0], other)
        for group in groups
        if (at := [place[name] for name in group if name in place])
        for other in at[1:]
    ]
    rows, columns = np.array(edges, dtype=np.int64).reshape(-1, 2).T
    size = len(scenarios)
    graph = coo_array((np.ones(len(rows)), (rows, columns)), shape=(size, size))
    component = connected_components(graph, directed=False)[1]
    _, first, unit = np.unique(component, return_index=True, return_inverse=True)
    return np.argsort(np.argsort(first))[unit].astype(np.int64)
