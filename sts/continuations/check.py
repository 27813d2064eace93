"""Whether continuations and their labels are what was made, and fit each other and the index."""

from __future__ import annotations

from sts.continuations import index as indices
from sts.continuations import label_table, labels, parts
from sts.errors import DamagedData
from sts.storage.checks import Checked, Findings
from sts.storage.store import Store
from sts.storage.workspace import Workspace
from sts.suites import frozen


def check_continuations(workspace: Workspace) -> Checked:
    """Hold every row of every part to its hash, the parts to each other and the index to them."""
    store, findings, count = workspace.store, Findings(), 0
    there = [name for name in store.list(parts.FOLDER) if parts.is_part(name)]
    index = indices.kept(store)
    unlike = [] if index is None or index.sizes or not there else ["all"]
    for name in there:
        with findings.of(name):
            raw = store.get(name)
            count += len(parts.unpacked(name, raw))
            if index is not None and index.sizes.get(name) == len(raw):
                unlike += [] if indices.fits(index, name, raw) else [name]
    if unlike:
        findings.append(
            f"{indices.NAME}: does not say what is in {unlike[0]}; remove it, and it is made again"
        )
    with findings.of(parts.FOLDER):
        indices.from_parts(store)
    return Checked({"parts": len(there), "continuations": count}, tuple(findings))


def check_labels(workspace: Workspace) -> Checked:
    """Read every part of labels, holds it to the part it is about, and each table to its set."""
    store, findings, count = workspace.store, Findings(), 0
    names = [name for name in store.list(labels.FOLDER) if name.endswith(".parquet")]
    tables = [name for name in names if label_table.is_table(name)]
    for name in [one for one in names if one not in tables]:
        with findings.of(name):
            count += _held(store, name)
    with findings.of(parts.FOLDER):
        index = indices.from_parts(store)
        for name in tables:
            with findings.of(name):
                suite = frozen.load(workspace, label_table.suite_of(name))
                label_table.check(store, name, index, suite)
    sizes = {"parts": len(names) - len(tables), "tables": len(tables), "labels": count}
    return Checked(sizes, tuple(findings))


def _held(store: Store, name: str) -> int:
    """Return how many labels a part has, all of them of continuations in the part of its name."""
    part = f"{parts.FOLDER}/{name.split('/', 2)[2]}"
    try:
        about = parts.told(part, store.get(part))
    except FileNotFoundError:
        raise DamagedData(f"{name}: {part}, which it is about, is not there") from None
    own = labels.read_part(store, name)["content_hash"].to_pylist()
    if not {*about.values()} >= {one.hex() for one in own}:
        raise DamagedData(f"{name}: expected labels of what is in {part}, found others")
    return len(own)
