"""JSON payload of an episode: everything that an annotator may see, and nothing else."""

import base64
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sts.continuations.continuation import Continuation
from sts.domains import load_domain
from sts.engine.rendering import Sheet
from sts.episodes import Episode, Instruction
from sts.storage.workspace import Workspace
from sts.viewer.sprites import load_sprites


def continuation_payload(workspace: Workspace, continuation: Continuation) -> dict[str, Any]:
    """Return the payload of a recorded continuation, without its `id`.

    Raises:
      StsError: its frames cannot be rendered.
    """
    return episode_payload(
        workspace,
        continuation.episode,
        takeover=continuation.takeover,
        players=continuation.players,
        instructions=continuation.instructions,
    )


def episode_payload(
    workspace: Workspace,
    episode: Episode,
    *,
    takeover: int,
    players: Sequence[int],
    instructions: Sequence[Instruction],
) -> dict[str, Any]:
    """Return the payload of an episode, without its `id`; errors as in `continuation_payload`.

    `takeover` is the number of the last recorded frame, and the last of `instructions` is judged.
    """
    domain = load_domain(episode.domain)
    layout = domain.scene_layout(episode.state)
    scenes: dict[str, Any]
    if layout.kind == "drawn":  # by the domain's module
        scenes = {"scene": _encode_base64(episode.scene.astype("<u2").tobytes())}
    else:
        scenes = {"sprites": [*map(encode_sprite, load_sprites(workspace, episode))]}
    return {
        "drawing": domain.name if layout.kind == "drawn" else None,
        "height": layout.height,
        "width": layout.width,
        "names": list(layout.names),
        "glyphs": list(layout.glyphs),
        "judged": [layout.players[player] for player in players],
        "details": dict(layout.details),
        "steps": episode.steps,
        "takeover": takeover,
        "horizon": episode.steps - takeover,
        **scenes,
        **_encode_utterances(episode.utterances),
        "tokens": list(domain.tokens),
        "instructions": [{"text": i.text, "given_at": i.given_at} for i in instructions],
    }


def _encode_utterances(utterances: NDArray[Any]) -> dict[str, Any]:
    """Return tokens by number, and text utterances as [step, player, text]."""
    if utterances.dtype == np.int8:
        return {"says": _encode_base64(utterances.astype(np.uint8).tobytes()), "texts": []}
    spoken = [[int(t), int(p), str(utterances[t, p])] for t, p in np.argwhere(utterances != "")]
    return {"says": _encode_base64(bytes(utterances.size)), "texts": spoken}


def encode_sprite(sprite: Sheet) -> dict[str, Any]:
    """Return a sheet of frames as JSON."""
    return {"webp": _encode_base64(sprite.webp), "columns": sprite.columns, "count": sprite.count}


def _encode_base64(raw: bytes) -> str:
    return base64.b64encode(raw).decode("ascii")
