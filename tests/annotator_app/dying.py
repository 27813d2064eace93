"""The server's storage of trajectories, which ends the server where a test wants it.

It takes effect in a process that imports this module.
"""

import os
import signal
from collections.abc import Sequence
from pathlib import Path

from sts.storage.workspace import Workspace
from sts.trajectories import trajectory_store as store
from sts.trajectories.trajectory import Trajectory

DIES = "STS_TEST_DIES_AFTER_SAVE"
"""Variable of the environment: if it is set, the process is killed once a file is in its place."""
_save = store.save


def save_and_die(workspace: Workspace, trajectories: Sequence[Trajectory]) -> Path:
    path = _save(workspace, trajectories)
    if DIES in os.environ:
        os.kill(os.getpid(), signal.SIGKILL)
    return path


store.save = save_and_die
