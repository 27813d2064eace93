"""Sketches of episodes: paths on the torus, and where Good and Evil give and take reward."""

from collections.abc import Iterator, Sequence

import numpy as np
from numpy.typing import NDArray

from sts.plugin import Area, Line, Mark, SceneLayout, Sketch, Tone
from sts_lambda_star.torus import shortest_displacement

_REACH = 1
"""Cells around Good and Evil in which they give and take reward."""
_Point = tuple[float, float]


def draw_sketch(
    picture: SceneLayout, scenes: NDArray[np.integer], players: Sequence[int]
) -> Sketch:
    """Return the sketch of F successive scenes, int[F, K], in cells.

    The paths of the evaluated `players`, of Good and of Evil are drawn; of the others only where
    they are at the end.
    """
    tones: dict[int, Tone] = {
        index: "gain" if sign > 0 else "loss" for index, sign in picture.details["auras"]
    }
    own = [picture.players[player] for player in players]
    tones |= dict.fromkeys(own, "own")
    places = np.stack(np.divmod(scenes.astype(np.int64), picture.width), axis=-1)
    ends = {k: (float(x) + 0.5, float(y) + 0.5) for k, (y, x) in enumerate(places[-1])}
    others = [k for k in ends if k not in tones]
    marks = [Mark("other", "dot", *ends[k]) for k in others]
    for k, tone in tones.items():
        if tone == "own":
            y, x = places[0, k]
            marks.append(Mark(tone, "ring", float(x) + 0.5, float(y) + 0.5))
        marks.append(Mark(tone, "diamond" if tone == "loss" else "dot", *ends[k]))
    names: dict[Tone, str] = {tones[k]: picture.names[k] for k, _ in picture.details["auras"]}
    return Sketch(
        width=picture.width,
        height=picture.height,
        columns=picture.width,
        rows=picture.height,
        areas=tuple(
            area
            for k, _ in picture.details["auras"]
            for area in _surroundings(tones[k], ends[k], picture)
        ),
        lines=tuple(
            Line(tone, path)
            for k, tone in tones.items()
            for path in _trace_path(places[:, k], picture)
        ),
        marks=tuple(marks),
        names=names | ({"other": "other players"} if others else {}),
    )


def _surroundings(tone: Tone, place: _Point, picture: SceneLayout) -> Iterator[Area]:
    """Yield the rectangles around a place, those beyond an edge on the other side."""
    for x, width in _span(place[0], picture.width):
        for y, height in _span(place[1], picture.height):
            yield Area(tone, x, y, width, height)


def _span(middle: float, size: int) -> Iterator[tuple[float, float]]:
    """Yield the start and length of the parts of a stretch on a ring."""
    low, high = middle - 0.5 - _REACH, middle + 0.5 + _REACH
    if high - low >= size:
        yield 0.0, float(size)
        return
    for shift in (-size, 0, size):
        start, stop = max(0.0, low + shift), min(float(size), high + shift)
        if stop > start:
            yield start, stop - start


def _trace_path(places: NDArray[np.integer], picture: SceneLayout) -> Iterator[tuple[_Point, ...]]:
    """Yield the parts of a path through int[F, 2], split at the edges of the torus."""
    size = np.array([picture.height, picture.width])
    steps = shortest_displacement(places[:-1], places[1:], size)
    path = [_middle(places[0])]
    for start, end, step in zip(places[:-1], places[1:], steps, strict=True):
        if (start + step != end).any():  # half of the step on either side
            yield (*path, _middle(start + step / 2))
            path = [_middle(end - step / 2)]
        path.append(_middle(end))
    yield tuple(path)


def _middle(place: NDArray[np.number]) -> _Point:
    """Return the x and y of the middle of a cell, by its row and column."""
    return float(place[1]) + 0.5, float(place[0]) + 0.5
