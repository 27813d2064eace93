"""`sts suite`: show, select from, tag, compare, freeze and verify suites."""

from __future__ import annotations

import contextlib
from collections.abc import Sequence
from importlib import import_module
from typing import TYPE_CHECKING, Any

from sts.cli.arguments import format_table, show_progress
from sts.cli.command import SUITE, Result, argument, declare, group, option, switch
from sts.errors import ArgumentError, DamagedData
from sts.names import count_noun
from sts_scenarios.commands.arguments import CHECKED

if TYPE_CHECKING:
    from sts.storage.workspace import Workspace
    from sts.suites.selections import Selection
    from sts.suites.suite import Scenario, Suite


_SUITE = argument("NAME@VERSION")
_SHOWN = (
    "id hash category kind instruction difficulty takeover horizon partner trajectory world tags "
    "pair dialogue turn replaces"
).split()


@declare("ls")
def ls(workspace: Workspace) -> Result:
    """List suites and drafts."""
    from sts.suites.folders import ListedSuite, list_suites

    rows = list_suites(workspace)
    return Result([row._asdict() for row in rows], format_table(ListedSuite._fields, rows))


@declare("show {suite}")
def show(workspace: Workspace, *, suite: str = SUITE) -> Result:
    """Show a suite's scenarios."""
    from sts.suites import selections
    from sts.suites import suite_store as store

    selection = selections.load_selection(workspace, suite, store.load)
    loaded, scenarios = selection.suite, selection.scenarios
    header = ("scenario", "difficulty", "takeover", "horizon", "instruction")
    rows = [(s.id, s.difficulty, s.context, s.horizon, s.instruction.text) for s in scenarios]
    text = "\n".join((_format_title(loaded), _describe_part(selection), format_table(header, rows)))
    text += _describe_links(scenarios)
    value = {
        "suite": loaded.label,
        "selection": selection.meaning,
        "hash": loaded.hash,
        "parent": loaded.parent,
        "description": loaded.description,
        "provenance": loaded.provenance,
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
    from sts.suites.suite import group_dialogues, group_pairs

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


@declare("statement {suite}")
def statement(workspace: Workspace, *, suite: str = SUITE) -> Result:
    """Show how reliable, valid, standardised and unbiased a suite is, and what is missing."""
    analysis = import_module("sts_analysis.commands.statement")  # a package that uses this one
    result: Result = analysis.describe_statement(workspace, suite)
    return result


@declare("tag mysuite@1 wrap walk-01 walk-02")
def tag(
    workspace: Workspace,
    *,
    suite: str = _SUITE,
    tag: str | None = argument("TAG", "tag (default: list all)", nargs="?"),
    id: list[str] = argument("ID", "scenarios to tag", nargs="*"),
    remove: bool = switch("remove the tag (default: add it)"),
) -> Result:
    """List, add or remove your own tags; the suite does not change."""
    from sts.suites import frozen, selections, tags

    loaded = frozen.load(workspace, suite)
    if tag is not None and not id:
        raise ArgumentError(
            f"expected ids of scenarios behind {tag}: sts suite show {loaded.label}"
        )
    if tag is not None:
        ids = tags.tag(workspace, loaded, tag, id, remove=remove)
        text = f"{tag}: {', '.join(ids) or 'no scenario'}"
        return Result({"suite": loaded.name, "tag": tag, "scenarios": list(ids)}, text)
    workspace_tags, ids_by_tag = (
        tags.read(workspace, loaded.name),
        selections.load_ids_by_tag(workspace, loaded),
    )
    suite_tags = {name for scenario in loaded.scenarios for name in scenario.tags}
    rows = [
        (name, "suite" if name in suite_tags else "workspace", len(ids), ", ".join(ids))
        for name, ids in ids_by_tag.items()
    ]
    lines = [format_table(("tag", "of the", "scenarios", "which"), rows)] if rows else ["no tags"]
    lines += [
        f"{loaded.label}+{name} is +{terms}" for name, terms in workspace_tags.selections.items()
    ]
    value = {
        "suite": loaded.label,
        "tags": ids_by_tag,
        "selections": dict(workspace_tags.selections),
    }
    return Result(value, "\n".join(lines))


@declare("save mysuite@1+tag:wrap+category:walk edges")
def save(
    workspace: Workspace,
    *,
    suite: str = argument("NAME@VERSION+TERM", "tag:T, category:C and the like"),
    name: str = argument("NAME", "name of the subset, used as NAME@VERSION+NAME"),
) -> Result:
    """Save a subset of a suite under a name."""
    from sts.suites import frozen, selections

    selection = selections.load_selection(workspace, suite, frozen.load)
    selections.save_selection(workspace, selection, name)
    label = f"{selection.suite.label}+{name}"
    value = {"selection": label, "meaning": selection.meaning}
    return Result(value, f"{label} is {_describe_part(selection).rstrip()}")


def _format_title(suite: Suite) -> str:
    from sts.suites.suite import describe_unreviewed

    grown = f", grown from {suite.parent}" if suite.parent else ""
    count = len({s.category for s in suite.scenarios})
    described = f": {suite.description}" if suite.description else ""
    return (
        f"{suite.label}{described}\n{count_noun(len(suite.scenarios), 'scenario')} in {count} "
        f"{'category' if count == 1 else 'categories'}{grown}; "
        f"hash {suite.hash[:16]}{describe_unreviewed(suite)}"
    )


@declare("verify {suite}")
def verify(workspace: Workspace, *, suite: str = _SUITE) -> Result:
    """Check every hash and replay every context."""
    from sts.domains import require_domain
    from sts.suites import suite_store as store
    from sts.suites.lint import lint_scenarios

    loaded = store.load(workspace, suite)
    with contextlib.suppress(DamagedData):  # the lint says of which
        for scenario in loaded.scenarios:
            require_domain(scenario.recording, f"{loaded.label}: {scenario.id}")
    with show_progress("verifying", "scenarios") as update:
        faults = lint_scenarios(loaded.scenarios)
        update(len(loaded.scenarios), len(loaded.scenarios))
    if faults:
        raise DamagedData(f"{loaded.label}: {faults[0]} ({len(faults)} faults in all)")
    text = (
        f"{loaded.label} is sound: hash {loaded.hash[:16]} matches, "
        f"{count_noun(len(loaded.scenarios), 'scenario')} unique, of the test split, "
        "replayed exactly to their takeover"
    )
    return Result({"suite": loaded.label, "hash": loaded.hash, "sound": True}, text)


@declare("diff mysuite@1 mysuite@2")
def diff(
    workspace: Workspace,
    *,
    old: str = argument("NAME@VERSION", "older version, or another suite"),
    new: str = argument("NAME@VERSION", "newer version"),
) -> Result:
    """Show the scenarios that a version kept, added, retired and replaced."""
    from sts_scenarios.draft.changelog import compare_suites

    between = compare_suites(workspace, old, new)
    return Result(between.to_json(), between.format_markdown())


@declare("freeze mysuite")
def freeze(
    workspace: Workspace,
    *,
    draft: str = argument("NAME[@VERSION]"),
    description: str = option("TEXT", "description in one line", ""),
    unreviewed: bool = switch(
        "freeze instructions that neither a rule nor two curators have checked"
    ),
    category: list[str] = CHECKED,
) -> Result:
    """Freeze a draft as the next version of a suite."""
    from sts_scenarios import api

    suite = api.freeze(
        draft,
        description=description,
        categories=category,
        unreviewed=unreviewed,
        workspace=workspace,
    ).suite
    warnings = suite.provenance.get("warnings", [])
    lines = [f"frozen: {_format_title(suite)}", *(f"warning: {text}" for text in warnings)]
    value = {"suite": suite.label, "hash": suite.hash, "warnings": warnings}
    return Result(value, "\n".join(lines))


@declare("build mysuite.toml")
def build(
    workspace: Workspace,
    *,
    recipe: str = argument("RECIPE", "name of a packaged recipe, or a .toml file"),
) -> Result:
    """Build a suite from a recipe and installed recordings."""
    from sts_scenarios.draft import recipes

    suite = recipes.build_suite(workspace, recipes.load_recipe(recipe))
    return Result({"suite": suite.label, "hash": suite.hash}, f"built: {_format_title(suite)}")


SUITES = group("suite show {suite}", ls, show, verify, statement, tag, save, diff, build, freeze)
