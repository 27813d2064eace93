"""Writes the evidence of a report: a page, the Viewer as one script, a file for each scenario.

What the page shows lies beside it as scripts that hand over JSON, as browsers refuse to fetch from
a disk. A scenario's file is loaded when somebody opens it. Nothing is held but the clip in hand.
"""

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from html import escape
from pathlib import Path
from typing import Any, NamedTuple

from sts.continuations.store import load_by_ids
from sts.continuations.types import Continuation
from sts.domains import load_domain
from sts.domains.drawing import read_drawing
from sts.errors import StsError
from sts.storage.workspace import Workspace
from sts.suites.types import Scenario
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
from sts_analysis.report.page import SCRIPT_FOLDER

PAGE, PLAYER, INDEX = "index.html", "player.js", "index.js"
OWN = Path(__file__).parent
MODULES = (*CLIP, "parts", "evidence")
"""The modules of the player, in the order of their imports."""
IN_APP = "../../clip?c="
"""The address at which the app shows a clip, from the page that it serves itself."""
Progress = Callable[[int, int], None]


class Made(NamedTuple):
    """What was written.

    Attributes:
      clips: how many can be watched.
      of: how many there are.
      refused: how many could not be shown, and why the first could not.
      size: bytes of all files.
    """

    clips: int
    of: int
    refused: tuple[int, str]
    size: int


def make(
    folder: Path,
    workspace: Workspace,
    scenarios: Sequence[Scenario],
    every: Sequence[Dossier],
    chosen: Mapping[str, str],
    *,
    title: str,
    agents: Sequence[str],
    items: Mapping[str, str] | None = None,
    progress: Progress = lambda done, total: None,
) -> Made:
    """Writes the evidence into a folder.

    Args:
      folder: empty.
      workspace: where continuations are kept.
      scenarios: of the suite.
      every: what there is behind each scenario's numbers.
      chosen: the clips to take along, each with a continuation that shows it.
      title: of what the report is about.
      agents: their names, in the order of the report.
      items: as what the app shows each clip, by hash, in the place of what is taken along.
      progress: told how many clips are written, of how many.

    Raises:
      DamagedData: a part of the continuations is damaged.
      OSError: the disk is full, or read-only.
    """
    names = {dossier.scenario: f"{n:05}" for n, dossier in enumerate(every)}
    by_id = {scenario.id: scenario for scenario in scenarios}
    (folder / "scenarios").mkdir()
    for dossier in every:
        data = _listing(dossier, by_id.get(dossier.scenario), items or {})
        _hand_over(folder, names[dossier.scenario], "listing", data)
    count, refused = _clips(folder, workspace, every, chosen, by_id, names, progress)
    drawings = _drawings({one.recording.domain for one in scenarios}) if chosen else {}
    player = embed_drawings(join_classic_script(MODULES, OWN, SCRIPT_FOLDER), drawings)
    (folder / PLAYER).write_text(player, "utf-8")
    index = [title, list(agents), list(names.items()), None if items is None else IN_APP]
    (folder / INDEX).write_text(f"stsEvidence.index({_json(index)});\n", "utf-8")
    (folder / PAGE).write_text(_page(title), "utf-8")
    size = sum(file.stat().st_size for file in folder.rglob("*") if file.is_file())
    return Made(count, sum(len(one.clips) for one in every), refused, size)


def _listing(
    dossier: Dossier, scenario: Scenario | None, items: Mapping[str, str]
) -> dict[str, Any]:
    """What the page says of a scenario before anything is watched; no key of it is foreign."""
    at = {hash: n for n, hash in enumerate(dossier.clips)}
    return {
        "scenario": dossier.scenario,
        "category": scenario.category if scenario else "",
        "asked": scenario.instruction.text if scenario else "",
        "clips": [
            {"said": [list(one) for one in clip.marks], "item": items.get(clip.hash)}
            for clip in dossier.clips.values()
        ],
        "agents": [
            [agent, [[at[share.clip], share.continuations, share.value] for share in shares]]
            for agent, shares in dossier.agents.items()
        ],
    }


def _clips(
    folder: Path,
    workspace: Workspace,
    every: Sequence[Dossier],
    chosen: Mapping[str, str],
    scenarios: Mapping[str, Scenario],
    names: Mapping[str, str],
    progress: Progress,
) -> tuple[int, tuple[int, str]]:
    """Writes each clip into the file of its scenario; returns how many, and what was refused.

    What the first of a scenario's clips has in common with the others is written once.
    """
    place = {
        clip.continuation: (dossier.scenario, n)
        for dossier in every
        for n, clip in enumerate(dossier.clips.values())
        if clip.hash in chosen
    }
    bases: dict[str, dict[str, Any]] = {}
    done, refused, why = 0, 0, ""
    for part in load_by_ids(workspace, place):
        for one in part:
            scenario, n = place[one.id]
            episode = _episode(workspace, one, scenarios.get(scenario))
            if isinstance(episode, str):
                refused, why = refused + 1, why or episode
            else:
                base = bases.setdefault(scenario, episode)
                own = {k: v for k, v in episode.items() if base is episode or base[k] != v}
                _hand_over(folder, names[scenario], "clip", n, own)
                done += 1
            progress(done + refused, len(place))
    return done, (refused, why)


def _episode(
    workspace: Workspace, one: Continuation, scenario: Scenario | None
) -> dict[str, Any] | str:
    """What the Viewer is handed of a continuation, or why it cannot be shown."""
    try:
        return continuation_payload(workspace, one) | {
            "criterion": find_criterion(scenario) if scenario else None
        }
    except StsError as error:
        return str(error)


def _drawings(domains: Iterable[str]) -> dict[str, str]:
    """What worlds are drawn by, as far as it can be read; the Viewer says where it lacks one."""
    found = {}
    for name in sorted(domains):
        try:
            found[name] = read_drawing(load_domain(name))
        except StsError:
            continue
    return {name: text for name, text in found.items() if text}


def _hand_over(folder: Path, name: str, what: str, *values: object) -> None:
    """Adds a line to the file of a scenario that hands values over when it is loaded."""
    words = ", ".join(_json(value) for value in (name, *values))
    with (folder / "scenarios" / f"{name}.js").open("a", encoding="utf-8") as file:
        file.write(f"stsEvidence.{what}({words});\n")


def _json(value: object) -> str:
    """JSON that can end no script that it stands in."""
    text = json.dumps(value, ensure_ascii=False, separators=(",", ":"), allow_nan=False)
    return text.replace("<", "\\u003c").replace("\u2028", "\\u2028").replace("\u2029", "\\u2029")


def _page(title: str) -> str:
    page = (OWN / "evidence.html").read_text("utf-8")
    parts = {
        "title": escape(title),
        "style": join_styles(("evidence",), OWN),
        "clip_style": join_styles(CLIP_STYLES),
        "clip": (FOLDER / "clip.html").read_text("utf-8"),
    }
    for name, text in parts.items():
        page = page.replace(f"{{{{ {name} }}}}", text)
    return page
