"""Payloads of episodes of domains that are not installed."""

from collections.abc import Sequence
from types import SimpleNamespace
from typing import Any
from unittest import mock

import numpy as np
from numpy.typing import NDArray

from sts.domains import SceneLayout
from sts.episodes import Episode, Instruction
from sts.storage.workspace import Workspace
from sts.viewer import payload


def build_payload(
    domain: str,
    layout: SceneLayout,
    scene: NDArray[np.uint16],
    utterances: NDArray[np.int8],
    *,
    tokens: Sequence[str],
    takeover: int,
    player: int,
    text: str,
) -> dict[str, Any]:
    """Return the payload of an episode of a domain that draws its scenes with `layout`."""
    world = SimpleNamespace(name=domain, tokens=tokens, scene_layout=lambda state: layout)
    still = np.zeros(utterances.shape, np.int8)
    with mock.patch.object(payload, "load_domain", return_value=world):
        return payload.episode_payload(
            Workspace.open("nowhere"),
            Episode(domain, b"", still, utterances, still, scene),
            takeover=takeover,
            players=(player,),
            instructions=[Instruction(text, "a", 0, "setter")],
        )
