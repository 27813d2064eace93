"""`sts draft`: what is decided about the candidates of a draft."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from sts.cli.arguments import format_table
from sts.cli.command import Result, argument, declare, group, option, switch
from sts.errors import ArgumentError
from sts.names import count_noun
from sts_scenarios.commands.arguments import CANDIDATE, CHECKED, CURATOR, DRAFT_NAME, REMARK
from sts_scenarios.commands.draft_edit import add, dialogue, edit, pair
from sts_scenarios.commands.draft_show import show

if TYPE_CHECKING:
    from sts.storage.workspace import Workspace
    from sts.suites.suite import Scenario
    from sts_scenarios.rules.category import Category
    from sts_scenarios.rules.profiles import Profile
    from sts_scenarios.rules.quality_checks import QualityCheck


_CANDIDATES = argument("ID", nargs="*")
_REASON = option("TEXT", "reason in one line", required=True)


@declare("new --from mysuite@1")
def new(
    workspace: Workspace,
    *,
    name: str | None = argument("NAME", "name of an empty draft, with --domain", nargs="?"),
    domain: str | None = option("D", "environment of an empty draft: name or module:Class"),
    suite: str | None = option("NAME@VERSION", "suite to start from, without NAME", flag="--from"),
    overwrite: bool = switch("replace an existing draft"),
) -> Result:
    """Start a draft of the next version of a suite, or an empty one."""
    from sts.domains import load_domain
    from sts.suites import drafts
    from sts.suites import suite_store as suites
    from sts.suites.folders import list_versions, validate_suite_name

    if (suite is None) == (name is None) or (name is None) != (domain is None):
        raise ArgumentError("expected NAME --domain D for an empty draft, or --from NAME@VERSION")
    parent = suites.load(workspace, suite) if suite else None
    name = parent.name if parent else validate_suite_name(name or "")
    newest = max(list_versions(workspace).get(name, {}), default=0)
    if newest != (parent.version if parent else 0):
        raise ArgumentError(
            f"{parent.label if parent else name} is not the newest: begin the next version from "
            f"{name}@{newest}: sts draft new --from {name}@{newest}"
        )
    existing = drafts.find_draft(workspace, name)
    if existing is not None and not overwrite and drafts.find_frozen_version(existing) is None:
        raise ArgumentError(f"draft {name!r} already exists; use --overwrite to replace it")
    replaces = existing.id if existing else None
    if parent is None:
        assert domain is not None
        load_domain(domain)
        drafts.create_draft(workspace, name, [], replaces=replaces, domain=domain)
        value = {"draft": name, "domain": domain, "scenarios": 0}
        text = f"draft {name} is empty, for scenarios of {domain}\nnext: sts draft add --help"
        return Result(value, text)
    drafts.create_draft(workspace, name, parent.scenarios, parent=parent.label, replaces=replaces)
    doubtful = _list_doubtful(workspace, parent.label)
    value = {"draft": name, "parent": parent.label, "scenarios": len(parent.scenarios)}
    lines = [
        f"draft {name} begins with the {len(parent.scenarios)} scenarios of {parent.label}, "
        "which stay unless they are retired",
        *(f"look again at {id}: {why}" for id, why in doubtful.items()),
        f"next: sts mine {name}, sts draft retire {name} ID --reason TEXT",
    ]
    return Result(value | {"doubtful": doubtful}, "\n".join(lines))


def _list_doubtful(workspace: Workspace, suite: str) -> dict[str, str]:
    """Return why scenarios are doubtful by their verdicts, by id; {} if nothing is judged."""
    from sts.annotations.database.annotation_store import AnnotationStore
    from sts.annotations.findings.doubts import list_doubtful
    from sts.annotations.study import load_study

    tolerance = load_study(workspace).marker_tolerance
    with AnnotationStore.read_existing(workspace) as connection:
        return list_doubtful(connection, suite, tolerance) if connection else {}


@declare("accept mysuite walk-01")
def accept(
    workspace: Workspace,
    *,
    name: str = DRAFT_NAME,
    id: list[str] = _CANDIDATES,
    is_unseen: bool = switch("accept all undecided candidates unseen", flag="--all"),
    reason: str | None = REMARK,
    author: str | None = CURATOR,
) -> Result:
    """Accept candidates for the next version."""
    return _decide(workspace, "accept", name, id, reason or "", author, is_unseen=is_unseen)


@declare("reject mysuite walk-02 --reason unclear")
def reject(
    workspace: Workspace,
    *,
    name: str = DRAFT_NAME,
    id: list[str] = _CANDIDATES,
    reason: str = _REASON,
    author: str | None = CURATOR,
) -> Result:
    """Reject candidates."""
    return _decide(workspace, "reject", name, id, reason, author)


@declare("retire mysuite walk-03 --reason twin")
def retire(
    workspace: Workspace,
    *,
    name: str = DRAFT_NAME,
    id: list[str] = _CANDIDATES,
    reason: str = _REASON,
    author: str | None = CURATOR,
) -> Result:
    """Retire scenarios of the previous version."""
    return _decide(workspace, "retire", name, id, reason, author)


@declare("undo mysuite walk-01")
def undo(
    workspace: Workspace,
    *,
    name: str = DRAFT_NAME,
    id: list[str] = _CANDIDATES,
    author: str | None = CURATOR,
) -> Result:
    """Undo the latest decision about candidates."""
    return _decide(workspace, "undo", name, id, "", author)


def _decide(
    workspace: Workspace,
    decision: str,
    name: str,
    ids: list[str],
    reason: str,
    author: str | None,
    *,
    is_unseen: bool = False,
) -> Result:
    """Decide about candidates; if unseen, about all that are undecided."""
    from sts.annotations.database.annotation_store import AnnotationStore
    from sts.suites import drafts
    from sts_scenarios.draft import curation
    from sts_scenarios.draft.freezing import load_candidates, select_candidates

    draft, all_candidates = load_candidates(workspace, name)
    drafts.check_open(draft)
    if is_unseen:
        if ids:
            raise ArgumentError("expected ids of candidates or --all, found both")
        candidates = [candidate for candidate in all_candidates if candidate.status == "undecided"]
        reason = reason or curation.UNSEEN
    else:
        candidates = select_candidates(draft, all_candidates, ids)
    if not candidates:
        raise ArgumentError(f"expected the id of a candidate: sts draft show {name}")
    requests = [curation.Request(candidate, decision, reason) for candidate in candidates]
    with AnnotationStore.open(workspace) as store:
        person, events = curation.decide(store, draft, author, requests)
    ids = [event.candidate for event in events]
    done = {"accept": "accepted", "reject": "rejected", "retire": "retired", "undo": "undone"}
    subject = ids[0] if len(ids) == 1 else f"{len(ids)} candidates"
    n_unchanged = len(requests) - len(ids)
    subject += f"; {n_unchanged} had this decision already" if n_unchanged else ""
    return Result(
        {"draft": draft.name, "decision": decision, "candidates": ids, "by": person.name},
        f"{done[decision]} by {person.name}: {subject}",
    )


@declare("rate mysuite walk-01 yes")
def rate(
    workspace: Workspace,
    *,
    name: str = DRAFT_NAME,
    id: str = CANDIDATE,
    word: str = argument(("yes", "no", "undo"), "undo removes your rating"),
    author: str | None = CURATOR,
) -> Result:
    """Rate whether two people would agree about a candidate; other ratings are hidden."""
    from sts.annotations.database.annotation_store import AnnotationStore
    from sts.suites import drafts
    from sts_scenarios.draft import curation
    from sts_scenarios.draft.freezing import load_candidates, select_candidates

    draft, candidates = load_candidates(workspace, name)
    drafts.check_open(draft)
    (candidate,) = select_candidates(draft, candidates, [id])
    with AnnotationStore.open(workspace) as store:
        request = curation.Request(candidate, "rating", rating=word)
        person, _ = curation.decide(store, draft, author, [request])
    texts = {"yes": "two people would agree", "no": "two people would not agree"}
    return Result(
        {"draft": draft.name, "candidate": id, "rating": word, "by": person.name},
        f"{id}: {texts.get(word, 'taken back, what was said')}, by {person.name}",
    )


@declare("diff mysuite")
def diff(workspace: Workspace, *, name: str = DRAFT_NAME) -> Result:
    """Show the changes in the next version."""
    from sts_scenarios.draft import changelog
    from sts_scenarios.draft.freezing import assemble_version, load_candidates

    draft, candidates = load_candidates(workspace, name)
    version = assemble_version(draft, candidates)
    n_kept = sum(candidate.status == "kept" for candidate in candidates)
    n_kept -= sum(change.kind == "replaced" for change in version.changes)
    changes = [change._asdict() for change in version.changes]
    value = {"draft": draft.name, "parent": draft.parent, "kept": n_kept, "changes": changes}
    return Result(value, changelog.format_changelog(draft.parent, version.changes, n_kept))


@declare("check mysuite")
def check(
    workspace: Workspace,
    *,
    name: str = DRAFT_NAME,
    category: list[str] = CHECKED,
    quality_checks: bool = switch("also show the pass rates of the categories' control policies"),
) -> Result:
    """List what prevents freezing."""
    from sts_scenarios.draft.freezing import (
        assemble_version,
        describe_unreviewed,
        find_faults,
        find_unreviewed,
        find_warnings,
        load_candidates,
    )
    from sts_scenarios.draft.stored_profiles import Profiles
    from sts_scenarios.rules import categories

    draft, candidates = load_candidates(workspace, name)
    own_categories = [categories.load_category(own) for own in category]
    version = assemble_version(draft, candidates)
    faults = find_faults(draft, candidates, version.scenarios, own_categories)
    unread = find_unreviewed(workspace, draft, candidates, version.scenarios, own_categories)
    faults += describe_unreviewed(draft.name, unread)
    staying = [candidate for candidate in candidates if candidate.is_in_next_version]
    profiles = Profiles(draft, own_categories=own_categories).find_stored(staying)
    notes = find_warnings(draft, candidates, version.scenarios)
    notes += [
        f"{id} does not separate the agents: {profile.why_equal}"
        for id, profile in profiles.items()
        if profile.why_equal
    ]
    lines = faults or [
        f"draft {draft.name} can be frozen: {count_noun(len(version.scenarios), 'scenario')}",
        f"next: sts suite freeze {draft.name}",
    ]
    value = {"draft": draft.name, "sound": not faults, "faults": faults, "notes": notes}
    lines += [f"note: {note}" for note in notes]
    if quality_checks:
        rows = _compute_quality_checks(version.scenarios, own_categories, [*profiles.values()])
        value["quality_checks"] = [row._asdict() | {"passed": row.is_passed} for row in rows]
        lines += _format_quality_checks(rows)
    return Result(value, "\n".join(lines), 1 if faults else 0)


def _compute_quality_checks(
    scenarios: Sequence[Scenario], own_categories: Sequence[Category], profiles: Sequence[Profile]
) -> list[QualityCheck]:
    """Return the rows of every category of a draft that declares what it is tested with."""
    from sts_scenarios.rules import categories, quality_checks
    from sts_scenarios.rules.validity import is_checked

    rules = categories.scenario_categories(scenarios, own_categories)
    checked = [scenario for scenario in scenarios if is_checked(scenario, rules)]
    rows = []
    for name in sorted({scenario.category for scenario in checked}):
        members = [scenario for scenario in checked if scenario.category == name]
        rows += quality_checks.check_category(rules[name], members)
        rows += quality_checks.check_suite(members, rules, profiles)
    return rows


def _format_quality_checks(rows: Sequence[QualityCheck]) -> list[str]:
    if not rows:
        return ["quality checks: no category of this draft has control policies"]
    cells = [
        (
            row.category,
            row.name,
            f"{row.figure:.2f}",
            "" if row.limit is None else f"{'>=' if row.least else '<='} {row.limit:.2f}",
            "" if row.limit is None else "yes" if row.is_passed else "no",
        )
        for row in rows
    ]
    return [format_table(("category", "check", "figure", "limit", "passed"), cells)]


DRAFT = group(
    "draft show mysuite",
    new,
    show,
    edit,
    add,
    accept,
    reject,
    retire,
    undo,
    pair,
    dialogue,
    rate,
    diff,
    check,
)
