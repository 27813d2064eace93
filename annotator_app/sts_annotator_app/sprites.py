"""Pictures of continuations that only render pixels, made before somebody waits for them."""

from __future__ import annotations

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
    """Has the pictures of a suite's continuations made in a process that ends with this one."""
    context = multiprocessing.get_context("spawn")
    arguments = (str(workspace.root.resolve()), suite, os.getpid())
    context.Process(target=_render_all, args=arguments, daemon=True).start()


def _render_all(root: str, label: str, parent: int) -> None:
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is for the server, which then ends this
    os.nice(10)
    workspace = Workspace.open(root)
    for one in _iterate_pixel_episodes(workspace, label):
        if os.getppid() != parent:
            return
        with contextlib.suppress(StsError):  # whoever is to judge it will be told
            load_sprites(workspace, one)


def _iterate_pixel_episodes(workspace: Workspace, label: str) -> Iterable[Episode]:
    scenarios = suites.load(workspace, label).scenarios
    for part in stream(workspace, {s.hash for s in scenarios}):
        for one in part:
            if is_pixel_rendered(one.episode.domain, one.episode.state):
                yield one.episode
