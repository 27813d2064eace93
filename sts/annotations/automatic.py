"""What the rules of categories have said of a continuation so far; nobody has judged it so."""

from __future__ import annotations

from collections.abc import Sequence

from sts.annotations.verdicts import Verdict
from sts.continuations import label_table, labels
from sts.continuations.index import Index
from sts.continuations.types import Continuation
from sts.storage.workspace import Workspace


def automatic(
    workspace: Workspace, continuations: Sequence[Continuation], index: Index
) -> dict[str, dict[Verdict, list[str]]]:
    """Return the labels of these continuations that `sts label` has written, judged by nobody.

    Each comes with the suites, NAME@VERSION, for which it was made. Only those parts are read that
    these continuations stand in.

    Raises:
      DamagedData: a table of labels, or a part of them, cannot be read.
    """
    space = workspace.store
    tables = [name for name in space.list(labels.FOLDER) if label_table.is_table(name)]
    sets = {label_table.suite_of(n): label_table.made_from(n, space.get(n)).set for n in tables}
    out: dict[str, dict[Verdict, list[str]]] = {}
    for one in continuations:
        for part in index.by_part(index.beginning(one.id)):
            for suite, set in sets.items():
                label = labels.find(space, labels.name_of(set, part), one.content_hash)
                if label is not None and label.verdict:
                    said = out.setdefault(one.id, {})
                    said.setdefault(Verdict(label.verdict, label.step), []).append(suite)
    return out
