"""What people of a workspace say about the scenarios of a suite: tags, and selections by name.

They stand in `tags/NAME.json` beside the suites and change none. A tag is by a scenario's id, which
means the same in every version.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import NamedTuple

from sts.errors import ArgumentError, DamagedData, UnknownName
from sts.storage.workspace import Workspace
from sts.suites.folders import check_word, encode_json, formatted, named
from sts.suites.types import Suite

FORMAT, FORMAT_VERSION = "tags", 1


class Tags(NamedTuple):
    """The ids of scenarios by tag, and the terms of selections by name, in whatever version."""

    ids: Mapping[str, tuple[str, ...]]
    selections: Mapping[str, str]


def _file(name: str) -> str:
    return f"tags/{named(name)}.json"


def read(workspace: Workspace, name: str) -> Tags:
    """Return what people say about the scenarios of the suite `name`."""
    file = workspace.path(_file(name))
    if not file.exists():
        return Tags({}, {})
    try:
        own = formatted(file, FORMAT, FORMAT_VERSION)
        tags = {tag: tuple(ids) for tag, ids in own["tags"].items()}
        selections = dict(own["selections"])
        texts = [*tags, *(id for ids in tags.values() for id in ids), *selections.values()]
        sound = all(isinstance(one, str) for one in texts) and own["name"] == name
    except (OSError, ValueError, LookupError, TypeError, AttributeError) as error:
        raise DamagedData(f"{file}: expected tags of a suite, found {error!r}") from None
    if not sound:
        raise DamagedData(f"{file}: expected tags of the suite {name}, found something else")
    return Tags(tags, selections)


def tag(
    workspace: Workspace, suite: Suite, word: str, ids: Iterable[str], *, remove: bool = False
) -> tuple[str, ...]:
    """Give scenarios of a suite a tag, or take it from them; return who has it then.

    Raises:
      ArgumentError: it is no tag, or one of the suite's own that is to be taken away.
      UnknownName: the suite has no such scenario.
    """
    check_word(word, "tag")
    known = {one.id: one for one in suite.scenarios}
    for id in ids:
        if id not in known:
            raise UnknownName(f"scenario of {suite.label}", id, known, most=10)
        if remove and word in known[id].tags:
            raise ArgumentError(f"{word} is a tag of {suite.label} itself, which stays as it is")

    def changed(before: Tags) -> Tags:
        own = {*before.ids.get(word, ())}
        own = own - {*ids} if remove else own | {*ids}
        return before._replace(ids={**before.ids, word: tuple(sorted(own))})

    return _change(workspace, suite.name, changed).ids.get(word, ())


def save(workspace: Workspace, suite: str, name: str, terms: str) -> None:
    """Keep the terms of a selection of the suite `suite` under a name."""
    check_word(name, "name")
    _change(
        workspace,
        suite,
        lambda before: before._replace(selections={**before.selections, name: terms}),
    )


def _change(workspace: Workspace, name: str, changed: Callable[[Tags], Tags]) -> Tags:
    """Read, changes and writes what is said about a suite; nobody else does meanwhile."""
    with workspace.ensure().locked():
        after = changed(read(workspace, name))
        own = {
            "name": name,
            "tags": {word: list(ids) for word, ids in sorted(after.ids.items()) if ids},
            "selections": dict(sorted(after.selections.items())),
        }
        workspace.store.swap(_file(name), encode_json(FORMAT, FORMAT_VERSION, own))
    return after
