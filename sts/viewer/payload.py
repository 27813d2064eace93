"""JSON payload of an episode: everything that an annotator may see, and nothing else."""

import base64
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sts.continuations.types import Continuation
from sts.domains import SceneLayout
from sts.domains import load_domain as find_domain
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
    """Return the payload of an episode in its domain; errors as in `continuation_payload`."""
    domain = find_domain(episode.domain)
    picture = domain.scene_layout(episode.state)
    framed = picture.kind == "frames"
    return build_payload(
        drawing=domain.name if picture.kind == "drawn" else None,
        picture=picture,
        scene=load_sprites(workspace, episode) if framed else episode.scene,
        utterances=episode.utterances,
        takeover=takeover,
        evaluated=players,
        tokens=domain.tokens,
        instructions=instructions,
    )


def build_payload(
    *,
    drawing: str | None,
    picture: SceneLayout,
    scene: NDArray[np.uint16] | Sequence[Sheet],
    utterances: NDArray[Any],
    takeover: int,
    evaluated: Sequence[int],
    tokens: Sequence[str],
    instructions: Sequence[Instruction],
) -> dict[str, Any]:
    """Return the JSON payload of one episode; callers add the opaque `id` of its item.

    `drawing` is the domain whose module draws the scenes, None for rendered frames. `scene` is
    uint16[T + 1, K], or sheets of all frames. `takeover` is the number of the last recorded frame.
    The last of `instructions` is judged.
    """
    steps = len(utterances)
    return {
        "drawing": drawing,
        "height": picture.height,
        "width": picture.width,
        "names": list(picture.names),
        "glyphs": list(picture.glyphs),
        "judged": [picture.players[player] for player in evaluated],
        "details": dict(picture.details),
        "steps": steps,
        "takeover": takeover,
        "horizon": steps - takeover,
        **_encode_scenes(scene),
        **_encode_utterances(utterances),
        "tokens": list(tokens),
        "instructions": [{"text": i.text, "given_at": i.given_at} for i in instructions],
    }


def _encode_utterances(utterances: NDArray[Any]) -> dict[str, Any]:
    """Return tokens by number, and text utterances as [step, player, text]."""
    if utterances.dtype == np.int8:
        return {"says": encode_base64(utterances.astype(np.uint8).tobytes()), "texts": []}
    spoken = [[int(t), int(p), str(utterances[t, p])] for t, p in np.argwhere(utterances != "")]
    return {"says": encode_base64(bytes(utterances.size)), "texts": spoken}


def _encode_scenes(scene: NDArray[np.uint16] | Sequence[Sheet]) -> dict[str, Any]:
    if isinstance(scene, np.ndarray):
        return {"scene": encode_base64(scene.astype("<u2").tobytes())}
    return {"sprites": [encode_sprite(sheet) for sheet in scene]}


def encode_sprite(sprite: Sheet) -> dict[str, Any]:
    """Return a sheet of frames as JSON."""
    return {"webp": encode_base64(sprite.webp), "columns": sprite.columns, "count": sprite.count}


def encode_base64(raw: bytes) -> str:
    """Return bytes as base64 text."""
    return base64.b64encode(raw).decode("ascii")
