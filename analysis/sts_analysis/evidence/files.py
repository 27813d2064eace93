"""Files of the clips behind a report: a page, the Viewer as a script, and a file per scenario.

Data are scripts that hand over JSON, because browsers do not fetch files from a disk. A scenario's
file is loaded when it is opened. Only one part of the continuations is in memory at a time.
"""

import contextlib
import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from html import escape
from pathlib import Path
from typing import Any

from sts.continuations.continuation_store import load_by_ids
from sts.domains import load_domain
from sts.domains.drawing import read_drawing
from sts.errors import StsError
from sts.storage.workspace import Workspace
from sts.suites.suite import Scenario
from sts.viewer.criteria import find_criterion
from sts.viewer.payload import continuation_payload
from sts.viewer.scripts import (
    CLIP,
    CLIP_STYLES,
    FOLDER,
    embed_drawings,
    join_classic_script,
    join_styles,
)
from sts_analysis.evidence.dossiers import Dossier

PAGE, PLAYER, INDEX = "index.html", "player.js", "index.js"
_SOURCES = Path(__file__).parent
MODULES = (*CLIP, "evidence")
"""The modules of the player, in the order of their imports."""
IN_APP = "../../clip?c="
"""The address at which the app shows a clip, from the page that it serves itself."""


def write_clips(
    folder: Path,
    workspace: Workspace,
    scenarios: Sequence[Scenario],
    dossiers: Sequence[Dossier],
    chosen: Mapping[str, str],
    *,
    title: str,
    agents: Sequence[str],
    items: Mapping[str, str] | None = None,
    progress: Callable[[int, int], None] = lambda done, total: None,
) -> str:
    """Write the page, and what it shows, into a folder; return how many clips it shows, in words.

    Args:
      folder: empty.
      workspace: where continuations are stored.
      scenarios: of the suite.
      dossiers: what is behind each scenario's numbers.
      chosen: the clips to take along, each with a continuation that shows it.
      title: of what the report is about.
      agents: their names, in the order of the report.
      items: how the application calls each clip, by hash, to link to it; None if it is not linked.
      progress: called with the number of clips that are written, and of all.

    Raises:
      DamagedData: a part of the continuations is damaged.
      OSError: the disk is full or read-only.
    """
    names = {dossier.scenario: f"{n:05}" for n, dossier in enumerate(dossiers)}
    by_id = {scenario.id: scenario for scenario in scenarios}
    places: dict[str, tuple[str, int]] = {}
    (folder / "scenarios").mkdir()
    for dossier in dossiers:
        data = _describe(dossier, by_id.get(dossier.scenario), items or {})
        _hand_over(folder, names[dossier.scenario], "listing", data)
        for n, clip in enumerate(dossier.clips.values()):
            if clip.hash in chosen:
                places[clip.continuation] = (dossier.scenario, n)
    bases: dict[str, dict[str, Any]] = {}
    done, refused, why = 0, 0, ""
    for part in load_by_ids(workspace, places):
        for one in part:
            scenario, n = places[one.id]
            known = by_id.get(scenario)
            try:
                episode = continuation_payload(workspace, one)
                episode["criterion"] = find_criterion(known) if known else None
            except StsError as error:
                refused, why = refused + 1, why or str(error)
            else:  # what it has in common with the scenario's first clip is written once
                base = bases.setdefault(scenario, episode)
                own = {k: v for k, v in episode.items() if base is episode or base[k] != v}
                _hand_over(folder, names[scenario], "clip", n, own)
                done += 1
            progress(done + refused, len(places))
    drawings = _drawings({one.recording.domain for one in scenarios}) if chosen else {}
    player = embed_drawings(join_classic_script(MODULES, _SOURCES), drawings)
    (folder / PLAYER).write_text(player, "utf-8")
    index = [title, list(agents), list(names.items()), None if items is None else IN_APP]
    (folder / INDEX).write_text(f"stsEvidence.index({_json(index)});\n", "utf-8")
    (folder / PAGE).write_text(_page(title), "utf-8")
    total = sum(len(dossier.clips) for dossier in dossiers)
    if items is not None:
        return f"The {total} clips behind these numbers open in the app."
    size = sum(file.stat().st_size for file in folder.rglob("*") if file.is_file()) / 1e6
    text = f"{done} of {total} clips can be watched, in the folder evidence ({size:.1f} MB)"
    if done + refused < total:
        text += "; the others are counted there and not shown"
    if refused:
        text += f"; {refused} cannot be shown here, the first as {why}"
    return f"{text}."


def _describe(
    dossier: Dossier, scenario: Scenario | None, items: Mapping[str, str]
) -> dict[str, Any]:
    """Return what the page shows of a scenario without its clips."""
    at = {hash: n for n, hash in enumerate(dossier.clips)}
    return {
        "scenario": dossier.scenario,
        "category": scenario.category if scenario else "",
        "asked": scenario.instruction.text if scenario else "",
        "clips": [
            {"said": [list(mark) for mark in clip.marks], "item": items.get(clip.hash)}
            for clip in dossier.clips.values()
        ],
        "agents": [
            [agent, [[at[share.clip], share.continuations, share.value] for share in shares]]
            for agent, shares in dossier.agents.items()
        ],
    }


def _drawings(domains: Iterable[str]) -> dict[str, str]:
    """Return the drawing scripts of domains; the Viewer reports those that are missing."""
    found = {}
    for name in sorted(domains):
        with contextlib.suppress(StsError):
            found[name] = read_drawing(load_domain(name))
    return {name: text for name, text in found.items() if text}


def _hand_over(folder: Path, name: str, what: str, *values: object) -> None:
    """Add a line to a scenario's file, which hands values over when it is loaded."""
    words = ", ".join(_json(value) for value in (name, *values))
    with (folder / "scenarios" / f"{name}.js").open("a", encoding="utf-8") as file:
        file.write(f"stsEvidence.{what}({words});\n")


def _json(value: object) -> str:
    """Return JSON that cannot end the script that contains it."""
    text = json.dumps(value, ensure_ascii=False, separators=(",", ":"), allow_nan=False)
    return text.replace("<", "\\u003c").replace("\u2028", "\\u2028").replace("\u2029", "\\u2029")


def _page(title: str) -> str:
    page = (_SOURCES / "evidence.html").read_text("utf-8")
    parts = {
        "title": escape(title),
        "style": join_styles(("evidence",), _SOURCES),
        "clip_style": join_styles(CLIP_STYLES),
        "clip": (FOLDER / "clip.html").read_text("utf-8"),
    }
    for name, text in parts.items():
        page = page.replace(f"{{{{ {name} }}}}", text)
    return page
