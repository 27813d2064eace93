"""Geometry of a small picture of an episode, drawn as lines and marks."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Literal, NamedTuple

Tone = Literal["own", "gain", "loss", "other"]
"""What a shape stands for: an evaluated player, an object that gives or takes reward, or others."""
Point = tuple[float, float]


class Area(NamedTuple):
    """A shaded rectangle, by its upper left corner."""

    tone: Tone
    x: float
    y: float
    width: float
    height: float


class Line(NamedTuple):
    """A line through two points or more."""

    tone: Tone
    points: tuple[Point, ...]


class Mark(NamedTuple):
    """A symbol around a point: a ring for a start, else where something is at the end."""

    tone: Tone
    shape: Literal["ring", "dot", "diamond"]
    x: float
    y: float


@dataclass(frozen=True)
class Sketch:
    """Content of a small picture of an episode, in any unit from the upper left corner.

    Attributes:
      width: of the picture.
      height: of the picture.
      columns: of the grid to draw; 0 for none.
      rows: of the grid to draw.
      areas: below all lines.
      lines: in the order of drawing.
      marks: above the lines.
      names: what the tones are called here, such as "Goal" for "gain".
      image: address of a picture below everything else; "" for none.
    """

    width: float
    height: float
    columns: int = 0
    rows: int = 0
    areas: tuple[Area, ...] = ()
    lines: tuple[Line, ...] = ()
    marks: tuple[Mark, ...] = ()
    names: Mapping[Tone, str] = field(default_factory=dict, hash=False)
    image: str = ""

    def scale(self, side: float) -> "Sketch":
        """Return the same with the longer side of the given length, rounded to one decimal."""
        by = side / max(self.width, self.height)

        def length(value: float) -> float:
            return round(float(value) * by, 1)

        return replace(
            self,
            width=length(self.width),
            height=length(self.height),
            areas=tuple(Area(tone, *map(length, box)) for tone, *box in self.areas),
            lines=tuple(
                Line(line.tone, tuple((length(x), length(y)) for x, y in line.points))
                for line in self.lines
            ),
            marks=tuple(
                Mark(mark.tone, mark.shape, length(mark.x), length(mark.y)) for mark in self.marks
            ),
        )
