"""The installed categories, by whose worlds they are about.

The entry-point group `sts.categories` names a package or a module by the name of a domain: every
`Category` in it is one of that domain, and a file there is all it takes to be installed. They must
be importable without what the domain needs: that is at hand only where a trajectory of it is.

It may name `AGENTS`, a fixed list of installed agents of these worlds: by how many continuations
each of them passes, a curator tells scenarios apart. And `BASELINES`, agents that read nothing and
only maximise reward, installed or `module:Class`: what they pass was not asked for. `READERS` are
those that do what they are told, and `CURATION` those that have a say where scenarios are chosen by
effect: the others are held out. `MIXES` are moves by name with a space between them: who makes
those equally often gets on in these worlds without eyes, where no single move does.
"""

from __future__ import annotations

import functools
import importlib
import pkgutil
from collections.abc import Iterable, Iterator
from dataclasses import replace
from types import ModuleType

from sts import registry
from sts.errors import ArgumentError, StsError, UnknownName
from sts.suites.types import Scenario
from sts_scenarios.category import Category, Criterion, spoken_for

GROUP = "sts.categories"


@functools.cache
def of(domain: str) -> tuple[Category, ...]:
    """Return the categories of a domain, in order of name; none where none are installed.

    Raises:
      StsError: they cannot be imported, or one is of another domain.
      ArgumentError: two have one name.
    """
    modules: list[ModuleType] = []
    for one in registry.load_every(GROUP, "categories of", domain):
        if not isinstance(one, ModuleType):
            raise StsError(f"entry point {GROUP}:{domain} is no package or module")
        with registry.blaming(f"categories of {domain!r} cannot be loaded"):
            modules += _walk_modules(one)
    every = {
        id(c): replace(c, place=f"{m.__name__}:{name}")
        for m in modules
        for name, c in vars(m).items()
        if isinstance(c, Category)
    }
    for one in every.values():
        if one.domain != domain:
            raise StsError(f"category {one.name!r} of {domain} says that it is of {one.domain}")
    return tuple(map(spoken_for, _index_by_name(every.values()).values()))


def agents(domain: str) -> tuple[str, ...]:
    """Return the agents by which scenarios of a domain are told apart; () where none are named."""
    return _collect_names(domain, "AGENTS")


def baselines(domain: str) -> tuple[str, ...]:
    """Return the agents of a domain that only maximise reward."""
    return _collect_names(domain, "BASELINES")


def readers(domain: str) -> tuple[str, ...]:
    """Return the agents of a domain that do what they are told."""
    return _collect_names(domain, "READERS")


def curation(domain: str) -> tuple[str, ...]:
    """Return the agents by which scenarios are chosen by effect."""
    return _collect_names(domain, "CURATION")


def mixes(domain: str) -> tuple[tuple[str, ...], ...]:
    """Return the moves of a domain that are mixed to play without eyes."""
    return tuple(tuple(mix.split()) for mix in _collect_names(domain, "MIXES"))


def _collect_names(domain: str, attribute: str) -> tuple[str, ...]:
    lists = [
        getattr(one, attribute, ()) for one in registry.load_every(GROUP, "categories of", domain)
    ]
    if not all(isinstance(name, str) for own in lists for name in own):
        raise StsError(f"categories of {domain!r}: expected {attribute} to be names")
    return tuple(dict.fromkeys(name for own in lists for name in own))


def _walk_modules(module: ModuleType) -> Iterator[ModuleType]:
    yield module
    for info in pkgutil.walk_packages(getattr(module, "__path__", ()), f"{module.__name__}."):
        yield importlib.import_module(info.name)


def _index_by_name(every: Iterable[Category]) -> dict[str, Category]:
    """Return categories by name, in order of it."""
    out: dict[str, Category] = {}
    for one in sorted(every, key=lambda one: one.name):
        if one.name in out:
            others = {out[one.name].domain, one.domain}
            raise ArgumentError(
                f"two categories are called {one.name!r}, of {' and '.join(sorted(others))}; "
                "expected one, by module:NAME"
            )
        out[one.name] = one
    return out


def installed(domains: Iterable[str] | None = None) -> dict[str, Category]:
    """Return the categories of these domains, or of all, by name and in its order."""
    chosen = registry.named(GROUP) if domains is None else dict.fromkeys(domains)
    return _index_by_name(category for domain in chosen for category in of(domain))


def ruling(scenarios: Iterable[Scenario], own: Iterable[Category] = ()) -> dict[str, Category]:
    """Return by name the categories of the scenarios' worlds, and the user's `own`."""
    return installed(s.recording.domain for s in scenarios) | {one.name: one for one in own}


def criterion(scenario: Scenario) -> Criterion | None:
    """Return by what people judge a scenario; None if its category or a rubric is missing."""
    rule = ruling([scenario]).get(scenario.category)
    return rule.criterion(scenario) if rule else None


def named(name: str) -> Category:
    """Return the category called `name`, or a user's by `module:NAME`.

    Raises:
      UnknownName: there is none; says which exist.
      ArgumentError: what stands at `module:NAME` is no category, or two are called so.
    """
    if ":" in name:
        own = registry.load_path("category", name)
        if not isinstance(own, Category):
            raise ArgumentError(f"{name!r} is no Category, it is of type {type(own).__name__}")
        return spoken_for(replace(own, place=name))
    every: list[Category] = []
    failed: list[StsError] = []
    for domain in registry.named(GROUP):
        try:
            every += of(domain)
        except StsError as error:  # it may be another's that is meant
            failed.append(error)
    matching = [category for category in every if category.name == name]
    if not matching:
        raise failed[0] if failed else UnknownName("category", name, [c.name for c in every])
    return _index_by_name(matching)[name]
