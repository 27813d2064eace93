"""`sts suite`: show, select from, tag, compare, freeze and verify suites."""

import argparse
import contextlib
from collections.abc import Sequence
from typing import Any

from sts.cli.arguments import format_table, show_progress
from sts.cli.command import Result
from sts.errors import ArgumentError, DamagedData
from sts.names import count_noun
from sts.storage.workspace import Workspace
from sts.suites import frozen, selections, tags
from sts.suites.selections import Selection
from sts.suites.suite import Scenario, Suite, describe_unreviewed, group_dialogues, group_pairs
from sts_scenarios.draft.changelog import compare_suites

_SHOWN = (
    "id hash category kind instruction difficulty takeover horizon partner trajectory world tags "
    "pair dialogue turn replaces"
).split()


def show(args: argparse.Namespace, workspace: Workspace) -> Result:
    """Show what is in a suite, or in a part of one."""
    from sts.suites import suite_store as store

    selection = selections.load_selection(workspace, args.suite, store.load)
    suite, scenarios = selection.suite, selection.scenarios
    header = ("scenario", "difficulty", "takeover", "horizon", "instruction")
    rows = [(s.id, s.difficulty, s.context, s.horizon, s.instruction.text) for s in scenarios]
    text = "\n".join((_format_title(suite), _describe_part(selection), format_table(header, rows)))
    text += _describe_links(scenarios)
    value = {
        "suite": suite.label,
        "selection": selection.meaning,
        "hash": suite.hash,
        "parent": suite.parent,
        "description": suite.description,
        "provenance": suite.provenance,
        "scenarios": [_scenario_record(scenario) for scenario in scenarios],
    }
    return Result(value, text)


def _scenario_record(s: Scenario) -> dict[str, Any]:
    record = {key: getattr(s, "context" if key == "takeover" else key) for key in _SHOWN}
    record |= {"instruction": s.instruction.to_json(), "tags": list(s.tags)}
    return record | {
        "earlier_instructions": [instruction.to_json() for instruction in s.earlier_instructions]
    }


def _describe_links(scenarios: Sequence[Scenario]) -> str:
    """Return what belongs together, one line each; "" for nothing."""
    lines = []
    for word, groups in (
        ("pair", group_pairs(scenarios)),
        ("dialogue", group_dialogues(scenarios)),
    ):
        for members in groups.values():
            text = " | ".join(
                f"{scenario.id} “{scenario.instruction.text}”" for scenario in members
            )
            lines.append(f"{word}: {text}")
    return "".join(("\n\n", "\n".join(lines))) if lines else ""


def _describe_part(selection: Selection) -> str:
    """Return what a selection is, as a line; "" for a whole suite."""
    if not selection.terms:
        return ""
    joined = (
        f", {len(selection.joined)} of them as they belong with another" if selection.joined else ""
    )
    count = f"{len(selection.scenarios)} of its {len(selection.suite.scenarios)} scenarios"
    return f"{selection.meaning}: {count}{joined}\n"


def tag(args: argparse.Namespace, workspace: Workspace) -> Result:
    """Give scenarios a tag, take it from them, or list all tags."""
    suite = frozen.load(workspace, args.suite)
    if args.tag is not None and not args.id:
        raise ArgumentError(
            f"expected ids of scenarios behind {args.tag}: sts suite show {suite.label}"
        )
    if args.tag is not None:
        ids = tags.tag(workspace, suite, args.tag, args.id, remove=args.remove)
        text = f"{args.tag}: {', '.join(ids) or 'no scenario'}"
        return Result({"suite": suite.name, "tag": args.tag, "scenarios": list(ids)}, text)
    workspace_tags, ids_by_tag = (
        tags.read(workspace, suite.name),
        selections.load_ids_by_tag(workspace, suite),
    )
    suite_tags = {name for scenario in suite.scenarios for name in scenario.tags}
    rows = [
        (name, "suite" if name in suite_tags else "workspace", len(ids), ", ".join(ids))
        for name, ids in ids_by_tag.items()
    ]
    lines = [format_table(("tag", "of the", "scenarios", "which"), rows)] if rows else ["no tags"]
    lines += [
        f"{suite.label}+{name} is +{terms}" for name, terms in workspace_tags.selections.items()
    ]
    value = {
        "suite": suite.label,
        "tags": ids_by_tag,
        "selections": dict(workspace_tags.selections),
    }
    return Result(value, "\n".join(lines))


def save(args: argparse.Namespace, workspace: Workspace) -> Result:
    """Keep a selection under a name."""
    selection = selections.load_selection(workspace, args.suite, frozen.load)
    selections.save_selection(workspace, selection, args.name)
    label = f"{selection.suite.label}+{args.name}"
    value = {"selection": label, "meaning": selection.meaning}
    return Result(value, f"{label} is {_describe_part(selection).rstrip()}")


def _format_title(suite: Suite) -> str:
    grown = f", grown from {suite.parent}" if suite.parent else ""
    count = len({s.category for s in suite.scenarios})
    described = f": {suite.description}" if suite.description else ""
    return (
        f"{suite.label}{described}\n{count_noun(len(suite.scenarios), 'scenario')} in {count} "
        f"{'category' if count == 1 else 'categories'}{grown}; "
        f"hash {suite.hash[:16]}{describe_unreviewed(suite)}"
    )


def verify(args: argparse.Namespace, workspace: Workspace) -> Result:
    """Check every hash of a suite and replay its scenarios to their takeover."""
    from sts.domains import require_domain
    from sts.suites import suite_store as store
    from sts.suites.lint import lint_scenarios

    suite = store.load(workspace, args.suite)
    with contextlib.suppress(DamagedData):  # the lint says of which
        for scenario in suite.scenarios:
            require_domain(scenario.recording, f"{suite.label}: {scenario.id}")
    with show_progress("verifying", "scenarios") as update:
        faults = lint_scenarios(suite.scenarios)
        update(len(suite.scenarios), len(suite.scenarios))
    if faults:
        raise DamagedData(f"{suite.label}: {faults[0]} ({len(faults)} faults in all)")
    text = (
        f"{suite.label} is sound: hash {suite.hash[:16]} matches, "
        f"{count_noun(len(suite.scenarios), 'scenario')} unique, of the test split, "
        "replayed exactly to their takeover"
    )
    return Result({"suite": suite.label, "hash": suite.hash, "sound": True}, text)


def diff(args: argparse.Namespace, workspace: Workspace) -> Result:
    """Show what a version kept, added, retired and replaced."""
    between = compare_suites(workspace, args.old, args.new)
    return Result(between.to_json(), between.format_markdown())


def freeze(args: argparse.Namespace, workspace: Workspace) -> Result:
    """Make a draft the next version of its suite."""
    from sts_scenarios import api

    suite = api.freeze(
        args.draft,
        description=args.description,
        categories=args.category,
        unreviewed=args.unreviewed,
        workspace=workspace,
    ).suite
    warnings = suite.provenance.get("warnings", [])
    lines = [f"frozen: {_format_title(suite)}", *(f"warning: {text}" for text in warnings)]
    value = {"suite": suite.label, "hash": suite.hash, "warnings": warnings}
    return Result(value, "\n".join(lines))


def build(args: argparse.Namespace, workspace: Workspace) -> Result:
    """Build a suite from a recipe and from recordings that are installed."""
    from sts_scenarios.draft import recipes

    suite = recipes.build_suite(workspace, recipes.load_recipe(args.recipe))
    return Result({"suite": suite.label, "hash": suite.hash}, f"built: {_format_title(suite)}")
