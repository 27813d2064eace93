"""Recipes: suites as decisions alone, for recordings that cannot be passed on.

A recipe is a TOML file. It names an importer of recordings that are installed, and has a
`[[scenario]]` for each step that a curator chose, with its words.
"""

import tomllib
from collections import Counter
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any, Literal

import msgspec

from sts import registry
from sts.errors import ArgumentError, DamagedData, UnknownName
from sts.storage.files import read_bytes
from sts.storage.workspace import Workspace
from sts.suites import suite_store as suites
from sts.suites.suite import Suite
from sts.trajectories import trajectory_store as trajectories
from sts.trajectories.trajectory import Trajectory
from sts_scenarios.draft.editing import add_scenario, make_free_category
from sts_scenarios.rules import categories
from sts_scenarios.rules.validity import is_checked

FORMAT = "recipe/1"
AUTHOR = "the project"
GROUP = "sts.recipes"
"""Entry points of packages with a file NAME.toml."""
_MAX_BYTES = 2**22


class RecipeScenario(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A scenario of a recipe: fields of `fields.FIELDS`, and the source of its trajectory."""

    trajectory: str
    takeover: int
    player: int
    context: int
    horizon: int
    category: str
    kind: str
    difficulty: str
    partner: str
    instruction: str
    criterion: str
    edge_cases: str = ""


class Recipe(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A suite as decisions alone."""

    format: Literal["recipe/1"]  # "recipe/1"
    suite: str  # the name of the suite
    description: str  # of the suite
    importer: str  # the format of `sts trajectories import` that reads the recordings
    scenario: tuple[RecipeScenario, ...]  # its scenarios


def load_recipe(name: str) -> Recipe:
    """Return a packaged recipe, or the one in a file whose name ends in `.toml`.

    Raises:
      UnknownName: there is no packaged recipe of this name.
      ArgumentError: the file does not exist.
      DamagedData: it is not a recipe.
    """
    path = Path(name)
    if not name.endswith(".toml"):
        path = registry.find_package_folder(GROUP, "recipe", name) / f"{name}.toml"
    try:
        return msgspec.convert(tomllib.loads(read_bytes(path, _MAX_BYTES).decode()), Recipe)
    except FileNotFoundError:
        raise ArgumentError(f"no recipe at {path}; check the path") from None
    except (ValueError, RecursionError) as error:
        raise DamagedData(f"{path}: not a recipe: {error}") from None


def build_suite(workspace: Workspace, recipe: Recipe) -> Suite:
    """Import the recordings of a recipe, and freeze its suite, which states what is unreviewed.

    Raises:
      StsError: the recordings are not installed, or a scenario does not fit them.
      ArgumentError: the workspace has a suite of this name.
    """
    suites.parse_label(workspace, f"{recipe.suite}@1")
    read: Callable[[], Iterable[Trajectory]]
    read = registry.load_entry_point("sts.importers", "format", recipe.importer)
    with registry.translate_errors(f"the importer {recipe.importer} failed"):
        recorded = list(read())
    by_source = {trajectory.source: trajectory for trajectory in recorded}
    last: Counter[str] = Counter()
    scenarios = []
    for item in recipe.scenario:
        fields: dict[str, Any] = msgspec.structs.asdict(item)
        trajectory = by_source.get(source := fields.pop("trajectory"))
        if trajectory is None:
            raise UnknownName("recording", source, by_source, most=5)
        last[item.category] += 1
        id = f"{item.category}-{last[item.category]:02d}"
        category = make_free_category(trajectory.episode.domain, item.category, item.kind)
        edit = add_scenario(trajectory, category, fields, id=id, author=AUTHOR)
        scenarios.append(edit.scenario)
    by_name = categories.scenario_categories(scenarios)
    unread = [scenario.id for scenario in scenarios if not is_checked(scenario, by_name)]
    trajectories.save(workspace, recorded)
    return suites.freeze_scenarios(
        workspace,
        f"{recipe.suite}@1",
        scenarios,
        description=recipe.description,
        last=last,
        made_by={"made_by": "sts suite build", "unreviewed": unread},
    )
