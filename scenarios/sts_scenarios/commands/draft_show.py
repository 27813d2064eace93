"""The candidates of a draft as `sts draft show` lists them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from sts.cli.arguments import format_table, show_progress
from sts.cli.command import Result, argument, declare, option, repeatable, switch
from sts.commands.study import read_study
from sts.errors import ArgumentError, StsError, UnknownName
from sts.names import count_noun
from sts_scenarios.commands.arguments import DRAFT_NAME

if TYPE_CHECKING:
    from sts.agreement import Agreement
    from sts.storage.workspace import Workspace
    from sts.suites.drafts import Draft
    from sts.suites.suite import Summary
    from sts_scenarios.draft.freezing import DraftCandidate
    from sts_scenarios.rules.profiles import Profile


_STATUSES = ("undecided", "accepted", "rejected", "kept", "retired")
_SHOWN = (
    "id hash row_hash category kind text trajectory world context_start takeover horizon players "
    "partner difficulty tags pair dialogue turn replaces source recorded_by"
).split()


class _Row(NamedTuple):
    """A candidate as it was mined, as it is now, and what a person may see of it."""

    one: DraftCandidate
    now: Summary
    ratings: dict[str, str]
    profile: Profile | None


@declare("show mysuite")
def show(
    workspace: Workspace,
    *,
    name: str = DRAFT_NAME,
    id: list[str] = argument("ID", "candidates (default: all)", nargs="*"),
    status: str | None = option(_STATUSES, "only candidates of this status (default: all)"),
    category: str | None = option(
        "C", "only candidates of this category, name or module:NAME (default: all)"
    ),
    profiles: bool = switch("show how often agents pass by rule; missing continuations are run"),
    agent: list[str] = repeatable(
        "A",
        "agent for --profiles; repeatable (default: the agents named by the environment's "
        "categories)",
    ),
    author: str | None = option("NAME", "curator who looks (default: your login)", flag="--user"),
) -> Result:
    """List candidates and the decisions about them."""
    from sts_scenarios.draft.curation import find_person, rating_agreement, visible_ratings
    from sts_scenarios.draft.freezing import current_scenario, load_candidates, select_candidates
    from sts_scenarios.rules import categories

    draft, all_candidates = load_candidates(workspace, name)
    candidates = select_candidates(draft, all_candidates, id) if id else all_candidates
    if agent and not profiles:
        raise ArgumentError("--agent says whose profiles are listed; expected --profiles too")
    rule = categories.load_category(category) if category and ":" in category else None
    category = rule.name if rule else category
    person = read_study(workspace, lambda connection: find_person(connection, author))
    rows = [
        _Row(
            candidate,
            current_scenario(draft, candidate),
            visible_ratings(candidate.state, person),
            None,
        )
        for candidate in candidates
        if status in (None, candidate.status)
    ]
    rows = [row for row in rows if category in (None, row.now.category)]
    if category is not None and not rows:
        names = {current_scenario(draft, candidate).category for candidate in all_candidates}
        if category not in names:
            raise UnknownName(f"category in draft {draft.name}", category, sorted(names))
    failed: list[str] = []
    if profiles:
        rows, failed = _compute_profiles(draft, rows, agent or None, [rule] if rule else [])
    agreed = (
        rating_agreement(all_candidates)
        if any(candidate.state.ratings for candidate in all_candidates)
        else None
    )
    counts = Counter(candidate.status for candidate in all_candidates)
    value = {
        "draft": draft.name,
        "parent": draft.parent,
        "counts": dict(counts),
        "agreement": agreed._asdict() if agreed else None,
        "candidates": [_candidate_record(row, profiles) for row in rows],
    }
    counted = ", ".join(f"{counts[name]} {name}" for name in _STATUSES if counts[name])
    begun = f" from {draft.parent}" if draft.parent else ""
    number = count_noun(len(all_candidates), "candidate")
    parts = [f"draft {draft.name}{begun}: {number}, {counted}"]
    if not all_candidates:
        command = f"sts draft add {draft.name} --csv FILE"
        return Result(value, f"draft {draft.name} has no candidates yet; add some with {command}")
    parts += [_format_candidate_table(rows, profiles, agreed is not None)]
    if profiles:
        note = "passed by rule: automatic labels of continuations, without human judgement"
        parts += ["\n".join((note, *failed))]
    parts += [_describe_agreement(agreed)] if agreed else []
    return Result(value, "\n\n".join(parts))


def _compute_profiles(
    draft: Draft, rows: Sequence[_Row], agents: Sequence[str] | None, own_categories: Sequence[Any]
) -> tuple[list[_Row], list[str]]:
    """Return rows with their profiles, made where they are missing, and why some have none."""
    from sts_scenarios.draft.stored_profiles import Profiles

    profiles = Profiles(draft, agents, own_categories=own_categories)
    profiled, failed = [], []
    with show_progress(draft.name, "profiles") as show:
        for number, row in enumerate(rows, 1):
            try:
                profiled.append(row._replace(profile=profiles.compute(row.one)))
            except StsError as error:
                profiled.append(row)
                failed.append(str(error.with_prefix(row.one.summary.id)))
            show(number, len(rows))
    return profiled, failed


def _format_candidate_table(rows: Sequence[_Row], profiles: bool, ratings: bool) -> str:
    if not rows:
        return "none of them is asked for"
    header = ["candidate", "status", "by", "difficulty", "instruction", "reason"]
    header += ["passed by rule"] if profiles else []
    header += ["would two agree?"] if ratings else []
    cells = []
    for candidate, as_it_is, words_by_person, profile in rows:
        row = [
            candidate.summary.id,
            candidate.status,
            candidate.state.by,
            as_it_is.difficulty,
            as_it_is.text,
        ]
        row += [candidate.state.reason]
        row += [str(profile or "")] if profiles else []
        if ratings:
            n_ratings = len(candidate.state.ratings)
            blind = f"{n_ratings} given" if n_ratings else ""
            row += [", ".join(f"{name} {word}" for name, word in words_by_person.items()) or blind]
        cells.append(tuple(cell or "-" for cell in row))
    return format_table(tuple(header), cells)


def _candidate_record(row: _Row, profiles: bool) -> dict[str, Any]:
    candidate, as_it_is, ratings, profile = row
    values = {key: getattr(as_it_is, "context" if key == "takeover" else key) for key in _SHOWN}
    state = candidate.state
    values |= {
        "status": candidate.status,
        "reason": state.reason,
        "by": state.by,
        "at": state.at,
        "scenario": state.scenario,
        "decisions": [{"kind": d.kind, "by": d.by, "at": d.at, **d.detail} for d in state.standing],
        "ratings": ratings,
        "ratings_given": len(state.ratings),
    }
    passed = {name: [*count] for name, count in profile.passed.items()} if profile else None
    return values | ({"passed_by_rule": passed} if profiles else {})


def _describe_agreement(agreed: Agreement) -> str:
    """Return how far curators agree, in a line."""
    if not agreed.pairs:
        return "agreement: no candidate has two ratings yet"
    things = f"{agreed.shared} candidate{'s' if agreed.shared != 1 else ''} with two or more"
    share = f"{agreed.agreeing} of {agreed.pairs} pairs are the same ({agreed.share:.0%})"
    alpha = (
        f"Krippendorff's alpha {agreed.alpha:.2f}" if agreed.alpha is not None else agreed.reason
    )
    return f"agreement: of the ratings about {things}, by {agreed.people}, {share}; {alpha}"
