"""Integrity checks of the response profiles of candidates."""

from sts.continuations import parts
from sts.storage.checks import CheckResult, Findings
from sts.storage.workspace import Workspace
from sts_scenarios.draft import stored_profiles


def check_profiles(workspace: Workspace) -> CheckResult:
    """Check the hash of every profile, and of the continuations stored with it."""
    store, findings, count = workspace.store, Findings(), 0
    for name in store.list("drafts"):
        if name.split("/")[3:4] != ["profiles"]:
            continue
        with findings.collect(name):
            if name.endswith(".json"):
                stored_profiles.decode_profile(name, store.get(name))
                count += 1
            elif name.endswith(".parquet"):
                parts.decode_part(name, store.get(name))
    return CheckResult({"profiles": count}, tuple(findings))
