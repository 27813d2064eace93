"""`sts draft edit`, `add`, `pair` and `dialogue`: commands that change candidates."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from sts.cli.command import Result, argument, declare, option, repeatable
from sts.errors import ArgumentError
from sts.names import count_noun
from sts_scenarios.commands.arguments import CANDIDATE, CURATOR, DRAFT_NAME, REMARK

if TYPE_CHECKING:
    from sts.storage.workspace import Workspace
    from sts_scenarios.draft.editing import Edit


_LINKED = argument("ID", "candidates; a single one is unlinked", nargs="+")


class Fields(NamedTuple):
    """Options of the fields of a candidate, called as in a table of candidates."""

    takeover: int | None
    player: int | None
    category: str | None
    context: int | None
    horizon: int | None
    partner: str | None
    template: int | None
    instruction: str | None
    criterion: str | None
    edge_cases: str | None
    kind: str | None
    difficulty: str | None
    tag: list[str]
    pair: str | None
    dialogue: str | None
    turn: int | None


def _field_options(*, new: bool) -> Fields:
    """Return the options of a candidate's fields, for a `new` candidate or for an edit."""
    default = "" if new else " (default: unchanged)"
    required = " (required without --csv)" if new else default
    fallback = "(default: the category's)" if new else "(default: unchanged)"
    return Fields(
        option("STEP", f"step of the trajectory{required}", type=int),
        option("P", f"evaluated player{required}", type=int),
        option("C", f"name, also of your own, or module:NAME{required}"),
        option("C", f"steps before the takeover {fallback}", type=int),
        option("H", f"steps after the takeover {fallback}", type=int),
        option("P", f"behaviour of the other players {fallback}"),
        option("N", f"instruction template of the category, from 0 {fallback}", type=int),
        option("TEXT", f"instruction in your own words {fallback}"),
        option("TEXT", f"success criterion for the annotators {fallback}"),
        option("TEXT", f"what counts in doubtful cases {fallback}"),
        option("K", f"instruction or question {fallback}"),
        option("D", f"easy, medium or hard {fallback}"),
        repeatable("T", f"tag; repeatable, replaces all tags {fallback}"),
        option("NAME", f"name that the halves of a contrast pair share{default}"),
        option("NAME", f"name that the turns of a dialogue share{default}"),
        option("N", f"turn in the dialogue, from 1{default}", type=int),
    )


_EDITED, _NEW = _field_options(new=False), _field_options(new=True)


@declare("edit mysuite walk-01 --takeover 14")
def edit(
    workspace: Workspace,
    *,
    name: str = DRAFT_NAME,
    id: str = CANDIDATE,
    reason: str | None = REMARK,
    fields: Fields = _EDITED,
    author: str | None = CURATOR,
) -> Result:
    """Change a candidate; dependent fields are derived again."""
    from sts.annotations.database.annotation_store import AnnotationStore
    from sts.suites import drafts
    from sts_scenarios.draft import curation
    from sts_scenarios.draft.editing import Editor, describe_partner
    from sts_scenarios.draft.freezing import load_candidates, select_candidates
    from sts_scenarios.mining.failures import load_recording
    from sts_scenarios.rules import categories

    draft, candidates = load_candidates(workspace, name)
    drafts.check_open(draft)
    (candidate,) = select_candidates(draft, candidates, [id])
    before = draft.candidate(id, candidate.state.scenario)
    trajectory = load_recording(workspace, before)
    category = fields.category or ""
    own = [categories.load_category(category)] if ":" in category else []
    new_values = _list_stated(fields) | ({"category": own[0].name} if own else {})
    result = Editor(before, trajectory, own).preview(new_values)
    if not result.changes:
        raise ArgumentError(f"nothing of {id} would change: sts draft edit --help")
    request = curation.Request(candidate, "edit", reason or "", "", result.scenario, new_values)
    with AnnotationStore.open(workspace) as store:
        person, _ = curation.decide(store, draft, author, [request])
    lines = [
        f"{field}: {_format_value(old)} -> {_format_value(new)}"
        for field, (old, new) in result.changes.items()
    ]
    notes = [f"note: {notice}"] if (notice := describe_partner(result.scenario.partner)) else []
    text = "\n".join((f"{id} edited by {person.name}", *lines, _describe_validity(result), *notes))
    changes = {name: {"before": old, "after": new} for name, (old, new) in result.changes.items()}
    value = {"draft": draft.name, "candidate": id, "changes": changes, "fault": result.fault}
    return Result(value, text)


def _link(
    workspace: Workspace, kind: str, draft_name: str, ids: list[str], author: str | None
) -> Result:
    """Make a pair or a dialogue of candidates, or take one apart."""
    from sts.annotations.database.annotation_store import AnnotationStore
    from sts.suites import drafts
    from sts_scenarios.draft import curation
    from sts_scenarios.draft.freezing import load_candidates, select_candidates

    draft, all_candidates = load_candidates(workspace, draft_name)
    drafts.check_open(draft)
    candidates = select_candidates(draft, all_candidates, ids)
    with AnnotationStore.open(workspace) as store:
        scenarios, person = curation.link_candidates(
            store, draft, all_candidates, candidates, kind, author
        )
    linked, name = [scenario.id for scenario in scenarios], getattr(scenarios[0], kind)
    outcome = f"{kind} {name}" if name else "apart"
    value = {"draft": draft.name, "candidates": linked, kind: name}
    return Result(value, f"{outcome}: {', '.join(linked)}, by {person.name}")


