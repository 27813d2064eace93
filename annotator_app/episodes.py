"""What the player is sent of a continuation: everything a judge may see, and nothing else."""

from __future__ import annotations

import base64
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sts.continuations.types import Continuation
from sts.domains import Picture
from sts.domains import domain as find_domain


def shown(one: Continuation) -> dict[str, Any]:
    """A recorded continuation for the player, but for its `id`."""
    domain = find_domain(one.episode.domain)
    return payload(
        picture=domain.picture(one.episode.state),
        scene=one.episode.scene,
        says=one.episode.says,
        takeover=one.takeover,
        evaluated=one.roles,
        tokens=domain.tokens,
        instruction=one.instruction.text,
        given_at=one.instruction.given_at,
    )


def payload(
    *,
    picture: Picture,
    scene: NDArray[np.uint16],
    says: NDArray[np.int8],
    takeover: int,
    evaluated: Sequence[int],
    tokens: Sequence[str],
    instruction: str,
    given_at: int,
) -> dict[str, Any]:
    """One episode as JSON for the player, who adds the opaque `id` of its item.

    Args:
      picture: how its scenes are drawn.
      scene: uint16[T+1, K], the cell of each object before each step and after the last.
      says: int8[T, P], the token said by each participant during each step; 0 is silence.
      takeover: context steps; the frame of that number is the last recorded one.
      evaluated: the participants that are judged.
      tokens: what can be said, by index.
      instruction: its text.
      given_at: the step, counted from the start of the context, before which nobody knew it.
    """
    steps = len(says)
    return {
        "scene_kind": picture.kind,
        "height": picture.height,
        "width": picture.width,
        "names": list(picture.names),
        "glyphs": list(picture.glyphs),
        "judged": [picture.participants[one] for one in evaluated],
        "auras": [{"object": k, "sign": sign} for k, sign in picture.auras],
        "steps": steps,
        "takeover": takeover,
        "horizon": steps - takeover,
        "scene": base64.b64encode(scene.astype("<u2").tobytes()).decode("ascii"),
        "says": base64.b64encode(says.astype(np.uint8).tobytes()).decode("ascii"),
        "tokens": list(tokens),
        "instruction": {"text": instruction, "given_at": given_at},
    }
