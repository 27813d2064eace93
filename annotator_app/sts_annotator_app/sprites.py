"""Background rendering of continuations of pixel environments."""

import contextlib
import multiprocessing
import os
import signal
from itertools import chain

from sts.continuations.continuation_store import stream
from sts.errors import StsError
from sts.storage.workspace import Workspace
from sts.suites import suite_store as suites
from sts.viewer.sprites import is_pixel_rendered, load_sprites


def start_rendering(workspace: Workspace, suite: str) -> None:
    """Render a suite's continuations in a process that ends with this one."""
    context = multiprocessing.get_context("spawn")
    arguments = (str(workspace.root.resolve()), suite, os.getpid())
    context.Process(target=_render_all, args=arguments, daemon=True).start()


def _render_all(root: str, label: str, parent: int) -> None:
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the server handles Ctrl-C and then ends this
    os.nice(10)
    workspace = Workspace.open(root)
    hashes = {scenario.hash for scenario in suites.load(workspace, label).scenarios}
    for continuation in chain.from_iterable(stream(workspace, hashes)):
        if os.getppid() != parent:
            return
        episode = continuation.episode
        if is_pixel_rendered(episode.domain, episode.state):
            with contextlib.suppress(StsError):  # the page reports the error
                load_sprites(workspace, episode)