@declare("pair mysuite walk-01 walk-02")
def pair(
    workspace: Workspace,
    *,
    name: str = DRAFT_NAME,
    id: list[str] = _LINKED,
    author: str | None = CURATOR,
) -> Result:
    """Make two candidates of one takeover a contrast pair."""
    return _link(workspace, "pair", name, id, author)


@declare("dialogue mysuite walk-01 walk-03")
def dialogue(
    workspace: Workspace,
    *,
    name: str = DRAFT_NAME,
    id: list[str] = _LINKED,
    author: str | None = CURATOR,
) -> Result:
    """Make candidates the turns of one dialogue, in order."""
    return _link(workspace, "dialogue", name, id, author)


@declare("add mysuite --trajectory 3f2a --takeover 14 --player 0 --category my:CATEGORY")
def add(
    workspace: Workspace,
    *,
    name: str = DRAFT_NAME,
    trajectory: str | None = option("T", "id of the trajectory or its first digits"),
    csv: str | None = option(
        "FILE",
        "table with a candidate per line, whose columns are called like these flags; replaces "
        "all of them but --user",
    ),
    fields: Fields = _NEW,
    author: str | None = CURATOR,
) -> Result:
    """Add a candidate at a step of your choice, or many from a table."""
    from sts.annotations.database.annotation_store import AnnotationStore
    from sts.storage.lines import map_lines
    from sts.suites import drafts
    from sts_scenarios.draft import curation
    from sts_scenarios.draft.candidate_tables import REQUIRED, read_candidates

    draft = drafts.open_draft(workspace, name)
    drafts.check_open(draft)
    stated = _list_stated(fields) | ({"trajectory": trajectory} if trajectory else {})
    if csv is None:
        if missing := [f"--{name}" for name in REQUIRED if name not in stated]:
            raise ArgumentError(f"expected {', '.join(missing)}, or --csv FILE with a table")
    elif stated:
        raise ArgumentError(f"--csv cannot be combined with --{min(stated).replace('_', '-')}")
    by_line = {1: stated} if csv is None else read_candidates(Path(csv))
    with AnnotationStore.open(workspace) as store:
        person = curation.find_or_add_curator(store, author)
    last = drafts.find_last_numbers(workspace, draft.name, draft.load_ids())
    split = drafts.get_draft_split(draft) or "test"
    results = map_lines(
        csv,
        by_line,
        lambda values: _make_candidate(workspace, values, split, person.pseudonym, last),
    ).values()
    drafts.add_candidates(draft, [result.scenario for result in results])
    if csv is None:
        (result,) = results
        id = result.scenario.id
        text = f"added {id}: {result.scenario.instruction.text}\n{_describe_validity(result)}"
        return Result({"draft": draft.name, "candidate": id, "fault": result.fault}, text)
    outcomes = Counter(map(_describe_validity, results))
    rows = [{"candidate": result.scenario.id, "fault": result.fault} for result in results]
    counts = [f"{count} of them: {outcome}" for outcome, count in outcomes.items()]
    lines = [f"added {count_noun(len(results), 'candidate')} to draft {draft.name}", *counts]
    lines.append(f"next: sts draft show {draft.name}")
    return Result({"draft": draft.name, "candidates": rows}, "\n".join(lines))


def _make_candidate(
    workspace: Workspace, values: Mapping[str, Any], split: str, author: str, last: Counter[str]
) -> Edit:
    """Return the candidate of some fields and a `trajectory`, which must be of a split."""
    from sts.trajectories import trajectory_store as trajectories
    from sts_scenarios.draft import curation
    from sts_scenarios.rules import categories

    chosen = dict(values)
    trajectory = trajectories.find_trajectory(workspace, chosen.pop("trajectory"))
    if trajectory.split != split:
        raise ArgumentError(
            f"trajectory {trajectory.id} is of the {trajectory.split} split; expected one of the "
            f"{split} split, which sts trajectories ls --split {split} lists"
        )
    own = categories.load_category(values["category"]) if ":" in values["category"] else None
    chosen |= {"category": own.name} if own else {}
    return curation.make_candidate(trajectory, chosen, author, last, own)


def _list_stated(fields: Fields) -> dict[str, Any]:
    """Return the fields of a candidate that flags state, by the names that candidates have."""
    flags = fields._asdict()
    flags["tags"] = flags.pop("tag") or None
    return {name: value for name, value in flags.items() if value is not None}


def _format_value(value: Any) -> str:
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


def _describe_validity(result: Edit) -> str:
    from sts_scenarios.rules.validity import UNCHECKED

    if result.fault is not None:
        return f"it does not fit: {result.fault}"
    return "it fits" if result.label.verdict else UNCHECKED
