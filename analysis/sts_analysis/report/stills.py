"""Small pictures of clips: sketches of recorded episodes, and a table's pictures and videos."""

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import NamedTuple

from markupsafe import Markup

from sts.domains.sketch import Mark, Sketch
from sts.errors import StsError
from sts_analysis.inputs.media import IMAGES, VIDEOS
from sts_analysis.report.core import Study, html, join
from sts_analysis.report.picks import find_media

FOLDER = "media"
"""Folder of a report that holds copies of local pictures and videos."""
_REMOTE = ("https://", "http://")


class Media(NamedTuple):
    """Pictures and videos of clips, by the numbers of their continuations."""

    targets: dict[int, str]  # where local ones are copied to in the report's folder
    addresses: dict[int, str]  # of those elsewhere, which are only linked
    sources: dict[str, Path]  # the files to copy, by their targets
    missing: int  # how many could not be read


def plan_media(study: Study, clips: Iterable[int]) -> Media:
    """Return the pictures and videos of clips; a file is copied once, under a new name."""
    given, folder = find_media(study), study.gathered.media_folder
    planned = Media({}, {}, {}, 0)
    for clip in dict.fromkeys(clips):
        text = given.get(clip, "")
        if text.lower().startswith(_REMOTE):
            planned.addresses[clip] = text
        elif text and folder is not None:
            path = _find_file(folder, text)
            if path is None:
                planned = planned._replace(missing=planned.missing + 1)
                continue
            names = {source: name for name, source in planned.sources.items()}
            new = f"{FOLDER}/{len(names) + 1:02}{path.suffix.lower()}"
            target = planned.targets[clip] = names.get(path, new)
            planned.sources[target] = path
    return planned


def _find_file(folder: Path, name: str) -> Path | None:
    """Return a picture or video within a folder; None if it is elsewhere, or another file."""
    try:
        path = (folder / name).resolve()
        if not path.is_relative_to(folder.resolve()) or not path.is_file():
            return None
    except (OSError, ValueError):  # a name that no file can have
        return None
    return path if path.suffix.lower() in (*IMAGES, *VIDEOS) else None


def draw_sketches(study: Study, clips: Iterable[int]) -> dict[int, Sketch]:
    """Return sketches of recorded continuations, by their numbers; of a table there are none."""
    ids, load = study.gathered.ids, study.gathered.load
    numbers = {} if ids is None else {str(ids[clip]): clip for clip in clips}
    if load is None or not numbers:
        return {}
    from sts.engine.sketches import sketch_episode  # worlds come with it

    last = _find_last_steps(study, [*numbers.values()])
    sketches: dict[int, Sketch] = {}
    for one in load(numbers):
        number, start = numbers[one.id], one.takeover
        stop = start + last.get(number, one.horizon)
        try:
            sketch = sketch_episode(one.episode, one.players, start, stop)
        except StsError:  # its world is not installed, or replays differently
            continue
        if sketch is not None:
            sketches[number] = sketch
    return sketches


def _find_last_steps(study: Study, clips: Sequence[int]) -> dict[int, int]:
    """Return the step of the outcome of clips that have one, the median of several."""
    rows = study.values
    rows = rows[(rows["continuation"].isin(clips) & (rows["source"] == study.source)).to_numpy()]
    steps = rows.groupby("continuation")["step"].median().dropna().round()
    return dict(zip(steps.index.tolist(), map(int, steps), strict=True))


def render_sketch(sketch: Sketch, label: str) -> Markup:
    """Draw a sketch as SVG."""
    width, height = f"{sketch.width:g}", f"{sketch.height:g}"
    cell = min(sketch.width / (sketch.columns or 20), sketch.height / (sketch.rows or 20))
    size = max(2.4, min(4.0, 0.45 * cell))
    columns = [sketch.width * k / sketch.columns for k in range(1, sketch.columns)]
    rows = [sketch.height * k / sketch.rows for k in range(1, sketch.rows)]
    lattice = [f"M{x:.1f} 0V{height}" for x in columns] + [f"M0 {y:.1f}H{width}" for y in rows]
    if lattice:
        lattice.append(f"M0 0H{width}V{height}H0z")
    parts = [
        html('<image href="{}" width={} height={} />', sketch.image, width, height)
        if sketch.image
        else Markup(""),
        *(
            html('<rect class="zone {}" x={:g} y={:g} width={:g} height={:g} />', *area)
            for area in sketch.areas
        ),
        html('<path class=lattice d="{}"/>', "".join(lattice)) if lattice else Markup(""),
        *(
            html('<path class={} d="M{}"/>', tone, "L".join(f"{x:g} {y:g}" for x, y in points))
            for tone, points in sketch.lines
        ),
        *(_render_mark(mark, 2.2 if mark.tone == "other" else size) for mark in sketch.marks),
    ]
    box = f"0 0 {width} {height}"
    template = '<svg class=board viewBox="{}" role=img aria-label="{}">{}</svg>'
    return html(template, box, label, join(parts))


def _render_mark(mark: Mark, size: float) -> Markup:
    x, y = mark.x, mark.y
    if mark.shape == "diamond":
        side = size + 0.6
        path = f"M{x:g} {y - side:g}l{side:g} {side:g}l-{side:g} {side:g}l-{side:g} -{side:g}z"
        return html('<path class="{} full" d="{}"/>', mark.tone, path)
    kind = "ring" if mark.shape == "ring" else "full"
    return html('<circle class="{} {}" cx={:g} cy={:g} r={:g} />', mark.tone, kind, x, y, size)
