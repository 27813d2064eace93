"""Background rendering of continuations of pixel environments."""

import contextlib
import multiprocessing
import os
import signal
from collections.abc import Iterable

from sts.continuations.store import stream
from sts.episodes import Episode
from sts.errors import StsError
from sts.storage.workspace import Workspace
from sts.suites import store as suites
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
    for episode in _iterate_pixel_episodes(workspace, label):
        if os.getppid() != parent:
            return
        with contextlib.suppress(StsError):  # the page reports the error
            load_sprites(workspace, episode)


def _iterate_pixel_episodes(workspace: Workspace, label: str) -> Iterable[Episode]:
    scenarios = suites.load(workspace, label).scenarios
    for part in stream(workspace, {s.hash for s in scenarios}):
        for continuation in part:
            if is_pixel_rendered(continuation.episode.domain, continuation.episode.state):
                yield continuation.episode
