"""Registry of the installed categories, by environment.

The entry-point group `sts.categories` maps the name of an environment to a package or module. Every
`Category` in it belongs to that environment; adding a file installs a category. The modules must be
importable without the environment's own dependencies.

A module may also define these lists of names:

- `AGENTS`: fixed list of installed agents whose pass rates form the response profile of a scenario.
- `BASELINES`: agents that ignore instructions and maximise reward, installed or `module:Class`.
- `READERS`: agents that follow instructions.
- `CURATION`: agents used to select scenarios by discrimination; all others are held out.
- `MIXES`: space-separated actions; drawing from them at random explores these environments without
  observations better than any single action does.
"""

import functools
import importlib
import pkgutil
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from types import ModuleType

from sts import registry
from sts.errors import ArgumentError, StsError, UnknownName
from sts.suites.suite import Scenario
from sts_scenarios.rules.category import Category, Criterion, Overlay, name_in_errors
from sts_scenarios.rules.validity import find_category

GROUP = "sts.categories"


@functools.cache
def load_categories(domain: str) -> tuple[Category, ...]:
    """Return the categories of an environment, sorted by name; () if none are installed.

    Raises:
      StsError: a module cannot be imported, or a category belongs to another environment.
      ArgumentError: two categories share a name.
    """
    modules: list[ModuleType] = []
    for root in registry.load_every(GROUP, "categories of", domain):
        if not isinstance(root, ModuleType):
            raise StsError(f"entry point {GROUP}:{domain} is not a package or module")
        with registry.translate_errors(f"categories of {domain!r} cannot be loaded"):
            modules += _walk_modules(root)
    categories = {
        id(value): replace(value, code_path=f"{module.__name__}:{name}")
        for module in modules
        for name, value in vars(module).items()
        if isinstance(value, Category)
    }
    for category in categories.values():
        if category.domain != domain:
            raise StsError(
                f"category {category.name!r} of {domain} has domain {category.domain!r}; "
                f"expected {domain!r}"
            )
    return tuple(map(name_in_errors, _index_by_name(categories.values()).values()))


def collect_names(domain: str, attribute: str) -> tuple[str, ...]:
    """Return the distinct names in a list of an environment, such as "READERS"; () for none."""
    lists = [
        getattr(module, attribute, ())
        for module in registry.load_every(GROUP, "categories of", domain)
    ]
    if not all(isinstance(name, str) for names in lists for name in names):
        raise StsError(f"categories of {domain!r}: expected {attribute} to be a list of names")
    return tuple(dict.fromkeys(name for names in lists for name in names))


def _walk_modules(module: ModuleType) -> Iterator[ModuleType]:
    yield module
    for info in pkgutil.walk_packages(getattr(module, "__path__", ()), f"{module.__name__}."):
        yield importlib.import_module(info.name)


def _index_by_name(categories: Iterable[Category]) -> dict[str, Category]:
    """Return categories by name, in alphabetical order."""
    out: dict[str, Category] = {}
    for category in sorted(categories, key=lambda category: category.name):
        if category.name in out:
            domains = {out[category.name].domain, category.domain}
            raise ArgumentError(
                f"two categories are named {category.name!r}, of {' and '.join(sorted(domains))}; "
                "select one with module:NAME"
            )
        out[category.name] = category
    return out


def installed_categories(domains: Iterable[str] | None = None) -> dict[str, Category]:
    """Return the categories of these environments, or of all, by name in alphabetical order."""
    domain_names = registry.list_entry_points(GROUP) if domains is None else dict.fromkeys(domains)
    return _index_by_name(
        category for domain in domain_names for category in load_categories(domain)
    )


def scenario_categories(
    scenarios: Iterable[Scenario], own: Iterable[Category] = ()
) -> dict[str, Category]:
    """Return the categories of the scenarios' environments and the user's `own`, by name."""
    return installed_categories(s.recording.domain for s in scenarios) | {
        category.name: category for category in own
    }


def scenario_criterion(scenario: Scenario) -> Criterion | None:
    """Return the criterion of a scenario: its own, or its category's for the category's words."""
    if scenario.criterion or scenario.edge_cases:
        return Criterion(scenario.criterion, scenario.edge_cases, Overlay())
    category = find_category(scenario, scenario_categories([scenario]))
    return category.criterion(scenario) if category else None


def find_rubric_version(scenario: Scenario, by_name: Mapping[str, Category]) -> str:
    """Return the version of the rubric by which a scenario is judged; "" without one."""
    if scenario.criterion or scenario.edge_cases:
        return "own"  # its words are in the scenario's hash
    category = find_category(scenario, by_name)
    return category.rubric.version if category and category.rubric else ""


def load_category(name: str) -> Category:
    """Return the category with this name, or the user's own at `module:NAME`.

    Raises:
      UnknownName: no category has this name; the message lists all names.
      ArgumentError: the object at `module:NAME` is not a category, or two share the name.
    """
    if ":" in name:
        category = registry.load_path("category", name)
        if not isinstance(category, Category):
            raise ArgumentError(f"{name!r} is not a Category but a {type(category).__name__}")
        return name_in_errors(replace(category, code_path=name))
    categories: list[Category] = []
    failed: list[StsError] = []
    for domain in registry.list_entry_points(GROUP):
        try:
            categories += load_categories(domain)
        except StsError as error:  # the name may belong to another environment
            failed.append(error)
    matching = [category for category in categories if category.name == name]
    if not matching:
        raise failed[0] if failed else UnknownName("category", name, [c.name for c in categories])
    return _index_by_name(matching)[name]
