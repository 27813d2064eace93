"""Whether the profiles of candidates are what was made."""

from __future__ import annotations

from sts.continuations import parts
from sts.storage.checks import Checked, Findings
from sts.storage.workspace import Workspace
from sts_scenarios import profiles


def check_profiles(workspace: Workspace) -> Checked:
    """Hold every profile, and each continuation that is kept beside one, to its hash."""
    store, findings, count = workspace.store, Findings(), 0
    for name in store.list("drafts"):
        if name.split("/")[3:4] != ["profiles"]:
            continue
        with findings.of(name):
            if name.endswith(".json"):
                profiles.unpacked(name, store.get(name))
                count += 1
            elif name.endswith(".parquet"):
                parts.unpacked(name, store.get(name))
    return Checked({"profiles": count}, tuple(findings))
