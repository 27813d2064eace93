"""Integrity checks of continuations, their labels, the label tables and the index."""

from sts.continuations import index as indices
from sts.continuations import label_table, labels, parts, requests
from sts.errors import DamagedData
from sts.storage.checks import CheckResult, Findings
from sts.storage.store import KeyValueStore
from sts.storage.workspace import Workspace
from sts.suites import frozen


def check_continuations(workspace: Workspace) -> CheckResult:
    """Check the hash of every row of every part, duplicates across parts, and the index."""
    store, findings, count = workspace.store, Findings(), 0
    names = list(parts.list_parts(store))
    index = indices.read_saved_index(store)
    mismatched = [] if index is None or index.sizes or not names else ["all"]
    for name in names:
        with findings.collect(name):
            raw = store.get(name)
            count += len(parts.decode_part(name, raw))
            if index is not None and index.sizes.get(name) == len(raw):
                mismatched += [] if indices.covers_part(index, name, raw) else [name]
    if mismatched:
        findings.append(
            f"{indices.NAME}: it does not match {mismatched[0]}; remove it, and sts rebuilds it"
        )
    with findings.collect(parts.FOLDER):
        indices.from_parts(store)
    for name in store.list(requests.FOLDER):
        with findings.collect(name):
            requests.read_request(store, name)
    return CheckResult({"parts": len(names), "continuations": count}, tuple(findings))


def check_labels(workspace: Workspace) -> CheckResult:
    """Check each part of labels against its continuations, and each table against its labels."""
    store, findings, count = workspace.store, Findings(), 0
    names = [name for name in store.list(labels.FOLDER) if name.endswith(".parquet")]
    tables = [name for name in names if label_table.is_table(name)]
    for name in [n for n in names if n not in tables]:
        with findings.collect(name):
            count += _check_label_part(store, name)
    with findings.collect(parts.FOLDER):
        index = indices.from_parts(store)
        for name in tables:
            with findings.collect(name):
                suite = frozen.load(workspace, label_table.parse_suite(name))
                label_table.check_table(store, name, index, suite)
    sizes = {"parts": len(names) - len(tables), "tables": len(tables), "labels": count}
    return CheckResult(sizes, tuple(findings))


def _check_label_part(store: KeyValueStore, name: str) -> int:
    """Check that a part's labels are of continuations in the part of that name; return how many."""
    part = f"{parts.FOLDER}/{name.split('/', 2)[2]}"
    try:
        hashes = parts.read_hashes(part, store.get(part))
    except FileNotFoundError:
        raise DamagedData(f"{name}: the part it labels, {part}, is missing") from None
    labelled = labels.read_part(store, name)["content_hash"].to_pylist()
    if not {*hashes.values()} >= {digest.hex() for digest in labelled}:
        raise DamagedData(f"{name}: expected labels of continuations in {part}, found others")
    return len(labelled)
